//! Lanes: immediate command lists, each with the event of its command.
//!
//! A command takes a lane that is idle, or makes one. So commands of several threads are with the
//! GPU at once, and none waits for another's end.

use super::super::api::{
    Code, EventDesc, EventPoolDesc, Functions, Handle, KernelTimestamp, NOT_READY, QueueDesc, check,
};
use crate::control::StopSignals;
use crate::error::{Error, Stopped};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// Time of one wait where a signal may stop the launch.
const WAIT: Duration = Duration::from_millis(2);

/// End of calls on a lane's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneKind {
    /// They return at once, and the event tells the end.
    Asynchronous,
    /// They return at the end, after the driver has printed what the kernel printed.
    Synchronous,
}

/// Immediate command list with an event, which one command at a time uses.
pub(super) struct Lane {
    pub(super) kind: LaneKind,
    pub(super) list: Handle,
    pub(super) event: Handle,
    pool: Handle,
}

/// Reason why the wait for a lane ended before the lane did.
pub(super) enum LaneWait {
    Failed(&'static str, Code),
    Stopped(Stopped),
}

impl Lane {
    pub(super) fn new(
        f: &Functions,
        context: Handle,
        mut device: Handle,
        kind: LaneKind,
    ) -> Result<Lane, Error> {
        let pool_desc = EventPoolDesc {
            stype: 0x10,
            next: null(),
            // Visible to the host, with timestamps.
            flags: 1 | 4,
            count: 1,
        };
        let mut pool = null_mut();
        // SAFETY: our handles, a whole descriptor, one device, and a place for the handle.
        check("zeEventPoolCreate", unsafe {
            (f.event_pool_create)(context, &pool_desc, 1, &mut device, &mut pool)
        })?;
        let event_desc = EventDesc {
            stype: 0x11,
            next: null(),
            index: 0,
            // The host sees what the command has written when the event is signalled.
            signal: 4,
            wait: 0,
        };
        let mut event = null_mut();
        // SAFETY: a pool made above, a whole descriptor and a place for the handle.
        let code = unsafe { (f.event_create)(pool, &event_desc, &mut event) };
        if let Err(e) = check("zeEventCreate", code) {
            // SAFETY: made above, and nothing else was made of it.
            unsafe { (f.event_pool_destroy)(pool) };
            return Err(e);
        }
        let desc = QueueDesc {
            stype: 0xe,
            next: null(),
            ordinal: 0,
            index: 0,
            flags: 0,
            mode: match kind {
                LaneKind::Synchronous => 1,
                LaneKind::Asynchronous => 2,
            },
            priority: 0,
        };
        let mut list = null_mut();
        // SAFETY: our handles, a whole descriptor and a place for the handle.
        let code = unsafe { (f.list_create_immediate)(context, device, &desc, &mut list) };
        if let Err(e) = check("zeCommandListCreateImmediate", code) {
            // SAFETY: both were made above, and nothing uses them.
            unsafe {
                (f.event_destroy)(event);
                (f.event_pool_destroy)(pool);
            }
            return Err(e);
        }
        Ok(Lane {
            kind,
            list,
            event,
            pool,
        })
    }

    /// Destroys the lane, which has ended.
    pub(super) fn destroy(self, f: &Functions) {
        // SAFETY: made by `new`, destroyed once. Its command has ended, so nothing uses them.
        unsafe {
            (f.list_destroy)(self.list);
            (f.event_destroy)(self.event);
            (f.event_pool_destroy)(self.pool);
        }
    }

    /// Waits for the end, for `time` at most.
    pub(super) fn wait(&self, f: &Functions, time: Duration) -> Code {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: our event.
        unsafe { (f.event_synchronize)(self.event, nanoseconds) }
    }

    /// Waits for the end, or for a signal that stops the launch.
    pub(super) fn wait_or_stop(
        &self,
        f: &Functions,
        signals: StopSignals<'_>,
    ) -> Result<(), LaneWait> {
        loop {
            let time = match (signals.deadline, signals.cancel.or(signals.queue)) {
                (None, None) => Duration::MAX,
                (Some(d), _) => d.saturating_duration_since(Instant::now()).min(WAIT),
                (None, Some(_)) => WAIT,
            };
            match self.wait(f, time) {
                0 => return Ok(()),
                NOT_READY => {
                    if let Some(why) = signals.now() {
                        return Err(LaneWait::Stopped(why));
                    }
                }
                code => return Err(LaneWait::Failed("zeEventHostSynchronize", code)),
            }
        }
    }

    /// Makes the event one that has not happened.
    pub(super) fn reset(&self, f: &Functions) -> Result<(), Error> {
        // SAFETY: our event, whose command has ended.
        check("zeEventHostReset", unsafe { (f.event_reset)(self.event) })
    }

    /// Appends a barrier that signals the event, after a command whose submission failed. The event
    /// then tells the end of whatever the driver took of it.
    pub(super) fn close(&self, f: &Functions) {
        // SAFETY: a list and an event that no other thread has; it waits for no events. Where this
        // fails too, the event never happens and the lane is never used again.
        unsafe { (f.list_barrier)(self.list, self.event, 0, null_mut()) };
    }

    /// Returns the begin and the end of the command in ticks of the GPU's timer, where the driver
    /// tells them.
    pub(super) fn ticks(&self, f: &Functions) -> Option<[u64; 2]> {
        let mut t = KernelTimestamp::default();
        // SAFETY: our event, which has happened, and a place for its times.
        let code = unsafe { (f.event_timestamp)(self.event, &mut t) };
        (code == 0).then_some([t.global.start, t.global.end])
    }
}
