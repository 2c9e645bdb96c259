//! Images and samplers of the fake driver. Boxes are within their images, their bytes within
//! memory, and boxes of a copy do not overlap.

use super::super::api::{Code, CopyRegion, Handle, ImageDesc, SamplerDesc, UNSUPPORTED_FEATURE};
use super::{World, world};
use std::ffi::c_void;

/// Types of arrays: of rows, and of pictures.
const ROW_ARRAY: u32 = 1;
const ARRAY: u32 = 3;

/// Bytes of a texel, by the layout.
const TEXEL: [usize; 9] = [1, 2, 4, 2, 4, 4, 8, 8, 16];

/// Returns the size of an image with its layers, and the bytes of a texel.
fn size_of(desc: &ImageDesc) -> Option<([u32; 3], usize)> {
    let texel = *TEXEL.get(desc.format.layout as usize)?;
    let mut size = [u32::try_from(desc.width).ok()?, desc.height, desc.depth];
    match desc.ty {
        ROW_ARRAY => size[1] = desc.layers,
        ARRAY => size[2] = desc.layers,
        _ if desc.layers > 0 => return None,
        _ => {}
    }
    let known = desc.stype == 0x13 && desc.ty <= 4 && desc.levels == 0 && desc.format.ty <= 4;
    (known && !size.contains(&0)).then_some((size, texel))
}

impl World {
    fn create_image(&mut self, parent: Handle, desc: *const ImageDesc, out: *mut Handle) -> Code {
        // SAFETY: callers of the driver pass a whole descriptor.
        let size = size_of(unsafe { &*desc });
        let code = self.create("image", parent, out);
        // SAFETY: `create` has written the handle.
        let id = unsafe { *out } as usize;
        let context = self.objects.get(&id).map_or(0, |o| o.context);
        if let Some(o) = self.objects.get_mut(&id) {
            o.image = size;
        }
        if size.is_none() {
            return self.mistake(context, "an image that no driver has".to_owned());
        }
        code
    }

    /// Checks that a box is in an image, and returns its bytes.
    fn box_of(&mut self, image: Handle, region: *const CopyRegion) -> usize {
        // SAFETY: callers of the driver pass a whole region.
        let r = unsafe { &*region };
        let object = self.objects.get(&(image as usize));
        let Some((context, (size, texel))) = object.and_then(|o| Some((o.context, o.image?)))
        else {
            self.mistake(0, "a copy of what is no image".to_owned());
            return 0;
        };
        let axes = [(r.x, r.width), (r.y, r.height), (r.z, r.depth)];
        let mut axes = axes.into_iter().zip(size);
        if !axes.all(|((at, n), all)| n > 0 && at + n <= all) {
            self.mistake(context, "a box outside of its image".to_owned());
        }
        texel * (r.width * r.height * r.depth) as usize
    }

    /// Records a mistake with an object, in its context.
    fn mistake_with(&mut self, object: usize, what: &str) {
        let context = self.objects.get(&object).map_or(0, |o| o.context);
        self.mistake(context, what.to_owned());
    }

    /// Returns the image that has the texels of an image or a view.
    fn texels_of(&self, image: Handle) -> usize {
        let mut id = image as usize;
        while let Some(o) = self.objects.get(&id)
            && let Some(of) = self.objects.get(&o.parent)
            && of.kind == "image"
        {
            id = o.parent;
        }
        id
    }

    /// Submits a copy between an image and texels of the host or in memory.
    fn packed(
        &mut self,
        list: Handle,
        image: Handle,
        region: *const CopyRegion,
        at: *const c_void,
        event: Handle,
    ) -> Code {
        let bytes = self.box_of(image, region);
        let mut used = vec![image as usize];
        if let Some(id) = self.memory_of(at) {
            used.push(id);
            let end = (at as usize + bytes).wrapping_sub(1) as *const c_void;
            if self.memory_of(end) != Some(id) {
                self.mistake_with(id, "texels that are not all in memory");
            }
        }
        self.submit(list, event, &used, true)
    }
}

pub(super) unsafe extern "C" fn image_create(
    c: Handle,
    _: Handle,
    desc: *const ImageDesc,
    out: *mut Handle,
) -> Code {
    world().create_image(c, desc, out)
}

/// Function of a loader whose driver does not have it.
pub(super) unsafe extern "C" fn no_view_create(
    _: Handle,
    _: Handle,
    _: *const ImageDesc,
    _: Handle,
    _: *mut Handle,
) -> Code {
    UNSUPPORTED_FEATURE
}

pub(super) unsafe extern "C" fn view_create(
    _: Handle,
    _: Handle,
    desc: *const ImageDesc,
    image: Handle,
    out: *mut Handle,
) -> Code {
    world().create_image(image, desc, out)
}

pub(super) unsafe extern "C" fn list_image_copy(
    list: Handle,
    target: Handle,
    source: Handle,
    to: *const CopyRegion,
    from: *const CopyRegion,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    let mut w = world();
    let bytes = [w.box_of(target, to), w.box_of(source, from)];
    if bytes[0] != bytes[1] {
        w.mistake_with(target as usize, "a copy between boxes of other sizes");
    }
    // SAFETY: callers of the driver pass whole regions.
    let (a, b) = unsafe { (&*to, &*from) };
    let axes = [
        (a.x, b.x, a.width),
        (a.y, b.y, a.height),
        (a.z, b.z, a.depth),
    ];
    let overlap = axes.iter().all(|(a, b, n)| a.abs_diff(*b) < *n);
    if overlap && w.texels_of(target) == w.texels_of(source) {
        w.mistake_with(target as usize, "a copy between boxes that overlap");
    }
    w.submit(list, event, &[target as usize, source as usize], true)
}

pub(super) unsafe extern "C" fn list_image_read(
    list: Handle,
    to: *mut c_void,
    image: Handle,
    region: *const CopyRegion,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    world().packed(list, image, region, to, event)
}

pub(super) unsafe extern "C" fn list_image_write(
    list: Handle,
    image: Handle,
    from: *const c_void,
    region: *const CopyRegion,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    world().packed(list, image, region, from, event)
}

pub(super) unsafe extern "C" fn sampler_create(
    c: Handle,
    _: Handle,
    desc: *const SamplerDesc,
    out: *mut Handle,
) -> Code {
    let mut w = world();
    let code = w.create("sampler", c, out);
    // SAFETY: callers of the driver pass a whole descriptor.
    let d = unsafe { &*desc };
    if d.stype != 0x1f || d.address > 4 || d.filter > 1 || d.normalized > 1 {
        return w.mistake(c as usize, "a sampler that no driver has".to_owned());
    }
    code
}
