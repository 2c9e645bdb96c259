//! Bindings of shaders, checked against the arguments of kernels.

use super::Zebin;
use super::info::{ArgKind, KernelInfo};
use gantry_zebin::{ArgRole, Bindings, KernelBindings, Resource, ZebinError};

/// Gives the arguments of a zebin's kernels their roles.
///
/// # Errors
/// A role does not match the argument, or there is no such kernel.
pub(super) fn assign(bindings: &Bindings, zebin: &mut Zebin) -> Result<(), ZebinError> {
    for k in &bindings.kernels {
        let found = zebin.index.get(&k.name).copied();
        match found.and_then(|n| zebin.kernels.get_mut(n)) {
            Some(kernel) => {
                kernel.divisible |= k.divisible;
                roles(kernel, k)?;
            }
            None => return Err(k.error("", "there is no such kernel")),
        }
    }
    Ok(())
}

fn roles(kernel: &mut KernelInfo, bindings: &KernelBindings) -> Result<(), ZebinError> {
    let mut places = Vec::new();
    for (n, bound) in bindings.args.iter().enumerate() {
        let (index, role) = (bound.index, bound.role);
        let kind = |index: u32| kernel.args.get(index as usize).map(|a| a.kind);
        let fits = match (role, kind(index)) {
            (ArgRole::Resource(_, r), Some(kind)) => match r {
                Resource::StorageBuffer { .. } | Resource::UniformBuffer { .. } => {
                    kind == ArgKind::Buffer
                }
                Resource::Image => matches!(kind, ArgKind::Image(_)),
                Resource::Sampler => kind == ArgKind::Sampler,
            },
            // A value of size 0 is an argument that nothing reads.
            (ArgRole::SizeOf(of), Some(ArgKind::Value { size: 0 | 4 })) => {
                kind(of) == Some(ArgKind::Buffer)
            }
            (ArgRole::PushConstants, Some(ArgKind::Value { .. })) => true,
            _ => false,
        };
        if let ArgRole::Resource(place, r) = role {
            // An image and its sampler may share a binding.
            places.push((place, r == Resource::Sampler));
        }
        match kernel.args.get_mut(index as usize) {
            Some(arg) if fits && arg.role == ArgRole::Argument => arg.role = role,
            _ => {
                let what = format!("argument {index} cannot be this");
                return Err(bindings.error(format_args!(".args[{n}]"), what));
            }
        }
    }
    places.sort_unstable();
    match places.windows(2).find(|w| w.first() == w.last()) {
        Some(_) => Err(bindings.error("", "two arguments are at one place")),
        None => Ok(()),
    }
}
