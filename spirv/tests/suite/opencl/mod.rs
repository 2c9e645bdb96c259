//! Launches of the runtime's tests, compiled by this crate and the code generator from the SPIR-V
//! that Intel's compiler gets. They run on the simulator with the same expected results.
//!
//! Rejections are listed in `refused.txt`, a line for each device and kernel. `GANTRY_BLESS=1` with
//! `--test-threads=1` writes it. Where code has SWSB annotations, a hazard is an error. Where
//! kernels may use 256 GRFs, every third launch does. `GANTRY_KERNEL=name` runs launches whose name
//! contains it. `GANTRY_DEVICE=skl` and `GANTRY_WIDTH=16` select a device and a width.
//! `GANTRY_INLINE=never` calls all functions that can be called.

#[path = "../../../../runtime/tests/suite/opencl/case.rs"]
mod case;
#[path = "../../../../runtime/tests/suite/opencl/cl.rs"]
mod cl;
#[path = "../../../../runtime/tests/suite/opencl/compare.rs"]
mod compare;
#[path = "../../../../runtime/tests/suite/opencl/judge.rs"]
mod judge;
#[path = "../../../../runtime/tests/suite/opencl/reference.rs"]
mod reference;
#[path = "../../../../runtime/tests/suite/opencl/simulated.rs"]
mod simulated;
pub mod source;
#[path = "../../../../runtime/tests/suite/opencl/specs/mod.rs"]
mod specs;

use crate::kernels;
use crate::kernels::Device;
use case::Case;
use gantry_codegen::{CompileOptions, Context, GrfMode, Inline, compile};
use gantry_runtime::Watch;
use gantry_spirv::{Options, Simd, translate};
use std::collections::{BTreeMap, BTreeSet};

