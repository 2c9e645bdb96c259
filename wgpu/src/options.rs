//! Options of an instance.

use gantry::isa::{PRODUCTS, Product};
use gantry::runtime::CodeCache;
use std::sync::Arc;

/// Options of an instance.
#[derive(Clone, Debug)]
pub struct Options {
    /// Product whose adapter comes first, as `gantry compile --target` names it. `None` takes the
    /// environment's `GANTRY_TARGET`, or else `tgllp`.
    pub target: Option<String>,
    /// Channels of every sub-group: 8, 16 or 32. Programs read it from the adapter and count on it.
    pub sub_group_size: u32,
    /// Cache of compiled shaders on disk.
    pub cache: Option<Arc<CodeCache>>,
    /// Threads of the host that a device runs on; 0 means one for each core.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            target: None,
            sub_group_size: 32,
            cache: None,
            threads: 0,
        }
    }
}

/// Error of [`Options`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// Product that is not known.
    #[error("there is no product `{name}`; there are {}", .known.join(", "))]
    Target {
        /// Name asked for.
        name: String,
        /// Names of the products.
        known: Vec<&'static str>,
    },
    /// Size of sub-groups that no target has.
    #[error("sub-groups of {0} channels: 8, 16 and 32 are possible")]
    SubGroupSize(u32),
}

/// Target where neither the options nor the environment name one.
const TARGET: &str = "tgllp";

impl Options {
    /// Returns the products of the adapters, the first of which is asked for.
    pub(crate) fn products(&self) -> Result<Vec<&'static Product>, OptionsError> {
        if ![8, 16, 32].contains(&self.sub_group_size) {
            return Err(OptionsError::SubGroupSize(self.sub_group_size));
        }
        let given = self.target.clone();
        let name = given.or_else(|| std::env::var("GANTRY_TARGET").ok());
        let name = name.unwrap_or_else(|| TARGET.to_owned());
        let all = || PRODUCTS.iter().filter(|p| self.runs(p));
        let Some(first) = all().find(|p| p.name() == name) else {
            return Err(OptionsError::Target {
                name,
                known: all().map(Product::name).collect(),
            });
        };
        let others = all().filter(|p| p.name() != first.name());
        Ok([first].into_iter().chain(others).collect())
    }

    /// Returns true if a product has sub-groups of the size.
    fn runs(&self, product: &Product) -> bool {
        product
            .limits()
            .sub_group_sizes
            .contains(&self.sub_group_size)
    }
}
