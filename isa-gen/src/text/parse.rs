//! Parsing of one line as one instruction.

use super::cursor::{Cursor, Parsed};
use super::number::{distance, sees_literal};
use super::operands::{OperandDefaults, dst, register, scalar, src};
use super::print::{has_exec, takes_tokens};
use super::{bfn, options, send};
use crate::diag::Span;
use crate::inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, SendDescs, Src, SrcMods, Subfn,
    SyncFn, Target,
};
use crate::op::{Format, MathFn, Op, OpInfo};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::sfid::Sfid;
use crate::types::Type;
use std::collections::HashMap;

/// Labels by name, numbered in order of appearance.
#[derive(Default)]
pub(super) struct Labels<'a> {
    by_name: HashMap<&'a str, u32>,
    /// Name and span of the first use of each label.
    pub first: Vec<(&'a str, Span)>,
}

impl<'a> Labels<'a> {
    pub(super) fn id(&mut self, name: &'a str, span: Span) -> u32 {
        *self.by_name.entry(name).or_insert_with(|| {
            self.first.push((name, span));
            self.first.len() as u32 - 1
        })
    }
}

/// Spans of the operands of an instruction, by the names that errors give them.
#[derive(Default)]
pub(super) struct OperandSpans {
    /// Destination and three sources, or two payloads and two descriptors.
    list: [(&'static str, Span); 6],
    len: usize,
}

impl OperandSpans {
    fn push(&mut self, name: &'static str, span: Span) {
        if let Some(slot) = self.list.get_mut(self.len) {
            *slot = (name, span);
            self.len += 1;
        }
    }

    /// Returns the span of the operand that was parsed as number `n`.
    fn nth(&self, n: usize) -> Option<Span> {
        self.list.get(n).filter(|_| n < self.len).map(|(_, s)| *s)
    }

    /// Returns the span of an operand.
    pub(super) fn of(&self, operand: &str) -> Option<Span> {
        let found = self.list.iter().find(|(name, _)| *name == operand);
        found.map(|(_, span)| *span)
    }
}

/// Parsed instruction and the spans of its parts.
pub(super) struct ParsedLine {
    pub inst: Inst<Reg>,
    /// Label of the absolute target of `calla`.
    pub absolute: Option<u32>,
    /// Span of the mnemonic.
    pub span: Span,
    pub operands: OperandSpans,
}

fn null_source() -> Src<Reg> {
    Src::Direct {
        at: RegRef::new(Reg::NULL, 0),
        region: Region::SCALAR,
        ty: Type::Ub,
        mods: SrcMods::default(),
    }
}

const SRC_NAMES: [&str; 3] = ["src0", "src1", "src2"];

struct Parser<'a, 'l> {
    c: Cursor<'a>,
    platform: Platform,
    features: &'static Features,
    labels: &'l mut Labels<'a>,
    inst: Inst<Reg>,
    absolute: Option<u32>,
    info: &'static OpInfo,
    operands: OperandSpans,
}

/// Parses an instruction, after label and comments have been removed.
pub(super) fn instruction<'a>(
    platform: Platform,
    mut c: Cursor<'a>,
    labels: &mut Labels<'a>,
) -> Parsed<ParsedLine> {
    let mut inst = Inst::new(Op::Nop, ExecSize::S1);
    if c.eat("(") {
        mask_and_predicate(&mut c, platform.features(), &mut inst)?;
    }
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    let Some(op) = Op::from_mnemonic(word) else {
        return c.error_from(start, format!("unknown opcode `{word}`"));
    };
    let span = c.span_from(start);
    let Some(info) = op.info(platform) else {
        return c.error_from(start, format!("`{word}` does not exist on {platform}"));
    };
    inst.op = op;
    // `jmpi` moves the whole thread, whatever the mask. Intel's assembler sets NoMask in its
    // encoding.
    inst.no_mask |= info.format == Format::Jmpi;
    let mut p = Parser {
        c,
        platform,
        features: platform.features(),
        labels,
        inst,
        absolute: None,
        info,
        operands: OperandSpans::default(),
    };
    p.subfunction(start)?;
    p.exec()?;
    p.flag_modifier()?;
    p.operands()?;
    p.options()?;
    if !p.c.at_end() {
        return p.c.error("unexpected text after the instruction");
    }
    p.settle()?;
    Ok(ParsedLine {
        inst: p.inst,
        absolute: p.absolute,
        span,
        operands: p.operands,
    })
}

fn mask_and_predicate(c: &mut Cursor<'_>, f: &Features, inst: &mut Inst<Reg>) -> Parsed<()> {
    if c.eat("W") {
        inst.no_mask = true;
        if c.eat(")") {
            return Ok(());
        }
        c.expect("&")?;
    }
    let inverse = c.eat("~");
    let flag = scalar(c, f, Arf::Flag, 2)?;
    let mut ctrl = PredCtrl::Sequential;
    if c.eat_close(".") {
        let start = c.pos();
        let word = c.word();
        let group = |s: &str| s.strip_suffix('h').and_then(|n| n.parse::<u8>().ok());
        ctrl = match word {
            "anyv" => PredCtrl::AnyV,
            "allv" => PredCtrl::AllV,
            "any" => PredCtrl::Any,
            "all" => PredCtrl::All,
            w => match (
                w.strip_prefix("any").and_then(group),
                w.strip_prefix("all").and_then(group),
            ) {
                (Some(n @ (2 | 4 | 8 | 16 | 32)), _) => PredCtrl::AnyH(n),
                (_, Some(n @ (2 | 4 | 8 | 16 | 32))) => PredCtrl::AllH(n),
                _ => return c.error_from(start, format!("unknown predicate control `{w}`")),
            },
        };
    }
    c.expect(")")?;
    inst.pred = Some(Predicate {
        flag,
        inverse,
        ctrl,
    });
    Ok(())
}

/// Parses depth and repeat count, as in `8x4`.
fn dpas(word: &str) -> Option<Subfn> {
    let (depth, repeat) = word.split_once('x')?;
    let (depth, repeat) = (depth.parse().ok()?, repeat.parse().ok()?);
    let known = matches!(depth, 1 | 2 | 4 | 8 | 16) && (1..=8).contains(&repeat);
    known.then_some(Subfn::Dpas { depth, repeat })
}

impl Parser<'_, '_> {
    fn subfunction(&mut self, start: usize) -> Parsed<()> {
        let c = &mut self.c;
        let name = self.info.mnemonic;
        let (op, format) = (self.inst.op, self.info.format);
        if !c.eat_close(".") {
            let example = match (op, format) {
                (Op::Bfn, _) => "bfn.(s0&s1|s2)",
                (_, Format::Math) => "math.inv",
                (_, Format::Sync) => "sync.nop",
                (_, Format::XeSend) => "send.dc0",
                (_, Format::Dpas) => "dpas.8x8",
                _ => return Ok(()),
            };
            return c.error_from(
                start,
                format!("`{name}` needs a function, as in `{example}`"),
            );
        }
        if op == Op::Bfn {
            self.inst.subfn = Subfn::Bfn(bfn::function(c)?);
            return Ok(());
        }
        let at = c.pos();
        let word = c.word();
        let subfn = match format {
            Format::Math => MathFn::from_name(word).map(Subfn::Math),
            Format::Sync => SyncFn::from_name(word).map(Subfn::Sync),
            Format::XeSend => Sfid::from_mnemonic(self.platform, word).map(Subfn::Send),
            Format::Dpas => dpas(word),
            _ if self.info.branch_ctrl && word == "b" => Some(Subfn::BranchCtrl(true)),
            _ => None,
        };
        match subfn {
            Some(subfn) => self.inst.subfn = subfn,
            None => {
                return c.error_from(at, format!("`{name}` has no function `{word}`"));
            }
        }
        Ok(())
    }

