//! What messages do: operations, their parameters, and the payload lengths they need.

use super::Sfid;
use super::lsc::{
    CcsOp, LscAccess, LscCaching, LscData, LscFenceOp, LscPort, LscScope, LscSurface,
};
use super::params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
use super::ports::{GatewayOp, RenderLayout, Sample, Urb};
use crate::platform::Platform;

/// What a message does. Lengths are not here: see [`Message`](super::Message).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MsgOp {
    /// Untyped surface: up to four consecutive dwords per channel, each to its own GRF (two in SIMD16).
    Untyped {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Which of the four dwords.
        rgba: Rgba,
        /// How many channels.
        simd: Simd,
    },
    /// Byte scattered: 1, 2 or 4 bytes per channel, each in the low part of a doubleword. With
    /// 64-bit addresses also 8, each in a quadword: Intel's compiler emits them on Gen8.
    ByteScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Bytes per channel: 1, 2, 4 or 8.
        bytes: u8,
        /// How many channels.
        simd: Simd,
    },
    /// Dword scattered: 1, 2, 4 or 8 consecutive dwords per channel. A32 offsets count dwords.
    DwordScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Dwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// How many channels.
        simd: Simd,
        /// Through which cache.
        cache: Cache,
    },
    /// Qword scattered: 1, 2, 4 or 8 consecutive qwords per channel. A64.
    QwordScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Qwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// How many channels.
        simd: Simd,
    },
    /// Integer atomic on a dword, or (A64) on a qword.
    Atomic {
        /// The operation.
        op: AtomicOp,
        /// Where.
        addr: AddrModel,
        /// Qwords instead of dwords (A64 only).
        qword: bool,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels; A64 has 8 only.
        simd: Simd,
    },
    /// Single-float atomic.
    FloatAtomic {
        /// The operation.
        op: FloatAtomicOp,
        /// Where.
        addr: AddrModel,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels; A64 has 8 only.
        simd: Simd,
    },
    /// Block: consecutive bytes to consecutive registers; the address is in the header.
    Block {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// The unit.
        unit: BlockUnit,
        /// How many units: 1, 2, 4 or 8 (1 for `OwordHigh`).
        count: u8,
        /// Through which cache.
        cache: Cache,
    },
    /// Scratch block: whole GRFs of the thread's own scratch space, at `r0.5` of the header.
    Scratch {
        /// Read or write.
        dir: Dir,
        /// How many hwords of 32 bytes: 1, 2, 4 or 8.
        count: u8,
        /// Offset in the scratch space, in hwords: 0 .. 4095.
        offset: u16,
        /// Channel mode: the execution mask counts dwords (true) or owords.
        dword_mode: bool,
    },
    /// Memory fence.
    Fence {
        /// SLM (true) or global memory.
        slm: bool,
        /// A register is written back when the fence is done.
        commit: bool,
        /// Which caches are flushed: bits 12:8 of the descriptor.
        flush: u8,
    },
    /// Gateway barrier.
    Barrier,
    /// End of thread, to the thread spawner.
    ThreadEnd {
        /// The URB handle in the header is not dereferenced (bit 4; set by every compute compiler).
        no_dereference: bool,
    },
    /// Integer atomic on a word (Xe to XeHPG).
    HalfAtomic {
        /// The operation.
        op: AtomicOp,
        /// Where.
        addr: AddrModel,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels.
        simd: Simd,
    },
    /// Float atomic on a half float, or on a double (add and subtract only).
    SizedFloatAtomic {
        /// The operation.
        op: FloatAtomicOp,
        /// 16 or 64.
        bits: u8,
        /// Where.
        addr: AddrModel,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels; a double in A64 has 8 only.
        simd: Simd,
    },
    /// Typed surface: texels by coordinates, converted by the surface's format.
    Typed {
        /// Read or write.
        dir: Dir,
        /// Where.
        surface: Surface,
        /// Which components.
        rgba: Rgba,
        /// Which slots.
        slots: Slots,
        /// A read also returns whether pages were there (Gen10 and later).
        status: bool,
    },
    /// Typed atomic on a texel.
    TypedAtomic {
        /// The operation.
        op: AtomicOp,
        /// Where.
        surface: Surface,
        /// On 16 bits instead of 32.
        half: bool,
        /// The upper eight slots, instead of the lower.
        high: bool,
        /// Whether a value comes back.
        returns: bool,
    },
    /// Atomic on the append counter of a surface.
    CounterAtomic {
        /// The operation.
        op: AtomicOp,
        /// Where.
        surface: Surface,
        /// On 16 bits instead of 32.
        half: bool,
        /// How many channels.
        simd: Simd,
        /// Whether a value comes back.
        returns: bool,
    },
    /// Media block: a rectangle of bytes; position and size are in the header.
    MediaBlock {
        /// Read or write.
        dir: Dir,
        /// Where.
        surface: Surface,
        /// Override of the vertical line stride: bits 10:8 of the descriptor.
        stride: u8,
    },
    /// Load, store or atomic of the load/store cache.
    Lsc(LscAccess),
    /// 2D block of the load/store cache: rectangles of elements; position and size are in the payload.
    LscBlock2d {
        /// Through which port.
        port: LscPort,
        /// Read or write.
        dir: Dir,
        /// The size of an element.
        data: LscData,
        /// Columns of the rectangle become rows.
        transposed: bool,
        /// Elements of several rows are packed into doublewords, as the systolic array takes them (reads).
        vnni: bool,
        /// Where.
        surface: LscSurface,
        /// Cache policies.
        caching: LscCaching,
    },
    /// Fence of a port of the load/store cache.
    LscFence {
        /// Which port.
        port: LscPort,
        /// What it does to the caches.
        op: LscFenceOp,
        /// Whom it orders.
        scope: LscScope,
        /// Bit 18, which compilers set for untyped global memory on XeHPG ("backup mode").
        backup: bool,
    },
    /// Compression control.
    LscCcs {
        /// Through which port.
        port: LscPort,
        /// What.
        op: CcsOp,
        /// Where; a page is flat.
        surface: LscSurface,
    },
    /// Reads the state of a surface.
    LscReadState {
        /// Through which port.
        port: LscPort,
        /// Which surface.
        surface: LscSurface,
    },
    /// An operation of the gateway other than a barrier.
    Gateway(GatewayOp),
    /// Sampler.
    Sample(Sample),
    /// Unified return buffer, eight channels.
    Urb(Urb),
    /// Render target read or write.
    Render {
        /// Read or write.
        dir: Dir,
        /// The render target.
        surface: u8,
        /// Which pixels are where.
        layout: RenderLayout,
        /// Half floats (writes).
        half: bool,
        /// The upper slots.
        high: bool,
        /// The last message to its target (writes).
        last: bool,
        /// Per sample, not per pixel.
        per_sample: bool,
        /// Per coarse pixel (writes, Gen11 and later).
        coarse: bool,
    },
    /// Ray tracing: traces a ray per channel.
    TraceRay(Simd),
    /// Bindless thread dispatch: spawns a thread per channel.
    Spawn(Simd),
    /// A message that is not described here: named by its shared function.
    Raw {
        /// Who receives it.
        sfid: Sfid,
        /// Function control: descriptor bits 18:0 and 31:29 where they are, and the extended descriptor's bits 31:11
        /// in 63:43.
        control: u64,
    },
}

