//! Errors of the demo.

use std::path::PathBuf;

/// Error that stops the demo. Each says which step failed.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// Kernel that was built wrongly.
    #[error("building a kernel: {0}")]
    Build(#[from] gantry_codegen::builder::BuildError),
    /// Kernel that does not compile.
    #[error("compiling: {0}")]
    Compile(#[from] gantry_codegen::CodegenError),
    /// WGSL text of the demo's own that is refused.
    #[error("{0}")]
    Wgsl(#[from] gantry_spirv::wgsl::WgslError),
    /// Given kernel that is wrong, or not supported.
    #[error("{path}: {what}", path = .path.display())]
    Given {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        what: String,
    },
    /// Given kernel that takes arguments which the demo lacks.
    #[error("{kernel} takes {what}")]
    Unsuited {
        /// Name of the kernel.
        kernel: String,
        /// Arguments that the demo lacks.
        what: String,
    },
    /// Error of the device.
    #[error("{0}")]
    Device(#[from] gantry_runtime::Error),
    /// File that cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// Picture that cannot be read.
    #[error("{path}: {what}", path = .path.display())]
    Picture {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        what: String,
    },
    /// Result that differs from the CPU's.
    #[error("{kernel}: {what}")]
    Wrong {
        /// Name of the kernel.
        kernel: &'static str,
        /// First difference.
        what: String,
    },
}
