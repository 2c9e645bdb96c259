//! Division by constants: products with a reciprocal ("Hacker's Delight", chapter 10).

/// Multiplier and shift that replace a division by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Magic {
    pub(super) multiplier: u64,
    pub(super) shift: u64,
    /// Set if the multiplier has one bit more than a lane.
    pub(super) more: bool,
    /// Set if the product fits a lane. Otherwise its upper half is shifted.
    pub(super) fits: bool,
}

/// Returns the smallest p >= `from` with 2^p > nc * (d - 1 - (2^p - 1) mod d). The second result is
/// 2^p + d - 1 - (2^p - 1) mod d, divided by d.
fn smallest_power(from: u32, nc: u64, d: u64) -> (u32, u64) {
    // (2^p - 1) mod d, updated from one power to the next.
    let mut rest = ((1u64 << from) - 1) % d;
    let mut p = from;
    while (1u128 << p) <= u128::from(nc) * u128::from(d - 1 - rest) {
        rest = (2 * rest + 1) % d;
        p += 1;
    }
    let multiple = (1u128 << p) + u128::from(d - 1 - rest);
    (p, (multiple / u128::from(d)) as u64)
}

/// Returns the multiplier and shift of an unsigned 32-bit division of numbers up to `most` by a
/// number that is no power of two (Hacker's Delight, figure 10-2, where `most` is 2^32 - 1).
pub(super) fn unsigned(d: u32, most: u32) -> Magic {
    let d = u64::from(d);
    let end = (u64::from(most) + 1).max(d);
    let nc = end - end % d - 1;
    let (p, m) = smallest_power(1, nc, d);
    // One factor is a word, so that the product is one instruction everywhere.
    let is_short = m.min(u64::from(most)) <= u64::from(u16::MAX);
    if p < 32 && is_short && u128::from(m) * u128::from(most) < 1 << 32 {
        return Magic {
            multiplier: m,
            shift: u64::from(p),
            more: false,
            fits: true,
        };
    }
    let (p, m) = smallest_power(32, nc, d);
    Magic {
        multiplier: m & 0xffff_ffff,
        shift: u64::from(p) - 32,
        more: m >> 32 != 0,
        fits: false,
    }
}

/// Returns the same for signed division by a positive number (Hacker's Delight, figure 10-1).
pub(super) fn signed(d: u32) -> Magic {
    let d = u64::from(d);
    let t = 1u64 << 31;
    let nc = t - 1 - t % d;
    // Figure 10-1 subtracts 2^p mod d. It is (2^p - 1) mod d plus one, as d is no power of two.
    let (p, m) = smallest_power(32, nc, d);
    Magic {
        multiplier: m & 0xffff_ffff,
        shift: u64::from(p) - 32,
        more: m >> 31 != 0,
        fits: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(m: &Magic, x: u32) -> u64 {
        let (x, lane) = (u64::from(x), u64::from(u32::MAX));
        if m.fits {
            assert!(x * m.multiplier <= lane);
            return (x * m.multiplier) >> m.shift;
        }
        let high = (x * m.multiplier) >> 32;
        if m.more {
            (((x - high) >> 1) + high) >> (m.shift - 1)
        } else {
            high >> m.shift
        }
    }

    /// Quotients of numbers near multiples of the divisor and near the bound.
    #[test]
    fn quotients_up_to_a_bound_are_exact() {
        let bounds = (0..32).flat_map(|n| [(1u64 << n) - 1, 1 << n, (1 << n) + 1]);
        for most in bounds.map(|b| b as u32).chain([u32::MAX - 1, u32::MAX]) {
            let wide = (0..32).flat_map(|n| [(1u64 << n) - 1, (1 << n) + 1, 3 << n]);
            let divisors = (3..200).chain(wide).filter(|d| *d > 2 && *d >> 32 == 0);
            for d in divisors.filter(|d| !d.is_power_of_two()) {
                let m = unsigned(d as u32, most);
                let near = |n: u64| [n.saturating_sub(1), n, n + 1];
                let last = u64::from(most) / d * d;
                let few = (0..70)
                    .map(|i| i * d)
                    .chain([last, last / 2 / d * d, u64::from(most)]);
                for x in few.flat_map(near).filter(|x| *x <= u64::from(most)) {
                    assert_eq!(
                        quotient(&m, x as u32),
                        x / d,
                        "{x} / {d} up to {most}: {m:?}"
                    );
                }
            }
        }
    }

    /// Bytes and words take one short product.
    #[test]
    fn products_of_short_numbers_fit() {
        for d in (3..256).filter(|d: &u32| !d.is_power_of_two()) {
            assert!(unsigned(d, 255).fits, "{d}");
        }
        let words = (3..1000).filter(|d: &u32| !d.is_power_of_two());
        assert!(words.filter(|d| unsigned(*d, 65535).fits).count() > 600);
    }
}
