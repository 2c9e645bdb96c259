//! Reflection in a zebin: facts about kernels' parameters that a launch does not need. Names are in
//! `.ze_info` as Intel's compiler writes them. Bindings of shader resources, and whether a grid may
//! be cut, are in a note of Gantry's own. Loaders ignore both.

use super::KernelImage;
use super::divisible::is_divisible;
use super::info::{access_type, image_kind};
use crate::ir::{ArgKind, Module, Param, ParamRole, Scalar};
use crate::target::Target;
use gantry_zebin::{ArgDescription, Bindings, BoundArg, KernelBindings, KernelMisc};

/// Returns the names and types of a kernel's arguments; `None` if none has a name. Images and
/// samplers in memory need theirs, since they are passed by value.
pub(super) fn misc(target: &Target, k: &KernelImage<'_>) -> Option<KernelMisc> {
    let in_memory = |p: &Param| {
        !target.features().sampler && matches!(p.kind, ArgKind::Image(..) | ArgKind::Sampler)
    };
    let name = |index: u32| {
        let info = k.func.reflection.get(index as usize);
        info.map(|i| i.name.clone()).unwrap_or_default()
    };
    let params = (0..).zip(&k.func.sig.params);
    let named = params.map(|(index, param)| (index, name(index), param));
    let named = named.filter(|(_, name, param)| !name.is_empty() || in_memory(param));
    let args_info: Vec<ArgDescription> = named
        .map(|(index, name, param)| {
            let space = match param.kind {
                ArgKind::Ptr | ArgKind::Surface | ArgKind::Image(..) => ArgDescription::GLOBAL,
                ArgKind::Slm => ArgDescription::LOCAL,
                ArgKind::Value | ArgKind::Sampler => ArgDescription::PRIVATE,
            };
            let access = match param.kind {
                ArgKind::Image(_, access) => access_type(access).name(),
                _ => ArgDescription::NONE,
            };
            ArgDescription {
                index,
                name,
                address_qualifier: space.to_owned(),
                access_qualifier: access.to_owned(),
                type_name: type_name(param),
                type_qualifiers: ArgDescription::NONE.to_owned(),
            }
        })
        .collect();
    (!args_info.is_empty()).then(|| KernelMisc {
        name: k.func.name.clone(),
        args_info,
    })
}

/// Returns the bindings of kernels' arguments, and the kernels whose grid may be cut.
pub(super) fn bindings(module: &Module, kernels: &[KernelImage<'_>]) -> Bindings {
    let kernels = kernels.iter().filter_map(|k| {
        let infos = (0..).zip(k.func.reflection.iter());
        let with_role = infos.filter(|(_, i)| i.role != ParamRole::Argument);
        let args = with_role.map(|(index, i)| BoundArg {
            index,
            role: i.role,
        });
        let args: Vec<BoundArg> = args.collect();
        let divisible = is_divisible(module, k.func);
        (divisible || !args.is_empty()).then(|| KernelBindings {
            name: k.func.name.clone(),
            args,
            divisible,
        })
    });
    Bindings {
        kernels: kernels.collect(),
    }
}

/// Returns the type of an argument as Intel's compiler names it: the type, then its bytes. The IR
/// has no signs, so integers are signed.
fn type_name(param: &Param) -> String {
    match param.kind {
        // The pointee type is not known.
        ArgKind::Ptr | ArgKind::Surface => "char*;8".to_owned(),
        ArgKind::Slm => "char*;4".to_owned(),
        ArgKind::Image(shape, _) => {
            format!("{};8", image_kind(shape).source_type())
        }
        ArgKind::Sampler => format!("{};4", ArgDescription::SAMPLER),
        ArgKind::Value => {
            let scalar = match param.ty.scalar() {
                // A kernel has no predicate by value.
                Scalar::I8 | Scalar::B1 => "char",
                Scalar::I16 => "short",
                Scalar::I32 => "int",
                Scalar::I64 => "long",
                Scalar::F16 => "half",
                Scalar::F32 => "float",
                Scalar::F64 => "double",
            };
            let bytes = param.ty.bytes();
            match param.ty.lanes() {
                1 => format!("{scalar};{bytes}"),
                n @ (2 | 4 | 8 | 16) => format!("{scalar}{n};{bytes}"),
                n => format!("{scalar}[{n}];{bytes}"),
            }
        }
    }
}
