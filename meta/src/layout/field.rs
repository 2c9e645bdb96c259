//! Names of fields and of the cases in which they exist.

/// Field of an instruction, in any generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Opcode number.
    Opcode,
    /// 0 for Align1, 1 for Align16.
    AccessMode,
    /// Do not clear the destination dependency.
    NoDdClr,
    /// Do not check the destination dependency.
    NoDdChk,
    /// Channel offset in groups of 4.
    ChanOff,
    /// 1 atomic, 2 switch.
    ThreadCtrl,
    /// Predicate control, 0 for none.
    PredCtrl,
    /// Predicate inverted.
    PredInv,
    /// log2 of the channel count.
    ExecSize,
    /// Condition modifier, 0 for none.
    CondMod,
    /// Function of `math`.
    MathFn,
    /// Also write the accumulator.
    AccWr,
    /// Branch control `.b`.
    BranchCtrl,
    /// Do not set the source dependency.
    NoSrcDepSet,
    /// 1 in the 8-byte form.
    Compacted,
    /// Breakpoint.
    Debug,
    /// Saturate.
    Sat,
    /// Flag sub-register: twice the register plus the half.
    Flag,
    /// Run all channels.
    NoMask,
    /// Register file: 0 ARF, 1 GRF.
    DstFile,
    /// Type code.
    DstType,
    /// 1 for indirect.
    DstAddrMode,
    /// Horizontal stride code.
    DstHs,
    /// Register number.
    DstReg,
    /// Byte offset in the register.
    DstSub,
    /// Address sub-register.
    DstAddrSub,
    /// Address offset in bytes, signed.
    DstAddrImm,
    /// Special accumulator.
    DstMme,
    /// Align16 channels written.
    DstMask,
    /// Register file: 0 ARF, 1 GRF, 3 immediate.
    Src0File,
    /// Type code.
    Src0Type,
    /// 1 for indirect.
    Src0AddrMode,
    /// Negate.
    Src0Neg,
    /// Absolute value.
    Src0Abs,
    /// Vertical stride code.
    Src0Vs,
    /// Width code.
    Src0Width,
    /// Horizontal stride code.
    Src0Hs,
    /// Register number.
    Src0Reg,
    /// Offset in the register (two-source forms: bytes; three-source: words).
    Src0Sub,
    /// Address sub-register.
    Src0AddrSub,
    /// Address offset in bytes, signed.
    Src0AddrImm,
    /// Special accumulator.
    Src0Mme,
    /// Three-source: one element for all channels.
    Src0Rep,
    /// Three-source: Align16 swizzle.
    Src0Swizzle,
    /// Register file: 0 ARF, 1 GRF, 3 immediate.
    Src1File,
    /// Type code.
    Src1Type,
    /// 1 for indirect.
    Src1AddrMode,
    /// Negate.
    Src1Neg,
    /// Absolute value.
    Src1Abs,
    /// Vertical stride code.
    Src1Vs,
    /// Width code.
    Src1Width,
    /// Horizontal stride code.
    Src1Hs,
    /// Register number.
    Src1Reg,
    /// Offset in the register (two-source forms: bytes; three-source: words).
    Src1Sub,
    /// Address sub-register.
    Src1AddrSub,
    /// Address offset in bytes, signed.
    Src1AddrImm,
    /// Special accumulator.
    Src1Mme,
    /// Three-source: one element for all channels.
    Src1Rep,
    /// Three-source: Align16 swizzle.
    Src1Swizzle,
    /// Negate.
    Src2Neg,
    /// Absolute value.
    Src2Abs,
    /// Register number.
    Src2Reg,
    /// Offset in the register, in words.
    Src2Sub,
    /// One element for all channels.
    Src2Rep,
    /// Align16 swizzle.
    Src2Swizzle,
    /// Three-source: type code of source 0, and of the others unless they are half.
    SrcType,
    /// Three-source: source 1 is `hf`.
    Src1Half,
    /// Three-source: source 2 is `hf`.
    Src2Half,
    /// Three-source Align1: 1 if the types are floats.
    ExecType,
    /// Three-source Align1: 16-bit immediate.
    Src0Imm,
    /// Three-source Align1: GRF file, 0 GRF, 1 immediate.
    Src2File,
    /// Three-source Align1: type code.
    Src2Type,
    /// Three-source Align1: horizontal stride code.
    Src2Hs,
    /// Three-source Align1: special accumulator.
    Src2Mme,
    /// Three-source Align1: 16-bit immediate.
    Src2Imm,
    /// 32-bit immediate.
    Imm32,
    /// 64-bit immediate.
    Imm64,
    /// Jump target in bytes.
    Jip,
    /// Update target in bytes.
    Uip,
    /// Shared function.
    Sfid,
    /// End of thread.
    Eot,
    /// Message descriptor.
    Desc,
    /// 1 if the descriptor is in a0.0 (split sends).
    DescReg,
    /// Bit 30 of a register descriptor, which the hardware takes from the instruction.
    DescHf,
    /// Extended descriptor bits 31:16.
    ExFunc,
    /// Extended descriptor bits 9:6, the length of source 1.
    ExLen,
    /// 1 if the extended descriptor is in a register.
    ExReg,
    /// Address sub-register of the extended descriptor, in dwords.
    ExAddrSub,
    /// Software scoreboard annotation (Xe).
    Swsb,
    /// Xe: source 0 is an immediate, or there is a jump target.
    Src0IsImm,
    /// Xe: source 1 is an immediate, or there is an update target.
    Src1IsImm,
    /// Xe: source 2 is an immediate.
    Src2IsImm,
    /// Truth table of `bfn`.
    TruthTable,
    /// Function of `sync`.
    SyncFn,
    /// Systolic depth of `dpas`.
    DpasDepth,
    /// Repeat count of `dpas`, less 1.
    DpasRepeat,
    /// `dpas`: number of elements of source 1 in a byte.
    Src1Precision,
    /// `dpas`: number of elements of source 2 in a byte.
    Src2Precision,
    /// Send of Xe: fused threads execute it one after the other.
    Serialize,
    /// Send of Xe: the extended descriptor is the offset of a surface state.
    ExBso,
    /// Send of Xe: coarse pixel shading.
    Cps,
}

