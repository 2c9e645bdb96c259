//! Names of a kernel's parameters, and places among a shader's resources.

use super::{IN_BYTES, Options, Rng};
use crate::ir::{
    ArgKind, BindingPlace, FuncKind, Function, Module, ParamInfo, ParamRole, Resource,
};

const NAMES: [&str; 6] = ["x", "to_be", "no", "a \"b\"\\\n", "ü", "0,1 # {"];

/// Adds some to the kernels of a module that has none.
pub(super) fn add(rng: &mut Rng, options: &Options, module: &mut Module) {
    for func in module.functions.values_mut() {
        if !matches!(func.kind, FuncKind::Subroutine) {
            kernel(rng, options, func);
        }
    }
}

fn kernel(rng: &mut Rng, options: &Options, func: &mut Function) {
    let mut pushed = false;
    let mut last = BindingPlace::default();
    for n in 0..func.sig.params.len() {
        if rng.one_in(4) {
            continue;
        }
        let name = if rng.one_in(3) {
            None
        } else {
            rng.pick(&NAMES)
        };
        let role = if rng.one_in(3) {
            ParamRole::Argument
        } else {
            role(rng, options, func, n, (&mut last, &mut pushed))
        };
        let name = name.unwrap_or_default().to_owned();
        func.reflection.set(n, ParamInfo { name, role });
    }
}

/// The role of a parameter, which its kind allows.
fn role(
    rng: &mut Rng,
    options: &Options,
    func: &Function,
    n: usize,
    (last, pushed): (&mut BindingPlace, &mut bool),
) -> ParamRole {
    let params = &func.sig.params;
    let Some(param) = params.get(n) else {
        return ParamRole::Argument;
    };
    // What runs is given buffers of some thousand bytes.
    let least = if options.runnable {
        rng.below(IN_BYTES + 1)
    } else {
        rng.bits() as u32
    };
    let resource = match param.kind {
        ArgKind::Ptr | ArgKind::Surface if rng.one_in(2) => Resource::UniformBuffer { least },
        ArgKind::Ptr | ArgKind::Surface => Resource::StorageBuffer {
            least,
            read_only: rng.one_in(2),
        },
        ArgKind::Image(..) => Resource::Image,
        ArgKind::Sampler => Resource::Sampler,
        ArgKind::Slm => return ParamRole::Argument,
        ArgKind::Value => {
            let is_buffer = |kind| matches!(kind, ArgKind::Ptr | ArgKind::Surface);
            let buffers = params.iter().zip(0u32..).filter(|(p, _)| is_buffer(p.kind));
            let buffers: Vec<u32> = buffers.map(|(_, n)| n).collect();
            // A launch fills in the size, in place of the number that what runs is given.
            let sized = !options.runnable && param.ty.bytes() == 4 && rng.one_in(2);
            return match rng.pick(&buffers) {
                Some(of) if sized => ParamRole::SizeOf(of),
                _ if *pushed => ParamRole::Argument,
                _ => {
                    *pushed = true;
                    ParamRole::PushConstants
                }
            };
        }
    };
    ParamRole::Resource(place(rng, resource, last), resource)
}

/// A place behind the last one, or, of a sampler, often that one, as of a combined image and
/// sampler.
fn place(rng: &mut Rng, resource: Resource, last: &mut BindingPlace) -> BindingPlace {
    if resource == Resource::Sampler && rng.one_in(2) {
        return *last;
    }
    let up = 1 + rng.below(3);
    match rng.below(6) {
        0 => {
            *last = BindingPlace {
                set: last.set + up,
                binding: rng.below(1 << 31),
                element: 0,
            }
        }
        1 | 2 => last.element += up,
        _ => {
            *last = BindingPlace {
                binding: last.binding + up,
                element: rng.below(2),
                ..*last
            }
        }
    }
    *last
}
