//! Constructs being built: which one an `else`, an end or a `break` belongs to, and where control
//! goes.

use super::{FunctionBuilder, Variable};
use crate::ir::{Block, Value};
use cranelift_entity::EntityRef;

/// A part of a function with one way in and one way out, for variables that nothing in it assigns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// The block before it.
    from: Block,
    /// When it was begun.
    start: u32,
    /// Blocks from this number on were made in it.
    first: usize,
}

/// What a construct is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The first side of a divergent if.
    SimdThen {
        /// Channels that take the other side.
        waiting: Value,
    },
    /// The second side.
    SimdElse {
        /// Channels that took the first side.
        done: Value,
        /// Whether some of them may have left.
        left: bool,
    },
    /// What channels may leave for its end.
    SimdBlock {
        /// Channels that left.
        left: Variable,
    },
    /// A divergent loop. Control goes to its latch when no channel is left.
    SimdLoop {
        header: Block,
        exit: Block,
        /// No channels.
        none: Value,
        /// Channels that broke out.
        broken: Variable,
        /// Channels that wait for the next iteration, if any do.
        waiting: Variable,
        continues: bool,
        /// The loop and what is before it, up to its exit.
        whole: Region,
    },
    /// The first side of a uniform if; the block of the second.
    Then { other: Block },
    /// The second side.
    Else,
    /// A uniform loop.
    Loop { header: Block, whole: Region },
}

/// A construct.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) kind: Kind,
    /// Where its end is: control goes there from a divergent construct when no channel is left.
    pub(super) to: Block,
    pub(super) region: Region,
    /// Whether channels may leave it for a loop or the function's end.
    pub(super) leaves: bool,
}

impl Scope {
    pub(super) fn is_simd(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Then { .. } | Kind::Else | Kind::Loop { .. }
        )
    }

    /// What it is called in messages.
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::SimdThen { .. } | Kind::SimdElse { .. } => "a divergent if",
            Kind::SimdBlock { .. } => "a block of channels",
            Kind::SimdLoop { .. } => "a divergent loop",
            Kind::Then { .. } | Kind::Else => "a uniform if",
            Kind::Loop { .. } => "a uniform loop",
        }
    }
}

impl FunctionBuilder<'_> {
    /// Whether only some of the channels may run here.
    pub(super) fn is_divergent(&self) -> bool {
        self.scopes.iter().any(Scope::is_simd)
    }

    /// A region that begins at the end of the current block. The blocks of its construct were made
    /// before.
    pub(super) fn region(&self) -> Region {
        Region {
            from: self.position,
            start: self.ssa.clock(),
            first: self.func.dfg.num_blocks(),
        }
    }

    /// Ends a region at a block: variables that nothing assigned in it are what they were before,
    /// without looking. Not if blocks that were made in it are still to be built.
    #[track_caller]
    pub(super) fn end_region(&mut self, to: Block, region: Region) {
        let mut open = self.open.range(Block::new(region.first)..);
        if open.all(|b| *b == to || Some(*b) == self.leave) {
            self.ssa.skip(to, region.from, region.start);
        }
    }

    /// Takes the innermost construct.
    #[track_caller]
    pub(super) fn end_scope(&mut self, what: &str, is: fn(&Kind) -> bool) -> Option<Scope> {
        match self.scopes.pop_if(|s| is(&s.kind)) {
            None => {
                let inside = self.scopes.last().map(Scope::name);
                let inside = inside.map_or("none was begun".to_string(), |s| format!("in {s}"));
                self.mistake(format!("{what} without its beginning: {inside}"));
                None
            }
            found => found,
        }
    }

    /// Goes on at a construct's end, which the current block leads to.
    #[track_caller]
    pub(super) fn arrive(&mut self, to: Block, region: Region) {
        if !self.is_filled() {
            self.ins().jump(to, &[]);
        }
        self.seal_block(to);
        self.switch_to_block(to);
        self.end_region(to, region);
    }

    /// Tells of constructs that were not ended.
    #[track_caller]
    pub(super) fn all_ended(&mut self) {
        while let Some(s) = self.scopes.pop() {
            self.mistake(format!("{} was not ended", s.name()));
        }
    }
}
