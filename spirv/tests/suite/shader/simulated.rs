//! A shader's bytes on the simulator.

use super::{Buffers, Shader, as_bytes, as_words};
use crate::targets::TARGETS;
use gantry_codegen::{CompileOptions, Target, compile};
use gantry_runtime::{
    AddressMode, Arg, ChannelOrder, ChannelType, Device, FilterMode, Grid, ImageDesc, ImageFormat,
    Sampler, SimOptions, Watch,
};
use gantry_spirv::{Resource, Translated};
use std::collections::BTreeMap;

/// What push constants are, by the addresses of buffers.
type Pushed<'a> = &'a dyn Fn(&BTreeMap<(u32, u32), u64>) -> Vec<u32>;

/// Launches a shader on every platform that has what it needs, its annotations held to covering every read and write: what the buffers hold then, by
/// target.
pub fn run(
    shader: &Shader,
    t: &Translated,
    buffers: &Buffers,
    pushed: Pushed<'_>,
) -> Vec<(&'static str, Vec<Vec<u32>>)> {
    let mut all = Vec::new();
    for name in TARGETS {
        let target = Target::from_name(name).unwrap();
        let images = t.kernels[0].bindings.iter();
        let mut images = images.filter(|b| matches!(b.resource, Resource::Image));
        if !target.features().sampler && images.next().is_some() {
            continue;
        }
        let got = launch(shader, t, target, buffers, pushed);
        let body = shader.body;
        all.push((name, got.unwrap_or_else(|e| panic!("{name}: {e}\n{body}"))));
    }
    all
}

/// Launches a shader on a platform: what the buffers hold then.
pub fn launch(
    shader: &Shader,
    t: &Translated,
    target: Target,
    buffers: &Buffers,
    pushed: Pushed<'_>,
) -> Result<Vec<Vec<u32>>, String> {
    let platform = target.platform();
    let mut options = CompileOptions::new(target);
    options.check = true;
    let compiled = compile(&t.module, &options).map_err(|e| e.to_string())?;
    let device = Device::simulator(SimOptions {
        platform,
        instruction_limit: 1 << 24,
        ..SimOptions::default()
    });
    let kernel = &t.kernels[0];
    let run = || -> Result<(Vec<Vec<u32>>, Watch), gantry_runtime::Error> {
        let module = device.load(&compiled.zebin)?;
        let mut made = BTreeMap::new();
        let mut failed = None;
        shader.place(buffers, |key, bytes| match device.buffer_from(&bytes) {
            Ok(buffer) => made.entry(key).or_insert(buffer).device_address(),
            Err(e) => {
                failed = Some(e);
                0
            }
        });
        if let Some(e) = failed {
            return Err(e);
        }
        let mut args: Vec<Option<Arg>> = vec![None; kernel.arguments.len()];
        for b in &kernel.bindings {
            let arg = match b.resource {
                Resource::PushConstants { .. } => {
                    let at = made.iter().map(|(k, b)| (*k, b.device_address()));
                    Arg::bytes(&as_bytes(&pushed(&at.collect())))
                }
                Resource::Sampler => {
                    // The second of an array repeats.
                    let address = match b.element {
                        1 => AddressMode::Repeat,
                        _ => AddressMode::ClampToEdge,
                    };
                    let mut sampler = Sampler::new(address, FilterMode::Nearest);
                    sampler.normalized = true;
                    Arg::from(sampler)
                }
                Resource::Image => {
                    // A row of words.
                    let buffer = &made[&(b.binding, b.element)];
                    let format = ImageFormat::new(ChannelOrder::R, ChannelType::UnsignedInt32)?;
                    let desc = ImageDesc::d2(buffer.len() as u32 / 4, 1);
                    Arg::from(device.image_of(buffer, format, desc)?)
                }
                _ => {
                    let buffer = &made[&(b.binding, b.element)];
                    if let Some(n) = b.size_argument {
                        args[n] = Some(Arg::bytes(&(buffer.len() as u32).to_le_bytes()));
                    }
                    Arg::from(buffer)
                }
            };
            args[b.argument] = Some(arg);
        }
        let args: Vec<Arg> = args.into_iter().map(Option::unwrap).collect();
        let size = kernel.group_size.unwrap();
        let grid = Grid::new([32, size[1], size[2]]).group(size);
        let watch = Watch::new().hazards();
        module
            .kernel(&kernel.name)?
            .launch(grid)
            .args(args)
            .watch(&watch)
            .run()?;
        let mut left = Vec::new();
        for (binding, element, _) in buffers {
            left.push(as_words(&made[&(*binding, *element)].read::<u8>()?));
        }
        Ok((left, watch))
    };
    let (left, watch) = run().map_err(|e| e.to_string())?;
    match watch.report().hazards.first() {
        Some(hazard) => Err(format!("too early: {hazard}")),
        None => Ok(left),
    }
}
