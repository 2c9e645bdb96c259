//! Where the addresses of a message point: looked up once a message, asked for each access.

use super::super::Bounds;
use super::super::memory::Block;
use super::super::surface::{Surface as State, bindless_offset};
use super::super::worker::{Group, MemoryArea};
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{AddrModel, LscSurface, Surface};

/// What addresses are offsets into, as the message says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Virtual memory.
    Flat,
    /// Shared local memory.
    Slm,
    /// Offsets from general state base.
    General,
    /// An entry of the binding table.
    Bti(u8),
    /// A surface state at this offset of the surface heap, in bytes.
    State(u32),
    /// The scratch surface that the message's header names.
    HeaderScratch,
}

/// The binding table index that means a surface state of the extended descriptor.
const BINDLESS: u8 = 252;

impl Place {
    /// Where a data port message points; `ex` is its extended descriptor.
    pub(super) fn of_model(platform: Platform, addr: AddrModel, ex: u32) -> Place {
        match addr {
            AddrModel::A64(_) => Place::Flat,
            AddrModel::A32(Surface::Slm) => Place::Slm,
            AddrModel::A32(Surface::Bti(BINDLESS)) => Place::State(bindless_offset(platform, ex)),
            AddrModel::A32(Surface::Bti(i)) => Place::Bti(i),
            AddrModel::A32(Surface::Stateless | Surface::StatelessNonCoherent) => Place::General,
        }
    }

    /// The surface state of a scratch surface that dword 5 of a header names: bits 31:10 count
    /// states of 64 bytes.
    pub(super) fn of_header(dword: u32) -> Place {
        Place::State((dword & !0x3ff) >> 4)
    }

    /// Where a message with a binding table index points; `ex` is its extended descriptor.
    pub(super) fn of_bti(platform: Platform, bti: u8, ex: u32) -> Place {
        Place::of_model(platform, AddrModel::A32(Surface::from_bits(bti)), ex)
    }

    /// The surface state.
    #[inline(always)]
    pub(super) fn state<'g>(self, group: &'g Group<'_>) -> Result<&'g State, String> {
        match self {
            Place::Bti(i) => group.surfaces().bound(i),
            Place::State(offset) => group.surfaces().at(offset),
            Place::Flat | Place::Slm | Place::General | Place::HeaderScratch => {
                Err("the message needs a surface".to_owned())
            }
        }
    }

    /// Where a message of the load/store cache to global memory points.
    pub(super) fn of_lsc(surface: LscSurface) -> Place {
        match surface {
            LscSurface::Flat => Place::Flat,
            LscSurface::Bss(offset) | LscSurface::Ss(offset) => Place::State(offset),
            LscSurface::Bti(i) => match Surface::from_bits(i) {
                Surface::Stateless | Surface::StatelessNonCoherent => Place::General,
                _ => Place::Bti(i),
            },
        }
    }
}

/// What a message's addresses are offsets into, looked up once a message.
pub(super) enum Window<'g> {
    /// Virtual addresses.
    Flat(&'g Group<'g>),
    /// A buffer of a surface state, and the address of its first byte: outside hardware reads 0 and
    /// drops what is written.
    Surface(&'g Block, u64, Bounds),
    /// No buffer at all: as outside one.
    Null(Bounds),
    /// SLM.
    Slm(&'g Block),
    /// A part of memory that the thread may reach: scratch, indirect data.
    MemoryArea(MemoryArea<'g>),
}

/// An area, and where in it accesses of a size may begin.
pub(super) struct Extent<'g> {
    pub(super) block: &'g Block,
    /// Bits of an address that count.
    keep: u64,
    /// The address of the area's first byte.
    base: u64,
    /// Where that byte is in the block.
    pub(super) from: u64,
    /// The last offset from there at which an access may begin.
    last: u64,
}

impl Extent<'_> {
    /// An address's offset in the area, if it is inside.
    #[inline(always)]
    pub(super) fn relative(&self, address: u64) -> u64 {
        (address & self.keep).wrapping_sub(self.base)
    }

    /// A number whose highest bit says that an offset in the area is none at which an access may
    /// begin.
    #[inline(always)]
    pub(super) fn outside(&self, relative: u64) -> u64 {
        // No area is as large as half of all numbers.
        relative | self.last.wrapping_sub(relative)
    }

    /// An address's offset in the block; `None` where the access is not all inside.
    #[inline(always)]
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let at = self.relative(address);
        (at <= self.last).then(|| self.from + at)
    }
}

