//! Fields of descriptors: bits, value in a typed message, and line in a listing.

use crate::generation::{ALL, Gens, XE_HPC};

/// Value of a field that is one of a list, in Rust.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Bits.
    pub bits: u32,
    /// Values of the field's arguments, as Rust expressions and patterns.
    pub values: Vec<&'static str>,
    /// Generations that have the value.
    pub gens: Gens,
}

/// Error of a table for an argument that is not in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The last argument does not fit its field.
    Range(&'static str),
    /// The platform lacks the message that this Rust expression names.
    Lacks(&'static str),
    /// None: every argument is in the table.
    Never,
}

/// Relation of the bits of a field to arguments of the typed message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Codec {
    /// None: only listings show the field.
    None,
    /// Bits that distinguish the form from others of its number.
    Select(u32),
    /// Bits that are always set, and ignored in decoding.
    Always(u32),
    /// Bits that are reserved whatever their value.
    Reserved,
    /// Argument that has no bits and must be this value, else it is out of range.
    Clear(&'static str),
    /// `bool`.
    Flag,
    /// Unsigned integer of this type.
    Uint(&'static str),
    /// Power of two of a `u8`, by its logarithm up to this.
    Log2(u32),
    /// Channels of a message: 0 for the smaller mode, or (`true`) for the full one.
    Simd(bool),
    /// Channels of a message: 1 for the full mode, 2 for the smaller one; other messages are raw.
    Simd3,
    /// The smaller mode of channels. The bits, if any, are 0.
    Small,
    /// 8 or 16 channels.
    Simd16,
    /// Enabled components, by bits that disable them.
    Mask,
    /// Surface by its index.
    Surface,
    /// Surface of 64-bit addresses, which is stateless.
    Stateless,
    /// Variant of this enum, by its position in `ALL`.
    Enum(&'static str),
    /// Values of one or two arguments. `choose` makes the values distinguish the form.
    Table {
        /// Values.
        entries: Vec<Entry>,
        /// Error for other arguments.
        missing: Missing,
        /// True if other bits belong to another form.
        choose: bool,
    },
    /// One of these values, an `u8`.
    OneOf(Vec<(u32, Gens)>),
    /// Hand-written functions. In both expressions `{}` is the bits or, in encoding, the argument.
    Hook {
        /// Expression of the argument.
        decode: &'static str,
        /// Expression of the bits, shifted to their place.
        encode: &'static str,
    },
}

/// Meaning of a value in a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing but the value.
    Plain,
    /// Name of each value, `?` beyond.
    Names(Vec<String>),
    /// Number between two texts.
    Number(&'static str, &'static str),
    /// Surface by its index.
    Surface,
}

/// Finding of a listing: an error, or a warning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Generations that are checked.
    pub gens: Gens,
    /// Values of the field that are found, or (`not`) all others.
    pub values: Vec<u32>,
    /// True if `values` are those that are right.
    pub not: bool,
    /// Lowest bit and number of bits that are shown.
    pub at: (u8, u8),
    /// True for an error, false for a warning.
    pub error: bool,
    /// Text.
    pub text: &'static str,
}

/// Step of a listing: a field with its meaning, and checks of its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Name of the field, or `None` if it is only checked.
    pub name: Option<&'static str>,
    /// Number of bits that are listed, if not all.
    pub len: Option<u8>,
    /// Meaning of the values.
    pub meaning: Meaning,
    /// Checks.
    pub checks: Vec<Check>,
    /// Generations in which it is listed.
    pub gens: Gens,
}

/// Field of a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Bits, the most significant part first: lowest bit and number. Bits 63:32 are the extended
    /// descriptor.
    pub parts: Vec<(u8, u8)>,
    /// Arguments of the typed message.
    pub args: Vec<&'static str>,
    /// Names of the field in errors of decoding and of encoding.
    pub labels: (&'static str, &'static str),
    /// Message that errors name, if it is not the form's.
    pub of: Option<&'static str>,
    /// Relation of bits and arguments.
    pub codec: Codec,
    /// Turn in decoding and encoding: fields of lower turns first, then in their order.
    pub turn: i8,
    /// Lines of a listing.
    pub steps: Vec<Step>,
    /// Placeholder in the form's text, and its text for each value. Values beyond have none.
    pub words: Option<(&'static str, Vec<String>)>,
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_string()).collect()
}

/// Creates a field without any meaning yet.
pub fn field(lo: u8, len: u8) -> Field {
    let parts = if len == 0 { vec![] } else { vec![(lo, len)] };
    Field {
        parts,
        args: vec![],
        labels: ("", ""),
        of: None,
        codec: Codec::None,
        turn: 0,
        steps: vec![],
        words: None,
    }
}

/// Creates a field of an argument.
pub fn arg(name: &'static str, lo: u8, len: u8, codec: Codec) -> Field {
    Field {
        args: vec![name],
        codec,
        ..field(lo, len)
    }
}

