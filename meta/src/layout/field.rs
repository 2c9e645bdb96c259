//! Names of fields and of the cases in which they exist.

use crate::listed::listed_enum;

listed_enum! {
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
}

listed_enum! {
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
}
