//! Structured control flow of the whole thread, by conditions of one lane. Uniform and divergent
//! constructs may be nested in each other.

use super::FunctionBuilder;
use super::scope::{Scope, ScopeKind};
use crate::ir::{IntCC, Scalar, Type, Value};

impl FunctionBuilder<'_> {
    /// Checks that a condition has one lane.
    #[track_caller]
    fn bit(&mut self, cond: Value) -> Value {
        let want = Type::scalar_of(Scalar::B1);
        let have = self.ty(cond);
        if have == want {
            return cond;
        }
        self.error(format!(
            "the condition {cond} is {have}: a uniform one is b1; `any` or `all` makes one, `simd_if` takes one per channel"
        ));
        self.ins().bconst(1, 0)
    }

    /// Begins an if on a `b1`, up to [`FunctionBuilder::uniform_else`] or
    /// [`FunctionBuilder::uniform_if_end`].
    #[track_caller]
    pub fn uniform_if_begin(&mut self, cond: Value) {
        let (then, other) = (self.create_block(), self.create_block());
        let to = self.create_block();
        let region = self.region();
        let cond = self.bit(cond);
        self.ins().brif(cond, then, &[], other, &[]);
        self.seal_block(then);
        self.seal_block(other);
        self.switch_to_block(then);
        self.scopes.push(Scope {
            kind: ScopeKind::Then { other },
            to,
            region,
            leaves: false,
        });
    }

    /// Begins the else side.
    #[track_caller]
    pub fn uniform_else(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::Then { .. });
        let Some(then) = self.end_scope("the else of a uniform if", is) else {
            return;
        };
        let ScopeKind::Then { other } = then.kind else {
            return;
        };
        if !self.is_filled() {
            self.ins().jump(then.to, &[]);
        }
        self.switch_to_block(other);
        self.scopes.push(Scope {
            kind: ScopeKind::Else,
            ..then
        });
    }

    /// Ends a uniform if.
    #[track_caller]
    pub fn uniform_if_end(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::Then { .. } | ScopeKind::Else);
        let Some(scope) = self.end_scope("the end of a uniform if", is) else {
            return;
        };
        if let ScopeKind::Then { other } = scope.kind {
            if !self.is_filled() {
                self.ins().jump(scope.to, &[]);
            }
            self.switch_to_block(other);
        }
        self.arrive(scope.to, scope.region);
    }

    /// Runs `then` if a `b1` is set.
    #[track_caller]
    pub fn uniform_if(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        self.uniform_if_begin(cond);
        then(self);
        self.uniform_if_end();
    }

    /// Runs `then` if a `b1` is set, else `otherwise`.
    #[track_caller]
    pub fn uniform_if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        self.uniform_if_begin(cond);
        then(self);
        self.uniform_else();
        otherwise(self);
        self.uniform_if_end();
    }

    /// Begins a uniform loop, up to [`FunctionBuilder::uniform_loop_end`].
    #[track_caller]
    pub fn uniform_loop_begin(&mut self) {
        let (header, to) = (self.create_block(), self.create_block());
        let whole = self.region();
        self.ins().jump(header, &[]);
        self.switch_to_block(header);
        let region = self.region();
        self.scopes.push(Scope {
            kind: ScopeKind::Loop { header, whole },
            to,
            region,
            leaves: false,
        });
    }

    /// Ends a uniform loop, which repeats until [`FunctionBuilder::uniform_break_if`] leaves it.
    #[track_caller]
    pub fn uniform_loop_end(&mut self) {
        let is = |k: &ScopeKind| matches!(k, ScopeKind::Loop { .. });
        let Some(scope) = self.end_scope("the end of a uniform loop", is) else {
            return;
        };
        let ScopeKind::Loop { header, whole } = scope.kind else {
            return;
        };
        if !self.is_filled() {
            self.ins().jump(header, &[]);
        }
        self.seal_block(header);
        self.seal_block(scope.to);
        self.switch_to_block(scope.to);
        self.end_region(scope.to, whole);
    }

    /// Repeats `body` until [`FunctionBuilder::uniform_break_if`] leaves the loop.
    #[track_caller]
    pub fn uniform_loop(&mut self, body: impl FnOnce(&mut Self)) {
        self.uniform_loop_begin();
        body(self);
        self.uniform_loop_end();
    }

    /// Repeats `body` while `cond`, computed before each iteration, returns a `b1` that is set.
    #[track_caller]
    pub fn uniform_while(
        &mut self,
        cond: impl FnOnce(&mut Self) -> Value,
        body: impl FnOnce(&mut Self),
    ) {
        self.uniform_loop(|b| {
            let go = cond(b);
            let go = b.bit(go);
            let stop = b.ins().bnot(go);
            b.uniform_break_if(stop);
            body(b);
        });
    }

    /// Runs `body` for each integer from `first` up to, not including, `end`. Both are signed, of
    /// one lane.
    #[track_caller]
    pub fn uniform_for(&mut self, first: Value, end: Value, body: impl FnOnce(&mut Self, Value)) {
        let ty = self.ty(first);
        if ty != self.ty(end) || ty.lanes() != 1 || !ty.scalar().is_int() {
            let end_type = self.ty(end);
            self.error(format!(
                "a loop from {first} of type {ty} to {end} of type {end_type}: both are integers of one lane"
            ));
            return;
        }
        let counter = self.declare_var(ty);
        self.def_var_all_lanes(counter, first);
        self.uniform_loop(|b| {
            let i = b.use_var(counter);
            let done = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, end);
            b.uniform_break_if(done);
            body(b, i);
            if b.is_filled() {
                return;
            }
            let one = b.ins().iconst(ty, 1);
            let next = b.ins().iadd(i, one);
            b.def_var_all_lanes(counter, next);
        });
    }

    /// Leaves the innermost uniform loop if a `b1` is set.
    #[track_caller]
    pub fn uniform_break_if(&mut self, cond: Value) {
        // A loop must not be left from within a divergent construct, since other channels wait in
        // it.
        let inner = self.scopes.iter().rev();
        let found = inner
            .take_while(|s| !s.is_simd())
            .find(|s| matches!(s.kind, ScopeKind::Loop { .. }));
        let Some(to) = found.map(|s| s.to) else {
            self.error(if self.is_divergent() {
                "a uniform break in a divergent construct, whose other channels wait"
            } else {
                "a uniform break outside of a uniform loop"
            });
            return;
        };
        let cond = self.bit(cond);
        let next = self.create_block();
        self.ins().brif(cond, to, &[], next, &[]);
        self.seal_block(next);
        self.switch_to_block(next);
    }
}
