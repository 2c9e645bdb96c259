//! Options of the translation.

use crate::constants::SpecValue;
use gantry_codegen::{CompileOptions, Inline};
use std::collections::BTreeMap;

/// SIMD width: number of work-items of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Simd {
    /// Width that the kernel requires, else the widest of 32, 16 and 8 that is worthwhile and
    /// does not spill.
    #[default]
    Auto,
    /// Width 8, 16 or 32, unless the kernel requires another one.
    Width(u32),
}

/// Options of the translation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// SIMD width.
    pub simd: Simd,
    /// Options that the kernels will be compiled with. Where the width is to be chosen and an
    /// estimate of register demand is inconclusive, the compiler computes the demand. Without
    /// it, the estimate decides alone.
    pub target: Option<CompileOptions>,
    /// Kernel to translate. `None` translates all.
    pub kernel: Option<String>,
    /// Values of specialization constants by their `SpecId`: bits, of which as many count as the
    /// constant has.
    pub spec_constants: BTreeMap<u32, u64>,
    /// Values of specialization constants by name (`OpName`, or that of a WGSL override) or by
    /// `SpecId` in decimal. They are numbers of any type, converted to the type of the constant,
    /// and take precedence over `spec_constants`. It is an error if the module has no such
    /// constant, for `spec_constants` too.
    pub constants: BTreeMap<String, SpecValue>,
    /// Makes accesses of shaders outside of arrays read zeros and write nothing, atomics
    /// included. By default WGSL has it, since the language promises it, and SPIR-V has not.
    pub robust: Option<bool>,
    /// Lengths of arrays of resources that have none in the module (`binding_array<T>` of WGSL), by
    /// set and binding. A host that has a layout knows them. An access beyond reads zeros and
    /// writes nothing.
    pub binding_arrays: BTreeMap<(u32, u32), u32>,
    /// Lets arguments share memory: nothing is taken to be `noalias`, whatever the module says.
    /// A host needs it that binds the same memory twice, and writes it by one of the bindings.
    /// WGSL promises that nobody does.
    pub may_alias: bool,
    /// Rounds quotients and square roots of singles correctly, as OpenCL's
    /// `-cl-fp32-correctly-rounded-divide-sqrt` does. By default they are the math unit's: OpenCL
    /// and WGSL allow 2.5 ulp of quotients and 3 of roots. Those of halves and doubles always
    /// round correctly.
    pub exact_division: bool,
    /// Rounds a product and the sum that it is part of separately, where the module allows
    /// contraction.
    pub exact_sums: bool,
    /// Name of a WGSL text in line information, for faults, profiles and traces. It does not
    /// change the code. SPIR-V has names and lines of its own (`OpLine`).
    pub source_name: Option<String>,
    /// Functions that are not inlined: those whose copies would add too much to a large kernel,
    /// none, or all that can be called.
    pub inline: Inline,
}
