//! Memory that the addresses of a message refer to. A window is looked up once a message, and used
//! for each access.

use super::super::Bounds;
use super::super::memory::Block;
use super::super::surface::{Surface as State, bindless_offset};
use super::super::worker::{Group, MemoryArea};
use gantry_isa_gen::Platform;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::message::{AddrModel, LscSurface, Surface};

/// Base that a message's addresses are offsets from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AddressBase {
    /// Virtual memory.
    Flat,
    /// Shared local memory.
    Slm,
    /// General state base.
    General,
    /// Surface of a binding table entry.
    Bti(u8),
    /// Surface of a state at this byte offset of the surface heap.
    State(u32),
    /// Scratch surface that the message's header names.
    HeaderScratch,
}

/// Binding table index that means the surface state in the extended descriptor.
const BINDLESS: u8 = 252;

impl AddressBase {
    /// Returns the base of a data port message; `ex` is its extended descriptor.
    pub(super) fn of_model(platform: Platform, addr: AddrModel, ex: u32) -> AddressBase {
        match addr {
            AddrModel::A64(_) => AddressBase::Flat,
            AddrModel::A32(Surface::Slm) => AddressBase::Slm,
            AddrModel::A32(Surface::Bti(BINDLESS)) => {
                AddressBase::State(bindless_offset(platform, ex))
            }
            AddrModel::A32(Surface::Bti(i)) => AddressBase::Bti(i),
            AddrModel::A32(Surface::Stateless | Surface::StatelessNonCoherent) => {
                AddressBase::General
            }
        }
    }

    /// Returns the state of the scratch surface in dword 5 of a header, whose bits 31:10 count
    /// states of 64 bytes.
    pub(super) fn of_header(dword: u32) -> AddressBase {
        AddressBase::State((dword & !0x3ff) >> 4)
    }

    /// Returns the base of a message with a binding table index; `ex` is its extended descriptor.
    pub(super) fn of_bti(platform: Platform, bti: u8, ex: u32) -> AddressBase {
        AddressBase::of_model(platform, AddrModel::A32(Surface::from_bits(bti)), ex)
    }

    /// Returns the surface state.
    #[inline(always)]
    pub(super) fn state<'g>(self, group: &'g Group<'_>) -> Result<&'g State, String> {
        match self {
            AddressBase::Bti(i) => group.surfaces().bound(i),
            AddressBase::State(offset) => group.surfaces().at(offset),
            AddressBase::Flat
            | AddressBase::Slm
            | AddressBase::General
            | AddressBase::HeaderScratch => Err("the message needs a surface".to_owned()),
        }
    }

    /// Returns the base of a message of the load/store cache to global memory.
    pub(super) fn of_lsc(surface: LscSurface) -> AddressBase {
        match surface {
            LscSurface::Flat => AddressBase::Flat,
            LscSurface::Bss(offset) | LscSurface::Ss(offset) => AddressBase::State(offset),
            LscSurface::Bti(i) => match Surface::from_bits(i) {
                Surface::Stateless | Surface::StatelessNonCoherent => AddressBase::General,
                _ => AddressBase::Bti(i),
            },
        }
    }
}

/// Memory that a message's addresses refer to, looked up once a message.
pub(super) enum Window<'g> {
    /// Virtual addresses.
    Flat(&'g Group<'g>),
    /// Buffer of a surface state. Outside, hardware reads 0 and drops writes.
    Surface(MemoryArea<'g>, Bounds),
    /// Null surface, which behaves like the outside of a buffer.
    Null(Bounds),
    /// SLM.
    Slm(&'g Block),
    /// Memory area of the thread: scratch or indirect data.
    Area(MemoryArea<'g>),
}

/// Area, and the range of offsets at which accesses of a size may begin.
pub(super) struct Extent<'g> {
    pub(super) block: &'g Block,
    /// Mask of the address bits that count.
    keep: u64,
    /// Address of the area's first byte.
    base: u64,
    /// Byte offset of the area in the block.
    pub(super) from: u64,
    /// Last offset in the area at which an access may begin.
    last: u64,
}

impl Extent<'_> {
    /// Returns an address's offset in the area, if it is inside.
    #[inline(always)]
    pub(super) fn relative(&self, address: u64) -> u64 {
        (address & self.keep).wrapping_sub(self.base)
    }

    /// Returns a number whose highest bit is set if no access may begin at an offset in the area.
    #[inline(always)]
    pub(super) fn outside(&self, relative: u64) -> u64 {
        // No area is as large as half of all numbers.
        relative | self.last.wrapping_sub(relative)
    }

    /// Returns an address's offset in the block; `None` if the access is not all inside.
    #[inline(always)]
    pub(super) fn offset(&self, address: u64) -> Option<u64> {
        let at = self.relative(address);
        (at <= self.last).then(|| self.from + at)
    }
}

