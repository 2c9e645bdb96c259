//! Functions and modules.

use super::dfg::DataFlowGraph;
use super::entities::FuncRef;
use super::layout::Layout;
use super::types::Type;
use cranelift_entity::PrimaryMap;

/// What a kernel argument is to the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgKind {
    /// A value passed by value.
    Value,
    /// A global buffer; the value is its 64-bit (A64) address, `i64`.
    Ptr,
    /// Local memory the host sizes; the value is its SLM offset in bytes, `i32`.
    Slm,
    /// A buffer bound as a surface, the n-th such argument surface n; the value is the offset in it, in bytes, at which the buffer begins,
    /// `i32`.
    Surface,
}

impl ArgKind {
    /// The word in text after the type; none for a value.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            ArgKind::Value => None,
            ArgKind::Ptr => Some("ptr"),
            ArgKind::Slm => Some("slm"),
            ArgKind::Surface => Some("surface"),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Type of the value.
    pub ty: Type,
    /// What it is to the host; always [`ArgKind::Value`] in subroutines.
    pub kind: ArgKind,
}

/// Parameters and results. The entry block's parameters have the same types.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Parameters.
    pub params: Vec<Param>,
    /// Results; none in kernels.
    pub results: Vec<Type>,
}

/// Kernel or subroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuncKind {
    /// An entry point for the host.
    Kernel {
        /// SIMD width of the dispatch: work-items in a hardware thread: 1, 8, 16 or 32.
        simd: u32,
        /// Static SLM in bytes.
        slm_bytes: u32,
        /// Required work-group size, where there is one.
        group_size: Option<[u32; 3]>,
    },
    /// Compiled as part of each kernel that calls it.
    Subroutine,
}

/// A function. Two are equal if their text is: numbers of values and blocks included, storage order not.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name, without the `%`.
    pub name: String,
    /// Kernel or subroutine.
    pub kind: FuncKind,
    /// Parameters and results.
    pub sig: Signature,
    /// Values and instructions.
    pub dfg: DataFlowGraph,
    /// Their order.
    pub layout: Layout,
}

impl Function {
    /// An empty function.
    pub fn new(name: impl Into<String>, kind: FuncKind, sig: Signature) -> Self {
        Function {
            name: name.into(),
            kind,
            sig,
            dfg: DataFlowGraph::default(),
            layout: Layout::default(),
        }
    }
}

/// The functions of one text or one zebin.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// In text order.
    pub functions: PrimaryMap<FuncRef, Function>,
}

impl Module {
    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<FuncRef> {
        self.functions
            .iter()
            .find(|(_, f)| f.name == name)
            .map(|(r, _)| r)
    }
}
