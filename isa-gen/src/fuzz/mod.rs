//! Random instructions driven by the rows, and the properties that encoder, decoder, printer and assembler must have
//! for each of them, against an oracle that is a parameter. Used by the tests and by fuzz targets.

mod bulk;
mod generate;

use crate::compact::compact;
use crate::decode::decode;
use crate::encode::encode;
use crate::inst::{Inst, Src, Target};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::text::{assemble, disassemble, print_inst};
use std::fmt;

pub use bulk::{Bulk, check_many};
pub use generate::random_inst;

/// A small, seedable random number generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits().checked_rem(n).unwrap_or(0)
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of several; `None` of none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len() as u64) as usize).copied()
    }
}

/// An assembler and disassembler that is believed.
pub trait Oracle {
    /// The bytes of a program in IGA syntax, or the oracle's message.
    fn assemble(&mut self, text: &str) -> Result<Vec<u8>, String>;
    /// The same, with a line of the text for each message; 0 where that is not known.
    ///
    /// # Errors
    /// The oracle's messages.
    fn assemble_lines(&mut self, text: &str) -> Result<Vec<u8>, Vec<(u32, String)>> {
        self.assemble(text).map_err(|e| vec![(0, e)])
    }
    /// The text of a program, or the oracle's message.
    fn disassemble(&mut self, bytes: &[u8]) -> Result<String, String>;
}

/// What became of a form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Everything agrees.
    Agrees,
    /// The oracle does not take the text, so nothing was compared; its message.
    Refused(String),
}

/// A property that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Which.
    pub property: &'static str,
    /// What was wanted.
    pub want: String,
    /// What there was.
    pub got: String,
    /// The program.
    pub text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\n{}  want: {}\n   got: {}",
            self.property, self.text, self.want, self.got
        )
    }
}

/// Instructions around the one under test, so that targets have somewhere to go.
const AROUND: usize = 3;

/// A program of `nop`s with the instruction in the middle and a label at each instruction.
fn program(platform: Platform, inst: &Inst<Reg>) -> String {
    let nop = Inst::<Reg>::new(crate::Op::Nop, crate::ExecSize::S1);
    let mut text = String::new();
    for n in 0..=AROUND * 2 {
        let at = n as i64 * 16;
        let label = |t| match t {
            Target::Rel(r) => format!("L{}", at + i64::from(r)),
            Target::Label(l) => format!("label{l}"),
        };
        let i = if n == AROUND { inst } else { &nop };
        text.push_str(&format!("L{at}:\n{}\n", print_inst(platform, i, &label)));
    }
    text
}

/// Comments and blanks at line ends gone.
fn bare(text: &str) -> String {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or("").trim_end())
        .fold(String::new(), |s, l| s + l + "\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|b| format!("{b:02x}")).collect()
}

/// Checks every property for one instruction:
/// - decoding what encoding gives is the instruction itself;
/// - our assembler and the oracle's make the same bytes of our text;
/// - our text of those bytes is the oracle's, comments aside, and assembles back to them;
/// - the same for the compacted form, where there is one.
///
/// # Errors
/// The first property that fails.
pub fn check(
    platform: Platform,
    inst: &Inst<Reg>,
    oracle: &mut dyn Oracle,
) -> Result<Outcome, Failure> {
    let text = program(platform, inst);
    let fail = |property, want: String, got: String| {
        Err(Failure {
            property,
            want,
            got,
            text: text.clone(),
        })
    };
    let native = match encode(platform, inst) {
        Ok(n) => n,
        Err(e) => return fail("the form encodes", format!("{inst:?}"), e.to_string()),
    };
    match decode(platform, &native) {
        Ok(d) if d.inst == *inst && d.len == 16 => {}
        other => {
            return fail(
                "decode(encode(i)) == i",
                format!("{inst:?}"),
                format!("{other:?}"),
            );
        }
    }
    let ours = match assemble(platform, &text) {
        Ok(a) => a.bytes,
        Err(e) => return fail("our assembler takes our text", String::new(), e.to_string()),
    };
    let at = AROUND * 16;
    if ours.get(at..at + 16) != Some(&native) {
        return fail(
            "our assembler gives the encoder's bytes",
            hex(&native),
            hex(ours.get(at..).unwrap_or(&[])),
        );
    }
    let theirs = match oracle.assemble(&text) {
        Ok(t) => t,
        Err(e) => return Ok(Outcome::Refused(e)),
    };
    if theirs != ours {
        return fail(
            "the oracle's bytes of our text are ours",
            hex(theirs.get(at..at + 16).unwrap_or(&theirs)),
            hex(&native),
        );
    }
    same_text(platform, &ours, oracle, &text)?;
    if let Some(short) = compact(platform, &native)
        && !inst.srcs.iter().any(|s| matches!(s, Src::Target(_)))
    {
        let expanded = decode(platform, &short).map(|d| {
            let mut i = d.inst;
            i.opts.remove(crate::InstOpts::COMPACTED);
            i
        });
        if expanded.as_ref() != Ok(inst) {
            return fail(
                "the compacted form decodes to the instruction",
                format!("{inst:?}"),
                format!("{expanded:?}"),
            );
        }
        same_text(platform, &short, oracle, &text)?;
    }
    Ok(Outcome::Agrees)
}

/// Our text of bytes is the oracle's and assembles back to the bytes.
fn same_text(
    platform: Platform,
    bytes: &[u8],
    oracle: &mut dyn Oracle,
    program: &str,
) -> Result<(), Failure> {
    let fail = |property, want: String, got: String| {
        Err(Failure {
            property,
            want,
            got,
            text: program.to_string(),
        })
    };
    let ours = disassemble(platform, bytes);
    let theirs = match oracle.disassemble(bytes) {
        Ok(t) => t,
        Err(e) => return fail("the oracle takes its own bytes", hex(bytes), e),
    };
    if bare(&ours) != bare(&theirs) {
        return fail("our text is the oracle's", bare(&theirs), bare(&ours));
    }
    match assemble(platform, &theirs) {
        Ok(a) if a.bytes == bytes => Ok(()),
        Ok(a) => fail(
            "the oracle's text assembles back to its bytes",
            hex(bytes),
            hex(&a.bytes),
        ),
        Err(e) => fail(
            "our assembler takes the oracle's text",
            theirs,
            e.to_string(),
        ),
    }
}
