//! Passes over machine code, before and after register allocation.

pub(crate) mod address_cse;
pub(crate) mod combine_constants;
pub(crate) mod copy_coalescing;
pub(crate) mod dead_code;
pub(crate) mod pass_by_reference;
mod shared_arguments;

use crate::mir::VCode;
use crate::passes::Stage;
use crate::target::Target;

/// Pass over machine code with virtual registers. Returns the number of changes.
type MachinePass = fn(&mut VCode, &Target) -> u32;

/// Returns the function of a stage that is a pass over machine code before allocation.
pub(crate) const fn function(stage: Stage) -> Option<MachinePass> {
    match stage {
        Stage::CopyCoalescing => Some(copy_coalescing::run),
        Stage::CombineConstants => Some(combine_constants::run),
        Stage::DeadCode => Some(dead_code::run),
        _ => None,
    }
}
