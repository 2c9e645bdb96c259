//! Levels, passes, and what a pass did.

use std::fmt;
use std::time::Duration;

/// How much is done to make code better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum OptLevel {
    /// Nothing: each operation is compiled as it stands.
    O0,
    /// Shorter code in little time: for hosts that compile when they draw.
    /// Loops stay loops, and instructions in their order.
    O1,
    /// All there is.
    #[default]
    O2,
}

impl OptLevel {
    /// Every level.
    pub const ALL: [OptLevel; 3] = [OptLevel::O0, OptLevel::O1, OptLevel::O2];

    /// The name, as `-O` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            OptLevel::O0 => "0",
            OptLevel::O1 => "1",
            OptLevel::O2 => "2",
        }
    }

    /// The level of a name.
    pub fn from_name(name: &str) -> Option<OptLevel> {
        OptLevel::ALL.into_iter().find(|l| l.name() == name)
    }
}

macro_rules! passes {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $level:ident,)*) => {
        /// A pass of the optimizer, or a part of one that can be turned off by itself.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Pass {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Pass {
            /// Every pass.
            pub const ALL: [Pass; [$($name),*].len()] = [$(Pass::$variant),*];

            /// The name, as `--without` takes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Pass::$variant => $name,)*
                }
            }

            /// The lowest level that it is part of.
            pub const fn level(self) -> OptLevel {
                match self {
                    $(Pass::$variant => OptLevel::$level,)*
                }
            }
        }
    };
}

passes! {
    /// Values computed once, constants folded, values placed where they cost least.
    Egraph "egraph" O1,
    /// The algebraic rules of the e-graph.
    Rules "rules" O1,
    /// What a loop computes again and again, computed before it; part of the e-graph's elaboration.
    Invariants "invariants" O1,
    /// The e-graph before the passes on memory and, where loops are unrolled, on loops; not only
    /// behind them all.
    EarlyEgraph "early-egraph" O2,
    /// Loops of few iterations made straight.
    Unroll "unroll" O2,
    /// First iterations before their loops, where the others are simpler then.
    Peel "peel" O2,
    /// Several iterations at once of loops that load neighbours.
    UnrollRuntime "unroll-runtime" O2,
    /// Branches passed by who knows which way they go.
    Thread "thread" O2,
    /// Loops that begin with their condition made to end with it.
    Rotate "rotate" O1,
    /// Blocks merged, branches by constants and parameters that are always the same taken out.
    Tidy "tidy" O1,
    /// Vectors that loops carry, and of which only parts are written and read, as their parts.
    Pieces "pieces" O2,
    /// Operations on single elements of vectors, as one on the vectors.
    Extracts "extracts" O2,
    /// Operations on the lanes that anything reads of them alone.
    Lanes "lanes" O2,
    /// Products made part of the sums that they are in, where the kernel allows it.
    Contract "contract" O1,
    /// Large parameters of subroutines passed by where they are.
    ByAddress "by-address" O1,
    /// Moves to and from parts of registers done without, before allocation.
    Coalesce "coalesce" O1,
    /// Constants in registers made once for all that want them, two at a time.
    Constants "constants" O1,
    /// Loads early in their blocks, before allocation.
    Raise "raise" O2,
    /// Addresses of indirect operands loaded once, after allocation.
    Addresses "addresses" O1,
    /// Instructions in an order that hides latencies, after allocation.
    Schedule "schedule" O2,
    /// Instructions in their compact form, as they are emitted.
    Compact "compact" O1,
    /// Buffers accessed as surfaces, by 32-bit offsets.
    Surfaces "surfaces" O1,
    /// What is added to 64-bit addresses, computed in 32 bits.
    Offsets "offsets" O1,
    /// Short branches of lanes around accesses to memory as accesses under a flag.
    Flatten "flatten" O1,
    /// Quadwords as two vectors of doublewords, where the ALU has no 64-bit integers.
    Pairs "pairs" O1,
    /// Accesses of several bytes or words a lane as of dwords.
    Pack "pack" O1,
    /// Loads of what was loaded or stored before.
    Forward "forward" O1,
    /// Stores that nobody can read.
    DeadStores "dead-stores" O1,
    /// Loads that give the same in each iteration of a loop, before it.
    HoistLoads "hoist-loads" O2,
    /// Loads of neighbours as one.
    MergeLoads "merge-loads" O1,
    /// Stores to neighbours as one.
    MergeStores "merge-stores" O1,
}

impl Pass {
    /// The pass of a name.
    pub fn from_name(name: &str) -> Option<Pass> {
        Pass::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// A set of passes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PassSet(u64);

impl PassSet {
    /// The passes of a level.
    pub fn of(level: OptLevel) -> PassSet {
        let mut out = PassSet::default();
        for pass in Pass::ALL {
            if level != OptLevel::O0 && pass.level() <= level {
                out.insert(pass);
            }
        }
        out
    }

    /// Adds one.
    pub fn insert(&mut self, pass: Pass) {
        self.0 |= 1 << pass as u32;
    }

    /// Whether one is in it.
    pub fn contains(self, pass: Pass) -> bool {
        self.0 >> (pass as u32) & 1 == 1
    }

    /// What is in it and not in another.
    pub fn without(self, other: PassSet) -> PassSet {
        PassSet(self.0 & !other.0)
    }

    /// Those in it, in order.
    pub fn iter(self) -> impl Iterator<Item = Pass> {
        Pass::ALL.into_iter().filter(move |p| self.contains(*p))
    }
}

impl FromIterator<Pass> for PassSet {
    fn from_iter<I: IntoIterator<Item = Pass>>(passes: I) -> PassSet {
        let mut out = PassSet::default();
        passes.into_iter().for_each(|p| out.insert(p));
        out
    }
}

impl fmt::Debug for PassSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What a pass did to a kernel and its subroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassStats {
    /// The pass.
    pub pass: Pass,
    /// How often it changed something.
    pub changes: u32,
    /// Its time; none for a part of another pass.
    pub time: Duration,
}
