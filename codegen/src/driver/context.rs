//! Memory that is kept from one compile to the next.

use crate::driver::options::{
    CompileOptions, Compiled, CompiledKernel, Demand, demand_in, kernel_in, module_in,
};
use crate::error::CodegenError;
use crate::ir::{Function, Module};
use crate::mir::MInst;
use crate::regalloc::grf::allocation_map::AllocationMap;
use crate::sched;
use std::collections::BTreeMap;
use std::fmt;

/// Compiles one module after the other in the same memory: that of machine instructions, of flag
/// allocation, of scheduling and of the map of the register file. What a compile gives does not
/// depend on what was compiled before, even where that failed. A host that compiles often has one
/// for each of its threads; it holds as much as its largest module took, until it is dropped.
///
/// ```
/// use gantry_codegen::{CompileOptions, Context, text};
///
/// let mut context = Context::new();
/// let options = CompileOptions::for_target("skl")?;
/// for n in 0..3 {
///     let text = format!("kernel %k{n}() simd8 {{\nblock0:\n    return\n}}\n");
///     let compiled = context.compile(&text::parse(&text)?.module, &options)?;
///     assert_eq!(compiled.kernels[0].name, format!("k{n}"));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Context {
    /// Room for machine instructions.
    pub(crate) insts: Vec<MInst>,
    pub(crate) flags: regalloc2::Ctx,
    pub(crate) map: AllocationMap,
    pub(crate) sched: sched::Memory,
}

impl Context {
    /// One that holds nothing yet.
    pub fn new() -> Context {
        Context::default()
    }

    /// Compiles every kernel of a module and writes a zebin.
    ///
    /// # Errors
    /// As [`compile`](crate::compile()).
    pub fn compile(
        &mut self,
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Compiled, CodegenError> {
        module_in(self, module, options, BTreeMap::new())
    }

    /// Compiles one kernel to code.
    ///
    /// # Errors
    /// As [`compile_kernel`](crate::driver::options::compile_kernel).
    pub fn compile_kernel(
        &mut self,
        module: &Module,
        func: &Function,
        options: &CompileOptions,
    ) -> Result<CompiledKernel, CodegenError> {
        kernel_in(self, module, func, options)
    }

    /// What a kernel's values ask of the register file: the compiler's way as far as it must go to
    /// know, about two thirds of it.
    ///
    /// # Errors
    /// As [`compile_kernel`](crate::driver::options::compile_kernel), but that registers do not run
    /// out.
    pub fn demand(
        &mut self,
        module: &Module,
        func: &Function,
        options: &CompileOptions,
    ) -> Result<Demand, CodegenError> {
        demand_in(self, module, func, options)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").finish_non_exhaustive()
    }
}
