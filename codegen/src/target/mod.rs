//! What code is made for: a product, what its platform can do, the register file, and how threads
//! begin and end.
//!
//! A [`Target`] is made once, from a product's name, and given to every stage. Stages ask it by the
//! name of a fact, never for a generation number; what differs between platforms is data:
//! `isa-gen`'s [`Features`] and legality rules, the [`Abi`] of a platform family, and the message
//! forms of `sends`.

pub mod abi;
pub(crate) mod errata;

use crate::error::CodegenError;
use abi::Abi;
use gantry_isa_gen::{DeviceInfo, Features, PRODUCTS, Platform, Product};

/// The shape of a thread's register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GrfFile {
    /// Bytes of a register.
    pub bytes: u32,
    /// Registers of a thread.
    pub count: u32,
}

impl GrfFile {
    /// Bytes of the whole file.
    pub const fn size(self) -> u32 {
        self.bytes * self.count
    }

    /// The register that holds a byte address.
    pub const fn of(self, address: u32) -> u32 {
        address / self.bytes
    }

    /// How many whole registers so many bytes take.
    pub const fn hold(self, bytes: u32) -> u32 {
        bytes.div_ceil(self.bytes)
    }

    /// Alignment of a value of so many bytes: it never crosses into a register that it would not
    /// need.
    pub fn natural_align(self, bytes: u32) -> u32 {
        bytes.next_power_of_two().clamp(1, self.bytes)
    }
}

/// What code is made for.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    product: &'static Product,
    platform: Platform,
    features: Features,
    grf: GrfFile,
    abi: &'static Abi,
}

impl Target {
    /// The target of a product's short name (`skl`), as `ocloc -device` takes it.
    ///
    /// # Errors
    /// There is no such product, or no code generator for it: the error lists those that there are.
    pub fn from_name(name: &str) -> Result<Target, CodegenError> {
        Product::from_name(name)
            .and_then(Target::of)
            .ok_or_else(|| Target::unknown(name))
    }

    /// The target of a product, if there is a code generator for its platform.
    pub fn of(product: &'static Product) -> Option<Target> {
        Target::of_any(product).filter(|t| t.abi.whole)
    }

    /// The target of a product's name, whose code generator may lack some of what kernels ask for:
    /// for tests of what there is.
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

    /// The target of a device: its product, or, where it is none, as a simulator, the first of its
    /// platform.
    ///
    /// # Errors
    /// There is no code generator for it: the error lists those that there are.
    pub fn of_device(device: &DeviceInfo) -> Result<Target, CodegenError> {
        let of_platform = |p| Target::all().find(|t| t.platform == p);
        let found = match device.product {
            Some(product) => Target::of(product),
            None => device.platform.and_then(of_platform),
        };
        found.ok_or_else(|| Target::unknown(&device.name))
    }

    fn unknown(name: &str) -> CodegenError {
        CodegenError::Target {
            name: name.to_string(),
            known: Target::names().collect::<Vec<_>>().join(", "),
        }
    }

    /// A target of every product with a code generator.
    pub fn all() -> impl Iterator<Item = Target> {
        PRODUCTS.iter().filter_map(Target::of)
    }

    /// The first name of every product with a code generator.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Target::all().map(|t| t.name())
    }

    /// The product.
    pub fn product(&self) -> &'static Product {
        self.product
    }

    /// The product's first name.
    pub fn name(&self) -> &'static str {
        self.product.name()
    }

    /// The product family number, as the notes of a zebin have it.
    pub fn family(&self) -> u32 {
        self.product.families.first().copied().unwrap_or(0)
    }

    /// The platform, whose encodings and messages are used.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// What the platform can do.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Whether a send takes two payloads, addresses in the one and data in the other.
    pub fn split_sends(&self) -> bool {
        self.features.split_send || self.features.unified_send
    }

    /// The register file.
    pub fn grf(&self) -> GrfFile {
        self.grf
    }

    /// The same with the larger register file that kernels may ask for, if the platform has one.
    pub fn with_large_file(&self) -> Option<Target> {
        let count = self.features.grf_count_large;
        let grf = GrfFile { count, ..self.grf };
        (count > self.grf.count).then(|| Target {
            grf,
            ..self.clone()
        })
    }

    /// The same with another register file, for tests of what takes its shape from here.
    #[cfg(test)]
    pub(crate) fn with_file(self, grf: GrfFile) -> Target {
        Target { grf, ..self }
    }

    /// How threads begin, meet and end.
    pub fn abi(&self) -> &'static Abi {
        self.abi
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
                assert_eq!(Target::from_name(name).unwrap(), t, "{name}");
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
            let e = Target::from_name(name).unwrap_err().to_string();
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
