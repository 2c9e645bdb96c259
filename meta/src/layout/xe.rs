//! Native form of Xe. Xe-LP, Xe-HP and Xe-HPG are alike; Xe-HPC has a longer SWSB field and GRFs of
//! 64 bytes.
//!
//! Sources: PRM of Tiger Lake, Vol. 2a "EU instruction fields", and Intel's assembler for each bit.
//! `isa-gen/tests/suite/xe_words.rs` tests the whole against it.

use super::{Case, Field, FieldBits, FormatLayout, GenLayouts, Layout, at, split};
use crate::format::Format;
use crate::generation::Generation;
use Field::*;

mod facts;

pub use facts::{PairRule, Swsb, XeFacts, facts};

const NULLARY: usize = 0;
const BASIC: usize = 1;
const MATH: usize = 2;
const TERNARY: usize = 3;
/// Layout of `bfn`, whose truth table overlaps the source modifiers of other three-source
/// instructions.
const BFN: usize = 4;
const DPAS: usize = 5;
const SEND: usize = 6;
const BRANCH: usize = 7;
const SYNC: usize = 8;

pub(super) fn layouts(g: Generation) -> GenLayouts {
    let x = Xe {
        hpc: g == Generation::XeHpc,
        lp: g == Generation::XeLp,
    };
    let format = |format, layout, fixed: &[(Field, u64)]| FormatLayout {
        format,
        layout,
        fixed: fixed.to_vec(),
    };
    let both = [(Src0IsImm, 1), (Src1IsImm, 1)];
    let [reg_types, imm_types, align1_types] = facts::types(g);
    GenLayouts {
        layouts: vec![
            x.nullary(),
            x.binary("basic", CondMod),
            x.binary("math", MathFn),
            x.ternary(),
            x.bfn(),
            x.dpas(),
            x.send(),
            x.branch(),
            x.sync(),
        ],
        formats: vec![
            format(Format::Nullary, NULLARY, &[]),
            format(Format::Unary, BASIC, &[]),
            format(Format::Binary, BASIC, &[]),
            format(Format::Math, MATH, &[]),
            format(Format::Ternary, TERNARY, &[]),
            format(Format::Dpas, DPAS, &[]),
            format(Format::XeSend, SEND, &[]),
            format(Format::Sync, SYNC, &[(DstHs, 1)]),
            format(Format::Jmpi, BRANCH, &[]),
            format(Format::BranchJip, BRANCH, &both[..1]),
            format(Format::BranchJipUip, BRANCH, &both),
            format(Format::BranchRegJip, BRANCH, &[]),
            format(Format::BranchRegJipUip, BRANCH, &[]),
            format(Format::Call, BRANCH, &[]),
            format(Format::Ret, BRANCH, &[]),
        ],
        reg_types,
        imm_types,
        align1_types,
        ternary_other: Some(BFN),
        ..GenLayouts::default()
    }
}

/// Differences between the generations.
struct Xe {
    hpc: bool,
    lp: bool,
}

impl Xe {
    /// Creates a field with the first bit range on Xe-HPC, else the second.
    fn pick(&self, field: Field, hpc: (u8, u8), other: (u8, u8)) -> FieldBits {
        let (hi, lo) = if self.hpc { hpc } else { other };
        at(field, hi, lo)
    }

    /// Creates a field with a byte offset in a register, whose lowest bit is separate on Xe-HPC.
    fn bytes(&self, field: Field, lowest: u8, (hi, lo): (u8, u8)) -> FieldBits {
        if self.hpc {
            split(field, [(lowest, lowest), (hi, lo)])
        } else {
            at(field, hi, lo)
        }
    }

    /// Layout of the fields of every instruction: opcode, SWSB, compaction and breakpoint.
    fn nullary(&self) -> Layout {
        Layout {
            name: "nullary",
            fields: self.common(),
            shapes: vec![vec![]],
        }
    }

    fn common(&self) -> Vec<FieldBits> {
        vec![
            at(Opcode, 6, 0),
            self.pick(Field::Swsb, (17, 8), (15, 8)),
            at(Compacted, 29, 29),
            at(Debug, 30, 30),
        ]
    }

