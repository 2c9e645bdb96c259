//! Reader of `.ze_info`.

use super::ZebinError;
use super::images;
use super::info::{
    AddrMode, AddrSpace, ArgInfo, ArgKind, ArgNames, ArgRole, ExecutionEnv, ImageFact, KernelInfo,
    MemoryBuffer, PayloadArg, PayloadKind, PerThreadArg, SamplerFact,
};
use super::yaml::{self, Node};
use crate::limits::{Budget, Limits, within};
use gantry_isa_gen::Platform;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct ZeInfo {
    pub(super) version: Option<String>,
    pub(super) kernels: Vec<KernelInfo>,
    /// Index of each kernel by its name.
    pub(super) index: HashMap<String, usize>,
}

/// Name of the kernel whose code is the module's functions that are called by address. Nobody
/// launches it.
const EXTERNAL_FUNCTIONS: &str = "Intel_Symbol_Table_Void_Program";

/// Highest binding table index of a surface. Higher ones mean memory that is no surface.
const MAX_BTI: u32 = 252;

/// Limit on cross-thread data, in bytes: a whole GRF file, which no hardware could load.
const MAX_PAYLOAD: u32 = 4096;

pub(super) fn parse(text: &str, platform: Platform, limits: &Limits) -> Result<ZeInfo, ZebinError> {
    let doc = yaml::parse(text, ".ze_info", limits)?;
    let doc = doc.ok_or_else(|| ZebinError::new(".ze_info is empty"))?;
    let root = Node::root(&doc, ".ze_info");
    let version = root.get("version")?.map(|v| v.string()).transpose()?;
    let nodes = root.need("kernels")?.list()?;
    within("kernels", nodes.len(), limits.kernels)?;
    let mut arguments = Budget::new("arguments of kernels", limits.arguments);
    let mut kernels: Vec<KernelInfo> = Vec::new();
    let mut index = HashMap::new();
    for node in nodes {
        let name = node.need("name")?.string()?;
        if name == EXTERNAL_FUNCTIONS {
            continue;
        }
        match index.entry(name.clone()) {
            Entry::Occupied(_) => {
                return Err(node.error(&format!("a second kernel named `{name}`")));
            }
            Entry::Vacant(v) => v.insert(kernels.len()),
        };
        let node = node.named(format!(".ze_info: kernel `{name}`"));
        kernels.push(kernel(name, &node, platform, &mut arguments)?);
    }
    for node in root.list_of("kernels_misc_info")? {
        let name = node.need("name")?.string()?;
        if let Some(k) = index.get(&name).and_then(|i| kernels.get_mut(*i)) {
            misc_args(k, &node, &mut arguments)?;
        }
    }
    for k in &kernels {
        check_args(k)?;
    }
    Ok(ZeInfo {
        version,
        kernels,
        index,
    })
}

fn triple(n: &Node<'_>) -> Result<[u32; 3], ZebinError> {
    let l = n.list()?;
    match l.as_slice() {
        [x, y, z] => Ok([x.u32()?, y.u32()?, z.u32()?]),
        _ => Err(n.error("expected three numbers")),
    }
}