impl Field {
    /// Adds less significant bits.
    #[must_use]
    pub fn and(mut self, lo: u8, len: u8) -> Field {
        self.parts.push((lo, len));
        self
    }

    /// Names the field in errors.
    #[must_use]
    pub fn label(self, name: &'static str) -> Field {
        self.named_in_errors(name, name)
    }

    /// Names the field in errors of decoding and of encoding.
    #[must_use]
    pub fn named_in_errors(mut self, decode: &'static str, encode: &'static str) -> Field {
        self.labels = (decode, encode);
        self
    }

    /// Names the message in errors.
    #[must_use]
    pub fn of(mut self, message: &'static str) -> Field {
        self.of = Some(message);
        self
    }

    /// Sets the turn in decoding and encoding.
    #[must_use]
    pub fn turn(mut self, turn: i8) -> Field {
        self.turn = turn;
        self
    }

    /// Makes the field distinguish the form from others of its number.
    #[must_use]
    pub fn select(mut self, bits: u32) -> Field {
        self.codec = Codec::Select(bits);
        self
    }

    /// Adds a line of a listing.
    #[must_use]
    pub fn listed(mut self, name: &'static str, meaning: Meaning) -> Field {
        self.steps.push(Step {
            name: Some(name),
            len: None,
            meaning,
            checks: vec![],
            gens: ALL,
        });
        self
    }

    /// Adds a line of a listing with a name for each value.
    #[must_use]
    pub fn named(self, name: &'static str, values: &[&str]) -> Field {
        self.listed(name, Meaning::Names(strings(values)))
    }

    /// Limits the last line to generations.
    #[must_use]
    pub fn on(mut self, gens: Gens) -> Field {
        if let Some(s) = self.steps.last_mut() {
            s.gens = gens;
        }
        self
    }

    /// Lists only the lower bits in the last line.
    #[must_use]
    pub fn lower(mut self, len: u8) -> Field {
        if let Some(s) = self.steps.last_mut() {
            s.len = Some(len);
        }
        self
    }

    fn checked(mut self, check: Check) -> Field {
        if self.steps.is_empty() {
            self.steps.push(Step {
                name: None,
                len: None,
                meaning: Meaning::Plain,
                checks: vec![],
                gens: ALL,
            });
        }
        if let Some(s) = self.steps.last_mut() {
            s.checks.push(check);
        }
        self
    }

    fn at(&self) -> (u8, u8) {
        self.parts.last().copied().unwrap_or((0, 0))
    }

    /// Adds an error for values.
    #[must_use]
    pub fn error(self, values: &[u32], text: &'static str) -> Field {
        let at = self.at();
        self.error_at(values, at, text)
    }

    /// Adds an error for values, at other bits.
    #[must_use]
    pub fn error_at(self, values: &[u32], at: (u8, u8), text: &'static str) -> Field {
        self.error_on(ALL, values, at, text)
    }

    /// Adds an error for values on some generations.
    #[must_use]
    pub fn error_on(self, gens: Gens, values: &[u32], at: (u8, u8), text: &'static str) -> Field {
        self.checked(Check {
            gens,
            values: values.to_vec(),
            not: false,
            at,
            error: true,
            text,
        })
    }

    /// Adds an error for all values but these.
    #[must_use]
    pub fn error_unless(self, values: &[u32], text: &'static str) -> Field {
        let at = self.at();
        self.checked(Check {
            gens: ALL,
            values: values.to_vec(),
            not: true,
            at,
            error: true,
            text,
        })
    }

    /// Adds a warning for values.
    #[must_use]
    pub fn warn(self, values: &[u32], text: &'static str) -> Field {
        let at = self.at();
        self.checked(Check {
            gens: ALL,
            values: values.to_vec(),
            not: false,
            at,
            error: false,
            text,
        })
    }

    /// Makes the field one of listings only.
    #[must_use]
    pub fn not_encoded(mut self) -> Field {
        self.codec = Codec::None;
        self.args.clear();
        self
    }

    /// Gives the placeholder and its text for each value.
    #[must_use]
    pub fn words(mut self, key: &'static str, values: &[&str]) -> Field {
        self.words = Some((key, strings(values)));
        self
    }
}

/// Argument without bits, which every message of the form has with this value.
pub fn clear(name: &'static str, value: &'static str, label: &'static str) -> Field {
    arg(name, 0, 0, Codec::Clear(value)).label(label)
}

/// Surface (7:0) of a message with 32-bit addresses.
pub fn surface() -> Field {
    arg("surface", 0, 8, Codec::Surface).listed("BTI", Meaning::Surface)
}

/// Surface (7:0) of a message with 64-bit addresses.
pub fn stateless() -> Field {
    arg("surface", 0, 8, Codec::Stateless)
        .turn(-1)
        .listed("BTI", Meaning::Surface)
        .error_unless(&[253, 255], "a stateless message has BTI 255 or 253")
}

/// Surface of a message with addresses of either size.
pub fn surface_of(a64: bool) -> Field {
    if a64 { stateless() } else { surface() }
}

