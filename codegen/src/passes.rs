//! Passes: their names, the levels that they are part of, and what each did.
//!
//! A row here is a switch: `--without NAME` leaves the pass out. The order and the functions of the
//! optimizer are in `opt/mod.rs`, those of machine code in `driver/pipeline.rs`.

use std::fmt;
use std::time::Duration;

gantry_isa_gen::named_enum! {
    /// Optimization level. Names are those that `-O` takes.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub enum OptLevel {
        /// No optimization: each operation is compiled as it stands.
        O0 = "0",
        /// Shorter code in little time: for hosts that compile when they draw.
        /// Loops stay loops, and instructions in their order.
        O1 = "1",
        /// All passes.
        #[default]
        O2 = "2",
    }
}

macro_rules! passes {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $level:ident,)*) => {
        /// Pass, or a part of one that can be turned off by itself.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Pass {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Pass {
            /// Every pass, in the order of the rows.
            pub const ALL: [Pass; [$($name),*].len()] = [$(Pass::$variant),*];

            /// Name, as `--without` takes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Pass::$variant => $name,)*
                }
            }

            /// Summary of what it does.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Pass::$variant => concat!($($doc),*).trim_ascii(),)*
                }
            }

            /// Lowest level that it is part of.
            pub const fn level(self) -> OptLevel {
                match self {
                    $(Pass::$variant => OptLevel::$level,)*
                }
            }
        }
    };
}

passes! {
    // Optimizer, in `opt`.
    /// E-graph: global value numbering, constant folding, placement by cost.
    Egraph "egraph" O1,
    /// Algebraic rules of the e-graph.
    Rules "rules" O1,
    /// Loop-invariant code motion, a part of the e-graph's elaboration.
    Licm "licm" O1,
    /// Runs of the e-graph before the memory passes and before unrolling, besides the last one.
    EarlyEgraph "early-egraph" O2,
    /// Full unrolling of loops with few iterations.
    Unroll "unroll" O2,
    /// Peeling of first iterations that make the others simpler.
    Peel "peel" O2,
    /// Partial unrolling of loops that load or store neighbouring elements.
    UnrollRuntime "unroll-runtime" O2,
    /// Jump threading.
    JumpThreading "jump-threading" O2,
    /// Loop rotation: the condition moves to the end.
    RotateLoops "rotate-loops" O1,
    /// Block merging; constant branches and redundant block parameters go.
    SimplifyCfg "simplify-cfg" O1,
    /// Scalar replacement of vectors that loops carry and that are used by parts.
    Sroa "sroa" O2,
    /// Superword-level parallelism: operations on single elements become one on the vectors.
    Slp "slp" O2,
    /// Demanded lanes: operations shrink to the lanes that something reads.
    DemandedLanes "demanded-lanes" O2,
    /// Contraction of products and sums to fused multiply-add, where the kernel allows it.
    FuseFma "fuse-fma" O1,
    /// Pointer arguments become surfaces that are accessed by 32-bit offsets.
    StatelessToStateful "stateless-to-stateful" O1,
    /// Offsets of 64-bit addresses are computed in 32 bits.
    NarrowOffsets "narrow-offsets" O1,
    /// If-conversion: short divergent branches around accesses become predicated accesses.
    IfConversion "if-conversion" O1,
    /// 64-bit integers become pairs of dwords, on platforms whose ALU has no 64-bit integers.
    LowerInt64 "lower-int64" O1,
    /// Accesses of several bytes or words per lane become accesses of dwords.
    WidenAccesses "widen-accesses" O1,
    /// Loads of values that were loaded or stored before are replaced by these.
    LoadForwarding "load-forwarding" O1,
    /// Dead store elimination.
    DeadStores "dead-stores" O1,
    /// Loop-invariant loads move before their loops.
    LoadLicm "load-licm" O2,
    /// Loads of neighbouring elements become one load.
    VectorizeLoads "vectorize-loads" O1,
    /// Stores to neighbouring elements become one store.
    VectorizeStores "vectorize-stores" O1,
    // Machine code: each is a stage of the pipeline, or a part of one.
    /// Large parameters of subroutines are passed by reference.
    PassByReference "pass-by-reference" O1,
    /// Copy coalescing before allocation: moves to and from parts of registers go.
    CopyCoalescing "copy-coalescing" O1,
    /// Constants in registers are made once for all their uses, two at a time.
    CombineConstants "combine-constants" O1,
    /// Scheduling before allocation: loads move up within their blocks.
    PreRaSchedule "pre-ra-schedule" O2,
    /// Addresses of indirect operands are loaded once, after allocation.
    AddressCse "address-cse" O1,
    /// Scheduling after allocation: an order that hides latencies.
    Schedule "schedule" O2,
    /// Compact forms of instructions, a part of emission.
    Compact "compact" O1,
}

impl Pass {
    /// Returns the pass of a name.
    pub fn from_name(name: &str) -> Option<Pass> {
        Pass::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// Set of passes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PassSet(u64);

impl PassSet {
    /// Passes of a level.
    pub fn of(level: OptLevel) -> PassSet {
        let mut out = PassSet::default();
        for pass in Pass::ALL {
            if level != OptLevel::O0 && pass.level() <= level {
                out.insert(pass);
            }
        }
        out
    }

    /// Adds a pass.
    pub fn insert(&mut self, pass: Pass) {
        self.0 |= 1 << pass as u32;
    }

    /// Returns true if the set has a pass.
    pub fn contains(self, pass: Pass) -> bool {
        self.0 >> (pass as u32) & 1 == 1
    }

    /// Passes that are in this set and not in another.
    pub fn without(self, other: PassSet) -> PassSet {
        PassSet(self.0 & !other.0)
    }

    /// Passes of the set, in order.
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

/// Work of a pass on a kernel and its subroutines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassStats {
    /// Pass.
    pub pass: Pass,
    /// Number of changes.
    pub changes: u32,
    /// Time; zero for a part of another pass.
    pub time: Duration,
}
