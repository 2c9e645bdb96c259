//! Message operations, their parameters, and the payload lengths that they need.

use super::Sfid;
use super::lsc::{
    CcsOp, LscAccess, LscCaching, LscData, LscFenceOp, LscPort, LscScope, LscSurface,
};
use super::params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Rgba, Simd, Slots, Surface,
};
use super::ports::{GatewayOp, RenderLayout, Sample, Urb};
use crate::platform::Platform;

/// Operation of a message. Lengths are in [`Message`](super::Message).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MsgOp {
    /// Untyped surface access: up to four consecutive dwords per channel, each dword of all
    /// channels in its own GRF (two GRFs in SIMD16).
    Untyped {
        /// Direction: read or write.
        dir: Dir,
        /// Address model and surface.
        addr: AddrModel,
        /// Dwords that are accessed.
        rgba: Rgba,
        /// Number of channels.
        simd: Simd,
    },
    /// Byte scattered access: 1, 2 or 4 bytes per channel, each in the low part of a dword. With
    /// 64-bit addresses also 8 bytes, each in a qword: Intel's compiler emits these on Gen8.
    ByteScattered {
        /// Direction: read or write.
        dir: Dir,
        /// Address model and surface.
        addr: AddrModel,
        /// Bytes per channel: 1, 2, 4 or 8.
        bytes: u8,
        /// Number of channels.
        simd: Simd,
    },
    /// Dword scattered access: 1, 2, 4 or 8 consecutive dwords per channel. A32 offsets are in
    /// dwords.
    DwordScattered {
        /// Direction: read or write.
        dir: Dir,
        /// Address model and surface.
        addr: AddrModel,
        /// Dwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// Number of channels.
        simd: Simd,
        /// Data port that carries the message.
        cache: Cache,
    },
    /// Qword scattered access: 1, 2, 4 or 8 consecutive qwords per channel. A64 only.
    QwordScattered {
        /// Direction: read or write.
        dir: Dir,
        /// Address model and surface.
        addr: AddrModel,
        /// Qwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// Number of channels.
        simd: Simd,
    },
    /// Integer atomic on a dword, or (A64) on a qword.
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Address model and surface.
        addr: AddrModel,
        /// True for qwords, false for dwords (A64 only).
        qword: bool,
        /// Set if the message returns a value.
        returns: bool,
        /// Number of channels; 8 only with A64.
        simd: Simd,
    },
    /// Float atomic on a single-precision float.
    FloatAtomic {
        /// Operation.
        op: FloatAtomicOp,
        /// Address model and surface.
        addr: AddrModel,
        /// Set if the message returns a value.
        returns: bool,
        /// Number of channels; 8 only with A64.
        simd: Simd,
    },
    /// Block access: consecutive bytes to consecutive registers. The address is in the header.
    Block {
        /// Direction: read or write.
        dir: Dir,
        /// Address model and surface.
        addr: AddrModel,
        /// Unit of the block.
        unit: BlockUnit,
        /// Number of units: 1, 2, 4 or 8 (1 for `OwordHigh`).
        count: u8,
        /// Data port that carries the message.
        cache: Cache,
    },
    /// Scratch block access: whole GRFs of the thread's own scratch space, based at `r0.5` of the
    /// header.
    Scratch {
        /// Direction: read or write.
        dir: Dir,
        /// Number of hwords of 32 bytes: 1, 2, 4 or 8.
        count: u8,
        /// Offset in the scratch space in hwords, 0 to 4095.
        offset: u16,
        /// Channel mode: true if a bit of the execution mask stands for a dword, false for an
        /// oword.
        dword_mode: bool,
    },
    /// Memory fence.
    Fence {
        /// True for SLM, false for global memory.
        slm: bool,
        /// True if a register is written back when the fence is complete.
        commit: bool,
        /// Caches that are flushed: bits 12:8 of the descriptor.
        flush: u8,
    },
    /// Gateway barrier.
    Barrier,
    /// End of thread, sent to the thread spawner.
    ThreadEnd {
        /// Does not dereference the URB handle in the header (bit 4; set by every compute
        /// compiler).
        no_dereference: bool,
    },
    /// Integer atomic on a word (Xe-LP to Xe-HPG).
    HalfAtomic {
        /// Operation.
        op: AtomicOp,
        /// Address model and surface.
        addr: AddrModel,
        /// Set if the message returns a value.
        returns: bool,
        /// Number of channels.
        simd: Simd,
    },
    /// Float atomic on a half-precision float, or on a double-precision one (add and subtract
    /// only).
    SizedFloatAtomic {
        /// Operation.
        op: FloatAtomicOp,
        /// Size of the float in bits, 16 or 64.
        bits: u8,
        /// Address model and surface.
        addr: AddrModel,
        /// Set if the message returns a value.
        returns: bool,
        /// Number of channels; 8 only for a double-precision float with A64.
        simd: Simd,
    },
    /// Typed surface access: texels by coordinates, converted by the surface's format.
    Typed {
        /// Direction: read or write.
        dir: Dir,
        /// Surface.
        surface: Surface,
        /// Components that are accessed.
        rgba: Rgba,
        /// Slots that are accessed.
        slots: Slots,
        /// True if a read also returns whether pages are resident (Gen10 on).
        status: bool,
    },
    /// Typed atomic on a texel.
    TypedAtomic {
        /// Operation.
        op: AtomicOp,
        /// Surface.
        surface: Surface,
        /// True for 16 bits, false for 32.
        half: bool,
        /// True for the upper eight slots, false for the lower.
        high: bool,
        /// Set if the message returns a value.
        returns: bool,
    },
    /// Atomic on the append counter of a surface.
    CounterAtomic {
        /// Operation.
        op: AtomicOp,
        /// Surface.
        surface: Surface,
        /// True for 16 bits, false for 32.
        half: bool,
        /// Number of channels.
        simd: Simd,
        /// Set if the message returns a value.
        returns: bool,
    },
    /// Media block access: a rectangle of bytes. Position and size are in the header.
    MediaBlock {
        /// Direction: read or write.
        dir: Dir,
        /// Surface.
        surface: Surface,
        /// Override of the vertical line stride: bits 10:8 of the descriptor.
        stride: u8,
    },
    /// Load, store or atomic of the load/store cache.
    Lsc(LscAccess),
    /// 2D block access of the load/store cache: rectangles of elements. Position and size are in
    /// the payload.
    LscBlock2d {
        /// Port that carries the message.
        port: LscPort,
        /// Direction: read or write.
        dir: Dir,
        /// Size of an element.
        data: LscData,
        /// True if columns of the rectangle become rows.
        transposed: bool,
        /// True if elements of several rows are packed into dwords, as the systolic array reads
        /// them (reads).
        vnni: bool,
        /// Surface.
        surface: LscSurface,
        /// Cache policies.
        caching: LscCaching,
    },
    /// Fence of a port of the load/store cache.
    LscFence {
        /// Port.
        port: LscPort,
        /// Operation on the caches.
        op: LscFenceOp,
        /// Scope of the ordering.
        scope: LscScope,
        /// Bit 18, which compilers set for untyped global memory on Xe-HPG ("backup mode").
        backup: bool,
    },
    /// Compression control.
    LscCcs {
        /// Port that carries the message.
        port: LscPort,
        /// Operation.
        op: CcsOp,
        /// Surface; flat for a page.
        surface: LscSurface,
    },
    /// Reads the state of a surface.
    LscReadState {
        /// Port that carries the message.
        port: LscPort,
        /// Surface.
        surface: LscSurface,
    },
    /// Gateway operation other than a barrier.
    Gateway(GatewayOp),
    /// Sampler message.
    Sample(Sample),
    /// Message to the unified return buffer, of eight channels.
    Urb(Urb),
    /// Render target read or write.
    Render {
        /// Direction: read or write.
        dir: Dir,
        /// Index of the render target.
        surface: u8,
        /// Arrangement of the pixels.
        layout: RenderLayout,
        /// True for half-precision floats (writes).
        half: bool,
        /// True for the upper slots.
        high: bool,
        /// True for the last message to its target (writes).
        last: bool,
        /// True for access per sample, false per pixel.
        per_sample: bool,
        /// True for access per coarse pixel (writes, Gen11 on).
        coarse: bool,
    },
    /// Ray tracing: traces a ray per channel.
    TraceRay(Simd),
    /// Bindless thread dispatch: spawns a thread per channel.
    Spawn(Simd),
    /// Message that has no variant here, with its raw bits.
    Raw {
        /// Shared function that receives it.
        sfid: Sfid,
        /// Function control: descriptor bits 18:0 and 31:29 in the same positions, and bits 31:11
        /// of the extended descriptor in bits 63:43.
        control: u64,
    },
}

