//! Text of machine code before allocation, for dumps and filetests. The syntax is close to IGA's,
//! with virtual registers and byte offsets.

use crate::ir::SourceLoc;
use crate::mir::bale::Bale;
use crate::mir::liveness::Liveness;
use crate::mir::lowered::{Lowered, LoweredFunction};
use crate::mir::srclocs::Cursor;
use crate::mir::{MInst, Routine, RoutineData, VBlock, VCode, VirtReg};
use cranelift_entity::{EntityRef, PrimaryMap};
use gantry_isa_gen::{
    Desc, Dst, Inst, InstOpts, PredCtrl, RegRef, Register, Src, SrcMods, Subfn, Target,
};
use std::fmt::{self, Write as _};

fn place(f: &mut fmt::Formatter<'_>, at: &RegRef<impl Register>) -> fmt::Result {
    write!(f, "{}", at.reg)?;
    match at.sub {
        0 => Ok(()),
        n => write!(f, "+{n}"),
    }
}

fn mods(f: &mut fmt::Formatter<'_>, m: SrcMods) -> fmt::Result {
    f.write_str(if m.neg { "-" } else { "" })?;
    f.write_str(if m.abs { "(abs)" } else { "" })
}

struct ShowSrc<'a>(&'a Src<VirtReg>);

impl fmt::Display for ShowSrc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Src::None => Ok(()),
            Src::Direct {
                ref at,
                region,
                ty,
                mods: m,
            } => {
                mods(f, m)?;
                place(f, at)?;
                write!(f, "{region}:{ty}")
            }
            Src::Indirect {
                ref addr,
                imm,
                region,
                ty,
                mods: m,
            } => {
                mods(f, m)?;
                f.write_str("r[")?;
                place(f, addr)?;
                write!(f, ",{imm}]{region}:{ty}")
            }
            Src::Macro {
                ref at,
                mme,
                ty,
                mods: m,
            } => {
                mods(f, m)?;
                place(f, at)?;
                write!(f, ".mme{mme}:{ty}")
            }
            Src::Imm { bits, ty } => write!(f, "{bits:#x}:{ty}"),
            Src::Target(Target::Label(l)) => write!(f, "L{l}"),
            Src::Target(Target::Rel(d)) => write!(f, "{d}"),
        }
    }
}

struct ShowDesc<'a>(&'a Desc);

impl fmt::Display for ShowDesc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Desc::Imm(v) => write!(f, "{v:#x}"),
            Desc::Reg(r) => place(f, r),
        }
    }
}

fn inst(f: &mut fmt::Formatter<'_>, i: &Inst<VirtReg>, starts: bool) -> fmt::Result {
    match (&i.pred, i.no_mask) {
        (Some(p), w) => {
            f.write_str(if w { "(W&" } else { "(" })?;
            f.write_str(if p.inverse { "~" } else { "" })?;
            place(f, &p.flag)?;
            if p.ctrl != PredCtrl::Sequential {
                write!(f, ".{:?}", p.ctrl)?;
            }
            f.write_str(") ")?;
        }
        (None, true) => f.write_str("(W) ")?,
        (None, false) => {}
    }
    write!(f, "{}", i.op)?;
    if let Subfn::Math(m) = i.subfn {
        write!(f, ".{m}")?;
    }
    write!(f, " ({}|{})", i.exec, i.offset)?;
    f.write_str(if i.sat { " (sat)" } else { "" })?;
    if let Some(c) = &i.cond {
        write!(f, " ({})", c.cond)?;
        place(f, &c.flag)?;
    }
    match &i.dst {
        Dst::None => {}
        Dst::Direct { at, hs, ty } => {
            f.write_char(' ')?;
            place(f, at)?;
            write!(f, "<{hs}>:{ty}")?;
        }
        Dst::Indirect { addr, imm, hs, ty } => {
            f.write_str(" r[")?;
            place(f, addr)?;
            write!(f, ",{imm}]<{hs}>:{ty}")?;
        }
        Dst::Macro { at, mme, ty } => {
            f.write_char(' ')?;
            place(f, at)?;
            write!(f, ".mme{mme}:{ty}")?;
        }
    }
    f.write_str(
        if starts && matches!(i.dst, Dst::Direct { at, .. } if at.reg.is_grf()) {
            "!"
        } else {
            ""
        },
    )?;
    for s in i.srcs.iter().filter(|s| !matches!(s, Src::None)) {
        write!(f, " {}", ShowSrc(s))?;
    }
    if let Some(s) = &i.send {
        write!(f, " {} {}", ShowDesc(&s.ex), ShowDesc(&s.desc))?;
    }
    if i.opts.contains(InstOpts::ACC_WR_EN) {
        f.write_str(" {AccWrEn}")?;
    }
    Ok(())
}

