//! What the host's vector unit can do.

use gantry_isa_gen::sem::{self, Pack, Truth};

/// The host that a thread runs on, found out once a thread.
#[derive(Clone, Copy)]
pub(super) enum Host {
    /// What every host of this architecture has.
    Plain,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Host {
    pub(super) fn detect() -> Host {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            return Host::Avx2(v3);
        }
        Host::Plain
    }

    /// The bytes of four words, as one vector: registers that are read as vectors are best written so, since a host's loads
    /// wait for narrower stores before them. Only for what [`Self::call`] calls: elsewhere the host's instructions are not
    /// inlined, and vectors pass by memory whose alignment is not theirs.
    #[inline(always)]
    pub(super) fn vector(self, w: [u64; 4]) -> [u8; 32] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Host::Avx2(v3) => {
                let [a, b, c, d] = w.map(|w| w as i64);
                pulp::cast(v3.avx._mm256_set_epi64x(d, c, b, a))
            }
            Host::Plain => pulp::cast(w.map(u64::to_le)),
        }
    }

    /// Calls a function as it is compiled for the host. What it does must be inlined in it.
    #[inline(always)]
    pub(super) fn call<F: pulp::NullaryFnOnce>(self, f: F) -> F::Output {
        match self {
            Host::Plain => f.call(),
            #[cfg(target_arch = "x86_64")]
            Host::Avx2(v3) => v3.vectorize(f),
        }
    }
}

/// A host as code is compiled for it.
pub(super) trait Simd: Pack {
    /// It multiplies and adds in one rounding.
    fn fma(self) -> bool;
}

impl Simd for sem::Plain {
    #[inline(always)]
    fn fma(self) -> bool {
        false
    }
}

/// A host with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(pub(super) pulp::x86::V3);

#[cfg(target_arch = "x86_64")]
impl Simd for Avx2 {
    #[inline(always)]
    fn fma(self) -> bool {
        true
    }
}

#[cfg(target_arch = "x86_64")]
impl Pack for Avx2 {
    #[inline(always)]
    fn mask_of<const N: usize>(self, yes: &Truth<N>) -> u32 {
        let mut m = 0;
        let (eights, rest) = yes.as_chunks::<8>();
        for (k, eight) in eights.iter().enumerate() {
            let signs = self.0.avx._mm256_movemask_ps(pulp::cast(*eight));
            m |= (signs as u32) << (8 * k);
        }
        for (k, y) in rest.iter().enumerate() {
            m |= (*y as u32 & 1) << (N - rest.len() + k);
        }
        m
    }
}
