//! How long instructions take, in cycles of the EU, by class and generation: what schedulers and
//! modelled times go by.
//!
//! Intel publishes no latencies. Where these are from:
//! - what the ALUs, the math box and branches take: Mesa's
//!   `src/intel/compiler/brw/brw_analysis_performance.cpp`, a linear regression of times that were
//!   measured on hardware with the timestamp register, from Haswell on;
//! - until a message answers: Mesa's `brw_schedule_instructions.cpp`, which quotes the programs
//!   that were timed: 300 cycles for what a data port gathers, 200 for a block and for a sample,
//!   1,400 for an atomic operation or a fence on average. Shared local memory takes as long as a
//!   hit in the L3 cache, which it is a part of: 140 cycles, by the same measurements.
//!
//! Beyond that nothing is modelled: neither bandwidth nor what caches hold, nor conflicts between
//! register banks.

use crate::generation::*;

/// What takes equally long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The ALU, elements of up to four bytes.
    Alu,
    /// The ALU, elements of eight bytes, and products of doublewords.
    Wide,
    /// Dot products, `line`, `pln`, `lrp`: twice through the ALU.
    Dot,
    /// The systolic array.
    Systolic,
    /// The math box, of one argument.
    Math,
    /// Powers and quotients of floats.
    Pow,
    /// Quotients and remainders of integers.
    Divide,
    /// Branches, calls, and what waits.
    Branch,
    /// Gathers and scatters of a data port.
    Scattered,
    /// Blocks of a data port.
    Block,
    /// Shared local memory.
    Slm,
    /// Texels of a data port.
    Typed,
    /// The sampler.
    Sample,
    /// Atomic operations.
    Atomic,
    /// Fences.
    Fence,
    /// All other messages: the gateway, the thread spawner.
    Message,
}

/// The unit that executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// The ALU.
    Alu,
    /// The math box.
    Math,
    /// None that a thread waits for: it has been issued, and is somebody else's.
    None,
}

/// A constant part, and one for each GRF.
pub type PerGrf = [u8; 2];

/// What one class takes on some generations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The class.
    pub class: Class,
    /// On which generations.
    pub gens: Gens,
    /// Which unit executes it.
    pub unit: Unit,
    /// Cycles until the thread issues its next instruction, by GRFs of the destination.
    pub issue: PerGrf,
    /// Cycles until the unit takes its next instruction, by GRFs that are executed.
    pub busy: PerGrf,
    /// Cycles until sources have been read.
    pub read: u16,
    /// Cycles until the destination is written.
    pub result: u16,
    /// Cycles until an accumulator is.
    pub acc: u16,
    /// Cycles until a flag is.
    pub flag: u16,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 16] = [
        Class::Alu,
        Class::Wide,
        Class::Dot,
        Class::Systolic,
        Class::Math,
        Class::Pow,
        Class::Divide,
        Class::Branch,
        Class::Scattered,
        Class::Block,
        Class::Slm,
        Class::Typed,
        Class::Sample,
        Class::Atomic,
        Class::Fence,
        Class::Message,
    ];

    /// What it is, a sentence.
    pub const fn doc(self) -> &'static str {
        match self {
            Class::Alu => "The ALU, elements of up to four bytes.",
            Class::Wide => "The ALU, elements of eight bytes, and products of doublewords.",
            Class::Dot => "Twice through the ALU.",
            Class::Systolic => "The systolic array.",
            Class::Math => "The math box, of one argument.",
            Class::Pow => "Powers and quotients of floats.",
            Class::Divide => "Quotients and remainders of integers.",
            Class::Branch => "Branches, calls, and what waits.",
            Class::Scattered => "Gathers and scatters of a data port.",
            Class::Block => "Blocks of a data port.",
            Class::Slm => "Shared local memory.",
            Class::Typed => "Texels of a data port.",
            Class::Sample => "The sampler.",
            Class::Atomic => "Atomic operations.",
            Class::Fence => "Fences.",
            Class::Message => "All other messages.",
        }
    }
}

const UP_TO_GEN10: Gens = GEN7P5.and(GEN8).and(GEN9).and(GEN10);
const GEN11_ON: Gens = GEN11.and(XE);

/// What the ALU takes for each GRF, and until results are there.
const fn alu(class: Class, gens: Gens, grf: u8, [result, acc, flag]: [u16; 3]) -> Row {
    Row {
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

const fn math(class: Class, issue: PerGrf, busy: PerGrf, result: u16) -> Row {
    Row {
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

const fn message(class: Class, result: u16) -> Row {
    Row {
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

/// The rows: each class once for each generation.
pub const ROWS: [Row; 18] = [
    alu(Class::Alu, UP_TO_GEN10, 2, [8, 4, 12]),
    alu(Class::Alu, GEN11_ON, 2, [10, 6, 14]),
    alu(Class::Wide, UP_TO_GEN10, 4, [12, 8, 16]),
    alu(Class::Wide, GEN11_ON, 4, [14, 10, 18]),
    alu(Class::Dot, ALL, 4, [12, 8, 16]),
    alu(Class::Systolic, ALL, 2, [32, 32, 32]),
    math(Class::Math, [0, 4], [0, 4], 16),
    math(Class::Pow, [0, 4], [0, 8], 24),
    math(Class::Divide, [2, 0], [26, 0], 28),
    Row {
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

/// The row of a class on a generation.
pub fn row(class: Class, generation: Generation) -> Option<&'static Row> {
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
                let is = |r: &&Row| r.class == class && r.gens.contains(generation);
                assert_eq!(ROWS.iter().filter(is).count(), 1, "{class:?} {generation}");
            }
        }
    }
}
