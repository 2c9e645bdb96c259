//! Command encoders: they record commands.

use crate::api::Gantry;
use crate::buffer::Buffer;
use crate::command::{Command, CommandBuffer, GroupCount, PassState};
use crate::never::Never;
use crate::pipeline::Pipeline;
use crate::resource::{Group, Layout, QuerySet};
use crate::texture::{Texture, TextureView};
use gantry::runtime::{Error, Pitch};
use std::ops::Range;
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Command encoder.
#[derive(Debug, Default)]
pub struct Encoder {
    commands: Vec<Command>,
    state: PassState,
    /// Timestamp at the end of the pass.
    end: Option<(QuerySet, u32)>,
}

impl Encoder {
    fn add(&mut self, command: Result<Command, Error>) {
        let failed = |e: Error| Command::Failed(e.to_string());
        self.commands.push(command.unwrap_or_else(failed));
    }

    /// Adds a clear of a texture view.
    fn clear(&mut self, view: &TextureView, color: wgt::Color) {
        let image = view.image.clone();
        let desc = image.desc();
        let size = [desc.width(), desc.height(), desc.depth() * desc.layers()];
        self.commands.push(Command::FillImage {
            image,
            size,
            texel: view.texel(color),
        });
    }
}

/// Returns the columns, rows, and slices or layers of a copy.
fn size_of(size: hal::CopyExtent) -> [u32; 3] {
    [size.width, size.height, size.depth]
}

/// Returns where the rows of a copy are in its buffer.
fn buffer_pitch(copy: &hal::BufferTextureCopy, texture: &Texture) -> Pitch {
    let layout = &copy.buffer_layout;
    let bytes = copy.size.width as usize * texture.image().format().texel_bytes() as usize;
    let row = layout.bytes_per_row.map_or(bytes, |n| n as usize);
    let rows = layout.rows_per_image.unwrap_or(copy.size.height) as usize;
    Pitch {
        offset: layout.offset as usize,
        row,
        slice: row * rows,
    }
}

impl hal::CommandEncoder for Encoder {
    type A = Gantry;

    unsafe fn begin_encoding(&mut self, _: hal::Label<'_>) -> Result<(), hal::DeviceError> {
        Ok(())
    }
    unsafe fn discard_encoding(&mut self) {
        self.commands.clear();
    }
    unsafe fn end_encoding(&mut self) -> Result<CommandBuffer, hal::DeviceError> {
        Ok(CommandBuffer(std::mem::take(&mut self.commands)))
    }
    unsafe fn reset_all<I>(&mut self, _: I) {}
    unsafe fn transition_buffers<'a, T>(&mut self, barriers: T)
    where
        T: Iterator<Item = hal::BufferBarrier<'a, Buffer>>,
    {
        // wgpu-core makes the states as the iterator goes.
        barriers.for_each(drop);
    }
    unsafe fn transition_textures<'a, T>(&mut self, barriers: T)
    where
        T: Iterator<Item = hal::TextureBarrier<'a, Texture>>,
    {
        barriers.for_each(drop);
    }

    unsafe fn clear_buffer(&mut self, b: &Buffer, range: hal::MemoryRange) {
        let fill = b.part(range).map(|part| Command::Fill(part, vec![0]));
        self.add(fill);
    }
    unsafe fn copy_buffer_to_buffer<T>(&mut self, from: &Buffer, to: &Buffer, regions: T)
    where
        T: Iterator<Item = hal::BufferCopy>,
    {
        for r in regions {
            let size = r.size.get();
            let from = from.part(r.src_offset..r.src_offset.saturating_add(size));
            let to = to.part(r.dst_offset..r.dst_offset.saturating_add(size));
            self.add(from.and_then(|from| Ok(Command::Copy(from, to?))));
        }
    }
    unsafe fn copy_texture_to_texture<T>(
        &mut self,
        from: &Texture,
        _: wgt::TextureUses,
        to: &Texture,
        regions: T,
    ) where
        T: Iterator<Item = hal::TextureCopy>,
    {
        for r in regions {
            self.commands.push(Command::CopyImage {
                from: (from.image().clone(), Texture::place(&r.src_base)),
                to: (to.image().clone(), Texture::place(&r.dst_base)),
                size: size_of(r.size),
            });
        }
    }
    unsafe fn copy_buffer_to_texture<T>(&mut self, from: &Buffer, to: &Texture, regions: T)
    where
        T: Iterator<Item = hal::BufferTextureCopy>,
    {
        for r in regions {
            self.commands.push(Command::CopyToImage {
                from: (from.all().clone(), buffer_pitch(&r, to)),
                to: (to.image().clone(), Texture::place(&r.texture_base)),
                size: size_of(r.size),
            });
        }
    }
    unsafe fn copy_texture_to_buffer<T>(
        &mut self,
        from: &Texture,
        _: wgt::TextureUses,
        to: &Buffer,
        regions: T,
    ) where
        T: Iterator<Item = hal::BufferTextureCopy>,
    {
        for r in regions {
            self.commands.push(Command::CopyFromImage {
                from: (from.image().clone(), Texture::place(&r.texture_base)),
                to: (to.all().clone(), buffer_pitch(&r, from)),
                size: size_of(r.size),
            });
        }
    }
    unsafe fn copy_acceleration_structure_to_acceleration_structure(
        &mut self,
        from: &Never,
        _: &Never,
        _: wgt::AccelerationStructureCopy,
    ) {
        match *from {}
    }