    fn exec(&mut self) -> Parsed<()> {
        if !has_exec(self.info.format) {
            return Ok(());
        }
        let c = &mut self.c;
        c.skip_blanks();
        let start = c.pos();
        if !c.eat("(") {
            return c.error("expected an execution size, as in `(8|M0)`");
        }
        let n = c.number("an execution size", u32::MAX)?;
        let Some(exec) = ExecSize::new(n) else {
            return c.error_from(
                start,
                format!("execution size {n} is not 1, 2, 4, 8, 16 or 32"),
            );
        };
        c.expect("|")?;
        c.expect("M")?;
        let m = c.number("a channel offset", u32::MAX)?;
        let Some(offset) = ChannelOffset::new(m) else {
            return c.error_from(
                start,
                format!("channel offset {m} is not a multiple of 4 below 32"),
            );
        };
        c.expect(")")?;
        self.inst.exec = exec;
        self.inst.offset = offset;
        Ok(())
    }

    fn flag_modifier(&mut self) -> Parsed<()> {
        let c = &mut self.c;
        let mut ahead = c.clone();
        if ahead.eat("(") {
            let word = ahead.ident();
            let cond = [
                Cond::Eq,
                Cond::Ne,
                Cond::Gt,
                Cond::Ge,
                Cond::Lt,
                Cond::Le,
                Cond::Ov,
                Cond::Un,
                Cond::Eo,
            ]
            .into_iter()
            .find(|x| x.name() == word);
            if let Some(cond) = cond {
                *c = ahead;
                c.expect(")")?;
                let flag = scalar(c, self.features, Arf::Flag, 2)?;
                self.inst.cond = Some(CondMod { cond, flag });
            }
        }
        if let (Subfn::Math(f), None) = (self.inst.subfn, self.inst.cond)
            && f.is_macro()
        {
            self.inst.cond = Some(CondMod {
                cond: Cond::Eo,
                flag: RegRef::new(Reg::Arf(Arf::Flag, 0), 0),
            });
        }
        Ok(())
    }

