//! What a strict simulator refuses, beside what every simulator does.
//!
//! Source: compute-runtime, `validateTargetDevice` for modules, `KernelImp::setGroupSize` for
//! groups.

use super::SimOptions;
use crate::backend::LaunchRequest;
use crate::error::Error;
use crate::zebin::Zebin;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::{DeviceLimits, PRODUCTS, Platform, Product};

/// Checks that a module is of the device's product and that the product has its kernels' threads.
pub(super) fn check_module(
    product: Option<&'static Product>,
    platform: Platform,
    zebin: &Zebin,
    device: &str,
) -> Result<(), Error> {
    let own = match product {
        Some(p) => p.families.contains(&zebin.product),
        None => platform.same_generation(zebin.platform),
    };
    if !own {
        let of = PRODUCTS
            .iter()
            .find(|p| p.families.contains(&zebin.product));
        return Err(Error::Platform {
            module: of.map_or(zebin.platform.name(), |p| p.name()).to_owned(),
            device: device.to_owned(),
        });
    }
    let limits = limits(product, platform);
    for k in &zebin.kernels {
        let unsupported = |what: String| Error::Unsupported {
            kernel: k.name.clone(),
            what,
            device: device.to_owned(),
        };
        let simd = k.env.simd_size;
        // Kernels of one channel hold explicit vectors.
        if simd != 1 && !limits.sub_group_sizes.contains(&simd) {
            return Err(unsupported(format!(
                "threads of {}",
                Count(simd, "channel")
            )));
        }
        if !limits.grf_counts.contains(&k.grf_count) {
            return Err(unsupported(format!(
                "{} a thread",
                Count(k.grf_count, "GRF")
            )));
        }
    }
    Ok(())
}

/// Checks that a driver accepts a launch's group and that a subslice holds it.
pub(super) fn check_group(
    options: &SimOptions,
    platform: Platform,
    r: &LaunchRequest<'_>,
) -> Result<(), Error> {
    let limits = limits(options.product, platform);
    let error = |message: String| {
        Err(Error::Grid {
            kernel: r.kernel.name.clone(),
            message,
        })
    };
    let items = r.local.iter().map(|&n| u64::from(n)).product::<u64>();
    if items > u64::from(limits.group_items) {
        return error(format!(
            "a group of {:?} work-items is too large: the driver takes {} at most",
            r.local, limits.group_items
        ));
    }
    let threads = items.div_ceil(u64::from(r.kernel.env.simd_size.max(1)));
    let most = limits.group_threads_of(r.kernel.grf_count);
    if threads > u64::from(most) {
        return error(format!(
            "a group of {threads} threads of {} is too large: a subslice holds {most}",
            Count(r.kernel.grf_count, "GRF")
        ));
    }
    Ok(())
}

fn limits(product: Option<&'static Product>, platform: Platform) -> DeviceLimits {
    match product {
        Some(p) if p.platform.same_generation(platform) => p.limits(),
        _ => platform.limits(),
    }
}
