//! Stack of open constructs: targets of `else`, ends and `break`, and destinations of control flow.

use super::{FunctionBuilder, Variable};
use crate::ir::{Block, Value};
use cranelift_entity::EntityRef;

/// Single-entry single-exit region. Lookups of variables that it does not assign skip it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeseRegion {
    /// Block before the region.
    from: Block,
    /// Clock of assignments at the start.
    start: u32,
    /// Index of the first block that was made in the region.
    first: usize,
}

/// Kind of an open construct.
#[derive(Clone, Debug)]
pub(super) enum ScopeKind {
    /// First side of a divergent if.
    SimdThen {
        /// Channels that take the second side.
        waiting: Value,
    },
    /// Second side of a divergent if.
    SimdElse {
        /// Channels that took the first side.
        done: Value,
        /// Set if some of these may have left.
        left: bool,
    },
    /// Block that channels may leave for its end.
    SimdBlock {
        /// Channels that left.
        left: Variable,
    },
    /// Divergent loop. Control goes to its latch when no channel is left.
    SimdLoop {
        header: Block,
        exit: Block,
        /// Empty mask.
        none: Value,
        /// Channels that left the loop.
        broken: Variable,
        /// Channels that wait for the next iteration, if any do.
        waiting: Variable,
        continues: bool,
        /// The loop and its preheader, up to the exit.
        whole: SeseRegion,
    },
    /// First side of a uniform if, with the block of the second side.
    Then { other: Block },
    /// Second side of a uniform if.
    Else,
    /// Uniform loop.
    Loop { header: Block, whole: SeseRegion },
}

/// Open construct.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    /// End of the construct. Control goes there from a divergent construct when no channel is left.
    pub(super) to: Block,
    pub(super) region: SeseRegion,
    /// Set if channels may leave it for an outer loop or the function's end.
    pub(super) leaves: bool,
}

impl Scope {
    pub(super) fn is_simd(&self) -> bool {
        !matches!(
            self.kind,
            ScopeKind::Then { .. } | ScopeKind::Else | ScopeKind::Loop { .. }
        )
    }

    /// Returns the name used in messages.
    fn name(&self) -> &'static str {
        match self.kind {
            ScopeKind::SimdThen { .. } | ScopeKind::SimdElse { .. } => "a divergent if",
            ScopeKind::SimdBlock { .. } => "a block of channels",
            ScopeKind::SimdLoop { .. } => "a divergent loop",
            ScopeKind::Then { .. } | ScopeKind::Else => "a uniform if",
            ScopeKind::Loop { .. } => "a uniform loop",
        }
    }
}

impl FunctionBuilder<'_> {
    /// Returns true if only some of the channels may run here.
    pub(super) fn is_divergent(&self) -> bool {
        self.scopes.iter().any(Scope::is_simd)
    }

    /// Begins a region at the end of the current block. Blocks of the construct itself were made
    /// before.
    pub(super) fn region(&self) -> SeseRegion {
        SeseRegion {
            from: self.position,
            start: self.ssa.clock(),
            first: self.func.dfg.num_blocks(),
        }
    }

    /// Ends a region at a block, so that lookups of variables that it does not assign skip it. Does
    /// nothing if blocks made in the region are still to be built.
    #[track_caller]
    pub(super) fn end_region(&mut self, to: Block, region: SeseRegion) {
        let mut open = self.open.range(Block::new(region.first)..);
        if open.all(|b| *b == to || Some(*b) == self.leave) {
            self.ssa.skip(to, region.from, region.start);
        }
    }

    /// Pops the innermost construct, if it is of the expected kind.
    #[track_caller]
    pub(super) fn end_scope(&mut self, what: &str, is: fn(&ScopeKind) -> bool) -> Option<Scope> {
        match self.scopes.pop_if(|s| is(&s.kind)) {
            None => {
                let inside = self.scopes.last().map(Scope::name);
                let inside = inside.map_or("none was begun".to_string(), |s| format!("in {s}"));
                self.error(format!("{what} without its beginning: {inside}"));
                None
            }
            found => found,
        }
    }

    /// Continues at the end of a construct, to which the current block leads.
    #[track_caller]
    pub(super) fn arrive(&mut self, to: Block, region: SeseRegion) {
        if !self.is_filled() {
            self.ins().jump(to, &[]);
        }
        self.seal_block(to);
        self.switch_to_block(to);
        self.end_region(to, region);
    }

    /// Reports constructs that were not ended.
    #[track_caller]
    pub(super) fn all_ended(&mut self) {
        while let Some(s) = self.scopes.pop() {
            self.error(format!("{} was not ended", s.name()));
        }
    }
}
