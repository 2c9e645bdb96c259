//! Kernels of a description: checks against the platform, and the arguments that a caller gives.

use super::images;
use super::info::{ArgInfo, ArgKind, ArgNames, KernelInfo};
use crate::limits::{Budget, Limits};
use gantry_isa_gen::Platform;
use gantry_zebin::{
    AddrSpace, ArgDescription, ArgRole, Kernel, MemoryType, PayloadArg, PayloadKind, PerThreadIds,
    Pointer, ZeInfo, ZebinError,
};
use std::collections::HashMap;

/// Limit on argument indices, far above those of any kernel. It bounds what a damaged index can ask
/// for.
const MAX_ARGS: u32 = 1024;

/// Returns the kernels of a description, and the index of each by its name.
pub(super) fn kernels(
    info: &ZeInfo,
    platform: Platform,
    limits: &Limits,
) -> Result<(Vec<KernelInfo>, HashMap<String, usize>), ZebinError> {
    let mut arguments = Budget::new("arguments of kernels", limits.arguments);
    let mut kernels: Vec<KernelInfo> = Vec::new();
    let mut index = HashMap::new();
    for k in &info.kernels {
        index.insert(k.name.clone(), kernels.len());
        kernels.push(kernel(k, platform, &mut arguments)?);
    }
    for (n, misc) in info.misc.iter().enumerate() {
        let Some(k) = index.get(&misc.name).and_then(|i| kernels.get_mut(*i)) else {
            continue;
        };
        for (i, arg) in misc.args_info.iter().enumerate() {
            if arg.index >= MAX_ARGS {
                return Err(ZebinError::new(format!(
                    ".ze_info.kernels_misc_info[{n}].args_info[{i}]: argument index {} is above {MAX_ARGS}",
                    arg.index
                )));
            }
            describe(k, arg, &mut arguments)?;
        }
    }
    for (k, info) in kernels.iter().zip(&info.kernels) {
        check_args(k, info)?;
    }
    Ok((kernels, index))
}

fn kernel(
    k: &Kernel,
    platform: Platform,
    arguments: &mut Budget,
) -> Result<KernelInfo, ZebinError> {
    let features = platform.features();
    let modes = [features.grf_count, features.grf_count_large];
    let grf_count = k.env.grf_count.unwrap_or(features.grf_count);
    if !modes.contains(&grf_count) {
        let what = format!(
            "grf_count {grf_count}: {platform} has {} or {}",
            features.grf_count, features.grf_count_large
        );
        return Err(k.error(".execution_env", what));
    }
    let samplers = images::samplers(k)?;
    check_ids(k, platform)?;
    for (i, m) in k.memory.iter().enumerate() {
        if m.ty == MemoryType::Slm {
            let part = format!(".per_thread_memory_buffers[{i}]");
            return Err(k.error(part, format!("unknown type `{}`", m.ty.name())));
        }
    }
    let mut args = args_of_payload(k)?;
    arguments.take(args.len())?;
    for p in &k.payload {
        if let PayloadKind::Pointer(Pointer {
            index,
            space: AddrSpace::Image,
            image,
            ..
        }) = p.kind
            && let Some(arg) = args.get_mut(index as usize)
        {
            arg.kind = ArgKind::Image(image.map(images::image_type));
        }
    }
    Ok(KernelInfo {
        name: k.name.clone(),
        env: k.env.clone(),
        grf_count,
        payload: k.payload.clone(),
        per_thread: k.per_thread.clone(),
        binding_table: k
            .binding_table
            .iter()
            .map(|b| (b.bti_value, b.arg_index))
            .collect(),
        samplers,
        memory: k.memory.clone(),
        args,
        divisible: false,
    })
}

/// Checks the size of local ids: a row is a word a channel in whole GRFs, for each of x, y and z.
/// Drivers before Xe-HP know only all three.
fn check_ids(k: &Kernel, platform: Platform) -> Result<(), ZebinError> {
    let simd = k.env.simd_size;
    let row = (simd * 2).next_multiple_of(platform.features().grf_bytes);
    for (i, p) in k.per_thread.iter().enumerate() {
        let fits = if platform >= Platform::XeHp {
            [row, 2 * row, 3 * row].contains(&p.size)
        } else {
            p.size == 3 * row
        };
        if p.kind == PerThreadIds::Local && (!fits || p.offset != 0) {
            let what = format!(
                "local_id must be {} bytes at 0 in SIMD{simd}, not {} at {}",
                3 * row,
                p.size,
                p.offset
            );
            return Err(k.error(format_args!(".per_thread_payload_arguments[{i}]"), what));
        }
    }
    Ok(())
}

