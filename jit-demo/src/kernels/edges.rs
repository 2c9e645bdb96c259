//! Edge filter from a WGSL text that is compiled when the demo runs.

use crate::picture::Picture;

/// WGSL text.
pub const TEXT: &str = include_str!("edges.wgsl");
/// Name of the kernel in it.
pub const NAME: &str = "edges";

/// Computes the filter on the CPU.
pub fn reference(picture: &Picture) -> Vec<u8> {
    let (w, h) = (picture.width as i64, picture.height as i64);
    let brightness = |x: i64, y: i64| {
        let at = 3 * (y.clamp(0, h - 1) * w + x.clamp(0, w - 1)) as usize;
        match picture.rgb.get(at..at + 3) {
            Some(&[r, g, b]) => (i32::from(r) * 77 + i32::from(g) * 150 + i32::from(b) * 29) >> 8,
            _ => 0,
        }
    };
    let mut out = Vec::with_capacity(picture.rgb.len());
    for y in 0..h {
        for x in 0..w {
            let (mut across, mut down) = (0, 0);
            for (i, weight) in [(-1, 1), (0, 2), (1, 1)] {
                across += weight * (brightness(x + 1, y + i) - brightness(x - 1, y + i));
                down += weight * (brightness(x + i, y + 1) - brightness(x + i, y - 1));
            }
            out.extend([(across.abs() + down.abs()).min(255) as u8; 3]);
        }
    }
    out
}
