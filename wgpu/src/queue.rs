//! Queues: command buffers become commands of a queue of the runtime.

use crate::api::Gantry;
use crate::command::CommandBuffer;
use crate::device::Shared;
use crate::fence::Fence;
use crate::never::{Never, Surface};
use gantry::runtime::{self, Error, Event};
use wgpu_hal as hal;

/// Queue. Its commands run on threads of the device.
#[derive(Debug)]
pub struct Queue(runtime::Queue);

impl Queue {
    pub(crate) fn new(shared: &Shared) -> Queue {
        Queue(shared.device.queue(runtime::QueueOptions::default()))
    }

    /// Submits commands, and returns their end.
    fn commands(&self, buffers: &[&CommandBuffer]) -> Result<Event, Error> {
        for buffer in buffers {
            buffer.submit(&self.0)?;
        }
        self.0.barrier()
    }
}

impl hal::Queue for Queue {
    type A = Gantry;

    unsafe fn submit(
        &self,
        buffers: &[&CommandBuffer],
        _: &[&Never],
        (fence, value): (&Fence, hal::FenceValue),
    ) -> Result<(), hal::DeviceError> {
        let end = self.commands(buffers).map_err(|e| {
            log::error!("gantry-wgpu: the device is lost: {e}");
            hal::DeviceError::Lost
        })?;
        fence.set_at(value, end);
        Ok(())
    }
    unsafe fn present(&self, _: &Surface, texture: Never) -> Result<(), hal::SurfaceError> {
        match texture {}
    }
    unsafe fn wait_for_idle(&self) -> Result<(), hal::DeviceError> {
        self.0.finish();
        Ok(())
    }
    unsafe fn get_timestamp_period(&self) -> f32 {
        // The device's clock counts nanoseconds.
        1.0
    }
}
