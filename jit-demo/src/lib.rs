//! The demo's parts: kernels built with [`FunctionBuilder`](gantry_codegen::builder::FunctionBuilder) and one from WGSL, what they should compute, and
//! pictures.

pub mod demo;
pub mod given;
pub mod kernels;
pub mod picture;
pub mod report;

use std::path::PathBuf;

/// Why the demo stops; each says what it was doing.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A kernel was built wrongly.
    #[error("building a kernel: {0}")]
    Build(#[from] gantry_codegen::builder::BuildError),
    /// A kernel does not compile.
    #[error("compiling: {0}")]
    Compile(#[from] gantry_codegen::CodegenError),
    /// A text of WGSL of the demo's own is refused.
    #[error("{0}")]
    Wgsl(#[from] gantry_spirv::wgsl::WgslError),
    /// A kernel that was given is wrong, or not supported.
    #[error("{path}: {what}", path = .path.display())]
    Given {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A kernel that was given takes what the demo has not.
    #[error("{kernel} takes {what}")]
    Unsuited {
        /// The kernel.
        kernel: String,
        /// What.
        what: String,
    },
    /// The device refuses or faults.
    #[error("{0}")]
    Device(#[from] gantry_runtime::Error),
    /// A file cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A picture cannot be read.
    #[error("{path}: {what}", path = .path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The device computed something else than the CPU.
    #[error("{kernel}: {what}")]
    Wrong {
        /// The kernel.
        kernel: &'static str,
        /// Where they differ.
        what: String,
    },
}
