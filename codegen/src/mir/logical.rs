//! Logical sends: accesses before their payloads and descriptors exist.
//!
//! Lowering states the memory, the lanes and the mask of an access. `isel::lower_sends` turns that
//! into payloads, descriptors and `send` instructions. Operands of the systolic array are whole
//! GRFs as payloads are, so `dpas` is a logical send too.
//!
//! Addresses are as wide as those of their memory: 64 bits for A64, 32 bits otherwise. A mask of
//! `None` means all lanes.

use crate::ir::{AtomicOp, Block2dShape, BlockLayout, FenceSpaces, MemFlags, Opcode};
use crate::mir::{VFlag, VReg};
use gantry_isa_gen::Type;
use gantry_isa_gen::sem::dpas::Dpas;
use std::fmt;

/// Direction of an access: read or write.
pub use gantry_isa_gen::message::Dir;

/// Access or request to a shared function, over virtual registers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Logical {
    /// Access with an address per lane.
    Scattered(Scattered),
    /// Atomic with an address per lane.
    Atomic(Atomic),
    /// Prefetch of an address per lane.
    Prefetch(Prefetch),
    /// Access to consecutive elements at one address.
    Block(Block),
    /// Access to the texels of an image.
    Texels(Texels),
    /// Media block: a rectangle of an image's bytes.
    Media(Media),
    /// 2D blocks of a surface in memory.
    Block2d(Block2d),
    /// Message that the IR describes by its descriptors.
    Raw(Raw),
    /// Product of matrices on the systolic array. Not a message, but its operands are payloads.
    Systolic(Systolic),
    /// Barrier of the thread group.
    Barrier {
        /// Thread header.
        header: VReg,
        /// Number of a named barrier and how many threads it waits for. `None` is the barrier of
        /// the whole group.
        named: Option<(u8, Lane)>,
        /// Part of the barrier.
        part: BarrierPart,
    },
    /// Fence: waits until the thread's earlier accesses are done.
    Fence {
        /// Thread header.
        header: VReg,
        /// Memories that it orders.
        spaces: FenceSpaces,
    },
}

impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |dir| match dir {
            Dir::Read => "read",
            Dir::Write => "write",
        };
        match self {
            Logical::Scattered(s) => {
                if let Some(m) = s.mask {
                    write!(f, "({}{m}) ", if s.inverse { "~" } else { "" })?;
                }
                let keeps = if s.keeps { "" } else { "!" };
                write!(
                    f,
                    "scattered {} {:?} ({}x{}) {}{keeps}:{} [{}{:+}]",
                    way(s.dir),
                    s.mem.space,
                    s.lanes,
                    s.count,
                    s.data,
                    s.ty,
                    s.addr,
                    s.offset
                )
            }
            Logical::Block(b) => write!(
                f,
                "block {} {:?} ({}) {}:{} [{}{:+}]",
                way(b.dir),
                b.mem.space,
                b.lanes,
                b.data,
                b.ty,
                b.addr,
                b.offset
            ),
            Logical::Media(m) => {
                let Media {
                    surface,
                    width,
                    bytes,
                    coords: [x, y],
                    data,
                    ..
                } = m;
                let way = way(m.dir);
                write!(
                    f,
                    "media {way} surface {surface} ({bytes}) {data} [{x} {y}] width {width}"
                )
            }
            Logical::Block2d(b) => {
                let Block2d {
                    opcode,
                    shape,
                    base,
                    sizes,
                    place,
                    data,
                } = b;
                let lane = |l: &Lane| match l {
                    Lane::Known(n) => n.to_string(),
                    Lane::Reg(r) => r.to_string(),
                };
                let [width, height, pitch] = sizes.each_ref().map(lane);
                let [x, y] = place.each_ref().map(lane);
                let (rows, columns, blocks) = (shape.rows, shape.columns, shape.blocks);
                write!(f, "{opcode} ({rows}x{columns}x{blocks}:{}", shape.bytes)?;
                match shape.layout {
                    BlockLayout::Rows => write!(f, ")")?,
                    other => write!(f, " {})", other.name())?,
                }
                if let Some(data) = data {
                    write!(f, " {data}")?;
                }
                write!(f, " [{base} {width} {height} {pitch}] [{x} {y}]")
            }
            Logical::Systolic(s) => {
                let Systolic {
                    op,
                    dst,
                    acc,
                    columns,
                    rows,
                } = s;
                let (depth, repeat, channels) = (op.depth, op.repeat, op.channels);
                write!(f, "dpas.{depth}x{repeat} ({channels}) {dst}:{} ", op.dst)?;
                match (acc, op.src0) {
                    (Some(acc), Some(ty)) => write!(f, "{acc}:{ty}")?,
                    _ => write!(f, "null")?,
                }
                write!(f, " {columns}:{} {rows}:{}", op.src1, op.src2)
            }
            Logical::Raw(r) => {
                if let Some(m) = r.mask {
                    write!(f, "({m}) ")?;
                }
                let [ex, desc] = r.descs;
                write!(f, "raw ({}) {ex:#x} {desc:#x}", r.exec)?;
                if let Some((v, _)) = r.reply {
                    write!(f, " {v}{}", if r.keeps { "" } else { "!" })?;
                }
                write!(f, " [{}]", r.payload.0)?;
                r.second.map_or(Ok(()), |(v, _)| write!(f, " [{v}]"))
            }
            Logical::Texels(t) => {
                if let Some(m) = t.mask {
                    write!(f, "({m}) ")?;
                }
                let keeps = if t.keeps { "" } else { "!" };
                let (name, surface, lanes) = (t.op.name(), t.surface, t.lanes);
                write!(f, "{name} surface {surface} ({lanes})")?;
                match t.texels {
                    Some(r) => write!(f, " {r}{keeps}:{} [", t.ty)?,
                    None => write!(f, ":{} [", t.ty)?,
                }
                for (n, c) in t.coords.iter().flatten().enumerate() {
                    let comma = if n > 0 { " " } else { "" };
                    write!(f, "{comma}{c}")?;
                }
                write!(f, "]")?;
                match t.op {
                    ImageOp::Sample {
                        sampler,
                        lod,
                        reference,
                    } => {
                        write!(f, " sampler {sampler}")?;
                        lod.map_or(Ok(()), |l| write!(f, " lod {l}"))?;
                        reference.map_or(Ok(()), |r| write!(f, " ref {r}"))
                    }
                    ImageOp::Atomic { op, data } => {
                        write!(f, " {}", op.name())?;
                        data.iter().flatten().try_for_each(|d| write!(f, " {d}"))
                    }
                    _ => Ok(()),
                }
            }
            Logical::Barrier {
                header,
                named: None,
                part,
            } => match part {
                BarrierPart::Both => write!(f, "barrier {header}"),
                BarrierPart::Arrive => write!(f, "barrier arrive {header}"),
                BarrierPart::Wait => write!(f, "barrier wait"),
            },
            Logical::Barrier {
                named: Some((number, threads)),
                ..
            } => match threads {
                Lane::Known(n) => write!(f, "barrier {number} of {n}"),
                Lane::Reg(r) => write!(f, "barrier {number} of {r}"),
            },
            Logical::Atomic(a) => {
                if let Some(m) = a.mask {
                    write!(f, "({m}) ")?;
                }
                write!(f, "atomic {} {:?} ({})", a.op.name(), a.mem.space, a.lanes)?;
                if let Some(r) = a.result {
                    write!(f, " {r}{}", if a.keeps { "" } else { "!" })?;
                }
                write!(f, ":{} [{}{:+}]", a.ty, a.addr, a.offset)?;
                a.data.iter().flatten().try_for_each(|d| write!(f, " {d}"))
            }
            Logical::Prefetch(p) => {
                if let Some(m) = p.mask {
                    write!(f, "({m}) ")?;
                }
                let (space, lanes) = (p.mem.space, p.lanes);
                write!(f, "prefetch {space:?} ({lanes}) [{}{:+}]", p.addr, p.offset)
            }
            Logical::Fence { header, spaces } => write!(f, "fence {} {header}", spaces.name()),
        }
    }
}

