//! Descriptions of descriptors for listings: the fields of a descriptor and a summary line, in the
//! words of Intel's disassembler.
//!
//! Any 32 bits are accepted, reserved values too, because a listing shows invalid code as well.
//! [`Message`](super::Message) holds the meaning of a descriptor to a program. The words are data
//! of the rows of `gantry_meta::messages` (`rows`), but for the load/store cache, whose summary is
//! assembly syntax (`lsc`).

mod lsc;
mod rows;

use super::Sfid;
use crate::sfid::traits::SendTraits;
use std::fmt::{self, Write as _};

/// Extended descriptor: immediate, or in `a0.N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExDesc {
    /// Bits.
    Imm(u32),
    /// Dword of a0.
    Reg(u16),
}

/// Field of a descriptor and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescField {
    /// Name of the field.
    pub name: &'static str,
    /// Lowest bit: 0 to 31 in the descriptor, 32 to 63 in the extended descriptor.
    pub lo: u8,
    /// Number of bits.
    pub len: u8,
    /// Bits.
    pub value: u32,
    /// Meaning of the value, or empty.
    pub meaning: String,
}

/// Error or warning about a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DescFinding {
    /// Lowest bit, as in [`DescField::lo`].
    pub lo: u8,
    /// Number of bits; 0 for the descriptor as a whole.
    pub len: u8,
    /// True if the hardware does not define the value; false if the value is only unexpected.
    pub error: bool,
    /// Text of the finding.
    pub text: String,
}

/// Description of a descriptor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Description {
    /// Summary line, empty for an unknown message.
    pub text: String,
    /// Fields, highest bit first.
    pub fields: Vec<DescField>,
    /// Errors and warnings.
    pub findings: Vec<DescFinding>,
    /// Number of GRFs of one coordinate, if addresses are coordinates.
    pub(crate) coordinate_grfs: Option<u32>,
}

/// Reader of the descriptors of one send.
struct DescReader<'t> {
    traits: &'t SendTraits,
    sfid: Sfid,
    /// Number of channels of the instruction.
    exec: u32,
    ex: ExDesc,
    desc: u32,
    /// True if fields and findings are wanted, false for the summary only.
    listing: bool,
    errors: bool,
    out: Description,
}

impl DescReader<'_> {
    /// Returns bits of the descriptor, or from 32 on of the extended descriptor (0 if that is in a
    /// register).
    fn bits(&self, lo: u8, len: u8) -> u32 {
        let word = match self.ex {
            _ if lo < 32 => self.desc,
            ExDesc::Imm(v) => v,
            ExDesc::Reg(_) => 0,
        };
        let mask = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
        word >> (lo & 31) & mask
    }

    fn bit(&self, lo: u8) -> bool {
        self.bits(lo, 1) == 1
    }

    /// Lists a field, unless its bits are listed already.
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

    fn append(&mut self, text: fmt::Arguments<'_>) {
        // A String takes everything.
        let _ = self.out.text.write_fmt(text);
    }

    fn set(&mut self, text: &str) {
        self.out.text.clear();
        self.out.text.push_str(text);
    }

    /// Records that addresses are coordinates of `bits` bits for `exec` channels.
    fn coordinates(&mut self, exec: u32, bits: u32) {
        self.out.coordinate_grfs = Some((exec * bits / self.traits.grf_bits).max(1));
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

    /// Reports bits that are set and belong to no field.
    fn stray_bits(&mut self) {
        let owned = |i: u8| {
            self.out
                .fields
                .iter()
                .any(|f| i >= f.lo && i < f.lo + f.len)
        };
        let end = if matches!(self.ex, ExDesc::Imm(_)) {
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
            self.find(false, lo, len, "bits set in no field");
        }
    }
}

/// Describes a descriptor. `sfid` is `None` if the shared function is unknown.
pub(crate) fn describe(
    traits: &SendTraits,
    sfid: Option<Sfid>,
    exec: u32,
    ex: ExDesc,
    desc: u32,
    listing: bool,
) -> Description {
    let mut r = DescReader {
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
        // The numbers of the load/store cache are decoded on every platform that has no other
        // meaning for them.
        Some(Sfid::UGM | Sfid::UGML | Sfid::SLM) => lsc::read(&mut r),
        Some(Sfid::TGM) if traits.lsc => lsc::read(&mut r),
        _ => {
            if !rows::read(&mut r) {
                r.error(0, 0, "unknown shared function");
            }
        }
    }
    if listing {
        r.out.fields.sort_by_key(|f| std::cmp::Reverse(f.lo));
        r.stray_bits();
    }
    r.out
}
