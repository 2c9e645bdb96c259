//! Features of each platform, which code asks for by name and never by generation number.
//!
//! Sources: the PRMs' "EU Overview" and "Register Region Restrictions" of each generation, and
//! Intel's assembler.

use super::Platform;
use crate::swsb::Pipe;

/// Features of a platform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// True if two EUs run two threads in lockstep unless a kernel asks them not to (Intel's
    /// compiler, `hasFusedEU`).
    pub fused_eus: bool,
    /// Unit of channel offsets, in channels.
    pub channel_step: u32,
    /// True if predicates combine flag bits by groups of channels (`any8h`); false if by all
    /// channels of the instruction.
    pub flag_groups: bool,
    /// Size of a GRF in bytes.
    pub grf_bytes: u32,
    /// Number of threads of an EU (in normal GRF mode).
    pub eu_threads: u32,
    /// Number of GRFs of a thread in normal GRF mode.
    pub grf_count: u32,
    /// Number of GRFs of a thread in large GRF mode, or the normal number if there is no such mode.
    pub grf_count_large: u32,
    /// Number of GRFs that an instruction can name.
    pub grf_names: u32,
    /// Bound of the offset of an indirect operand in bytes: the offset is in
    /// `-indirect_reach..indirect_reach`.
    pub indirect_reach: i32,
    /// Unit of that offset in source 1, in bytes. Other operands have byte offsets.
    pub indirect_src1_unit: i16,
    /// Number of 32-bit flag registers.
    pub flag_regs: u32,
    /// Number of accumulators `acc0`, `acc1`, ..., each of the size of a GRF.
    pub accumulators: u32,
    /// Number of the first special accumulator of math macros, `mme0`.
    pub mme_base: u8,
    /// True if instructions carry software scoreboard annotations (SWSB); false if the hardware
    /// tracks dependencies.
    pub swsb: bool,
    /// Number of software scoreboard tokens (`$0`, `$1`, ...).
    pub sb_tokens: u32,
    /// True if branch targets are in bytes; false if in units of 8 bytes.
    pub branch_bytes: bool,
    /// True if SLM is in the L3 cache, so that one fence orders it and global memory.
    pub slm_in_l3: bool,
    /// True if there are atomics of single-precision floats (PRM, data port 1 messages).
    pub float_atomics: bool,
    /// True if there are atomics of words and half-precision floats (PRM, data port 1 messages;
    /// Intel's compiler uses them from Gen12 on).
    pub word_atomics: bool,
    /// True if the ALU has `q` and `uq` (at least in `mov`).
    pub native_i64: bool,
    /// True if the ALU adds, shifts and compares qwords. Intel's compiler expands these to dwords
    /// on Xe-HP and Xe-HPG, which only move qwords. Xe-HPC has some of them.
    pub i64_alu: bool,
    /// True if the ALU adds and shifts qwords, but may not compare, select or combine them bitwise.
    pub i64_sums: bool,
    /// True if the ALU has `df`.
    pub native_f64: bool,
    /// True if `mul` multiplies two dwords (Mesa, `has_integer_dword_mul`, which is also false
    /// where products of dwords fall under the restrictions of 64 bits). Intel's compiler
    /// multiplies by words and `mach` where this is false.
    pub mul_32x32: bool,
    /// True if a thread group has numbered barriers besides its own (Intel's compiler uses them on
    /// Xe-HPC).
    pub named_barriers: bool,
    /// True if the load/store cache moves 2D blocks.
    pub block2d: bool,
    /// True if there is a sampler, without which Intel's compiler rejects images.
    pub sampler: bool,
    /// True if `mul` takes bytes.
    pub byte_factors: bool,
    /// True if the math unit divides integers.
    pub math_int_div: bool,
    /// True if the math unit divides floats and computes powers.
    pub math_div_pow: bool,
    /// True if there is `hf` arithmetic.
    pub half: bool,
    /// True if there is `bf` arithmetic.
    pub bfloat: bool,
    /// True if there is the three-source add, `add3`.
    pub add3: bool,
    /// True if there is the three-source Boolean function, `bfn`.
    pub bfn: bool,
    /// True if `mad` takes integers.
    pub int_mad: bool,
    /// True if there is the dot product of four bytes, `dp4a`.
    pub dp4a: bool,
    /// True if there is the systolic array.
    pub dpas: bool,
    /// True if there is the load/store cache (LSC) with its own messages.
    pub lsc: bool,
    /// True if there is the Align16 mode.
    pub align16: bool,
    /// True if three-source instructions are in Align16.
    pub ternary_align16: bool,
    /// True if the vertical stride of sources 0 and 1 of a three-source instruction may be one
    /// element; false if at least two.
    pub ternary_single_step: bool,
    /// True if a scalar source of a three-source instruction may start at any word; false if at a
    /// dword.
    pub ternary_words: bool,
    /// True if sources 0 and 2 of a three-source instruction may be 16-bit immediates.
    pub ternary_imm: bool,
    /// True if split sends have an opcode of their own (`sends`).
    pub split_send: bool,
    /// True if every send has two payloads and names its shared function.
    pub unified_send: bool,
    /// True if register targets of `brd` and `brc` are words, and written so.
    pub branch_words: bool,
    /// True if the destination of a send is `ud` if the text does not give its type.
    pub send_dst_implied: bool,
    /// True if moves name `mme1` to `mme7` in Align16, as parts of `mme0`.
    pub mme_align16: bool,
    /// True if a three-source instruction takes longer if its second and third source are different
    /// registers of one bank.
    ///
    /// There are four banks: even and odd registers below r64, and even and odd ones from there on
    /// (measured by Mesa's developers, `brw_fs_bank_conflicts.cpp`). The banks of Xe are not known.
    pub grf_banks: bool,
    /// Number of words of the address register `a0`.
    pub address_words: u32,
    /// True if a forward `goto` takes the channels whose predicate is true; false if those where it
    /// is false (`gotoJumpOnTrue` of Intel's compiler).
    pub goto_on_true: bool,
    /// True if the distance that `jmpi` reads from a register counts from the end of the
    /// instruction; false if from its start (`translateVISACFSwitchInst` of Intel's compiler).
    pub jmpi_from_end: bool,
    /// True if there is the option `{NoPreempt}`.
    pub no_preempt: bool,
    /// True if the extended descriptor in a register may be a surface offset (`{ExBSO}`). The
    /// length of source 1 is then in the instruction.
    pub ex_bso: bool,
    /// True if the length of source 1 is in the instruction also with an immediate extended
    /// descriptor.
    pub src1_len: bool,
    /// True if there is the option `{Serialize}`.
    pub serialize: bool,
    /// True if the rows of an indirect operand may span two GRFs.
    pub indirect_grf_crossing: bool,
    /// True if the same holds for rows of bytes (Intel's vector compiler,
    /// `hasIndirectByteGRFCrossing`).
    pub indirect_byte_crossing: bool,
    /// True if an indirect operand of bytes may have an address for each row (Intel's vector
    /// compiler, `hasMultiIndirectByteRegioning`).
    pub multi_indirect_bytes: bool,
    /// True if 64-bit operands have the restrictions of Cherryview and Broxton ("special
    /// restrictions").
    pub restricted_64bit: bool,
    /// True if regions of floats and 64-bit operands are restricted: sources have the stride and
    /// offset of the destination (Xe-HP on).
    pub regioning_in_step: bool,
    /// True if a result in two registers must be split evenly between them, for any opcode.
    pub even_split: bool,
    /// True if a result in two registers needs sources in two registers, each half from one half.
    pub spans_alike: bool,
    /// True if a compare to null needs the option `Switch`.
    pub cmp_null_switch: bool,
    /// True if accumulators cannot be destinations of compares or sources of multiplies.
    pub acc_restricted: bool,
    /// True if a product of two dwords cannot be written to the accumulator.
    pub acc_no_dword_mul: bool,
    /// True if source 1 of a two-source instruction may be an accumulator.
    pub src1_acc: bool,
    /// True if source 1 of a two-source instruction may be bytes.
    pub byte_src1: bool,
    /// True if a byte result of a dword operation may be in any byte of its dword, false if only in
    /// the first two. From Intel's compiler, `supportsByteDestinationSubreg2Or3`.
    pub byte_dst_anywhere: bool,
    /// True if `csel` needs no condition. Intel's compiler emits some without an effect.
    pub csel_alone: bool,
    /// True if half-precision results of single-precision operations must be in all even words, all
    /// odd words, or packed from a 16-byte boundary.
    pub half_dst_words: bool,
    /// True if one instruction may mix `hf` and `f`.
    pub mixed_float: bool,
    /// True if a `mov` converts 16 half-precision floats to single precision at once, where other
    /// mixed operations convert 8.
    pub half_mov_wide: bool,
    /// True if a factor that is narrower than the dword it is multiplied by may have modifiers.
    pub mul_mixed_mods: bool,
    /// Pipes that a software scoreboard distance can name.
    pub swsb_pipes: &'static [Pipe],
    /// True if `df` instructions execute out of order, in the math unit.
    pub out_of_order_f64: bool,
    /// True if the integer pipe executes `q`, so that the long pipe executes only instructions with
    /// a `df` result (Intel's compiler, `hasPartialInt64Support`).
    pub int_pipe_q: bool,
    /// True if bytes are written by reading and writing their words (Intel's compiler,
    /// `hasRMWOverlap`).
    pub byte_rmw: bool,
}

