//! Stages of the pipeline: names, forms of the code between them, switches.
//!
//! One row a stage, in the order in which they run. `--print-after`, the `test` commands of
//! filetests and the table in `docs/pipeline.md` are made of these rows; `pipeline.rs` has a row
//! with the function of each.

use crate::passes::Pass;

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
        /// Stage of the pipeline.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Stage {
            $($(#[doc = $doc])* $stage,)*
        }

        impl Stage {
            /// Every stage, in order.
            pub const ALL: [Stage; [$($name),*].len()] = [$(Stage::$stage),*];

            /// Name, as `--print-after` takes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Stage::$stage => $name,)*
                }
            }

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
    PassByReference "pass-by-reference" Lowered => Lowered "mir_opt/pass_by_reference.rs" if PassByReference,
    /// Splits bales into instructions that the hardware takes.
    SplitRegions "split-regions" Lowered => VirtualFlags "isel/split_regions/",
    /// Allocates flags: the lowest free one within a block, else by regalloc2, which spills to
    /// dwords of the GRF file.
    FlagAlloc "flag-alloc" VirtualFlags => Machine "regalloc/flag_alloc/",
    /// Coalesces copies: payloads are made in place, responses are read where they came.
    CopyCoalescing "copy-coalescing" Machine => Machine "mir_opt/copy_coalescing.rs" if CopyCoalescing,
    /// Combines constants: registers made of immediates once for all their uses.
    CombineConstants "combine-constants" Machine => Machine "mir_opt/combine_constants/" if CombineConstants,
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

impl Stage {
    /// Returns the stage of a name.
    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|s| s.name() == name)
    }
}