/// Bits of a virtual address.
const VIRTUAL: u64 = 0xffff_ffff_ffff;
/// Compilers set high bits so that no valid pointer is null; SLM does not see them.
const SLM: u64 = 0x0fff_ffff;

impl<'g> Window<'g> {
    #[inline(always)]
    pub(super) fn new(group: &'g Group<'g>, place: Place) -> Result<Window<'g>, String> {
        let state = match place {
            Place::Flat => return Ok(Window::Flat(group)),
            Place::Slm => return Ok(Window::Slm(group.slm())),
            Place::General => return Ok(Window::MemoryArea(group.stateless())),
            place => place.state(group)?,
        };
        Ok(match state {
            State::Buffer(block, front) => {
                Window::Surface(block, u64::from(*front), group.bounds())
            }
            // An untyped message sees an image's bytes.
            State::Image(image) => Window::Surface(&image.block, 0, group.bounds()),
            State::Null => Window::Null(group.bounds()),
            State::Scratch => Window::MemoryArea(group.scratch()),
        })
    }

    /// The block in which an access of `n` bytes at an address lies, for the accesses beside it.
    #[inline(always)]
    pub(super) fn extent(&self, address: u64, n: u64) -> Option<Extent<'g>> {
        let (area, keep) = match *self {
            Window::Flat(group) => (group.area(address & VIRTUAL, n)?, VIRTUAL),
            Window::Surface(b, first, _) => {
                let mut area = MemoryArea::whole(b);
                area.first = first;
                (area, u64::MAX)
            }
            Window::MemoryArea(a) => (a, u64::MAX),
            Window::Slm(b) => (MemoryArea::whole(b), SLM),
            Window::Null(_) => return None,
        };
        Some(Extent {
            block: area.block,
            keep,
            base: area.first,
            from: area.at,
            last: area.bytes.checked_sub(n)?,
        })
    }

    /// The block and offset of an access of `n` bytes; `None` where it reads 0 or vanishes. A read
    /// that begins at `begin` may go beyond the end of a surface: compilers read more than they
    /// need where hardware gives zeros.
    #[inline(always)]
    pub(super) fn at(
        &self,
        address: u64,
        n: u64,
        begin: Option<u64>,
        what: &str,
    ) -> Result<Option<(&'g Block, u64)>, String> {
        match *self {
            Window::Flat(group) => group.global(address, n, what).map(Some),
            Window::Surface(block, first, bounds) => {
                let at = address.checked_sub(first);
                let found = at.filter(|&at| block.holds(at, n)).map(|at| (block, at));
                if found.is_none() && bounds == Bounds::Error {
                    let begins = |b: u64| {
                        let inside = b.checked_sub(first);
                        inside.is_some_and(|at| at == 0 || at < block.len() as u64)
                    };
                    if !begin.is_some_and(begins) {
                        return Err(outside(address, n, first, block.len() as u64, what));
                    }
                }
                Ok(found)
            }
            Window::Null(Bounds::Drop) => Ok(None),
            Window::Null(Bounds::Error) => Err(format!(
                "{what} of {n} bytes at offset {address:#x} of a surface without a buffer"
            )),
            Window::Slm(slm) => {
                let address = address & SLM;
                if slm.holds(address, n) {
                    Ok(Some((slm, address)))
                } else {
                    Err(format!(
                        "{what} of {n} bytes at {address:#x} of SLM, which has {:#x} bytes",
                        slm.len()
                    ))
                }
            }
            Window::MemoryArea(area) => area.at(address, n, what).map(Some),
        }
    }
}

/// What is wrong with an access outside of a surface's buffer, which begins at an offset and has so
/// many bytes.
#[cold]
fn outside(address: u64, n: u64, first: u64, len: u64, what: &str) -> String {
    let place = match address.checked_sub(first) {
        Some(at) => format!("at offset {at:#x}"),
        None => format!("{:#x} bytes before the beginning", first - address),
    };
    format!("{what} of {n} bytes {place} is outside the surface's buffer of {len:#x} bytes")
}
