//! Trains a network of burn on the simulator, and prints the loss of each step:
//! `cargo run --release --example training -- dg2 20`.

use gantry_wgpu_programs::network::{Network, device, train};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_else(|| "tgllp".to_owned());
    let steps = args.next().map_or(Ok(20), |n| n.parse())?;
    let device = device(&target)?.autodiff();
    let (_, losses) = train(Network::new(&device), &device, steps);
    for (step, loss) in losses.iter().enumerate() {
        println!("step {step:3}: loss {loss:.5}");
    }
    Ok(())
}
