//! Devices, and buffers that are read back.

use gantry_wgpu::{Options, instance};
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// Targets of the tests: one of each generation.
pub const TARGETS: [&str; 6] = ["bdw", "skl", "icllp", "tgllp", "dg2", "pvc"];

/// Device of a target.
pub struct Gpu {
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// Logger that prints errors, which the tests' output keeps.
struct Printer;

impl log::Log for Printer {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("gantry")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            println!("{}", record.args());
        }
    }

    fn flush(&self) {}
}

impl Gpu {
    pub fn open(target: &str) -> Gpu {
        // It is set by the first device.
        let _ = log::set_logger(&Printer);
        log::set_max_level(log::LevelFilter::Error);
        let options = Options {
            target: Some(target.to_owned()),
            ..Options::default()
        };
        let instance = instance(&options).unwrap();
        let adapter = instance.request_adapter(&Default::default());
        let adapter = pollster::block_on(adapter).unwrap();
        assert!(adapter.get_info().name.ends_with(&format!("({target})")));
        let features = adapter.features() - wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
        let desc = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&desc)).unwrap();
        Gpu {
            adapter,
            device,
            queue,
        }
    }

    /// Creates a buffer of some words.
    pub fn buffer(&self, words: &[u32], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(words),
            usage,
        })
    }

    /// Creates a buffer that shaders and copies use.
    pub fn storage(&self, words: &[u32]) -> wgpu::Buffer {
        use wgpu::BufferUsages as U;
        self.buffer(words, U::STORAGE | U::COPY_SRC | U::COPY_DST)
    }

    /// Parses a shader.
    pub fn shader(&self, text: &str) -> wgpu::ShaderModule {
        self.device
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(text.into()),
            })
    }

    /// Compiles a shader's only entry point for a layout of group 0 and bytes of immediates.
    pub fn laid_out(
        &self,
        text: &str,
        entries: &[wgpu::BindGroupLayoutEntry],
        immediate_size: u32,
    ) -> wgpu::ComputePipeline {
        let group = self
            .device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries,
            });
        let layout = self
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&group)],
                immediate_size,
            });
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(&layout),
                module: &self.shader(text),
                entry_point: None,
                compilation_options: Default::default(),
                cache: None,
            })
    }

    /// Compiles a shader's only entry point, with values of overrides.
    pub fn pipeline(&self, text: &str, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
        self.pipeline_of(text, None, constants, None)
    }

    /// Compiles an entry point, or the only one, with values of overrides and by a cache.
    pub fn pipeline_of(
        &self,
        text: &str,
        entry_point: Option<&str>,
        constants: &[(&str, f64)],
        cache: Option<&wgpu::PipelineCache>,
    ) -> wgpu::ComputePipeline {
        let module = self.shader(text);
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point,
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants,
                    ..Default::default()
                },
                cache,
            })
    }

    /// Creates bind group 0 of a pipeline, of resources at the bindings from 0 on.
    pub fn group(
        &self,
        pipeline: &wgpu::ComputePipeline,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry {
                binding,
                resource: resource.clone(),
            })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }

    /// Creates a flat texture of one level.
    pub fn texture(
        &self,
        [width, height]: [u32; 2],
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
    ) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: extent([width, height]),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    }

    /// Writes all texels of a texture, of 4 bytes each.
    pub fn write_texture(&self, texture: &wgpu::Texture, texels: &[u8]) {
        let (to, layout) = (texture.as_image_copy(), rows(4 * texture.width()));
        self.queue.write_texture(to, texels, layout, texture.size());
    }

    /// Reads a texture of at most 64 texels a row, of 4 bytes each. Rows come with 64 words, those
    /// behind the texels 0.
    pub fn read_texture(&self, texture: &wgpu::Texture) -> Vec<u32> {
        let out = self.storage(&vec![0; 64 * texture.height() as usize]);
        self.submit(|encoder| {
            let to = wgpu::TexelCopyBufferInfo {
                buffer: &out,
                layout: rows(256),
            };
            encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
        });
        self.read(&out)
    }

    /// Records commands and submits them.
    pub fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        record(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }

    /// Runs some groups of a pipeline.
    pub fn dispatch(&self, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, groups: u32) {
        self.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        });
    }

    /// Reads a buffer back.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let read = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.submit(|e| e.copy_buffer_to_buffer(buffer, 0, &read, 0, buffer.size()));
        read.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
        let bytes = read.slice(..).get_mapped_range().unwrap();
        bytemuck::cast_slice(&bytes).to_vec()
    }
}

/// Returns the layout of rows of so many bytes.
pub fn rows(bytes: u32) -> wgpu::TexelCopyBufferLayout {
    wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(bytes),
        rows_per_image: None,
    }
}

/// Returns the size of a flat texture.
pub fn extent([width, height]: [u32; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

/// Returns the layout of a storage buffer of shaders.
pub fn storage_entry(
    binding: u32,
    read_only: bool,
    has_dynamic_offset: bool,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset,
            min_binding_size: None,
        },
        count: None,
    }
}
