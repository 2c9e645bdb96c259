//! The Intel Gen ISA as a leaf crate: platforms and features, registers, regions, types, [`Inst`], encoding, IGA
//! syntax both ways, legality rules and each opcode's semantics.

mod codec;
pub mod compact;
pub mod decode;
pub mod diag;
pub mod encode;
pub mod fuzz;
pub mod inst;
pub mod legal;
pub mod message;
pub mod op;
pub mod platform;
pub mod reg;
pub mod region;
pub mod sem;
pub mod swsb;
mod table;
pub mod text;
pub mod types;

pub use inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, RegRole, SendDescs, Src,
    SrcMods, Subfn, SyncFn, Target,
};
pub use op::{MathFn, Op};
pub use platform::{Features, PRODUCTS, Platform, Product};
pub use reg::{Arf, Reg, RegRef, Register};
pub use region::{ChannelOffset, ExecSize, Region};
pub use swsb::Swsb;
pub use types::Type;