    /// Fields of bits 0 to 32.
    fn header(&self) -> Vec<FieldBits> {
        let mut fields = self.common();
        fields.extend([
            self.pick(ExecSize, (20, 18), (18, 16)),
            self.pick(ChanOff, (25, 24), (21, 19)),
            self.pick(Flag, (23, 21), (23, 22)),
            self.pick(PredCtrl, (27, 26), (27, 24)),
            at(PredInv, 28, 28),
            at(NoMask, 31, 31),
            at(ThreadCtrl, 32, 32),
        ]);
        fields
    }

    /// Field of the accumulator write control, which Xe-HPC does not have.
    fn acc(&self) -> Option<FieldBits> {
        (!self.hpc).then(|| at(AccWr, 33, 33))
    }

    fn dst(&self) -> Vec<FieldBits> {
        use Case::{DstDirect, DstIndirect, DstMacro};
        vec![
            at(Sat, 34, 34),
            at(DstAddrMode, 35, 35),
            at(DstType, 39, 36),
            at(DstHs, 49, 48),
            at(DstFile, 50, 50).when([DstDirect, DstMacro]),
            self.bytes(DstSub, 33, (55, 51)).when([DstDirect]),
            at(DstReg, 63, 56).when([DstDirect, DstMacro]),
            self.bytes(DstAddrImm, 33, (59, 50)).when([DstIndirect]),
            at(DstAddrSub, 63, 60).when([DstIndirect]),
            at(DstMme, 54, 51).when([DstMacro]),
        ]
    }

    fn src0(&self) -> Vec<FieldBits> {
        use Case::{Src0Direct, Src0Indirect, Src0Macro};
        let any = [Src0Direct, Src0Indirect, Src0Macro];
        vec![
            at(Src0Type, 43, 40),
            at(Src0Abs, 44, 44).when(any),
            at(Src0Neg, 45, 45).when(any),
            at(Src0IsImm, 46, 46),
            at(Src0Hs, 65, 64).when(any),
            at(Src0File, 66, 66).when([Src0Direct, Src0Macro]),
            self.bytes(Src0Sub, 87, (71, 67)).when([Src0Direct]),
            at(Src0Mme, 70, 67).when([Src0Macro]),
            at(Src0Reg, 79, 72).when([Src0Direct, Src0Macro]),
            self.bytes(Src0AddrImm, 87, (75, 66)).when([Src0Indirect]),
            at(Src0AddrSub, 79, 76).when([Src0Indirect]),
            at(Src0AddrMode, 80, 80).when(any),
            at(Src0Width, 83, 81).when(any),
            self.pick(Src0Vs, (86, 84), (87, 84)).when(any),
        ]
    }

    fn src1(&self) -> Vec<FieldBits> {
        use Case::{Imm32, Src1Direct, Src1Indirect, Src1Macro};
        let any = [Src1Direct, Src1Indirect, Src1Macro];
        let there = [Src1Direct, Src1Indirect, Src1Macro, Imm32];
        vec![
            at(Src1IsImm, 47, 47).when(there),
            at(Src1Type, 91, 88).when(there),
            at(Src1Hs, 97, 96).when(any),
            at(Src1File, 98, 98).when([Src1Direct, Src1Macro]),
            at(Src1Sub, 103, 99).when([Src1Direct]),
            at(Src1Mme, 102, 99).when([Src1Macro]),
            at(Src1Reg, 111, 104).when([Src1Direct, Src1Macro]),
            at(Src1AddrImm, 107, 98).when([Src1Indirect]),
            at(Src1AddrSub, 111, 108).when([Src1Indirect]),
            at(Src1AddrMode, 112, 112).when(any),
            at(Src1Width, 115, 113).when(any),
            self.pick(Src1Vs, (118, 116), (119, 116)).when(any),
            at(Src1Abs, 120, 120).when(any),
            at(Src1Neg, 121, 121).when(any),
            at(Field::Imm32, 127, 96).when([Imm32]),
            split(Field::Imm64, [(127, 96), (95, 64)]).when([Case::Imm64]),
        ]
    }

