//! Size of each product's GPU, and limits of its thread groups.
//!
//! Sources: compute-runtime 22.43 and 26.27 (`hw_info_*.cpp` for capabilities and default
//! configurations, `hw_cmds_*.h` for sizes, `device_caps.cpp` for the largest group); Mesa's device
//! table for Haswell, Cherryview and Cannon Lake; the PRMs' "Shared Local Memory" for its size.

use super::{Platform, Product};

/// Size of a product's GPU: the configuration that most devices have, or the largest one of the
/// newer products. Of a device with several tiles it is one tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GpuSize {
    /// Subslices: dual subslices on Xe-LP, Xe cores from Xe-HP on. A group runs on one of them.
    pub subslices: u32,
    /// EUs of a subslice.
    pub subslice_eus: u32,
    /// Threads of an EU in normal GRF mode.
    pub eu_threads: u32,
    /// True if Intel's driver offers atomics of 64 bits.
    pub atomics64: bool,
}

/// Size of a GPU, and what kernels and groups may ask of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DeviceLimits {
    /// EUs.
    pub eus: u32,
    /// Threads of an EU in normal GRF mode.
    pub threads_per_eu: u32,
    /// Subslices, as in [`GpuSize::subslices`].
    pub subslices: u32,
    /// Bytes of SLM that a group may have.
    pub slm_per_group: u32,
    /// Bytes of SLM that the groups on a subslice share.
    pub slm_per_subslice: u32,
    /// Channels that threads of a kernel may have, in ascending order.
    pub sub_group_sizes: &'static [u32],
    /// True if there is arithmetic on doubles.
    pub doubles: bool,
    /// True if there is arithmetic on half-precision floats.
    pub halfs: bool,
    /// True if there are atomics of 64 bits.
    pub atomics64: bool,
    /// Work-items of the largest group that Intel's drivers for OpenCL and Level Zero accept.
    pub group_items: u32,
    /// Threads of the largest group that the hardware runs, in normal GRF mode.
    pub group_threads: u32,
    /// Numbers of GRFs that a thread may have, in ascending order.
    pub grf_counts: &'static [u32],
}

/// Bound of a group's size in each dimension, and of all its work-items, whatever the product.
const MOST_ITEMS: u32 = 1024;

impl Product {
    /// Returns the size of the product's GPU and the limits that follow from it.
    pub fn limits(&self) -> DeviceLimits {
        let size = self.size;
        let resident = size.subslice_eus * size.eu_threads;
        let platform = self.platform.limits();
        let narrowest = platform.sub_group_sizes.first().copied().unwrap_or(8);
        let items = resident * narrowest;
        DeviceLimits {
            eus: size.subslices * size.subslice_eus,
            threads_per_eu: size.eu_threads,
            subslices: size.subslices,
            atomics64: size.atomics64,
            // The driver takes the narrowest threads, and rounds down to a power of two.
            group_items: (1 << items.max(1).ilog2()).min(MOST_ITEMS),
            group_threads: resident.min(platform.group_threads),
            ..platform
        }
    }
}

impl Platform {
    /// Returns what every product of the platform has, for a device of no known product: the
    /// commands' own limits of a group, and the size of no GPU (0).
    pub fn limits(self) -> DeviceLimits {
        let f = self.features();
        let xe_hp = self >= Platform::XeHp;
        DeviceLimits {
            eus: 0,
            threads_per_eu: 0,
            subslices: 0,
            slm_per_group: if self == Platform::XeHpc { 128 } else { 64 } << 10,
            slm_per_subslice: if self >= Platform::XeLp { 128 } else { 64 } << 10,
            sub_group_sizes: match self {
                Platform::XeHpc => &[16, 32],
                _ => &[8, 16, 32],
            },
            doubles: f.native_f64,
            halfs: f.half,
            atomics64: !matches!(self, Platform::Gen7p5 | Platform::Gen8Lp | Platform::Gen9Lp),
            group_items: MOST_ITEMS,
            group_threads: if xe_hp { 128 } else { 64 },
            grf_counts: if f.grf_count_large > f.grf_count {
                &[128, 256]
            } else {
                &[128]
            },
        }
    }
}

impl DeviceLimits {
    /// Returns the threads of the largest group whose threads have a number of GRFs. With twice as
    /// many GRFs, half as many threads are on an EU.
    pub fn group_threads_of(&self, grf_count: u32) -> u32 {
        let normal = self.grf_counts.first().copied().unwrap_or(128);
        self.group_threads * normal / grf_count.max(normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRODUCTS;

    fn of(name: &str) -> DeviceLimits {
        Product::from_name(name).map_or(Platform::Gen9.limits(), Product::limits)
    }

    /// Figures of Intel's Level Zero driver (22.43) for its devices without a GPU, and of
    /// compute-runtime's tables where it has no default size.
    #[test]
    fn limits_are_those_that_drivers_report() {
        let figures = |name| {
            let l = of(name);
            (
                l.eus,
                l.threads_per_eu,
                l.group_items,
                l.slm_per_group >> 10,
            )
        };
        assert_eq!(figures("skl"), (24, 7, 256, 64));
        assert_eq!(figures("icllp"), (64, 7, 256, 64));
        assert_eq!(figures("tgllp"), (96, 7, 512, 64));
        assert_eq!(figures("dg2"), (512, 8, 1024, 64));
        assert_eq!(figures("pvc"), (512, 8, 1024, 128));
        assert_eq!(figures("bxt"), (18, 6, 256, 64));
    }

    #[test]
    fn a_group_fits_on_a_subslice() {
        for p in &PRODUCTS {
            let l = p.limits();
            let resident = p.size.subslice_eus * p.size.eu_threads;
            assert!(l.group_threads <= resident, "{}", p.title);
            assert!(l.group_threads <= p.platform.limits().group_threads);
            assert!(l.slm_per_group <= l.slm_per_subslice, "{}", p.title);
            assert!(l.group_items >= 256, "{}", p.title);
            assert!(l.grf_counts.contains(&p.platform.features().grf_count));
            // A group of the widest threads that fills the driver's limit fits the hardware's.
            let widest = l.sub_group_sizes.last().copied().unwrap_or(0);
            assert!(l.group_items.div_ceil(widest) <= l.group_threads);
        }
        assert_eq!(of("pvc").group_threads_of(256), 32);
        assert_eq!(of("dg2").group_threads_of(128), 128);
    }
}