/// Mask of the bits of a virtual address.
const VIRTUAL: u64 = 0xffff_ffff_ffff;
/// Mask of the bits of an SLM address. Compilers set higher bits so that no valid pointer is null;
/// SLM ignores them.
const SLM: u64 = 0x0fff_ffff;

impl<'g> Window<'g> {
    #[inline(always)]
    pub(super) fn new(group: &'g Group<'g>, place: AddressBase) -> Result<Window<'g>, String> {
        let state = match place {
            AddressBase::Flat => return Ok(Window::Flat(group)),
            AddressBase::Slm => return Ok(Window::Slm(group.slm())),
            AddressBase::General => return Ok(Window::Area(group.stateless())),
            place => place.state(group)?,
        };
        Ok(match state {
            State::Buffer(b) => {
                let first = u64::from(b.first);
                Window::Surface(
                    MemoryArea::part(&b.block, b.at, b.len, first),
                    group.bounds(),
                )
            }
            // Untyped messages access an image's bytes.
            State::Image(i) => {
                let (at, len) = i.bytes();
                Window::Surface(MemoryArea::part(&i.block, at, len, 0), group.bounds())
            }
            State::Null => Window::Null(group.bounds()),
            State::Scratch => Window::Area(group.scratch()),
        })
    }

    /// Returns the area of an access of `n` bytes at an address, to be used for neighbouring
    /// accesses too.
    #[inline(always)]
    pub(super) fn extent(&self, address: u64, n: u64) -> Option<Extent<'g>> {
        let (area, keep) = match *self {
            Window::Flat(group) => (group.area(address & VIRTUAL, n)?, VIRTUAL),
            Window::Surface(a, _) | Window::Area(a) => (a, u64::MAX),
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

    /// Returns the block and offset of an access of `n` bytes; `None` if it reads 0 or is dropped.
    /// A read that begins at `begin` may go beyond the end of a surface. Compilers read more than
    /// they need where hardware returns zeros.
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
            Window::Surface(area, bounds) => {
                let at = address.checked_sub(area.first);
                let holds = |&at: &u64| at.checked_add(n).is_some_and(|end| end <= area.bytes);
                let found = at.filter(holds).map(|at| (area.block, area.at + at));
                if found.is_none() && bounds == Bounds::Error {
                    let begins = |b: u64| {
                        let inside = b.checked_sub(area.first);
                        inside.is_some_and(|at| at == 0 || at < area.bytes)
                    };
                    if !begin.is_some_and(begins) {
                        return Err(outside(address, n, area.first, area.bytes, what));
                    }
                }
                Ok(found)
            }
            Window::Null(Bounds::Drop) => Ok(None),
            Window::Null(Bounds::Error) => Err(format!(
                "{what} of {} at offset {address:#x} of a surface without a buffer",
                Count(n, "byte")
            )),
            Window::Slm(slm) => {
                let address = address & SLM;
                if slm.holds(address, n) {
                    Ok(Some((slm, address)))
                } else {
                    Err(format!(
                        "{what} of {} at {address:#x} of SLM, which has {:#x} bytes",
                        Count(n, "byte"),
                        slm.len()
                    ))
                }
            }
            Window::Area(area) => area.at(address, n, what).map(Some),
        }
    }
}

/// Describes an access outside of a surface's buffer, which begins at an offset and has `len`
/// bytes.
#[cold]
fn outside(address: u64, n: u64, first: u64, len: u64, what: &str) -> String {
    let place = match address.checked_sub(first) {
        Some(at) => format!("at offset {at:#x}"),
        None => format!("{:#x} bytes before the beginning", first - address),
    };
    format!(
        "{what} of {} {place} is outside the surface's buffer of {len:#x} bytes",
        Count(n, "byte")
    )
}
