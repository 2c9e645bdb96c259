//! Vector unit of the host.
//!
//! Code compiled for wide vectors is sound only where it is inlined in a function that may use
//! them. Such code asks for a token, a [`Simd`] that is not [`sem::Plain`]. Only [`Host::call`]
//! creates one, inside such a function, and only on a host that has the vectors. Work cannot keep
//! the token, since neither its result nor its fields can name the token's type.

use gantry_isa_gen::sem::{self, Pack};

/// Vector unit of the host that a thread runs on, detected once per thread.
#[derive(Clone, Copy)]
pub(super) struct Host(VectorUnit);

#[derive(Clone, Copy)]
enum VectorUnit {
    /// Baseline of the architecture.
    Plain,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Host {
    pub(super) fn detect() -> Host {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            return Host(VectorUnit::Avx2(v3));
        }
        Host::plain()
    }

    /// Returns the baseline of the architecture, whatever the host has.
    pub(super) fn plain() -> Host {
        Host(VectorUnit::Plain)
    }

    /// Runs work in the version compiled for the host.
    #[inline(always)]
    pub(super) fn call<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            VectorUnit::Plain => work.plain(),
            #[cfg(target_arch = "x86_64")]
            VectorUnit::Avx2(v3) => v3.vectorize(avx2::Wide(work, v3)),
        }
    }
}

/// Work that is compiled for each kind of vector unit.
pub(super) trait Work: Sized {
    type Output;

    /// Runs the work. Code that uses the token must be inlined in it.
    fn run<S: Simd>(self, host: S) -> Self::Output;

    /// Runs the work on the baseline of the architecture.
    #[inline(always)]
    fn plain(self) -> Self::Output {
        self.run(sem::Plain)
    }
}

/// Vector unit that code is compiled for.
pub(super) trait Simd: Pack {
    /// Returns true if it multiplies and adds with one rounding.
    fn fma(self) -> bool;

    /// Returns the bytes of four words as one vector. Registers that are read as vectors are best
    /// written so, since a host's loads wait for narrower stores before them.
    fn vector(self, w: [u64; 4]) -> [u8; 32];
}

impl Simd for sem::Plain {
    #[inline(always)]
    fn fma(self) -> bool {
        false
    }

    #[inline(always)]
    fn vector(self, w: [u64; 4]) -> [u8; 32] {
        pulp::cast(w.map(u64::to_le))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Simd, Work};
    use gantry_isa_gen::sem::{Pack, Truth};
    use pulp::x86::V3;

    /// Work in a function that may use AVX2 and FMA, once `V3::vectorize` calls it.
    pub(super) struct Wide<W>(pub(super) W, pub(super) V3);

    impl<W: Work> pulp::NullaryFnOnce for Wide<W> {
        type Output = W::Output;
        #[inline(always)]
        fn call(self) -> W::Output {
            self.0.run(Avx2(self.1))
        }
    }

    /// Token of a host with AVX2 and FMA.
    #[derive(Clone, Copy)]
    struct Avx2(V3);

    impl Simd for Avx2 {
        #[inline(always)]
        fn fma(self) -> bool {
            true
        }

        #[inline(always)]
        fn vector(self, w: [u64; 4]) -> [u8; 32] {
            let [a, b, c, d] = w.map(|w| w as i64);
            pulp::cast(self.0.avx._mm256_set_epi64x(d, c, b, a))
        }
    }

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
}