    /// Parses an operand and records its span.
    fn operand<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        self.c.skip_blanks();
        let start = self.c.pos();
        if self.c.at_end() || self.c.sees("{") {
            return self.c.error(format!("expected {name}"));
        }
        let t = read(self)?;
        self.operands.push(name, self.c.span_from(start));
        Ok(t)
    }

    fn operands(&mut self) -> Parsed<()> {
        let format = self.info.format;
        let f = self.features;
        if format.has_dst() {
            let default = match format {
                f if f.is_send() => Some(Type::Ud),
                Format::Call => Some(Type::D),
                _ => None,
            };
            let (sat, d) = self.operand("dst", |p| {
                let sat = p.c.eat("(sat)");
                Ok((sat, dst(&mut p.c, f, default)?))
            })?;
            self.inst.sat = sat;
            self.inst.dst = d;
        }
        if format == Format::XeSend {
            return self.xe_send();
        }
        let sources = match self.inst.subfn {
            Subfn::Math(f) => f.sources(),
            _ => format.sources(),
        };
        for (n, name) in (0..sources).zip(SRC_NAMES) {
            let n = usize::from(n);
            if format == Format::BranchRegJipUip && n == 1 && !self.takes_uip() {
                break;
            }
            // `sync` without an operand waits for its annotation only.
            if format == Format::Sync && (self.c.at_end() || self.c.sees("{")) {
                self.inst.srcs[0] = null_source();
                break;
            }
            let s = self.operand(name, Self::source)?;
            if let Some(slot) = self.inst.srcs.get_mut(n) {
                *slot = s;
            }
        }
        if format.is_branch() && f.unified_send {
            self.drop_types();
        }
        if format.is_send() {
            let (ex, desc) = self.descriptors()?;
            self.inst.send = Some(SendDescs {
                ex,
                desc,
                src1_len: None,
            });
        }
        Ok(())
    }

    /// Drops the types of registers in branches. They have none on Xe, and those in older texts are
    /// ignored.
    fn drop_types(&mut self) {
        if let Dst::Direct { hs, ty, .. } = &mut self.inst.dst {
            (*hs, *ty) = (1, Type::D);
        }
        for s in &mut self.inst.srcs {
            if let Src::Direct { ty, .. } = s {
                *ty = Type::D;
            }
        }
    }

    fn descriptors(&mut self) -> Parsed<(Desc, Desc)> {
        let f = self.features;
        let ex = self.operand("extended descriptor", |p| send::desc(&mut p.c, f))?;
        let desc = self.operand("descriptor", |p| send::desc(&mut p.c, f))?;
        Ok((ex, desc))
    }

    /// Parses the sources and descriptors of a send of Xe.
    fn xe_send(&mut self) -> Parsed<()> {
        let f = self.features;
        // Types are ignored here, also that of the destination.
        if let Dst::Direct { ty, .. } = &mut self.inst.dst {
            *ty = Type::Ud;
        }
        let (s, len) = self.operand("src0", |p| send::payload(&mut p.c, f))?;
        if len.is_some() {
            return self.c.error("only source 1 is written with its length");
        }
        self.inst.srcs[0] = s;
        let (s, src1_len) = self.operand("src1", |p| send::payload(&mut p.c, f))?;
        self.inst.srcs[1] = s;
        let (ex, desc) = self.descriptors()?;
        self.inst.send = Some(SendDescs { ex, desc, src1_len });
        Ok(())
    }

    /// Parses the second target of `brc`. A register holds both targets, optionally followed by
    /// null.
    fn takes_uip(&mut self) -> bool {
        if matches!(self.inst.srcs[0], Src::Target(_)) {
            return true;
        }
        if self.c.eat("null") {
            self.c.eat_close(":ud");
        }
        false
    }