/// Results of a device at a width.
#[derive(Default)]
struct Row {
    equal: usize,
    /// Launches that the runtime's tests skip too.
    skipped: usize,
    /// Number of rejected launches by reason.
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

/// Compiles a kernel to a zebin of its own. Returns it with the width.
fn zebin(
    words: &[u32],
    kernel: &str,
    device: &str,
    width: Option<u32>,
    large: bool,
) -> Result<(Vec<u8>, u32), String> {
    let inline = std::env::var("GANTRY_INLINE").unwrap_or("auto".to_owned());
    let inline = Inline::from_name(&inline).expect("GANTRY_INLINE is auto, all or never");
    let mut target = CompileOptions::for_target(device).map_err(|e| e.to_string())?;
    target.inline = inline;
    if large && target.target.with_large_file().is_some() {
        target.grf_mode = GrfMode::Large;
    }
    let options = Options {
        simd: width.map_or(Simd::Auto, Simd::Width),
        target: Some(target.clone()),
        kernel: Some(kernel.to_owned()),
        inline,
        ..Options::default()
    };
    let translated = translate(words, &options).map_err(|e| e.to_string())?;
    target.check = true;
    let compiled = compile(&translated.module, &target);
    let compiled = compiled.map_err(|e| format!("compiler: {e}"))?;
    // The combined function must give the same.
    if width.is_none() {
        let options = Options {
            target: None,
            ..options
        };
        let both = gantry_spirv::compile(words, &options, &target, &mut Context::new());
        let both = both.map_err(|e| format!("in one go: {e}"))?.1;
        assert!(
            both.zebin == compiled.zebin,
            "{kernel} on {device} in one go"
        );
    }
    let simd = translated.kernels.first().map_or(16, |k| k.simd);
    let spilled = compiled
        .kernels
        .iter()
        .any(|k| k.stats.spilled.registers > 0);
    if width.is_none() && simd > 8 && spilled {
        Err(format!("of {simd} by itself, it spills"))
    } else {
        Ok((compiled.zebin, simd))
    }
}

/// Width of a kernel whose private arrays only the narrowest thread promotes.
fn narrow(case: &Case, device: &str) -> Option<u32> {
    let of_arrays = (case.file, case.kernel) == ("private", "int_spills");
    of_arrays.then_some(match device {
        "pvc" => 16,
        _ => 8,
    })
}

fn device(device: &'static Device) {
    let chosen = |what: &str, value: &str| std::env::var(what).is_ok_and(|v| v != value);
    if !kernels::have_ocloc() || !reference::have_pocl() || chosen("GANTRY_DEVICE", device.name) {
        return;
    }
    let only = std::env::var("GANTRY_KERNEL").unwrap_or_default();
    let cases = specs::cases();
    let asked: Vec<&Case> = cases.iter().filter(|c| c.name().contains(&only)).collect();
    let needed = |file: &str| asked.iter().any(|c| c.file == file);
    let mut refusals = BTreeSet::new();
    let mut wrong = Vec::new();
    let widths = device.widths.iter().copied().map(Some);
    for width in widths.chain([None]) {
        let shown = width.map_or("auto".to_owned(), |w| w.to_string());
        if chosen("GANTRY_WIDTH", &shown) {
            continue;
        }
        let (mut row, mut refused) = (Row::default(), 0);
        let mut taken: BTreeMap<u32, usize> = BTreeMap::new();
        for file in source::files(device, width, needed) {
            for (n, case) in asked.iter().enumerate() {
                if case.file != file.name {
                    continue;
                }
                let meant = |w: u32| case.only.is_none_or(|o| o == w);
                if width.is_some_and(|w| !meant(w)) {
                    continue;
                }
                if case.skipped(device.name, width.unwrap_or(16)).is_some() {
                    row.skipped += 1;
                    continue;
                }
                let large = n % 3 == 0;
                match zebin(&file.words, case.kernel, device.name, width, large) {
                    Err(e) => {
                        let reasons: BTreeSet<&str> = e.lines().map(reason).collect();
                        let reasons: Vec<&str> = reasons.into_iter().collect();
                        let what = format!("{}.{}: {}", case.file, case.kernel, reasons.join("; "));
                        refusals.insert(what);
                        for r in reasons {
                            *row.refused.entry(r.to_owned()).or_default() += 1;
                        }
                        refused += 1;
                    }
                    // The case is specific to another width.
                    Ok((_, simd)) if !meant(simd) => row.skipped += 1,
                    Ok((zebin, simd)) => {
                        let asked = width.is_none().then(|| narrow(case, device.name));
                        let asked = asked.flatten();
                        if let Some(want) = asked.filter(|w| *w != simd) {
                            let name = case.name();
                            row.wrong.push(format!(
                                "{name} on {} chose {simd}, not {want}",
                                device.name
                            ));
                        }
                        *taken.entry(simd).or_default() += 1;
                        match launch(case, &zebin, simd) {
                            Ok(()) => row.equal += 1,
                            Err(e) => row.wrong.push(format!(
                                "{} on {} SIMD{shown} ({simd}): {e}",
                                case.name(),
                                device.name
                            )),
                        }
                    }
                }
            }
        }
        println!(
            "{:6} SIMD{shown:<4}  {:4} equal  {:3} wrong  {refused:3} refused  {:3} not run",
            device.name,
            row.equal,
            row.wrong.len(),
            row.skipped
        );
        if width.is_none() {
            println!("    launches of widths that were chosen: {taken:?}");
        }
        for (reason, count) in &row.refused {
            println!("    {count:3} {reason}");
        }
        wrong.extend(row.wrong);
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} launches differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let asked = |v: &str| std::env::var(v).is_ok_and(|v| !v.is_empty());
    let whole = !asked("GANTRY_KERNEL") && !asked("GANTRY_WIDTH");
    listed(device.name, &refusals, whole);
}

/// Launches a kernel, and checks its results and, with SWSB annotations, hazards.
fn launch(case: &Case, zebin: &[u8], simd: u32) -> Result<(), String> {
    let module = simulated::load(zebin)?;
    let watch = Watch::new().hazards();
    judge::watched(case, &module, simd, Some(&watch))?;
    match watch.report().hazards.first() {
        Some(hazard) => Err(format!("too early: {hazard}")),
        None => Ok(()),
    }
}

/// Checks that rejections on a device are listed, and, after a full run, that there are no others.
fn listed(device: &str, refusals: &BTreeSet<String>, all: bool) {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/opencl/refused.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let (own, others): (Vec<&str>, Vec<&str>) = text
        .lines()
        .partition(|l| l.split_once(' ').is_some_and(|(d, _)| d == device));
    let refusals: BTreeSet<String> = refusals.iter().map(|r| format!("{device} {r}")).collect();
    if all && std::env::var("GANTRY_BLESS").is_ok_and(|v| v == "1") {
        let lines = others
            .into_iter()
            .chain(refusals.iter().map(String::as_str));
        let lines: BTreeSet<&str> = lines.collect();
        let lines: String = lines.iter().map(|r| format!("{r}\n")).collect();
        return std::fs::write(&path, lines).unwrap();
    }
    let new = refusals.iter().filter(|r| !own.contains(&r.as_str()));
    let new: Vec<&String> = new.collect();
    assert!(
        new.is_empty(),
        "refused, and not in {}: {new:#?}",
        path.display()
    );
    let gone = own.iter().filter(|l| all && !refusals.contains(**l));
    let gone: Vec<_> = gone.collect();
    assert!(
        gone.is_empty(),
        "no longer refused: GANTRY_BLESS=1 writes the list: {gone:#?}"
    );
}

/// Message of an error without its place.
fn reason(line: &str) -> &str {
    let (place, what) = line.split_once(": ").unwrap_or(("", line));
    if place.contains("word ") { what } else { line }
}

/// Checks that two kernels of a module share its variables, which persist between launches, and
/// that loading resets them.
#[test]
fn variables_live_as_long_as_the_module() {
    if !kernels::have_ocloc() {
        return;
    }
    for name in ["skl", "icllp", "dg2"] {
        let device = Device::named(name).unwrap();
        let file = &source::files(device, Some(16), |f| f == "globals")[0];
        let target = CompileOptions::for_target(name).unwrap();
        let options = Options {
            simd: Simd::Width(16),
            target: Some(target.clone()),
            ..Options::default()
        };
        let translated = translate(&file.words, &options).unwrap();
        let zebin = compile(&translated.module, &target).unwrap().zebin;
        let data = gantry_runtime::zebin::Zebin::parse(&zebin).unwrap().data;
        let sections = data.iter().map(|d| (d.name.as_str(), d.relocations.len()));
        let sections: Vec<(&str, usize)> = sections.collect();
        assert_eq!(
            sections,
            [(".data.const", 11), (".data.global", 5)],
            "{name}"
        );
        for _ in 0..2 {
            let module = simulated::load(&zebin).unwrap();
            let out = module.device().buffer_from(&[0u8; 4]).unwrap();
            let launch = |kernel: &str, n: u32| {
                let kernel = module.kernel(kernel).unwrap();
                let launch = kernel.launch(gantry_runtime::Grid::new([1, 1, 1]));
                launch.arg(&out).arg(n).run().unwrap();
                u32::from_le_bytes(out.read().unwrap().try_into().unwrap())
            };
            let got = [
                launch("count_launches", 0),
                launch("add_launches", 0),
                launch("add_launches", 2),
                launch("count_launches", 0),
                launch("count_launches", 2),
            ];
            assert_eq!(got, [42, 52, 10, 54, 12], "{name}");
        }
    }
}

macro_rules! devices {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            device(Device::named(stringify!($name)).unwrap());
        })*
    };
}

devices! { bdw skl bxt icllp tgllp dg2 pvc }
