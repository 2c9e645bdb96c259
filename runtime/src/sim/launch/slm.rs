//! How much SLM a group gets.

use gantry_isa_gen::Platform;

/// What a group may be given on Xe-HPG and Xe-HPC, in KB (compute-runtime, `computeSlmValues`; "Preferred SLM" and "Shared
/// Local Memory Size" of the interface descriptor).
const SIZES: [u32; 12] = [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128];

/// The most that a group may have, in KB.
fn most(platform: Platform) -> u32 {
    match platform {
        Platform::XeHpc => 128,
        _ => 64,
    }
}

/// Bytes of SLM of a group whose kernel has `own` and whose arguments ask for `local` bytes. An error where that is too much.
pub(super) fn bytes(platform: Platform, own: u32, local: u64) -> Result<u32, String> {
    let needed = u64::from(own) + local.next_multiple_of(1024);
    let most = most(platform) * 1024;
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