/// Number of channels (MDC_SM2).
pub fn simd(lo: u8) -> Field {
    arg("simd", lo, 1, Codec::Simd(false)).named("SimdMode:MDC_SM2", &["SIMD8", "SIMD16"])
}

/// Number of channels of an atomic (MDC_SM2R): `reversed` means that 1 is the smaller number.
pub fn atomic_simd(lo: u8, reversed: bool) -> Field {
    arg("simd", lo, 1, Codec::Simd(reversed)).atomic_simd_lines(reversed)
}

/// The smaller number of channels.
pub fn small() -> Field {
    arg("simd", 0, 0, Codec::Small)
}

impl Field {
    /// Adds the line of MDC_SM2R or MDC_SM2S.
    #[must_use]
    pub fn atomic_simd_lines(self, reversed: bool) -> Field {
        let (names, absent) = if reversed {
            (["SIMD16", "SIMD8"], 0)
        } else {
            (["SIMD8", "SIMD16"], 1)
        };
        let at = self.at();
        let text = "no such SIMD mode on this platform";
        self.named("SimdMode:MDC_SM2R", &names)
            .error_on(XE_HPC, &[absent], at, text)
    }
}

/// Number of channels of an untyped message (MDC_SM3).
pub fn simd3() -> Field {
    arg("simd", 12, 2, Codec::Simd3)
        .label("SIMD mode")
        .named("SimdMode:MDC_SM3", &["SIMD4x2", "SIMD16", "SIMD8"])
        .error(&[0, 3], "no such SIMD mode")
        .error_on(XE_HPC, &[2], (12, 1), "no such SIMD mode on this platform")
}

/// Names of the lower slots, by platform.
const LOW: [(Gens, &str); 2] = [(ALL_BUT_HPC, "SG8L"), (XE_HPC, "SIMD16")];
const ALL_BUT_HPC: Gens = ALL.without(XE_HPC);

/// Slots of a typed message (MDC_SG3).
pub fn slots3() -> Field {
    let mut f = arg("slots", 12, 2, Codec::Enum("Slots")).label("slot group");
    for (gens, low) in LOW {
        f = f
            .named("SlotGroup:MDC_SG3", &["SG4x2", low, "SG8U"])
            .on(gens)
            .error(&[3], "no such slot group");
    }
    f.words("slots", &["", "", " (high slot group)"])
}

/// Slots of a typed atomic (MDC_SG2).
pub fn slots2() -> Field {
    let mut f = arg("high", 12, 1, Codec::Flag);
    for (gens, low) in LOW {
        f = f.named("SlotGroup:MDC_SG2", &[low, "SG8U"]).on(gens);
    }
    f
}

/// Formats the components of a mask.
pub fn components(mask: u32) -> String {
    let on = |(i, _): &(usize, char)| mask >> i & 1 == 1;
    "xyzw"
        .chars()
        .enumerate()
        .filter(on)
        .map(|(_, c)| c)
        .collect()
}

/// Enabled components (11:8), by bits that disable them (MDC_CMASK).
pub fn mask() -> Field {
    let names: Vec<String> = (0..16).map(|v| components(!v & 15)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    arg("rgba", 8, 4, Codec::Mask)
        .turn(1)
        .label("channel disable mask")
        .named("ChannelDisableMask:MDC_CMASK", &names)
        .error(&[15], "no channel is enabled")
        .words("rgba", &names)
}

/// Header bit that may be set.
pub fn header() -> Field {
    field(19, 1).named("Header", &["absent", "included"])
}

/// Header bit that must be set.
pub fn header_required() -> Field {
    header().warn(&[0], "this message needs a header")
}

/// Header bit that must be clear.
pub fn header_forbidden() -> Field {
    field(19, 1).warn(&[1], "this message takes no header")
}

/// Header bit of a message with addresses of either size.
pub fn header_of(a64: bool) -> Field {
    if a64 { header_forbidden() } else { header() }
}

/// Invalidation after a read (MDC_IAR).
pub fn invalidate() -> Field {
    field(13, 1).named("MDC_IAR", &["disabled", "invalidate after read"])
}

/// Response of an atomic.
pub fn returns() -> Field {
    arg("returns", 13, 1, Codec::Flag).named("ReturnDataControl", &["nothing returned", "returned"])
}

/// Error of messages that only some generations have.
pub fn only(gens: Gens) -> Field {
    let lacks = ALL.without(gens);
    field(14, 5)
        .error_on(lacks, &[], (14, 5), "not on this platform")
        .always()
}

impl Field {
    /// Makes the last check find every value.
    #[must_use]
    pub fn always(mut self) -> Field {
        let check = self.steps.last_mut().and_then(|s| s.checks.last_mut());
        if let Some(c) = check {
            c.values.clear();
            c.not = true;
        }
        self
    }
}

/// Error of every message of a form.
pub fn fails(lo: u8, len: u8, text: &'static str) -> Field {
    field(lo, len).error(&[], text).always()
}