impl fmt::Display for MInst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MInst::Op {
                inst: i,
                starts,
                keeps,
            } => {
                inst(f, i, *starts)?;
                match keeps.expand() {
                    Some(k) => write!(f, " keeps {k}"),
                    None => Ok(()),
                }
            }
            MInst::Start { dst } => write!(f, "start {dst}"),
            MInst::Touch { reg, write } => {
                write!(f, "{} {reg}", if *write { "written" } else { "read" })
            }
            MInst::Copy { dst, src } => write!(f, "copy {dst} {src}"),
            MInst::Symbol { dst, data, part } => {
                write!(f, "symbol {dst} {data} {}", part.name())
            }
            MInst::LoadAddress {
                sub,
                count,
                base,
                offset,
                index,
            } => {
                write!(f, "address a0.{sub} ")?;
                if count.channels() > 1 {
                    write!(f, "({}) ", count.channels())?;
                }
                match base {
                    Some(base) => write!(f, "{base}+{offset}")?,
                    None => write!(f, "{offset}")?,
                }
                match index {
                    Some((r, at)) => write!(f, " + {r}+{at}"),
                    None => Ok(()),
                }
            }
            MInst::RegAddress {
                dst,
                base,
                offset,
                index,
            } => {
                write!(f, "place {dst} {base}")?;
                if *offset != 0 {
                    write!(f, "+{offset}")?;
                }
                match index {
                    Some((r, at)) => write!(f, " + {r}+{at}"),
                    None => Ok(()),
                }
            }
            MInst::Jump => f.write_str("jump"),
            MInst::Branch { flag, sub, test } => {
                f.write_str("branch ")?;
                if test.inverse {
                    f.write_str("~")?;
                }
                place(f, &RegRef::new(*flag, *sub))?;
                match test.ctrl {
                    PredCtrl::AnyH(n) => write!(f, ".any{n}h"),
                    PredCtrl::AllH(n) => write!(f, ".all{n}h"),
                    _ => Ok(()),
                }
            }
            MInst::JumpTable { distance } => write!(f, "jump table {distance}"),
            MInst::Leave { flag, to, .. } => {
                f.write_str("leave")?;
                if let Some((flag, sub, inverse)) = flag {
                    f.write_str(if *inverse { " ~" } else { " " })?;
                    place(f, &RegRef::new(*flag, *sub))?;
                }
                match to {
                    Some(to) => write!(f, " to {to}"),
                    None => f.write_str(" for good"),
                }
            }
            MInst::Join { at, .. } => write!(f, "join {at}"),
            MInst::BranchExec { none_first, .. } => {
                write!(f, "branch {}", if *none_first { "none" } else { "any" })
            }
            MInst::Call { routine, link, .. } => write!(f, "call {routine} {link}!"),
            MInst::Return { link, .. } => write!(f, "return {link}"),
            MInst::EndThread { payload } => write!(f, "end {payload}"),
        }
    }
}

/// Writes the name of a subroutine before its first block.
fn routine_header(out: &mut String, routines: &PrimaryMap<Routine, RoutineData>, block: usize) {
    let found = routines
        .iter()
        .skip(1)
        .find(|(_, d)| d.first as usize == block);
    if let Some((r, d)) = found {
        let _ = writeln!(out, "{r} %{}:", d.name);
    }
}

fn block_header(out: &mut String, n: usize, params: &[impl fmt::Display]) {
    let params: Vec<_> = params.iter().map(|p| p.to_string()).collect();
    let list = if params.is_empty() {
        String::new()
    } else {
        format!("({})", params.join(", "))
    };
    let _ = writeln!(out, "L{n}{list}:");
}

fn successors(out: &mut String, succs: impl Iterator<Item = (usize, String)>) {
    let list: Vec<_> = succs.map(|(n, args)| format!("L{n}{args}")).collect();
    if !list.is_empty() {
        let _ = writeln!(out, "    -> {}", list.join(", "));
    }
}

fn arguments(flags: &[impl fmt::Display]) -> String {
    if flags.is_empty() {
        return String::new();
    }
    let list: Vec<_> = flags.iter().map(|f| f.to_string()).collect();
    format!("({})", list.join(", "))
}

