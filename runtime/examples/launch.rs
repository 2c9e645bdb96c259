//! Small check of a driver installation: loads a zebin on a device and launches its
//! `saxpy(x, y, a, n)` once.
//!
//! `cargo run --example launch -- k.zebin [auto|sim|level-zero]`

use gantry_runtime::{Device, DeviceKind, Error, Grid};

fn run(path: &str, kind: DeviceKind) -> Result<(), Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::File {
        path: path.to_owned(),
        message: e.to_string(),
    })?;
    let device = Device::open(kind)?;
    println!("device: {}", device.name());
    let module = device.load(&bytes)?;
    let kernel = module.kernel("saxpy")?;
    let n = 1024u32;
    let xs: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = device.buffer_from(&xs)?;
    let y = device.buffer_from(&vec![1f32; n as usize])?;
    let stats = kernel
        .launch(Grid::new([n, 1, 1]).group([64, 1, 1]))
        .arg(&x)
        .arg(&y)
        .arg(2.0f32)
        .arg(n as i32)
        .run()?;
    let ys: Vec<f32> = y.read()?;
    println!("threads: {}", stats.threads);
    println!("y[10] = {}", ys.get(10).copied().unwrap_or(f32::NAN));
    Ok(())
}

fn main() -> std::process::ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: launch ZEBIN [auto|sim|level-zero]");
        return std::process::ExitCode::FAILURE;
    };
    let kind = args.next().unwrap_or_else(|| "auto".to_owned());
    let Some(kind) = DeviceKind::from_name(&kind) else {
        eprintln!("no device kind `{kind}`");
        return std::process::ExitCode::FAILURE;
    };
    match run(&path, kind) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}
