//! Bit fields, bit counts and rotates.

/// `bfi1`: returns `width` ones from bit `offset` on, both modulo 32.
pub(super) fn field_mask(width: u32, offset: u32) -> u32 {
    let ones = (1u32 << (width & 31)) - 1;
    ones << (offset & 31)
}

/// `bfe`: extracts `width` bits of `v` from `offset` on, both modulo 32. The result is
/// sign-extended for signed types. Width 0 gives 0.
pub(super) fn extract(width: u32, offset: u32, v: u32, signed: bool) -> i64 {
    let (width, offset) = (width & 31, offset & 31);
    if width == 0 {
        return 0;
    }
    if width + offset > 32 {
        // The field ends at bit 31.
        return if signed {
            i64::from(v as i32 >> offset)
        } else {
            i64::from(v >> offset)
        };
    }
    let top = v << (32 - width - offset);
    if signed {
        i64::from(top as i32 >> (32 - width))
    } else {
        i64::from(top >> (32 - width))
    }
}

/// `fbh`: returns the number of leading bits that equal the sign (signed) or are zero (unsigned).
/// All ones if no other bit follows.
pub(super) fn first_bit_high(v: u32, signed: bool) -> u32 {
    let unlike = if signed {
        let v = v as i32;
        (v ^ v >> 31).leading_zeros()
    } else {
        v.leading_zeros()
    };
    if unlike == 32 { u32::MAX } else { unlike }
}

/// `rol`: rotates the lowest `bits` (16, 32 or 64) of a value left, by a count modulo that. `ror`
/// is `rol` by the negated count.
pub(super) fn rotate_left(v: u64, count: u32, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let v = v & mask;
    match count & (bits - 1) {
        0 => v,
        n => (v << n | v >> (bits - n)) & mask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotates() {
        assert_eq!(rotate_left(0x8001, 1, 16), 3);
        assert_eq!(rotate_left(0x8001, 17, 16), 3);
        assert_eq!(rotate_left(0x8000_0001, 4, 32), 0x18);
        assert_eq!(rotate_left(0x12_3456_789a, 0, 32), 0x3456_789a);
        assert_eq!(rotate_left(1, (-1i32) as u32, 64), 1 << 63);
    }
}