/// Payload lengths of an operation, in GRFs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// True if a header GRF is required.
    pub header: bool,
    /// Length of the addresses.
    pub address: u32,
    /// Length of the data to write.
    pub data: u32,
    /// Length of the response.
    pub response: u32,
}

impl MsgOp {
    /// Shared function that receives it.
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

    /// Returns the number of channels if the descriptor encodes it.
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

    /// Computes the payload lengths of a full message in GRFs: see [`Self::lengths_for`].
    pub fn lengths(&self, platform: Platform) -> Lengths {
        self.lengths_for(platform, platform.features().grf_bytes / 2)
    }

    /// Computes the payload lengths in GRFs for an instruction of `exec` channels.
    ///
    /// `exec` matters for messages that do not encode the number of channels (load/store cache). An
    /// atomic of that cache has a response if it is asked for one. Lengths that the descriptor does
    /// not determine are 0: coordinates of typed messages, and all lengths of sampler, render
    /// target, media block and [`MsgOp::Raw`].
    pub fn lengths_for(&self, platform: Platform, exec: u32) -> Lengths {
        let grf = platform.features().grf_bytes;
        // Number of GRFs of one element per channel.
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
                // Intel's compiler for Ponte Vecchio sends an atomic of one channel as one of 32,
                // with registers for 16.
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
            // The surface determines the number of coordinates (u, v, r, level of detail; one GRF
            // each).
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
            // The gateway and the thread spawner read one GRF, which the descriptor does not call a
            // header.
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
