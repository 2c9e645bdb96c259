//! Errors.

use crate::limits::Excess;

/// Error in a zebin, as a sentence that says where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a usable zebin: {0}")]
pub struct ZebinError(String);

impl ZebinError {
    /// Creates an error from a sentence.
    pub fn new(message: impl Into<String>) -> Self {
        ZebinError(message.into())
    }

    /// Returns the sentence, without what it is about.
    pub fn reason(&self) -> &str {
        &self.0
    }

    /// Creates an error of a part, from the error of a library that read it.
    pub fn of(part: &str, e: impl std::fmt::Display) -> Self {
        let e = e.to_string();
        let e = e.trim_end_matches('.');
        ZebinError(format!("{part}: {e}"))
    }
}

impl From<Excess> for ZebinError {
    fn from(e: Excess) -> Self {
        ZebinError::new(e.to_string())
    }
}

/// Size that an ELF file cannot represent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WriteError(pub(crate) String);
