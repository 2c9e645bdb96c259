//! Commands that an encoder has recorded.

use crate::buffer::Buffer;
use crate::pipeline::Pipeline;
use crate::resource::{Bound, BoundResource, Group, QuerySet};
use gantry::runtime::zebin::{ArgRole, BindingPlace, Resource};
use gantry::runtime::{self, Arg, Error, Grid, Image, ImagePlace, Launch, Pitch, Queue};
use std::ops::Range;
use std::sync::PoisonError;
use wgpu_hal as hal;

/// State of a compute pass: what a dispatch has bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassState {
    pub(crate) pipeline: Option<Pipeline>,
    /// Bind groups and their dynamic offsets.
    pub(crate) groups: [Option<(Group, Vec<u32>)>; hal::MAX_BIND_GROUPS],
    pub(crate) immediates: Vec<u8>,
}

/// Number of groups of a dispatch.
#[derive(Clone, Debug)]
pub(crate) enum GroupCount {
    Known([u32; 3]),
    /// Three `u32` at an offset of a buffer.
    Indirect(Buffer, u64),
}

/// Command.
#[derive(Debug)]
pub(crate) enum Command {
    /// Fill by a pattern.
    Fill(runtime::Buffer, Vec<u8>),
    Copy(runtime::Buffer, runtime::Buffer),
    /// Fill of an image's first level by the bytes of a texel.
    FillImage {
        image: Image,
        size: [u32; 3],
        texel: Vec<u8>,
    },
    CopyImage {
        from: (Image, ImagePlace),
        to: (Image, ImagePlace),
        size: [u32; 3],
    },
    CopyToImage {
        from: (runtime::Buffer, Pitch),
        to: (Image, ImagePlace),
        size: [u32; 3],
    },
    CopyFromImage {
        from: (Image, ImagePlace),
        to: (runtime::Buffer, Pitch),
        size: [u32; 3],
    },
    Dispatch(Box<PassState>, GroupCount),
    Timestamp(QuerySet, u32),
    ResetQueries(QuerySet, Range<u32>),
    /// Copy of timestamps to a buffer, at an offset and with a stride.
    CopyQueries(QuerySet, Range<u32>, Buffer, u64, u64),
    /// Command that could not be recorded.
    Failed(String),
}

/// Commands of an encoder, ready to be submitted.
#[derive(Debug)]
pub struct CommandBuffer(pub(crate) Vec<Command>);

impl CommandBuffer {
    /// Submits the commands to an in-order queue.
    pub(crate) fn submit(&self, queue: &Queue) -> Result<(), Error> {
        for command in &self.0 {
            submit(command, queue)?;
        }
        Ok(())
    }
}

fn submit(command: &Command, queue: &Queue) -> Result<(), Error> {
    match command {
        Command::Fill(buffer, pattern) => {
            queue.fill(buffer, pattern)?;
        }
        Command::Copy(from, to) => {
            queue.copy(from, to)?;
        }
        Command::FillImage { image, size, texel } => {
            queue.fill_image((image, ImagePlace::default()), *size, texel)?;
        }
        Command::CopyImage { from, to, size } => {
            queue.copy_image((&from.0, from.1), (&to.0, to.1), *size)?;
        }
        Command::CopyToImage { from, to, size } => {
            queue.copy_to_image((&from.0, from.1), (&to.0, to.1), *size)?;
        }
        Command::CopyFromImage { from, to, size } => {
            queue.copy_from_image((&from.0, from.1), (&to.0, to.1), *size)?;
        }
        Command::Dispatch(state, count) => {
            if let Some(launch) = dispatch(state, count)? {
                queue.launch(launch)?;
            }
        }
        Command::Timestamp(queries, index) => {
            let (queries, index, device) = (queries.clone(), *index, queue.device().clone());
            queue.call(move || {
                set(&queries, index..index + 1, device.time());
                Ok(())
            })?;
        }
        Command::ResetQueries(queries, range) => {
            let (queries, range) = (queries.clone(), range.clone());
            queue.call(move || {
                set(&queries, range, 0);
                Ok(())
            })?;
        }
        Command::CopyQueries(queries, range, buffer, at, stride) => {
            let (queries, range, buffer) = (queries.clone(), range.clone(), buffer.clone());
            let (at, stride) = (*at, *stride);
            queue.call(move || {
                let all = queries.0.lock().unwrap_or_else(PoisonError::into_inner);
                let some = all.get(range.start as usize..range.end as usize);
                for (n, time) in (0..).zip(some.unwrap_or_default()) {
                    let at = usize::try_from(at + n * stride).unwrap_or(usize::MAX);
                    buffer.all().write_bytes(at, &time.to_le_bytes())?;
                }
                Ok(())
            })?;
        }
        Command::Failed(what) => return Err(Error::Queue(what.clone())),
    }
    Ok(())
}

