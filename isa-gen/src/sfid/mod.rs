//! Shared functions (SFID), the receivers of messages.

pub(crate) mod traits;

use crate::platform::Platform;
use std::fmt;
use traits::traits;

/// Shared function that receives a message. Bits 3:0 of the extended descriptor before Xe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Sfid(u8);

impl Sfid {
    /// No function.
    pub const NULL: Sfid = Sfid(0);
    /// Load/store cache, untyped global memory at low bandwidth (Xe-HPG on).
    pub const UGML: Sfid = Sfid(1);
    /// Sampler.
    pub const SAMPLER: Sfid = Sfid(2);
    /// Message gateway: barriers.
    pub const GATEWAY: Sfid = Sfid(3);
    /// Sampler cache data port ("data cache 2").
    pub const DATA_CACHE_2: Sfid = Sfid(4);
    /// Render cache data port.
    pub const RENDER_CACHE: Sfid = Sfid(5);
    /// Unified return buffer.
    pub const URB: Sfid = Sfid(6);
    /// Thread spawner: end of thread.
    pub const THREAD_SPAWNER: Sfid = Sfid(7);
    /// Video motion estimation.
    pub const VME: Sfid = Sfid(8);
    /// Constant cache data port, read-only.
    pub const CONSTANT_CACHE: Sfid = Sfid(9);
    /// Data cache data port 0.
    pub const DATA_CACHE_0: Sfid = Sfid(10);
    /// Pixel interpolator.
    pub const PIXEL_INTERPOLATOR: Sfid = Sfid(11);
    /// Data cache data port 1.
    pub const DATA_CACHE_1: Sfid = Sfid(12);
    /// Check and refinement engine.
    pub const CRE: Sfid = Sfid(13);
    /// Bindless thread dispatch (Xe-HPG on).
    pub const BTD: Sfid = Sfid(7);
    /// Ray tracing (Xe-HPG on).
    pub const RTA: Sfid = Sfid(8);
    /// Load/store cache, typed global memory (Xe-HPG on).
    pub const TGM: Sfid = Sfid(13);
    /// Load/store cache, shared local memory (Xe-HPG on).
    pub const SLM: Sfid = Sfid(14);
    /// Load/store cache, untyped global memory (Xe-HPG on).
    pub const UGM: Sfid = Sfid(15);

    /// Returns the shared function with this number, or `None` above 15.
    pub const fn new(n: u8) -> Option<Sfid> {
        if n < 16 { Some(Sfid(n)) } else { None }
    }

    /// Returns the shared function in an extended descriptor.
    pub const fn of_ex_desc(ex: u32) -> Sfid {
        Sfid((ex & 0xf) as u8)
    }

    /// Returns the number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns a short name.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "null",
            2 => "sampler",
            3 => "gateway",
            4 => "dc2",
            5 => "render cache",
            6 => "urb",
            7 => "thread spawner",
            8 => "vme",
            9 => "constant cache",
            10 => "dc0",
            11 => "pixel interpolator",
            12 => "dc1",
            13 => "cre",
            _ => "reserved",
        }
    }
}

impl Sfid {
    /// Returns the name in a mnemonic (`send.dc0`), or `None` if the platform has no such shared
    /// function.
    pub fn mnemonic(self, platform: Platform) -> Option<&'static str> {
        traits(platform).mnemonic(self)
    }

    /// Returns the shared function that a mnemonic names.
    pub fn from_mnemonic(platform: Platform, name: &str) -> Option<Sfid> {
        traits(platform).sfid(name)
    }
}

impl fmt::Display for Sfid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
