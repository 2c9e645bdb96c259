//! Enums whose values have names.

/// Defines an enum and the names of its values, each stated once.
///
/// The enum has `ALL`, its values in order of declaration; `name`, the name of a value; and
/// `from_name`, the value of a name. Derives and docs are as for other enums.
///
/// ```
/// gantry_isa_gen::named_enum! {
///     /// Color of a lamp.
///     #[derive(Clone, Copy, PartialEq, Eq, Debug)]
///     pub enum Lamp {
///         /// Stop.
///         Red = "red",
///         /// Go.
///         Green = "green",
///     }
/// }
///
/// assert_eq!(Lamp::ALL.map(Lamp::name), ["red", "green"]);
/// assert_eq!(Lamp::from_name("green"), Some(Lamp::Green));
/// assert_eq!(Lamp::from_name("blue"), None);
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$doc:meta])* $Value:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$doc])* $Value,)+
        }

        #[allow(dead_code, reason = "not every enum is used in both directions")]
        impl $Enum {
            /// Every value, in order of declaration.
            $vis const ALL: [$Enum; [$($name),+].len()] = [$($Enum::$Value),+];

            /// Returns the name.
            $vis const fn name(self) -> &'static str {
                match self {
                    $($Enum::$Value => $name,)+
                }
            }

            /// Parses a name.
            $vis fn from_name(name: &str) -> Option<$Enum> {
                match name {
                    $($name => Some($Enum::$Value),)+
                    _ => None,
                }
            }
        }
    };
}
