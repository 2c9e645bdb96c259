//! Types of the generated timing table.

/// Unit that executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// ALU.
    Alu,
    /// Math unit.
    Math,
    /// No unit that a thread waits for.
    None,
}

/// Timing of a class on a platform: a row of the table. Times are in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClassTimes {
    pub(crate) unit: Unit,
    /// Issue time: a constant part, and one for each GRF of the destination.
    pub(crate) issue: [u8; 2],
    /// Time that the unit is busy: a constant part, and one for each GRF that is executed.
    pub(crate) busy: [u8; 2],
    pub(crate) read: u16,
    pub(crate) result: u16,
    pub(crate) acc: u16,
    pub(crate) flag: u16,
}
