//! Hundreds of instructions in one program against an oracle, so that the cost of a call to it
//! hardly counts.

use super::{AROUND, Failure, Oracle, bare, hex};
use crate::compact::compact;
use crate::decode::decode;
use crate::encode::encode;
use crate::inst::{Inst, InstOpts, Src, Target};
use crate::op::Op;
use crate::platform::Platform;
use crate::reg::Reg;
use crate::region::ExecSize;
use crate::text::{assemble, disassemble, print_inst};

/// What became of the instructions of one program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bulk {
    /// True if everything agrees, instruction by instruction.
    pub agrees: Vec<bool>,
    /// Those that the oracle's assembler does not take, by their place, with its message.
    pub refused: Vec<(usize, String)>,
    /// Those of which a property does not hold.
    pub failures: Vec<(usize, Failure)>,
    /// Compacted forms that were compared too.
    pub compacted: usize,
}

/// One program: `nop`s around the instructions, so that targets have somewhere to go, and labels at
/// the targets.
struct Program {
    insts: Vec<Inst<Reg>>,
    /// The line of the text on which each instruction stands, from 1.
    lines: Vec<u32>,
    text: String,
}

impl Program {
    fn new(platform: Platform, body: &[Inst<Reg>]) -> Program {
        let nop = Inst::<Reg>::new(Op::Nop, ExecSize::S1);
        let around = [nop; AROUND];
        let insts = [&around, body, &around].concat();
        let mut targets = vec![false; insts.len() + 1];
        for (n, i) in insts.iter().enumerate() {
            for s in &i.srcs {
                let place = match s {
                    Src::Target(Target::Rel(r)) => n as i64 + i64::from(*r) / 16,
                    Src::Imm { bits, .. } if i.op == Op::Calla => *bits as i64 / 16,
                    _ => continue,
                };
                if let Some(t) = usize::try_from(place).ok().and_then(|p| targets.get_mut(p)) {
                    *t = true;
                }
            }
        }
        let mut text = String::new();
        let mut lines = Vec::new();
        let mut line = 1;
        for (n, (i, target)) in insts.iter().zip(&targets).enumerate() {
            let at = n as i64 * 16;
            if *target {
                text.push_str(&format!("L{at}:\n"));
                line += 1;
            }
            let label = |t| match t {
                Target::Rel(r) => format!("L{}", at + i64::from(r)),
                Target::Label(l) => format!("label{l}"),
            };
            text.push_str(&print_inst(platform, i, &label));
            text.push('\n');
            lines.push(line);
            line += 1;
        }
        if targets.last() == Some(&true) {
            text.push_str(&format!("L{}:\n", insts.len() * 16));
        }
        Program { insts, lines, text }
    }

    /// The instruction on a line of the text.
    fn at_line(&self, line: u32) -> Option<usize> {
        self.lines.iter().position(|l| *l == line)
    }

    fn line_of(&self, n: usize) -> &str {
        let line = self.lines.get(n).map_or(0, |l| *l as usize);
        self.text.lines().nth(line.saturating_sub(1)).unwrap_or("")
    }
}

/// The lines of a listing that are instructions, with the labels before them.
fn listing(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut labels = String::new();
    for l in bare(text).lines() {
        if l.ends_with(':') {
            labels.push_str(l);
            labels.push(' ');
        } else {
            out.push(std::mem::take(&mut labels) + l);
        }
    }
    out
}

/// Checks every property for many instructions at once:
/// - decoding what encoding gives is the instruction itself;
/// - our assembler and the oracle's make the same bytes of our text;
/// - our text of those bytes is the oracle's, comments aside, and assembles back to them;
/// - the compacted form, where there is one, decodes to the instruction, and the oracle prints it
///   as we do.
///
/// What the oracle's assembler does not take is told of and left out of the rest.
pub fn check_many(platform: Platform, insts: &[Inst<Reg>], oracle: &mut dyn Oracle) -> Bulk {
    let nop = Inst::<Reg>::new(Op::Nop, ExecSize::S1);
    let mut out = Bulk::default();
    let mut body = insts.to_vec();
    // What fails on our side alone is a `nop` for the rest.
    for (n, slot) in body.iter_mut().enumerate() {
        if let Err(f) = alone(platform, slot) {
            out.failures.push((n, f));
            *slot = nop;
        }
    }
    let (program, theirs) = loop {
        let program = Program::new(platform, &body);
        match oracle.assemble_lines(&program.text) {
            Ok(bytes) => break (program, bytes),
            Err(messages) => {
                let before = out.refused.len();
                for (line, message) in messages {
                    let Some(n) = program.at_line(line).and_then(|n| n.checked_sub(AROUND)) else {
                        continue;
                    };
                    let Some(slot) = body.get_mut(n).filter(|i| **i != nop) else {
                        continue;
                    };
                    *slot = nop;
                    let text = program.line_of(n + AROUND);
                    out.refused.push((n, format!("{message}\n      {text}")));
                }
                if out.refused.len() == before {
                    let text = program.text;
                    out.failures.push((
                        0,
                        Failure {
                            property: "the oracle says which lines it does not take",
                            want: String::new(),
                            got: String::new(),
                            text,
                        },
                    ));
                    return out;
                }
            }
        }
    };
    compare(platform, &program, &theirs, oracle, &mut out);
    let short: Vec<(usize, [u8; 8])> = body
        .iter()
        .enumerate()
        .filter(|(_, i)| **i != nop && !i.srcs.iter().any(|s| matches!(s, Src::Target(_))))
        .filter_map(|(n, i)| Some((n, compact(platform, &encode(platform, i).ok()?)?)))
        .collect();
    out.compacted = short.len();
    compare_compacted(platform, &body, &short, oracle, &mut out);
    out.agrees = insts
        .iter()
        .enumerate()
        .map(|(n, _)| {
            !out.refused.iter().any(|(m, _)| *m == n) && !out.failures.iter().any(|(m, _)| *m == n)
        })
        .collect();
    out
}

