//! Shaders with their data and expected results in plain Rust.

mod arithmetic;
mod flow;
mod groups;
mod layouts;
mod robust;

use crate::wgsl::case::Case;

/// All cases.
pub fn all() -> Vec<Case> {
    let mut out = arithmetic::cases();
    out.extend(flow::cases());
    out.extend(groups::cases());
    out.extend(layouts::cases());
    out.extend(robust::cases());
    out
}

/// Case of a shader's file.
macro_rules! shader {
    ($name:literal, $groups:expr) => {
        $crate::wgsl::case::Case::new($name, include_str!(concat!("../", $name, ".wgsl")), $groups)
    };
}
pub(crate) use shader;

/// Pseudo-random numbers.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 as u32 >> 3)
    }

    pub fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    /// Number from -1 to 1.
    pub fn float(&mut self) -> f32 {
        self.below(20001) as f32 / 10000.0 - 1.0
    }

    pub fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.next()).collect()
    }

    pub fn floats(&mut self, n: usize, scale: f32) -> Vec<f32> {
        (0..n).map(|_| self.float() * scale).collect()
    }
}