impl Field {
    /// Every variant, with its line of generated documentation.
    pub const ALL: [(Field, &'static str); 101] = [
        (Field::Opcode, "Opcode number."),
        (Field::AccessMode, "0 for Align1, 1 for Align16."),
        (Field::NoDdClr, "Do not clear the destination dependency."),
        (Field::NoDdChk, "Do not check the destination dependency."),
        (Field::ChanOff, "Channel offset in groups of 4."),
        (Field::ThreadCtrl, "1 atomic, 2 switch."),
        (Field::PredCtrl, "Predicate control, 0 for none."),
        (Field::PredInv, "Predicate inverted."),
        (Field::ExecSize, "log2 of the channel count."),
        (Field::CondMod, "Condition modifier, 0 for none."),
        (Field::MathFn, "Function of `math`."),
        (Field::AccWr, "Also write the accumulator."),
        (Field::BranchCtrl, "Branch control `.b`."),
        (Field::NoSrcDepSet, "Do not set the source dependency."),
        (Field::Compacted, "1 in the 8-byte form."),
        (Field::Debug, "Breakpoint."),
        (Field::Sat, "Saturate."),
        (
            Field::Flag,
            "Flag sub-register: twice the register plus the half.",
        ),
        (Field::NoMask, "Run all channels."),
        (Field::DstFile, "Register file: 0 ARF, 1 GRF."),
        (Field::DstType, "Type code."),
        (Field::DstAddrMode, "1 for indirect."),
        (Field::DstHs, "Horizontal stride code."),
        (Field::DstReg, "Register number."),
        (Field::DstSub, "Byte offset in the register."),
        (Field::DstAddrSub, "Address sub-register."),
        (Field::DstAddrImm, "Address offset in bytes, signed."),
        (Field::DstMme, "Special accumulator."),
        (Field::DstMask, "Align16 channels written."),
        (Field::Src0File, "Register file: 0 ARF, 1 GRF, 3 immediate."),
        (Field::Src0Type, "Type code."),
        (Field::Src0AddrMode, "1 for indirect."),
        (Field::Src0Neg, "Negate."),
        (Field::Src0Abs, "Absolute value."),
        (Field::Src0Vs, "Vertical stride code."),
        (Field::Src0Width, "Width code."),
        (Field::Src0Hs, "Horizontal stride code."),
        (Field::Src0Reg, "Register number."),
        (
            Field::Src0Sub,
            "Offset in the register (two-source forms: bytes; three-source: words).",
        ),
        (Field::Src0AddrSub, "Address sub-register."),
        (Field::Src0AddrImm, "Address offset in bytes, signed."),
        (Field::Src0Mme, "Special accumulator."),
        (
            Field::Src0Rep,
            "Three-source: one element for all channels.",
        ),
        (Field::Src0Swizzle, "Three-source: Align16 swizzle."),
        (Field::Src1File, "Register file: 0 ARF, 1 GRF, 3 immediate."),
        (Field::Src1Type, "Type code."),
        (Field::Src1AddrMode, "1 for indirect."),
        (Field::Src1Neg, "Negate."),
        (Field::Src1Abs, "Absolute value."),
        (Field::Src1Vs, "Vertical stride code."),
        (Field::Src1Width, "Width code."),
        (Field::Src1Hs, "Horizontal stride code."),
        (Field::Src1Reg, "Register number."),
        (
            Field::Src1Sub,
            "Offset in the register (two-source forms: bytes; three-source: words).",
        ),
        (Field::Src1AddrSub, "Address sub-register."),
        (Field::Src1AddrImm, "Address offset in bytes, signed."),
        (Field::Src1Mme, "Special accumulator."),
        (
            Field::Src1Rep,
            "Three-source: one element for all channels.",
        ),
        (Field::Src1Swizzle, "Three-source: Align16 swizzle."),
        (Field::Src2Neg, "Negate."),
        (Field::Src2Abs, "Absolute value."),
        (Field::Src2Reg, "Register number."),
        (Field::Src2Sub, "Offset in the register, in words."),
        (Field::Src2Rep, "One element for all channels."),
        (Field::Src2Swizzle, "Align16 swizzle."),
        (
            Field::SrcType,
            "Three-source: type code of source 0, and of the others unless they are half.",
        ),
        (Field::Src1Half, "Three-source: source 1 is `hf`."),
        (Field::Src2Half, "Three-source: source 2 is `hf`."),
        (
            Field::ExecType,
            "Three-source Align1: 1 if the types are floats.",
        ),
        (Field::Src0Imm, "Three-source Align1: 16-bit immediate."),
        (
            Field::Src2File,
            "Three-source Align1: register file, 0 GRF, 1 immediate.",
        ),
        (Field::Src2Type, "Three-source Align1: type code."),
        (
            Field::Src2Hs,
            "Three-source Align1: horizontal stride code.",
        ),
        (Field::Src2Mme, "Three-source Align1: special accumulator."),
        (Field::Src2Imm, "Three-source Align1: 16-bit immediate."),
        (Field::Imm32, "32-bit immediate."),
        (Field::Imm64, "64-bit immediate."),
        (Field::Jip, "Jump target in bytes."),
        (Field::Uip, "Update target in bytes."),
        (Field::Sfid, "Shared function."),
        (Field::Eot, "End of thread."),
        (Field::Desc, "Message descriptor."),
        (
            Field::DescReg,
            "1 if the descriptor is in a0.0 (split sends).",
        ),
        (
            Field::DescHf,
            "Bit 30 of a register descriptor, which the hardware takes from the instruction.",
        ),
        (Field::ExFunc, "Extended descriptor bits 31:16."),
        (
            Field::ExLen,
            "Extended descriptor bits 9:6, the length of source 1.",
        ),
        (
            Field::ExReg,
            "1 if the extended descriptor is in a register.",
        ),
        (
            Field::ExAddrSub,
            "Address sub-register of the extended descriptor, in dwords.",
        ),
        (Field::Swsb, "Software scoreboard annotation (Xe)."),
        (
            Field::Src0IsImm,
            "Xe: source 0 is an immediate, or there is a jump target.",
        ),
        (
            Field::Src1IsImm,
            "Xe: source 1 is an immediate, or there is an update target.",
        ),
        (Field::Src2IsImm, "Xe: source 2 is an immediate."),
        (Field::TruthTable, "Truth table of `bfn`."),
        (Field::SyncFn, "Function of `sync`."),
        (Field::DpasDepth, "Systolic depth of `dpas`."),
        (Field::DpasRepeat, "Repeat count of `dpas`, less 1."),
        (
            Field::Src1Precision,
            "`dpas`: number of elements of source 1 in a byte.",
        ),
        (
            Field::Src2Precision,
            "`dpas`: number of elements of source 2 in a byte.",
        ),
        (
            Field::Serialize,
            "Send of Xe: fused threads execute it one after the other.",
        ),
        (
            Field::ExBso,
            "Send of Xe: the extended descriptor is the offset of a surface state.",
        ),
        (Field::Cps, "Send of Xe: coarse pixel shading."),
    ];
}

/// Condition on operands that decides which fields exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Case {
    /// The destination is a register.
    DstDirect,
    /// The destination is addressed by a0.
    DstIndirect,
    /// The destination has a special accumulator.
    DstMacro,
    /// Source 0 is a register.
    Src0Direct,
    /// Source 0 is addressed by a0.
    Src0Indirect,
    /// Source 0 has a special accumulator.
    Src0Macro,
    /// Source 1 is a register.
    Src1Direct,
    /// Source 1 is addressed by a0.
    Src1Indirect,
    /// Source 1 has a special accumulator.
    Src1Macro,
    /// The last source is an immediate of 32 bits or fewer.
    Imm32,
    /// Source 0 is a 64-bit immediate.
    Imm64,
    /// The descriptor is immediate.
    DescImm,
    /// The descriptor is in a0.
    DescReg,
    /// The extended descriptor is immediate.
    ExImm,
    /// The extended descriptor is in a0.
    ExReg,
    /// Source 2 is a register.
    Src2Direct,
    /// Source 2 has a special accumulator.
    Src2Macro,
    /// Source 0 is a 16-bit immediate (three-source).
    Src0Imm,
    /// Source 2 is a 16-bit immediate (three-source).
    Src2Imm,
    /// The instruction is a one- or two-source one in Align16.
    Align16,
    /// The instruction has a jump target.
    Jip,
    /// The instruction has a jump target and an update target.
    JipUip,
    /// The extended descriptor in a0 is the offset of a surface state.
    ExBase,
}

