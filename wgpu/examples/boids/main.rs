//! Flocks birds by compute shaders, and writes frames as pictures:
//! `cargo run --release -p gantry-wgpu --example boids -- folder`.

mod flock;

use flock::SIZE;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("a folder for the frames")?);
    std::fs::create_dir_all(&folder)?;
    let instance = gantry_wgpu::instance(&gantry_wgpu::Options::default())?;
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let mut birds = flock::birds();
    for n in 0..10 {
        let (next, pixels) = flock::fly(&device, &queue, &birds, 20)?;
        birds = next;
        let file = std::fs::File::create(folder.join(format!("boids{n}.png")))?;
        let mut encoder = png::Encoder::new(file, SIZE, SIZE);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&pixels)?;
    }
    println!("10 frames in {}", folder.display());
    Ok(())
}