fn kernel(
    name: String,
    node: &Node<'_>,
    platform: Platform,
    arguments: &mut Budget,
) -> Result<KernelInfo, ZebinError> {
    let env = node.need("execution_env")?;
    let simd_size = env.need("simd_size")?.u32()?;
    if !matches!(simd_size, 1 | 8 | 16 | 32) {
        return Err(env.error(&format!("simd_size {simd_size} is not 1, 8, 16 or 32")));
    }
    let features = platform.features();
    let modes = [features.grf_count, features.grf_count_large];
    let grf_count = env.u32_or("grf_count", features.grf_count)?;
    if !modes.contains(&grf_count) {
        return Err(env.error(&format!(
            "grf_count {grf_count}: {platform} has {} or {}",
            features.grf_count, features.grf_count_large
        )));
    }
    let env = ExecutionEnv {
        simd_size,
        grf_count,
        barrier_count: env.u32_or("barrier_count", 0)?,
        slm_size: env.u32_or("slm_size", 0)?,
        slm_runtime_adjusted: env.u32_or("slm_alloc_mode", 0)? == 1,
        inline_data_payload_size: env.u32_or("inline_data_payload_size", 0)?,
        offset_to_skip_per_thread_data_load: env
            .u32_or("offset_to_skip_per_thread_data_load", 0)?,
        has_stack_calls: env.flag("has_stack_calls")?,
        required_work_group_size: env
            .get("required_work_group_size")?
            .map(|n| triple(&n))
            .transpose()?
            .filter(|s| *s != [0, 0, 0]),
    };
    let mut payload = Vec::new();
    let mut entries = Vec::new();
    for n in node.list_of("payload_arguments")? {
        let arg = payload_arg(&n)?;
        entries.push((n, arg.kind.clone()));
        payload.push(arg);
    }
    let samplers = images::samplers(node, &entries)?;
    let mut per_thread = Vec::new();
    for n in node.list_of("per_thread_payload_arguments")? {
        let ty = n.need("arg_type")?.string()?;
        let offset = n.u32_or("offset", 0)?;
        let size = n.u32_or("size", 0)?;
        per_thread.push(match ty.as_str() {
            "local_id" => {
                // A row is a word a channel in whole GRFs, for each of x, y and z. Drivers before
                // Xe-HP know only all three.
                let row = (simd_size * 2).next_multiple_of(platform.features().grf_bytes);
                let fits = if platform >= Platform::XeHp {
                    [row, 2 * row, 3 * row].contains(&size)
                } else {
                    size == 3 * row
                };
                if !fits || offset != 0 {
                    return Err(n.error(&format!(
                        "local_id must be {} bytes at 0 in SIMD{simd_size}, not {size} at {offset}",
                        3 * row
                    )));
                }
                PerThreadArg::LocalId { offset, size }
            }
            "packed_local_ids" => {
                if offset.checked_add(size).is_none_or(|end| end > MAX_PAYLOAD) || size > 12 {
                    return Err(n.error(&format!(
                        "packed_local_ids cannot be {size} bytes at {offset}"
                    )));
                }
                PerThreadArg::PackedLocalIds { offset, size }
            }
            other => return Err(n.error(&format!("unknown arg_type `{other}`"))),
        });
    }
    let mut binding_table = Vec::new();
    for n in node.list_of("binding_table_indices")? {
        let bti = n.need("bti_value")?.u32()?;
        if bti > MAX_BTI {
            return Err(n.error(&format!("bti_value {bti} is above {MAX_BTI}")));
        }
        binding_table.push((bti, n.need("arg_index")?.u32()?));
    }
    let mut memory = Vec::new();
    for n in node.list_of("per_thread_memory_buffers")? {
        let ty = n.need("type")?.string()?;
        let usage = n.need("usage")?.string()?;
        if !["private_space", "spill_fill_space", "single_space"].contains(&usage.as_str()) {
            return Err(n.error(&format!("unknown usage `{usage}`")));
        }
        memory.push(MemoryBuffer {
            global: match ty.as_str() {
                "global" => true,
                "scratch" => false,
                _ => return Err(n.error(&format!("unknown type `{ty}`"))),
            },
            size: n.need("size")?.u32()?,
            per_channel: n.flag("is_simt_thread")?,
        });
    }
    let mut args = args_of_payload(node, &payload)?;
    arguments.take(args.len())?;
    for (n, kind) in &entries {
        if let PayloadKind::Pointer {
            index,
            space: AddrSpace::Image,
            ..
        } = kind
            && let Some(arg) = args.get_mut(*index as usize)
        {
            arg.kind = ArgKind::Image(images::image_type(n)?);
        }
    }
    Ok(KernelInfo {
        name,
        env,
        payload,
        per_thread,
        binding_table,
        samplers,
        memory,
        args,
    })
}

