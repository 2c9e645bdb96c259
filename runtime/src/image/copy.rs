//! Copies between images and buffers, and fills of images: checks, and the way of each.
//!
//! Texels in memory are rows of a buffer. Images of a driver are copied by the driver where it can.
//! What neither does goes through the host, some rows at a time.

use super::{Image, ImageDesc, ImageFormat, Texels, ViewPlace};
use crate::buffer::{Buffer, Pitch};
use crate::control::Span;
use crate::error::Error;
use bytemuck::Pod;
use gantry_isa_gen::diag::Count;
use std::any::Any;
use std::sync::Arc;

/// Bytes that the host holds of a copy at a time.
const CHUNK: usize = 4 << 20;

/// Texel of an image where a copy or a fill begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ImagePlace {
    /// Level of detail.
    pub level: u32,
    /// Column, row, and slice or layer. Arrays of rows have their layer last, too.
    pub origin: [u32; 3],
}

impl ImagePlace {
    /// Returns the first texel of a level.
    pub const fn level(level: u32) -> ImagePlace {
        ImagePlace {
            level,
            origin: [0; 3],
        }
    }

    /// Returns the place at a column, row, and slice or layer of the same level.
    pub const fn at(mut self, origin: [u32; 3]) -> ImagePlace {
        self.origin = origin;
        self
    }

    /// Returns the place that is so many texels on along an axis.
    fn behind(mut self, texels: u32, axis: usize) -> ImagePlace {
        self.origin[axis] += texels;
        self
    }
}

/// Image of a driver, which keeps its texels where and how it likes. Places and sizes are within
/// it, and no size is 0. Copies return their time, where the device measures it.
pub(crate) trait DriverImage: Send + Sync {
    /// Returns the id of the device that it belongs to: `DeviceBackend::id`.
    fn device(&self) -> usize;
    /// Returns the driver's handle.
    fn handle(&self) -> usize;
    /// Returns a number that views of the same texels share.
    fn texels(&self) -> usize;
    /// Creates a view.
    fn view(
        &self,
        place: ViewPlace,
        format: ImageFormat,
        desc: ImageDesc,
    ) -> Result<Arc<dyn DriverImage>, Error>;
    /// Copies texels to the host, tightly packed.
    fn read(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        out: &mut [u8],
    ) -> Result<Option<Span>, Error>;
    /// Copies texels from the host, tightly packed.
    fn write(&self, place: ImagePlace, size: [u32; 3], data: &[u8]) -> Result<Option<Span>, Error>;
    /// Copies texels from an image of the same device. `None` if the host has to copy.
    fn copy_from(
        &self,
        to: ImagePlace,
        source: &dyn DriverImage,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Option<Result<Option<Span>, Error>>;
    /// Copies texels from memory of the same device at an address, or to it. `None` if the host has
    /// to copy.
    fn copy_rows(
        &self,
        direction: Direction,
        place: ImagePlace,
        size: [u32; 3],
        memory: (u64, Pitch),
    ) -> Option<Result<Option<Span>, Error>>;
    /// Returns the image as its own type, which devices find their images by.
    fn as_any(&self) -> &dyn Any;
}

/// Direction of a copy between an image and a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    ToImage,
    ToBuffer,
}

/// Returns the halves of a size and the axis that they are along, or `None` if it is of one row.
fn halves(size: [u32; 3]) -> Option<([u32; 3], [u32; 3], usize)> {
    let axis = [2, 1].into_iter().find(|axis| size[*axis] > 1)?;
    let (mut first, mut second) = (size, size);
    first[axis] /= 2;
    second[axis] -= first[axis];
    Some((first, second, axis))
}

impl Image {
    /// Returns the bytes of a box of texels.
    pub(crate) fn box_bytes(&self, size: [u32; 3]) -> usize {
        let [bytes, rows, slices] = self.row_size(size);
        bytes * rows * slices
    }

    /// Returns the bytes of a row, the rows, and the pictures of a box.
    fn row_size(&self, [width, height, depth]: [u32; 3]) -> [usize; 3] {
        let texel = self.format().texel_bytes() as usize;
        let pictures = depth as usize * self.desc().samples() as usize;
        [width as usize * texel, height as usize, pictures]
    }

    /// Returns the halves of a box that is more than the host holds at a time, as `halves` does.
    fn parts(&self, size: [u32; 3]) -> Option<([u32; 3], [u32; 3], usize)> {
        halves(size).filter(|_| self.box_bytes(size) > CHUNK)
    }

    /// Returns the offsets in memory of the rows of a box, or of rows that follow each other, and
    /// the bytes of each.
    fn rows_of(
        &self,
        place: ImagePlace,
        size: [u32; 3],
    ) -> (impl Iterator<Item = usize> + use<>, usize) {
        let (pitch, rows) = self.pitch(place).merged(self.row_size(size));
        (pitch.all(rows), rows[0])
    }

