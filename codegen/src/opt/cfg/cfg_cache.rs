//! The control flow of the function that passes work on, kept from one pass to the next for as long
//! as none changes it.

use crate::ir::{ControlFlow, Function};
use std::rc::Rc;

/// Control flow, once anybody asked for it.
#[derive(Default)]
pub(crate) struct Flow(Option<Rc<ControlFlow>>);

impl Flow {
    /// That of the function, which is the one that was asked for last unless [`Flow::changed`] was
    /// said.
    pub(crate) fn of(&mut self, func: &Function) -> Rc<ControlFlow> {
        let known = self
            .0
            .get_or_insert_with(|| Rc::new(ControlFlow::new(func)));
        debug_assert!(
            **known == ControlFlow::new(func),
            "who changed it has to say so"
        );
        Rc::clone(known)
    }

    /// Says that blocks or branches are others than before, or that the function is another.
    pub(crate) fn changed(&mut self) {
        self.0 = None;
    }

    /// Takes blocks out that nothing reaches.
    pub(crate) fn remove_unreachable(&mut self, func: &mut Function) {
        let cfg = self.of(func);
        if cfg.order().len() < func.layout.blocks().len() {
            func.layout.retain_blocks(|b| cfg.is_reachable(b));
            self.changed();
        }
    }
}