/// Scattered access: one to four elements per lane, at an address per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scattered {
    /// Read or write.
    pub dir: Dir,
    /// Address space, alignment and promises about the access.
    pub mem: MemFlags,
    /// Number of lanes, any.
    pub lanes: u32,
    /// Elements of a lane, 1 to 4, consecutive in memory.
    pub count: u32,
    /// Element type, in the register.
    pub ty: Type,
    /// Bytes of an element in memory: as many as in the register, or 1 or 2 where each has a dword
    /// slot in the register.
    pub memory: u32,
    /// Dword that is added to every address.
    pub base: Option<VReg>,
    /// Addresses, one per lane.
    pub addr: VReg,
    /// Byte offset that is added to every address.
    pub offset: i32,
    /// Data: the first elements of all lanes from a place in the register on, then the second ones.
    pub data: VReg,
    /// Offset in bytes of that place, a multiple of a GRF.
    pub data_at: u32,
    /// Lanes that take part.
    pub mask: Option<VFlag>,
    /// True if only lanes under the execution mask take part.
    pub running: bool,
    /// True if the lanes take part whose bit of the mask, a flag, is clear.
    pub inverse: bool,
    /// True if a read keeps the old value in lanes that take no part. Otherwise the read starts the
    /// live range of `data`.
    pub keeps: bool,
}

/// Atomic operation on one element per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Atomic {
    /// Operation.
    pub op: AtomicOp,
    /// Address space and promises about the access.
    pub mem: MemFlags,
    /// Number of lanes, any.
    pub lanes: u32,
    /// Element type: dword, qword, or word on platforms with atomics of words. A word takes a dword
    /// of the payload.
    pub ty: Type,
    /// Addresses, one per lane.
    pub addr: VReg,
    /// Byte offset that is added to every address.
    pub offset: i32,
    /// Operands, as many as the operation has.
    pub data: [Option<VReg>; 2],
    /// Destination of the old value.
    pub result: Option<VReg>,
    /// Lanes that take part.
    pub mask: Option<VFlag>,
    /// True if the result keeps its old value in lanes that take no part. Otherwise its live range
    /// starts here.
    pub keeps: bool,
}

/// Prefetch of the cache line of an address per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prefetch {
    /// Address space: memory that is cached.
    pub mem: MemFlags,
    /// Number of lanes, any.
    pub lanes: u32,
    /// Addresses, one per lane.
    pub addr: VReg,
    /// Byte offset that is added to every address.
    pub offset: i32,
    /// Lanes that take part.
    pub mask: Option<VFlag>,
    /// True if only lanes under the execution mask take part.
    pub running: bool,
}

/// Block access: consecutive elements at one address, which is a multiple of the element size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Read or write.
    pub dir: Dir,
    /// Address space, alignment and promises about the access.
    pub mem: MemFlags,
    /// Thread header.
    pub header: VReg,
    /// Dword that is added to the address.
    pub base: Option<VReg>,
    /// Address, if it is a constant.
    pub known: Option<u64>,
    /// Number of elements, any.
    pub lanes: u32,
    /// Element type.
    pub ty: Type,
    /// Address.
    pub addr: VReg,
    /// Byte offset that is added to the address.
    pub offset: i32,
    /// Data, packed from the start of the register. A read starts its live range.
    pub data: VReg,
}