/// Payload lengths of an operation, in GRFs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// A header GRF is required.
    pub header: bool,
    /// Addresses.
    pub address: u32,
    /// Data written.
    pub data: u32,
    /// Data that comes back.
    pub response: u32,
}

impl MsgOp {
    /// Who receives it.
    pub fn sfid(&self) -> Sfid {
        match *self {
            MsgOp::Untyped { .. }
            | MsgOp::Atomic { .. }
            | MsgOp::FloatAtomic { .. }
            | MsgOp::HalfAtomic { .. }
            | MsgOp::SizedFloatAtomic { .. }
            | MsgOp::Typed { .. }
            | MsgOp::TypedAtomic { .. }
            | MsgOp::CounterAtomic { .. }
            | MsgOp::MediaBlock { .. } => Sfid::DATA_CACHE_1,
            MsgOp::Lsc(a) => a.port.sfid(),
            MsgOp::LscBlock2d { port, .. }
            | MsgOp::LscFence { port, .. }
            | MsgOp::LscCcs { port, .. }
            | MsgOp::LscReadState { port, .. } => port.sfid(),
            MsgOp::Sample(_) => Sfid::SAMPLER,
            MsgOp::Urb(_) => Sfid::URB,
            MsgOp::Render { .. } => Sfid::RENDER_CACHE,
            MsgOp::TraceRay(_) => Sfid::RTA,
            MsgOp::Spawn(_) => Sfid::BTD,
            MsgOp::DwordScattered {
                cache: Cache::Constant,
                ..
            }
            | MsgOp::Block {
                cache: Cache::Constant,
                ..
            } => Sfid::CONSTANT_CACHE,
            MsgOp::ByteScattered { addr, .. }
            | MsgOp::DwordScattered { addr, .. }
            | MsgOp::QwordScattered { addr, .. }
            | MsgOp::Block { addr, .. } => {
                if addr.is_a64() {
                    Sfid::DATA_CACHE_1
                } else {
                    Sfid::DATA_CACHE_0
                }
            }
            MsgOp::Scratch { .. } | MsgOp::Fence { .. } => Sfid::DATA_CACHE_0,
            MsgOp::Barrier | MsgOp::Gateway(_) => Sfid::GATEWAY,
            MsgOp::ThreadEnd { .. } => Sfid::THREAD_SPAWNER,
            MsgOp::Raw { sfid, .. } => sfid,
        }
    }

