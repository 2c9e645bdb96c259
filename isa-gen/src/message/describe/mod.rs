//! Descriptors for people: the fields that a descriptor is made of, and one line of what it asks, in the words of
//! Intel's disassembler.
//!
//! This reads any 32 bits, reserved values too, because a listing shows whatever stands there. What a descriptor means to
//! a program is [`Message`](super::Message).

mod hdc;
mod lsc;
mod other;
mod sampler;

use super::Sfid;
use super::traits::Traits;
use std::fmt::{self, Write as _};

/// An extended descriptor: immediate, or in `a0.N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ex {
    /// The bits.
    Imm(u32),
    /// The doubleword of a0.
    Reg(u16),
}

/// A field of a descriptor with what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescField {
    /// The field's name.
    pub name: &'static str,
    /// Lowest bit: 0 to 31 in the descriptor, 32 to 63 in the extended descriptor.
    pub lo: u8,
    /// Number of bits.
    pub len: u8,
    /// The bits.
    pub value: u32,
    /// What that value means; empty where there is nothing to say.
    pub meaning: String,
}

/// Something wrong with a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescFinding {
    /// Lowest bit, as in [`DescField::lo`].
    pub lo: u8,
    /// Number of bits; 0 for the descriptor as a whole.
    pub len: u8,
    /// Whether the hardware has no meaning for it; otherwise it is only unexpected.
    pub error: bool,
    /// What.
    pub text: String,
}

/// What a descriptor says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Description {
    /// One line; empty where the message is not known.
    pub text: String,
    /// The fields, highest bit first.
    pub fields: Vec<DescField>,
    /// What is wrong.
    pub findings: Vec<DescFinding>,
    /// Where addresses are coordinates: the GRFs of one coordinate.
    pub(crate) coordinate_grfs: Option<u32>,
}

/// The reading of one send.
struct Reader<'t> {
    traits: &'t Traits,
    sfid: Sfid,
    /// Channels of the instruction.
    exec: u32,
    ex: Ex,
    desc: u32,
    /// Whether anyone wants the fields and findings; otherwise only the line is made.
    listing: bool,
    errors: bool,
    out: Description,
}

