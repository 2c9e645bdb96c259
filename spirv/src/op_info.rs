//! Properties of instructions that passes and emission share.

use spirv::{GroupOperation, Op, OpenclStd100Op};

/// Returns true for atomic accesses.
pub(crate) fn is_atomic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AtomicLoad
            | AtomicStore
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicCompareExchangeWeak
            | AtomicIIncrement
            | AtomicIDecrement
            | AtomicIAdd
            | AtomicISub
            | AtomicSMin
            | AtomicUMin
            | AtomicSMax
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor
            | AtomicFlagTestAndSet
            | AtomicFlagClear
            | AtomicFAddEXT
            | AtomicFMinEXT
            | AtomicFMaxEXT
    )
}

/// Returns true if the result points into what the first operand points into, as the same kind of
/// pointer.
pub(crate) fn is_pointer_into(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AccessChain
            | InBoundsAccessChain
            | PtrAccessChain
            | InBoundsPtrAccessChain
            | Bitcast
            | CopyObject
    )
}

/// Returns true for comparisons of integers.
pub(crate) fn is_int_compare(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IEqual
            | INotEqual
            | ULessThan
            | ULessThanEqual
            | UGreaterThan
            | UGreaterThanEqual
            | SLessThan
            | SLessThanEqual
            | SGreaterThan
            | SGreaterThanEqual
    )
}

/// Returns true for reductions and scans of groups.
pub(crate) fn is_reduction(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        GroupIAdd
            | GroupNonUniformIAdd
            | GroupIMulKHR
            | GroupNonUniformIMul
            | GroupFAdd
            | GroupNonUniformFAdd
            | GroupFMulKHR
            | GroupNonUniformFMul
            | GroupFMin
            | GroupNonUniformFMin
            | GroupFMax
            | GroupNonUniformFMax
            | GroupSMin
            | GroupNonUniformSMin
            | GroupSMax
            | GroupNonUniformSMax
            | GroupUMin
            | GroupNonUniformUMin
            | GroupUMax
            | GroupNonUniformUMax
            | GroupBitwiseAndKHR
            | GroupNonUniformBitwiseAnd
            | GroupLogicalAndKHR
            | GroupNonUniformLogicalAnd
            | GroupBitwiseOrKHR
            | GroupNonUniformBitwiseOr
            | GroupLogicalOrKHR
            | GroupNonUniformLogicalOr
            | GroupBitwiseXorKHR
            | GroupNonUniformBitwiseXor
            | GroupLogicalXorKHR
            | GroupNonUniformLogicalXor
    )
}

/// Returns true for group operations, with block reads and writes.
pub(crate) fn is_group(op: Op) -> bool {
    use Op::*;
    is_reduction(op)
        || matches!(
            op,
            GroupAll
                | GroupAny
                | GroupBroadcast
                | GroupNonUniformAll
                | GroupNonUniformAny
                | GroupNonUniformAllEqual
                | GroupNonUniformElect
                | GroupNonUniformBroadcast
                | GroupNonUniformBroadcastFirst
                | GroupNonUniformBallot
                | GroupNonUniformInverseBallot
                | GroupNonUniformBallotBitExtract
                | GroupNonUniformBallotBitCount
                | GroupNonUniformBallotFindLSB
                | GroupNonUniformBallotFindMSB
                | GroupNonUniformShuffle
                | GroupNonUniformShuffleXor
                | GroupNonUniformShuffleUp
                | GroupNonUniformShuffleDown
                | GroupNonUniformQuadBroadcast
                | GroupNonUniformQuadSwap
                | GroupNonUniformRotateKHR
                | SubgroupShuffleINTEL
                | SubgroupShuffleXorINTEL
                | SubgroupShuffleUpINTEL
                | SubgroupShuffleDownINTEL
                | SubgroupBlockReadINTEL
                | SubgroupBlockWriteINTEL
        )
}

/// Uniformity of the result of a group operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultUniformity {
    /// Always divergent.
    Divergent,
    /// Always uniform.
    Uniform,
    /// Divergent if operand `n` is.
    By(usize),
}

/// Uniformity of the result of a group operation, or `None` for other instructions.
pub(crate) fn group_result(op: Op, operands: &[u32]) -> Option<ResultUniformity> {
    use Op::*;
    if !is_group(op) {
        return None;
    }
    let reduces = operands.get(1) == Some(&(GroupOperation::Reduce as u32));
    Some(match op {
        GroupAll
        | GroupAny
        | GroupNonUniformAll
        | GroupNonUniformAny
        | GroupNonUniformAllEqual
        | GroupNonUniformBroadcastFirst
        | GroupNonUniformBallot => ResultUniformity::Uniform,
        GroupBroadcast | GroupNonUniformBroadcast => ResultUniformity::By(2),
        GroupNonUniformBallotFindLSB | GroupNonUniformBallotFindMSB => ResultUniformity::By(1),
        GroupNonUniformBallotBitCount if reduces => ResultUniformity::By(2),
        op if is_reduction(op) && reduces => ResultUniformity::Uniform,
        _ => ResultUniformity::Divergent,
    })
}

/// Returns true for queries of an image.
pub(crate) fn is_image_query(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        ImageQuerySize
            | ImageQuerySizeLod
            | ImageQueryFormat
            | ImageQueryOrder
            | ImageQueryLevels
            | ImageQuerySamples
    )
}

/// Returns true for block reads of images.
pub(crate) fn is_image_block_read(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        SubgroupImageBlockReadINTEL | SubgroupImageMediaBlockReadINTEL
    )
}

/// Returns true if the result has a lane for each channel even for uniform arguments. That is so
/// for functions with a divergent loop.
pub(crate) fn has_divergent_loop(number: u32) -> bool {
    matches!(
        OpenclStd100Op::from_u32(number),
        Some(OpenclStd100Op::fmod | OpenclStd100Op::remainder | OpenclStd100Op::remquo)
    )
}
