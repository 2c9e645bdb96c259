//! Picture of an allocation: the GRF file from top to bottom, the program from left to right.

use crate::Failure;
use gantry::codegen::report::{AllocationReport, Held};
use std::collections::BTreeMap;

/// Limit on the width in pixels.
const WIDTH: u32 = 2048;
/// Height of a GRF in pixels.
const GRF: u32 = 8;
/// Rows between the GRF file and the demand curve, and rows of the curve.
const GAP: u32 = 8;
const CURVE: u32 = 128;

type Rgb = [u8; 3];

const BACKGROUND: Rgb = [250, 250, 248];
const FILE: Rgb = [232, 232, 228];
const INK: Rgb = [70, 70, 70];
const LIMIT: Rgb = [200, 60, 40];

/// Returns the colour of a value: hues a golden angle apart, in three shades.
fn colour(of: Held) -> Rgb {
    let n = of.value.map_or(of.register, |v| v.as_u32());
    let hue = (u64::from(n) * 222_492 % 360_000) as f32 / 60_000.0;
    let (high, low) = match n % 3 {
        0 => (225.0, 95.0),
        1 => (190.0, 60.0),
        _ => (240.0, 140.0),
    };
    let ramp = |at: f32| {
        let x = (hue + at) % 6.0;
        let part = (2.0 - (x - 3.0).abs()).clamp(0.0, 1.0);
        (high - part * (high - low)) as u8
    };
    [ramp(0.0), ramp(4.0), ramp(2.0)]
}

struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Picture {
    fn set(&mut self, x: u32, y: u32, to: Rgb) {
        if x < self.width && y < self.height {
            let at = (y * self.width + x) as usize * 3;
            if let Some(p) = self.pixels.get_mut(at..at + 3) {
                p.copy_from_slice(&to);
            }
        }
    }

    /// Fills a rectangle. If `hatched`, only every fourth diagonal of it.
    fn fill(&mut self, x: std::ops::Range<u32>, y: std::ops::Range<u32>, to: Rgb, hatched: bool) {
        for y in y {
            for x in x.clone() {
                if !hatched || (x + y) % 4 == 0 {
                    self.set(x, y, to);
                }
            }
        }
    }
}

/// Draws the picture as a PNG. Bytes of the GRF file go downwards, program points to the right,
/// with a colour a value. A value in scratch is hatched, at the registers that it had. Below is the
/// demand, with the file's size as a line.
pub(crate) fn png(report: &AllocationReport) -> Result<Vec<u8>, Failure> {
    let points = report.origin.len().max(1) as u32 * 2;
    let width = points.min(WIDTH);
    let rows = |bytes: u32| bytes * GRF / report.grf.max(1);
    let highest = report.placed.iter().map(|p| p.at + p.held.bytes).max();
    let file = rows(highest.unwrap_or(0).max(report.file)).max(1);
    let height = file + GAP + CURVE;
    let mut picture = Picture {
        width,
        height,
        pixels: BACKGROUND.repeat((width * height) as usize),
    };
    let column =
        |point: u32| (u64::from(point.min(points)) * u64::from(width) / u64::from(points)) as u32;
    let columns = |from: u32, to: u32| column(from)..column(to).max(column(from) + 1);
    picture.fill(0..width, 0..rows(report.file), FILE, false);
    let mut first: BTreeMap<(Option<u32>, u32), u32> = BTreeMap::new();
    for p in &report.placed {
        let key = (p.held.value.map(|v| v.as_u32()), p.held.bytes);
        first.entry(key).or_insert(p.at);
        first.entry((None, p.held.register)).or_insert(p.at);
    }
    // Maps a point of the code before spilling to one after it.
    let now = |point: u32| report.origin.partition_point(|o| *o < point / 2) as u32 * 2 + point % 2;
    for s in &report.spilled {
        let key = (s.held.value.map(|v| v.as_u32()), s.held.bytes);
        let own = first.get(&(None, s.held.register));
        let Some(&at) = own.or_else(|| first.get(&key)) else {
            continue;
        };
        for life in &s.life {
            let y = rows(at)..rows(at + s.held.bytes).max(rows(at) + 1);
            picture.fill(
                columns(now(life.start), now(life.end)),
                y,
                colour(s.held),
                true,
            );
        }
    }
    for p in &report.placed {
        let y = rows(p.at)..rows(p.at + p.held.bytes).max(rows(p.at) + 1);
        for r in &p.ranges {
            picture.fill(columns(r.start, r.end), y.clone(), colour(p.held), false);
        }
    }
    // The demand, before anything was spilled.
    let most = report
        .demand
        .iter()
        .copied()
        .max()
        .unwrap_or(0)
        .max(report.file)
        .max(1);
    let base = height - 1;
    let tall = |bytes: u32| (u64::from(bytes) * u64::from(CURVE - 1) / u64::from(most)) as u32;
    for x in 0..width {
        let from = (u64::from(x) * report.origin.len() as u64 / u64::from(width)) as usize;
        let at = report.origin.get(from).copied().unwrap_or(0) as usize;
        let bytes = report.demand.get(at).copied().unwrap_or(0);
        picture.fill(x..x + 1, base - tall(bytes)..height, INK, false);
        picture.set(x, base - tall(report.file), LIMIT);
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder
        .write_header()
        .and_then(|mut w| w.write_image_data(&picture.pixels));
    written.map_err(|e| Failure::new(format!("cannot draw: {e}")))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_have_other_colours() {
        let of = |n| {
            colour(Held {
                value: None,
                register: n,
                bytes: 4,
            })
        };
        let all: std::collections::BTreeSet<Rgb> = (0..100).map(of).collect();
        assert!(all.len() > 95, "{}", all.len());
    }
}
