//! Shader with its data and expected results.

use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::zebin::{ArgKind, ArgRole, Zebin};
use gantry_runtime::{Arg, Device, SimOptions, Watch};
use gantry_spirv::wgsl::translate_wgsl;
use gantry_spirv::{Options, Simd, SpecValue};
use std::collections::BTreeMap;

/// Check of all buffers together.
pub type Check = fn(&BTreeMap<u32, Vec<u8>>) -> Result<(), String>;
/// Expected results by binding, for a SIMD width.
pub type ByWidth = fn(u32) -> Vec<(u32, Vec<u8>)>;

/// Comparison with the expected results.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// Every byte equal.
    Exact,
    /// Singles within a relative error and a slack.
    Near(f32),
    /// No comparison.
    Any,
}

/// Buffer at a binding of group 0.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub binding: u32,
    pub bytes: Vec<u8>,
    /// Expected contents.
    pub want: Vec<u8>,
    pub tolerance: Tolerance,
}

/// Launch of a shader.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub text: &'static str,
    pub entry: &'static str,
    pub groups: [u32; 3],
    pub buffers: Vec<Buffer>,
    /// Set if all accesses are in bounds. Then it also runs without checks.
    pub also_unchecked: bool,
    /// Values of overrides.
    pub constants: BTreeMap<String, SpecValue>,
    /// Push constants.
    pub pushed: Vec<u8>,
    /// Words of buffers to ignore.
    pub ignore: Vec<(u32, usize)>,
    /// Absolute error that singles may have besides.
    pub slack: f32,
    /// Check of all buffers together.
    pub check: Option<Check>,
    /// Expected results by SIMD width, where they depend on it.
    pub by_width: Option<ByWidth>,
}

/// Numbers as bytes.
pub trait Bytes {
    fn to_bytes(&self) -> Vec<u8>;
}

impl Bytes for [u32] {
    fn to_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

impl Bytes for [i32] {
    fn to_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

impl Bytes for [f32] {
    fn to_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|x| x.to_le_bytes()).collect()
    }
}

impl Case {
    pub fn new(name: &'static str, text: &'static str, groups: [u32; 3]) -> Case {
        Case {
            name,
            text,
            entry: "main",
            groups,
            buffers: Vec::new(),
            also_unchecked: true,
            constants: BTreeMap::new(),
            pushed: Vec::new(),
            ignore: Vec::new(),
            slack: 1e-6,
            check: None,
            by_width: None,
        }
    }

    /// Adds a buffer that does not change.
    pub fn input<T>(mut self, binding: u32, data: &[T]) -> Case
    where
        [T]: Bytes,
    {
        let bytes = data.to_bytes();
        self.buffers.push(Buffer {
            binding,
            want: bytes.clone(),
            bytes,
            tolerance: Tolerance::Exact,
        });
        self
    }

    /// Adds a zeroed buffer with expected contents.
    pub fn output<T>(self, binding: u32, want: &[T], tolerance: Tolerance) -> Case
    where
        [T]: Bytes,
    {
        let want = want.to_bytes();
        self.bytes(binding, vec![0; want.len()], want, tolerance)
    }

    /// Adds a buffer with initial and expected contents.
    pub fn inout<T>(self, binding: u32, from: &[T], want: &[T], tolerance: Tolerance) -> Case
    where
        [T]: Bytes,
    {
        self.bytes(binding, from.to_bytes(), want.to_bytes(), tolerance)
    }

    pub fn bytes(
        mut self,
        binding: u32,
        bytes: Vec<u8>,
        want: Vec<u8>,
        tolerance: Tolerance,
    ) -> Case {
        self.buffers.push(Buffer {
            binding,
            bytes,
            want,
            tolerance,
        });
        self
    }

