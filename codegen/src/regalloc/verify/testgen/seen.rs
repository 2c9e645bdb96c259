//! What random machine functions were made of, and what became of them.

use std::fmt;

macro_rules! features {
    ($($name:ident = $text:literal,)*) => {
        /// Something that random machine functions must show.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Feature {
            $($name,)*
        }

        const NAMES: &[&str] = &[$($text,)*];
    };
}

features! {
    Scalar = "source: one element",
    Packed = "source: neighbours",
    Strided = "source: with strides",
    Overlapping = "source: rows over each other",
    Ternary = "source: of three-source instructions",
    Behind = "source: three-source, behind the register's end",
    Imm = "source: immediate",
    Indirect = "source: by one address",
    Rows = "source: by an address a row",
    MacroSrc = "source: of a math macro",
    NullDst = "destination: none",
    PackedDst = "destination: neighbours",
    StridedDst = "destination: with a stride",
    Begins = "destination: begins a value, all of it",
    BeginsPart = "destination: begins a value, a part of it",
    Partial = "destination: a part, the rest stays",
    Early = "destination: over a GRF, written early",
    IndirectDst = "destination: by an address",
    MacroDst = "destination: of a math macro",
    Tied = "destination: also read (two addresses)",
    Dead = "destination: read by nobody",
    Masked = "under the execution mask",
    Predicated = "predicated",
    Select = "select",
    Send = "message of one payload",
    SendBoth = "message of two payloads",
    SendUnknown = "message of lengths that are not known",
    SendPart = "message under a mask, into a register that is there",
    SendOver = "message that begins a register again",
    SendSilent = "message without answer",
    Product = "product of matrices",
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
    Call = "call",
    CallInLoop = "call in a loop",
    CallOfCall = "call in a routine",
    Across = "value across a call",
    Placed = "value passed by where it is",
    Returns = "routine of several returns",
    NeverReturns = "routine that never returns",
    Bdw = "target: bdw",
    Skl = "target: skl",
    Icllp = "target: icllp",
    Wide = "file: GRFs of 64 bytes",
    Files64 = "file: of 64 registers",
    Files96 = "file: of 96 registers",
    Files160 = "file: of 160 registers",
    Files256 = "file: of 256 registers",
    Cut = "file: cut",
    Peak25 = "demand: up to 1/4 of the room",
    Peak50 = "demand: up to 1/2 of the room",
    Peak75 = "demand: up to 3/4 of the room",
    Peak100 = "demand: up to all of the room",
    Peak200 = "demand: up to twice the room",
    PeakMore = "demand: more than twice the room",
    Pieces = "allocated: in pieces",
    Moved = "allocated: values moved aside",
    MovedUnspilled = "allocated: values moved aside, nothing spilled",
    MovedCalls = "allocated: values moved aside, with calls",
    Spilled = "allocated: with scratch",
    SpilledWide = "allocated: with scratch, GRFs of 64 bytes",
    Abandoned = "allocated: kept in scratch, since it lives too long to be followed",
    SpilledWindows = "allocated: spilled beyond the reach of the thread's header",
    SpilledCalls = "allocated: with scratch, in a routine",
    Remade = "allocated: constants made again",
    RefusedLoad = "refused: too much lives of what stays",
    Refused = "refused: one instruction needs more",
    RefusedNear = "refused: one instruction needs nearly all",
    RefusedHoles = "refused: for lack of a hole",
    RefusedReach = "refused: scratch beyond reach",
}

/// How often each feature was there.
pub(crate) struct Seen([u64; NAMES.len()]);

impl Default for Seen {
    fn default() -> Self {
        Seen([0; NAMES.len()])
    }
}

impl Seen {
    pub(super) fn add(&mut self, f: Feature) {
        self.0[f as usize] += 1;
    }

    pub(super) fn of(&self, f: Feature) -> u64 {
        self.0[f as usize]
    }

    /// What was never there. Refusals need not be.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let all = NAMES.iter().zip(self.0);
        all.filter(|x| x.1 == 0 && !x.0.starts_with("refused"))
            .map(|x| *x.0)
            .collect()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, n) in NAMES.iter().zip(self.0) {
            writeln!(f, "{name:<52} {n:>10}")?;
        }
        Ok(())
    }
}
