//! Functions of `sync`.

/// Function of a `sync` instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SyncFn {
    /// Waits for its own annotation only.
    Nop,
    /// Waits until sources of outstanding instructions are read.
    Allrd,
    /// Waits until destinations of outstanding instructions are written.
    Allwr,
    /// Waits on a fence.
    Fence,
    /// Waits on a barrier.
    Bar,
    /// Waits on the host.
    Host,
}

impl SyncFn {
    /// Every function.
    pub const ALL: [SyncFn; 6] = [
        SyncFn::Nop,
        SyncFn::Allrd,
        SyncFn::Allwr,
        SyncFn::Fence,
        SyncFn::Bar,
        SyncFn::Host,
    ];

    /// Returns the name after `sync.`.
    pub const fn name(self) -> &'static str {
        match self {
            SyncFn::Nop => "nop",
            SyncFn::Allrd => "allrd",
            SyncFn::Allwr => "allwr",
            SyncFn::Fence => "fence",
            SyncFn::Bar => "bar",
            SyncFn::Host => "host",
        }
    }
}