    /// Layout of one and two sources. `control` is the field in bits 95 to 92.
    fn binary(&self, name: &'static str, control: Field) -> Layout {
        use Case::*;
        let mut fields = self.header();
        fields.extend(self.acc());
        fields.extend(self.dst());
        fields.extend(self.src0());
        fields.extend(self.src1());
        // It does not fit beside 64 bits.
        fields.push(at(control, 95, 92).when([Src0Direct, Src0Indirect, Src0Macro, Imm32]));
        let mut shapes = Vec::new();
        for d in [DstDirect, DstIndirect, DstMacro] {
            shapes.push(vec![d, Imm32]);
            shapes.push(vec![d, Imm64]);
            for s0 in [Src0Direct, Src0Indirect, Src0Macro] {
                shapes.push(vec![d, s0]);
                for s1 in [Src1Direct, Src1Indirect, Src1Macro, Imm32] {
                    shapes.push(vec![d, s0, s1]);
                }
            }
        }
        Layout {
            name,
            fields,
            shapes,
        }
    }

    /// Fields of three-source instructions and `dpas`.
    fn three(&self) -> Vec<FieldBits> {
        use Case::{DstDirect, Src0Direct, Src0Macro, Src1Direct, Src2Direct, Src2Macro};
        let dst_sub = if self.lp { 54 } else { 51 };
        let mut fields = self.header();
        fields.extend(self.acc());
        fields.extend([
            at(DstType, 38, 36),
            at(ExecType, 39, 39),
            at(Src0Type, 42, 40),
            at(Src0IsImm, 46, 46),
            at(Src2IsImm, 47, 47),
            at(DstFile, 50, 50),
            at(DstSub, 55, dst_sub).when([DstDirect]),
            at(DstReg, 63, 56),
            at(Src0File, 66, 66).when([Src0Direct, Src0Macro]),
            at(Src0Sub, 71, 67).when([Src0Direct]),
            at(Src0Reg, 79, 72).when([Src0Direct, Src0Macro]),
            at(Src2Type, 82, 80),
            at(Src1Type, 90, 88),
            at(Src1File, 98, 98),
            at(Src1Sub, 103, 99).when([Src1Direct]),
            at(Src1Reg, 111, 104),
            at(Src2File, 114, 114).when([Src2Direct, Src2Macro]),
            at(Src2Sub, 119, 115).when([Src2Direct]),
            at(Src2Reg, 127, 120).when([Src2Direct, Src2Macro]),
        ]);
        fields
    }

    fn regions(&self) -> Vec<FieldBits> {
        use Case::{DstMacro, Src0Direct, Src0Macro, Src1Macro, Src2Direct, Src2Macro};
        vec![
            split(Src0Vs, [(35, 35), (43, 43)]),
            at(DstHs, 48, 48),
            at(DstMme, 54, 51).when([DstMacro]),
            at(Src0Hs, 65, 64).when([Src0Direct, Src0Macro]),
            at(Src0Mme, 70, 67).when([Src0Macro]),
            at(Field::Src0Imm, 79, 64).when([Case::Src0Imm]),
            split(Src1Vs, [(83, 83), (91, 91)]),
            at(Src1Hs, 97, 96),
            at(Src1Mme, 102, 99).when([Src1Macro]),
            at(Src2Hs, 113, 112).when([Src2Direct, Src2Macro]),
            at(Src2Mme, 118, 115).when([Src2Macro]),
            at(Field::Src2Imm, 127, 112).when([Case::Src2Imm]),
        ]
    }

    fn ternary_shapes() -> Vec<Vec<Case>> {
        use Case::*;
        let mut shapes = vec![vec![DstMacro, Src0Macro, Src1Macro, Src2Macro]];
        for s0 in [Src0Direct, Src0Imm] {
            for s2 in [Src2Direct, Src2Imm] {
                shapes.push(vec![DstDirect, s0, Src1Direct, s2]);
            }
        }
        shapes
    }

    fn ternary(&self) -> Layout {
        let mut fields = self.three();
        fields.extend(self.regions());
        fields.extend([
            at(Sat, 34, 34),
            at(Src0Abs, 44, 44),
            at(Src0Neg, 45, 45),
            at(Src2Abs, 84, 84),
            at(Src2Neg, 85, 85),
            at(Src1Abs, 86, 86),
            at(Src1Neg, 87, 87),
            at(CondMod, 95, 92),
        ]);
        Layout {
            name: "ternary",
            fields,
            shapes: Self::ternary_shapes(),
        }
    }

