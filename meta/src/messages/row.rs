//! Message DSL: an operation, its forms on the ports, and its payload.

use super::expr::Expr;
use super::field::{Codec, Field, Meaning, field};
use crate::generation::{ALL, Gens, XE_HPC, XE_HPG};
use crate::listed::listed_enum;
use std::fmt;
use std::panic::Location;

/// Generations with the load/store cache, and the other shared functions of Xe-HPG.
pub const LSC: Gens = XE_HPG.and(XE_HPC);

listed_enum! {
    /// Port: a shared function, and the bits of its type numbers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Port {
        /// Data cache 0.
        DataCache0,
        /// Data cache 1.
        DataCache1,
        /// Read-only data port (constant cache).
        ReadOnly,
        /// Sampler cache data port, which has no messages here.
        DataCache2,
        /// Gateway.
        Gateway,
        /// Thread spawner before Xe-HPG.
        Spawner,
        /// Bindless thread dispatch.
        Btd,
        /// Ray tracing.
        Rta,
        /// Sampler.
        Sampler,
        /// Unified return buffer.
        Urb,
        /// Render cache.
        Render,
        /// Load/store cache.
        Lsc,
    }
}

impl Port {
    /// Returns the constant of `Sfid`, or `None` for the four of the load/store cache.
    pub const fn sfid(self) -> Option<&'static str> {
        Some(match self {
            Port::DataCache0 => "DATA_CACHE_0",
            Port::DataCache1 => "DATA_CACHE_1",
            Port::ReadOnly => "CONSTANT_CACHE",
            Port::DataCache2 => "DATA_CACHE_2",
            Port::Gateway => "GATEWAY",
            Port::Spawner => "THREAD_SPAWNER",
            Port::Btd => "BTD",
            Port::Rta => "RTA",
            Port::Sampler => "SAMPLER",
            Port::Urb => "URB",
            Port::Render => "RENDER_CACHE",
            Port::Lsc => return None,
        })
    }

    /// Returns the generations with the port.
    pub fn gens(self) -> Gens {
        match self {
            Port::Spawner => ALL.without(LSC),
            Port::Btd | Port::Rta | Port::Lsc => LSC,
            _ => ALL,
        }
    }

    /// Returns the lowest bit and the number of bits of type numbers.
    pub const fn number(self) -> (u8, u8) {
        match self {
            Port::DataCache0 | Port::DataCache1 | Port::ReadOnly | Port::DataCache2 => (14, 5),
            Port::Gateway => (0, 3),
            Port::Spawner | Port::Urb => (0, 4),
            Port::Btd | Port::Rta | Port::Render => (14, 4),
            Port::Sampler => (0, 0),
            Port::Lsc => (0, 6),
        }
    }
}

/// Argument of a message: a field of its variant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg {
    /// Name.
    pub name: &'static str,
    /// Rust type.
    pub ty: &'static str,
    /// Documentation.
    pub doc: &'static str,
}

/// Payload lengths in GRFs.
#[derive(Clone, PartialEq, Debug)]
pub struct Payload {
    /// True if there must be a header.
    pub header: bool,
    /// Addresses.
    pub address: Expr,
    /// Data to write.
    pub data: Expr,
    /// Response.
    pub response: Expr,
    /// Hand-written function of the argument of a tuple variant, which computes all of it.
    pub hook: Option<&'static str>,
}

impl Payload {
    /// Payload that a hand-written function computes.
    pub fn hook(hook: &'static str) -> Payload {
        Payload {
            hook: Some(hook),
            ..Payload::none()
        }
    }

    /// Payload without anything.
    pub fn none() -> Payload {
        Payload {
            header: false,
            address: Expr::Num(0),
            data: Expr::Num(0),
            response: Expr::Num(0),
            hook: None,
        }
    }

    /// Payload of addresses only.
    pub fn address(e: Expr) -> Payload {
        Payload {
            address: e,
            ..Payload::none()
        }
    }

    /// Payload of data that are read or written, by the argument `dir`.
    pub fn moved(address: Expr, n: Expr) -> Payload {
        Payload {
            header: false,
            address,
            data: Expr::Writes(Box::new(n.clone())),
            response: Expr::Reads(Box::new(n)),
            hook: None,
        }
    }

