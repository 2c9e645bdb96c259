//! Generator of random valid IR, for tests of all users of the IR. A seed and options determine the
//! module, on every host.

mod blocks;
mod calls;
mod generate;
mod images;
mod in_place;
mod insts;
mod known;
mod memory;
mod neighbours;
mod nested;
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

/// Random number generator (xorshift64*). Equal seeds yield equal numbers everywhere.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Makes a generator from any seed.
    pub fn new(seed: u64) -> Rng {
        // Spreads consecutive seeds, and avoids zero, which would stay zero.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Rng((z ^ (z >> 31)) | 1)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// Returns true once in `n` times.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Returns a random element of a list; `None` if it is empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.below(list.len() as u32) as usize).copied()
    }
}

/// Options of the generator.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only well-defined code that ends without an error: no `undef`, accesses and indices in
    /// bounds.
    pub runnable: bool,
    /// Kernels call subroutines.
    pub calls: bool,
    /// Generate floats. Bits of NaNs and of approximate results differ between machines.
    pub floats: bool,
    /// Generate doubles too.
    pub doubles: bool,
    /// Generate atomics of floats.
    pub float_atomics: bool,
    /// Generate atomics of words and of halves.
    pub word_atomics: bool,
    /// Generate arguments that are regions of larger vectors, and results that are changed
    /// arguments.
    pub region_args: bool,
    /// Generate accesses to adjacent elements.
    pub neighbours: bool,
    /// Channels of matrix products: 8 or 16; `None` for no matrix products.
    pub systolic: Option<u8>,
    /// Generate 2D blocks.
    pub block2d: bool,
    /// Generate named barriers.
    pub named_barriers: bool,
    /// Normalized texels do not depend on the kernel's rounding: a sampler converts them. Otherwise
    /// kernels that round toward zero sample none.
    pub sampler: bool,
    /// Opcodes that are excluded.
    pub without: Vec<Opcode>,
    /// Approximate number of instructions of the kernel. Nested control flow gets fewer.
    pub size: u32,
}

impl Options {
    /// Returns the opcodes that may be generated.
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

    /// Returns options for any module that verifies.
    pub fn any() -> Options {
        Options {
            runnable: false,
            calls: true,
            floats: true,
            doubles: true,
            float_atomics: true,
            word_atomics: true,
            region_args: true,
            neighbours: false,
            systolic: Some(8),
            block2d: true,
            named_barriers: true,
            sampler: true,
            without: Vec::new(),
            size: 60,
        }
    }

    /// Returns options for modules that can run: see [`Options::runnable`].
    pub fn runnable() -> Options {
        Options {
            runnable: true,
            calls: true,
            floats: true,
            doubles: true,
            float_atomics: true,
            word_atomics: true,
            region_args: true,
            neighbours: false,
            systolic: None,
            block2d: false,
            named_barriers: false,
            sampler: true,
            without: Vec::new(),
            size: 40,
        }
    }
}

/// Size in bytes of the buffer that a generated kernel reads, its first argument.
pub const IN_BYTES: u32 = 4096;
/// Size in bytes of the buffer that a generated kernel writes, its second argument.
pub const OUT_BYTES: u32 = 16384;

/// Width and height of the images of a generated kernel. Its sixth argument is read, its seventh is
/// written. Texels are four unsigned 32-bit integers.
pub const IMAGE_SIDE: u32 = 16;

/// Levels of detail of the image that is read.
pub const IMAGE_LEVELS: u32 = 3;

/// Texels of a row of a cube's face.
pub const CUBE_SIDE: u32 = 4;

/// Bytes of SLM of a generated kernel, and of the buffer of its surface, its fifth argument.
pub const SHARED_BYTES: u32 = 4096;

/// Generates a random module that verifies. Its first function is a kernel `%k` of SIMD width 1, 8,
/// 16 or 32, to be launched as one thread. Arguments of the kernel:
///
/// - `i64 ptr` of [`IN_BYTES`],
/// - `i64 ptr` of [`OUT_BYTES`],
/// - `i32`,
/// - `f32`,
/// - `i32 surface` of [`SHARED_BYTES`],
/// - `i32 image2d read` of [`IMAGE_SIDE`] and [`IMAGE_LEVELS`], and `i32 image2d write` of
///   [`IMAGE_SIDE`],
/// - `i32 sampler`: nearest, clamped to the edge along rows and with a border along columns, levels
///   of detail up to 1.75, comparing `less`,
/// - `i32 image2d_block readwrite` of [`IMAGE_SIDE`] rows of as many bytes, two a texel,
/// - `i32 image2d readwrite` of [`IMAGE_SIDE`], whose texels are one unsigned 32-bit integer,
/// - `i32 image_cube_array read` of two cubes of [`CUBE_SIDE`], whose texels are one `unorm8`.
///
/// Arguments often have names and bindings. With [`Options::runnable`] all are still given by
/// number.
pub fn module(seed: u64, options: &Options) -> Module {
    generate::module(Rng::new(seed), options)
}

/// Size in bytes of the constant data of a generated module.
const TABLE_BYTES: u32 = 512;

/// Returns random contents for the kernel's input.
pub fn input(seed: u64) -> Vec<u8> {
    numbers(&mut Rng::new(!seed), IN_BYTES)
}

/// Returns random numbers: all bit patterns, and many small numbers.
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
