//! Execution environment of a kernel.

use crate::record::{keyword, record};

record! {
    /// Requirements of the threads of a kernel or a function.
    #[derive(Default)]
    pub struct ExecutionEnv {
        /// Barriers that a group uses.
        maybe barrier_count: u32,
        /// True if threads cannot be preempted in the middle.
        maybe disable_mid_thread_preemption: bool,
        /// GRFs of a thread, where the zebin says.
        maybe grf_count: Option<u32>,
        /// True if buffers may have more than 4 GB.
        maybe has_4gb_buffers: bool,
        /// True if it enqueues kernels.
        maybe has_device_enqueue: bool,
        /// True if it has `dpas` instructions.
        maybe has_dpas: bool,
        /// True if it has a fence between accesses to an image.
        maybe has_fence_for_image_access: bool,
        /// True if it has atomics on global memory.
        maybe has_global_atomics: bool,
        /// True if it has a scratch buffer for each use of it.
        maybe has_multi_scratch_spaces: bool,
        /// True if it never writes through a 64-bit address.
        maybe has_no_stateless_write: bool,
        /// True if it calls functions that keep their variables on a stack, in scratch and private
        /// memory.
        maybe has_stack_calls: bool,
        /// True if it prints.
        maybe has_printf_calls: bool,
        /// True if it uses the buffer of assertions.
        maybe require_assert_buffer: bool,
        /// True if it uses the buffer that groups share.
        maybe require_sync_buffer: bool,
        /// True if it calls functions by address.
        maybe has_indirect_calls: bool,
        /// True if fused EUs must run apart.
        maybe require_disable_eufusion: bool,
        /// Accesses through addresses that are no arguments.
        maybe indirect_stateless_count: u32,
        /// Bytes of cross-thread data in registers when a thread starts (Xe-HP and later). The rest
        /// is in memory.
        maybe inline_data_payload_size: u32,
        /// Group size that the source asks for: the only one allowed.
        maybe required_work_group_size: Option<[u32; 3]>,
        /// Byte offset from the kernel's start where threads begin that have their local ids in
        /// registers (Xe-HP and later).
        maybe offset_to_skip_per_thread_data_load: u32,
        /// Byte offset behind the setting of the fixed function id.
        maybe offset_to_skip_set_ffid_gp: u32,
        /// Sub-group size that the source asks for.
        maybe required_sub_group_size: u32,
        /// Channels of a thread: 1, 8, 16 or 32.
        need simd_size: u32,
        /// SLM that the code itself uses, in bytes. Local pointer arguments come on top.
        maybe slm_size: u32,
        /// Allocation of local pointers: 1 if they count from the end of the code's own SLM instead
        /// of from 0.
        maybe slm_alloc_mode: u32,
        /// Bytes of private memory of a thread.
        maybe private_size: u32,
        /// Bytes of spilled registers of a thread.
        maybe spill_size: u32,
        /// True if sub-groups make progress independently of each other.
        maybe subgroup_independent_forward_progress: bool,
        /// Order in which threads of an EU issue.
        maybe thread_scheduling_mode: Option<ThreadScheduling>,
        /// Dimensions in the order in which ids count.
        maybe work_group_walk_order_dimensions: Option<[u32; 3]>,
        /// Threads of an EU, where registers alone do not say.
        maybe eu_thread_count: u32,
        /// True if it samples.
        maybe has_sample: bool,
        /// True if it traces rays.
        maybe has_rtcalls: bool,
        /// Size of a quantum of groups.
        maybe quantum_size: u32,
        /// Order in which a quantum is walked.
        maybe quantum_walk_order: u32,
        /// Dimension along which quanta are cut.
        maybe quantum_partition_dimension: u32,
        /// True if hardware generates local ids.
        maybe generate_local_id: bool,
        /// True if it has stores with cache controls of their own.
        maybe has_lsc_stores_with_non_default_l1_cache_controls: bool,
        /// True if it needs the buffer of implicit arguments.
        maybe require_iab: bool,
        /// True if it reads images through bindless handles.
        maybe has_bindless_image_read: bool,
    }
}

impl ExecutionEnv {
    /// Returns true if local pointers count from the end of the code's own SLM instead of from 0.
    pub const fn slm_runtime_adjusted(&self) -> bool {
        self.slm_alloc_mode == 1
    }
}

keyword! {
    /// Order in which threads of an EU issue.
    pub enum ThreadScheduling {
        /// Oldest first.
        AgeBased = "age_based",
        /// In turn.
        RoundRobin = "round_robin",
        /// In turn, and the next one when a thread stalls.
        RoundRobinStall = "round_robin_stall",
    }
}
