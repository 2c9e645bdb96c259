//! Thread payload, the initial contents of a thread's registers: thread header, local ids, and
//! cross-thread data (kernel arguments and launch facts, as `.ze_info` lists them).

use crate::error::CodegenError;
use crate::ir::{
    ArgFact, ArgKind, Dim, FuncKind, Function, ImageAccess, ImageShape, InstData, Opcode, Origin,
    Value, ValueDef,
};
use crate::target::{GrfFile, Target};

/// Size in bytes of the entry for empty cross-thread data.
pub(crate) const NO_CROSS_BYTES: u32 = 12;

/// Launch fact in the cross-thread data: three dwords (x, y, z), one dword, or an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum LaunchFact {
    /// Work-items of a group as launched.
    LocalSize,
    /// Number of groups.
    GroupCount,
    /// Number of all work-items.
    GlobalSize,
    /// Offset of the global ids.
    GlobalOffset,
    /// Number of dimensions.
    WorkDim,
    /// Address of the launch's printf buffer.
    PrintfBuffer,
}

impl LaunchFact {
    /// Returns the fact that an opcode reads.
    pub fn of(op: Opcode) -> Option<LaunchFact> {
        match op {
            Opcode::LocalSize => Some(LaunchFact::LocalSize),
            Opcode::GroupCount => Some(LaunchFact::GroupCount),
            Opcode::GlobalSize => Some(LaunchFact::GlobalSize),
            Opcode::GlobalOffset => Some(LaunchFact::GlobalOffset),
            Opcode::WorkDim => Some(LaunchFact::WorkDim),
            Opcode::PrintfBuffer => Some(LaunchFact::PrintfBuffer),
            _ => None,
        }
    }

    /// Returns its entry in `.ze_info`.
    pub const fn entry(self) -> gantry_zebin::LaunchFact {
        use gantry_zebin::LaunchFact as Entry;
        match self {
            LaunchFact::LocalSize => Entry::EnqueuedLocalSize,
            LaunchFact::GroupCount => Entry::GroupCount,
            LaunchFact::GlobalSize => Entry::GlobalSize,
            LaunchFact::GlobalOffset => Entry::GlobalIdOffset,
            LaunchFact::WorkDim => Entry::WorkDimensions,
            LaunchFact::PrintfBuffer => Entry::PrintfBuffer,
        }
    }

    /// Returns its size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            LaunchFact::WorkDim => 4,
            LaunchFact::PrintfBuffer => 8,
            _ => 12,
        }
    }
}

/// Position in the cross-thread data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Bytes from the start of the cross-thread data.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// Payload of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// SIMD width of the dispatch.
    pub simd: u32,
    /// Scratch of a thread in bytes.
    pub scratch_bytes: u32,
    /// True if local ids are in registers.
    pub local_ids: bool,
    /// Kind and position of each kernel argument.
    pub args: Vec<(ArgKind, Slot)>,
    /// Facts about arguments that the kernel reads: number of the argument among its kind, fact,
    /// and position.
    pub arg_facts: Vec<(u8, ArgFact, Slot)>,
    /// Launch facts that the kernel reads.
    pub facts: Vec<(LaunchFact, Slot)>,
    /// Bytes of the cross-thread data, a multiple of the GRF size.
    pub cross_bytes: u32,
    /// Bytes of it that are arguments and facts.
    pub cross_used: u32,
    /// GRF file.
    grf: GrfFile,
    /// Number of GRFs for the local ids of one dimension, or for their placeholder.
    id_grfs: u32,
}

/// Bytes of each packed local id.
const PACKED_ID_BYTES: u32 = 2;
/// Bytes of all three.
pub(crate) const PACKED_IDS: u32 = 3 * PACKED_ID_BYTES;

