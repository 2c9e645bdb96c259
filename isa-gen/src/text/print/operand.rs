//! Printing of registers, regions and immediates.

use super::{DST, Printer, SEND_DST, SEND_SRC, SRC};
use crate::inst::{Dst, Src, SrcMods};
use crate::op::{Format, Op};
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::text::{disasm, float};
use crate::types::Type;

/// Returns the number of a sub-register: its offset in elements, or in bytes for some registers.
fn sub_number<R: Register>(at: RegRef<R>, ty: Type) -> u32 {
    match at.reg.as_phys() {
        Some(Reg::Arf(kind, _)) if kind.counts_bytes() => at.sub.into(),
        _ => u32::from(at.sub) * 8 / ty.bits(),
    }
}

impl<R: Register> Printer<'_, R> {
    /// Prints a whole register: of the instruction's own type or, for an address, a physical one.
    pub(super) fn reg(&mut self, reg: impl Register) {
        let (name, number) = match reg.as_phys() {
            None => return self.line.fmt(format_args!("{reg}")),
            Some(Reg::Grf(n)) => ("r", Some(n)),
            Some(Reg::Arf(Arf::Acc, n)) => {
                let base = self.platform.features().mme_base;
                match n.checked_sub(base) {
                    Some(n) => ("mme", Some(n)),
                    None => ("acc", Some(n)),
                }
            }
            Some(Reg::Arf(kind, n)) => (kind.name(), kind.numbered().then_some(n)),
        };
        self.line.put(name);
        if let Some(n) = number {
            self.line.number(n.into());
        }
    }

    fn register(&mut self, at: RegRef<R>, ty: Type, with_sub: bool) {
        self.reg(at.reg);
        let has_subs = match at.reg.as_phys() {
            Some(Reg::Arf(kind, _)) => kind.has_subregs(),
            _ => true,
        };
        let number = sub_number(at, ty);
        if with_sub && has_subs || number != 0 {
            self.line.put(".");
            self.line.number(number);
        }
    }

    fn indirect(&mut self, addr: RegRef<Reg>, imm: i16) {
        self.line.put("r[");
        self.scalar(addr, 2);
        if imm != 0 {
            self.line.put(",");
            self.signed(imm.into());
        }
        self.line.put("]");
    }

    fn signed(&mut self, n: i32) {
        if n < 0 {
            self.line.put("-");
        }
        self.line.number(n.unsigned_abs());
    }

    fn mme(&mut self, mme: u8) {
        if mme == 8 {
            self.line.put(".nomme");
        } else {
            self.line.put(".mme");
            self.line.number(mme.into());
        }
    }

    fn ty(&mut self, ty: Type) {
        self.line.put(":");
        self.line.put(ty.suffix());
    }

    fn region(&mut self, r: Region) {
        let (numbers, after): (&[u8], &[&str]) = match &r {
            Region::Rect { vs, w, hs } => (&[*vs, *w, *hs], &["<", ";", ","]),
            Region::VxH { w, hs } => (&[*w, *hs], &["<", ","]),
            Region::Ternary { vs, hs } => (&[*vs, *hs], &["<", ";"]),
            Region::Scalar3 { hs } => (&[*hs], &["<"]),
        };
        for (n, before) in numbers.iter().zip(after) {
            self.line.put(before);
            self.line.number((*n).into());
        }
        self.line.put(">");
    }

    pub(super) fn dst(&mut self) {
        let send = self.format.is_send();
        self.line.start(if send { SEND_DST } else { DST });
        if self.inst.sat {
            self.line.put("(sat)");
        }
        // Operands that are whole registers have neither sub-register nor stride.
        let whole = send || self.format == Format::Dpas;
        let stride = !whole && self.format != Format::Call;
        let mut hs = None;
        match self.inst.dst {
            Dst::None => {}
            Dst::Direct { at, hs: h, ty } => {
                self.register(at, ty, !whole);
                hs = Some(h);
            }
            Dst::Indirect {
                addr, imm, hs: h, ..
            } => {
                self.indirect(addr, imm);
                hs = Some(h);
            }
            Dst::Macro { at, mme, ty } => {
                self.register(at, ty, false);
                self.mme(mme);
            }
        }
        if let Some(hs) = hs.filter(|_| stride) {
            self.region(Region::Scalar3 { hs });
        }
        let implied = match self.format {
            Format::Send if self.platform.features().send_dst_implied => Some(Type::Ud),
            // Intel's disassembler omits the type of a call of Xe, like that of a send.
            Format::Call if self.platform.features().swsb => self.inst.dst.ty(),
            Format::Call => Some(Type::D),
            Format::XeSend => self.inst.dst.ty(),
            _ => None,
        };
        if let Some(ty) = self.inst.dst.ty().filter(|t| Some(*t) != implied) {
            self.ty(ty);
        }
        self.line.finish();
    }

    fn mods(&mut self, m: SrcMods) {
        if m.neg {
            let bitwise = self.info.is_some_and(|i| i.bitwise);
            self.line.put(if bitwise && !m.abs { "~" } else { "-" });
        }
        if m.abs {
            self.line.put("(abs)");
        }
    }

    pub(super) fn src(&mut self, n: usize, s: &Src<R>) {
        let send = self.format.is_send();
        let branch = self.format.is_branch();
        self.line.start(if send { SEND_SRC } else { SRC });
        let (with_sub, with_region) = match self.format {
            // Only the last source may start in the middle of a register.
            Format::Dpas => (n == 2, false),
            Format::Sync => (true, false),
            _ => (!send, !send && !branch),
        };
        let mut shown = None;
        match *s {
            Src::None => {}
            Src::Direct {
                at,
                region,
                ty,
                mods,
            } => {
                self.mods(mods);
                self.register(at, ty, with_sub);
                shown = Some(region);
            }
            Src::Indirect {
                addr,
                imm,
                region,
                mods,
                ..
            } => {
                self.mods(mods);
                self.indirect(addr, imm);
                shown = Some(region);
            }
            Src::Macro { at, mme, ty, mods } => {
                self.mods(mods);
                self.register(at, ty, false);
                self.mme(mme);
            }
            Src::Imm { bits, .. } if self.inst.op == Op::Calla => {
                self.line
                    .uncounted(&disasm::label_at(bits as u32 as i32 as i64));
            }
            Src::Imm { bits, ty } => self.immediate(bits, ty),
            Src::Target(t) => {
                let l = (self.label)(t);
                self.line.uncounted(&l);
                if self.platform.features().branch_words
                    && matches!(self.format, Format::BranchRegJip | Format::BranchRegJipUip)
                {
                    self.ty(Type::W);
                }
            }
        }
        if let Some(region) = shown.filter(|_| with_region) {
            self.region(region);
        }
        if let Some(len) = self.inst.send.and_then(|s| s.src1_len)
            && n == 1
        {
            self.line.put(":");
            self.line.number(len.into());
        }
        if let Some(ty) = s.ty().filter(|t| Some(*t) != self.implied(s)) {
            self.ty(ty);
        }
        self.line.finish();
    }

    /// Returns the type that a source has if none is written.
    fn implied(&self, s: &Src<R>) -> Option<Type> {
        let is_null = |reg: R| reg.as_phys().is_some_and(Reg::is_null);
        match (self.format, s) {
            (Format::Send, _) => Some(Type::Ud),
            // The sources of a split send have no type.
            (Format::SplitSend | Format::XeSend, _) => s.ty(),
            (Format::Sync, Src::Imm { .. }) => Some(Type::Ud),
            (Format::Sync, Src::Direct { at, .. }) if is_null(at.reg) => s.ty(),
            (f, _) if f.is_branch() => Some(Type::D),
            _ => None,
        }
    }

    /// Prints an immediate without its type.
    fn immediate(&mut self, bits: u64, ty: Type) {
        let line = &mut self.line;
        match ty {
            Type::B => line.fmt_uncounted(format_args!("{}", bits as i8)),
            Type::W => line.fmt_uncounted(format_args!("{}", bits as i16)),
            Type::D => line.fmt_uncounted(format_args!("{}", bits as i32)),
            Type::Q => line.fmt_uncounted(format_args!("{}", bits as i64)),
            Type::Hf => line.uncounted(&float::half(bits as u16)),
            Type::F | Type::Tf32 => line.uncounted(&float::single(bits as u32)),
            Type::Df => line.uncounted(&float::double(bits)),
            Type::Bf | Type::Bf8 | Type::Hf8 | Type::Nf => {
                line.fmt_uncounted(format_args!("0x{bits:X}"));
            }
            Type::U1 | Type::U2 | Type::S2 | Type::U4 | Type::S4 => {
                line.fmt_uncounted(format_args!("0x{bits:X}"));
            }
            Type::Ub | Type::Uw | Type::Ud | Type::Uq | Type::Uv | Type::V | Type::Vf => {
                line.fmt_uncounted(format_args!("0x{bits:X}"));
            }
        }
    }
}
