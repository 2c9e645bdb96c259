//! Draws scenes of vello on the simulator, a PNG each, to a folder:
//! `cargo run --release --example scenes -- folder dg2`.

use gantry_wgpu_programs::vector::{Painter, write_png};
use gantry_wgpu_programs::{Gpu, scenes};
use std::error::Error;
use std::path::PathBuf;
use vello::AaConfig;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("a folder for the pictures")?);
    let target = args.next().unwrap_or_else(|| "tgllp".to_owned());
    std::fs::create_dir_all(&folder)?;
    let gpu = Gpu::open(&target)?;
    let mut painter = Painter::new(&gpu, false, AaConfig::Area)?;
    for (name, scene) in scenes::all()? {
        let path = folder.join(name).with_extension("png");
        write_png(&path, &painter.draw(&scene)?)?;
        println!("{}", path.display());
    }
    Ok(())
}