    /// Returns where the rows of a box are in the memory.
    fn pitch(&self, place: ImagePlace) -> Pitch {
        let [width, height, _] = self.desc().level_size(place.level);
        let [row, rows, _] = self.row_size([width, height, 1]);
        let [x, y, z] = place.origin.map(|n| n as usize);
        let slice = row * rows;
        let texel = self.format().texel_bytes() as usize;
        let picture = z * self.desc().samples() as usize;
        let inside = picture * slice + y * row + x * texel;
        Pitch {
            offset: self.level_offset(place.level) as usize + inside,
            row,
            slice,
        }
    }

    /// Checks that a box is within a level.
    pub(crate) fn check_box(&self, place: ImagePlace, size: [u32; 3]) -> Result<(), Error> {
        let desc = self.desc();
        let ImagePlace { level, origin } = place;
        let [width, height, depth] = size;
        let what = format!("{width}x{height}x{depth} texels at {origin:?}");
        if level >= desc.levels() {
            return Err(Error::Image(format!(
                "{what} of level {level}: a {desc} has {}",
                Count(desc.levels(), "level")
            )));
        }
        let have = desc.level_size(level);
        let mut axes = origin.into_iter().zip(size).zip(have);
        if axes.all(|((at, n), have)| at.checked_add(n).is_some_and(|end| end <= have)) {
            return Ok(());
        }
        let [w, h, d] = have;
        Err(Error::Image(format!(
            "{what} are not within level {level} of a {desc}, which is {w}x{h}x{d}"
        )))
    }

