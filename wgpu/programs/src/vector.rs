//! Pictures that vello draws.

use crate::Gpu;
use crate::scenes::SIZE;
use std::error::Error;
use std::num::NonZeroUsize;
use vello::peniko::color::palette::css;
use vello::{AaConfig, RenderParams, Renderer, RendererOptions, Scene};

/// Renderer of vello on a device, with its texture.
pub struct Painter<'a> {
    gpu: &'a Gpu,
    renderer: Renderer,
    texture: wgpu::Texture,
    method: AaConfig,
}

impl<'a> Painter<'a> {
    /// Creates a renderer. With `use_cpu` all stages but the last run on the host.
    ///
    /// # Errors
    /// A shader is refused.
    pub fn new(gpu: &'a Gpu, use_cpu: bool, method: AaConfig) -> Result<Self, Box<dyn Error>> {
        let options = RendererOptions {
            use_cpu,
            antialiasing_support: [method].into_iter().collect(),
            num_init_threads: NonZeroUsize::new(1),
            pipeline_cache: None,
        };
        let size = wgpu::Extent3d {
            width: SIZE,
            height: SIZE,
            depth_or_array_layers: 1,
        };
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let renderer = Renderer::new(&gpu.device, options).map_err(|e| e.to_string())?;
        Ok(Painter {
            gpu,
            renderer,
            texture,
            method,
        })
    }

    /// Draws a scene on black. Returns its pixels: red, green, blue and alpha.
    ///
    /// # Errors
    /// The device is lost.
    pub fn draw(&mut self, scene: &Scene) -> Result<Vec<u8>, Box<dyn Error>> {
        let Gpu { device, queue, .. } = self.gpu;
        let view = self.texture.create_view(&Default::default());
        let params = RenderParams {
            base_color: css::BLACK,
            width: SIZE,
            height: SIZE,
            antialiasing_method: self.method,
        };
        self.renderer
            .render_to_texture(device, queue, scene, &view, &params)
            .map_err(|e| e.to_string())?;
        let read = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(SIZE * SIZE * 4),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &read,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(SIZE * 4),
                    rows_per_image: None,
                },
            },
            self.texture.size(),
        );
        queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |_| ());
        device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(read.slice(..).get_mapped_range()?.to_vec())
    }
}

/// Writes a picture as PNG.
///
/// # Errors
/// The file cannot be written.
pub fn write_png(path: &std::path::Path, pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, SIZE, SIZE);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    Ok(encoder.write_header()?.write_image_data(pixels)?)
}
