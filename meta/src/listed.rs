//! Enums whose values are listed with their documentation.

/// Defines an enum with `ALL`, its values in order of declaration, and `doc`, the documentation of
/// a value, which generated code repeats.
macro_rules! listed_enum {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $($(#[doc = $doc:literal])+ $Value:ident,)+
        }
    ) => {
        $(#[$meta])*
        pub enum $Enum {
            $($(#[doc = $doc])+ $Value,)+
        }

        impl $Enum {
            /// Every value, in order of declaration.
            pub const ALL: [$Enum; [$(stringify!($Value)),+].len()] = [$($Enum::$Value),+];

            /// Returns the documentation.
            pub const fn doc(self) -> &'static str {
                match self {
                    $($Enum::$Value => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

pub(crate) use listed_enum;