/// Returns the kind of argument that an entry of the payload is of, if it is of one.
fn kind_of(p: &PayloadArg) -> Option<ArgKind> {
    Some(match p.kind {
        PayloadKind::Pointer(Pointer { space, .. }) => match space {
            AddrSpace::Global | AddrSpace::Constant => ArgKind::Buffer,
            AddrSpace::Local => ArgKind::Local,
            AddrSpace::Image => ArgKind::Image(None),
            AddrSpace::Sampler => ArgKind::Sampler,
        },
        PayloadKind::Value { source_offset, .. } => ArgKind::Value {
            size: source_offset.saturating_add(p.size),
        },
        PayloadKind::Buffer { .. } => ArgKind::Buffer,
        PayloadKind::Image { .. } => ArgKind::Image(None),
        PayloadKind::Sampler { .. } => ArgKind::Sampler,
        _ => return None,
    })
}

/// Derives the arguments that a caller gives from the payload.
fn args_of_payload(k: &Kernel) -> Result<Vec<ArgInfo>, ZebinError> {
    let mut kinds: Vec<Option<ArgKind>> = Vec::new();
    for p in &k.payload {
        let (Some(index), Some(kind)) = (p.kind.arg_index(), kind_of(p)) else {
            continue;
        };
        if index >= MAX_ARGS {
            let what = format!("argument index {index} is above {MAX_ARGS}");
            return Err(k.error("", what));
        }
        let slot = slot(&mut kinds, index as usize);
        let slot = slot.ok_or_else(|| k.error("", "argument index"))?;
        *slot = match (*slot, kind) {
            (None, kind) => Some(kind),
            (Some(ArgKind::Value { size: a }), ArgKind::Value { size: b }) => {
                Some(ArgKind::Value { size: a.max(b) })
            }
            (Some(a), b) if a == b => Some(a),
            _ => {
                let what = format!("argument {index} is described in two ways");
                return Err(k.error("", what));
            }
        };
    }
    Ok(kinds
        .into_iter()
        .map(|k| ArgInfo {
            // A gap is an argument that the code does not use; `kernels_misc_info` may still
            // describe it.
            kind: k.unwrap_or(ArgKind::Value { size: 0 }),
            names: None,
            role: ArgRole::Argument,
        })
        .collect())
}

fn slot<T>(list: &mut Vec<Option<T>>, index: usize) -> Option<&mut Option<T>> {
    while list.len() <= index {
        list.push(None);
    }
    list.get_mut(index)
}

/// Adds names and, for arguments that the code does not use, kinds.
fn describe(
    k: &mut KernelInfo,
    described: &ArgDescription,
    arguments: &mut Budget,
) -> Result<(), ZebinError> {
    let index = described.index as usize;
    arguments.take((index + 1).saturating_sub(k.args.len()))?;
    while k.args.len() <= index {
        k.args.push(ArgInfo {
            kind: ArgKind::Value { size: 0 },
            names: None,
            role: ArgRole::Argument,
        });
    }
    let Some(arg) = k.args.get_mut(index) else {
        return Ok(());
    };
    let source = images::kind_of_type(described);
    if let (ArgKind::Image(None), Some(kind @ ArgKind::Image(_))) = (arg.kind, source) {
        arg.kind = kind;
    }
    if let ArgKind::Value { size: payload } = arg.kind {
        // The payload may hold more than the type's size (small integers) or less (parts of a
        // structure that the code does not use).
        let declared = described.type_bytes().unwrap_or(0);
        arg.kind = match (source, described.address_qualifier.as_str()) {
            // An image or a sampler that the code does not use, or that is passed by value where
            // there is no sampler.
            (Some(kind), _) => kind,
            (_, ArgDescription::GLOBAL | ArgDescription::CONSTANT) if payload == 0 => {
                ArgKind::Buffer
            }
            (_, ArgDescription::LOCAL) if payload == 0 => ArgKind::Local,
            _ if declared == 0 => arg.kind,
            _ => ArgKind::Value { size: declared },
        };
    }
    if !described.name.is_empty() {
        arg.names = Some(ArgNames {
            name: described.name.clone(),
            ty: described.type_name.clone(),
        });
    }
    Ok(())
}

/// Checks that every binding table entry is of a pointer argument.
fn check_args(k: &KernelInfo, info: &Kernel) -> Result<(), ZebinError> {
    for (bti, index) in &k.binding_table {
        match k.args.get(*index as usize).map(|a| a.kind) {
            Some(ArgKind::Buffer | ArgKind::Image(_) | ArgKind::Sampler) => {}
            _ => {
                let what = format!(
                    "binding table index {bti} is of argument {index}, which is no buffer or image"
                );
                return Err(info.error("", what));
            }
        }
    }
    Ok(())
}
