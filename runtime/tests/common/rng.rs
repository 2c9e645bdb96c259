//! Random inputs of kernels.
#![allow(dead_code, reason = "each test file uses its own part")]

/// Seeded pseudo-random generator (SplitMix64).
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    /// Returns the next 64 bits.
    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.u64() % n
    }

    /// Returns a number from 0 up to 1 (excluded).
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns any integer.
    pub fn i32(&mut self) -> i32 {
        self.u64() as i32
    }

    /// Returns a float in `lo .. hi`.
    pub fn f32(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (self.u64() >> 40) as f32 / (1u64 << 24) as f32 * (hi - lo)
    }

    /// Returns integers of every magnitude, including many special ones.
    pub fn wild_i32(&mut self) -> i32 {
        const SPECIAL: [i32; 10] = [
            0,
            1,
            -1,
            2,
            -2,
            i32::MAX,
            i32::MIN,
            0x7fff,
            0x8000,
            0x1_0000,
        ];
        if self.below(4) == 0 {
            SPECIAL[self.below(10) as usize]
        } else {
            self.i32() >> self.below(32)
        }
    }

    /// Returns 64-bit integers as `wild_i32` does.
    pub fn wild_i64(&mut self) -> i64 {
        const SPECIAL: [i64; 8] = [0, 1, -1, i64::MAX, i64::MIN, 0xffff_ffff, 0x1_0000_0000, -2];
        if self.below(4) == 0 {
            SPECIAL[self.below(8) as usize]
        } else {
            self.u64() as i64 >> self.below(64)
        }
    }

    /// Returns floats, including infinities, NaNs, denormals and zeros.
    pub fn wild_f32(&mut self) -> f32 {
        const SPECIAL: [f32; 10] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            f32::MIN_POSITIVE,
            1e-40,
            f32::MAX,
        ];
        match self.below(6) {
            0 => SPECIAL[self.below(10) as usize],
            1 => f32::from_bits(self.u64() as u32),
            _ => self.f32(-1000.0, 1000.0),
        }
    }
}
