//! Random instructions, generated from the opcode table, and properties of encoder, decoder,
//! printer and assembler that must hold for each of them. The oracle is a parameter. Used by tests
//! and fuzz targets.

mod before_xe;
mod bulk;
mod generator;
mod xe;

use crate::inst::Inst;
use crate::op::{MathFn, Op};
use crate::platform::Platform;
use crate::reg::Reg;
use std::fmt;

pub use bulk::{Bulk, check_many};

/// Small seedable random number generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits().checked_rem(n).unwrap_or(0)
    }

    /// Returns true once in `n` times on average.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Picks one of several values, or returns `None` if there are none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len() as u64) as usize).copied()
    }
}

/// Generates a random instruction of an opcode (and of a math function, for `math`). It always has
/// an encoding but is not always legal. Returns `None` if the platform does not have the opcode, or
/// the choices did not fit together.
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

/// Trusted assembler and disassembler.
pub trait Oracle {
    /// Assembles a program in IGA syntax, or returns the oracle's message.
    fn assemble(&mut self, text: &str) -> Result<Vec<u8>, String>;
    /// Assembles a program, or returns messages with their line of the text, 0 if unknown.
    ///
    /// # Errors
    /// Returns the oracle's messages.
    fn assemble_lines(&mut self, text: &str) -> Result<Vec<u8>, Vec<(u32, String)>> {
        self.assemble(text).map_err(|e| vec![(0, e)])
    }
    /// Disassembles a program, or returns the oracle's message.
    fn disassemble(&mut self, bytes: &[u8]) -> Result<String, String>;
}

/// Violation of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Property that is violated.
    pub property: &'static str,
    /// Expected value.
    pub want: String,
    /// Actual value.
    pub got: String,
    /// Program text.
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

/// Number of instructions around those under test, as room for branch targets.
const PADDING: usize = 3;

/// Removes comments and trailing blanks.
fn bare(text: &str) -> String {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or("").trim_end())
        .fold(String::new(), |s, l| s + l + "\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|b| format!("{b:02x}")).collect()
}
