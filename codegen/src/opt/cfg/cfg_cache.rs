//! Cache of the control flow graph between passes.

use crate::ir::{ControlFlow, Function};
use std::rc::Rc;

/// Control flow graph, computed on demand.
#[derive(Default)]
pub(crate) struct CfgCache(Option<Rc<ControlFlow>>);

impl CfgCache {
    /// Returns the graph of the function. It must be unchanged since the last call, unless the
    /// cache was invalidated.
    pub(crate) fn get(&mut self, func: &Function) -> Rc<ControlFlow> {
        let known = self
            .0
            .get_or_insert_with(|| Rc::new(ControlFlow::new(func)));
        debug_assert!(
            **known == ControlFlow::new(func),
            "control cache changed, but the cache was not invalidated"
        );
        Rc::clone(known)
    }

    /// Drops the graph, after a change of blocks or branches or for another function.
    pub(crate) fn invalidate(&mut self) {
        self.0 = None;
    }

    /// Removes unreachable blocks.
    pub(crate) fn remove_unreachable(&mut self, func: &mut Function) {
        let cfg = self.get(func);
        if cfg.order().len() < func.layout.blocks().len() {
            func.layout.retain_blocks(|b| cfg.is_reachable(b));
            self.invalidate();
        }
    }
}
