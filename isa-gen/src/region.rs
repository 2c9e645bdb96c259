//! Register regions and execution sizes.

use std::fmt;

/// Execution size: number of channels of an instruction (1, 2, 4, 8, 16 or 32).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ExecSize(u8);

impl ExecSize {
    /// One channel.
    pub const S1: ExecSize = ExecSize(0);
    /// Two channels.
    pub const S2: ExecSize = ExecSize(1);
    /// Four channels.
    pub const S4: ExecSize = ExecSize(2);
    /// Eight channels.
    pub const S8: ExecSize = ExecSize(3);
    /// Sixteen channels.
    pub const S16: ExecSize = ExecSize(4);
    /// Thirty-two channels.
    pub const S32: ExecSize = ExecSize(5);

    /// Returns the execution size of a number of channels, or `None` unless it is 1, 2, 4, 8, 16 or
    /// 32.
    pub const fn new(channels: u32) -> Option<ExecSize> {
        if channels.is_power_of_two() && channels <= 32 {
            Some(ExecSize(channels.trailing_zeros() as u8))
        } else {
            None
        }
    }

    /// Returns the execution size with this hardware encoding (log2 of the channel count), or
    /// `None` above 5.
    pub const fn from_log2(log2: u8) -> Option<ExecSize> {
        if log2 <= 5 {
            Some(ExecSize(log2))
        } else {
            None
        }
    }

    /// Returns the number of channels.
    pub const fn channels(self) -> u32 {
        1 << self.0
    }

    /// Returns log2 of the channel count, which is also the hardware encoding.
    pub const fn log2(self) -> u8 {
        self.0
    }
}

impl fmt::Display for ExecSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.channels())
    }
}

/// Channel offset: the first channel of the execution mask and of the flag register that an
/// instruction uses. A multiple of 4 below 32, written `M8` in IGA syntax.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct ChannelOffset(u8);

impl ChannelOffset {
    /// Offset zero, `M0`.
    pub const M0: ChannelOffset = ChannelOffset(0);

    /// Returns the channel offset of a first channel, or `None` unless it is a multiple of 4 below
    /// 32.
    pub const fn new(channels: u32) -> Option<ChannelOffset> {
        if channels < 32 && channels.is_multiple_of(4) {
            Some(ChannelOffset(channels as u8))
        } else {
            None
        }
    }

    /// Returns the number of the first channel.
    pub const fn channels(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for ChannelOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "M{}", self.0)
    }
}

/// Source region `<vs;w,hs>`, strides in elements. Channel `c` reads the element at
/// `(c / w) * vs + (c % w) * hs` after the region's origin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Region {
    /// `<vs;w,hs>`. Vertical stride 0, 1, 2, 4, 8, 16 or 32; width 1, 2, 4, 8 or 16; horizontal
    /// stride 0, 1, 2 or 4.
    Rect {
        /// Vertical stride, in elements.
        vs: u8,
        /// Width: elements in a row.
        w: u8,
        /// Horizontal stride, in elements.
        hs: u8,
    },
    /// `<w,hs>`: VxH and Vx1, for indirect addressing only. Each row's address comes from the next
    /// address sub-register.
    VxH {
        /// Width: elements in a row (1 for Vx1).
        w: u8,
        /// Horizontal stride, in elements.
        hs: u8,
    },
    /// `<vs;hs>`: reduced region of three-source instructions. A replicated scalar is written
    /// `<0>`, see [`Region::Scalar3`].
    Ternary {
        /// Vertical stride, in elements.
        vs: u8,
        /// Horizontal stride, in elements.
        hs: u8,
    },
    /// `<hs>`: source 2 of a three-source instruction, and `<0>` for a replicated scalar.
    Scalar3 {
        /// Horizontal stride, in elements.
        hs: u8,
    },
}

impl Region {
    /// `<0;1,0>`: one element for all channels.
    pub const SCALAR: Region = Region::Rect { vs: 0, w: 1, hs: 0 };

    /// Creates a `<vs;w,hs>` region.
    pub const fn rect(vs: u8, w: u8, hs: u8) -> Region {
        Region::Rect { vs, w, hs }
    }

    /// Returns the contiguous region of an execution size as Intel's tools write it: `<0;1,0>`,
    /// `<2;2,1>`, `<4;4,1>` or `<8;8,1>`. Intel's tools also write `<16;16,1>` from 16 channels on,
    /// which names the same elements.
    pub const fn packed(exec: ExecSize) -> Region {
        match exec.channels() {
            1 => Region::SCALAR,
            2 => Region::rect(2, 2, 1),
            4 => Region::rect(4, 4, 1),
            _ => Region::rect(8, 8, 1),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Region::Rect { vs, w, hs } => write!(f, "<{vs};{w},{hs}>"),
            Region::VxH { w, hs } => write!(f, "<{w},{hs}>"),
            Region::Ternary { vs, hs } => write!(f, "<{vs};{hs}>"),
            Region::Scalar3 { hs } => write!(f, "<{hs}>"),
        }
    }
}
