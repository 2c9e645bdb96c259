//! The Intel Gen ISA as a leaf crate: platforms and features, registers, regions, types, [`Inst`], encoding, IGA
//! syntax both ways, legality rules and each opcode's semantics.

pub mod diag;
pub mod inst;
pub mod message;
pub mod op;
pub mod platform;
pub mod reg;
pub mod region;
pub mod sem;
pub mod types;

pub use inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, RegRole, SendDescs, Src,
    SrcMods, Subfn, Target,
};
pub use op::{MathFn, Op};
pub use platform::{Features, Platform};
pub use reg::{Arf, Reg, RegRef, Register};
pub use region::{ChannelOffset, ExecSize, Region};
pub use types::Type;