    /// How many channels the descriptor says, where it does.
    pub fn simd(&self) -> Option<Simd> {
        match *self {
            MsgOp::Untyped { simd, .. }
            | MsgOp::ByteScattered { simd, .. }
            | MsgOp::DwordScattered { simd, .. }
            | MsgOp::QwordScattered { simd, .. }
            | MsgOp::Atomic { simd, .. }
            | MsgOp::FloatAtomic { simd, .. }
            | MsgOp::HalfAtomic { simd, .. }
            | MsgOp::SizedFloatAtomic { simd, .. }
            | MsgOp::CounterAtomic { simd, .. }
            | MsgOp::TraceRay(simd)
            | MsgOp::Spawn(simd) => Some(simd),
            _ => None,
        }
    }

    /// What the payloads of a full message need, in GRFs: see [`Self::lengths_for`].
    pub fn lengths(&self, platform: Platform) -> Lengths {
        self.lengths_for(platform, platform.features().grf_bytes / 2)
    }

    /// What the payloads need, in GRFs, where the instruction has so many channels: that counts for messages that do not
    /// say it themselves (load/store cache). An atomic of that cache has a response if it is asked for one. Zero for what
    /// the descriptor does not determine: coordinates of typed messages, and all of sampler, render target, media block
    /// and [`MsgOp::Raw`].
    pub fn lengths_for(&self, platform: Platform, exec: u32) -> Lengths {
        let grf = platform.features().grf_bytes;
        // GRFs of one element per channel.
        let rows = |simd: Simd, bytes: u32| (simd.channels() * bytes).div_ceil(grf);
        let addresses = |addr: AddrModel, simd| rows(simd, if addr.is_a64() { 8 } else { 4 });
        let moved = |dir, address, n| match dir {
            Dir::Read => Lengths {
                header: false,
                address,
                data: 0,
                response: n,
            },
            Dir::Write => Lengths {
                header: false,
                address,
                data: n,
                response: 0,
            },
        };
        let headed = |l: Lengths| Lengths { header: true, ..l };
        match *self {
            MsgOp::Untyped {
                dir,
                addr,
                rgba,
                simd,
            } => moved(dir, addresses(addr, simd), rgba.count() * rows(simd, 4)),
            MsgOp::ByteScattered {
                dir,
                addr,
                bytes,
                simd,
            } => moved(
                dir,
                addresses(addr, simd),
                rows(simd, u32::from(bytes.max(4))),
            ),
            MsgOp::DwordScattered {
                dir,
                addr,
                count,
                simd,
                ..
            } => moved(dir, addresses(addr, simd), u32::from(count) * rows(simd, 4)),
            MsgOp::QwordScattered {
                dir,
                addr,
                count,
                simd,
            } => moved(dir, addresses(addr, simd), u32::from(count) * rows(simd, 8)),
            MsgOp::Atomic {
                op,
                addr,
                qword,
                returns,
                simd,
            } => {
                // For Ponte Vecchio, Intel's compiler sends an atomic of one channel as one of 32, with registers for 16.
                let simd = match simd {
                    Simd::S32 if exec == 1 => Simd::S16,
                    simd => simd,
                };
                let row = rows(simd, if qword { 8 } else { 4 });
                let wide = if op == AtomicOp::CmpWr2W { 2 } else { 1 };
                Lengths {
                    header: false,
                    address: addresses(addr, simd),
                    data: op.sources() * row,
                    response: u32::from(returns) * row * wide,
                }
            }
            MsgOp::FloatAtomic {
                op,
                addr,
                returns,
                simd,
            } => Lengths {
                header: false,
                address: addresses(addr, simd),
                data: op.sources() * rows(simd, 4),
                response: u32::from(returns) * rows(simd, 4),
            },
            MsgOp::Block {
                dir, unit, count, ..
            } => {
                let bytes = if unit == BlockUnit::Hword { 32 } else { 16 };
                headed(moved(dir, 0, (u32::from(count) * bytes).div_ceil(grf)))
            }
            MsgOp::Scratch { dir, count, .. } => {
                headed(moved(dir, 0, (u32::from(count) * 32).div_ceil(grf)))
            }
            MsgOp::Fence { commit, .. } => headed(Lengths {
                header: true,
                address: 0,
                data: 0,
                response: u32::from(commit),
            }),
            MsgOp::HalfAtomic {
                op,
                addr,
                returns,
                simd,
            } => Lengths {
                header: false,
                address: addresses(addr, simd),
                data: op.sources() * rows(simd, 4),
                response: u32::from(returns) * rows(simd, 4),
            },
            MsgOp::SizedFloatAtomic {
                op,
                bits,
                addr,
                returns,
                simd,
            } => {
                let row = rows(simd, if bits == 64 { 8 } else { 4 });
                Lengths {
                    header: false,
                    address: addresses(addr, simd),
                    data: op.sources() * row,
                    response: u32::from(returns) * row,
                }
            }
            // The surface says how many coordinates there are (u, v, r, level of detail; a GRF each).
            MsgOp::Typed {
                dir, rgba, status, ..
            } => moved(dir, 0, rgba.count() + u32::from(status)),
            MsgOp::TypedAtomic { op, returns, .. } => Lengths {
                header: false,
                address: 0,
                data: op.sources(),
                response: u32::from(returns),
            },
            MsgOp::CounterAtomic {
                op, simd, returns, ..
            } => headed(Lengths {
                header: true,
                address: 0,
                data: op.sources() * rows(simd, 4),
                response: u32::from(returns) * rows(simd, 4),
            }),
            MsgOp::Lsc(a) => a.lengths(grf, exec),
            MsgOp::LscFence { .. } => moved(Dir::Read, 1, 1),
            MsgOp::LscReadState { .. } => moved(Dir::Read, 1, if grf == 32 { 2 } else { 1 }),
            MsgOp::LscBlock2d { .. } | MsgOp::Spawn(_) | MsgOp::TraceRay(_) => {
                moved(Dir::Read, 1, 0)
            }
            MsgOp::LscCcs { op, .. } => {
                let n = if op.is_page() {
                    1
                } else {
                    (exec * 8).div_ceil(grf)
                };
                moved(Dir::Write, n, 0)
            }
            MsgOp::Urb(u) => u.lengths(),
            MsgOp::MediaBlock { .. } => headed(moved(Dir::Read, 0, 0)),
            // The gateway and the thread spawner take one GRF that the descriptor does not call a header.
            MsgOp::Barrier | MsgOp::ThreadEnd { .. } | MsgOp::Gateway(_) => Lengths {
                header: false,
                address: 1,
                data: 0,
                response: 0,
            },
            MsgOp::Sample(_) | MsgOp::Render { .. } | MsgOp::Raw { .. } => Lengths {
                header: false,
                address: 0,
                data: 0,
                response: 0,
            },
        }
    }
}