fn set(queries: &QuerySet, range: Range<u32>, time: u64) {
    let mut all = queries.0.lock().unwrap_or_else(PoisonError::into_inner);
    let some = all.get_mut(range.start as usize..range.end as usize);
    some.unwrap_or_default().fill(time);
}

impl PassState {
    /// Returns what is bound at a place, and the offset that is added.
    fn find(&self, place: BindingPlace) -> Option<(&Bound, u64)> {
        let (group, offsets) = self.groups.get(place.set as usize)?.as_ref()?;
        let mut offsets = offsets.iter();
        for bound in group.0.iter() {
            // Dynamic offsets are in order of bindings.
            let more = match bound.resource {
                BoundResource::Buffer {
                    is_dynamic: true, ..
                } => *offsets.next()?,
                _ => 0,
            };
            if (bound.binding, bound.element) == (place.binding, place.element) {
                return Some((bound, u64::from(more)));
            }
        }
        None
    }
}

/// Returns the launch of a dispatch; `None` if it has no groups.
fn dispatch(state: &PassState, count: &GroupCount) -> Result<Option<Launch<'static>>, Error> {
    let failed = |what: String| Error::Queue(what);
    let Some(pipeline) = &state.pipeline else {
        return Err(failed("a dispatch without a pipeline".to_owned()));
    };
    let kernel = pipeline.kernel(false).map_err(failed)?;
    let mut bound: Vec<(BindingPlace, Arg)> = Vec::new();
    let mut buffers: Vec<(runtime::Buffer, bool)> = Vec::new();
    let mut takes_immediates = false;
    for arg in kernel.args() {
        let (place, resource) = match arg.role {
            ArgRole::Resource(place, resource) => (place, resource),
            ArgRole::PushConstants => {
                takes_immediates = true;
                continue;
            }
            ArgRole::Argument | ArgRole::SizeOf(_) => continue,
        };
        let Some((found, more)) = state.find(place) else {
            return Err(failed(format!("nothing is bound at {place}")));
        };
        match &found.resource {
            BoundResource::Other(arg) => bound.push((place, arg.clone())),
            BoundResource::Buffer {
                buffer,
                offset,
                size,
                ..
            } => {
                let from = offset + more;
                let to = from.saturating_add(*size).min(buffer.len());
                let part = buffer.part(from..to)?;
                let is_written = matches!(
                    resource,
                    Resource::StorageBuffer {
                        read_only: false,
                        ..
                    }
                );
                bound.push((place, Arg::Buffer(part.clone())));
                buffers.push((part, is_written));
            }
        }
    }
    let kernel = pipeline
        .kernel(share_memory(&mut buffers))
        .map_err(failed)?;
    let mut launch = match count {
        GroupCount::Known(groups) if groups.contains(&0) => return Ok(None),
        GroupCount::Known(groups) => kernel.dispatch(*groups),
        GroupCount::Indirect(buffer, at) => {
            let groups = buffer.part(*at..at + 12)?;
            kernel.launch(Grid::groups([0; 3])).groups_from(&groups)
        }
    };
    for (place, arg) in bound {
        launch = launch.bind_element(place.set, place.binding, place.element, arg);
    }
    if takes_immediates {
        launch = launch.push_constants(Arg::bytes(&state.immediates));
    }
    Ok(Some(launch))
}

/// Returns true if two buffers have bytes in common, and one of the two is written.
fn share_memory(buffers: &mut [(runtime::Buffer, bool)]) -> bool {
    buffers.sort_by_key(|(b, _)| b.device_address());
    // The buffer that reaches furthest, and the written one that does.
    let (mut end, mut written_end) = (0, 0);
    for (buffer, is_written) in buffers.iter() {
        let from = buffer.device_address();
        if from < written_end || (*is_written && from < end) {
            return true;
        }
        let to = from + buffer.len() as u64;
        end = end.max(to);
        if *is_written {
            written_end = written_end.max(to);
        }
    }
    false
}
