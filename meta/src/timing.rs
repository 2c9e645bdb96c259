//! Latencies of instructions in cycles of the EU, by class and generation, for schedulers and
//! modelled times.
//!
//! Intel publishes no latencies. The figures are from other sources:
//! - ALUs, math unit and branches: Mesa's `src/intel/compiler/brw/brw_analysis_performance.cpp`.
//!   They are a linear regression of times that were measured on hardware with the timestamp
//!   register, from Haswell on.
//! - Responses of messages: Mesa's `brw_schedule_instructions.cpp`, which quotes the programs that
//!   were timed. A gather of a data port takes 300 cycles, a block or a sample 200, an atomic
//!   operation or a fence 1,400 on average. SLM takes as long as a hit in the L3 cache, of which it
//!   is a part: 140 cycles, by the same measurements.
//!
//! Nothing else is modelled: neither bandwidth nor cache contents nor conflicts between register
//! banks.

use crate::generation::*;
use crate::listed::listed_enum;

listed_enum! {
    /// Class of instructions with equal timing.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Class {
        /// ALU, elements of up to four bytes.
        Alu,
        /// ALU, elements of eight bytes, and products of dwords.
        Wide,
        /// Dot products, `line`, `pln`, `lrp`: two passes through the ALU.
        Dot,
        /// Systolic array.
        Systolic,
        /// Math unit, one argument.
        Math,
        /// Powers and quotients of floats.
        Pow,
        /// Quotients and remainders of integers.
        Divide,
        /// Branches, calls, and instructions that wait.
        Branch,
        /// Gathers and scatters of a data port.
        Scattered,
        /// Blocks of a data port.
        Block,
        /// Shared local memory.
        Slm,
        /// Texels of a data port.
        Typed,
        /// Sampler.
        Sample,
        /// Atomic operations.
        Atomic,
        /// Fences.
        Fence,
        /// All other messages: gateway, thread spawner.
        Message,
    }
}

/// Unit that executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// ALU.
    Alu,
    /// Math unit.
    Math,
    /// No unit that the thread waits for: once issued, another unit executes it.
    None,
}

/// Cycles: a constant part, and a part for each GRF.
pub type PerGrf = [u8; 2];

/// Timing of one class on some generations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimingRow {
    /// Class.
    pub class: Class,
    /// Generations.
    pub gens: Gens,
    /// Unit that executes it.
    pub unit: Unit,
    /// Cycles until the thread issues its next instruction, by GRFs of the destination.
    pub issue: PerGrf,
    /// Cycles until the unit takes its next instruction, by GRFs that are executed.
    pub busy: PerGrf,
    /// Cycles until sources have been read.
    pub read: u16,
    /// Cycles until the destination is written.
    pub result: u16,
    /// Cycles until an accumulator is written.
    pub acc: u16,
    /// Cycles until a flag is written.
    pub flag: u16,
}

impl Class {}

const UP_TO_GEN10: Gens = GEN7P5.and(GEN8).and(GEN9).and(GEN10);
const GEN11_ON: Gens = GEN11.and(XE);

/// Creates a row of the ALU: cycles per GRF, and latencies of destination, accumulator and flag.
const fn alu(class: Class, gens: Gens, grf: u8, [result, acc, flag]: [u16; 3]) -> TimingRow {
    TimingRow {
        class,
        gens,
        unit: Unit::Alu,
        issue: [0, grf],
        busy: [0, grf],
        read: 0,
        result,
        acc,
        flag,
    }
}

const fn math(class: Class, issue: PerGrf, busy: PerGrf, result: u16) -> TimingRow {
    TimingRow {
        class,
        gens: ALL,
        unit: Unit::Math,
        issue,
        busy,
        read: 0,
        result,
        acc: result,
        flag: result,
    }
}

const fn message(class: Class, result: u16) -> TimingRow {
    TimingRow {
        class,
        gens: ALL,
        unit: Unit::None,
        issue: [2, 0],
        busy: [0, 0],
        read: 10,
        result,
        acc: 0,
        flag: 0,
    }
}

/// Rows: each class once for each generation.
pub const ROWS: [TimingRow; 18] = [
    alu(Class::Alu, UP_TO_GEN10, 2, [8, 4, 12]),
    alu(Class::Alu, GEN11_ON, 2, [10, 6, 14]),
    alu(Class::Wide, UP_TO_GEN10, 4, [12, 8, 16]),
    alu(Class::Wide, GEN11_ON, 4, [14, 10, 18]),
    alu(Class::Dot, ALL, 4, [12, 8, 16]),
    alu(Class::Systolic, ALL, 2, [32, 32, 32]),
    math(Class::Math, [0, 4], [0, 4], 16),
    math(Class::Pow, [0, 4], [0, 8], 24),
    math(Class::Divide, [2, 0], [26, 0], 28),
    TimingRow {
        class: Class::Branch,
        gens: ALL,
        unit: Unit::None,
        issue: [8, 0],
        busy: [0, 0],
        read: 0,
        result: 0,
        acc: 0,
        flag: 0,
    },
    message(Class::Scattered, 300),
    message(Class::Block, 200),
    message(Class::Slm, 140),
    message(Class::Typed, 600),
    message(Class::Sample, 200),
    message(Class::Atomic, 1400),
    message(Class::Fence, 1400),
    message(Class::Message, 200),
];

/// Returns the row of a class on a generation.
pub fn row(class: Class, generation: Generation) -> Option<&'static TimingRow> {
    let mut rows = ROWS.iter();
    rows.find(|r| r.class == class && r.gens.contains(generation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_one_row_for_each_generation() {
        for class in Class::ALL {
            for generation in Generation::ALL {
                let is = |r: &&TimingRow| r.class == class && r.gens.contains(generation);
                assert_eq!(ROWS.iter().filter(is).count(), 1, "{class:?} {generation}");
            }
        }
    }
}
