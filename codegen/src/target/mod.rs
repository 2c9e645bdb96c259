//! Compilation targets: a product, the features of its platform, the GRF file, and the ABI of
//! threads.
//!
//! A [`Target`] is created once, from a product's name, and passed to every stage. Stages ask for a
//! feature by name, never for a generation number. Differences between platforms are data:
//! `isa-gen`'s [`Features`] and legality rules, the [`Abi`] of a platform family, and the message
//! forms of `isel::lower_sends`.

pub mod abi;
pub(crate) mod errata;

use crate::error::LookupError;
use abi::Abi;
use gantry_isa_gen::{DeviceInfo, Features, PRODUCTS, Platform, Product};

/// Shape of a thread's GRF file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GrfFile {
    /// Bytes of a GRF.
    pub bytes: u32,
    /// Number of GRFs of a thread.
    pub count: u32,
}

impl GrfFile {
    /// Returns the bytes of the whole GRF file.
    pub const fn size(self) -> u32 {
        self.bytes * self.count
    }

    /// Returns the GRF of a byte address.
    pub const fn of(self, address: u32) -> u32 {
        address / self.bytes
    }

    /// Returns the number of GRFs that `bytes` bytes take.
    pub const fn hold(self, bytes: u32) -> u32 {
        bytes.div_ceil(self.bytes)
    }

    /// Returns the alignment of a value of `bytes` bytes, such that it never touches one GRF more
    /// than it needs.
    pub fn natural_align(self, bytes: u32) -> u32 {
        bytes.next_power_of_two().clamp(1, self.bytes)
    }
}

/// Target of compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    product: &'static Product,
    platform: Platform,
    features: Features,
    grf: GrfFile,
    abi: &'static Abi,
}

impl Target {
    /// Finds the target of a product by its short name (`skl`), as `ocloc -device` takes it.
    ///
    /// # Errors
    /// Unknown product, or one without a code generator. The error lists the targets of this build.
    pub fn lookup(name: &str) -> Result<Target, LookupError> {
        let Some(product) = Product::from_name(name) else {
            return Err(LookupError::Unknown {
                name: name.to_owned(),
                targets: Target::list(),
            });
        };
        Target::of(product).ok_or_else(|| no_code_generator(name, Some(product.platform)))
    }

    /// Returns the target of a product, if there is a code generator for its platform.
    pub fn of(product: &'static Product) -> Option<Target> {
        Target::of_any(product).filter(|t| t.abi.whole)
    }

    /// Returns the target of a product whose code generator may lack some features that kernels
    /// use. For tests of existing features.
    #[doc(hidden)]
    pub fn unfinished(name: &str) -> Option<Target> {
        Product::from_name(name).and_then(Target::of_any)
    }

    fn of_any(product: &'static Product) -> Option<Target> {
        let platform = product.platform;
        let features = *platform.features();
        Some(Target {
            product,
            platform,
            features,
            grf: GrfFile {
                bytes: features.grf_bytes,
                count: features.grf_count,
            },
            abi: Abi::of(platform)?,
        })
    }

    /// Returns the target of a device: its product, or, for a simulator without one, the first
    /// product of its platform.
    ///
    /// # Errors
    /// No code generator for the device. The error lists the targets of this build.
    pub fn of_device(device: &DeviceInfo) -> Result<Target, LookupError> {
        let of_platform = |p| Target::all().find(|t| t.platform == p);
        let found = match device.product {
            Some(product) => Target::of(product),
            None => device.platform.and_then(of_platform),
        };
        found.ok_or_else(|| no_code_generator(&device.name, device.platform))
    }

    /// Returns the names of all targets as a list for messages.
    fn list() -> String {
        Target::names().collect::<Vec<_>>().join(", ")
    }

    /// Returns a target for every product with a code generator.
    pub fn all() -> impl Iterator<Item = Target> {
        PRODUCTS.iter().filter_map(Target::of)
    }

    /// Returns the first name of every product with a code generator.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Target::all().map(|t| t.name())
    }

    /// Returns the product.
    pub fn product(&self) -> &'static Product {
        self.product
    }

    /// Returns the product's first name.
    pub fn name(&self) -> &'static str {
        self.product.name()
    }

    /// Returns the product family number, as in the notes of a zebin.
    pub fn family(&self) -> u32 {
        self.product.families.first().copied().unwrap_or(0)
    }

    /// Returns the platform, whose encodings and messages are used.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Returns the features of the platform.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Returns true if a send takes two payloads: addresses in the first and data in the second.
    pub fn split_sends(&self) -> bool {
        self.features.split_send || self.features.unified_send
    }

    /// Returns the GRF file.
    pub fn grf(&self) -> GrfFile {
        self.grf
    }

    /// Returns the target with the larger GRF file that kernels may ask for, if the platform has
    /// one.
    pub fn with_large_file(&self) -> Option<Target> {
        let count = self.features.grf_count_large;
        let grf = GrfFile { count, ..self.grf };
        (count > self.grf.count).then(|| Target {
            grf,
            ..self.clone()
        })
    }

    /// Returns the target with another GRF file, for tests that depend on its shape.
    #[cfg(test)]
    pub(crate) fn with_file(self, grf: GrfFile) -> Target {
        Target { grf, ..self }
    }

    /// Returns the ABI of threads: how they start, synchronize and end.
    pub fn abi(&self) -> &'static Abi {
        self.abi
    }
}

/// Returns the error of a product or device that is no target.
fn no_code_generator(name: &str, platform: Option<Platform>) -> LookupError {
    LookupError::NoCodeGenerator {
        name: name.to_owned(),
        platform: platform.map_or("unknown platform".to_owned(), |p| p.to_string()),
        targets: Target::list(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_product_is_a_target_of_its_own() {
        for t in Target::all() {
            for name in t.product().names {
                assert_eq!(Target::lookup(name).unwrap(), t, "{name}");
            }
            assert!(t.family() != 0, "{}", t.name());
        }
    }

    #[test]
    fn a_device_has_the_target_of_its_product_or_platform() {
        let info = |product, platform| DeviceInfo {
            name: "a device".to_string(),
            product,
            platform,
            limits: platform.map(Platform::limits),
        };
        for t in Target::all() {
            let found = Target::of_device(&info(Some(t.product()), Some(t.platform())));
            assert_eq!(found.unwrap(), t);
            let found = Target::of_device(&info(None, Some(t.platform()))).unwrap();
            assert_eq!(found.platform(), t.platform());
        }
        let hsw = Product::from_name("hsw");
        assert!(hsw.is_some());
        for other in [info(hsw, None), info(None, None)] {
            let e = Target::of_device(&other).unwrap_err().to_string();
            assert!(e.contains("a device") && e.contains("skl"), "{e}");
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        for name in ["m1", "hsw", ""] {
            let e = Target::lookup(name).unwrap_err().to_string();
            assert!(e.contains("skl") && e.contains("icllp"), "{e}");
        }
    }

    #[test]
    fn values_do_not_cross_registers_for_nothing() {
        let f = GrfFile {
            bytes: 32,
            count: 128,
        };
        assert_eq!(f.natural_align(6), 8);
        assert_eq!(f.natural_align(100), 32);
        assert_eq!(f.size(), 4096);
    }
}