    fn bfn(&self) -> Layout {
        let mut fields = self.three();
        fields.extend(self.regions());
        fields.extend([at(CondMod, 45, 44), split(TruthTable, [(87, 84), (95, 92)])]);
        Layout {
            name: "bfn",
            fields,
            shapes: Self::ternary_shapes(),
        }
    }

    fn dpas(&self) -> Layout {
        use Case::{DstDirect, Src0Direct, Src1Direct, Src2Direct};
        let mut fields = self.three();
        fields.extend([
            at(DpasRepeat, 45, 43),
            at(DpasDepth, 49, 48),
            at(Src2Precision, 85, 84),
            at(Src1Precision, 87, 86),
        ]);
        Layout {
            name: "dpas",
            fields,
            shapes: vec![vec![DstDirect, Src0Direct, Src1Direct, Src2Direct]],
        }
    }

    fn send(&self) -> Layout {
        use Case::{DescImm, ExBase, ExImm, ExReg};
        let mut fields = self.header();
        if !self.hpc {
            fields.push(at(Serialize, 33, 33));
        }
        fields.extend([
            at(Field::Eot, 34, 34),
            at(Field::DescReg, 48, 48),
            at(Field::ExReg, 49, 49),
            at(DstFile, 50, 50),
            at(DstReg, 63, 56),
            at(Src0File, 66, 66),
            at(Src0Reg, 79, 72),
            at(Field::Sfid, 95, 92),
            at(Src1File, 98, 98),
            at(Src1Reg, 111, 104),
            split(
                Field::Desc,
                [(91, 81), (121, 113), (55, 51), (71, 67), (123, 122)],
            )
            .when([DescImm]),
            // Bits 31 to 11 of the extended descriptor.
            split(ExFunc, [(47, 35), (65, 64), (97, 96), (127, 124)]).when([ExImm]),
            // The five bits below: from Xe-HPG on, the instruction's own length of source 1.
            at(ExLen, 103, 99).when([ExImm, ExBase]),
            at(ExAddrSub, 42, 40).when([ExReg, ExBase]),
        ]);
        if !self.lp {
            fields.extend([
                at(Cps, 35, 35).when([ExBase]),
                at(ExBso, 39, 39).when([ExReg, ExBase]),
            ]);
        }
        Layout {
            name: "send",
            fields,
            shapes: [ExImm, ExReg, ExBase]
                .into_iter()
                .flat_map(|e| [vec![e, DescImm], vec![e]])
                .collect(),
        }
    }

    fn branch(&self) -> Layout {
        use Case::{Jip, JipUip, Src0Direct};
        let mut fields = self.header();
        fields.extend([
            at(BranchCtrl, 33, 33),
            at(Src0IsImm, 46, 46),
            at(Src1IsImm, 47, 47),
            at(DstFile, 50, 50),
            at(DstSub, 55, 51),
            at(DstReg, 63, 56),
            at(Src0File, 66, 66).when([Src0Direct]),
            at(Src0Sub, 71, 67).when([Src0Direct]),
            at(Src0Reg, 79, 72).when([Src0Direct]),
            at(Field::Uip, 95, 64).when([JipUip]),
            at(Field::Jip, 127, 96).when([Jip, JipUip]),
        ]);
        Layout {
            name: "branch",
            fields,
            shapes: vec![vec![Src0Direct], vec![Jip], vec![JipUip]],
        }
    }

    fn sync(&self) -> Layout {
        use Case::{Imm32, Src0Direct};
        let mut fields = self.header();
        fields.extend([
            at(Src0Type, 43, 40),
            at(Src0IsImm, 46, 46),
            at(DstHs, 49, 48),
            at(Src0File, 66, 66).when([Src0Direct]),
            self.bytes(Src0Sub, 87, (71, 67)).when([Src0Direct]),
            at(Src0Reg, 79, 72).when([Src0Direct]),
            at(Field::SyncFn, 95, 92),
            at(Field::Imm32, 127, 96).when([Imm32]),
        ]);
        Layout {
            name: "sync",
            fields,
            shapes: vec![vec![Src0Direct], vec![Imm32]],
        }
    }
}
