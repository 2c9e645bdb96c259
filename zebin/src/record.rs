//! Records and keywords of YAML. A record states each key once, with its type. Reading and writing
//! follow from that.

#[cfg(feature = "read")]
use crate::error::ZebinError;
#[cfg(feature = "read")]
use crate::yaml::Node;
use crate::yaml::{Text, scalar};

/// Value under a key of a map.
pub(crate) trait Value: Sized {
    /// Reads it. `of` is the map.
    #[cfg(feature = "read")]
    fn read(of: &Node<'_>, key: &str, value: &Node<'_>) -> Result<Self, ZebinError>;

    /// Writes it with its key.
    fn write(&self, key: &str, out: &mut Text);
}

/// Element of a list that is a map.
pub(crate) trait Item: Sized {
    /// Reads it.
    #[cfg(feature = "read")]
    fn read(node: &Node<'_>) -> Result<Self, ZebinError>;

    /// Writes its keys.
    fn write(&self, out: &mut Text);
}

impl Value for u32 {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        value.u32()
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.entry(key, self);
    }
}

impl Value for i32 {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        value.i32()
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.entry(key, self);
    }
}

impl Value for bool {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        value.bool()
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.entry(key, self);
    }
}

impl Value for String {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        value.string()
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.entry(key, scalar(self));
    }
}

impl Value for [u32; 3] {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        match value.list()?.as_slice() {
            [x, y, z] => Ok([x.u32()?, y.u32()?, z.u32()?]),
            _ => Err(value.error("expected three numbers")),
        }
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.list(key, self, |n, out| out.element(n));
    }
}

impl<T: Value> Value for Option<T> {
    #[cfg(feature = "read")]
    fn read(of: &Node<'_>, key: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        T::read(of, key, value).map(Some)
    }

    fn write(&self, key: &str, out: &mut Text) {
        if let Some(value) = self {
            value.write(key, out);
        }
    }
}

impl<T: Item> Value for Vec<T> {
    #[cfg(feature = "read")]
    fn read(_: &Node<'_>, _: &str, value: &Node<'_>) -> Result<Self, ZebinError> {
        value.list()?.iter().map(T::read).collect()
    }

    fn write(&self, key: &str, out: &mut Text) {
        out.list(key, self, T::write);
    }
}

/// Returns true for the value of a key that is missing.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Defines an enum whose names are keywords of YAML.
macro_rules! keyword {
    ($(#[$meta:meta])* pub enum $Enum:ident { $($values:tt)+ }) => {
        gantry_isa_gen::named_enum! {
            $(#[$meta])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub enum $Enum { $($values)+ }
        }

        impl $crate::record::Value for $Enum {
            #[cfg(feature = "read")]
            fn read(
                of: &$crate::yaml::Node<'_>,
                key: &str,
                value: &$crate::yaml::Node<'_>,
            ) -> Result<Self, $crate::error::ZebinError> {
                let name = value.string()?;
                $Enum::from_name(&name).ok_or_else(|| of.error(&format!("unknown {key} `{name}`")))
            }

            fn write(&self, key: &str, out: &mut $crate::yaml::Text) {
                out.entry(key, self.name());
            }
        }
    };
}

/// Defines a structure that is a map of YAML. Before each field stands its rule:
///
/// - `need`: a key that must be there.
/// - `maybe`: a key that may be missing, which means the default. The default is not written.
/// - `kept`: a key that may be missing, and is always written.
/// - `plain`: a name that must be there, written without quotes.
/// - `quoted`: a text that may be missing, written in quotes.
///
/// A key that differs from the field's name stands behind it.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $Record:ident {
            $($(#[$doc:meta])* $rule:ident $name:ident $(($key:literal))?: $ty:ty,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $Record {
            $($(#[$doc])* pub $name: $ty,)+
        }

        impl $crate::record::Item for $Record {
            #[cfg(feature = "read")]
            fn read(node: &$crate::yaml::Node<'_>) -> Result<Self, $crate::error::ZebinError> {
                Ok($Record {
                    $($name: $crate::record::record!(
                        @read $rule node,
                        $crate::record::record!(@key $name $($key)?)
                    ),)+
                })
            }

            fn write(&self, out: &mut $crate::yaml::Text) {
                $($crate::record::record!(
                    @write $rule out,
                    &self.$name,
                    $crate::record::record!(@key $name $($key)?)
                );)+
            }
        }

        impl $crate::record::Value for $Record {
            #[cfg(feature = "read")]
            fn read(
                _: &$crate::yaml::Node<'_>,
                _: &str,
                value: &$crate::yaml::Node<'_>,
            ) -> Result<Self, $crate::error::ZebinError> {
                $crate::record::Item::read(value)
            }

            fn write(&self, key: &str, out: &mut $crate::yaml::Text) {
                out.map(key, |out| $crate::record::Item::write(self, out));
            }
        }
    };
    (@key $name:ident) => { stringify!($name) };
    (@key $name:ident $key:literal) => { $key };
    (@read need $node:ident, $key:expr) => {
        $crate::record::Value::read($node, $key, &$node.need($key)?)?
    };
    (@read plain $node:ident, $key:expr) => { $node.need($key)?.string()? };
    (@read maybe $node:ident, $key:expr) => {
        match $node.get($key)? {
            Some(value) => $crate::record::Value::read($node, $key, &value)?,
            None => Default::default(),
        }
    };
    (@read kept $node:ident, $key:expr) => { $crate::record::record!(@read maybe $node, $key) };
    (@read quoted $node:ident, $key:expr) => { $crate::record::record!(@read maybe $node, $key) };
    (@write need $out:ident, $value:expr, $key:expr) => {
        $crate::record::Value::write($value, $key, $out)
    };
    (@write kept $out:ident, $value:expr, $key:expr) => {
        $crate::record::Value::write($value, $key, $out)
    };
    (@write plain $out:ident, $value:expr, $key:expr) => {
        $out.entry($key, $crate::yaml::plain($value))
    };
    (@write maybe $out:ident, $value:expr, $key:expr) => {
        if !$crate::record::is_default($value) {
            $crate::record::Value::write($value, $key, $out);
        }
    };
    (@write quoted $out:ident, $value:expr, $key:expr) => {
        if !$value.is_empty() {
            $out.entry($key, $crate::yaml::quoted($value));
        }
    };
}

pub(crate) use {keyword, record};