/// Writes source locations where they change.
struct LocNotes<'a> {
    from: Cursor<'a>,
    last: SourceLoc,
}

impl<'a> LocNotes<'a> {
    fn new(from: Cursor<'a>) -> LocNotes<'a> {
        let last = SourceLoc::NONE;
        LocNotes { from, last }
    }

    fn note(&mut self, out: &mut String, at: usize) {
        let loc = self.from.at(at);
        if std::mem::replace(&mut self.last, loc) != loc {
            let _ = if loc.is_none() {
                writeln!(out, "    ; @none")
            } else {
                writeln!(out, "    ; {loc}")
            };
        }
    }
}

impl fmt::Display for LoweredFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        for (n, b) in self.blocks.iter().enumerate() {
            routine_header(&mut out, &self.routines, n);
            block_header(&mut out, n, b.flags.params());
            let mut from = LocNotes::new(b.locs.cursor());
            for (n, c) in self.items(b) {
                from.note(&mut out, n);
                let _ = match c {
                    Lowered::Bale(b) => writeln!(out, "    {}", b as &Bale),
                    Lowered::Send(s) => writeln!(out, "    {s}"),
                    Lowered::Sent(_) => Ok(()),
                    Lowered::Inst(m) => writeln!(out, "    {m}"),
                };
            }
            let args = |n: usize| arguments(b.flags.args(n));
            let succs = b.succs.iter().enumerate();
            successors(&mut out, succs.map(|(n, to)| (to.index(), args(n))));
        }
        f.write_str(&out)
    }
}

pub(crate) fn code(v: &VCode, mut note: impl FnMut(usize) -> String) -> String {
    let mut out = String::new();
    let mut from = LocNotes::new(v.locs.cursor());
    for (b, data) in &v.blocks {
        routine_header(&mut out, &v.routines, b.index());
        block_header(&mut out, b.index(), data.flags.params());
        for i in data.start..data.end {
            from.note(&mut out, i);
            if let Some(m) = v.insts.get(i) {
                let _ = writeln!(out, "    {m}{}", note(i));
            }
        }
        let args = |n: usize| arguments(data.flags.args(n));
        successors(
            &mut out,
            data.succs
                .iter()
                .enumerate()
                .map(|(n, s): (usize, &VBlock)| (s.index(), args(n))),
        );
    }
    out
}

impl fmt::Display for VCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&code(self, |_| String::new()))
    }
}

/// Formats a program point as the number of its instruction, with `+` for the write point.
fn point(p: u32) -> String {
    format!("{}{}", p / 2, if p.is_multiple_of(2) { "" } else { "+" })
}

/// Formats code with its liveness.
///
/// First comes every register with its size, its IR value and its live ranges. Ranges are half
/// open, in instructions (`7+`: after 7). The code follows, with each instruction's number, its
/// demand in bytes before, across and after it, what of that is apart or reused, and the registers
/// that it kills.
pub fn with_liveness(v: &VCode, live: &Liveness) -> String {
    let all = live.kills();
    let mut out = String::new();
    for (r, d) in &v.vregs {
        let ranges = live.ranges[r].iter();
        let ranges: Vec<_> = ranges
            .map(|x| format!("{}..{}", point(x.start), point(x.end)))
            .collect();
        if ranges.is_empty() {
            continue;
        }
        let value = d.value.expand().map(|v| format!(" {v}"));
        let value = value.unwrap_or_default();
        let _ = writeln!(out, "{r}: {} bytes{value} {}", d.bytes, ranges.join(" "));
    }
    out + &code(v, |i| {
        let d = live.demand.get(i).copied().unwrap_or_default();
        let first = all.partition_point(|k| (k.0 as usize) < i);
        let here = all.iter().skip(first).take_while(|k| k.0 as usize == i);
        let kills: Vec<_> = here.map(|k| k.1.to_string()).collect();
        let kills = if kills.is_empty() {
            String::new()
        } else {
            format!(" kills {}", kills.join(" "))
        };
        let mut less = String::new();
        for (bytes, name) in [(d.apart, "apart"), (d.reused, "reused")] {
            if bytes > 0 {
                let _ = write!(less, " {name} {bytes}");
            }
        }
        format!(" ; {i}: {}/{}/{}{less}{kills}", d.before, d.during, d.after)
    })
}
