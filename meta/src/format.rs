//! Operand formats.

use crate::listed::listed_enum;

listed_enum! {
    /// Layout of an instruction's operands in encoding and text. The layouts of a generation map
    /// each to bits.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Format {
        /// No operands: `nop`, `illegal`.
        Nullary,
        /// Destination and one source.
        Unary,
        /// Destination and two sources, of which the second may be an immediate.
        Binary,
        /// `math.FN`: one or two sources, depending on the function.
        Math,
        /// Destination and three sources.
        Ternary,
        /// `wait`: a notification register, which is also the destination.
        Wait,
        /// `send`: destination, one payload, two descriptors.
        Send,
        /// `sends`: destination, two payloads, two descriptors.
        SplitSend,
        /// `jmpi`: a scalar jump, by an offset from the next instruction or a register.
        Jmpi,
        /// Branch with JIP only.
        BranchJip,
        /// Branch with JIP and UIP.
        BranchJipUip,
        /// `brd`: JIP or a register.
        BranchRegJip,
        /// `brc`: JIP and UIP or a register.
        BranchRegJipUip,
        /// `call`, `calla`: a return address register and a target.
        Call,
        /// `ret`: a return address register.
        Ret,
        /// `sync.FN`: a register or an immediate.
        Sync,
        /// `send` of Xe: destination, two payloads, two descriptors. The name has the shared
        /// function.
        XeSend,
        /// `dpas`: destination, accumulator, weights and activations, whole registers.
        Dpas,
    }
}

impl Format {
    /// Returns true if the text form has a destination.
    pub const fn has_dst(self) -> bool {
        matches!(
            self,
            Format::Unary
                | Format::Binary
                | Format::Math
                | Format::Ternary
                | Format::Send
                | Format::SplitSend
                | Format::Call
                | Format::XeSend
                | Format::Dpas
        )
    }

    /// Returns true if this is a branch of any kind.
    pub const fn is_branch(self) -> bool {
        matches!(
            self,
            Format::Jmpi
                | Format::BranchJip
                | Format::BranchJipUip
                | Format::BranchRegJip
                | Format::BranchRegJipUip
                | Format::Call
                | Format::Ret
        )
    }

    /// Returns true if operands are typed data, so that a row of it must list type combinations.
    pub const fn has_types(self) -> bool {
        matches!(
            self,
            Format::Unary
                | Format::Binary
                | Format::Math
                | Format::Ternary
                | Format::Wait
                | Format::Dpas
        )
    }

    /// Returns true if this is a send of any kind.
    pub const fn is_send(self) -> bool {
        matches!(self, Format::Send | Format::SplitSend | Format::XeSend)
    }

    /// Returns the number of sources in the text form, the maximum for `math`.
    pub const fn sources(self) -> u8 {
        match self {
            Format::Nullary => 0,
            Format::Unary
            | Format::Wait
            | Format::Send
            | Format::Jmpi
            | Format::BranchJip
            | Format::BranchRegJip
            | Format::Call
            | Format::Ret
            | Format::Sync => 1,
            Format::Binary
            | Format::Math
            | Format::SplitSend
            | Format::BranchJipUip
            | Format::BranchRegJipUip
            | Format::XeSend => 2,
            Format::Ternary | Format::Dpas => 3,
        }
    }
}
