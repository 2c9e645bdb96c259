//! Structured SIMD control flow: channels diverge, and the execution mask says which are enabled.
//!
//! `if` and `loop` become `goto` and `join` on masks, with uniform branches around code that no
//! channel runs. Channels that have returned are in no mask. Masks are used only as the hardware's
//! mask stack uses them ([`crate::isel::mask_stack`]).
//!
//! Each construct can be built by a closure, or by calls at its beginning and end. The latter are
//! for hosts whose input may be nested to any depth.

use super::scope::{Scope, ScopeKind};
use super::{FunctionBuilder, Variable};
use crate::ir::{Block, DataRef, FuncKind, Opcode, Scalar, Type, Value};

/// Handle of an open SIMD block: see [`FunctionBuilder::simd_block_begin`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimdLabel {
    /// Depth on the stack of open constructs.
    depth: usize,
    /// Mask of the channels that left for its end. Unique to the block.
    left: Variable,
}

impl<'f> FunctionBuilder<'f> {
    #[track_caller]
    fn mask_var(&mut self) -> Variable {
        if let Some(var) = self.exec_mask {
            return var;
        }
        let (lanes, opcode) = match self.func.kind {
            FuncKind::Kernel { simd, .. } => (simd, Opcode::DispatchMask),
            FuncKind::Subroutine => {
                self.error("a subroutine's execution mask must be set first");
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

    /// Returns the execution mask: at first, the dispatched channels.
    #[track_caller]
    pub fn exec_mask(&mut self) -> Value {
        let var = self.mask_var();
        self.read(var)
    }

    /// Sets the execution mask of a subroutine from a parameter. Must be called once, before any
    /// SIMD control flow.
    #[track_caller]
    pub fn set_exec_mask(&mut self, mask: Value) {
        if !self.ty(mask).is_pred() {
            self.error(format!(
                "{mask} is no predicate: it cannot be the execution mask"
            ));
            return;
        }
        if self.exec_mask.is_some() {
            self.error(format!(
                "{mask} was made the execution mask after the mask was used or set"
            ));
            return;
        }
        let var = self.var(mask);
        self.exec_mask = Some(var);
    }

    #[track_caller]
    fn set_mask(&mut self, mask: Value) {
        let var = self.mask_var();
        self.write(var, mask);
    }

    /// Returns the empty mask.
    #[track_caller]
    fn no_channels(&mut self) -> Value {
        let lanes = self.mask_lanes();
        self.ins().bconst(lanes, 0)
    }

    /// Returns the full mask.
    #[track_caller]
    fn all_channels(&mut self) -> Value {
        let lanes = self.mask_lanes();
        self.ins()
            .bconst(lanes, u64::MAX >> (64 - lanes.clamp(1, 64)))
    }

    #[track_caller]
    pub(super) fn mask_lanes(&mut self) -> u32 {
        let var = self.mask_var();
        self.ssa.ty(var).lanes()
    }

    /// Returns a per-channel condition, or the empty mask after reporting a wrong one.
    #[track_caller]
    fn condition(&mut self, cond: Value) -> Value {
        let want = Type::clamped(Scalar::B1, self.mask_lanes());
        if self.ty(cond) == want {
            return cond;
        }
        let have = self.ty(cond);
        self.error(format!(
            "the condition {cond} is {have}: the channels' is {want}"
        ));
        self.no_channels()
    }

    /// Assigns a variable in the enabled channels: [`FunctionBuilder::def_var`].
    #[track_caller]
    pub fn assign(&mut self, var: Variable, value: Value) {
        self.def_var(var, value);
    }

    /// Branches to `skip` if a `b1` is set, and continues in a new block otherwise.
    #[track_caller]
    fn skip_if(&mut self, none: Value, skip: Block) {
        let next = self.create_block();
        self.ins().brif(none, skip, &[], next, &[]);
        self.seal_block(next);
        self.switch_to_block(next);
    }

    /// Returns the destination of control when no channel is left: the end of the innermost
    /// divergent construct, or of the function.
    #[track_caller]
    fn escape(&mut self) -> Block {
        match self.scopes.iter().rev().find(|s| s.is_simd()) {
            Some(s) => s.to,
            None => self.leave_block(),
        }
    }

    /// Returns the block in which a thread without channels ends, or a subroutine returns.
    #[track_caller]
    fn leave_block(&mut self) -> Block {
        if let Some(b) = self.leave {
            return b;
        }
        let b = self.create_block();
        self.leave = Some(b);
        b
    }

    /// Begins an if of the channels where `cond` is set, up to [`FunctionBuilder::simd_else`] or
    /// [`FunctionBuilder::simd_if_end`].
    #[track_caller]
    pub fn simd_if_begin(&mut self, cond: Value) {
        let to = self.create_block();
        let region = self.region();
        let cond = self.condition(cond);
        let (before, rm) = (self.exec_mask(), self.no_channels());
        let leave = self.ins().bnot(cond);
        let (inside, waiting, none) = self.ins().goto(before, rm, leave);
        self.set_mask(inside);
        self.skip_if(none, to);
        self.scopes.push(Scope {
            kind: ScopeKind::SimdThen { waiting },
            to,
            region,
            leaves: false,
        });
    }

    /// Begins the else side, which the other channels run.
    #[track_caller]
    pub fn simd_else(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::SimdThen { .. });
        let Some(then) = self.end_scope("the else of a divergent if", is) else {
            return;
        };
        let ScopeKind::SimdThen { waiting } = then.kind else {
            return;
        };
        self.arrive(then.to, then.region);
        // Channels of the first side wait while those of the second run.
        let (em, rm, all) = (self.exec_mask(), self.no_channels(), self.all_channels());
        let (em, done, _) = self.ins().goto(em, rm, all);
        let (em, none) = self.ins().join(em, waiting);
        let to = self.create_block();
        self.set_mask(em);
        self.skip_if(none, to);
        self.scopes.push(Scope {
            kind: ScopeKind::SimdElse {
                done,
                left: then.leaves,
            },
            to,
            region: then.region,
            leaves: false,
        });
    }

    /// Ends a divergent if. The channels of both sides run again.
    #[track_caller]
    pub fn simd_if_end(&mut self) {
        let is =
            |k: &ScopeKind| matches!(k, ScopeKind::SimdThen { .. } | ScopeKind::SimdElse { .. });
        let Some(scope) = self.end_scope("the end of a divergent if", is) else {
            return;
        };
        self.arrive(scope.to, scope.region);
        let (others, left) = match scope.kind {
            ScopeKind::SimdThen { waiting } => (waiting, false),
            ScopeKind::SimdElse { done, left } => (done, left),
            _ => return,
        };
        let em = self.exec_mask();
        let (em, none) = self.ins().join(em, others);
        self.set_mask(em);
        if left || scope.leaves {
            let to = self.escape();
            self.skip_if(none, to);
        }
    }

    /// Runs `then` in the channels where `cond` is set.
    #[track_caller]
    pub fn simd_if(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        self.simd_if_begin(cond);
        then(self);
        self.simd_if_end();
    }

    /// Runs `then` in the channels where `cond` is set, and `otherwise` in the others.
    #[track_caller]
    pub fn simd_if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        self.simd_if_begin(cond);
        then(self);
        self.simd_else();
        otherwise(self);
        self.simd_if_end();
    }

    /// Begins a loop that runs until no channel is left in it, up to
    /// [`FunctionBuilder::simd_loop_end`].
    #[track_caller]
    pub fn simd_loop_begin(&mut self) {
        let (header, to, exit) = (
            self.create_block(),
            self.create_block(),
            self.create_block(),
        );
        let none = self.no_channels();
        let (broken, waiting) = (self.var(none), self.var(none));
        // Reports a missing execution mask in a subroutine.
        self.exec_mask();
        let whole = self.region();
        self.ins().jump(header, &[]);
        self.switch_to_block(header);
        let region = self.region();
        self.scopes.push(Scope {
            kind: ScopeKind::SimdLoop {
                header,
                exit,
                none,
                broken,
                waiting,
                continues: false,
                whole,
            },
            to,
            region,
            leaves: false,
        });
    }

    /// Ends a divergent loop.
    #[track_caller]
    pub fn simd_loop_end(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::SimdLoop { .. });
        let Some(scope) = self.end_scope("the end of a divergent loop", is) else {
            return;
        };
        let ScopeKind::SimdLoop {
            header,
            exit,
            none,
            broken,
            waiting,
            continues,
            whole,
        } = scope.kind
        else {
            return;
        };
        self.arrive(scope.to, scope.region);
        let em = self.exec_mask();
        if continues {
            let rm = self.read(waiting);
            let (em, done) = self.ins().join(em, rm);
            self.set_mask(em);
            self.write(waiting, none);
            self.ins().brif(done, exit, &[], header, &[]);
        } else {
            let any = self.ins().any(em);
            self.ins().brif(any, header, &[], exit, &[]);
        }
        self.seal_block(header);
        self.seal_block(exit);
        self.switch_to_block(exit);
        self.end_region(exit, whole);
        let (em, rm) = (self.exec_mask(), self.read(broken));
        let (em, none) = self.ins().join(em, rm);
        self.set_mask(em);
        if scope.leaves {
            let to = self.escape();
            self.skip_if(none, to);
        }
    }