    /// Payload of an atomic with rows of this length: its sources, and what it returns.
    pub fn atomic(address: Expr, row: Expr) -> Payload {
        Payload {
            header: false,
            address,
            data: Expr::Sources("op").times(row.clone()),
            response: Expr::Flag("returns").times(row),
            hook: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn headed(self) -> Payload {
        Payload {
            header: true,
            ..self
        }
    }
}

/// Form of a message on a port, with the bits of its descriptor.
#[derive(Clone, PartialEq, Debug)]
pub struct Form {
    /// Message in errors about fields.
    pub name: &'static str,
    /// Message in the error of a platform without it; empty for the message's text.
    pub lacks: &'static str,
    /// Typed message in Rust without its enum: an expression in decoding, a pattern in encoding.
    /// `None` if the message stays raw.
    pub value: Option<&'static str>,
    /// True if the form decodes to an error about its last field.
    pub reserved: bool,
    /// Port.
    pub port: Port,
    /// Type number, or `None` if other fields tell.
    pub number: Option<u8>,
    /// Generations with the form.
    pub gens: Gens,
    /// Fields, in the order of decoding and listing.
    pub fields: Vec<Field>,
    /// Generations on which listings describe it. The numbers are described where they are invalid,
    /// too.
    pub described: Option<Gens>,
    /// Summary line, with placeholders of fields in braces.
    pub text: &'static str,
    /// Channels whose coordinates are the addresses.
    pub coordinates: Coordinates,
    /// Line of the table, for generated source.
    pub at: &'static Location<'static>,
}

/// Writes port, type number, generations, and the encoded fields with their bits.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.port)?;
        if let Some(n) = self.number {
            write!(f, " {n:#04x}")?;
        }
        write!(f, " {}: {}", self.gens, self.value.unwrap_or("raw"))?;
        for x in self.fields.iter().filter(|x| x.codec != Codec::None) {
            let places: Vec<String> = x
                .parts
                .iter()
                .map(|(lo, len)| match len {
                    1 => lo.to_string(),
                    _ => format!("{}:{lo}", lo + len - 1),
                })
                .collect();
            let name = match x.codec {
                Codec::Select(v) | Codec::Always(v) => format!("={v}"),
                _ => x.args.join("+"),
            };
            write!(f, " [{}] {name}", places.join(", "))?;
        }
        Ok(())
    }
}

/// Channels of a message whose addresses are coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coordinates {
    /// Addresses are not coordinates.
    None,
    /// Half of the channels of a full message.
    Half,
    /// Half of them if this bit is set, else all.
    HalfIf(u8),
}

impl Form {
    fn new(port: Port, number: Option<u8>, at: &'static Location<'static>) -> Form {
        Form {
            name: "",
            lacks: "",
            value: None,
            reserved: false,
            port,
            number,
            gens: port.gens(),
            fields: vec![],
            described: None,
            text: "",
            coordinates: Coordinates::None,
            at,
        }
    }

    /// Creates a form of a type number.
    #[track_caller]
    pub fn of(port: Port, number: u8) -> Form {
        Form::new(port, Some(number), Location::caller())
    }

    /// Creates a form that its fields distinguish, or that is left when no other is found.
    #[track_caller]
    pub fn other(port: Port) -> Form {
        Form::new(port, None, Location::caller())
    }

    /// Limits the form to generations.
    #[must_use]
    pub fn on(mut self, gens: Gens) -> Form {
        self.gens = gens;
        self
    }

    /// Gives the typed message, and its name in errors.
    #[must_use]
    pub fn value(mut self, name: &'static str, value: &'static str) -> Form {
        self.name = name;
        self.lacks = name;
        self.value = Some(value);
        self
    }

    /// Gives the name of the message in the error of a platform without it.
    #[must_use]
    pub fn lacks(mut self, name: &'static str) -> Form {
        self.lacks = name;
        self
    }

    /// Makes the form an error about its last field.
    #[must_use]
    pub fn reserved(mut self, name: &'static str) -> Form {
        self.name = name;
        self.reserved = true;
        self
    }

    /// Adds fields.
    #[must_use]
    pub fn fields(mut self, fields: impl IntoIterator<Item = Field>) -> Form {
        self.fields.extend(fields);
        self
    }

    /// Describes the form: title of its type number under the name of that field, and summary.
    #[must_use]
    pub fn says(self, name: &'static str, title: &str, text: &'static str) -> Form {
        let (lo, len) = self.port.number();
        let all = vec![title.to_string(); 1 << len];
        let title = field(lo, len).listed(name, Meaning::Names(all));
        let mut form = self.described(text);
        form.fields.insert(0, title);
        form
    }

