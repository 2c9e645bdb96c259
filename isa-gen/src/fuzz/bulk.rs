//! Test of many instructions in one program against an oracle, which amortizes the cost of calling
//! it.

use super::{Failure, Oracle, PADDING, bare, hex};
use crate::compact::compact;
use crate::decode::decode;
use crate::encode::encode;
use crate::inst::{Inst, InstOpts, Src, Target};
use crate::op::Op;
use crate::platform::Platform;
use crate::reg::Reg;
use crate::region::ExecSize;
use crate::text::{assemble, disassemble, print_inst};

/// Results of the instructions of one program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bulk {
    /// True for each instruction if all properties hold.
    pub agrees: Vec<bool>,
    /// Indices of instructions that the oracle's assembler rejects, with its message.
    pub refused: Vec<(usize, String)>,
    /// Indices of instructions that violate a property.
    pub failures: Vec<(usize, Failure)>,
    /// Number of compact forms that were compared.
    pub compacted: usize,
}

/// Program with `nop`s around the instructions as room for branch targets, and labels at the
/// targets.
struct Program {
    insts: Vec<Inst<Reg>>,
    /// Line of the text of each instruction, from 1.
    lines: Vec<u32>,
    text: String,
}

impl Program {
    fn new(platform: Platform, body: &[Inst<Reg>]) -> Program {
        let nop = Inst::<Reg>::new(Op::Nop, ExecSize::S1);
        let around = [nop; PADDING];
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

    /// Returns the index of the instruction on a line of the text.
    fn at_line(&self, line: u32) -> Option<usize> {
        self.lines.iter().position(|l| *l == line)
    }

    fn line_of(&self, n: usize) -> &str {
        let line = self.lines.get(n).map_or(0, |l| *l as usize);
        self.text.lines().nth(line.saturating_sub(1)).unwrap_or("")
    }
}

/// Returns the lines of a listing that are instructions, each with the labels before it.
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
/// - decoding the encoded instruction gives the instruction itself;
/// - both assemblers, ours and the oracle's, produce the same bytes from our text;
/// - our disassembly of those bytes is the oracle's, except comments, and assembles back to them;
/// - the compact form, if there is one, decodes to the instruction, and both disassemblers print it
///   alike.
///
/// Instructions that the oracle's assembler rejects are reported and excluded from the rest.
pub fn check_many(platform: Platform, insts: &[Inst<Reg>], oracle: &mut dyn Oracle) -> Bulk {
    let nop = Inst::<Reg>::new(Op::Nop, ExecSize::S1);
    let mut out = Bulk::default();
    let mut body = insts.to_vec();
    // Instructions that fail without the oracle are replaced by `nop`.
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
                    let Some(n) = program.at_line(line).and_then(|n| n.checked_sub(PADDING)) else {
                        continue;
                    };
                    let Some(slot) = body.get_mut(n).filter(|i| **i != nop) else {
                        continue;
                    };
                    *slot = nop;
                    let text = program.line_of(n + PADDING);
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

/// Checks the properties that need no oracle.
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

/// Compares bytes and text of a program with the oracle's.
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
    let of = |n: usize| n.saturating_sub(PADDING);
    match assemble(platform, &program.text) {
        Ok(a) if a.bytes == ours => {}
        Ok(a) => {
            for (n, (want, got)) in natives.iter().zip(a.bytes.chunks(16)).enumerate() {
                if want != got {
                    let property = "our assembler produces the encoder's bytes";
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

/// Checks that each compact form decodes to its instruction, and that both disassemblers print it
/// alike.
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
