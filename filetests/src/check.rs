//! Legality of compiled code.

use gantry_codegen::ir::Module;
use gantry_codegen::{CompileOptions, Compiled, compile};
use gantry_isa_gen::legal;
use gantry_isa_gen::text::{disassemble, list};

/// Compiles a module, and checks every emitted instruction against the hardware's rules.
pub(crate) fn compile_checked(
    module: &Module,
    options: &CompileOptions,
) -> Result<Compiled, String> {
    let compiled = compile(module, options).map_err(|e| e.to_string())?;
    check_code(&compiled, options)?;
    Ok(compiled)
}

/// Decodes compiled code and checks every instruction by the legality rules.
pub(crate) fn check_code(compiled: &Compiled, options: &CompileOptions) -> Result<(), String> {
    for kernel in &compiled.kernels {
        for l in list(options.target.platform(), &kernel.code.bytes) {
            let found = match &l.inst {
                Ok(inst) => legal::check(options.target.platform(), inst)
                    .first()
                    .map(ToString::to_string),
                Err(e) => Some(e.to_string()),
            };
            if let Some(what) = found {
                let bytes = kernel.code.bytes.get(l.offset..).unwrap_or_default();
                let text = disassemble(options.target.platform(), bytes);
                let inst = text.lines().find(|l| !l.ends_with(':')).unwrap_or_default();
                return Err(format!(
                    "%{}: illegal code at {:#x}: {what}\n{inst}",
                    kernel.name, l.offset
                ));
            }
        }
    }
    Ok(())
}
