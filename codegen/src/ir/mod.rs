//! The IR: typed SSA over vectors of any lane count, with register regions, predicates and SIMD
//! control flow.
//!
//! One function describes a whole EU thread. An operation computes all its lanes, always;
//! divergence acts only where a mask operand says so.

pub mod among;
pub mod block2d;
pub mod builder;
pub mod cache;
pub mod cfg;
pub mod condcodes;
pub(crate) mod data;
pub mod dfg;
pub mod entities;
mod equal;
pub mod function;
pub mod image;
pub(crate) mod immediate;
mod infer;
pub mod instructions;
pub mod interp;
pub mod layout;
pub mod link;
pub mod memory;
pub mod opcode;
pub(crate) mod operands;
pub(crate) mod printf;
pub mod reflection;
pub mod region;
pub mod sourceloc;
pub mod systolic;
pub mod text;
pub mod types;
pub mod verifier;

pub use block2d::{Block2dShape, BlockLayout};
pub use cache::{CachePolicy, LevelPolicy};
pub use cfg::ControlFlow;
pub use condcodes::{FloatCC, IntCC};
pub use data::{Data, DataReloc};
pub use dfg::{DataFlowGraph, ValueDef};
pub use entities::{Block, CaseTable, Constant, DataRef, FuncRef, Inst, SourceFile, Value};
pub use function::{
    ArgKind, FloatControls, FuncKind, Function, Linkage, MAX_SCRATCH, Module, Param, Signature,
};
pub use image::{
    Addressing, ArgFact, Compare, ImageAccess, ImageFact, ImagePlace, ImageShape, Sampler,
    SamplerFact,
};
pub use infer::{Types, result_types};
pub use instructions::{BlockCall, Cases, Dim, InstData, MAX_CASES};
pub use layout::{BlockInsts, Layout};
pub use memory::{AtomicOp, FenceSpaces, MAX_BARRIERS, MemFlags, Scope, Space};
pub use opcode::Opcode;
pub use reflection::{BindingPlace, ParamInfo, ParamRole, Reflection, Resource};
pub use region::Region;
pub use sourceloc::{Origin, SourceLine, SourceLoc, ValueLabels};
pub use systolic::{DpasShape, DpasTypes, Factor};
pub use types::{Scalar, Type, scalars};
