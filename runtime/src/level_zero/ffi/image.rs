//! Images and samplers of the driver.

use super::super::api::{
    CopyRegion, FormatDesc, ImageDesc, SamplerDesc, UNSUPPORTED_FEATURE, check,
};
use super::{Gpu, Handle, Memory, QueueResource};
use crate::control::Span;
use crate::error::Error;
use crate::image::Direction;
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::{Arc, MutexGuard, PoisonError};

/// Image of the driver, or a view of one.
pub(in super::super) struct DriverImage {
    gpu: Arc<Gpu>,
    handle: Handle,
    desc: ImageDesc,
    /// Image whose texels a view shows, which lives as long.
    _of: Option<Arc<DriverImage>>,
}

// SAFETY: handles may be used from any thread, and an image is changed by commands alone.
unsafe impl Send for DriverImage {}
// SAFETY: as for `Send`.
unsafe impl Sync for DriverImage {}

impl Drop for DriverImage {
    fn drop(&mut self) {
        self.gpu.release(QueueResource::Image(self.handle));
    }
}

/// Box of texels, which is within its image.
#[derive(Clone, Copy)]
pub(in super::super) struct TexelBox {
    /// Column, row, and slice or layer; of an array of rows, column and layer.
    pub(in super::super) origin: [u32; 3],
    pub(in super::super) size: [u32; 3],
}

impl TexelBox {
    fn region(self) -> CopyRegion {
        let [x, y, z] = self.origin;
        let [width, height, depth] = self.size;
        CopyRegion {
            x,
            y,
            z,
            width,
            height,
            depth,
        }
    }
}

/// Kind and size of an image, in the driver's numbers.
#[derive(Clone, Copy)]
pub(in super::super) struct DriverDesc {
    pub(in super::super) ty: u32,
    pub(in super::super) layout: u32,
    pub(in super::super) component: u32,
    pub(in super::super) swizzle: [u32; 4],
    /// Width, height and depth; 1 where there is none.
    pub(in super::super) size: [u32; 3],
    /// Layers of an array, otherwise 0.
    pub(in super::super) layers: u32,
}

impl DriverDesc {
    fn desc(self) -> ImageDesc {
        let [width, height, depth] = self.size;
        ImageDesc {
            stype: 0x13,
            next: null(),
            // Kernels write it.
            flags: 1,
            ty: self.ty,
            format: FormatDesc {
                layout: self.layout,
                ty: self.component,
                swizzle: self.swizzle,
            },
            width: u64::from(width),
            height,
            depth,
            layers: self.layers,
            levels: 0,
        }
    }
}

impl DriverImage {
    /// Creates an image with undefined contents.
    pub(in super::super) fn new(gpu: &Arc<Gpu>, desc: DriverDesc) -> Result<DriverImage, Error> {
        let desc = desc.desc();
        let mut handle = null_mut();
        // SAFETY: our handles, a whole descriptor and a place for the handle.
        check("zeImageCreate", unsafe {
            (gpu.f.image_create)(gpu.context, gpu.device, &desc, &mut handle)
        })?;
        Ok(DriverImage {
            gpu: gpu.clone(),
            handle,
            desc,
            _of: None,
        })
    }

    /// Creates a view of all texels as another type or format.
    pub(in super::super) fn view(self: &Arc<Self>, desc: DriverDesc) -> Result<DriverImage, Error> {
        let gpu = &self.gpu;
        let desc = desc.desc();
        let mut last = Err(Error::Image(
            "this version of Level Zero has no views of images".to_owned(),
        ));
        for (call, create) in &gpu.f.views {
            let mut handle = null_mut();
            // SAFETY: our handles, a whole descriptor, an image of this context, and a place for
            // the handle.
            let code = unsafe { create(gpu.context, gpu.device, &desc, self.handle, &mut handle) };
            last = check(call, code).map(|()| handle);
            // A loader may have a function that its driver has not.
            if code != UNSUPPORTED_FEATURE {
                break;
            }
        }
        Ok(DriverImage {
            gpu: gpu.clone(),
            handle: last?,
            desc,
            _of: Some(self.clone()),
        })
    }

    /// Returns the handle.
    pub(in super::super) fn handle(&self) -> usize {
        self.handle as usize
    }

    /// Returns a number that views of the same texels share.
    pub(in super::super) fn texels(&self) -> usize {
        self._of.as_ref().map_or(self.handle(), |of| of.texels())
    }

    /// Returns the driver's number of the type.
    pub(in super::super) fn ty(&self) -> u32 {
        self.desc.ty
    }

