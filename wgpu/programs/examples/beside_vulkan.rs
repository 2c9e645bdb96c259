//! Times five programs on the simulator and on the machine's own Vulkan, and compares the results:
//! `cargo run --release --example beside_vulkan -- tgllp`. `VK_ICD_FILENAMES` chooses the driver.

use burn::module::Module;
use burn::tensor::Device;
use gantry_wgpu_programs::kernels::{BODIES, Kernel, PRODUCT, SAXPY};
use gantry_wgpu_programs::network::{Network, device_of, train};
use gantry_wgpu_programs::vector::Painter;
use gantry_wgpu_programs::{Gpu, scenes};
use std::error::Error;
use std::time::Instant;
use vello::AaConfig;

type Numbers = Result<Vec<f32>, Box<dyn Error>>;

fn kernel(kernel: &Kernel, open: &dyn Fn() -> Result<Gpu, Box<dyn Error>>) -> Numbers {
    kernel.run(&open()?)
}

fn draw(open: &dyn Fn() -> Result<Gpu, Box<dyn Error>>) -> Numbers {
    let gpu = open()?;
    let mut painter = Painter::new(&gpu, false, AaConfig::Area)?;
    let mut all = Vec::new();
    for (_, scene) in scenes::all()? {
        let pixels = painter.draw(&scene)?;
        all.extend(pixels.into_iter().map(|p| f32::from(p) / 255.0));
    }
    Ok(all)
}

fn learn(open: &dyn Fn() -> Result<Gpu, Box<dyn Error>>) -> Numbers {
    let network = Network::new(&Device::flex().autodiff());
    let device = device_of(open()?)?.autodiff();
    let (trained, _) = train(network.fork(&device), &device, 12);
    Ok(trained.weights())
}

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "tgllp".to_owned());
    let own = || Gpu::open(&target);
    let [gantry, other] = [own()?, Gpu::vulkan()?].map(|g| g.adapter.get_info().name);
    println!("seconds from opening the device to the results, the least of three runs");
    println!("{:10} {gantry:>28} {other:>28}  far results", "");
    type Program<'a> = &'a dyn Fn(&dyn Fn() -> Result<Gpu, Box<dyn Error>>) -> Numbers;
    let programs: [(&str, Program); 5] = [
        ("saxpy", &|open| kernel(&SAXPY, open)),
        ("product", &|open| kernel(&PRODUCT, open)),
        ("bodies", &|open| kernel(&BODIES, open)),
        ("scenes", &draw),
        ("training", &learn),
    ];
    for (name, run) in programs {
        let time = |open: &dyn Fn() -> Result<Gpu, Box<dyn Error>>| {
            let mut best = (f64::INFINITY, Vec::new());
            for _ in 0..3 {
                let start = Instant::now();
                let numbers = run(open)?;
                best = (best.0.min(start.elapsed().as_secs_f64()), numbers);
            }
            Ok::<_, Box<dyn Error>>(best)
        };
        let (a, b) = (time(&own)?, time(&Gpu::vulkan)?);
        let pairs = a.1.iter().zip(&b.1);
        let far = pairs.filter(|(x, y)| (*x - *y).abs() > 0.02 * y.abs().max(1.0));
        let far = far.count();
        println!(
            "{name:10} {:28.3} {:28.3}  {far} of {}",
            a.0,
            b.0,
            b.1.len()
        );
    }
    Ok(())
}
