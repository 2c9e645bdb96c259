//! Functions of `sync`.

crate::named_enum! {
    /// Function of a `sync` instruction.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum SyncFn {
        /// Waits for its own annotation only.
        Nop = "nop",
        /// Waits until sources of outstanding instructions are read.
        Allrd = "allrd",
        /// Waits until destinations of outstanding instructions are written.
        Allwr = "allwr",
        /// Waits on a fence.
        Fence = "fence",
        /// Waits on a barrier.
        Bar = "bar",
        /// Waits on the host.
        Host = "host",
    }
}