    unsafe fn set_bind_group(
        &mut self,
        _: &Layout,
        index: u32,
        group: &Group,
        offsets: &[wgt::DynamicOffset],
    ) {
        if let Some(place) = self.state.groups.get_mut(index as usize) {
            *place = Some((group.clone(), offsets.to_vec()));
        }
    }
    unsafe fn set_immediates(&mut self, _: &Layout, at: u32, data: &[u32]) {
        let bytes: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
        let (at, end) = (at as usize, at as usize + bytes.len());
        let have = self.state.immediates.len().max(end);
        self.state.immediates.resize(have, 0);
        if let Some(place) = self.state.immediates.get_mut(at..end) {
            place.copy_from_slice(&bytes);
        }
    }

    unsafe fn insert_debug_marker(&mut self, _: &str) {}
    unsafe fn begin_debug_marker(&mut self, _: &str) {}
    unsafe fn end_debug_marker(&mut self) {}

    unsafe fn begin_query(&mut self, _: &QuerySet, _: u32) {}
    unsafe fn end_query(&mut self, _: &QuerySet, _: u32) {}
    unsafe fn write_timestamp(&mut self, q: &QuerySet, index: u32) {
        self.commands.push(Command::Timestamp(q.clone(), index));
    }
    unsafe fn reset_queries(&mut self, q: &QuerySet, range: Range<u32>) {
        self.commands.push(Command::ResetQueries(q.clone(), range));
    }
    unsafe fn copy_query_results(
        &mut self,
        q: &QuerySet,
        range: Range<u32>,
        b: &Buffer,
        at: wgt::BufferAddress,
        stride: wgt::BufferSize,
    ) {
        let copy = Command::CopyQueries(q.clone(), range, b.clone(), at, stride.get());
        self.commands.push(copy);
    }

    unsafe fn begin_compute_pass(&mut self, desc: &hal::ComputePassDescriptor<'_, QuerySet>) {
        self.state = PassState::default();
        self.end = None;
        if let Some(t) = &desc.timestamp_writes {
            if let Some(index) = t.beginning_of_pass_write_index {
                self.commands
                    .push(Command::Timestamp(t.query_set.clone(), index));
            }
            self.end = t
                .end_of_pass_write_index
                .map(|index| (t.query_set.clone(), index));
        }
    }
    unsafe fn end_compute_pass(&mut self) {
        if let Some((q, index)) = self.end.take() {
            self.commands.push(Command::Timestamp(q, index));
        }
    }
    unsafe fn set_compute_pipeline(&mut self, pipeline: &Pipeline) {
        self.state.pipeline = Some(pipeline.clone());
    }
    unsafe fn dispatch_workgroups(&mut self, count: [u32; 3]) {
        let count = GroupCount::Known(count);
        self.commands
            .push(Command::Dispatch(Box::new(self.state.clone()), count));
    }
    unsafe fn dispatch_workgroups_indirect(&mut self, b: &Buffer, at: wgt::BufferAddress) {
        let count = GroupCount::Indirect(b.clone(), at);
        self.commands
            .push(Command::Dispatch(Box::new(self.state.clone()), count));
    }

