//! Modules built by hand, and runs of their kernel `k` on the simulator.
#![allow(dead_code, reason = "not every test runs what it builds")]

use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Arg, Device, DeviceKind, Grid};
use gantry_spirv::{Options, translate};
use rspirv::dr::Builder;
use spirv::{AddressingModel, Capability, MemoryModel};

/// Begins a module of OpenCL kernels with 64-bit pointers and the given capabilities.
pub fn module(more: &[Capability]) -> Builder {
    let mut b = Builder::new();
    b.set_version(1, 1);
    for c in [Capability::Addresses, Capability::Kernel] {
        b.capability(c);
    }
    for c in more {
        b.capability(*c);
    }
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    b
}

/// Runs one work-item of the kernel, whose argument points to the numbers. Returns the scratch
/// bytes of a thread, and the numbers afterwards.
pub fn run<const N: usize>(words: &[u32], options: &Options, given: [u32; N]) -> (u32, [u32; N]) {
    run_with(words, options, given, None)
}

/// The same with another argument, of some bytes.
pub fn run_with<const N: usize>(
    words: &[u32],
    options: &Options,
    given: [u32; N],
    more: Option<&[u8]>,
) -> (u32, [u32; N]) {
    let translated = translate(words, options).unwrap();
    let target = CompileOptions::for_target("skl").unwrap();
    let zebin = compile(&translated.module, &target).unwrap().zebin;
    let scratch = Zebin::parse(&zebin).unwrap().kernels[0].scratch_bytes();
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let numbers = device.buffer_from(&given).unwrap();
    let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
    let grid = Grid::new([1, 1, 1]);
    let args = [Arg::Buffer(numbers.clone())]
        .into_iter()
        .chain(more.map(Arg::bytes));
    kernel
        .launch(grid)
        .args(args.collect::<Vec<_>>())
        .run()
        .unwrap();
    (scratch, numbers.read().unwrap().try_into().unwrap())
}
