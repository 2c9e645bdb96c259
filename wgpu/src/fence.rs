//! Fences: values that grow when what was submitted has ended.

use gantry::runtime::{Event, EventState};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wgpu_hal as hal;

/// Fence.
#[derive(Debug, Default)]
pub struct Fence(Mutex<FenceState>);

#[derive(Debug, Default)]
struct FenceState {
    value: hal::FenceValue,
    /// Values to come, in order, and the events that set them.
    pending: VecDeque<(hal::FenceValue, Event)>,
    /// True if a submission has failed: the device is lost.
    is_lost: bool,
}

impl FenceState {
    /// Takes the values whose events have ended.
    fn update(&mut self) {
        while let Some((value, event)) = self.pending.front() {
            match event.state() {
                EventState::Complete => self.value = *value,
                EventState::Failed => {
                    if let Some(e) = event.error().filter(|_| !self.is_lost) {
                        log::error!("gantry-wgpu: the device is lost: {e}");
                    }
                    self.is_lost = true;
                }
                EventState::Waiting | EventState::Running => return,
            }
            self.pending.pop_front();
        }
    }
}

impl Fence {
    fn state(&self) -> MutexGuard<'_, FenceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a value when an event ends.
    pub(crate) fn set_at(&self, value: hal::FenceValue, event: Event) {
        self.state().pending.push_back((value, event));
    }

    pub(crate) fn value(&self) -> Result<hal::FenceValue, hal::DeviceError> {
        let mut state = self.state();
        state.update();
        if state.is_lost {
            return Err(hal::DeviceError::Lost);
        }
        Ok(state.value)
    }

    /// Waits until the value is reached. Returns false if it is not within the time.
    pub(crate) fn wait(
        &self,
        value: hal::FenceValue,
        timeout: Option<Duration>,
    ) -> Result<bool, hal::DeviceError> {
        let reached = |now: hal::FenceValue| now >= value;
        if reached(self.value()?) {
            return Ok(true);
        }
        let state = self.state();
        let next = state.pending.iter().find(|(v, _)| reached(*v));
        let event = next.map(|(_, event)| event.clone());
        drop(state);
        let Some(event) = event else {
            return self.value().map(reached);
        };
        // The outcome is that of the fence, whose first failure counts.
        let _ = match timeout {
            None => Some(event.wait()),
            Some(time) => event.wait_timeout(time),
        };
        self.value().map(reached)
    }
}
