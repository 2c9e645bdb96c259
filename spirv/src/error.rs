//! Errors of the front end, with their place in the module.

use gantry_codegen::CodegenError;
use std::fmt;

/// Cause of an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Invalid SPIR-V.
    Malformed,
    /// Valid SPIR-V that is not supported.
    Unsupported,
    /// Input over a stated limit.
    Limit,
    /// Bug in this crate.
    Internal,
}

/// One error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Error {
    /// Cause.
    pub fault: Fault,
    /// Description, as part of a sentence.
    pub what: String,
    /// Index of the first word of the instruction.
    pub word: Option<u32>,
    /// Id that the error is about.
    pub id: Option<u32>,
    /// `OpName` of the id.
    pub name: Option<String>,
    /// File and line from `OpLine`.
    pub line: Option<String>,
}

impl Error {
    pub(crate) fn new(fault: Fault, what: impl Into<String>) -> Error {
        Error {
            fault,
            what: what.into(),
            word: None,
            id: None,
            name: None,
            line: None,
        }
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Error {
        Error::new(Fault::Malformed, what)
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Error {
        Error::new(Fault::Unsupported, what)
    }

    pub(crate) fn limit(what: impl Into<String>) -> Error {
        Error::new(Fault::Limit, what)
    }

    pub(crate) fn internal(what: impl Into<String>) -> Error {
        Error::new(Fault::Internal, what)
    }

    /// Sets the word, unless it is already set.
    pub(crate) fn at(mut self, word: u32) -> Error {
        self.word = self.word.or(Some(word));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        if let Some(line) = &self.line {
            write!(f, "{line}")?;
            before = ", ";
        }
        if let Some(word) = self.word {
            write!(f, "{before}word {word}")?;
            before = ", ";
        }
        if let Some(id) = self.id {
            write!(f, "{before}%{id}")?;
            if let Some(name) = &self.name {
                write!(f, " \"{name}\"")?;
            }
            before = ", ";
        }
        if !before.is_empty() {
            f.write_str(": ")?;
        }
        match self.fault {
            Fault::Malformed => write!(f, "{}", self.what),
            Fault::Unsupported => write!(f, "{} is not supported", self.what),
            Fault::Limit => write!(f, "{}", self.what),
            Fault::Internal => write!(f, "internal mistake: {}", self.what),
        }
    }
}

/// All errors of a module, up to the first hundred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Errors(pub Vec<Error>);

/// Maximum number of errors that are reported.
pub(crate) const MAX_ERRORS: usize = 100;

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        if self.0.len() < MAX_ERRORS && !self.0.contains(&error) {
            self.0.push(error);
        }
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Errors {
        Errors(vec![error])
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, e) in self.0.iter().enumerate() {
            let end = if n == 0 { "" } else { "\n" };
            write!(f, "{end}{e}")?;
        }
        Ok(())
    }
}

/// Error of translating or compiling a module.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// Module that is invalid or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// Error of the compiler about the IR.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}
