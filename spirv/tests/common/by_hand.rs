//! Modules that are built by hand, and what their kernel `k` does on the simulator.
#![allow(dead_code, reason = "not every test runs what it builds")]

use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Device, DeviceKind, Grid};
use gantry_spirv::{Options, translate};
use rspirv::dr::Builder;
use spirv::{AddressingModel, Capability, MemoryModel};

/// A module of OpenCL kernels with 64-bit pointers, that has nothing yet but what it may use.
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

/// Runs a work-item of the kernel, whose one argument is a pointer to the numbers: the scratch bytes of a thread, and what the numbers are then.
pub fn run<const N: usize>(words: &[u32], options: &Options, given: [u32; N]) -> (u32, [u32; N]) {
    let translated = translate(words, options).unwrap();
    let target = CompileOptions::for_target("skl").unwrap();
    let zebin = compile(&translated.module, &target).unwrap().zebin;
    let scratch = Zebin::parse(&zebin).unwrap().kernels[0].scratch_bytes();
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let numbers = device.buffer_from(&given).unwrap();
    let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
    let grid = Grid::new([1, 1, 1]);
    kernel.launch(grid).arg(&numbers).run().unwrap();
    (scratch, numbers.read().unwrap().try_into().unwrap())
}
