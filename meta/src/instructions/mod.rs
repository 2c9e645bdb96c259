//! Instruction rows, with a file per family, in the order of the PRM's chapters.

use crate::generation::Generation;
use crate::row::{MathRow, Row, RowError};
use std::collections::BTreeMap;

mod arithmetic;
mod bits;
mod branch;
mod compare;
mod control;
mod dot;
mod logic;
mod math;
mod moves;
mod send;

/// Returns every row, validated alone and together: mnemonics are unique, and so are opcode numbers
/// within a generation.
pub fn all() -> Result<Vec<Row>, RowError> {
    let rows = [
        control::rows(),
        moves::rows(),
        logic::rows(),
        compare::rows(),
        bits::rows(),
        branch::rows(),
        send::rows(),
        math::rows(),
        arithmetic::rows(),
        dot::rows(),
    ]
    .into_iter()
    .flatten()
    .map(Row::build)
    .collect::<Result<Vec<Row>, RowError>>()?;
    let mut names = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for r in &rows {
        let fail = |rule| {
            Err(RowError {
                row: r.mnemonic,
                at: r.at,
                rule,
            })
        };
        if names.insert(r.mnemonic, ()).is_some() {
            return fail("mnemonic: another row has it");
        }
        for (g, c) in Generation::ALL.iter().zip(&r.columns) {
            if let Some(c) = c
                && numbers.insert((*g, c.opcode), ()).is_some()
            {
                return fail("opcode: another row of the generation has it");
            }
        }
    }
    Ok(rows)
}

/// Returns every function of `math`, validated: function numbers are unique within a generation.
pub fn math_functions() -> Result<Vec<MathRow>, RowError> {
    let rows = math::functions()
        .into_iter()
        .map(MathRow::build)
        .collect::<Result<Vec<MathRow>, RowError>>()?;
    let mut numbers = BTreeMap::new();
    for r in &rows {
        for (g, c) in Generation::ALL.iter().zip(r.codes) {
            if let Some(c) = c
                && numbers.insert((*g, c), ()).is_some()
            {
                return Err(RowError {
                    row: r.name,
                    at: r.at,
                    rule: "code: another function of the generation has it",
                });
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_obey_the_rules() {
        assert_eq!(super::all().map(|r| r.len()), Ok(81));
        assert_eq!(super::math_functions().map(|r| r.len()), Ok(14));
    }
}
