//! Enums whose values have names.

/// Defines an enum and the names of its values, each stated once.
///
/// The enum has `ALL`, its values in order of declaration; `name`, the name of a value; and
/// `from_name`, the value of a name. Derives and docs are as for other enums. A value may have
/// further names, which `from_name` knows too; `NAMES` lists all of them.
///
/// ```
/// gantry_isa_gen::named_enum! {
///     /// Color of a lamp.
///     #[derive(Clone, Copy, PartialEq, Eq, Debug)]
///     pub enum Lamp {
///         /// Stop.
///         Red = "red",
///         /// Go.
///         Green = "green" | "go",
///     }
/// }
///
/// assert_eq!(Lamp::ALL.map(Lamp::name), ["red", "green"]);
/// assert_eq!(Lamp::from_name("green"), Some(Lamp::Green));
/// assert_eq!(Lamp::from_name("go"), Some(Lamp::Green));
/// assert_eq!(Lamp::from_name("blue"), None);
/// assert_eq!(Lamp::NAMES[2], ("go", Lamp::Green));
/// ```
///
/// A line after the enum names the functions otherwise, or has the parser ignore case:
///
/// ```
/// gantry_isa_gen::named_enum! {
///     /// Side of a road.
///     #[derive(Clone, Copy, PartialEq, Eq, Debug)]
///     pub enum Side {
///         /// Left.
///         Left = "L",
///         /// Right.
///         Right = "R",
///     }
///     fn letter, from_letter ignoring case;
/// }
///
/// assert_eq!(Side::Left.letter(), "L");
/// assert_eq!(Side::from_letter("r"), Some(Side::Right));
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident { $($values:tt)+ }
    ) => {
        $crate::named_enum! {
            $(#[$meta])*
            $vis enum $Enum { $($values)+ }
            fn name, from_name;
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$doc:meta])* $Value:ident = $name:literal $(| $other:literal)*),+ $(,)?
        }
        fn $to:ident, $from:ident $(ignoring $case:ident)?;
    ) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$doc])* $Value,)+
        }

        #[allow(dead_code, reason = "not every enum is used in both directions")]
        impl $Enum {
            /// Every value, in order of declaration.
            $vis const ALL: [$Enum; [$($name),+].len()] = [$($Enum::$Value),+];

            /// Every name with its value, in order of declaration.
            $vis const NAMES: &'static [(&'static str, $Enum)] =
                &[$(($name, $Enum::$Value), $(($other, $Enum::$Value),)*)+];

            /// Returns the name.
            $vis const fn $to(self) -> &'static str {
                match self {
                    $($Enum::$Value => $name,)+
                }
            }

            /// Parses a name.
            $vis fn $from(name: &str) -> Option<$Enum> {
                $crate::named_enum!(
                    @parse $($case)? name { $($name $(| $other)* => $Enum::$Value,)+ }
                )
            }
        }
    };
    (@parse $word:ident { $($($name:literal)|+ => $value:path,)+ }) => {
        match $word {
            $($($name)|+ => Some($value),)+
            _ => None,
        }
    };
    (@parse case $word:ident { $($($name:literal)|+ => $value:path,)+ }) => {
        match $word {
            $(w if $(w.eq_ignore_ascii_case($name))||+ => Some($value),)+
            _ => None,
        }
    };
}