impl Reader<'_> {
    /// Bits of the descriptor, or from 32 on of the extended descriptor (0 where that is in a register).
    fn bits(&self, lo: u8, len: u8) -> u32 {
        let word = match self.ex {
            _ if lo < 32 => self.desc,
            Ex::Imm(v) => v,
            Ex::Reg(_) => 0,
        };
        let mask = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
        word >> (lo & 31) & mask
    }

    fn bit(&self, lo: u8) -> bool {
        self.bits(lo, 1) == 1
    }

    /// Lists a field unless its bits belong to one already.
    fn field(
        &mut self,
        name: &'static str,
        lo: u8,
        len: u8,
        meaning: impl FnOnce(u32) -> String,
    ) -> u32 {
        let value = self.bits(lo, len);
        self.value(name, lo, len, value, meaning);
        value
    }

    fn value(
        &mut self,
        name: &'static str,
        lo: u8,
        len: u8,
        value: u32,
        meaning: impl FnOnce(u32) -> String,
    ) {
        if !self.listing {
            return;
        }
        let taken = |f: &DescField| f.lo < lo + len && lo < f.lo + f.len;
        if !self.out.fields.iter().any(taken) {
            self.out.fields.push(DescField {
                name,
                lo,
                len,
                value,
                meaning: meaning(value),
            });
        }
    }

    /// A field without a meaning of its own.
    fn plain(&mut self, name: &'static str, lo: u8, len: u8) -> u32 {
        self.field(name, lo, len, |_| String::new())
    }

    /// A field whose values have names; `?` beyond them.
    fn named(&mut self, name: &'static str, lo: u8, len: u8, names: &[&str]) -> u32 {
        self.field(name, lo, len, |v| {
            (*names.get(v as usize).unwrap_or(&"?")).to_owned()
        })
    }

    /// A field of one bit, with the meanings of 0 and 1.
    fn flag(&mut self, name: &'static str, lo: u8, zero: &str, one: &str) -> bool {
        self.named(name, lo, 1, &[zero, one]) == 1
    }

    fn find(&mut self, error: bool, lo: u8, len: u8, text: &str) {
        self.errors |= error;
        if self.listing {
            self.out.findings.push(DescFinding {
                lo,
                len,
                error,
                text: text.to_owned(),
            });
        }
    }

    fn error(&mut self, lo: u8, len: u8, text: &str) {
        self.find(true, lo, len, text);
    }

    fn warn(&mut self, lo: u8, len: u8, text: &str) {
        self.find(false, lo, len, text);
    }

    /// The operation is there only where `has`.
    fn only(&mut self, has: bool) {
        if !has {
            self.error(14, 5, "not on this platform");
        }
    }

    fn say(&mut self, text: fmt::Arguments<'_>) {
        // A String takes everything.
        let _ = self.out.text.write_fmt(text);
    }

    fn set(&mut self, text: &str) {
        self.out.text.clear();
        self.out.text.push_str(text);
    }

    /// The addresses are coordinates of `bits` bits each in so many channels.
    fn coordinates(&mut self, exec: u32, bits: u32) {
        self.out.coordinate_grfs = Some((exec * bits / self.traits.grf_bits).max(1));
    }

    /// Header bit: optional.
    fn header(&mut self) -> bool {
        self.flag("Header", 19, "absent", "included")
    }

    fn header_required(&mut self) {
        if !self.header() {
            self.warn(19, 1, "this message needs a header");
        }
    }

    fn header_forbidden(&mut self) {
        if self.bit(19) {
            self.warn(19, 1, "this message takes no header");
        }
    }

    fn bti(&mut self) -> u32 {
        self.field("BTI", 0, 8, |v| match v {
            254 => format!("surface {v} (SLM)"),
            255 => format!("surface {v} (coherent stateless)"),
            253 => format!("surface {v} (incoherent stateless)"),
            252 => format!("surface {v} (bindless)"),
            _ => format!("surface {v}"),
        })
    }

    /// MDC_SM2.
    fn simd2(&mut self, lo: u8) -> u32 {
        if self.flag("SimdMode:MDC_SM2", lo, "SIMD8", "SIMD16") {
            16
        } else {
            8
        }
    }

    fn lengths(&mut self) {
        let grfs = |what: &'static str| move |n| format!("{n} GRFs {what}");
        self.field("Mlen", 25, 4, grfs("of addresses written"));
        self.field("Rlen", 20, 5, grfs("read back"));
        if self.traits.src1_len_in_ex {
            self.field("Xlen", 32 + 6, 5, grfs("of data written"));
        }
        if self.traits.sfid_in_ex {
            let name = self.traits.long_name(self.sfid);
            self.field("SFID", 32, 4, |_| name.to_owned());
        }
    }

    /// Bits that are set and belong to no field.
    fn stray_bits(&mut self) {
        let owned = |i: u8| {
            self.out
                .fields
                .iter()
                .any(|f| i >= f.lo && i < f.lo + f.len)
        };
        let end = if matches!(self.ex, Ex::Imm(_)) {
            64
        } else {
            32
        };
        let mut stray: Vec<(u8, u8)> = Vec::new();
        for i in (0..end).filter(|i| self.bit(*i) && !owned(*i)) {
            match stray.last_mut() {
                Some((lo, len)) if *lo + *len == i && i != 32 => *len += 1,
                _ => stray.push((i, 1)),
            }
        }
        for (lo, len) in stray {
            self.warn(lo, len, "bits set in no field");
        }
    }
}

/// Reads a descriptor. `sfid` is `None` where the shared function is not known.
pub(crate) fn describe(
    traits: &Traits,
    sfid: Option<Sfid>,
    exec: u32,
    ex: Ex,
    desc: u32,
    listing: bool,
) -> Description {
    let mut r = Reader {
        traits,
        sfid: sfid.unwrap_or(Sfid::NULL),
        exec,
        ex,
        desc,
        listing,
        errors: false,
        out: Description::default(),
    };
    r.lengths();
    match sfid {
        Some(
            Sfid::DATA_CACHE_0 | Sfid::DATA_CACHE_1 | Sfid::DATA_CACHE_2 | Sfid::CONSTANT_CACHE,
        ) => {
            hdc::read(&mut r);
        }
        // The numbers of the load/store cache are read so on every platform, where the number means nothing else.
        Some(Sfid::UGM | Sfid::UGML | Sfid::SLM) => lsc::read(&mut r),
        Some(Sfid::TGM) if traits.lsc => lsc::read(&mut r),
        Some(Sfid::SAMPLER) => sampler::read(&mut r),
        _ => other::read(&mut r),
    }
    if listing {
        r.out.fields.sort_by_key(|f| std::cmp::Reverse(f.lo));
        r.stray_bits();
    }
    r.out
}
