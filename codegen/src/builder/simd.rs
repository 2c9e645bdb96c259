//! Structured divergence: the builder keeps the execution mask, a `b1` lane per work-item, as a variable. `goto` takes
//! channels out of it, `join` brings them back; a uniform branch skips what no channel would run.

use super::{FunctionBuilder, Variable};
use crate::ir::{Block, FuncKind, Opcode, Scalar, Type, Value};

/// Where to go when no channel is left, and what channels that leave a loop are kept in.
#[derive(Clone, Debug)]
pub(super) struct Escape {
    /// The end of the innermost construct.
    to: Block,
    /// Of the loop, if the construct is one: channels that broke out, channels that wait for the next iteration.
    loop_masks: Option<(Variable, Variable)>,
}

impl<'f> FunctionBuilder<'f> {
    fn mask_var(&mut self) -> Variable {
        if let Some(var) = self.exec_mask {
            return var;
        }
        let (lanes, opcode) = match self.func.kind {
            FuncKind::Kernel { simd, .. } => (simd, Opcode::DispatchMask),
            FuncKind::Subroutine => {
                self.mistake("a subroutine's execution mask must be set first");
                (1, Opcode::Undef)
            }
        };
        let ty = Type::clamped(Scalar::B1, lanes);
        let mask = self.in_entry(opcode, ty);
        let var = self.declare_var(ty);
        self.ssa.define(self.entry, var, mask);
        self.exec_mask = Some(var);
        var
    }

    /// The channels that run here: at first those dispatched.
    pub fn exec_mask(&mut self) -> Value {
        let var = self.mask_var();
        self.use_var(var)
    }

    /// Sets the execution mask of a subroutine, from a parameter; before any SIMD control flow.
    pub fn set_exec_mask(&mut self, mask: Value) {
        if !self.ty(mask).is_pred() {
            self.mistake(format!("{mask} is no predicate"));
            return;
        }
        let var = self.var(mask);
        self.exec_mask = Some(var);
    }

    fn set_mask(&mut self, mask: Value) {
        let var = self.mask_var();
        self.def_var(var, mask);
    }

    /// No channels.
    fn no_channels(&mut self) -> Value {
        let lanes = self.mask_lanes();
        self.ins().bconst(lanes, 0)
    }

    fn mask_lanes(&mut self) -> u32 {
        let var = self.mask_var();
        self.ssa.ty(var).lanes()
    }

    /// Assigns a variable in the channels that run; it keeps its old value in the others. The variable has a lane per
    /// channel. Outside of SIMD control flow no other channel matters, and all lanes are assigned.
    pub fn assign(&mut self, var: Variable, value: Value) {
        if self.escapes.is_empty() {
            return self.def_var(var, value);
        }
        let old = self.use_var(var);
        let mask = self.exec_mask();
        let merged = self.ins().select(mask, value, old);
        self.def_var(var, merged);
    }

    /// Leaves the current block for `skip` where a `b1` is set, else goes on in a new block.
    fn skip_if(&mut self, none: Value, skip: Block) {
        let next = self.create_block();
        self.ins().brif(none, skip, &[], next, &[]);
        self.seal_block(next);
        self.switch_to_block(next);
    }

    fn scope(
        &mut self,
        to: Block,
        masks: Option<(Variable, Variable)>,
        body: impl FnOnce(&mut Self),
    ) {
        self.escapes.push(Escape {
            to,
            loop_masks: masks,
        });
        body(self);
        self.escapes.pop();
        if !self.is_filled() {
            self.ins().jump(to, &[]);
        }
        self.seal_block(to);
        self.switch_to_block(to);
    }

    /// Runs `then` in the channels where `cond` is set.
    pub fn simd_if(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        let end = self.create_block();
        let (em, rm) = (self.exec_mask(), self.no_channels());
        let leave = self.ins().bnot(cond);
        let (inside, waiting, none) = self.ins().goto(em, rm, leave);
        self.set_mask(inside);
        self.skip_if(none, end);
        self.scope(end, None, then);
        let em = self.exec_mask();
        let (em, _) = self.ins().join(em, waiting);
        self.set_mask(em);
    }

    /// Runs `then` in the channels where `cond` is set, and `otherwise` in the others.
    pub fn simd_if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (middle, end) = (self.create_block(), self.create_block());
        let (em, rm) = (self.exec_mask(), self.no_channels());
        let leave = self.ins().bnot(cond);
        let (inside, waiting, none) = self.ins().goto(em, rm, leave);
        self.set_mask(inside);
        self.skip_if(none, middle);
        self.scope(middle, None, then);
        // The channels of `then` wait while those of `otherwise` run.
        let done = self.exec_mask();
        let (em, none) = self.ins().join(rm, waiting);
        self.set_mask(em);
        self.skip_if(none, end);
        self.scope(end, None, otherwise);
        let em = self.exec_mask();
        let (em, _) = self.ins().join(em, done);
        self.set_mask(em);
    }

    /// Repeats `body` until no channel is left in the loop: channels leave by [`FunctionBuilder::simd_break_if`].
    pub fn simd_loop(&mut self, body: impl FnOnce(&mut Self)) {
        let (header, latch, exit) = (
            self.create_block(),
            self.create_block(),
            self.create_block(),
        );
        let none = self.no_channels();
        let (broken, waiting) = (self.var(none), self.var(none));
        let em = self.exec_mask();
        let any = self.ins().any(em);
        self.ins().brif(any, header, &[], exit, &[]);
        self.switch_to_block(header);
        self.scope(latch, Some((broken, waiting)), body);
        let (em, rm) = (self.exec_mask(), self.use_var(waiting));
        let (em, done) = self.ins().join(em, rm);
        self.set_mask(em);
        self.def_var(waiting, none);
        self.ins().brif(done, exit, &[], header, &[]);
        self.seal_block(header);
        self.seal_block(exit);
        self.switch_to_block(exit);
        let (em, rm) = (self.exec_mask(), self.use_var(broken));
        let (em, _) = self.ins().join(em, rm);
        self.set_mask(em);
    }

    /// Takes the channels where `cond` is set out of the innermost loop.
    pub fn simd_break_if(&mut self, cond: Value) {
        self.leave_loop(cond, |(broken, _)| broken, "break");
    }

    /// Lets the channels where `cond` is set wait for the innermost loop's next iteration.
    pub fn simd_continue_if(&mut self, cond: Value) {
        self.leave_loop(cond, |(_, waiting)| waiting, "continue");
    }

    fn leave_loop(&mut self, cond: Value, pick: fn((Variable, Variable)) -> Variable, what: &str) {
        let masks = self.escapes.iter().rev().find_map(|e| e.loop_masks);
        let (Some(masks), Some(to)) = (masks, self.escapes.last().map(|e| e.to)) else {
            self.mistake(format!("{what} outside of a loop"));
            return;
        };
        let var = pick(masks);
        let (em, rm) = (self.exec_mask(), self.use_var(var));
        let (em, rm, none) = self.ins().goto(em, rm, cond);
        self.set_mask(em);
        self.def_var(var, rm);
        self.skip_if(none, to);
    }
}
