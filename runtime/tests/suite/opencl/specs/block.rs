//! Block accesses to memory and images, which pocl lacks. The expectation is computed here.

use super::super::case::{Case, Memory, any, zero};

/// Returns launches with groups of one sub-group each, so that a group's blocks are one
/// sub-group's.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [8, 16, 32] {
        let case = |kernel| {
            Case::new("block", kernel)
                .line(4 * width, width)
                .only(width)
        };
        let n = 64 * 4 + 5 * 32;
        // The blocks of 32 lanes of one group and the next overlap.
        cases.push(
            case("block_copy")
                .skip(&[], &[32], "its groups write 64 elements each")
                // `mov (2|M0) r31.0<1>:b r28.0`, and then a message that writes eight bytes from
                // there.
                .skip(
                    &["bdw"],
                    &[8],
                    "the compiler's code writes two bytes of eight",
                )
                .buffer::<u32>(n, zero)
                .buffer::<u32>(n, any)
                .buffer::<u16>(n, any)
                .buffer::<u8>(n, any)
                .expect(block_copy),
        );
        cases.push(
            case("block_local")
                .buffer::<u32>(4 * width as usize, zero)
                .buffer::<u32>(4 * width as usize, any)
                .local::<u32>(width as usize)
                .expect(|m, width| {
                    let x = m.get::<u32>(1);
                    // The sub-group's number is 0, of 1.
                    m.fill(0, |i| x[i ^ 3].wrapping_add(1 + width));
                }),
        );
    }
    cases
}

fn block_copy(m: &mut Memory, width: u32) {
    let w = width as usize;
    let input = m.get::<u32>(1);
    let (mut out, mut words, mut bytes) = (m.get::<u32>(0), m.get::<u16>(2), m.get::<u8>(3));
    for group in 0..4 {
        let at = group * 64;
        for k in 0..4 * w {
            out[at + k] = input[at + k].wrapping_add(input[at + 4 * w + k % w]);
        }
        for k in 0..w {
            words.swap(at + k, at + w + k);
            bytes[at + k] = bytes[at + k].wrapping_add(1);
        }
    }
    m.set(0, out);
    m.set(2, words);
    m.set(3, bytes);
}
