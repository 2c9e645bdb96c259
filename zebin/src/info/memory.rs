//! Binding table and memory of threads.

use crate::record::{keyword, record};

record! {
    /// Entry of the binding table.
    pub struct BindingTableIndex {
        /// Index in the table.
        need bti_value: u32,
        /// Index of the argument.
        need arg_index: u32,
    }
}

record! {
    /// Memory of each thread.
    pub struct MemoryBuffer {
        /// Kind of memory.
        need ty("type"): MemoryType,
        /// Content.
        need usage: MemoryUsage,
        /// Size in bytes of a thread, or of a channel if `is_simt_thread`.
        need size: u32,
        /// Number of the scratch buffer.
        maybe slot: u32,
        /// True if `size` counts for each channel.
        maybe is_simt_thread: bool,
    }
}

impl MemoryBuffer {
    /// Returns the bytes of a thread of `simd_size` channels.
    pub const fn thread_bytes(&self, simd_size: u32) -> u32 {
        if self.is_simt_thread {
            self.size.saturating_mul(simd_size)
        } else {
            self.size
        }
    }
}

keyword! {
    /// Kind of a thread's memory.
    pub enum MemoryType {
        /// Global memory, addressed through `private_base_stateless`.
        Global = "global",
        /// Scratch.
        Scratch = "scratch",
        /// SLM.
        Slm = "slm",
    }
}

keyword! {
    /// Content of a thread's memory.
    pub enum MemoryUsage {
        /// Private variables.
        Private = "private_space",
        /// Spilled registers.
        Spill = "spill_fill_space",
        /// Both.
        Single = "single_space",
    }
}
