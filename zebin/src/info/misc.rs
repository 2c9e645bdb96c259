//! Parts of `.ze_info` that no launch needs: names, attributes, experiments.

use crate::info::env::ExecutionEnv;
use crate::record::{keyword, record};

record! {
    /// Kernel of `kernels_misc_info`.
    pub struct KernelMisc {
        /// Name of the kernel.
        plain name: String,
        /// Arguments in the source.
        maybe args_info: Vec<ArgDescription>,
    }
}

record! {
    /// Argument in the source, as `clGetKernelArgInfo` tells.
    #[derive(Default)]
    pub struct ArgDescription {
        /// Index of the argument.
        need index: u32,
        /// Name of the parameter.
        maybe name: String,
        /// Address space: `__global`, `__constant`, `__local` or `__private`.
        maybe address_qualifier: String,
        /// Access to an image: `readonly`, `writeonly`, `readwrite` or `NONE`.
        maybe access_qualifier: String,
        /// Type of the parameter, then `;` and its size in bytes.
        quoted type_name: String,
        /// Qualifiers of the type, or `NONE`.
        maybe type_qualifiers: String,
    }
}

impl ArgDescription {
    /// Address space of global memory.
    pub const GLOBAL: &str = "__global";
    /// Address space of constant memory.
    pub const CONSTANT: &str = "__constant";
    /// Address space of SLM.
    pub const LOCAL: &str = "__local";
    /// Address space of values.
    pub const PRIVATE: &str = "__private";
    /// Qualifier that is not there.
    pub const NONE: &str = "NONE";
    /// Type of a sampler.
    pub const SAMPLER: &str = "sampler_t";

    /// Returns the type of the parameter without its size.
    pub fn type_alone(&self) -> &str {
        self.type_name
            .split_once(';')
            .map_or(&self.type_name, |(n, _)| n)
    }

    /// Returns the size in bytes that stands behind the type.
    pub fn type_bytes(&self) -> Option<u32> {
        let (_, bytes) = self.type_name.rsplit_once(';')?;
        bytes.trim().parse().ok()
    }
}

record! {
    /// Function that is called by address.
    pub struct FunctionInfo {
        /// Name.
        plain name: String,
        /// Requirements of the threads that call it.
        need env("execution_env"): ExecutionEnv,
    }
}

record! {
    /// Variable that the host may access by name.
    pub struct HostAccess {
        /// Name of its symbol.
        plain device_name: String,
        /// Name in the source.
        plain host_name: String,
    }
}

record! {
    /// Attributes of a kernel in the source.
    #[derive(Default)]
    pub struct UserAttributes {
        /// Sub-group size that must be.
        maybe intel_reqd_sub_group_size: u32,
        /// Order of ids.
        maybe intel_reqd_workgroup_walk_order: Option<[u32; 3]>,
        /// Reason why the kernel cannot be launched.
        maybe invalid_kernel: String,
        /// Group size that must be.
        maybe reqd_work_group_size: Option<[u32; 3]>,
        /// Type that the kernel computes with.
        maybe vec_type_hint: String,
        /// Group size that is likely.
        maybe work_group_size_hint: Option<[u32; 3]>,
        /// Groups that hardware dispatches at a time.
        maybe intel_reqd_thread_group_dispatch_size: u32,
    }
}

record! {
    /// Experiments: 1 true, 0 false, -1 not known.
    #[derive(Default)]
    pub struct Experimental {
        /// Loads through addresses that no argument gives.
        maybe has_non_kernel_arg_load: Option<i32>,
        /// Stores through such addresses.
        maybe has_non_kernel_arg_store: Option<i32>,
        /// Atomics through such addresses.
        maybe has_non_kernel_arg_atomic: Option<i32>,
    }
}

record! {
    /// Surface of the debugger's routine; -1 where there is none.
    #[derive(Default)]
    pub struct DebugEnv {
        /// Binding table index.
        maybe sip_surface_bti: Option<i32>,
        /// Offset of the surface state.
        maybe sip_surface_offset: Option<i32>,
    }
}

keyword! {
    /// Policy of the L1 cache for stores.
    pub enum CachePolicy {
        /// Write bypass.
        WriteBypass = "wbp",
        /// Uncached.
        Uncached = "uc",
        /// Write back.
        WriteBack = "wb",
        /// Write through.
        WriteThrough = "wt",
        /// Write streaming.
        WriteStreaming = "ws",
    }
}
