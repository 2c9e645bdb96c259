//! Entry points of a module that are translated, and the facts that their execution modes state.

use crate::error::{Error, Errors};
use crate::module::{Def, Entry, Func, Module};
use crate::options::Options;
use crate::options::Simd;
use gantry_codegen::ir;
use spirv::ExecutionModel;

/// Entry point with its function.
pub(crate) struct EntryPoint<'m> {
    pub entry: &'m Entry,
    pub func: Func,
}

impl EntryPoint<'_> {
    /// Returns the SIMD width that the kernel or the caller requires, or `None` if it is to be
    /// chosen. A required sub-group size of the kernel takes precedence.
    ///
    /// # Errors
    /// A sub-group size other than 8, 16 and 32.
    pub fn required_width(&self, options: &Options) -> Result<Option<u32>, Error> {
        let requested = match options.simd {
            Simd::Auto => None,
            Simd::Width(n) => Some(n),
        };
        match self.entry.modes.subgroup_size.or(requested) {
            None => Ok(None),
            Some(n @ (8 | 16 | 32)) => Ok(Some(n)),
            Some(n) => {
                let e = Error::unsupported(format!("a sub-group size of {n}"));
                Err(e.at(self.entry.at))
            }
        }
    }

    /// Copies the execution modes that are facts of the function: group size and float controls.
    pub fn set_modes(&self, function: &mut ir::Function) {
        let modes = &self.entry.modes;
        if let ir::FuncKind::Kernel { group_size, .. } = &mut function.kind {
            *group_size = modes.group_size;
        }
        let [flush_f16, flush_f32, flush_f64] = modes.flush;
        function.set_float_controls(ir::FloatControls {
            // The front end contracts where the module allows it. Library functions depend on
            // every rounding, so the optimizer must not.
            contract: false,
            reciprocal: false,
            flush_f16,
            flush_f32,
            flush_f64,
            toward_zero: modes.toward_zero,
        });
    }
}

/// Finds the entry points that `options` select: the named kernel, or all.
///
/// # Errors
/// All entry points with a duplicate or unusable name, another execution model, or no function.
/// A kernel name that no entry point has.
pub(crate) fn find<'m>(
    m: &'m Module<'_>,
    options: &Options,
) -> Result<Vec<EntryPoint<'m>>, Errors> {
    let mut errors = Errors(Vec::new());
    let mut out: Vec<EntryPoint<'m>> = Vec::new();
    let computes =
        |e: &Entry| matches!(e.model, ExecutionModel::Kernel | ExecutionModel::GLCompute);
    // Shaders of other stages are ignored if the module has a kernel or compute shader.
    let any = m.entries.iter().any(computes);
    for e in &m.entries {
        if any && !computes(e) {
            continue;
        }
        if options.kernel.as_ref().is_some_and(|k| *k != e.name) {
            continue;
        }
        match m.def(e.function) {
            _ if out.iter().any(|o| o.entry.name == e.name) => {
                let what = format!("a second entry point \"{}\"", e.name);
                errors.push(m.error(Error::malformed(what), e.at, Some(e.function)));
            }
            _ if !computes(e) => {
                let what = format!("the execution model {:?}", e.model);
                errors.push(m.error(Error::unsupported(what), e.at, Some(e.function)));
            }
            _ if !is_name(&e.name) => {
                let what = format!("a kernel named {:?}", e.name);
                errors.push(m.error(Error::unsupported(what), e.at, Some(e.function)));
            }
            Def::Func(func) => out.push(EntryPoint { entry: e, func }),
            _ => {
                let e2 = Error::malformed("an entry point that is no function");
                errors.push(m.error(e2, e.at, Some(e.function)));
            }
        }
    }
    if let (true, true, Some(name)) = (out.is_empty(), errors.0.is_empty(), &options.kernel) {
        errors.push(Error::malformed(format!("there is no kernel \"{name}\"")));
    }
    if errors.0.is_empty() {
        Ok(out)
    } else {
        Err(errors)
    }
}

/// Returns true if a string can be the name of an IR function.
fn is_name(name: &str) -> bool {
    let ok = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    !name.is_empty() && name.bytes().all(ok)
}
