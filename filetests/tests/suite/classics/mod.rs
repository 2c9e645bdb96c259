//! Classic kernels, built with the builder and compared with models in Rust.
//!
//! Each is also a filetest in `filetests/run/classics`, whose text and expectations are written
//! here: `GANTRY_BLESS=1 cargo test -p gantry-filetests --test suite classics::`. Here they run at
//! more sizes than those files have.

mod dense;
mod images;
mod numbers;
mod sets;

use gantry_codegen::builder::KernelBuilder;
use gantry_codegen::ir::{Function, Module};
use gantry_codegen::text::parse;
use gantry_codegen::verifier::verify_parsed;
use gantry_filetests::data::{Data, Kind, Tolerance};
use gantry_filetests::launch::{Arg, Expect, Run, sampler_text};
use gantry_filetests::runner::CompileVariant;
use gantry_filetests::runner::RUNNERS;
use gantry_filetests::runner::platforms;
use std::fmt::Write;
use std::path::Path;

/// Kernel with its launches.
struct Classic {
    name: &'static str,
    /// Description for the filetest, a sentence.
    about: &'static str,
    function: Function,
    /// Launches of the filetest.
    small: Vec<Launch>,
    /// Further launches, which run only here.
    more: Vec<Launch>,
}

/// Builds a kernel of a SIMD width, optionally with a group size and local memory.
fn kernel(
    name: &str,
    simd: u32,
    group: Option<[u32; 3]>,
    slm_bytes: u32,
    build: impl for<'k> FnOnce(&'k KernelBuilder),
) -> Function {
    let k = KernelBuilder::new(name, simd);
    if let Some(size) = group {
        k.group_size(size);
    }
    k.slm_bytes(slm_bytes);
    build(&k);
    k.finish().unwrap()
}

/// Launch of the kernel.
struct Launch {
    global: [u32; 3],
    tolerance: f64,
    args: Vec<Arg>,
    expect: Vec<Option<Data>>,
}

fn data(kind: &str, bits: impl Iterator<Item = u64>) -> Data {
    Data {
        kind: Kind::from_name(kind).unwrap(),
        bits: bits.collect(),
    }
}

fn f32s(v: &[f32]) -> Data {
    data("f32", v.iter().map(|x| x.to_bits().into()))
}

fn i32s(v: &[i32]) -> Data {
    data("i32", v.iter().map(|&x| (x as u32).into()))
}

fn u32s(v: &[u32]) -> Data {
    data("u32", v.iter().map(|&x| x.into()))
}

fn u8s(v: &[u8]) -> Data {
    data("u8", v.iter().map(|&x| x.into()))
}

fn int(n: i32) -> Arg {
    Arg::Value(i32s(&[n]))
}

fn float(n: f32) -> Arg {
    Arg::Value(f32s(&[n]))
}

/// Generates pseudo-random numbers: SplitMix64 of a seed.
fn noise(seed: u64, n: usize) -> Vec<u32> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u32
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Generates small whole numbers and halves, which sums of products keep exact.
fn halves(seed: u64, n: usize) -> Vec<f32> {
    noise(seed, n)
        .iter()
        .map(|x| (x % 17) as f32 * 0.5 - 4.0)
        .collect()
}

impl Launch {
    fn run(&self, kernel: &str) -> Run {
        Run {
            kernel: kernel.to_owned(),
            global: self.global,
            groups: None,
            places: Vec::new(),
            local: None,
            offset: [0; 3],
            tolerance: Tolerance(self.tolerance),
            args: self.args.clone(),
            prints: None,
            expect: Expect::Args(self.expect.clone()),
        }
    }

    /// Formats the launch as a `; run:` line.
    fn line(&self, kernel: &str) -> String {
        let [x, y, z] = self.global;
        let global = match (y, z) {
            (1, 1) => format!("{x}"),
            (_, 1) => format!("{x},{y}"),
            _ => format!("{x},{y},{z}"),
        };
        let tol = match self.tolerance {
            0.0 => String::new(),
            t => format!(" tol={t:e}"),
        };
        let args: Vec<String> = self.args.iter().map(arg).collect();
        let expect = self
            .expect
            .iter()
            .map(|e| e.as_ref().map_or("_".to_owned(), numbers));
        let expect: Vec<String> = expect.collect();
        format!(
            "; run: %{kernel} global={global}{tol} args=[{}] == [{}]",
            args.join(", "),
            expect.join(", ")
        )
    }
}