    /// Repeats `body` until no channel is left in the loop. Channels leave by
    /// [`FunctionBuilder::simd_break_if`].
    #[track_caller]
    pub fn simd_loop(&mut self, body: impl FnOnce(&mut Self)) {
        self.simd_loop_begin();
        body(self);
        self.simd_loop_end();
    }

    /// Lets the channels where `cond` is set leave the innermost divergent loop.
    #[track_caller]
    pub fn simd_break_if(&mut self, cond: Value) {
        self.leave_loop(cond, false);
    }

    /// Lets the channels where `cond` is set wait for the next iteration of the innermost divergent
    /// loop.
    #[track_caller]
    pub fn simd_continue_if(&mut self, cond: Value) {
        self.leave_loop(cond, true);
    }

    #[track_caller]
    fn leave_loop(&mut self, cond: Value, again: bool) {
        let mut found = None;
        for (n, s) in self.scopes.iter_mut().enumerate().rev() {
            if let ScopeKind::SimdLoop {
                broken,
                waiting,
                continues,
                ..
            } = &mut s.kind
            {
                *continues |= again;
                found = Some((n, if again { *waiting } else { *broken }));
                break;
            }
        }
        match found {
            Some((n, var)) => self.leave_scope(cond, n, var),
            None => {
                let what = if again { "continue" } else { "break" };
                self.error(format!("{what} outside of a loop of channels"));
            }
        }
    }

