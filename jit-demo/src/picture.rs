//! RGB pictures as PNG files.

use crate::DemoError;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

/// Pixels of 8-bit RGB, row after row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

/// Picture laid out for the linear filter: a border of one pixel that repeats the edge, whole
/// tiles, and rows of whole dwords.
#[derive(Clone, Debug)]
pub struct Bordered {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Bytes between rows.
    pub pitch: usize,
    /// Tiles along x and y.
    pub tiles: [u32; 2],
}

impl Picture {
    /// Reads a PNG file of any colour type; transparency is dropped.
    ///
    /// # Errors
    /// The file cannot be opened, or is not a PNG.
    pub fn read(path: &Path) -> Result<Picture, DemoError> {
        let file = File::open(path).map_err(|source| DemoError::File {
            path: path.to_path_buf(),
            source,
        })?;
        Picture::decode(BufReader::new(file), path)
    }

    /// Decodes a PNG; `name` names it in errors.
    ///
    /// # Errors
    /// The data is not a PNG.
    pub fn decode(png: impl BufRead + Seek, name: &Path) -> Result<Picture, DemoError> {
        let wrong = |what: String| DemoError::Picture {
            path: name.to_path_buf(),
            what,
        };
        let unreadable = |e: png::DecodingError| wrong(format!("not a readable PNG: {e}"));
        let mut decoder = png::Decoder::new(png);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(unreadable)?;
        let size = reader
            .output_buffer_size()
            .ok_or_else(|| wrong("the picture is too large".to_string()))?;
        let mut data = vec![0; size];
        let info = reader.next_frame(&mut data).map_err(unreadable)?;
        let channels = info.color_type.samples();
        let pixels = data
            .get(..info.buffer_size())
            .ok_or_else(|| wrong("a frame larger than its buffer".to_string()))?
            .chunks_exact(channels);
        let rgb = pixels
            .flat_map(|p| match *p {
                [r, g, b] | [r, g, b, _] => [r, g, b],
                [grey, ..] => [grey; 3],
                [] => [0; 3],
            })
            .collect();
        Ok(Picture {
            width: info.width as usize,
            height: info.height as usize,
            rgb,
        })
    }

    /// Writes a PNG.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), DemoError> {
        let file_error = |source| DemoError::File {
            path: path.to_path_buf(),
            source,
        };
        let file = File::create(path).map_err(file_error)?;
        let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut w| {
            w.write_image_data(&self.rgb)?;
            w.finish()
        });
        written.map_err(|e| file_error(std::io::Error::other(e)))
    }

    /// Returns the picture with its border, padded to whole tiles of `tw` by `th` pixels.
    pub fn bordered(&self, [tw, th]: [usize; 2]) -> Bordered {
        let (across, down) = (self.width.div_ceil(tw), self.height.div_ceil(th));
        // The last tile reads 32 bytes from its first.
        let pitch = (across * tw * 3 + 8).next_multiple_of(4);
        let rows = down * th + 2;
        let mut bytes = vec![0; pitch * rows];
        for (y, row) in bytes.chunks_exact_mut(pitch).enumerate() {
            let from = y.saturating_sub(1).min(self.height - 1);
            for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
                let x = x.saturating_sub(1).min(self.width - 1);
                let at = 3 * (from * self.width + x);
                pixel.copy_from_slice(self.rgb.get(at..at + 3).unwrap_or(&[0; 3]));
            }
        }
        Bordered {
            bytes,
            pitch,
            tiles: [across as u32, down as u32],
        }
    }

    /// Converts iteration counts to colours.
    pub fn from_iterations(counts: &[i32], width: usize, height: usize, limit: i32) -> Picture {
        let rgb = counts.iter().flat_map(|&n| colour(n, limit)).collect();
        Picture { width, height, rgb }
    }

    /// Crops the upper left part of a picture whose rows have `pitch` bytes.
    pub fn cropped(bytes: &[u8], pitch: usize, width: usize, height: usize) -> Picture {
        let rows = bytes.chunks_exact(pitch).take(height);
        let rgb = rows
            .flat_map(|r| r.iter().take(3 * width).copied())
            .collect();
        Picture { width, height, rgb }
    }
}

fn colour(n: i32, limit: i32) -> [u8; 3] {
    if n >= limit {
        return [0; 3];
    }
    // A smooth ramp from blue over white to amber, faster at first.
    let t = (n as f32 / limit as f32).sqrt();
    let ramp = |x: f32| (255.0 * x.clamp(0.0, 1.0)) as u8;
    [
        ramp(2.5 * t),
        ramp(2.0 * t - 0.15),
        ramp(0.35 + 1.6 * t * (1.0 - t) * 2.0 - t * t),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pixel_is_bordered_by_itself() {
        let p = Picture {
            width: 1,
            height: 1,
            rgb: vec![1, 2, 3],
        };
        let b = p.bordered([8, 6]);
        assert_eq!((b.tiles, b.pitch, b.bytes.len()), ([1, 1], 32, 32 * 8));
        assert!(
            b.bytes
                .chunks_exact(32)
                .all(|r| r.starts_with(&[1, 2, 3, 1, 2, 3, 1, 2, 3]))
        );
    }

    #[test]
    fn png_reads_back() {
        let dir = std::env::temp_dir().join(format!("gantry-picture-{}.png", std::process::id()));
        let p = Picture {
            width: 2,
            height: 3,
            rgb: (0..18).collect(),
        };
        p.write(&dir).unwrap();
        assert_eq!(Picture::read(&dir).unwrap(), p);
        std::fs::remove_file(&dir).unwrap();
    }

    #[test]
    fn a_text_is_no_picture() {
        let path = std::env::temp_dir().join(format!("gantry-text-{}.png", std::process::id()));
        std::fs::write(&path, "hello").unwrap();
        let e = Picture::read(&path).unwrap_err().to_string();
        assert!(e.contains("not a readable PNG"), "{e}");
        std::fs::remove_file(&path).unwrap();
    }
}