    /// Gives values to overrides.
    pub fn with<V: Into<SpecValue> + Copy>(mut self, values: &[(&str, V)]) -> Case {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), (*v).into()));
        self.constants.extend(values);
        self
    }

    /// Marks accesses out of bounds.
    pub fn outside(mut self) -> Case {
        self.also_unchecked = false;
        self
    }

    /// Compiles and launches the shader, and checks its buffers.
    pub fn run(&self, target: &str, simd: u32, robust: bool) -> Result<(), String> {
        let options = Options {
            simd: Simd::Width(simd),
            kernel: Some(self.entry.to_owned()),
            robust: Some(robust),
            constants: self.constants.clone(),
            ..Options::default()
        };
        let translated = translate_wgsl(self.text, &options).map_err(|e| e.to_string())?;
        let mut target = CompileOptions::for_target(target).map_err(|e| e.to_string())?;
        target.check = true;
        let zebin = compile(&translated.module, &target)
            .map_err(|e| format!("compiler: {e}\n{}", translated.module))?
            .zebin;
        let platform = Zebin::parse(&zebin).map_err(|e| e.to_string())?.platform;
        let device = Device::simulator(SimOptions {
            platform,
            instruction_limit: 4_000_000,
            ..SimOptions::default()
        });
        let module = device.load(&zebin).map_err(|e| e.to_string())?;
        let mut made = BTreeMap::new();
        for b in &self.buffers {
            let buffer = device.buffer_from(&b.bytes).map_err(|e| e.to_string())?;
            made.insert(b.binding, buffer);
        }
        let loaded = module.kernel(self.entry).map_err(|e| e.to_string())?;
        let mut launch = loaded.dispatch(self.groups);
        for a in loaded.args() {
            launch = match a.role {
                ArgRole::Resource(at, _) => {
                    let buffer = made.get(&at.binding).filter(|_| at.set == 0);
                    let buffer =
                        buffer.ok_or_else(|| format!("nothing is bound at {}", at.binding))?;
                    launch.bind(at.set, at.binding, buffer)
                }
                ArgRole::PushConstants => {
                    let size = self.pushed.len() as u32;
                    assert_eq!(a.kind, ArgKind::Value { size });
                    launch.push_constants(Arg::bytes(&self.pushed))
                }
                _ => launch,
            };
        }
        let watch = Watch::new().hazards();
        launch
            .watch(&watch)
            .run()
            .map_err(|e| format!("{e}\n{}", translated.module))?;
        if let Some(hazard) = watch.report().hazards.first() {
            return Err(format!("too early: {hazard}"));
        }
        let of_width: BTreeMap<u32, Vec<u8>> = match self.by_width {
            Some(f) => f(simd).into_iter().collect(),
            None => BTreeMap::new(),
        };
        let mut all = BTreeMap::new();
        for b in &self.buffers {
            let got: Vec<u8> = made[&b.binding].read().map_err(|e| e.to_string())?;
            let want = of_width.get(&b.binding).unwrap_or(&b.want);
            self.compare(b, &got, want)
                .map_err(|e| format!("binding {}: {e}", b.binding))?;
            all.insert(b.binding, got);
        }
        self.check.map_or(Ok(()), |f| f(&all))
    }

    fn compare(&self, buffer: &Buffer, got: &[u8], want: &[u8]) -> Result<(), String> {
        let Buffer {
            binding, tolerance, ..
        } = *buffer;
        if tolerance == Tolerance::Any {
            return Ok(());
        }
        compare(got, want, tolerance, self.slack, &|n| {
            self.ignore.contains(&(binding, n))
        })
    }
}

fn compare(
    got: &[u8],
    want: &[u8],
    tolerance: Tolerance,
    slack: f32,
    ignored: &dyn Fn(usize) -> bool,
) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} bytes, not {}", got.len(), want.len()));
    }
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
    let pairs = got.chunks(4).zip(want.chunks(4)).enumerate();
    for (n, (g, w)) in pairs {
        if g == w || ignored(n) {
            continue;
        }
        let (g, w) = (word(g), word(w));
        let (gf, wf) = (f32::from_bits(g), f32::from_bits(w));
        let near = match tolerance {
            Tolerance::Near(share) => {
                (gf - wf).abs() <= share * gf.abs().max(wf.abs()) + slack
                    || gf.is_nan() && wf.is_nan()
            }
            _ => false,
        };
        if !near {
            return Err(format!("word {n} is {g:#x} ({gf}), not {w:#x} ({wf})"));
        }
    }
    Ok(())
}
