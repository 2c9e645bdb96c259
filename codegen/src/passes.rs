//! Passes and stages: their names, and what each is for.
//!
//! A row of a pass is a switch: `--without NAME` leaves the pass out, and a level says from which
//! `-O` on it runs. The order and the functions of the optimizer's are in `opt/mod.rs`.
//!
//! A row of a stage is a step of the pipeline, in the order in which they run. A stage that is a
//! pass names its switch. `--print-after`, the `test` commands of filetests and the table in
//! `docs/pipeline.md` are made of the rows. Functions of passes over machine code are in
//! `mir_opt/mod.rs`, those of other stages in `driver/pipeline.rs`.

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
        gantry_isa_gen::named_enum! {
            /// Pass, or a part of one that can be turned off by itself. Its name is that which
            /// `--without` takes.
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub enum Pass {
                $($(#[doc = $doc])* $variant = $name,)*
            }
        }

        impl Pass {
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
    /// Dwords whose numbers fit words become words, where these take fewer instructions.
    NarrowInts "narrow-ints" O2,
    /// Quotients as products with reciprocals, where the kernel allows it.
    Reciprocals "reciprocals" O1,
    /// Contraction of products and sums to fused multiply-add, where the kernel allows it.
    FuseFma "fuse-fma" O1,
    /// Loads of constant data at known addresses become constants.
    FoldLoads "fold-loads" O1,
    /// Pointer arguments become surfaces that are accessed by 32-bit offsets.
    StatelessToStateful "stateless-to-stateful" O1,
    /// Offsets of 64-bit addresses are computed in 32 bits.
    NarrowOffsets "narrow-offsets" O1,
    /// Post-increment compares: tests for equality read the next value of a counter.
    PostInc "post-inc" O1,
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
    // A part of the stage `legalize-ops`.
    /// Jump tables for `switch` with dense cases.
    JumpTables "jump-tables" O1,
    // Machine code: each is a stage of the pipeline, or a part of one.
    /// Large parameters of subroutines are passed by reference.
    PassByReference "pass-by-reference" O1,
    /// Copy coalescing before allocation: moves to and from parts of registers go.
    CopyCoalescing "copy-coalescing" O1,
    /// Constants in registers are made once for all their uses, two at a time.
    CombineConstants "combine-constants" O1,
    /// Dead code elimination: instructions whose results nothing reads go.
    DeadCode "dead-code" O1,
    /// Scheduling before allocation: loads move up within their blocks.
    PreRaSchedule "pre-ra-schedule" O2,
    /// Addresses of indirect operands are loaded once, after allocation.
    AddressCse "address-cse" O1,
    /// Scheduling after allocation: an order that hides latencies.
    Schedule "schedule" O2,
    /// Compact forms of instructions, a part of emission.
    Compact "compact" O1,
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

gantry_isa_gen::named_enum! {
    /// Form of a kernel's code between two stages. Names are those of the docs.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum FormKind {
        /// IR: the kernel and the subroutines that it calls.
        Ir = "IR",
        /// Bales, logical sends and machine instructions.
        Lowered = "lowered",
        /// Machine instructions over virtual registers and virtual flags.
        VirtualFlags = "machine code, virtual flags",
        /// Machine instructions over virtual registers.
        Machine = "machine code",
        /// Machine instructions over virtual registers, and their liveness.
        Live = "machine code with liveness",
        /// Machine instructions, and the place of each virtual register in the GRF file.
        Allocated = "allocated code",
        /// Instructions over physical registers.
        Physical = "physical instructions",
        /// Bytes.
        Bytes = "bytes",
    }
}

macro_rules! stages {
    ($(
        $(#[doc = $doc:literal])*
        $stage:ident $name:literal $from:ident => $to:ident $room:literal $(if $pass:ident)?,
    )*) => {
        gantry_isa_gen::named_enum! {
            /// Stage of the pipeline. Its name is that which `--print-after` takes.
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub enum Stage {
                $($(#[doc = $doc])* $stage = $name,)*
            }
        }

        impl Stage {
            /// Summary of what it does.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Stage::$stage => concat!($($doc),*).trim_ascii(),)*
                }
            }

            /// File or folder of `codegen/src` that it is in.
            pub const fn room(self) -> &'static str {
                match self {
                    $(Stage::$stage => $room,)*
                }
            }

            /// Form of the code that it takes.
            pub const fn input(self) -> FormKind {
                match self {
                    $(Stage::$stage => FormKind::$from,)*
                }
            }

            /// Form of the code that it makes.
            pub const fn output(self) -> FormKind {
                match self {
                    $(Stage::$stage => FormKind::$to,)*
                }
            }

            /// Pass that it is, if it can be left out.
            pub const fn pass(self) -> Option<Pass> {
                match self {
                    $(Stage::$stage => stages!(@pass $($pass)?),)*
                }
            }
        }
    };
    (@pass) => { None };
    (@pass $pass:ident) => { Some(Pass::$pass) };
}

stages! {
    /// Checks the rules of the IR, so that nothing behind it panics.
    Verify "verify" Ir => Ir "ir/verifier/",
    /// Inlines subroutines and makes a function group: a kernel, and the subroutines that it still
    /// calls.
    Inline "inline" Ir => Ir "opt/inline.rs",
    /// Optimizes: value numbering, folding, rules, memory, loops, vectors.
    Opt "opt" Ir => Ir "opt/",
    /// Rewrites operations that the target lacks.
    LegalizeOps "legalize-ops" Ir => Ir "legalize_ops/",
    /// Lowers IR to bales and logical sends, by ISLE rules.
    Lower "lower" Ir => Lowered "isel/lower/",
    /// Makes payloads and descriptors of logical sends.
    LowerSends "lower-sends" Lowered => Lowered "isel/lower_sends/",
    /// Passes large parameters of subroutines by reference, if that saves instructions.
    PassByReference "pass-by-reference" Lowered => Lowered "mir_opt/pass_by_reference/" if PassByReference,
    /// Splits bales into instructions that the hardware takes.
    SplitRegions "split-regions" Lowered => VirtualFlags "isel/split_regions/",
    /// Allocates flags: the lowest free one within a block, else by regalloc2, which spills to
    /// dwords of the GRF file.
    FlagAlloc "flag-alloc" VirtualFlags => Machine "regalloc/flag_alloc/",
    /// Coalesces copies: payloads are made in place, responses are read where they came.
    CopyCoalescing "copy-coalescing" Machine => Machine "mir_opt/copy_coalescing.rs" if CopyCoalescing,
    /// Combines constants: registers made of immediates once for all their uses.
    CombineConstants "combine-constants" Machine => Machine "mir_opt/combine_constants/" if CombineConstants,
    /// Removes instructions whose results nothing reads.
    DeadCode "dead-code" Machine => Machine "mir_opt/dead_code.rs" if DeadCode,
    /// Moves loads up within their blocks, as far as registers allow.
    PreRaSchedule "pre-ra-schedule" Machine => Machine "sched/" if PreRaSchedule,
    /// Computes live ranges, and demand in bytes before, during and after each instruction.
    Liveness "liveness" Machine => Live "mir/liveness/",
    /// Rematerializes cheap values where demand exceeds the GRF file.
    Remat "remat" Live => Live "regalloc/grf/remat/",
    /// Lets values of different channels share a register where demand exceeds the GRF file.
    LaneSharing "lane-sharing" Live => Live "regalloc/grf/lane_sharing/",
    /// Gives each virtual register a byte address in the GRF file.
    Regalloc "regalloc" Live => Allocated "regalloc/",
    /// Loads addresses of indirect operands once.
    AddressCse "address-cse" Allocated => Allocated "mir_opt/address_cse/" if AddressCse,
    /// Orders instructions within blocks to hide latencies.
    Schedule "schedule" Allocated => Allocated "sched/" if Schedule,
    /// Makes instructions over physical registers and resolves branches.
    Physical "physical" Allocated => Physical "emit/",
    /// Annotates what each instruction waits for, on platforms without hardware scoreboard.
    Scoreboard "scoreboard" Physical => Physical "scoreboard/",
    /// Encodes instructions, compact where there is a compact form.
    Emit "emit" Physical => Bytes "emit/bytes.rs",
}
