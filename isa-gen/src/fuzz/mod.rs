//! Random instructions driven by the rows, and the properties that encoder, decoder, printer and
//! assembler must have for each of them, against an oracle that is a parameter. Used by the tests
//! and by fuzz targets.

mod before_xe;
mod bulk;
mod dice;
mod xe;

use crate::inst::Inst;
use crate::op::{MathFn, Op};
use crate::platform::Platform;
use crate::reg::Reg;
use std::fmt;

pub use bulk::{Bulk, check_many};

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

/// A random form of an opcode (and of a math function, for `math`); `None` where the platform does
/// not have it or the dice made no sense of it. It always has an encoding; that it is legal in
/// every way is for others to say.
pub fn random_inst(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    if platform.features().swsb {
        xe::random(platform, op, function, rng)
    } else {
        before_xe::random(platform, op, function, rng)
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

/// Comments and blanks at line ends gone.
fn bare(text: &str) -> String {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or("").trim_end())
        .fold(String::new(), |s, l| s + l + "\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|b| format!("{b:02x}")).collect()
}
