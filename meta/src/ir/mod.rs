//! Opcodes of the IR, one row each with a file per family, and the writers that generate Rust and
//! ISLE from them.

mod control;
mod convert;
mod float;
mod format;
mod int;
mod matrix;
mod memory;
mod predicate;
mod row;
mod subgroup;
mod text;
mod write;

pub use format::{Field, Format, FormatRow, Kind, formats};
pub use row::{Class, Out, Row};
pub use text::{Piece, Token};
pub use write::{builder, cache_key, data, isle, parser, printer, rust, values};

/// Returns every row, in the order of the `Opcode` enum.
///
/// # Errors
/// Returns an error if two rows have one name, or a name is not lower case letters, digits and
/// underscores.
pub fn rows() -> Result<Vec<Row>, String> {
    let all: Vec<Row> = [
        convert::rows(),
        int::rows(),
        float::rows(),
        matrix::rows(),
        predicate::rows(),
        memory::rows(),
        subgroup::rows(),
        control::rows(),
    ]
    .concat();
    for (i, r) in all.iter().enumerate() {
        r.check()?;
        if all.iter().take(i).any(|other| other.name == r.name) {
            return Err(format!("{}: a second row of that name", r.name));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_valid() {
        assert!(super::rows().is_ok_and(|r| r.len() > 100));
    }
}