fn payload_arg(n: &Node<'_>) -> Result<PayloadArg, ZebinError> {
    let ty = n.need("arg_type")?.string()?;
    let offset = n.u32_or("offset", 0)?;
    let size = n.u32_or("size", 0)?;
    if offset.checked_add(size).is_none_or(|end| end > MAX_PAYLOAD) {
        return Err(n.error(&format!(
            "offset {offset} and size {size} do not fit the register file"
        )));
    }
    let index = || n.need("arg_index").and_then(|v| v.u32());
    let exactly = |want: &[u32]| {
        if want.contains(&size) {
            Ok(())
        } else {
            Err(n.error(&format!("`{ty}` cannot have size {size}")))
        }
    };
    let kind = match ty.as_str() {
        "arg_bypointer" => {
            exactly(&[0, 4, 8])?;
            pointer(n, index()?)?
        }
        "arg_byvalue" => PayloadKind::Value {
            index: index()?,
            source_offset: n.u32_or("source_offset", 0)?,
        },
        "buffer_address" => {
            exactly(&[4, 8])?;
            PayloadKind::BufferAddress { index: index()? }
        }
        "buffer_offset" => {
            exactly(&[4])?;
            PayloadKind::BufferOffset { index: index()? }
        }
        "work_dimensions" => {
            exactly(&[4])?;
            PayloadKind::WorkDimensions
        }
        "private_base_stateless" => {
            exactly(&[8])?;
            PayloadKind::PrivateBase
        }
        "printf_buffer" => {
            exactly(&[4, 8])?;
            PayloadKind::PrintfBuffer
        }
        "implicit_arg_buffer" => {
            exactly(&[8])?;
            PayloadKind::ImplicitArgs
        }
        "assert_buffer" => {
            exactly(&[8])?;
            PayloadKind::AssertBuffer
        }
        "sync_buffer" => {
            exactly(&[8])?;
            PayloadKind::SyncBuffer
        }
        "buffer_size" => {
            exactly(&[4, 8])?;
            PayloadKind::BufferSize { index: index()? }
        }
        "const_base" | "data_const_buffer" | "global_base" | "data_global_buffer" => {
            PayloadKind::DataBase {
                constant: ty.contains("const"),
                mode: match n.get("addrmode")? {
                    Some(_) => addr_mode(n)?,
                    None => AddrMode::Stateless,
                },
                bti: bti(n)?,
            }
        }
        "local_size"
        | "enqueued_local_size"
        | "group_count"
        | "global_size"
        | "global_id_offset" => {
            // Fewer bytes are fewer dimensions.
            exactly(&[4, 8, 12])?;
            match ty.as_str() {
                "local_size" => PayloadKind::LocalSize,
                "enqueued_local_size" => PayloadKind::EnqueuedLocalSize,
                "group_count" => PayloadKind::GroupCount,
                "global_size" => PayloadKind::GlobalSize,
                _ => PayloadKind::GlobalIdOffset,
            }
        }
        "inline_sampler" => PayloadKind::InlineSampler {
            sampler: n.need("sampler_index")?.u32()?,
        },
        name => match (ImageFact::from_name(name), SamplerFact::from_name(name)) {
            (Some(fact), _) => {
                exactly(if fact == ImageFact::FlatBase {
                    &[8]
                } else {
                    &[4]
                })?;
                PayloadKind::Image {
                    index: index()?,
                    fact,
                }
            }
            (None, Some(fact)) => {
                exactly(&[4])?;
                PayloadKind::Sampler {
                    index: index()?,
                    fact,
                }
            }
            _ if OTHER_KINDS.contains(&name) => PayloadKind::Other(ty),
            _ => return Err(n.error(&format!("unknown arg_type `{ty}`"))),
        },
    };
    Ok(PayloadArg { kind, offset, size })
}