impl Platform {
    /// Returns the features of the platform.
    pub const fn features(self) -> &'static Features {
        match self {
            Platform::Gen7p5 => &GEN7P5,
            Platform::Gen8 => &GEN8,
            Platform::Gen8Lp => &GEN8_LP,
            Platform::Gen9 => &GEN9,
            Platform::Gen9Lp => &GEN9_LP,
            Platform::Gen10 => &GEN10,
            Platform::Gen11 => &GEN11,
            Platform::XeLp => &XE_LP,
            Platform::XeHp => &XE_HP,
            Platform::XeHpg => &XE_HPG,
            Platform::XeHpc => &XE_HPC,
        }
    }
}

const GEN7P5: Features = Features {
    fused_eus: false,
    channel_step: 4,
    flag_groups: true,
    grf_bytes: 32,
    eu_threads: 7,
    grf_count: 128,
    grf_count_large: 128,
    grf_names: 128,
    indirect_reach: 512,
    indirect_src1_unit: 1,
    flag_regs: 2,
    accumulators: 2,
    mme_base: 2,
    swsb: false,
    sb_tokens: 0,
    branch_bytes: false,
    slm_in_l3: true,
    float_atomics: false,
    word_atomics: false,
    native_i64: false,
    i64_alu: false,
    i64_sums: false,
    native_f64: true,
    mul_32x32: false,
    named_barriers: false,
    block2d: false,
    sampler: true,
    byte_factors: true,
    math_int_div: true,
    math_div_pow: true,
    half: false,
    bfloat: false,
    add3: false,
    bfn: false,
    int_mad: false,
    dp4a: false,
    dpas: false,
    lsc: false,
    align16: true,
    ternary_align16: true,
    ternary_single_step: false,
    ternary_words: false,
    ternary_imm: false,
    split_send: false,
    unified_send: false,
    branch_words: true,
    send_dst_implied: false,
    mme_align16: false,
    grf_banks: true,
    address_words: 8,
    goto_on_true: false,
    jmpi_from_end: true,
    no_preempt: false,
    ex_bso: false,
    src1_len: false,
    serialize: false,
    indirect_grf_crossing: false,
    indirect_byte_crossing: true,
    multi_indirect_bytes: true,
    restricted_64bit: false,
    regioning_in_step: false,
    even_split: true,
    spans_alike: true,
    cmp_null_switch: true,
    acc_restricted: true,
    acc_no_dword_mul: false,
    src1_acc: false,
    byte_src1: true,
    byte_dst_anywhere: false,
    csel_alone: false,
    half_dst_words: false,
    mixed_float: false,
    half_mov_wide: false,
    mul_mixed_mods: true,
    swsb_pipes: &[],
    out_of_order_f64: false,
    int_pipe_q: false,
    byte_rmw: false,
};