    /// Describes the form by its summary.
    #[must_use]
    pub fn described(mut self, text: &'static str) -> Form {
        self.text = text;
        self.described = Some(ALL);
        self
    }

    /// Limits the description to generations.
    #[must_use]
    pub fn described_on(mut self, gens: Gens) -> Form {
        self.described = Some(gens);
        self
    }

    /// Makes the addresses coordinates.
    #[must_use]
    pub fn coordinates(mut self, of: Coordinates) -> Form {
        self.coordinates = of;
        self
    }

    /// Returns true if the form encodes or decodes.
    pub fn has_codec(&self) -> bool {
        self.value.is_some() || self.reserved
    }

    /// Returns true if fields distinguish the form from others of its number.
    pub fn is_conditional(&self) -> bool {
        self.fields.iter().any(|f| {
            matches!(
                f.codec,
                Codec::Select(_) | Codec::Table { choose: true, .. }
            )
        })
    }

    /// Returns the bits that distinguish the form from others of its number: parts and value.
    pub fn selects(&self) -> impl Iterator<Item = (&[(u8, u8)], u32)> {
        self.fields.iter().filter_map(|f| match f.codec {
            Codec::Select(v) => Some((&f.parts[..], v)),
            _ => None,
        })
    }
}

/// Message: an operation with its arguments, payload and forms.
///
/// ```
/// use gantry_meta::messages::field::{arg, Codec, surface};
/// use gantry_meta::messages::{Form, Message, Port};
/// let form = Form::of(Port::DataCache0, 0x06)
///     .value("ping", "Ping { surface, count }")
///     .fields([surface(), arg("count", 8, 2, Codec::Log2(3))]);
/// assert!(form.to_string().ends_with(": Ping { surface, count } [7:0] surface [9:8] count"));
/// let message = Message::new("Ping", "Pings a surface.")
///     .surface()
///     .arg("count", "u8", "Number of pings: 1, 2, 4 or 8.")
///     .text("ping {surface} x{count}")
///     .form(form);
/// assert_eq!(message.args.len(), 2);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Name of the variant.
    pub variant: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// Arguments: named fields, or the one unnamed field of a variant.
    pub args: Vec<Arg>,
    /// Text form, with arguments in braces.
    pub text: &'static str,
    /// Payload lengths.
    pub payload: Payload,
    /// Forms.
    pub forms: Vec<Form>,
}

impl Message {
    /// Creates a message without forms.
    pub fn new(variant: &'static str, doc: &'static str) -> Message {
        Message {
            variant,
            doc,
            args: vec![],
            text: "",
            payload: Payload::none(),
            forms: vec![],
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, name: &'static str, ty: &'static str, doc: &'static str) -> Message {
        self.args.push(Arg { name, ty, doc });
        self
    }

    /// Makes the variant a tuple of one type.
    #[must_use]
    pub fn of(self, ty: &'static str) -> Message {
        self.arg("", ty, "")
    }

    /// Adds the argument `dir`.
    #[must_use]
    pub fn dir(self) -> Message {
        self.arg("dir", "Dir", "Direction: read or write.")
    }

    /// Adds the argument `addr`.
    #[must_use]
    pub fn addr(self) -> Message {
        self.arg("addr", "AddrModel", "Address model and surface.")
    }

    /// Adds the argument `surface`.
    #[must_use]
    pub fn surface(self) -> Message {
        self.arg("surface", "Surface", "Surface.")
    }

    /// Adds the argument `simd`.
    #[must_use]
    pub fn simd(self) -> Message {
        self.arg("simd", "Simd", "Number of channels.")
    }

    /// Adds the argument `returns`.
    #[must_use]
    pub fn returns(self) -> Message {
        self.arg("returns", "bool", "Set if the message returns a value.")
    }

    /// Gives the text form.
    #[must_use]
    pub fn text(mut self, text: &'static str) -> Message {
        self.text = text;
        self
    }

    /// Gives the payload.
    #[must_use]
    pub fn payload(mut self, payload: Payload) -> Message {
        self.payload = payload;
        self
    }

    /// Adds a form.
    #[must_use]
    pub fn form(mut self, form: Form) -> Message {
        self.forms.push(form);
        self
    }

    /// Adds forms.
    #[must_use]
    pub fn forms(mut self, forms: impl IntoIterator<Item = Form>) -> Message {
        self.forms.extend(forms);
        self
    }
}
