//! Random valid IR, for tests of everything that takes IR. A seed and options give the same module on every host.

mod blocks;
mod generate;
mod images;
mod insts;
mod known;
mod memory;
mod neighbours;
mod operands;
mod parts;
mod places;
mod products;
mod reflection;
mod rings;
pub mod shapes;
mod short;
mod trees;

use crate::ir::opcode::{Class, Format, Info};
use crate::ir::{Module, Opcode};

/// A small generator of random numbers (xorshift64*): equal everywhere for equal seeds.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator from any seed.
    pub fn new(seed: u64) -> Rng {
        // Neighbouring seeds are spread, and zero, which would stay zero, is left out.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Rng((z ^ (z >> 31)) | 1)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of a list; `None` of an empty one.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.below(list.len() as u32) as usize).copied()
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only what has one meaning and ends without an error: no `undef`, accesses and indices in bounds.
    pub runnable: bool,
    /// Whether kernels call subroutines.
    pub calls: bool,
    /// Whether there are floats: bits of NaNs and of approximate results differ between machines.
    pub floats: bool,
    /// Whether there are doubles among them.
    pub doubles: bool,
    /// Whether there are atomics of floats.
    pub float_atomics: bool,
    /// Whether there are atomics of words and of halves.
    pub word_atomics: bool,
    /// Whether there are accesses beside each other.
    pub neighbours: bool,
    /// Channels of products of matrices: 8 or 16; none without.
    pub systolic: Option<u8>,
    /// Whether there are 2D blocks.
    pub block2d: bool,
    /// Whether there are barriers of a number.
    pub named_barriers: bool,
    /// Opcodes that are left out.
    pub without: Vec<Opcode>,
    /// About how many instructions the kernel gets, at each level of control flow less.
    pub size: u32,
}

impl Options {
    /// The opcodes that may be made.
    fn opcodes(&self) -> Vec<Opcode> {
        let float = |i: &Info| {
            i.class == Class::Float
                || i.opcode == Opcode::Fconst
                || i.name.starts_with("fcvt_from_")
        };
        Opcode::all()
            .iter()
            .filter(|i| self.floats || !float(i))
            .map(|i| i.opcode)
            .filter(|o| !self.without.contains(o))
            .filter(|o| *o != Opcode::Dpas || self.systolic.is_some())
            .filter(|o| o.info().format != Format::Block2d || self.block2d)
            .filter(|o| *o != Opcode::NamedBarrier || self.named_barriers)
            .collect()
    }

    /// Anything that verifies.
    pub fn any() -> Options {
        Options {
            runnable: false,
            calls: true,
            floats: true,
            doubles: true,
            float_atomics: true,
            word_atomics: true,
            neighbours: false,
            systolic: Some(8),
            block2d: true,
            named_barriers: true,
            without: Vec::new(),
            size: 60,
        }
    }

    /// What runs: see [`Options::runnable`].
    pub fn runnable() -> Options {
        Options {
            runnable: true,
            calls: true,
            floats: true,
            doubles: true,
            float_atomics: true,
            word_atomics: true,
            neighbours: false,
            systolic: None,
            block2d: false,
            named_barriers: false,
            without: Vec::new(),
            size: 40,
        }
    }
}

/// Bytes of the buffer that a generated kernel reads, its first argument.
pub const IN_BYTES: u32 = 4096;
/// Bytes of the buffer that a generated kernel writes, its second argument.
pub const OUT_BYTES: u32 = 16384;

/// Texels along both sides of the images of a generated kernel, its sixth argument, which it reads, and its seventh, which it writes: of four
/// unsigned integers of 32 bits each.
pub const IMAGE_SIDE: u32 = 16;

/// Bytes of local memory that a generated kernel has, and of the buffer of its surface, its fifth argument.
pub const SHARED_BYTES: u32 = 4096;

/// A random module that verifies. The first function is a kernel `%k` of SIMD width 1, 8, 16 or 32 with the arguments
/// (`i64 ptr` of [`IN_BYTES`], `i64 ptr` of [`OUT_BYTES`], `i32`, `f32`, `i32 surface` of [`SHARED_BYTES`], `i32 image2d read` and `i32 image2d write` of
/// [`IMAGE_SIDE`], `i32 sampler` to the nearest texel of the edge, `i32 image2d_block readwrite` of
/// [`IMAGE_SIDE`] rows of as many bytes, two a texel), meant to be launched as one thread. Often arguments have names, and places among a
/// shader's resources; with [`Options::runnable`], all are given by number nonetheless.
pub fn module(seed: u64, options: &Options) -> Module {
    generate::module(Rng::new(seed), options)
}

/// Bytes of the constant data of a generated module.
const TABLE_BYTES: u32 = 512;

/// Random contents for the kernel's input.
pub fn input(seed: u64) -> Vec<u8> {
    numbers(&mut Rng::new(!seed), IN_BYTES)
}

/// Random numbers: all bit patterns, and many small ones.
fn numbers(rng: &mut Rng, bytes: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes as usize);
    while out.len() < bytes as usize {
        let word = match rng.below(4) {
            0 => rng.bits() as u32,
            1 => rng.below(64),
            2 => (rng.below(2000) as f32 / 16.0 - 50.0).to_bits(),
            _ => rng.below(16).wrapping_neg(),
        };
        out.extend(word.to_le_bytes());
    }
    out
}
