//! Types of what only graphics has. Most have no values, so no call can reach their methods.

use crate::api::Gantry;
use crate::device::Device;
use crate::fence::Fence;
use crate::texture::Texture;
use std::borrow::Borrow;
use std::time::Duration;
use wgpu_hal as hal;

/// Type without values.
#[derive(Clone, Debug)]
pub enum Never {}

impl Borrow<Texture> for Never {
    fn borrow(&self) -> &Texture {
        match *self {}
    }
}

impl Borrow<dyn hal::DynTexture> for Never {
    fn borrow(&self) -> &dyn hal::DynTexture {
        match *self {}
    }
}

/// Surface of a window, which no adapter supports.
#[derive(Debug)]
pub struct Surface;

const NO_SURFACES: hal::SurfaceError = hal::SurfaceError::Other("Gantry has no surfaces");

impl hal::Surface for Surface {
    type A = Gantry;

    unsafe fn configure(
        &self,
        _: &Device,
        _: &hal::SurfaceConfiguration,
    ) -> Result<(), hal::SurfaceError> {
        Err(NO_SURFACES)
    }
    unsafe fn unconfigure(&self, _: &Device) {}
    unsafe fn acquire_texture(
        &self,
        _: Option<Duration>,
        _: &Fence,
    ) -> Result<hal::AcquiredSurfaceTexture<Gantry>, hal::SurfaceError> {
        Err(NO_SURFACES)
    }
    unsafe fn discard_texture(&self, texture: Never) {
        match texture {}
    }
}