    /// Moves channels out of the n-th construct or to its latch, where those of `var` wait.
    #[track_caller]
    fn leave_scope(&mut self, cond: Value, n: usize, var: Variable) {
        for s in self.scopes.iter_mut().skip(n + 1) {
            s.leaves = true;
        }
        let cond = self.condition(cond);
        let (em, rm) = (self.exec_mask(), self.read(var));
        let (em, rm, none) = self.ins().goto(em, rm, cond);
        self.set_mask(em);
        self.write(var, rm);
        let to = self.escape();
        self.skip_if(none, to);
    }

    /// Begins a block that channels may leave for its end, up to
    /// [`FunctionBuilder::simd_block_end`]. The label names it from inner constructs.
    #[track_caller]
    pub fn simd_block_begin(&mut self) -> SimdLabel {
        let to = self.create_block();
        let region = self.region();
        let none = self.no_channels();
        let left = self.var(none);
        self.exec_mask();
        let depth = self.scopes.len();
        self.scopes.push(Scope {
            kind: ScopeKind::SimdBlock { left },
            to,
            region,
            leaves: false,
        });
        SimdLabel { depth, left }
    }

    /// Ends a SIMD block. Channels that left it run again.
    #[track_caller]
    pub fn simd_block_end(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::SimdBlock { .. });
        let Some(scope) = self.end_scope("the end of a block of channels", is) else {
            return;
        };
        let ScopeKind::SimdBlock { left } = scope.kind else {
            return;
        };
        self.arrive(scope.to, scope.region);
        let (em, rm) = (self.exec_mask(), self.read(left));
        let (em, none) = self.ins().join(em, rm);
        self.set_mask(em);
        if scope.leaves {
            let to = self.escape();
            self.skip_if(none, to);
        }
    }

    /// Runs `body`, which channels leave by [`FunctionBuilder::simd_leave_if`].
    #[track_caller]
    pub fn simd_block(&mut self, body: impl FnOnce(&mut Self)) {
        self.simd_block_begin();
        body(self);
        self.simd_block_end();
    }

    /// Moves the channels where `cond` is set to the end of the innermost SIMD block.
    #[track_caller]
    pub fn simd_leave_if(&mut self, cond: Value) {
        let block = |s: &Scope| match s.kind {
            ScopeKind::SimdBlock { left } => Some(left),
            _ => None,
        };
        let scopes = self.scopes.iter().enumerate().rev();
        let found = scopes.filter_map(|(n, s)| block(s).map(|v| (n, v))).next();
        match found {
            Some((n, var)) => self.leave_scope(cond, n, var),
            None => self.error("channels leave where there is no block of channels"),
        }
    }

    /// Moves the channels where `cond` is set to the end of an open SIMD block, out of all
    /// constructs that are nested in it.
    #[track_caller]
    pub fn simd_leave_to_if(&mut self, label: SimdLabel, cond: Value) {
        if self.is_open(label) {
            self.leave_scope(cond, label.depth, label.left)
        } else {
            self.error("channels leave for a block of channels that is not open")
        }
    }

    /// Moves all enabled channels to the end of an open SIMD block. The rest of the innermost
    /// construct is unreachable.
    #[track_caller]
    pub fn simd_leave_to(&mut self, label: SimdLabel) {
        if !self.is_open(label) {
            return self.error("channels leave for a block of channels that is not open");
        }
        for s in self.scopes.iter_mut().skip(label.depth + 1) {
            s.leaves = true;
        }
        let (em, rm, all) = (self.exec_mask(), self.read(label.left), self.all_channels());
        let (em, rm, _) = self.ins().goto(em, rm, all);
        self.set_mask(em);
        self.write(label.left, rm);
        let to = self.escape();
        self.ins().jump(to, &[]);
    }

    fn is_open(&self, label: SimdLabel) -> bool {
        let is = |s: &Scope| matches!(s.kind, ScopeKind::SimdBlock { left } if left == label.left);
        self.scopes.get(label.depth).is_some_and(is)
    }

    /// Lets the channels where `cond` is set return: they are disabled up to the end of the
    /// function. Results of a subroutine then need a lane per channel. A thread without channels
    /// ends.
    #[track_caller]
    pub fn simd_return_if(&mut self, cond: Value, results: &[Value]) {
        let cond = self.condition(cond);
        let (em, none) = (self.exec_mask(), self.no_channels());
        if !results.is_empty() {
            let leaving = self.ins().band(em, cond);
            self.record_results(leaving, results);
        }
        let (em, _, none) = self.ins().goto(em, none, cond);
        self.return_of_channels(em);
        let to = self.escape();
        self.skip_if(none, to);
    }

    /// Prints a line for each enabled channel: see [`Ins::printf`](super::Ins::printf).
    #[track_caller]
    pub fn simd_printf(&mut self, format: DataRef, args: &[Value]) {
        let em = self.exec_mask();
        self.ins().printf(format, args, Some(em));
    }

    /// Asserts `cond` in the enabled channels. Channels where it is not set print `message`, which
    /// should name the location, and return as by [`FunctionBuilder::simd_return_if`].
    #[track_caller]
    pub fn simd_assert(&mut self, cond: Value, message: DataRef, results: &[Value]) {
        let cond = self.condition(cond);
        let em = self.exec_mask();
        let fails = self.ins().bnot(cond);
        let here = self.ins().band(em, fails);
        self.ins().printf(message, &[], Some(here));
        self.simd_return_if(fails, results);
    }

    /// Builds `return` under divergence: the enabled channels return, and the others continue at
    /// the points where they wait.
    #[track_caller]
    pub(super) fn return_here(&mut self, results: &[Value]) {
        let em = self.exec_mask();
        self.record_results(em, results);
        let (none, all) = (self.no_channels(), self.all_channels());
        let (em, _, _) = self.ins().goto(em, none, all);
        self.return_of_channels(em);
        let to = self.escape();
        self.ins().jump(to, &[]);
    }

    #[track_caller]
    fn return_of_channels(&mut self, left: Value) {
        self.set_mask(left);
        for s in &mut self.scopes {
            s.leaves = true;
        }
    }

    /// Records the results of channels that return before the others.
    #[track_caller]
    fn record_results(&mut self, leaving: Value, results: &[Value]) {
        let want = self.func.sig.results.clone();
        let have: Vec<Type> = results.iter().map(|&v| self.ty(v)).collect();
        if want != have {
            self.wrong_results(&want, &have);
            return;
        }
        let lanes = self.mask_lanes();
        if let Some(n) = want.iter().position(|t| t.lanes() != lanes) {
            self.error(format!(
                "some channels return {} of type {}, which has no lane for each",
                results[n], want[n]
            ));
            return;
        }
        if want.is_empty() {
            return;
        }
        if self.returned.is_empty() {
            let none = self.in_entry_constant(lanes);
            let var = self.declare_var(Type::clamped(Scalar::B1, lanes));
            self.ssa.define(self.entry, var, none);
            self.returned.push(var);
            for &ty in &want {
                let var = self.declare_var(ty);
                self.returned.push(var);
            }
        }
        let vars = self.returned.clone();
        let Some((&returned, vars)) = vars.split_first() else {
            return;
        };
        let before = self.read(returned);
        let now = self.ins().bor(before, leaving);
        self.write(returned, now);
        for (&var, &v) in vars.iter().zip(results) {
            let old = self.read(var);
            let merged = self.ins().select(leaving, v, old);
            self.write(var, merged);
        }
    }

    /// Returns a subroutine's results at its end, merged with those of channels that returned
    /// early.
    #[track_caller]
    pub(super) fn all_results(&mut self, results: &[Value]) -> Vec<Value> {
        let vars = self.returned.clone();
        let Some((&returned, vars)) = vars.split_first() else {
            return results.to_vec();
        };
        if vars.len() != results.len() {
            return results.to_vec();
        }
        let returned = self.read(returned);
        let merge = |(&var, &v): (&Variable, &Value)| {
            let early = self.read(var);
            if self.ty(early) == self.ty(v) {
                self.ins().select(returned, early, v)
            } else {
                v
            }
        };
        vars.iter().zip(results).map(merge).collect()
    }

    /// Builds the block in which a function without channels ends.
    #[track_caller]
    pub(super) fn build_leave_block(&mut self) {
        let Some(block) = self.leave.take() else {
            return;
        };
        self.seal_block(block);
        self.switch_to_block(block);
        let vars = self.returned.clone();
        let results: Vec<Value> = vars.iter().skip(1).map(|&v| self.read(v)).collect();
        if results.len() != self.func.sig.results.len() {
            self.error("channels return without results in a function that has some");
        }
        self.ins().plain_return(&results);
    }
}
