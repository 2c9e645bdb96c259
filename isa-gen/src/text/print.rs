//! Instructions as text, column for column as `iga64 -d` prints them.

use super::columns::Line;
use super::float;
use crate::inst::{
    CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, Src, SrcMods, Subfn, Target,
};
use crate::op::{Format, Op, OpInfo};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef, Register};
use crate::region::Region;
use crate::types::Type;

/// Column widths.
const PRED: usize = 7;
const OP: usize = 13;
const FLAG_MOD: usize = 9;
const DST: usize = 12;
const SRC: usize = 16;
const SEND_DST: usize = 7;
const SEND_SRC: usize = 6;
const SEND_DESC: usize = 10;

/// Options in the order they are written.
pub(super) const OPTS: [(InstOpts, &str); 10] = [
    (InstOpts::ACC_WR_EN, "AccWrEn"),
    (InstOpts::ATOMIC, "Atomic"),
    (InstOpts::BREAKPOINT, "Breakpoint"),
    (InstOpts::COMPACTED, "Compacted"),
    (InstOpts::EOT, "EOT"),
    (InstOpts::NO_DD_CHK, "NoDDChk"),
    (InstOpts::NO_DD_CLR, "NoDDClr"),
    (InstOpts::NO_PREEMPT, "NoPreempt"),
    (InstOpts::NO_SRC_DEP_SET, "NoSrcDepSet"),
    (InstOpts::SWITCH, "Switch"),
];

/// An instruction as one line of text without its end, with IGA's columns (and so its trailing blanks). `label` names
/// branch targets. An opcode that the platform does not have is printed all the same.
///
/// ```
/// use gantry_isa_gen::{ExecSize, Inst, Op, Platform, Reg, text::print_inst};
/// let nop = Inst::<Reg>::new(Op::Nop, ExecSize::S1);
/// let line = print_inst(Platform::Gen9, &nop, &|_| String::new());
/// assert_eq!(line.trim(), "nop");
/// ```
pub fn print_inst<R: Register>(
    platform: Platform,
    inst: &Inst<R>,
    label: &dyn Fn(Target) -> String,
) -> String {
    Printer {
        info: inst.op.info(platform),
        format: inst.op.format(),
        inst,
        label,
        line: Line::default(),
    }
    .print()
}

struct Printer<'a, R> {
    info: Option<&'static OpInfo>,
    format: Format,
    inst: &'a Inst<R>,
    label: &'a dyn Fn(Target) -> String,
    line: Line,
}

/// Whether the text form leaves out execution size and channel offset.
pub(super) fn has_exec(f: Format) -> bool {
    !matches!(f, Format::Nullary | Format::Jmpi | Format::Wait)
}

/// The number of a sub-register: its offset in elements, except where a register counts in bytes.
fn sub_number<R: Register>(at: RegRef<R>, ty: Type) -> u32 {
    match at.reg.as_phys() {
        Some(Reg::Arf(Arf::Msg | Arf::FlowControl, _)) => at.sub.into(),
        _ => u32::from(at.sub) / ty.bytes(),
    }
}

