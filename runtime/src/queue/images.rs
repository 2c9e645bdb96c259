//! Copies and fills of images as commands of queues and of command lists.

use super::commands::moved;
use super::{Place, Queue};
use crate::buffer::{Buffer, Pitch};
use crate::control::Cancel;
use crate::device::Device;
use crate::error::Error;
use crate::graph::{Done, Event, Label};
use crate::image::{Direction, Image, ImagePlace};
use bytemuck::Pod;

/// Copy or fill of a box of texels, which has been checked.
pub(super) struct ImageCommand {
    image: Image,
    place: ImagePlace,
    size: [u32; 3],
    does: ImageDoes,
}

enum ImageDoes {
    /// Copy from an image.
    Copy(Image, ImagePlace),
    /// Copy from a buffer, or to it.
    Rows(Direction, Buffer, Pitch),
    /// Fill by a texel.
    Fill(Vec<u8>),
}

impl ImageCommand {
    pub(super) fn copy(
        (source, from): (&Image, ImagePlace),
        (target, to): (&Image, ImagePlace),
        size: [u32; 3],
    ) -> Result<ImageCommand, Error> {
        target.check_copy(to, source, from, size)?;
        Ok(ImageCommand {
            image: target.clone(),
            place: to,
            size,
            does: ImageDoes::Copy(source.clone(), from),
        })
    }

    pub(super) fn rows(
        direction: Direction,
        (image, place): (&Image, ImagePlace),
        (buffer, pitch): (&Buffer, Pitch),
        size: [u32; 3],
    ) -> Result<ImageCommand, Error> {
        image.check_rows(place, buffer, pitch, size)?;
        Ok(ImageCommand {
            image: image.clone(),
            place,
            size,
            does: ImageDoes::Rows(direction, buffer.clone(), pitch),
        })
    }

    pub(super) fn fill(
        (image, place): (&Image, ImagePlace),
        size: [u32; 3],
        texel: &[u8],
    ) -> Result<ImageCommand, Error> {
        image.check_fill(place, size, texel)?;
        Ok(ImageCommand {
            image: image.clone(),
            place,
            size,
            does: ImageDoes::Fill(texel.to_vec()),
        })
    }

    fn label(&self) -> &'static str {
        match &self.does {
            ImageDoes::Copy(..) => "copy of an image",
            ImageDoes::Rows(Direction::ToImage, ..) => "copy to an image",
            ImageDoes::Rows(Direction::ToBuffer, ..) => "copy from an image",
            ImageDoes::Fill(_) => "fill of an image",
        }
    }

    pub(super) fn run(&self, device: &Device) -> Result<Done, Error> {
        let ImageCommand {
            image,
            place,
            size,
            does,
        } = self;
        let measured = match does {
            ImageDoes::Copy(source, from) => image.copy_measured(*place, source, *from, *size),
            ImageDoes::Rows(direction, buffer, pitch) => {
                image.rows_measured(*direction, *place, buffer, *pitch, *size)
            }
            ImageDoes::Fill(texel) => image.fill_measured(*place, *size, texel),
        };
        Ok(moved(device, image.box_bytes(*size), measured?))
    }
}

impl Queue {
    /// Submits a copy of a box of texels to another image, or to another part of the same one.
    /// `size` is its width, height, and slices or layers.
    ///
    /// ```
    /// use gantry_runtime::{Device, ImageDesc, ImageFormat, ImagePlace, QueueOptions, SimOptions};
    ///
    /// # fn main() -> Result<(), gantry_runtime::Error> {
    /// let device = Device::simulator(SimOptions::default());
    /// let queue = device.queue(QueueOptions::default());
    /// let image = device.image(ImageFormat::RGBA8, ImageDesc::d2(4, 4).with_levels(2))?;
    /// let (whole, quarter) = (ImagePlace::level(0), ImagePlace::level(1));
    /// queue.fill_image((&image, whole), [4, 4, 1], &[0xff00_00ffu32])?;
    /// queue.copy_image((&image, whole.at([2, 2, 0])), (&image, quarter), [2, 2, 1])?.wait()?;
    /// assert_eq!(image.read::<u32>()?, [0xff00_00ff; 20]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A place is outside of its image, texels have other bytes or samples, or the parts have
    /// texels in common.
    pub fn copy_image(
        &self,
        source: (&Image, ImagePlace),
        target: (&Image, ImagePlace),
        size: [u32; 3],
    ) -> Result<Event, Error> {
        self.submit_image(ImageCommand::copy(source, target, size)?)
    }

    /// Submits a copy of rows of a buffer to a box of texels.
    ///
    /// # Errors
    /// The place is outside of the image, or rows are not within the buffer or overlap. The buffer
    /// has the texels themselves.
    pub fn copy_to_image(
        &self,
        source: (&Buffer, Pitch),
        target: (&Image, ImagePlace),
        size: [u32; 3],
    ) -> Result<Event, Error> {
        self.submit_image(ImageCommand::rows(
            Direction::ToImage,
            target,
            source,
            size,
        )?)
    }

    /// Submits a copy of a box of texels to rows of a buffer.
    ///
    /// # Errors
    /// Errors are those of [`Self::copy_to_image`].
    pub fn copy_from_image(
        &self,
        source: (&Image, ImagePlace),
        target: (&Buffer, Pitch),
        size: [u32; 3],
    ) -> Result<Event, Error> {
        self.submit_image(ImageCommand::rows(
            Direction::ToBuffer,
            source,
            target,
            size,
        )?)
    }

    /// Submits a fill of a box by a texel, whose bytes are those in memory.
    ///
    /// # Errors
    /// The place is outside of the image, or the value has not the bytes of a texel.
    pub fn fill_image<T: Pod>(
        &self,
        target: (&Image, ImagePlace),
        size: [u32; 3],
        texel: &[T],
    ) -> Result<Event, Error> {
        let texel = bytemuck::cast_slice(texel);
        self.submit_image(ImageCommand::fill(target, size, texel)?)
    }

    fn submit_image(&self, command: ImageCommand) -> Result<Event, Error> {
        let (device, label) = (self.device().clone(), Label::Name(command.label()));
        let work = Box::new(move |_: &Cancel| command.run(&device));
        self.submit(Place::Command, label, work)
    }
}