/// Operation on texels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ImageOp {
    /// Read by the sampler's load message.
    Load {
        /// Level of detail per lane. `None` is level 0.
        lod: Option<VReg>,
    },
    /// Read by the data port.
    LoadTyped {
        /// Level of detail per lane. `None` is level 0.
        lod: Option<VReg>,
    },
    /// Read of one sample of a multisampled texel, by the sampler.
    LoadSample,
    /// Write by the data port.
    Store {
        /// Level of detail per lane. `None` is level 0.
        lod: Option<VReg>,
    },
    /// Atomic on texels of one integer, by the data port.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Operands, as many as the operation has.
        data: [Option<VReg>; 2],
    },
    /// Sample with filtering.
    Sample {
        /// Number of the sampler.
        sampler: u8,
        /// Level of detail per lane. `None` is level 0.
        lod: Option<VReg>,
        /// Reference per lane that texels are compared with.
        reference: Option<VReg>,
    },
}

/// Image access: one texel per lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Texels {
    /// Operation.
    pub op: ImageOp,
    /// Binding table index.
    pub surface: u8,
    /// Thread header.
    pub header: VReg,
    /// Number of lanes, any.
    pub lanes: u32,
    /// Type of a component, 32 bits.
    pub ty: Type,
    /// Coordinates, each a dword per lane.
    pub coords: [Option<VReg>; 4],
    /// Lanes that take part.
    pub mask: Option<VFlag>,
    /// Texels: the first components of all lanes from the start of the register, then the second.
    /// `None` for an atomic whose old texels nothing reads.
    pub texels: Option<VReg>,
    /// True if a read keeps the old value in lanes that take no part. Otherwise the read starts the
    /// live range of `texels`.
    pub keeps: bool,
}

/// Media block: a rectangle of an image's bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Media {
    /// Read or write.
    pub dir: Dir,
    /// Binding table index.
    pub surface: u8,
    /// Thread header.
    pub header: VReg,
    /// Bytes of a row, a multiple of 4.
    pub width: u32,
    /// Bytes of all rows.
    pub bytes: u32,
    /// Position: byte in the row, and row. A dword each.
    pub coords: [VReg; 2],
    /// Data, row after row. A read starts its live range.
    pub data: VReg,
}

/// 2D blocks of a surface in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block2d {
    /// Load, store or prefetch.
    pub opcode: Opcode,
    /// Shape: block size, number of blocks, transformation.
    pub shape: Block2dShape,
    /// Address of the surface, 64 bits.
    pub base: VReg,
    /// Bytes of a row, rows, pitch in bytes.
    pub sizes: [Lane; 3],
    /// First column, in elements, and first row.
    pub place: [Lane; 2],
    /// Data, block after block; `None` for a prefetch. A load starts its live range.
    pub data: Option<VReg>,
}

/// Uniform number of 32 bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lane {
    /// Constant.
    Known(u32),
    /// First element of a register.
    Reg(VReg),
}

/// Part of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierPart {
    /// Message that tells that the thread has arrived, and the wait for the others.
    Both,
    /// Message.
    Arrive,
    /// Wait.
    Wait,
}

/// Message that the IR describes by its descriptors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Raw {
    /// Exec size.
    pub exec: u32,
    /// Extended descriptor and descriptor.
    pub descs: [u32; 2],
    /// First payload and its bytes.
    pub payload: (VReg, u32),
    /// Second payload of a split send, and its bytes.
    pub second: Option<(VReg, u32)>,
    /// Response and its bytes.
    pub reply: Option<(VReg, u32)>,
    /// Channels that take part.
    pub mask: Option<VFlag>,
    /// True if the register of the response has a value before, which stays where the message does
    /// not write.
    pub keeps: bool,
}

/// Product of matrices on the systolic array.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Systolic {
    /// Shape and types.
    pub op: Dpas,
    /// Destination: the sums.
    pub dst: VReg,
    /// Accumulator, of the type of source 0. `None` is zero.
    pub acc: Option<VReg>,
    /// Matrix whose columns are multiplied.
    pub columns: VReg,
    /// Matrix whose rows are multiplied.
    pub rows: VReg,
}
