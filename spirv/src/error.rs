//! What is wrong with a module, and where.

use gantry_codegen::CodegenError;
use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// It is no valid SPIR-V.
    Malformed,
    /// It is valid, and not supported.
    Unsupported,
    /// It is larger than a stated limit.
    Limit,
    /// A mistake of this crate.
    Internal,
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Error {
    /// Whose fault it is.
    pub fault: Fault,
    /// What is wrong, as part of a sentence.
    pub what: String,
    /// The word at which the instruction begins.
    pub word: Option<u32>,
    /// The id that it is about.
    pub id: Option<u32>,
    /// The id's `OpName`.
    pub name: Option<String>,
    /// File and line that `OpLine` says.
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

    /// The same at a word, if it was nowhere yet.
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

/// Everything that was found wrong, the first hundred.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Errors(pub Vec<Error>);

/// How many findings are told.
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

/// Why a module is not compiled.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileError {
    /// What is wrong with it, or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// What the compiler says of its IR.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}