    /// Checks a copy between two images.
    pub(crate) fn check_copy(
        &self,
        to: ImagePlace,
        source: &Image,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Result<(), Error> {
        source.check_box(from, size)?;
        self.check_box(to, size)?;
        let bytes = [source, self].map(|i| i.format().texel_bytes());
        if bytes[0] != bytes[1] {
            return Err(Error::Image(format!(
                "a copy from texels of {} to texels of {}",
                Count(bytes[0], "byte"),
                Count(bytes[1], "byte")
            )));
        }
        let samples = [source, self].map(|i| i.desc().samples());
        if samples[0] != samples[1] {
            return Err(Error::Image(format!(
                "a copy from texels of {} to texels of {}",
                Count(samples[0], "sample"),
                Count(samples[1], "sample")
            )));
        }
        if !size.contains(&0) && self.overlaps(to, source, from, size) {
            return Err(Error::Image(format!(
                "a copy of {size:?} texels from {from:?} to {to:?} of the same texels, which overlap"
            )));
        }
        Ok(())
    }

    /// Returns true if boxes of two images have texels in common, or may have.
    fn overlaps(&self, to: ImagePlace, source: &Image, from: ImagePlace, size: [u32; 3]) -> bool {
        let same = match (&self.texels, &source.texels) {
            (Texels::Memory(a), Texels::Memory(b)) => {
                let same = a.device_address() == b.device_address();
                let same = same && a.inner.device() == b.inner.device();
                if !same || self.place.whole != source.place.whole {
                    let part = |i: &Image, place| i.box_memory(place, size);
                    return match (part(self, to), part(source, from)) {
                        (Some(a), Some(b)) => a.overlaps(&b),
                        _ => false,
                    };
                }
                true
            }
            (Texels::Driver(a), Texels::Driver(b)) => a.texels() == b.texels(),
            _ => false,
        };
        // Places in the image that both are views of.
        let whole = |i: &Image, p: ImagePlace| {
            let [x, y, z] = p.origin;
            (i.place.level + p.level, [x, y, i.place.layer + z])
        };
        let ((to_level, to), (from_level, from)) = (whole(self, to), whole(source, from));
        let mut axes = to.into_iter().zip(from).zip(size);
        same && to_level == from_level && axes.all(|((a, b), n)| a.max(b) - a.min(b) < n)
    }

    /// Returns the memory from the first byte of a box to the last.
    fn box_memory(&self, place: ImagePlace, size: [u32; 3]) -> Option<Buffer> {
        let pitch = self.pitch(place);
        let [bytes, rows, slices] = self.row_size(size);
        let last = (slices - 1) * pitch.slice + (rows - 1) * pitch.row;
        let range = pitch.offset..pitch.offset + last + bytes;
        self.memory()?.slice(range).ok()
    }

    /// Checks a copy between an image and rows of a buffer.
    pub(crate) fn check_rows(
        &self,
        place: ImagePlace,
        buffer: &Buffer,
        pitch: Pitch,
        size: [u32; 3],
    ) -> Result<(), Error> {
        self.check_box(place, size)?;
        if size.contains(&0) {
            return Ok(());
        }
        pitch.check(self.row_size(size), buffer)?;
        let texels = self.box_memory(place, size);
        let rows = buffer.rows(pitch, self.row_size(size))?;
        if texels.is_some_and(|t| t.overlaps(&rows)) {
            return Err(Error::Image(format!(
                "a copy between the buffer at {pitch:?} and an image whose texels at {place:?} are in the same bytes"
            )));
        }
        Ok(())
    }

    /// Copies a box of texels of another image, or of another part of this one. Formats may differ
    /// where their texels have as many bytes: the bytes are copied.
    ///
    /// # Errors
    /// A place is outside of its image, texels have other bytes or samples, or the parts have
    /// texels in common. The device fails to copy.
    pub fn copy_from(
        &self,
        to: ImagePlace,
        source: &Image,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Result<(), Error> {
        self.copy_measured(to, source, from, size)?;
        Ok(())
    }

    pub(crate) fn copy_measured(
        &self,
        to: ImagePlace,
        source: &Image,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Result<Option<Span>, Error> {
        self.check_copy(to, source, from, size)?;
        if size.contains(&0) {
            return Ok(None);
        }
        match (&self.texels, &source.texels) {
            (Texels::Memory(a), Texels::Memory(b)) => {
                let rows = self.row_size(size);
                a.copy_rows_apart(self.pitch(to), b, source.pitch(from), rows)
            }
            (Texels::Driver(a), Texels::Driver(b)) if a.device() == b.device() => {
                let result = a.copy_from(to, &**b, from, size);
                result.unwrap_or_else(|| self.copy_by_host(to, source, from, size))
            }
            (Texels::Driver(image), Texels::Memory(memory)) => {
                let pitch = source.pitch(from);
                self.copy_driver(image, Direction::ToImage, to, size, (memory, pitch))
            }
            (Texels::Memory(memory), Texels::Driver(image)) => {
                let pitch = self.pitch(to);
                source.copy_driver(image, Direction::ToBuffer, from, size, (memory, pitch))
            }
            (Texels::Driver(_), Texels::Driver(_)) => self.copy_by_host(to, source, from, size),
        }
    }

    /// Copies a box between images of two devices.
    fn copy_by_host(
        &self,
        to: ImagePlace,
        source: &Image,
        from: ImagePlace,
        size: [u32; 3],
    ) -> Result<Option<Span>, Error> {
        if let Some((first, second, axis)) = self.parts(size) {
            self.copy_by_host(to, source, from, first)?;
            let [to, from] = [to, from].map(|p| p.behind(first[axis], axis));
            return self.copy_by_host(to, source, from, second);
        }
        let mut texels = vec![0; self.box_bytes(size)];
        source.read_box(from, size, &mut texels)?;
        // The times of another device are on its own clock.
        self.write_box(to, size, &texels)
    }

    /// Copies a box of texels from rows of a buffer: `pitch` has the offset of the first, and the
    /// bytes from one row and one slice to the next.
    ///
    /// # Errors
    /// The place is outside of the image, or rows are not within the buffer or overlap. The buffer
    /// has the texels themselves. The device fails to copy.
    pub fn copy_from_buffer(
        &self,
        to: ImagePlace,
        buffer: &Buffer,
        pitch: Pitch,
        size: [u32; 3],
    ) -> Result<(), Error> {
        self.rows_measured(Direction::ToImage, to, buffer, pitch, size)?;
        Ok(())
    }

    /// Copies a box of texels to rows of a buffer, as [`Self::copy_from_buffer`] has them.
    ///
    /// # Errors
    /// Errors are those of [`Self::copy_from_buffer`].
    pub fn copy_to_buffer(
        &self,
        from: ImagePlace,
        buffer: &Buffer,
        pitch: Pitch,
        size: [u32; 3],
    ) -> Result<(), Error> {
        self.rows_measured(Direction::ToBuffer, from, buffer, pitch, size)?;
        Ok(())
    }

    pub(crate) fn rows_measured(
        &self,
        direction: Direction,
        place: ImagePlace,
        buffer: &Buffer,
        pitch: Pitch,
        size: [u32; 3],
    ) -> Result<Option<Span>, Error> {
        self.check_rows(place, buffer, pitch, size)?;
        if size.contains(&0) {
            return Ok(None);
        }
        match &self.texels {
            Texels::Memory(memory) => {
                let (own, rows) = (self.pitch(place), self.row_size(size));
                match direction {
                    Direction::ToImage => memory.copy_rows_apart(own, buffer, pitch, rows),
                    Direction::ToBuffer => buffer.copy_rows_apart(pitch, memory, own, rows),
                }
            }
            Texels::Driver(image) => {
                self.copy_driver(image, direction, place, size, (buffer, pitch))
            }
        }
    }

    /// Copies between a driver's image, which is this one's, and rows of a buffer.
    fn copy_driver(
        &self,
        image: &Arc<dyn DriverImage>,
        direction: Direction,
        place: ImagePlace,
        size: [u32; 3],
        (buffer, pitch): (&Buffer, Pitch),
    ) -> Result<Option<Span>, Error> {
        if buffer.inner.device() == image.device() {
            let inside = Pitch {
                offset: pitch.offset + buffer.offset(),
                ..pitch
            };
            let memory = (buffer.allocation_address(), inside);
            if let Some(result) = image.copy_rows(direction, place, size, memory) {
                return result;
            }
        }
        if let Some((first, second, axis)) = self.parts(size) {
            let step = [0, pitch.row, pitch.slice][axis] * first[axis] as usize;
            let behind = place.behind(first[axis], axis);
            let after = Pitch {
                offset: pitch.offset + step,
                ..pitch
            };
            let begin = self.copy_driver(image, direction, place, first, (buffer, pitch))?;
            let end = self.copy_driver(image, direction, behind, second, (buffer, after))?;
            return Ok(Span::join(begin, end));
        }
        let mut texels = vec![0; self.box_bytes(size)];
        let rows = self.row_size(size);
        let mut lines = texels.chunks_exact_mut(rows[0].max(1));
        match direction {
            Direction::ToImage => {
                for at in pitch.all(rows) {
                    if let Some(line) = lines.next() {
                        buffer.read_bytes(at, line)?;
                    }
                }
                image.write(place, size, &texels)
            }
            Direction::ToBuffer => {
                drop(lines);
                let measured = image.read(place, size, &mut texels)?;
                for (at, line) in pitch.all(rows).zip(texels.chunks_exact(rows[0].max(1))) {
                    buffer.write_bytes(at, line)?;
                }
                Ok(measured)
            }
        }
    }

    /// Reads a box of texels, tightly packed; `out` has as many bytes.
    pub(crate) fn read_box(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        out: &mut [u8],
    ) -> Result<Option<Span>, Error> {
        match &self.texels {
            Texels::Memory(memory) => {
                let (rows, bytes) = self.rows_of(place, size);
                let mut lines = rows.zip(out.chunks_exact_mut(bytes.max(1)));
                lines.try_fold(None, |measured, (at, line)| {
                    Ok(Span::join(measured, memory.read_at(at, line)?))
                })
            }
            Texels::Driver(image) => image.read(place, size, out),
        }
    }

    /// Writes a box of texels, tightly packed; `data` has as many bytes.
    pub(crate) fn write_box(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        data: &[u8],
    ) -> Result<Option<Span>, Error> {
        match &self.texels {
            Texels::Memory(memory) => {
                let (rows, bytes) = self.rows_of(place, size);
                let mut lines = rows.zip(data.chunks_exact(bytes.max(1)));
                lines.try_fold(None, |measured, (at, line)| {
                    Ok(Span::join(measured, memory.write_measured(at, line)?))
                })
            }
            Texels::Driver(image) => image.write(place, size, data),
        }
    }

    /// Checks that a fill is by the bytes of one texel, and in the image.
    pub(crate) fn check_fill(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        texel: &[u8],
    ) -> Result<(), Error> {
        let bytes = self.format().texel_bytes() as usize;
        if texel.len() != bytes {
            return Err(Error::Image(format!(
                "a fill by {}, where a texel has {bytes}",
                Count(texel.len(), "byte")
            )));
        }
        self.check_box(place, size)
    }

    /// Fills a box by a texel, whose bytes are those in memory. Each sample gets it.
    ///
    /// # Errors
    /// The place is outside of the image, or the value has not the bytes of a texel. The device
    /// fails to write.
    pub fn fill<T: Pod>(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        texel: &[T],
    ) -> Result<(), Error> {
        self.fill_measured(place, size, bytemuck::cast_slice(texel))?;
        Ok(())
    }

    pub(crate) fn fill_measured(
        &self,
        place: ImagePlace,
        size: [u32; 3],
        texel: &[u8],
    ) -> Result<Option<Span>, Error> {
        self.check_fill(place, size, texel)?;
        if size.contains(&0) {
            return Ok(None);
        }
        match &self.texels {
            Texels::Memory(memory) => {
                let (mut rows, bytes) = self.rows_of(place, size);
                rows.try_fold(None, |measured, at| {
                    let part = memory.slice(at..at + bytes)?;
                    Ok(Span::join(measured, part.fill_measured(texel)?))
                })
            }
            Texels::Driver(image) => {
                if let Some((first, second, axis)) = self.parts(size) {
                    let begin = self.fill_measured(place, first, texel)?;
                    let behind = place.behind(first[axis], axis);
                    let end = self.fill_measured(behind, second, texel)?;
                    return Ok(Span::join(begin, end));
                }
                let texels = texel.repeat(self.box_bytes(size) / texel.len().max(1));
                image.write(place, size, &texels)
            }
        }
    }
}
