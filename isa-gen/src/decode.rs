//! Decoding of native and compact instructions.

pub use crate::codec::error::DecodeError;
use crate::codec::{Ctx, codec};
use crate::compact;
use crate::inst::{Inst, InstOpts};
use crate::platform::Platform;
use crate::reg::Reg;
use crate::region::ExecSize;
use crate::table::PlatformTables;

/// Decoded instruction and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Instruction, with [`InstOpts::COMPACTED`] set if it was in the 8-byte form.
    pub inst: Inst<Reg>,
    /// Size in bytes: 8 or 16.
    pub len: usize,
}

/// Returns the size in bytes of the instruction at the start of `bytes`: 8 if it is compact, else
/// 16. Missing bytes count as zero.
pub fn len(bytes: &[u8]) -> usize {
    if bytes.get(3).is_some_and(|b| b & 0x20 != 0) {
        8
    } else {
        16
    }
}

/// Decodes the instruction at the start of `bytes`. Never panics. Ignores reserved bits.
///
/// # Errors
/// Returns an error if the bytes are not an instruction of the platform, or use an Align16 form
/// that [`Inst`] cannot hold.
pub fn decode(platform: Platform, bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let need = len(bytes);
    let have = bytes.len();
    let bytes = bytes
        .get(..need)
        .ok_or(DecodeError::Truncated { need, have })?;
    let mut padded = [0; 16];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    let mut word = u128::from_le_bytes(padded);
    let tables = PlatformTables::of(platform);
    let opcode = (word & 0x7f) as u8;
    let op = tables
        .ops
        .get(usize::from(opcode))
        .copied()
        .flatten()
        .ok_or(DecodeError::Opcode(opcode))?;
    let info = op.info(platform).ok_or(DecodeError::Opcode(opcode))?;
    if need == 8 {
        word = compact::expand(platform, word as u64).ok_or(DecodeError::Compact)?;
    }
    let codec = codec(platform, info.format).ok_or(DecodeError::Opcode(opcode))?;
    let ctx = Ctx {
        platform,
        tables,
        info,
    };
    let mut decoded = Decoded {
        inst: Inst::new(op, ExecSize::S1),
        len: need,
    };
    (codec.lift)(&ctx, word, need, &mut decoded.inst)?;
    decoded.inst.opts.set(InstOpts::COMPACTED, need == 8);
    Ok(decoded)
}