    /// Copies texels to the host, tightly packed.
    pub(in super::super) fn read(
        &self,
        texels: TexelBox,
        out: &mut [u8],
    ) -> Result<Option<Span>, Error> {
        let (f, region) = (&self.gpu.f, texels.region());
        let mut bytes = vec![0u8; out.len()];
        let to = bytes.as_mut_ptr().cast();
        let result = self.gpu.transfer(|list, event| {
            // SAFETY: a list and an event that no other thread has. The box is within the image and
            // has as many bytes as the host's memory. Both live until the list has ended: they are
            // released, not freed.
            check("zeCommandListAppendImageCopyToMemory", unsafe {
                (f.list_image_read)(list, to, self.handle, &region, event, 0, null_mut())
            })
        });
        if result.is_ok() {
            out.copy_from_slice(&bytes);
        }
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }

    /// Copies texels from the host, tightly packed.
    pub(in super::super) fn write(
        &self,
        texels: TexelBox,
        bytes: Vec<u8>,
    ) -> Result<Option<Span>, Error> {
        let (f, region) = (&self.gpu.f, texels.region());
        let from = bytes.as_ptr().cast();
        let result = self.gpu.transfer(|list, event| {
            // SAFETY: as for `read`.
            check("zeCommandListAppendImageCopyFromMemory", unsafe {
                (f.list_image_write)(list, self.handle, from, &region, event, 0, null_mut())
            })
        });
        self.gpu.release(QueueResource::Host { _bytes: bytes });
        result
    }

    /// Copies texels from memory of the same GPU, or to it; there they are tightly packed and begin
    /// at an offset.
    pub(in super::super) fn copy_packed(
        &self,
        direction: Direction,
        texels: TexelBox,
        (memory, at, bytes): (&Memory, usize, usize),
    ) -> Result<Option<Span>, Error> {
        let (f, region) = (&self.gpu.f, texels.region());
        let place = memory.range(at, bytes)?;
        self.gpu.transfer(|list, event| {
            let image = self.handle;
            match direction {
                Direction::ToImage => {
                    let from = place.cast_const();
                    // SAFETY: a list and an event that no other thread has. The box is within the
                    // image, and its bytes within the memory. Both live until the list has ended.
                    check("zeCommandListAppendImageCopyFromMemory", unsafe {
                        (f.list_image_write)(list, image, from, &region, event, 0, null_mut())
                    })
                }
                Direction::ToBuffer => {
                    // SAFETY: as for the other direction.
                    check("zeCommandListAppendImageCopyToMemory", unsafe {
                        (f.list_image_read)(list, place, image, &region, event, 0, null_mut())
                    })
                }
            }
        })
    }

    /// Copies texels from another image of the same GPU, or from another part of this one.
    pub(in super::super) fn copy_from(
        &self,
        to: TexelBox,
        source: &DriverImage,
        from: TexelBox,
    ) -> Result<Option<Span>, Error> {
        let f = &self.gpu.f;
        let (to, from) = (to.region(), from.region());
        self.gpu.transfer(|list, event| {
            // SAFETY: a list and an event that no other thread has. Both boxes are within their
            // images, which live until the list has ended; the regions are copied by the call.
            check("zeCommandListAppendImageCopyRegion", unsafe {
                let (target, source) = (self.handle, source.handle);
                (f.list_image_copy)(list, target, source, &to, &from, event, 0, null_mut())
            })
        })
    }
}

impl Gpu {
    pub(super) fn samplers(&self) -> MutexGuard<'_, HashMap<[u32; 3], Handle>> {
        self.samplers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the handle of a sampler, by the driver's numbers of its addressing mode and filter,
    /// and 1 for normalized coordinates.
    pub(in super::super) fn sampler(&self, key: [u32; 3]) -> Result<usize, Error> {
        let mut samplers = self.samplers();
        if let Some(found) = samplers.get(&key) {
            return Ok(*found as usize);
        }
        let [address, filter, normalized] = key;
        let desc = SamplerDesc {
            stype: 0x1f,
            next: null(),
            address,
            filter,
            normalized: u8::from(normalized != 0),
        };
        let mut handle = null_mut();
        // SAFETY: our handles, a whole descriptor and a place for the handle.
        check("zeSamplerCreate", unsafe {
            (self.f.sampler_create)(self.context, self.device, &desc, &mut handle)
        })?;
        samplers.insert(key, handle);
        Ok(handle as usize)
    }
}
