//! SLM of a group: its size, and the offsets of local pointer arguments.

use crate::arg::Arg;
use crate::zebin::{AddrMode, KernelInfo, PayloadKind, Pointer};
use gantry_isa_gen::Platform;

/// SLM sizes of a group on Xe-HPG and Xe-HPC, in KB. Sources: compute-runtime, `computeSlmValues`;
/// "Preferred SLM" and "Shared Local Memory Size" of the interface descriptor.
const SIZES: [u32; 12] = [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128];

/// Returns the bytes of SLM of a group whose kernel has `own` bytes and whose arguments ask for
/// `local`. Fails if that is too much.
pub(super) fn bytes(platform: Platform, own: u32, local: u64) -> Result<u32, String> {
    let needed = u64::from(own) + local.next_multiple_of(1024);
    let most = platform.limits().slm_per_group;
    let too_much = || format!("{needed} bytes of SLM; a group has at most {most}");
    let needed = u32::try_from(needed)
        .ok()
        .filter(|n| *n <= most)
        .ok_or_else(too_much)?;
    if platform >= Platform::XeHpg {
        let kb = needed.div_ceil(1024);
        let size = SIZES.iter().find(|s| **s >= kb);
        return Ok(size.copied().unwrap_or(kb) * 1024);
    }
    Ok(match needed {
        0 => 0,
        n => n.next_power_of_two().max(1024),
    })
}

/// Offsets of local pointer arguments. They follow each other from 0 in the order of the arguments,
/// whatever that of the payload. Each is aligned as the code asks (compute-runtime,
/// `Kernel::setArgLocal`).
pub(super) struct LocalPointers {
    /// Offsets by argument index.
    offsets: Vec<(u32, u64)>,
    /// Bytes of all arguments.
    pub(super) bytes: u64,
}

impl LocalPointers {
    pub(super) fn new(kernel: &KernelInfo, args: &[Arg]) -> LocalPointers {
        let mut pointers: Vec<(u32, u32)> = kernel
            .payload
            .iter()
            .filter_map(|p| match p.kind {
                PayloadKind::Pointer(Pointer {
                    index,
                    mode: AddrMode::Slm,
                    slm_alignment,
                    ..
                }) => Some((index, slm_alignment.unwrap_or(Pointer::SLM_ALIGNMENT))),
                _ => None,
            })
            .collect();
        pointers.sort_unstable();
        let mut locals = LocalPointers {
            offsets: Vec::new(),
            bytes: 0,
        };
        // An argument that the payload has twice counts once, with the larger alignment.
        for same in pointers.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(index, align)) = same.last() else {
                continue;
            };
            let at = locals.bytes.next_multiple_of(u64::from(align.max(1)));
            let size = match args.get(index as usize) {
                Some(Arg::Local(n)) => u64::from(*n),
                _ => 0,
            };
            locals.offsets.push((index, at));
            locals.bytes = at + size;
        }
        locals
    }

    /// Returns the offset of an argument.
    pub(super) fn offset(&self, index: u32) -> u64 {
        let at = self.offsets.binary_search_by_key(&index, |o| o.0);
        at.ok().and_then(|i| self.offsets.get(i)).map_or(0, |o| o.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_platform() {
        assert_eq!(bytes(Platform::Gen9, 0, 0), Ok(0));
        assert_eq!(bytes(Platform::Gen9, 4, 0), Ok(1024));
        assert_eq!(bytes(Platform::Gen9, 4, 1), Ok(2048));
        assert_eq!(bytes(Platform::Gen9, 17 << 10, 0), Ok(32 << 10));
        assert_eq!(bytes(Platform::Gen9, 64 << 10, 0), Ok(64 << 10));
        assert!(bytes(Platform::Gen9, 65 << 10, 0).is_err());
        assert_eq!(bytes(Platform::XeHpg, 17 << 10, 0), Ok(24 << 10));
        assert_eq!(bytes(Platform::XeHpc, 64 << 10, 1), Ok(96 << 10));
        assert_eq!(bytes(Platform::XeHpc, 0, 128 << 10), Ok(128 << 10));
        let e = bytes(Platform::XeHpc, u32::MAX, u64::MAX >> 1).unwrap_err();
        assert!(e.contains("at most 131072"), "{e}");
    }
}
