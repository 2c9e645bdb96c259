//! Stages 5 and 6 of demand: live bytes that allocation needs no room for.
//!
//! - A wide register dies in parts: an instruction that reads some GRFs of it for the last time is
//!   a *first kill*, before the kill of the register. Allocation splits such registers
//!   ([`super::split_wide`]), so that a part ends at its own last read and begins at its own first
//!   write. Stages 1 to 4 count the register as a whole.
//! - An instruction that writes while it reads kills late: its result is live together with the
//!   operands that die. If each lane of the result lies where that lane of an operand is read, the
//!   result may have the operand's place ([`super::tied_operands`]). That is a *copy kill*. Stages
//!   1 to 4 count both.
//!
//! For a kernel that is allocated, registers that copies join count as one near the limit
//! ([`super::spill::copy_webs`]), as they do before anything is spilled.
//!
//! Input: [`VCode`] and its liveness. Output: [`Demand::apart`] and [`Demand::reused`] of each
//! instruction.

use super::bundles::Bundles;
use super::spill::copy_webs;
use crate::error::CodegenError;
use crate::mir::VCode;
use crate::mir::insert::NEW;
use crate::mir::liveness::{Demand, Liveness, liveness};
use crate::regalloc::split_into_parts;
use crate::target::Target;

/// Returns true if demand is not far above the limit, so that stages 5 and 6 may decide whether
/// code fits before anything else lowers it.
pub(crate) fn is_near(live: &Liveness, limit: u32) -> bool {
    live.peak().1 <= limit / 4 * 5
}

/// Computes stages 5 and 6 of demand if more than `limit` bytes are live somewhere. If not, all
/// values fit without them. Stage 6 stays 0 if values do not fit with it either. With `join`,
/// registers that copies join count as one.
///
/// # Errors
/// As those of [`liveness`].
pub(crate) fn count_parts(
    name: &str,
    code: &VCode,
    live: &mut Liveness,
    target: &Target,
    limit: u32,
    join: bool,
) -> Result<(), CodegenError> {
    if live.peak().1 <= limit || !live.abandoned.is_empty() {
        return Ok(());
    }
    let mut parts = code.clone();
    let mut origin: Vec<u32> = (0..code.insts.len() as u32).collect();
    let mut of_parts = None;
    if split_into_parts(&mut parts, live, &mut origin, target, limit) {
        of_parts = Some(liveness(name, &parts)?);
    }
    let own = of_parts.as_ref().unwrap_or(live);
    if !own.abandoned.is_empty() {
        return Ok(());
    }
    let tied = |code: &VCode, live: &Liveness| {
        let peaks = live.demand.iter().map(Demand::peak).collect();
        let tied = live.peak().1 > limit && Bundles::may_fit_tied(code, live, limit);
        if tied {
            Bundles::merge_tied(code, live, limit).least()
        } else {
            peaks
        }
    };
    let mut least: Vec<u32> = tied(&parts, own);
    // Before anything is spilled, registers that copies join become one.
    if join
        && is_near(own, limit)
        && least.iter().any(|bytes| *bytes > limit)
        && let Some(joined) = copy_webs::coalesce(&parts, own)
    {
        let of_joined = liveness(name, &joined)?;
        let of_joined = tied(&joined, &of_joined);
        if of_joined.iter().max() < least.iter().max() {
            least = of_joined;
        }
    }
    let least: Vec<(u32, u32)> = own.demand.iter().map(Demand::peak).zip(least).collect();
    // The most at each instruction and at those that were inserted after it.
    let mut most = vec![(0, 0); code.insts.len()];
    let mut at = 0;
    for (&from, (bytes, tied)) in origin.iter().zip(least) {
        if from != NEW {
            at = from as usize;
        }
        if let Some(most) = most.get_mut(at) {
            *most = (bytes.max(most.0), tied.max(most.1));
        }
    }
    for (d, (bytes, tied)) in live.demand.iter_mut().zip(most) {
        d.apart = d.peak().saturating_sub(bytes);
        d.reused = bytes.saturating_sub(tied);
    }
    Ok(())
}