fn failure(property: &'static str, want: impl ToString, got: impl ToString, text: &str) -> Failure {
    Failure {
        property,
        want: want.to_string(),
        got: got.to_string(),
        text: text.to_string() + "\n",
    }
}

/// What an instruction must keep without any oracle.
fn alone(platform: Platform, i: &Inst<Reg>) -> Result<(), Failure> {
    let form = || format!("{i:?}");
    let native = encode(platform, i).map_err(|e| failure("the form encodes", form(), e, ""))?;
    match decode(platform, &native) {
        Ok(d) if d.inst == *i && d.len == 16 => Ok(()),
        other => Err(failure(
            "decode(encode(i)) == i",
            form(),
            format!("{other:?}"),
            &hex(&native),
        )),
    }
}

/// Bytes and text of a program against the oracle's.
fn compare(
    platform: Platform,
    program: &Program,
    theirs: &[u8],
    oracle: &mut dyn Oracle,
    out: &mut Bulk,
) {
    let natives: Vec<[u8; 16]> = program
        .insts
        .iter()
        .map(|i| encode(platform, i).unwrap_or_default())
        .collect();
    let ours = natives.concat();
    let of = |n: usize| n.saturating_sub(AROUND);
    match assemble(platform, &program.text) {
        Ok(a) if a.bytes == ours => {}
        Ok(a) => {
            for (n, (want, got)) in natives.iter().zip(a.bytes.chunks(16)).enumerate() {
                if want != got {
                    let property = "our assembler gives the encoder's bytes";
                    let text = program.line_of(n);
                    let f = failure(property, hex(want), hex(got), text);
                    out.failures.push((of(n), f));
                }
            }
        }
        Err(e) => {
            for d in &e.0 {
                let n = program.at_line(d.span.line).unwrap_or(0);
                let f = failure("our assembler takes our text", "", d, program.line_of(n));
                out.failures.push((of(n), f));
            }
        }
    }
    for (n, (want, got)) in theirs.chunks(16).zip(&natives).enumerate() {
        if want != got {
            let property = "the oracle's bytes of our text are ours";
            let text = program.line_of(n);
            let f = failure(property, hex(want), hex(got), text);
            out.failures.push((of(n), f));
        }
    }
    let text = match oracle.disassemble(theirs) {
        Ok(t) => t,
        Err(e) => {
            let f = failure("the oracle takes its own bytes", "", e, &program.text);
            out.failures.push((0, f));
            return;
        }
    };
    let (want, got) = (listing(&text), listing(&disassemble(platform, theirs)));
    if want.len() != got.len() {
        let f = failure("our listing is as long", want.len(), got.len(), &text);
        out.failures.push((0, f));
    }
    for (n, (want, got)) in want.iter().zip(&got).enumerate() {
        if want != got {
            let f = failure("our text is the oracle's", want, got, program.line_of(n));
            out.failures.push((of(n), f));
        }
    }
    match assemble(platform, &text) {
        Ok(a) => {
            for (n, (want, got)) in theirs.chunks(16).zip(a.bytes.chunks(16)).enumerate() {
                if want != got {
                    let property = "the oracle's text assembles back to its bytes";
                    let text = program.line_of(n);
                    let f = failure(property, hex(want), hex(got), text);
                    out.failures.push((of(n), f));
                }
            }
        }
        Err(e) => {
            for d in &e.0 {
                let line = text.lines().nth(d.span.line.saturating_sub(1) as usize);
                let n = got
                    .iter()
                    .position(|l| Some(l.trim_end()) == line.map(str::trim_end));
                let property = "our assembler takes the oracle's text";
                let f = failure(property, line.unwrap_or(""), d, "");
                out.failures.push((of(n.unwrap_or(0)), f));
            }
        }
    }
}

/// The compacted forms: each decodes to its instruction, and the oracle prints them as we do.
fn compare_compacted(
    platform: Platform,
    body: &[Inst<Reg>],
    short: &[(usize, [u8; 8])],
    oracle: &mut dyn Oracle,
    out: &mut Bulk,
) {
    let mut bytes = Vec::new();
    for (n, s) in short {
        bytes.extend_from_slice(s);
        let expanded = decode(platform, s).map(|d| {
            let mut i = d.inst;
            i.opts.remove(InstOpts::COMPACTED);
            i
        });
        if expanded.as_ref().ok() != body.get(*n) {
            let property = "the compacted form decodes to the instruction";
            let want = format!("{:?}", body.get(*n));
            let f = failure(property, want, format!("{expanded:?}"), &hex(s));
            out.failures.push((*n, f));
        }
    }
    if bytes.is_empty() {
        return;
    }
    let want = match oracle.disassemble(&bytes) {
        Ok(t) => listing(&t),
        Err(e) => {
            let n = short.first().map_or(0, |s| s.0);
            let f = failure("the oracle takes our compacted bytes", "", e, &hex(&bytes));
            out.failures.push((n, f));
            return;
        }
    };
    let got = listing(&disassemble(platform, &bytes));
    for ((want, got), (n, s)) in want.iter().zip(&got).zip(short) {
        if want != got {
            let f = failure(
                "our text of the compacted form is the oracle's",
                want,
                got,
                &hex(s),
            );
            out.failures.push((*n, f));
        }
    }
}
