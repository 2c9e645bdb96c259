//! Kernels that need more registers than there are, or nearly so.
//!
//! Each is written once, as a list of statements ([`program`]). OpenCL C ([`opencl`]) and IR
//! ([`ir`]) are generated from it, so that both compilers get the same values in the same order.

mod floats;
mod ints;
pub mod ir;
pub mod opencl;
pub mod program;

use crate::data::{Data, Kind, Tolerance};
use crate::launch::{Arg, Expect, Run};
use crate::runner::LaunchResults;
use program::{ITEMS, Program, Ty};

/// Kernel with high register pressure.
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Statements.
    pub program: Program,
    /// Allowed distance between two compilers' floats.
    pub tolerance: f64,
    /// True for the ten that are compared with Intel's compiler by count.
    pub counted: bool,
}

impl Kernel {
    fn new(name: &str, tolerance: f64, counted: bool, write: impl FnOnce(&Program)) -> Kernel {
        let program = Program::default();
        write(&program);
        Kernel {
            name: name.to_owned(),
            program,
            tolerance,
            counted,
        }
    }

    /// Creates a kernel of `n` live floats.
    pub fn live(n: u32) -> Kernel {
        Kernel::new(&format!("live{n}"), 1e-4, false, |p| floats::live(p, n))
    }

    /// Compares the results of two launches.
    ///
    /// # Errors
    /// The results differ. The message says where.
    pub fn same(&self, expected: &LaunchResults, got: &LaunchResults) -> Result<(), String> {
        let buffers = self.program.buffers.borrow();
        let left = expected.buffers.iter().zip(&got.buffers);
        for (n, (b, both)) in buffers.iter().zip(left).enumerate() {
            let (Some(x), Some(y)) = both else { continue };
            let compared = Data::from_bytes(kind(b.ty), x).compare(y, Tolerance(self.tolerance));
            compared.map_err(|e| format!("{}, argument {n}: {e}", self.name))?;
        }
        Ok(())
    }

    /// Returns a launch with pseudo-random numbers in inputs and zeros in outputs.
    pub fn launch(&self) -> Run {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 1
        };
        let buffers = self.program.buffers.borrow();
        let args = buffers.iter().map(|b| {
            let element = |x: u64| match b.ty {
                _ if b.output => 0,
                Ty::U8 => x & 0xff,
                Ty::U16 => x & 0xffff,
                Ty::U32 => x & 0xffff_ffff,
                Ty::U64 => x,
                // From 1 to 2.
                Ty::F16 => 0x3c00 | (x & 0x3ff),
                Ty::F32 => u64::from(((x & 0xffff) as f32 / 65536.0 + 0.25).to_bits()),
            };
            Arg::Buffer(Data {
                kind: kind(b.ty),
                bits: (0..b.elements).map(|_| element(next())).collect(),
            })
        });
        let args: Vec<Arg> = args.collect();
        Run {
            kernel: self.name.clone(),
            global: [ITEMS, 1, 1],
            groups: None,
            places: Vec::new(),
            local: Some([16, 1, 1]),
            offset: [0; 3],
            tolerance: Tolerance(self.tolerance),
            prints: None,
            expect: Expect::Args(vec![None; args.len()]),
            args,
        }
    }
}

const fn kind(ty: Ty) -> Kind {
    match ty {
        Ty::U8 => Kind::U8,
        Ty::U16 => Kind::U16,
        Ty::U32 => Kind::U32,
        Ty::U64 => Kind::U64,
        Ty::F16 => Kind::F16,
        Ty::F32 => Kind::F32,
    }
}

/// Returns all kernels, beginning with those that are compared with Intel's compiler by count.
pub fn kernels() -> Vec<Kernel> {
    let new = |name: &str, tolerance: f64, counted: bool, write: fn(&Program)| {
        Kernel::new(name, tolerance, counted, write)
    };
    vec![
        new("sha256", 0.0, true, ints::sha256),
        new("live64", 1e-4, true, |p| floats::live(p, 64)),
        new("live100", 1e-4, true, |p| floats::live(p, 100)),
        new("live200", 1e-4, true, |p| floats::live(p, 200)),
        new("dct8x8", 1e-4, true, floats::dct),
        new("sgemm8x16", 1e-4, true, |p| floats::sgemm(p, 8, 16)),
        new("fft16", 1e-4, true, |p| floats::fft(p, 16)),
        new("fft32", 1e-4, true, |p| floats::fft(p, 32)),
        new("keccak", 0.0, true, ints::keccak),
        new("sort64", 0.0, true, |p| ints::sort(p, Ty::U32, 64)),
        new("sgemm6x8", 1e-4, false, |p| floats::sgemm(p, 6, 8)),
        new("lu8", 1e-3, false, |p| floats::lu(p, 8)),
        new("cholesky11", 1e-3, false, |p| floats::cholesky(p, 11)),
        new("blake2b", 0.0, false, |p| ints::blake(p, 12)),
        new("chacha20", 0.0, false, ints::chacha),
        new("through", 1e-3, false, |p| floats::through(p, 48, 32)),
        new("filter100", 1e-3, false, |p| floats::filter(p, 100, 16)),
        new("halves120", 0.0, false, |p| floats::live_halves(p, 120)),
        new("hadamard", 0.0, false, ints::hadamard),
        new("sort96u8", 0.0, false, |p| ints::sort(p, Ty::U8, 96)),
    ]
}