/// Kinds that the driver knows and launches here do not provide. A kernel with one loads, and its
/// launch names it.
const OTHER_KINDS: [&str; 17] = [
    "device_enqueue_data_parameter_buffer",
    "device_enqueue_default_device_queue",
    "device_enqueue_event_pool",
    "device_enqueue_max_workgroup_size",
    "device_enqueue_parent_event",
    "device_enqueue_prefered_workgroup_multiple",
    "indirect_data_pointer",
    "preferred_workgroup_multiple",
    "region_group_barrier_buffer",
    "region_group_dimension",
    "region_group_size",
    "region_group_wg_count",
    "regular_inline_vme_data",
    "rt_global_buffer",
    "scratch_pointer",
    "vme_mb_block_type",
    "vme_subpixel_mode",
];

/// Returns the binding table index of data that has one.
fn bti(n: &Node<'_>) -> Result<Option<u32>, ZebinError> {
    match n.get("bti_value")?.map(|v| v.string()).transpose()? {
        None => Ok(None),
        Some(v) if v.starts_with('-') => Ok(None),
        Some(_) => match n.need("bti_value")?.u32()? {
            bti if bti > MAX_BTI => Err(n.error(&format!("bti_value {bti} is above {MAX_BTI}"))),
            bti => Ok(Some(bti)),
        },
    }
}

fn addr_mode(n: &Node<'_>) -> Result<AddrMode, ZebinError> {
    let mode = n.need("addrmode")?.string()?;
    Ok(match mode.as_str() {
        "stateful" => AddrMode::Stateful,
        "stateless" => AddrMode::Stateless,
        "bindless" => AddrMode::Bindless,
        "slm" => AddrMode::Slm,
        _ => return Err(n.error(&format!("unknown addrmode `{mode}`"))),
    })
}

/// Alignment of SLM pointers that do not give one (compute-runtime, `zeinfo.h`), and the greatest
/// that its byte holds.
const SLM_ALIGNMENT: u32 = 16;
const MAX_SLM_ALIGNMENT: u32 = 128;

fn pointer(n: &Node<'_>, index: u32) -> Result<PayloadKind, ZebinError> {
    let space = n.need("addrspace")?.string()?;
    if let Some(a) = n.get("access_type")? {
        let access = a.string()?;
        if !["readonly", "writeonly", "readwrite"].contains(&access.as_str()) {
            return Err(n.error(&format!("unknown access_type `{access}`")));
        }
    }
    Ok(PayloadKind::Pointer {
        index,
        mode: addr_mode(n)?,
        space: match space.as_str() {
            "global" => AddrSpace::Global,
            "constant" => AddrSpace::Constant,
            "local" => AddrSpace::Local,
            "image" => AddrSpace::Image,
            "sampler" => AddrSpace::Sampler,
            _ => return Err(n.error(&format!("unknown addrspace `{space}`"))),
        },
        slm_alignment: match n.u32_or("slm_alignment", SLM_ALIGNMENT)? {
            a if a.is_power_of_two() && a <= MAX_SLM_ALIGNMENT => a,
            a => {
                return Err(n.error(&format!(
                    "slm_alignment {a} is no power of two from 1 to {MAX_SLM_ALIGNMENT}"
                )));
            }
        },
    })
}

/// Limit on argument indices, far above those of any kernel. It bounds what a damaged index can ask
/// for.
const MAX_ARGS: u32 = 1024;