fn arg(a: &Arg) -> String {
    match a {
        Arg::Buffer(d) => numbers(d),
        Arg::Value(d) => format!("{} {}", d.kind, d.kind.show(d.bits[0])),
        Arg::Image(i, d) => format!("{i} {}", numbers(d)),
        Arg::Sampler(s) => sampler_text(s),
        Arg::Slm(n) => format!("slm {n}"),
        Arg::Null => "null".to_owned(),
    }
}

/// Formats numbers, where equal ones are `7;3` and successive integers `0..4`.
fn numbers(d: &Data) -> String {
    let shown: Vec<String> = d.bits.iter().map(|&b| d.kind.show(b)).collect();
    let ints: Vec<Option<i64>> = shown.iter().map(|s| s.parse().ok()).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < shown.len() {
        let same = shown[at..].iter().take_while(|s| **s == shown[at]).count();
        let counts =
            |n: &usize| ints[at].is_some() && ints[at + n] == ints[at].map(|i| i + *n as i64);
        let up = (0..shown.len() - at).take_while(counts).count();
        let (text, n) = match (same, up) {
            (3.., _) => (format!("{};{same}", shown[at]), same),
            (_, 4..) => (
                format!("{}..{}", shown[at], ints[at].unwrap() + up as i64),
                up,
            ),
            _ => (shown[at].clone(), 1),
        };
        out.push(text);
        at += n;
    }
    format!("{}[{}]", d.kind, out.join(", "))
}

impl Classic {
    fn module(&self) -> Module {
        let mut m = Module::default();
        m.functions.push(self.function.clone());
        m
    }

    /// Returns the text of the filetest.
    fn text(&self) -> String {
        let mut out = format!(
            "; {}\ntest cat canonical\ntest run\n\n{}\n",
            self.about,
            self.module()
        );
        for l in &self.small {
            writeln!(out, "{}", l.line(self.name)).unwrap();
        }
        out
    }
}

fn classics() -> Vec<Classic> {
    let mut all = dense::classics();
    all.extend(images::classics());
    all.extend(numbers::classics());
    all.extend(sets::classics());
    all
}

#[test]
fn the_files_are_what_is_built_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run/classics");
    let bless = gantry_filetests::Options::from_env().bless;
    for c in classics() {
        let path = root.join(format!("{}.gir", c.name));
        let text = c.text();
        assert!(text.lines().count() < 400, "{} is too long to read", c.name);
        if bless {
            std::fs::write(&path, &text).unwrap();
        }
        let have = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            have == text,
            "{} is not what is built here (GANTRY_BLESS=1 writes it)",
            path.display()
        );
    }
}

/// Interpreter, and simulator on every platform, must give the models' results. So must the printed
/// launches.
#[test]
fn models_agree() {
    let mut failures = String::new();
    for c in classics() {
        let text = c.text();
        let parsed = parse(&c.module().to_string())
            .unwrap_or_else(|e| panic!("{}", e.render(c.name, &text)));
        verify_parsed(&parsed).unwrap_or_else(|e| panic!("{}", e.render(c.name, &text)));
        for l in &c.small {
            let line = l.line(c.name);
            let read = Run::parse(line.strip_prefix("; run: ").unwrap()).unwrap();
            assert_eq!(read, l.run(c.name), "{line}");
        }
        for runner in RUNNERS {
            for target in platforms() {
                if !target.features().sampler && text.contains("image") {
                    continue;
                }
                let prepared = runner
                    .prepare(&parsed.module, target.name(), CompileVariant::default())
                    .unwrap_or_else(|e| panic!("{}, {}: {e}", c.name, target.name()));
                for l in c.small.iter().chain(&c.more) {
                    let who = format!(
                        "{}, {:?}, {}, {}",
                        c.name,
                        l.global,
                        runner.name(),
                        target.name()
                    );
                    let got = match prepared.run(&l.run(c.name)) {
                        Ok(got) => got,
                        Err(e) => {
                            writeln!(failures, "{who}: {e}").unwrap();
                            continue;
                        }
                    };
                    for (i, (e, g)) in l.expect.iter().zip(got.buffers).enumerate() {
                        if let Some(Err(e)) = e
                            .as_ref()
                            .map(|e| e.compare(&g.unwrap(), Tolerance(l.tolerance)))
                        {
                            writeln!(failures, "{who}, argument {i}: {e}").unwrap();
                        }
                    }
                }
                if !runner.compiles() {
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