impl<R: Register> Printer<'_, R> {
    fn is_send(&self) -> bool {
        matches!(self.format, Format::Send | Format::SplitSend)
    }

    fn print(mut self) -> String {
        let i = self.inst;
        self.prefix();
        let sources = i.srcs.iter().filter(|s| **s != Src::None).count();
        if self.format.has_dst() {
            self.line.put("  ");
            self.dst();
        } else if sources > 0 || !i.opts.is_empty() {
            self.line.spaces(DST);
        }
        if sources == 0 {
            if !i.opts.is_empty() {
                self.line.spaces(SRC);
            }
        } else {
            for s in i.srcs.iter().take(sources) {
                self.line.put("  ");
                self.src(s);
            }
            if sources == 1 && self.format != Format::Send {
                self.line.start(SRC);
                self.line.finish();
            }
        }
        if let Some(send) = &i.send {
            for (d, width) in [(send.ex, 0), (send.desc, 8)] {
                self.line.put("  ");
                self.line.start(SEND_DESC);
                match d {
                    Desc::Imm(v) if width == 8 => self.line.uncounted(&format!("0x{v:08X}")),
                    Desc::Imm(v) => self.line.uncounted(&format!("0x{v:X}")),
                    Desc::Reg(r) => self.scalar(r, 4),
                }
                self.line.finish();
            }
        }
        if !i.opts.is_empty() {
            let names: Vec<&str> = OPTS
                .iter()
                .filter(|(o, _)| i.opts.contains(*o))
                .map(|(_, n)| *n)
                .collect();
            self.line.fmt(format_args!(" {{{}}}", names.join(",")));
        }
        self.line.done()
    }

    fn prefix(&mut self) {
        let i = self.inst;
        self.line.start(PRED);
        if i.no_mask || i.pred.is_some() {
            self.line.put("(");
            if i.no_mask {
                self.line.put("W");
            }
            if let Some(p) = i.pred {
                if i.no_mask {
                    self.line.put("&");
                }
                self.pred(&p);
            }
            self.line.put(")");
        }
        self.line.finish();
        self.line.put(" ");
        self.line.start(OP);
        self.line.put(i.op.mnemonic());
        match i.subfn {
            Subfn::Math(f) => self.line.fmt(format_args!(".{f}")),
            Subfn::Sync(f) => self.line.fmt(format_args!(".{}", f.name())),
            Subfn::Send(f) => self.line.fmt(format_args!(".{f}")),
            Subfn::Bfn(table) => self.line.fmt(format_args!(".{table:#04x}")),
            Subfn::Dpas { depth, repeat } => self.line.fmt(format_args!(".{depth}x{repeat}")),
            Subfn::BranchCtrl(true) => self.line.put(".b"),
            Subfn::None | Subfn::BranchCtrl(false) => {}
        }
        self.line.put(" ");
        if has_exec(self.format) {
            self.line.fmt(format_args!("({}|{})", i.exec, i.offset));
        }
        self.line.finish();
        self.line.put(" ");
        self.line.start(FLAG_MOD);
        if let Some(CondMod { cond, flag }) = i.cond {
            self.line.fmt(format_args!("({cond})"));
            self.scalar(flag, 2);
        }
        self.line.finish();
    }

    fn pred(&mut self, p: &Predicate<R>) {
        if p.inverse {
            self.line.put("~");
        }
        self.scalar(p.flag, 2);
        match p.ctrl {
            PredCtrl::Sequential => {}
            PredCtrl::AnyV => self.line.put(".anyv"),
            PredCtrl::AllV => self.line.put(".allv"),
            PredCtrl::AnyH(n) => self.line.fmt(format_args!(".any{n}h")),
            PredCtrl::AllH(n) => self.line.fmt(format_args!(".all{n}h")),
            PredCtrl::Any => self.line.put(".any"),
            PredCtrl::All => self.line.put(".all"),
        }
    }

    /// A flag or address sub-register, which is counted in units of `bytes`.
    fn scalar(&mut self, r: RegRef<R>, bytes: u16) {
        self.line.fmt(format_args!("{}.{}", r.reg, r.sub / bytes));
    }

    fn register(&mut self, at: RegRef<R>, ty: Type, with_sub: bool) {
        self.line.fmt(format_args!("{}", at.reg));
        let has_subs = match at.reg.as_phys() {
            Some(Reg::Arf(kind, _)) => kind.has_subregs(),
            _ => true,
        };
        let number = sub_number(at, ty);
        if with_sub && has_subs || number != 0 {
            self.line.fmt(format_args!(".{number}"));
        }
    }

    fn indirect(&mut self, addr: RegRef<R>, imm: i16) {
        self.line.put("r[");
        self.scalar(addr, 2);
        if imm != 0 {
            self.line.fmt(format_args!(",{imm}"));
        }
        self.line.put("]");
    }

    fn mme(&mut self, mme: u8) {
        if mme == 8 {
            self.line.put(".nomme");
        } else {
            self.line.fmt(format_args!(".mme{mme}"));
        }
    }

    fn dst(&mut self) {
        let send = self.is_send();
        self.line.start(if send { SEND_DST } else { DST });
        if self.inst.sat {
            self.line.put("(sat)");
        }
        let stride = !send && self.format != Format::Call;
        let region = |p: &mut Self, hs| {
            if stride {
                p.line.fmt(format_args!("<{hs}>"));
            }
        };
        match self.inst.dst {
            Dst::None => {}
            Dst::Direct { at, hs, ty } => {
                self.register(at, ty, !send);
                region(self, hs);
            }
            Dst::Indirect { addr, imm, hs, .. } => {
                self.indirect(addr, imm);
                region(self, hs);
            }
            Dst::Macro { at, mme, ty } => {
                self.register(at, ty, false);
                self.mme(mme);
            }
        }
        let implied = match self.format {
            Format::Send => Some(Type::Ud),
            Format::Call => Some(Type::D),
            _ => None,
        };
        if let Some(ty) = self.inst.dst.ty().filter(|t| Some(*t) != implied) {
            self.line.fmt(format_args!(":{ty}"));
        }
        self.line.finish();
    }

    fn mods(&mut self, m: SrcMods) {
        if m.neg {
            let bitwise = self.info.is_some_and(|i| i.bitwise);
            self.line.put(if bitwise { "~" } else { "-" });
        }
        if m.abs {
            self.line.put("(abs)");
        }
    }

    fn src(&mut self, s: &Src<R>) {
        let send = self.is_send();
        let branch = self.format.is_branch();
        self.line.start(if send { SEND_SRC } else { SRC });
        let region = |p: &mut Self, r: Region| {
            if !send && !branch {
                p.line.fmt(format_args!("{r}"));
            }
        };
        match *s {
            Src::None => {}
            Src::Direct {
                at,
                region: r,
                ty,
                mods,
            } => {
                self.mods(mods);
                self.register(at, ty, !send);
                region(self, r);
            }
            Src::Indirect {
                addr,
                imm,
                region: r,
                mods,
                ..
            } => {
                self.mods(mods);
                self.indirect(addr, imm);
                region(self, r);
            }
            Src::Macro { at, mme, ty, mods } => {
                self.mods(mods);
                self.register(at, ty, false);
                self.mme(mme);
            }
            Src::Imm { bits, .. } if self.inst.op == Op::Calla => {
                self.line
                    .uncounted(&super::disasm::label_at(bits as u32 as i32 as i64));
            }
            Src::Imm { bits, ty } => self.line.uncounted(&immediate(bits, ty)),
            Src::Target(t) => {
                let l = (self.label)(t);
                self.line.uncounted(&l);
            }
        }
        let implied = match self.format {
            Format::Send => Some(Type::Ud),
            // A split send's sources have no type.
            Format::SplitSend => s.ty(),
            _ if branch => Some(Type::D),
            _ => None,
        };
        if let Some(ty) = s.ty().filter(|t| Some(*t) != implied) {
            self.line.fmt(format_args!(":{ty}"));
        }
        self.line.finish();
    }
}

/// An immediate without its type.
fn immediate(bits: u64, ty: Type) -> String {
    match ty {
        Type::B => (bits as i8).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::D => (bits as i32).to_string(),
        Type::Q => (bits as i64).to_string(),
        Type::Hf => float::half(bits as u16),
        Type::F => float::single(bits as u32),
        Type::Df => float::double(bits),
        Type::Bf | Type::Tf32 | Type::Bf8 | Type::Hf8 | Type::Nf => format!("0x{bits:X}"),
        Type::U1 | Type::U2 | Type::S2 | Type::U4 | Type::S4 => format!("0x{bits:X}"),
        Type::Ub | Type::Uw | Type::Ud | Type::Uq | Type::Uv | Type::V | Type::Vf => {
            format!("0x{bits:X}")
        }
    }
}