/// Derives the arguments that a caller gives from the payload.
fn args_of_payload(node: &Node<'_>, payload: &[PayloadArg]) -> Result<Vec<ArgInfo>, ZebinError> {
    let mut kinds: Vec<Option<ArgKind>> = Vec::new();
    for p in payload {
        let (index, kind) = match p.kind {
            PayloadKind::Pointer { index, space, .. } => (
                index,
                match space {
                    AddrSpace::Global | AddrSpace::Constant => ArgKind::Buffer,
                    AddrSpace::Local => ArgKind::Local,
                    AddrSpace::Image => ArgKind::Image(None),
                    AddrSpace::Sampler => ArgKind::Sampler,
                },
            ),
            PayloadKind::Value {
                index,
                source_offset,
            } => (
                index,
                ArgKind::Value {
                    size: source_offset.saturating_add(p.size),
                },
            ),
            PayloadKind::BufferAddress { index }
            | PayloadKind::BufferOffset { index }
            | PayloadKind::BufferSize { index } => (index, ArgKind::Buffer),
            PayloadKind::Image { index, .. } => (index, ArgKind::Image(None)),
            PayloadKind::Sampler { index, .. } => (index, ArgKind::Sampler),
            _ => continue,
        };
        let slot = slot(node, &mut kinds, index)?;
        *slot = match (*slot, kind) {
            (None, k) => Some(k),
            (Some(ArgKind::Value { size: a }), ArgKind::Value { size: b }) => {
                Some(ArgKind::Value { size: a.max(b) })
            }
            (Some(a), b) if a == b => Some(a),
            _ => {
                return Err(node.error(&format!("argument {index} is described in two ways")));
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

fn slot<'v, T>(
    node: &Node<'_>,
    list: &'v mut Vec<Option<T>>,
    index: u32,
) -> Result<&'v mut Option<T>, ZebinError> {
    if index >= MAX_ARGS {
        return Err(node.error(&format!("argument index {index} is above {MAX_ARGS}")));
    }
    let index = index as usize;
    while list.len() <= index {
        list.push(None);
    }
    list.get_mut(index)
        .ok_or_else(|| node.error("argument index"))
}

/// Reads names and, for arguments that the code does not use, kinds.
fn misc_args(
    k: &mut KernelInfo,
    node: &Node<'_>,
    arguments: &mut Budget,
) -> Result<(), ZebinError> {
    for a in node.list_of("args_info")? {
        let index = a.need("index")?.u32()?;
        if index >= MAX_ARGS {
            return Err(a.error(&format!("argument index {index} is above {MAX_ARGS}")));
        }
        let names = ArgNames {
            name: a.get("name")?.map_or(Ok(String::new()), |n| n.string())?,
            ty: a
                .get("type_name")?
                .map_or(Ok(String::new()), |n| n.string())?,
        };
        let space = a
            .get("address_qualifier")?
            .map_or(Ok(String::new()), |n| n.string())?;
        arguments.take((index as usize + 1).saturating_sub(k.args.len()))?;
        while k.args.len() <= index as usize {
            k.args.push(ArgInfo {
                kind: ArgKind::Value { size: 0 },
                names: None,
                role: ArgRole::Argument,
            });
        }
        let Some(arg) = k.args.get_mut(index as usize) else {
            continue;
        };
        if let (ArgKind::Image(None), Some(kind @ ArgKind::Image(_))) =
            (arg.kind, images::kind_of_type(&names.ty))
        {
            arg.kind = kind;
        }
        if let ArgKind::Value { size: payload } = arg.kind {
            // `uchar;1` is the type and its size in bytes. The payload may hold more (small
            // integers) or less (parts of a structure that the code does not use).
            let declared = names
                .ty
                .rsplit_once(';')
                .and_then(|(_, n)| n.trim().parse().ok())
                .unwrap_or(0);
            let unused = images::kind_of_type(&names.ty).filter(|_| payload == 0);
            arg.kind = match space.as_str() {
                // An image or a sampler that the code does not use.
                _ if unused.is_some() => unused.unwrap_or(arg.kind),
                "__global" | "__constant" if payload == 0 => ArgKind::Buffer,
                "__local" if payload == 0 => ArgKind::Local,
                _ if declared == 0 => arg.kind,
                _ => ArgKind::Value { size: declared },
            };
        }
        arg.names = Some(names);
    }
    Ok(())
}

/// Checks that every binding table entry is of a pointer argument.
fn check_args(k: &KernelInfo) -> Result<(), ZebinError> {
    for (bti, index) in &k.binding_table {
        match k.args.get(*index as usize).map(|a| a.kind) {
            Some(ArgKind::Buffer | ArgKind::Image(_) | ArgKind::Sampler) => {}
            _ => {
                return Err(ZebinError::new(format!(
                    ".ze_info: kernel `{}`: binding table index {bti} is of argument {index}, which is no buffer or image",
                    k.name
                )));
            }
        }
    }
    Ok(())
}
