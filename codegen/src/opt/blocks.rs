//! What is done to blocks.

use crate::ir::{ControlFlow, Function};

/// Takes blocks out that nothing reaches.
pub(super) fn remove_unreachable(func: &mut Function, cfg: &ControlFlow) {
    func.layout.retain_blocks(|b| cfg.is_reachable(b));
}
