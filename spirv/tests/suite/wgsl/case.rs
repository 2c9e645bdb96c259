//! A shader with its data and what should become of it.

use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::zebin::{ArgKind, ArgRole, Zebin};
use gantry_runtime::{Arg, Device, SimOptions, Watch};
use gantry_spirv::wgsl::translate_wgsl;
use gantry_spirv::{Options, Simd, SpecValue};
use std::collections::BTreeMap;

/// What holds of buffers together.
pub type Check = fn(&BTreeMap<u32, Vec<u8>>) -> Result<(), String>;
/// Results of a SIMD width, by binding.
pub type ByWidth = fn(u32) -> Vec<(u32, Vec<u8>)>;

/// How results are held to those of Rust.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Judge {
    /// Every byte.
    Exact,
    /// Singles that differ by no more than a share of the larger, and a little.
    Near(f32),
    /// Not at all.
    Any,
}

/// A buffer at a binding of group 0.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub binding: u32,
    pub bytes: Vec<u8>,
    /// What it holds afterwards.
    pub want: Vec<u8>,
    pub judge: Judge,
}

/// A launch of a shader.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub text: &'static str,
    pub entry: &'static str,
    pub groups: [u32; 3],
    pub buffers: Vec<Buffer>,
    /// Whether it stays inside of its arrays: then it runs without checks, too.
    pub also_unchecked: bool,
    /// Values of overrides.
    pub constants: BTreeMap<String, SpecValue>,
    /// Push constants.
    pub pushed: Vec<u8>,
    /// Words of buffers that may be any.
    pub ignore: Vec<(u32, usize)>,
    /// What near singles may differ by besides.
    pub slack: f32,
    /// What holds of the buffers together.
    pub check: Option<Check>,
    /// By SIMD width, where results depend on it.
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

    /// A buffer that stays as it is.
    pub fn input<T>(mut self, binding: u32, data: &[T]) -> Case
    where
        [T]: Bytes,
    {
        let bytes = data.to_bytes();
        self.buffers.push(Buffer {
            binding,
            want: bytes.clone(),
            bytes,
            judge: Judge::Exact,
        });
        self
    }

    /// A buffer of zeros that becomes this.
    pub fn output<T>(self, binding: u32, want: &[T], judge: Judge) -> Case
    where
        [T]: Bytes,
    {
        let want = want.to_bytes();
        self.bytes(binding, vec![0; want.len()], want, judge)
    }

    /// A buffer of this that becomes that.
    pub fn inout<T>(self, binding: u32, from: &[T], want: &[T], judge: Judge) -> Case
    where
        [T]: Bytes,
    {
        self.bytes(binding, from.to_bytes(), want.to_bytes(), judge)
    }

    pub fn bytes(mut self, binding: u32, bytes: Vec<u8>, want: Vec<u8>, judge: Judge) -> Case {
        self.buffers.push(Buffer {
            binding,
            bytes,
            want,
            judge,
        });
        self
    }

    /// Overrides have values.
    pub fn with<V: Into<SpecValue> + Copy>(mut self, values: &[(&str, V)]) -> Case {
        let values = values.iter().map(|(n, v)| ((*n).to_owned(), (*v).into()));
        self.constants.extend(values);
        self
    }

    /// It goes outside of its arrays.
    pub fn outside(mut self) -> Case {
        self.also_unchecked = false;
        self
    }

    /// Compiles it, launches it, and holds its buffers to what they should be.
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
        let Buffer { binding, judge, .. } = *buffer;
        if judge == Judge::Any {
            return Ok(());
        }
        compare(got, want, judge, self.slack, &|n| {
            self.ignore.contains(&(binding, n))
        })
    }
}

fn compare(
    got: &[u8],
    want: &[u8],
    judge: Judge,
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
        let near = match judge {
            Judge::Near(share) => {
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
