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

/// Compiler context: compiles one module after the other with the same memory for machine
/// instructions, flag allocation, scheduling and the map of the GRF file. The result of a compile
/// does not depend on earlier ones, even failed ones. A host that compiles often has one context
/// per thread. It holds as much memory as its largest module took, until it is dropped.
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
    /// Memory for machine instructions.
    pub(crate) insts: Vec<MInst>,
    pub(crate) flags: regalloc2::Ctx,
    pub(crate) map: AllocationMap,
    pub(crate) sched: sched::Memory,
}

impl Context {
    /// Returns an empty context.
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

    /// Returns the demand of a kernel's values on the GRF file. This runs the stages that are
    /// needed to know it, about two thirds of a compile.
    ///
    /// # Errors
    /// As [`compile_kernel`](crate::driver::options::compile_kernel), but registers do not run out.
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