const GEN8: Features = Features {
    branch_bytes: true,
    native_i64: true,
    i64_alu: true,
    i64_sums: true,
    mul_32x32: true,
    half: true,
    branch_words: false,
    send_dst_implied: true,
    mme_align16: true,
    address_words: 16,
    indirect_grf_crossing: true,
    spans_alike: false,
    cmp_null_switch: false,
    acc_restricted: false,
    acc_no_dword_mul: true,
    mixed_float: true,
    half_mov_wide: true,
    ..GEN7P5
};

const GEN8_LP: Features = Features {
    restricted_64bit: true,
    indirect_grf_crossing: false,
    half_dst_words: true,
    half_mov_wide: false,
    ..GEN8
};

const GEN9: Features = Features {
    float_atomics: true,
    ternary_words: true,
    split_send: true,
    even_split: false,
    acc_no_dword_mul: false,
    half_dst_words: true,
    half_mov_wide: false,
    ..GEN8
};

const GEN9_LP: Features = Features {
    restricted_64bit: true,
    ..GEN9
};

const GEN10: Features = Features {
    ternary_align16: false,
    mme_align16: false,
    goto_on_true: true,
    no_preempt: true,
    ..GEN9
};

const GEN11: Features = Features {
    slm_in_l3: false,
    mul_32x32: false,
    native_i64: false,
    i64_alu: false,
    i64_sums: false,
    native_f64: false,
    int_mad: true,
    align16: false,
    byte_src1: false,
    ..GEN10
};