impl Case {
    /// Every variant, with its line of generated documentation.
    pub const ALL: [(Case, &'static str); 23] = [
        (Case::DstDirect, "The destination is a register."),
        (Case::DstIndirect, "The destination is addressed by a0."),
        (Case::DstMacro, "The destination has a special accumulator."),
        (Case::Src0Direct, "Source 0 is a register."),
        (Case::Src0Indirect, "Source 0 is addressed by a0."),
        (Case::Src0Macro, "Source 0 has a special accumulator."),
        (Case::Src1Direct, "Source 1 is a register."),
        (Case::Src1Indirect, "Source 1 is addressed by a0."),
        (Case::Src1Macro, "Source 1 has a special accumulator."),
        (
            Case::Imm32,
            "The last source is an immediate of 32 bits or fewer.",
        ),
        (Case::Imm64, "Source 0 is a 64-bit immediate."),
        (Case::DescImm, "The descriptor is immediate."),
        (Case::DescReg, "The descriptor is in a0."),
        (Case::ExImm, "The extended descriptor is immediate."),
        (Case::ExReg, "The extended descriptor is in a0."),
        (Case::Src2Direct, "Source 2 is a register."),
        (Case::Src2Macro, "Source 2 has a special accumulator."),
        (
            Case::Src0Imm,
            "Source 0 is a 16-bit immediate (three-source).",
        ),
        (
            Case::Src2Imm,
            "Source 2 is a 16-bit immediate (three-source).",
        ),
        (
            Case::Align16,
            "The instruction is a one- or two-source one in Align16.",
        ),
        (Case::Jip, "The instruction has a jump target."),
        (
            Case::JipUip,
            "The instruction has a jump target and an update target.",
        ),
        (
            Case::ExBase,
            "The extended descriptor in a0 is the offset of a surface state.",
        ),
    ];
}
