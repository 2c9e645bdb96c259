//! Irregular rule of the sampler.

use super::values::range;
use crate::message::{MessageError, SampleOp};

/// Encodes a sampler operation in a SIMD mode. The SIMD32/64 mode numbers operations differently.
pub(super) fn sample_op(op: SampleOp, mode: u8) -> Result<u32, MessageError> {
    let number = op.bits();
    if SampleOp::from_bits(number, mode == 3) != op {
        return range("sampler", "operation in this SIMD mode", u64::from(number));
    }
    super::values::fit("sampler", "operation", u64::from(number), 5)
}
