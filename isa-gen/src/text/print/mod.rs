//! Printing of instructions, column for column as `iga64 -d` does.

mod operand;

use super::columns::Line;
use super::{bfn, options};
use crate::inst::{
    CondMod, Desc, Inst, PredCtrl, Predicate, SendDescs, Src, Subfn, SyncFn, Target,
};
use crate::op::{Format, OpInfo};
use crate::platform::Platform;
use crate::reg::{RegRef, Register};

/// Approximate length of a line in bytes.
pub(super) const LINE: usize = 160;

/// Column widths.
const PRED: usize = 7;
const OP: usize = 13;
const FLAG_MOD: usize = 9;
const DST: usize = 12;
const SRC: usize = 16;
const SEND_DST: usize = 7;
const SEND_SRC: usize = 6;
const SEND_DESC: usize = 10;

/// Prints an instruction as one line of text without a newline, in IGA's columns (including
/// trailing blanks).
///
/// `label` names branch targets. An opcode that the platform does not have is printed nevertheless.
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
    let mut out = String::with_capacity(LINE);
    write_inst(&mut out, platform, inst, label);
    out
}

/// Prints an instruction like [`print_inst`], at the end of a text.
pub fn write_inst<R: Register>(
    out: &mut String,
    platform: Platform,
    inst: &Inst<R>,
    label: &dyn Fn(Target) -> String,
) {
    let info = inst.op.info(platform);
    Printer {
        platform,
        info,
        format: info.map_or(inst.op.format(), |i| i.format),
        inst,
        label,
        line: Line::new(out),
    }
    .print();
}

struct Printer<'a, R> {
    platform: Platform,
    info: Option<&'static OpInfo>,
    format: Format,
    inst: &'a Inst<R>,
    label: &'a dyn Fn(Target) -> String,
    line: Line<'a>,
}

/// Returns true if the text form has an execution size and a channel offset.
pub(super) fn has_exec(f: Format) -> bool {
    !matches!(
        f,
        Format::Nullary | Format::Jmpi | Format::Wait | Format::Sync
    )
}

/// Returns true if an immediate of this function is a set of tokens.
pub(super) fn takes_tokens(f: Subfn) -> bool {
    matches!(f, Subfn::Sync(SyncFn::Allrd | SyncFn::Allwr))
}

impl<R: Register> Printer<'_, R> {
    fn print(mut self) {
        let i = self.inst;
        self.prefix();
        let sources = i.srcs.iter().filter(|s| **s != Src::None).count();
        let more = options::any(i);
        if self.format.has_dst() {
            self.line.put("  ");
            self.dst();
        } else if sources > 0 || more {
            self.line.spaces(DST);
        }
        if sources == 0 {
            if more {
                self.line.spaces(SRC);
            }
        } else {
            for (n, s) in i.srcs.iter().take(sources).enumerate() {
                self.line.put("  ");
                match *s {
                    Src::Imm { bits, .. } if takes_tokens(i.subfn) => self.tokens(bits as u32),
                    _ => self.src(n, s),
                }
            }
            if sources == 1 && self.format != Format::Send {
                self.line.start(SRC);
                self.line.finish();
            }
        }
        if let Some(send) = &i.send {
            self.descriptors(send);
        }
        options::print(&mut self.line, i);
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
        self.subfunction();
        self.line.put(" ");
        if has_exec(self.format) {
            self.line.put("(");
            self.line.number(i.exec.channels());
            self.line.put("|M");
            self.line.number(i.offset.channels());
            self.line.put(")");
        }
        self.line.finish();
        self.line.put(" ");
        self.line.start(FLAG_MOD);
        if let Some(CondMod { cond, flag }) = i.cond {
            self.line.put("(");
            self.line.put(cond.name());
            self.line.put(")");
            self.scalar(flag, 2);
        }
        self.line.finish();
    }

    fn subfunction(&mut self) {
        let line = &mut self.line;
        match self.inst.subfn {
            Subfn::None | Subfn::BranchCtrl(false) => {}
            Subfn::BranchCtrl(true) => line.put(".b"),
            Subfn::Math(f) => {
                line.put(".");
                line.put(f.name());
            }
            Subfn::Sync(f) => {
                line.put(".");
                line.put(f.name());
            }
            Subfn::Send(f) => match f.mnemonic(self.platform) {
                Some(name) => {
                    line.put(".");
                    line.put(name);
                }
                None => line.fmt(format_args!(".{:#x}", f.number())),
            },
            Subfn::Bfn(table) => {
                line.put(".(");
                line.put(bfn::expression(table));
                line.put(")");
            }
            Subfn::Dpas { depth, repeat } => {
                line.put(".");
                line.number(depth.into());
                line.put("x");
                line.number(repeat.into());
            }
        }
    }

    fn pred(&mut self, p: &Predicate<R>) {
        if p.inverse {
            self.line.put("~");
        }
        self.scalar(p.flag, 2);
        let (name, group) = match p.ctrl {
            PredCtrl::Sequential => return,
            PredCtrl::AnyV => (".anyv", None),
            PredCtrl::AllV => (".allv", None),
            PredCtrl::Any => (".any", None),
            PredCtrl::All => (".all", None),
            PredCtrl::AnyH(n) => (".any", Some(n)),
            PredCtrl::AllH(n) => (".all", Some(n)),
        };
        self.line.put(name);
        if let Some(n) = group {
            self.line.number(n.into());
            self.line.put("h");
        }
    }

    /// Prints the tokens of `sync.allrd` and `sync.allwr`, which are in no column.
    fn tokens(&mut self, set: u32) {
        self.line.put("(");
        let mut before = "$";
        for n in (0..32).filter(|n| set >> n & 1 != 0) {
            self.line.put(before);
            self.line.number(n);
            before = ",$";
        }
        self.line.put(")");
    }

    fn descriptors(&mut self, send: &SendDescs) {
        for (d, digits) in [(send.ex, 0), (send.desc, 8)] {
            self.line.put("  ");
            self.line.start(SEND_DESC);
            match d {
                Desc::Imm(v) if digits == 8 => {
                    self.line.fmt_uncounted(format_args!("0x{v:08X}"));
                }
                Desc::Imm(v) => self.line.fmt_uncounted(format_args!("0x{v:X}")),
                Desc::Reg(r) => self.scalar(r, 4),
            }
            self.line.finish();
        }
    }

    /// Prints a flag or address sub-register, numbered in units of `bytes`.
    fn scalar(&mut self, r: RegRef<impl Register>, bytes: u16) {
        self.reg(r.reg);
        self.line.put(".");
        self.line.number((r.sub / bytes).into());
    }
}
