//! Where the addresses of a message point: looked up once a message, asked for each access.

use super::super::memory::Block;
use super::super::surface::Surface as State;
use super::super::worker::Group;
use gantry_isa_gen::message::{AddrModel, Surface};

/// What a message's addresses are offsets into, looked up once a message.
pub(super) enum Window<'g> {
    /// Virtual addresses.
    Flat(&'g Group<'g>),
    /// A buffer of the binding table: accesses outside read 0 or vanish.
    Surface(&'g Block),
    /// No buffer at all: as outside one.
    Null,
    /// SLM.
    Slm(&'g Block),
    /// Scratch, by stateless offsets.
    General(&'g Block),
}

impl<'g> Window<'g> {
    #[inline(always)]
    pub(super) fn new(group: &'g Group<'g>, addr: AddrModel) -> Result<Window<'g>, String> {
        Ok(match addr {
            AddrModel::A64(_) => Window::Flat(group),
            AddrModel::A32(Surface::Slm) => Window::Slm(group.slm()),
            AddrModel::A32(Surface::Bti(i)) => match group.surfaces().bound(i)? {
                State::Buffer(block) => Window::Surface(block),
                State::Null => Window::Null,
            },
            AddrModel::A32(_) => Window::General(group.general()),
        })
    }

    /// The block and offset of an access of `n` bytes; `None` where it reads 0 or vanishes.
    #[inline(always)]
    pub(super) fn at(
        &self,
        address: u64,
        n: u64,
        dir: &str,
    ) -> Result<Option<(&'g Block, u64)>, String> {
        match *self {
            Window::Flat(group) => group.global(address, n, dir).map(Some),
            Window::Surface(block) => Ok(block.holds(address, n).then_some((block, address))),
            Window::Null => Ok(None),
            Window::Slm(slm) => {
                // Compilers set high bits so that no valid pointer is null; SLM does not see them.
                let address = address & 0x0fff_ffff;
                if slm.holds(address, n) {
                    Ok(Some((slm, address)))
                } else {
                    Err(format!(
                        "{dir} of {n} bytes at {address:#x} of SLM, which has {:#x} bytes",
                        slm.len()
                    ))
                }
            }
            Window::General(general) => {
                if general.holds(address, n) {
                    Ok(Some((general, address)))
                } else {
                    Err(format!(
                        "{dir} of {n} bytes at stateless offset {address:#x}, where there is no memory"
                    ))
                }
            }
        }
    }
}