const XE_LP: Features = Features {
    fused_eus: true,
    grf_banks: false,
    grf_names: 256,
    accumulators: 8,
    mme_base: 8,
    swsb: true,
    sb_tokens: 16,
    math_div_pow: false,
    word_atomics: true,
    dp4a: true,
    ternary_single_step: true,
    ternary_imm: true,
    split_send: false,
    no_preempt: false,
    unified_send: true,
    serialize: true,
    src1_acc: true,
    mul_mixed_mods: false,
    swsb_pipes: &[Pipe::All],
    jmpi_from_end: false,
    ..GEN11
};

const XE_HP: Features = Features {
    grf_count_large: 256,
    accumulators: 4,
    native_i64: true,
    native_f64: true,
    math_int_div: false,
    bfloat: true,
    ex_bso: true,
    add3: true,
    bfn: true,
    dpas: true,
    regioning_in_step: true,
    mixed_float: false,
    swsb_pipes: &[Pipe::All, Pipe::Float, Pipe::Int, Pipe::Long],
    ..XE_LP
};

const XE_HPG: Features = Features {
    native_f64: false,
    src1_len: true,
    lsc: true,
    out_of_order_f64: true,
    ..XE_HP
};

const XE_HPC: Features = Features {
    fused_eus: false,
    named_barriers: true,
    block2d: true,
    channel_step: 8,
    flag_groups: false,
    sampler: false,
    byte_factors: false,
    i64_sums: true,
    grf_bytes: 64,
    serialize: false,
    indirect_reach: 1024,
    indirect_src1_unit: 2,
    indirect_byte_crossing: false,
    multi_indirect_bytes: false,
    mme_base: 16,
    flag_regs: 4,
    sb_tokens: 32,
    native_f64: true,
    swsb_pipes: &[Pipe::All, Pipe::Float, Pipe::Int, Pipe::Long, Pipe::Math],
    out_of_order_f64: false,
    int_pipe_q: true,
    byte_rmw: true,
    byte_dst_anywhere: true,
    csel_alone: true,
    ..XE_HPG
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MathFn, Op, Type};

    /// Features of opcodes agree with the rows of the opcode table.
    #[test]
    fn features_agree_with_the_rows() {
        for p in Platform::ALL {
            let f = p.features();
            let has = |op: Op| op.info(p).is_some();
            assert_eq!(f.add3, has(Op::Add3), "{p}");
            assert_eq!(f.bfn, has(Op::Bfn), "{p}");
            assert_eq!(f.dp4a, has(Op::Dp4a), "{p}");
            let types = Op::Mad.info(p).map_or(&[][..], |i| i.types);
            let dword = types.iter().any(|(d, _)| d.contains(Type::D));
            assert_eq!(f.int_mad, dword, "{p}");
            assert_eq!(f.dpas, has(Op::Dpas), "{p}");
            assert_eq!(f.split_send, has(Op::Sends), "{p}");
            assert_eq!(f.swsb, has(Op::Sync), "{p}");
            let math = |m: MathFn| m.info().is_some_and(|i| i.codes[p.column()].is_some());
            for m in [MathFn::Fdiv, MathFn::Pow] {
                assert_eq!(f.math_div_pow, math(m), "{p} {}", m.name());
            }
        }
    }
}
