//! Features of random machine functions, and outcomes of their allocation.

use std::fmt;

macro_rules! features {
    ($($name:ident = $text:literal,)*) => {
        /// Feature that random machine functions must cover.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Feature {
            $($name,)*
        }

        const NAMES: &[&str] = &[$($text,)*];
    };
}

features! {
    Scalar = "source: one element",
    Packed = "source: contiguous",
    Strided = "source: strided",
    Overlapping = "source: overlapping rows",
    Ternary = "source: of three-source instructions",
    Behind = "source: three-source, beyond the register's end",
    Imm = "source: immediate",
    Indirect = "source: indirect, one address",
    Rows = "source: indirect, an address per row",
    MacroSrc = "source: of a math macro",
    NullDst = "destination: none",
    PackedDst = "destination: contiguous",
    StridedDst = "destination: strided",
    Begins = "destination: starts a value, all of it",
    BeginsPart = "destination: starts a value, part of it",
    Partial = "destination: partial write",
    Early = "destination: over a GRF, written early",
    IndirectDst = "destination: indirect",
    MacroDst = "destination: of a math macro",
    Tied = "destination: also read (two addresses)",
    Dead = "destination: without readers",
    Masked = "under the execution mask",
    Predicated = "predicated",
    Select = "select",
    Send = "message of one payload",
    SendBoth = "message of two payloads",
    SendUnknown = "message of unknown lengths",
    SendPart = "message under a mask, into a live register",
    SendOver = "message that redefines a register",
    SendSilent = "message without response",
    Product = "matrix product",
    Start = "undefined value",
    Copy = "copy",
    Constant = "constant",
    Symbol = "symbol, at once",
    SymbolParts = "symbol, in two parts",
    Bytes1 = "register of 1 byte",
    Bytes7 = "register of 2 to 7 bytes",
    BytesPart = "register of 8 bytes to a GRF",
    BytesGrf = "register of a GRF",
    Grfs2 = "register of up to 2 GRFs",
    Grfs8 = "register of up to 8 GRFs",
    Grfs31 = "register of up to 31 GRFs",
    Grfs32 = "register of 32 GRFs",
    Natural = "alignment: natural",
    More = "alignment: more",
    Less = "alignment: less",
    Fixed = "place: the thread's payload",
    FixedOver = "place: payload over payload",
    AtLeast = "place: the upper registers",
    Straight = "shape: straight",
    Diamond = "shape: two arms",
    Arm = "shape: one arm",
    While = "shape: loop with its test first",
    Until = "shape: loop with its test last",
    Nested = "shape: loop in a loop",
    Carried = "shape: value carried round a loop",
    Break = "shape: loop left in the middle",
    EndEarly = "shape: end of the thread in an arm",
    Endless = "shape: loop without end",
    Exec = "shape: branch on the execution mask",
    Table = "shape: jump by a register",
    Call = "call",
    CallInLoop = "call in a loop",
    CallOfCall = "call in a routine",
    Across = "value across a call",
    InPlace = "value passed in its place",
    Returns = "routine with several returns",
    NeverReturns = "routine that never returns",
    Bdw = "target: bdw",
    Skl = "target: skl",
    Icllp = "target: icllp",
    Wide = "file: GRFs of 64 bytes",
    Files64 = "file: of 64 registers",
    Files96 = "file: of 96 registers",
    Files160 = "file: of 160 registers",
    Files256 = "file: of 256 registers",
    Cut = "file: limited",
    Peak25 = "demand: up to 1/4 of the limit",
    Peak50 = "demand: up to 1/2 of the limit",
    Peak75 = "demand: up to 3/4 of the limit",
    Peak100 = "demand: up to the limit",
    Peak200 = "demand: up to twice the limit",
    PeakMore = "demand: more than twice the limit",
    Pieces = "allocated: wide registers split",
    Moved = "allocated: live ranges split",
    MovedUnspilled = "allocated: live ranges split, nothing spilled",
    MovedCalls = "allocated: live ranges split, with calls",
    Spilled = "allocated: with scratch",
    SpilledWide = "allocated: with scratch, GRFs of 64 bytes",
    Abandoned = "allocated: spilled because liveness abandoned it",
    SpilledWindows = "allocated: spilled beyond the reach of the thread's header",
    SpilledCalls = "allocated: with scratch, in a routine",
    Rematerialized = "allocated: constants rematerialized",
    RefusedLoad = "refused: liveness exceeds its limit",
    Refused = "refused: one instruction needs more",
    RefusedNear = "refused: one instruction needs nearly all",
    RefusedFragmentation = "refused: fragmentation",
    RefusedReach = "refused: scratch beyond reach",
}

/// Number of occurrences of each feature.
pub(crate) struct Coverage([u64; NAMES.len()]);

impl Default for Coverage {
    fn default() -> Self {
        Coverage([0; NAMES.len()])
    }
}

impl Coverage {
    pub(super) fn add(&mut self, f: Feature) {
        self.0[f as usize] += 1;
    }

    pub(super) fn of(&self, f: Feature) -> u64 {
        self.0[f as usize]
    }

    /// Returns the features that never occurred. Refusals are optional.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let all = NAMES.iter().zip(self.0);
        all.filter(|x| x.1 == 0 && !x.0.starts_with("refused"))
            .map(|x| *x.0)
            .collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, n) in NAMES.iter().zip(self.0) {
            writeln!(f, "{name:<52} {n:>10}")?;
        }
        Ok(())
    }
}
