//! The container: an ELF file of sections, symbols and relocations.

#[cfg(feature = "read")]
mod read;
mod write;

#[cfg(feature = "read")]
pub use read::{File, FoundRelocation, FoundRelocations, FoundSection, FoundSymbol};
pub use write::{Image, Relocation, Relocations, Section, Symbol};