/// Returns per argument true for surfaces whose buffer offset nothing reads. Such a buffer must
/// start where the surface does: the launcher sees that the kernel does not read the offset (NEO,
/// `KernelHw::setBufferSurfaceState`).
fn unread_surfaces(func: &Function) -> Vec<bool> {
    let mut unread: Vec<bool> = func
        .sig
        .params
        .iter()
        .map(|p| p.kind == ArgKind::Surface)
        .collect();
    let Some(entry) = func.layout.entry().filter(|_| unread.contains(&true)) else {
        return unread;
    };
    let mut read = |v: Value| {
        if let ValueDef::Param(block, n) = func.dfg.def(v)
            && block == entry
            && let Some(unread) = unread.get_mut(usize::from(n))
        {
            *unread = false;
        }
    };
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            func.dfg.data(inst).for_each_arg(&func.dfg, &mut read);
        }
    }
    unread
}

impl Payload {
    /// Lays out the payload of a kernel. `functions` are the kernel and those that it calls.
    ///
    /// # Errors
    /// The function is no kernel, reads local ids without lanes of work-items, lacks something that
    /// an instruction uses, or has arguments that cannot be passed.
    pub fn of<'f>(
        func: &Function,
        functions: impl Iterator<Item = &'f Function>,
        target: &Target,
    ) -> Result<Payload, CodegenError> {
        let grf = target.grf();
        let abi = target.abi();
        let unsupported = |what: &str| CodegenError::Unsupported {
            function: func.name.clone(),
            what: what.to_string(),
            at: None,
            origin: Origin::default(),
        };
        let FuncKind::Kernel {
            simd,
            scratch_bytes,
            ..
        } = func.kind
        else {
            return Err(CodegenError::internal(
                &func.name,
                "payload of a subroutine",
            ));
        };
        let mut local_ids = false;
        let mut used = Vec::new();
        let mut asked = Vec::new();
        for f in functions {
            let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
            for &inst in insts {
                let data = f.dfg.data(inst);
                match *data {
                    InstData::Launch { opcode, .. } => {
                        local_ids |= opcode == Opcode::LocalId;
                        used.extend(LaunchFact::of(opcode));
                    }
                    InstData::Nullary { opcode } => used.extend(LaunchFact::of(opcode)),
                    InstData::ArgQuery { fact, of, .. } => asked.push((of, fact)),
                    _ => {}
                }
            }
        }
        for (_, fact) in &asked {
            if let ArgFact::Sampler(fact) = fact
                && !fact.is_driver()
                && target.features().sampler
            {
                let name = fact.name();
                let what = format!("`sampler_query` {name} where there is a sampler");
                return Err(unsupported(&what));
            }
        }
        for (_, fact) in &asked {
            if let ArgFact::Image(fact) = fact
                && !fact.is_driver()
                && target.features().sampler
            {
                let name = fact.name();
                let what = format!("`image_query` {name} where there is a sampler");
                return Err(unsupported(&what));
            }
        }
        let unread = unread_surfaces(func);
        used.sort();
        used.dedup();
        asked.sort();
        asked.dedup();
        let mut end = 0u32;
        let mut place = |bytes: u32| {
            let align = grf.natural_align(bytes);
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
            Slot { offset, bytes }
        };
        let args = func
            .sig
            .params
            .iter()
            .enumerate()
            .map(|(n, p)| match p.kind {
                // In tables, not in registers.
                ArgKind::Image(..) | ArgKind::Sampler => (p.kind, place(0)),
                ArgKind::Surface if unread.get(n) == Some(&true) => (p.kind, place(0)),
                _ => (p.kind, place(p.ty.bytes())),
            })
            .collect();
        if func.sig.params.iter().any(|p| p.ty.is_pred()) {
            return Err(unsupported("a predicate as a kernel argument"));
        }
        let arg_facts = asked
            .into_iter()
            .map(|(n, f)| (n, f, place(f.scalar().bytes())))
            .collect();
        let facts = used.into_iter().map(|f| (f, place(f.bytes()))).collect();
        let payload = Payload {
            simd,
            scratch_bytes,
            local_ids,
            args,
            facts,
            arg_facts,
            cross_used: end,
            cross_bytes: end.next_multiple_of(grf.bytes).max(grf.bytes),
            grf,
            id_grfs: if local_ids {
                grf.hold(simd * abi.local_id_bytes)
            } else {
                abi.no_id_grfs
            },
        };
        // One GRF has the address that the payload is loaded from.
        let address = u32::from(abi.loads_payload) * grf.bytes;
        let fit = grf.size().saturating_sub(payload.cross_address() + address);
        if payload.cross_bytes > fit {
            let bytes = payload.cross_bytes;
            return Err(unsupported(&format!(
                "{bytes} bytes of arguments and facts of the launch, of which {fit} fit in a thread's registers,"
            )));
        }
        Ok(payload)
    }

    /// Returns the number of GRFs of the payload, from the thread header on.
    pub fn grfs(&self) -> u32 {
        (self.cross_address() + self.cross_bytes) / self.grf.bytes
    }

    /// Returns true if the cross-thread data is empty.
    pub fn cross_is_empty(&self) -> bool {
        self.args.iter().all(|(_, slot)| slot.bytes == 0)
            && self.facts.is_empty()
            && self.arg_facts.is_empty()
    }

    /// Returns shape and access of an image by its number.
    pub fn image(&self, image: u8) -> Option<(ImageShape, ImageAccess)> {
        let kinds = self.args.iter().map(|a| a.0);
        let mut images = kinds.filter_map(|k| match k {
            ArgKind::Image(shape, access) => Some((shape, access)),
            _ => None,
        });
        images.nth(image.into())
    }

    /// Returns the binding table index of the n-th image: after all surfaces.
    pub fn image_index(&self, image: u8) -> u8 {
        let surfaces = self.args.iter().filter(|(k, _)| *k == ArgKind::Surface);
        (surfaces.count() as u8).saturating_add(image)
    }

    /// Returns true if the local ids are those of one work-item: three consecutive words (zebin
    /// spec, `packed_local_ids`).
    pub fn packed_ids(&self) -> bool {
        self.local_ids && self.simd == 1
    }

    /// Returns the byte address in the GRF file of the local ids of a dimension.
    pub fn local_id_address(&self, dim: Dim) -> u32 {
        if self.packed_ids() {
            return self.grf.bytes + PACKED_ID_BYTES * dim.index() as u32;
        }
        self.grf.bytes * (1 + self.id_grfs * dim.index() as u32)
    }

    /// Returns the byte address in the GRF file of the cross-thread data.
    pub fn cross_address(&self) -> u32 {
        let rest = if self.local_ids {
            0
        } else {
            self.id_grfs * self.grf.bytes
        };
        self.grf.bytes + self.per_thread_bytes().max(rest)
    }

    /// Returns the size in bytes of the per-thread data, as in `.ze_info`.
    pub fn per_thread_bytes(&self) -> u32 {
        if self.packed_ids() {
            self.grf.bytes
        } else if self.local_ids {
            3 * self.grf.bytes * self.id_grfs
        } else {
            0
        }
    }
}

/// Checks that a kernel has what its functions use: arguments by number, and scratch.
pub(crate) fn has_resources<'f>(
    kernel: &Function,
    functions: impl Iterator<Item = &'f Function>,
) -> Result<(), CodegenError> {
    for f in functions {
        let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
        for &inst in insts {
            let data = f.dfg.data(inst);
            if let Some(what) = kernel.missing_resource(data) {
                return Err(CodegenError::Unsupported {
                    function: f.name.clone(),
                    what: format!("what %{} does not have ({what})", kernel.name),
                    at: Some(data.opcode().name().to_string()),
                    origin: f.srclocs[inst].into(),
                });
            }
        }
    }
    Ok(())
}