    fn source(&mut self) -> Parsed<Src<Reg>> {
        let format = self.info.format;
        let (ty, region) = match format {
            Format::Send | Format::SplitSend => (Some(Type::Ud), Some(Region::SCALAR)),
            Format::Wait | Format::Dpas => (None, Some(Region::SCALAR)),
            Format::Sync if takes_tokens(self.inst.subfn) && self.c.sees("(") => {
                return self.tokens();
            }
            Format::Sync if sees_literal(&mut self.c) => (Some(Type::Ud), None),
            Format::Sync => (Some(Type::Ub), Some(Region::SCALAR)),
            Format::Ret => (Some(Type::D), Some(Region::rect(2, 2, 1))),
            f if f.is_branch() => return self.target(),
            _ => (None, None),
        };
        let defaults = self.defaults(ty, region);
        src(&mut self.c, defaults)
    }

    fn defaults(&self, ty: Option<Type>, region: Option<Region>) -> OperandDefaults {
        OperandDefaults {
            features: self.features,
            ty,
            region,
        }
    }

    /// Parses the tokens that `sync.allrd` and `sync.allwr` wait for: `($0,$3)`.
    fn tokens(&mut self) -> Parsed<Src<Reg>> {
        let c = &mut self.c;
        let mut bits = 0u64;
        c.expect("(")?;
        while !c.eat(")") {
            c.expect("$")?;
            bits |= 1 << c.number("a scoreboard token", 31)?;
            if !c.eat(",") && !c.sees(")") {
                return c.error("expected `,` or `)`");
            }
        }
        Ok(Src::Imm { bits, ty: Type::Ud })
    }

    /// Parses a target: label, distance in bytes, or register.
    fn target(&mut self) -> Parsed<Src<Reg>> {
        let calla = self.inst.op == Op::Calla;
        if sees_literal(&mut self.c) {
            let d = distance(&mut self.c)?;
            self.c.eat_close(":d");
            return Ok(if calla {
                Src::Imm {
                    bits: u64::from(d as u32),
                    ty: Type::D,
                }
            } else {
                Src::Target(Target::Rel(d))
            });
        }
        let words = self.features.branch_words
            && matches!(
                self.info.format,
                Format::BranchRegJip | Format::BranchRegJipUip
            );
        self.c.skip_blanks();
        let start = self.c.pos();
        let mut ahead = self.c.clone();
        let word = ahead.word();
        if register(word, self.features).is_some()
            && !matches!(self.info.format, Format::BranchJip | Format::BranchJipUip)
        {
            let region = if self.info.format == Format::BranchRegJipUip {
                Region::rect(2, 2, 1)
            } else {
                Region::SCALAR
            };
            let ty = if words { Type::W } else { Type::D };
            let defaults = self.defaults(Some(ty), Some(region));
            return src(&mut self.c, defaults);
        }
        if word.is_empty() {
            return self.c.error("expected a label");
        }
        self.c = ahead;
        let id = self.labels.id(word, self.c.span_from(start));
        if words {
            self.c.eat_close(":w");
        }
        if calla {
            self.absolute = Some(id);
            return Ok(Src::Imm {
                bits: 0,
                ty: Type::D,
            });
        }
        Ok(Src::Target(Target::Label(id)))
    }

    fn options(&mut self) -> Parsed<()> {
        let (opts, swsb) = options::parse(&mut self.c, self.platform)?;
        self.inst.opts = opts;
        self.inst.swsb = swsb;
        Ok(())
    }

    /// Reconciles fields that have two positions in the text.
    fn settle(&mut self) -> Parsed<()> {
        let Some(mut send) = self.inst.send else {
            return Ok(());
        };
        if self.features.unified_send {
            let at = self.operands.nth(2).map_or(0, |s| s.col as usize - 1);
            let opts = &mut self.inst.opts;
            send::settle_length(&self.c, self.platform, at, &mut send, opts)?;
            self.inst.send = Some(send);
        } else {
            self.settle_eot();
        }
        Ok(())
    }

    /// Reconciles EOT, which is in the extended descriptor and in an option. Either suffices.
    fn settle_eot(&mut self) {
        const EOT: u32 = 1 << 5;
        if let Some(SendDescs {
            ex: Desc::Imm(ex), ..
        }) = &mut self.inst.send
        {
            if *ex & EOT != 0 {
                self.inst.opts.insert(InstOpts::EOT);
            } else if self.inst.opts.contains(InstOpts::EOT) {
                *ex |= EOT;
            }
        }
    }
}
