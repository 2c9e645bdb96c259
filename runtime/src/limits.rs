//! Limits on what one module and one launch may ask of the host.
//!
//! Inputs come from anywhere, so everything that their bytes ask for is bounded here. Below the
//! limits, time and memory grow with the input. Beyond one, an error says what was asked for, how
//! much, and the limit.

pub use gantry_zebin::Excess;
pub(crate) use gantry_zebin::{Budget, within};

/// Limits of a device. The defaults are far above what compilers write. A host that needs others
/// sets them in [`SimOptions::limits`](crate::SimOptions::limits).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Kernels of a module. 65,536.
    pub kernels: usize,
    /// Values in the `.ze_info` of a module: each scalar, list and map. 4 million.
    pub info_values: usize,
    /// Arguments of all kernels of a module. A kernel has as many as its highest index says. 1
    /// million.
    pub arguments: usize,
    /// Symbols and relocations in all tables of a module. 4 million.
    pub symbols: usize,
    /// Bytes of all names of sections, symbols and source files of a module. 64 MiB.
    pub name_bytes: usize,
    /// Bytes of code of all kernels and functions of a module. Sections that share bytes of the
    /// file count separately. 256 MiB.
    pub code_bytes: usize,
    /// Bytes of constants and globals of a module, zero-initialized ones included. 1 GiB.
    pub data_bytes: usize,
    /// Bytes of a launched kernel's own code and the module's functions. Decoded code takes some 30
    /// times as much. 16 MiB.
    pub kernel_code_bytes: usize,
    /// Bytes of private memory of a thread. 64 MiB.
    pub private_bytes: usize,
    /// Bytes of a launch for the threads that run at once (scratch, private memory, SLM) and for
    /// its own buffers. Fewer groups run at once where it does not suffice for a group on every
    /// core. 2 GiB.
    pub launch_bytes: usize,
    /// Bytes of text that a launch prints. Reading its formats and strings may take as many again.
    /// 16 MiB.
    pub printf_bytes: usize,
    /// Width and precision of a `printf` conversion, in characters. 4,096.
    pub printf_width: u16,
}

impl Default for Limits {
    fn default() -> Limits {
        let zebin = gantry_zebin::Limits::default();
        Limits {
            kernels: zebin.kernels,
            info_values: zebin.info_values,
            arguments: 1 << 20,
            symbols: zebin.symbols,
            name_bytes: zebin.name_bytes,
            code_bytes: 256 << 20,
            data_bytes: 1 << 30,
            kernel_code_bytes: 16 << 20,
            private_bytes: 64 << 20,
            launch_bytes: 2 << 30,
            printf_bytes: 16 << 20,
            printf_width: 4096,
        }
    }
}

impl Limits {
    /// Returns the limits on reading a zebin's container and description.
    pub(crate) fn zebin(&self) -> gantry_zebin::Limits {
        gantry_zebin::Limits {
            kernels: self.kernels,
            info_values: self.info_values,
            symbols: self.symbols,
            name_bytes: self.name_bytes,
        }
    }
}
