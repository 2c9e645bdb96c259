//! `.ze_info`: the description of a module.

pub(crate) mod env;
pub(crate) mod image;
pub(crate) mod memory;
pub(crate) mod misc;
pub(crate) mod payload;
#[cfg(all(test, feature = "read"))]
mod tests;

#[cfg(feature = "read")]
use crate::error::ZebinError;
#[cfg(feature = "read")]
use crate::limits::{Limits, within};
use crate::names;
use crate::record::{Value, record};
#[cfg(feature = "read")]
use crate::yaml::{self, Node};
use crate::yaml::{Text, quoted};
use env::ExecutionEnv;
use image::InlineSampler;
use memory::{BindingTableIndex, MemoryBuffer};
use misc::{
    CachePolicy, DebugEnv, Experimental, FunctionInfo, HostAccess, KernelMisc, UserAttributes,
};
use payload::{PayloadArg, PerThreadArg};

/// Highest binding table index of a surface. Higher ones mean memory that is no surface.
#[cfg(feature = "read")]
pub(crate) const MAX_BTI: u32 = 252;

/// Description of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZeInfo {
    /// Version of the format, where the text has it.
    pub version: Option<String>,
    /// Kernels, with distinct names. The one that stands for external functions is left out.
    pub kernels: Vec<Kernel>,
    /// Functions that are called by address.
    pub functions: Vec<FunctionInfo>,
    /// Variables that the host may access by name.
    pub host_accesses: Vec<HostAccess>,
    /// Names and types of arguments.
    pub misc: Vec<KernelMisc>,
    /// Policy of the L1 cache for stores.
    pub l1_cache_policy: Option<CachePolicy>,
}

impl Default for ZeInfo {
    fn default() -> ZeInfo {
        ZeInfo {
            version: Some(names::VERSION.to_owned()),
            kernels: Vec::new(),
            functions: Vec::new(),
            host_accesses: Vec::new(),
            misc: Vec::new(),
            l1_cache_policy: None,
        }
    }
}

record! {
    /// Kernel of a module.
    #[derive(Default)]
    pub struct Kernel {
        /// Name.
        plain name: String,
        /// Attributes in the source.
        maybe user_attributes: UserAttributes,
        /// Requirements of its threads.
        need env("execution_env"): ExecutionEnv,
        /// Cross-thread payload.
        maybe payload("payload_arguments"): Vec<PayloadArg>,
        /// Per-thread payload.
        maybe per_thread("per_thread_payload_arguments"): Vec<PerThreadArg>,
        /// Memory of each thread.
        maybe memory("per_thread_memory_buffers"): Vec<MemoryBuffer>,
        /// Binding table.
        maybe binding_table("binding_table_indices"): Vec<BindingTableIndex>,
        /// Samplers of the code's own.
        maybe inline_samplers: Vec<InlineSampler>,
        /// Experiments.
        maybe experimental("experimental_properties"): Experimental,
        /// Surface of the debugger's routine.
        maybe debug_env: DebugEnv,
    }
}

impl Kernel {
    /// Creates a kernel without a payload.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            ..Kernel::default()
        }
    }
}

impl ZeInfo {
    /// Writes the text.
    pub fn write(&self) -> String {
        let mut out = Text::new();
        if let Some(version) = &self.version {
            out.entry("version", quoted(version));
        }
        self.kernels.write("kernels", &mut out);
        if !self.functions.is_empty() {
            self.functions.write("functions", &mut out);
        }
        if !self.host_accesses.is_empty() {
            self.host_accesses
                .write("global_host_access_table", &mut out);
        }
        if !self.misc.is_empty() {
            self.misc.write("kernels_misc_info", &mut out);
        }
        self.l1_cache_policy.write("l1_cache_policy", &mut out);
        out.finish()
    }

    /// Reads a text.
    ///
    /// # Errors
    /// The text is not YAML, or does not say what it must. A limit is passed.
    #[cfg(feature = "read")]
    pub fn read(text: &str, limits: &Limits) -> Result<ZeInfo, ZebinError> {
        let doc = yaml::parse(text, names::ZE_INFO, limits)?;
        let doc = doc.ok_or_else(|| ZebinError::new(".ze_info is empty"))?;
        let root = Node::root(&doc, names::ZE_INFO);
        let version = root.get("version")?.map(|v| v.string()).transpose()?;
        let nodes = root.need("kernels")?.list()?;
        within("kernels", nodes.len(), limits.kernels)?;
        let mut kernels: Vec<Kernel> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for node in nodes {
            let name = node.need("name")?.string()?;
            if name == names::EXTERNAL_FUNCTIONS {
                continue;
            }
            if !seen.insert(name.clone()) {
                return Err(node.error(&format!("a second kernel named `{name}`")));
            }
            kernels.push(kernel(&node.named(path_of(&name)))?);
        }
        Ok(ZeInfo {
            version,
            kernels,
            functions: list(&root, "functions")?,
            host_accesses: list(&root, "global_host_access_table")?,
            misc: list(&root, "kernels_misc_info")?,
            l1_cache_policy: match root.get("l1_cache_policy")? {
                Some(v) => Value::read(&root, "l1_cache_policy", &v)?,
                None => None,
            },
        })
    }
}

/// Returns the place of a kernel in `.ze_info`, for messages.
#[cfg(feature = "read")]
fn path_of(kernel: &str) -> String {
    format!("{}: kernel `{kernel}`", names::ZE_INFO)
}

#[cfg(feature = "read")]
impl Kernel {
    /// Returns an error about a part of the kernel: `.binding_table_indices[2]`, or nothing for the
    /// kernel itself.
    pub fn error(&self, part: impl std::fmt::Display, what: impl std::fmt::Display) -> ZebinError {
        ZebinError::new(format!("{}{part}: {what}", path_of(&self.name)))
    }
}

#[cfg(feature = "read")]
fn list<T>(root: &Node<'_>, key: &str) -> Result<Vec<T>, ZebinError>
where
    Vec<T>: Value,
{
    match root.get(key)? {
        Some(v) => Value::read(root, key, &v),
        None => Ok(Vec::new()),
    }
}

/// Reads a kernel, and checks its numbers.
#[cfg(feature = "read")]
fn kernel(node: &Node<'_>) -> Result<Kernel, ZebinError> {
    let mut kernel = <Kernel as crate::record::Item>::read(node)?;
    let env = &mut kernel.env;
    if !matches!(env.simd_size, 1 | 8 | 16 | 32) {
        let what = format!("simd_size {} is not 1, 8, 16 or 32", env.simd_size);
        return Err(kernel.error(".execution_env", what));
    }
    env.required_work_group_size.take_if(|s| *s == [0, 0, 0]);
    for (i, p) in kernel.per_thread.iter().enumerate() {
        if let Some(fault) = p.fault() {
            return Err(kernel.error(format_args!(".per_thread_payload_arguments[{i}]"), fault));
        }
    }
    for (i, b) in kernel.binding_table.iter().enumerate() {
        if b.bti_value > MAX_BTI {
            let what = format!("bti_value {} is above {MAX_BTI}", b.bti_value);
            return Err(kernel.error(format_args!(".binding_table_indices[{i}]"), what));
        }
    }
    Ok(kernel)
}
