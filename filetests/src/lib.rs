//! Filetest runner and its corpus.
//!
//! A filetest is a text file: header lines (`test COMMAND [OPTIONS]`, `target NAME`), then the text
//! to test, with the expectations beside it as comments. `docs/filetests.md` describes every
//! command; [`commands`] lists them.
//!
//! [`run_path`] runs a file or a directory tree; `cargo test -p gantry-filetests` and `gantry test`
//! both call it.
//!
//! ```
//! assert!(gantry_filetests::commands().any(|c| c.name() == "run"));
//! ```
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `options` | options of a test run |
//! | `file` | parser of filetests: header, directives, body |
//! | `source` | languages, and files to modules |
//! | `expect` | sections that can be blessed |
//! | `check` | legality of compiled code |
//! | `data` | data of launches, as text |
//! | `launch` | launches that `run` directives describe |
//! | `runner` | simulator and interpreter on a launch |
//! | `differential` | random kernels by all runners |
//! | `coverage` | opcodes, rules and repairs that kernels used |
//! | `fuzz` | bodies of the fuzzers |
//! | `pressure` | kernels of high register pressure |
//! | `command` | test commands |
//! | `corpus` | runs of files and directory trees |

mod check;
pub mod command;
mod corpus;
#[cfg(feature = "fuzzing")]
pub mod coverage;
pub mod data;
#[cfg(feature = "fuzzing")]
pub mod differential;
mod expect;
pub mod file;
pub mod fuzz;
pub mod launch;
mod options;
pub mod pressure;
pub mod runner;
pub mod source;

pub use command::{Command, commands};
pub use corpus::{EXTENSIONS, Failure, Summary, files, run_file, run_path, run_path_with};
pub use expect::Outcome;
pub use file::TestFile;
pub use options::Options;

/// Examples of the walkthroughs, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-an-ir-op.md")]
#[doc = include_str!("../../docs/add-a-pass.md")]
struct Walkthroughs;