    // Nobody can make a pipeline to draw with, so a render pass clears its attachments. wgpu itself
    // has passes that do no more.
    unsafe fn begin_render_pass(
        &mut self,
        desc: &hal::RenderPassDescriptor<'_, QuerySet, TextureView>,
    ) -> Result<(), hal::DeviceError> {
        for color in desc.color_attachments.iter().flatten() {
            if color.ops.contains(hal::AttachmentOps::LOAD_CLEAR) {
                self.clear(color.target.view, color.clear_value);
            }
        }
        if let Some(depth) = &desc.depth_stencil_attachment
            && depth.depth_ops.contains(hal::AttachmentOps::LOAD_CLEAR)
        {
            let r = f64::from(depth.clear_value.0);
            self.clear(
                depth.target.view,
                wgt::Color {
                    r,
                    ..Default::default()
                },
            );
        }
        Ok(())
    }
    unsafe fn end_render_pass(&mut self) {}
    unsafe fn set_render_pipeline(&mut self, p: &Never) {
        match *p {}
    }
    unsafe fn set_index_buffer<'a>(
        &mut self,
        _: hal::BufferBinding<'a, Buffer>,
        _: wgt::IndexFormat,
    ) {
    }
    unsafe fn set_vertex_buffer<'a>(&mut self, _: u32, _: hal::BufferBinding<'a, Buffer>) {}
    unsafe fn set_viewport(&mut self, _: &hal::Rect<f32>, _: Range<f32>) {}
    unsafe fn set_scissor_rect(&mut self, _: &hal::Rect<u32>) {}
    unsafe fn set_stencil_reference(&mut self, _: u32) {}
    unsafe fn set_blend_constants(&mut self, _: &[f32; 4]) {}
    unsafe fn draw(&mut self, _: u32, _: u32, _: u32, _: u32) {}
    unsafe fn draw_indexed(&mut self, _: u32, _: u32, _: i32, _: u32, _: u32) {}
    unsafe fn draw_indirect(&mut self, _: &Buffer, _: u64, _: u32) {}
    unsafe fn draw_indexed_indirect(&mut self, _: &Buffer, _: u64, _: u32) {}
    unsafe fn draw_indirect_count(&mut self, _: &Buffer, _: u64, _: &Buffer, _: u64, _: u32) {}
    unsafe fn draw_indexed_indirect_count(
        &mut self,
        _: &Buffer,
        _: u64,
        _: &Buffer,
        _: u64,
        _: u32,
    ) {
    }
    unsafe fn draw_mesh_tasks(&mut self, _: u32, _: u32, _: u32) {}
    unsafe fn draw_mesh_tasks_indirect(&mut self, _: &Buffer, _: u64, _: u32) {}
    unsafe fn draw_mesh_tasks_indirect_count(
        &mut self,
        _: &Buffer,
        _: u64,
        _: &Buffer,
        _: u64,
        _: u32,
    ) {
    }
    unsafe fn begin_ray_tracing_pass(&mut self, _: &hal::RayTracingPassDescriptor<'_>) {}
    unsafe fn end_ray_tracing_pass(&mut self) {}
    unsafe fn set_ray_tracing_pipeline(&mut self, p: &Never) {
        match *p {}
    }
    unsafe fn trace_rays<'a>(
        &mut self,
        _: [u32; 3],
        _: hal::PipelineGroupData<'a, Buffer>,
        _: hal::PipelineGroupData<'a, Buffer>,
        _: hal::PipelineGroupData<'a, Buffer>,
    ) {
    }
    unsafe fn build_acceleration_structures<'a, T>(&mut self, _: u32, _: T)
    where
        Gantry: 'a,
        T: IntoIterator<Item = hal::BuildAccelerationStructureDescriptor<'a, Buffer, Never>>,
    {
    }
    unsafe fn place_acceleration_structure_barrier(
        &mut self,
        _: hal::AccelerationStructureBarrier,
    ) {
    }
    unsafe fn read_acceleration_structure_compact_size(&mut self, a: &Never, _: &Buffer) {
        match *a {}
    }
    unsafe fn set_acceleration_structure_dependencies(_: &[&CommandBuffer], _: &[&Never]) {}
}
