//! Options of a test run.

use gantry_codegen::{OptLevel, Target};

/// Options of a test run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True to write the actual output to the files where a blessable expectation differs, instead
    /// of failing.
    pub bless: bool,
    /// Targets of `test run`, in place of every product.
    pub targets: Option<Vec<Target>>,
    /// Only optimization level of `test run`.
    pub opt: Option<OptLevel>,
    /// Substring of the paths of files that are run; all without it.
    pub filter: Option<String>,
}

impl Options {
    /// Reads the environment: blesses if `GANTRY_BLESS` is `1`.
    pub fn from_env() -> Options {
        Options {
            bless: std::env::var_os("GANTRY_BLESS").is_some_and(|v| v == "1"),
            ..Options::default()
        }
    }
}
