//! A shader's bytes on the simulator.

use super::{Buffers, Shader, as_bytes, as_words};
use crate::targets::TARGETS;
use gantry_codegen::{CompileOptions, Target, compile};
use gantry_runtime::zebin::{ArgRole, Resource};
use gantry_runtime::{
    AddressMode, Arg, ChannelOrder, ChannelType, Device, FilterMode, ImageDesc, ImageFormat,
    Sampler, SimOptions, Watch,
};
use gantry_spirv::Translated;
use std::collections::BTreeMap;

/// Push constants as a function of the addresses of buffers.
type Pushed<'a> = &'a dyn Fn(&BTreeMap<(u32, u32), u64>) -> Vec<u32>;

/// Launches a shader on every platform that supports it, under the hazard check. Returns the
/// contents of the buffers, by target.
pub fn run(
    shader: &Shader,
    t: &Translated,
    buffers: &Buffers,
    pushed: Pushed<'_>,
) -> Vec<(&'static str, Vec<Vec<u32>>)> {
    let mut all = Vec::new();
    for name in TARGETS {
        let target = Target::lookup(name).unwrap();
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
        let loaded = module.kernel(&t.kernels[0].name)?;
        let size = loaded.group_size().unwrap();
        let watch = Watch::new().hazards();
        let mut launch = loaded.dispatch([32 / size[0], 1, 1]).watch(&watch);
        for a in loaded.args() {
            let (place, resource) = match a.role {
                ArgRole::Resource(place, resource) => (place, resource),
                ArgRole::PushConstants => {
                    let at = made.iter().map(|(k, b)| (*k, b.device_address()));
                    let pushed = as_bytes(&pushed(&at.collect()));
                    launch = launch.push_constants(Arg::bytes(&pushed));
                    continue;
                }
                _ => continue,
            };
            let (binding, element) = (place.binding, place.element);
            let arg = match resource {
                Resource::Sampler => {
                    // The second of an array repeats.
                    let address = match element {
                        1 => AddressMode::Repeat,
                        _ => AddressMode::ClampToEdge,
                    };
                    let mut sampler = Sampler::new(address, FilterMode::Nearest);
                    sampler.normalized = true;
                    Arg::from(sampler)
                }
                Resource::Image => {
                    // A row of words.
                    let buffer = &made[&(binding, element)];
                    let format = ImageFormat::new(ChannelOrder::R, ChannelType::UnsignedInt32)?;
                    let desc = ImageDesc::d2(buffer.len() as u32 / 4, 1);
                    Arg::from(device.image_of(buffer, format, desc)?)
                }
                _ => Arg::from(&made[&(binding, element)]),
            };
            launch = launch.bind_element(place.set, binding, element, arg);
        }
        launch.run()?;
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
