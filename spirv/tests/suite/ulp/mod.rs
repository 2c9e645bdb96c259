//! Errors of OpenCL.std functions in ulp, as compiled by Gantry and run by the simulator.
//!
//! `cargo test` takes a sample of each function in half, float and double. It has all special
//! values (all pairs of them), some thousand random ones, and all halves for one argument. The
//! command below takes more. It prints the rows of `docs/spirv-math.md`, with instruction counts
//! beside those of Intel's compiler.
//!
//! ```sh
//! GANTRY_ULP=all cargo test --release -p gantry-spirv --test suite ulp::table -- --nocapture
//! ```
//!
//! `GANTRY_FUNCTIONS=sin,cos` and `GANTRY_TYPES=float,double` select rows, and `GANTRY_TARGET=bdw`
//! another platform. `GANTRY_STRIDE=64` takes every 64th float instead of all 2^32.
//! `GANTRY_PAIRS=1000000` takes so many random arguments instead of 10^7. `GANTRY_SEED` sets the
//! seed.

mod dd;
mod functions;
mod inputs;
mod kernel;
mod number;
mod spots;

use crate::rng::Rng;
use crate::targets::TARGETS;
use functions::{Function, Kind};
use gantry_codegen::Target;
use kernel::{Form, Loaded};
use number::{Real, Type};
use std::fmt::Write;

/// Work-items of a launch.
const LAUNCH: usize = 1 << 16;

/// Findings for a function.
#[derive(Clone, Default)]
struct Found {
    /// Largest error, with arguments, result and reference.
    worst: f64,
    at: String,
    checked: u64,
    instructions: f64,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.checked += other.checked;
        if other.worst > self.worst {
            self.worst = other.worst;
            self.at = other.at;
        }
    }
}

/// Returns true if the sign of a zero is unspecified.
fn any_zero(f: &Function) -> bool {
    use spirv::OpenclStd100Op as Std;
    matches!(
        f.op,
        Std::fmax
            | Std::fmin
            | Std::fmax_common
            | Std::fmin_common
            | Std::maxmag
            | Std::minmag
            | Std::fclamp
    )
}

/// Error of a result of a kind.
fn error(f: &Function, kind: Kind, ty: Type, got: u64, want: Real) -> f64 {
    match kind {
        Kind::Int | Kind::OutInt => {
            if want.v.0.is_nan() || f64::from(got as u32 as i32) == want.v.0 {
                0.0
            } else {
                f64::INFINITY
            }
        }
        _ if any_zero(f) && ty.value(got) == 0.0 && want.v.0 == 0.0 => 0.0,
        _ => number::error(ty, got, want),
    }
}

/// Returns true if the result of a call is specified.
fn is_said(f: &Function, a: &[f64]) -> bool {
    use spirv::OpenclStd100Op as Std;
    match f.op {
        // Arguments up to 2^16.
        Std::half_sin | Std::half_cos | Std::half_tan => a[0].abs() <= 65_536.0,
        // Edges in order, and no NaN.
        Std::fclamp => a[1] <= a[2] && !a[0].is_nan(),
        Std::fmax_common | Std::fmin_common => a.iter().all(|a| a.is_finite()),
        Std::length => !(a.iter().any(|a| a.is_nan()) && a.iter().any(|a| a.is_infinite())),
        Std::step => !a[0].is_nan() && !a[1].is_nan(),
        _ => true,
    }
}

/// Checks calls against references. Describes those with errors above `known`.
fn judge(
    (f, ty): (&Function, Type),
    args: &[Vec<u64>],
    results: &[u64],
    besides: &[u64],
    known: f64,
) -> Found {
    let mut found = Found {
        worst: known,
        ..Found::default()
    };
    let inputs: Vec<Kind> = f
        .arguments
        .iter()
        .copied()
        .filter(|k| !matches!(k, Kind::OutFloat | Kind::OutInt))
        .collect();
    let second = f
        .arguments
        .iter()
        .copied()
        .find(|k| matches!(k, Kind::OutFloat | Kind::OutInt));
    let mut values = vec![0.0; inputs.len()];
    for (i, got) in results.iter().enumerate() {
        for (n, k) in inputs.iter().enumerate() {
            values[n] = match k {
                Kind::Int => f64::from(args[n][i] as u32 as i32),
                _ => ty.value(args[n][i]),
            };
        }
        if !is_said(f, &values) {
            continue;
        }
        let meant = match ty {
            Type::Double => f.fine,
            _ => f.plain,
        };
        let (want, beside) = meant(&values, ty);
        let mut e = error(f, f.result, ty, *got, want);
        let mut what = (*got, want);
        if let Some(k) = second {
            let b = besides[i];
            let other = error(f, k, ty, b, beside);
            if other > e {
                (e, what) = (other, (b, beside));
            }
        }
        found.checked += 1;
        if e > found.worst {
            found.worst = e;
            let mut at = String::new();
            for (n, v) in values.iter().enumerate() {
                let _ = write!(at, "{}{v:?}", if n > 0 { ", " } else { "" });
            }
            let value = match f.result {
                Kind::Int => f64::from(what.0 as u32 as i32),
                _ => ty.value(what.0),
            };
            found.at = format!(
                "{at}: {value:?} ({:#x}), not {:?} * 2^{}",
                what.0, what.1.v.0, what.1.e
            );
        }
    }
    found
}

/// Runs calls and checks them, in several threads. Describes those with errors above `known`.
fn run(
    (f, ty): (&Function, Type),
    loaded: &Loaded,
    args: Vec<Vec<u64>>,
    threads: usize,
    known: f64,
) -> Found {
    let mut args = args;
    let count = args[0].len();
    // Complete groups.
    for a in &mut args {
        let last = a[count - 1];
        a.resize(count.next_multiple_of(256), last);
    }
    let launched = loaded
        .run(&args)
        .unwrap_or_else(|e| panic!("{} of {}: {e}", f.name, ty.name()));
    let mut found = Found::default();
    let part = count.div_ceil(threads);
    std::thread::scope(|s| {
        let mut all = Vec::new();
        for from in (0..count).step_by(part) {
            let to = (from + part).min(count);
            let args: Vec<Vec<u64>> = args.iter().map(|a| a[from..to].to_vec()).collect();
            let results = &launched.results[from..to];
            let besides = launched.besides.get(from..to).unwrap_or(&[]);
            all.push(s.spawn(move || judge((f, ty), &args, results, besides, known)));
        }
        for a in all {
            found.add(a.join().unwrap());
        }
    });
    found.instructions = launched.instructions;
    found
}

/// Amount of work.
struct Effort {
    /// Stride through all floats, for functions of one argument.
    stride: u64,
    /// Number of random arguments for others.
    random: u64,
    threads: usize,
}

/// Measures a function, or returns the reason for its rejection.
fn measure(
    f: &Function,
    ty: Type,
    target: &'static str,
    effort: &Effort,
    r: &mut Rng,
) -> Result<Found, String> {
    let loaded = kernel::gantry(f, ty, Form::of(target), effort.threads)?;
    let inputs: Vec<Kind> = f
        .arguments
        .iter()
        .copied()
        .filter(|k| !matches!(k, Kind::OutFloat | Kind::OutInt))
        .collect();
    // All combinations of special values, or a part of them for three arguments.
    let numbers = inputs::special(ty);
    let integers = inputs::special_integers();
    let mut args: Vec<Vec<u64>> = vec![Vec::new(); inputs.len()];
    let of = |k: Kind| if k == Kind::Int { &integers } else { &numbers };
    let total: usize = inputs.iter().map(|k| of(*k).len()).product();
    let step = if total > LAUNCH {
        total / LAUNCH + 1
    } else {
        1
    };
    let mut n = if step > 1 {
        r.below(step as u64) as usize
    } else {
        0
    };
    while n < total {
        let mut rest = n;
        for (a, k) in args.iter_mut().zip(&inputs) {
            let list = of(*k);
            a.push(list[rest % list.len()]);
            rest /= list.len();
        }
        n += step;
    }
    let mut found = run((f, ty), &loaded, args, effort.threads, 0.0);
    if inputs.len() == 1 && ty != Type::Double {
        let (all, stride) = match ty {
            Type::Half => (1 << 16, 1),
            _ => (1u64 << 32, effort.stride),
        };
        let phase = r.below(stride);
        let count = (all - phase).div_ceil(stride);
        for from in (0..count).step_by(LAUNCH) {
            let to = (from + LAUNCH as u64).min(count);
            let args = (from..to).map(|i| phase + i * stride).collect();
            let known = found.worst;
            found.add(run((f, ty), &loaded, vec![args], effort.threads, known));
        }
    }
    let random = match ty {
        Type::Half if inputs.len() == 1 => 0,
        _ => effort.random,
    };
    for from in (0..random).step_by(LAUNCH) {
        let count = LAUNCH.min((random - from) as usize);
        let mut args: Vec<Vec<u64>> = vec![Vec::with_capacity(count); inputs.len()];
        for _ in 0..count {
            for (a, v) in args.iter_mut().zip(inputs::draw(r, f, ty)) {
                a.push(v);
            }
        }
        let known = found.worst;
        found.add(run((f, ty), &loaded, args, effort.threads, known));
    }
    Ok(found)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

fn asked(name: &str, is: &str) -> bool {
    variable(name).is_none_or(|v| v.split(',').any(|v| v == is))
}

fn number_of(name: &str, or: u64) -> u64 {
    variable(name).and_then(|v| v.parse().ok()).unwrap_or(or)
}

/// Largest error according to the table in the documents.
fn documented(f: &Function, ty: Type) -> Option<f64> {
    let row = format!("| `{}` | {} | ", f.name, ty.name());
    let text = include_str!("../../../../docs/spirv-math.md");
    let line = text.lines().find_map(|l| l.strip_prefix(&row))?;
    line.split(" | ").next()?.parse().ok()
}

/// Describes a sample whose error exceeds the documented one by more than other arguments could
/// explain.
fn grown(f: &Function, ty: Type, target: &str, found: &Result<Found, String>) -> Option<String> {
    let (found, known) = (found.as_ref().ok()?, documented(f, ty));
    let Some(known) = known else {
        return Some(format!(
            "{} of {} is not in docs/spirv-math.md",
            f.name,
            ty.name()
        ));
    };
    // Without quotients in the math unit, it takes two operations.
    let has_quotients = Target::lookup(target).is_ok_and(|t| t.features().math_div_pow);
    let of_two = f.op == spirv::OpenclStd100Op::half_divide && !has_quotients;
    let known = if of_two { known + 1.0 } else { known };
    (found.worst > 1.05 * known + 0.02).then(|| {
        format!(
            "{} of {} for {target}: {} ulp, and docs/spirv-math.md says {known}: {}",
            f.name,
            ty.name(),
            found.worst,
            found.at
        )
    })
}

/// Describes an error above the limit.
fn verdict(f: &Function, ty: Type, target: &str, found: &Result<Found, String>) -> Option<String> {
    match (found, f.limits[ty as usize]) {
        (Err(e), Some(_)) => Some(format!("{} of {} for {target}: {e}", f.name, ty.name())),
        (Ok(found), Some(limit)) if found.worst > limit => Some(format!(
            "{} of {} for {target}: {} ulp, and {limit} are allowed: {}",
            f.name,
            ty.name(),
            found.worst,
            found.at
        )),
        _ => None,
    }
}

/// Samples all functions of a type on one platform.
fn sample(ty: Type, target: &'static str, random: u64) {
    if variable("GANTRY_ULP").is_some() {
        return;
    }
    let seed = number_of("GANTRY_SEED", 0x13);
    let mut r = Rng(seed ^ ty as u64);
    let effort = Effort {
        stride: (1 << 32) / random.max(1),
        random,
        threads: 1,
    };
    let (mut wrong, mut checked, mut count) = (Vec::new(), 0, 0);
    for f in functions::all() {
        if f.limits[ty as usize].is_none() || !asked("GANTRY_FUNCTIONS", f.name) {
            continue;
        }
        let found = measure(&f, ty, target, &effort, &mut r);
        let bad = verdict(&f, ty, target, &found).or_else(|| grown(&f, ty, target, &found));
        wrong.extend(bad);
        checked += found.map_or(0, |f| f.checked);
        count += 1;
    }
    println!(
        "seed {seed:#x}: {count} functions of {} for {target}, {checked} calls",
        ty.name()
    );
    assert!(
        wrong.is_empty(),
        "{} functions:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn half() {
    sample(Type::Half, "skl", 2000);
}

#[test]
fn float() {
    sample(Type::Single, "skl", 8000);
}

#[test]
fn double() {
    sample(Type::Double, "skl", 8000);
}

#[test]
fn other_targets() {
    let others = [
        ("bdw", true),
        ("bxt", true),
        ("icllp", false),
        ("tgllp", false),
        ("dg2", false),
        ("pvc", true),
    ];
    for (target, doubles) in others {
        sample(Type::Half, target, 256);
        sample(Type::Single, target, 1000);
        if doubles {
            sample(Type::Double, target, 1000);
        }
    }
}

/// Checks that functions give the same bits at other widths and for uniform arguments.
#[test]
fn forms() {
    if variable("GANTRY_ULP").is_some() {
        return;
    }
    let seed = number_of("GANTRY_SEED", 0x13);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for f in functions::all() {
        for ty in Type::ALL {
            if f.limits[ty as usize].is_none() || !asked("GANTRY_FUNCTIONS", f.name) {
                continue;
            }
            let mut r = Rng(seed ^ ty as u64);
            let calls: Vec<Vec<u64>> = (0..256).map(|_| inputs::draw(&mut r, &f, ty)).collect();
            let columns = |calls: &[Vec<u64>]| -> Vec<Vec<u64>> {
                (0..calls[0].len())
                    .map(|n| calls.iter().map(|c| c[n]).collect())
                    .collect()
            };
            let target = if ty == Type::Double { "skl" } else { "icllp" };
            let form = Form::of(target);
            let run = |form: Form, calls: &[Vec<u64>]| {
                let l = kernel::gantry(&f, ty, form, 1)?.run(&columns(calls))?;
                // Sign and payload of a NaN are unspecified, and depend on the build of the
                // simulator.
                let plain = |v: u64| if ty.value(v).is_nan() { u64::MAX } else { v };
                let results = l.results.into_iter().map(plain).collect();
                Ok::<_, String>((results, l.besides))
            };
            let mut see = |form: Form, calls: &[Vec<u64>], want: &(Vec<u64>, Vec<u64>)| match run(
                form, calls,
            ) {
                Ok(got) if got == *want => compared += calls.len(),
                Ok(_) => wrong.push(format!(
                    "{} of {} at SIMD {}, uniform: {}",
                    f.name,
                    ty.name(),
                    form.simd,
                    form.uniform
                )),
                Err(e) => wrong.push(format!("{} of {}: {e}", f.name, ty.name())),
            };
            let Ok(want) = run(form, &calls) else {
                wrong.push(format!("{} of {} is refused", f.name, ty.name()));
                continue;
            };
            for simd in [8, 32] {
                see(Form { simd, ..form }, &calls, &want);
            }
            let uniform = Form {
                uniform: true,
                ..form
            };
            for (n, call) in calls.iter().enumerate().take(4) {
                let all = |v: &Vec<u64>| v.get(n).map_or(Vec::new(), |v| vec![*v; 16]);
                see(
                    uniform,
                    &vec![call.clone(); 16],
                    &(all(&want.0), all(&want.1)),
                );
            }
        }
    }
    println!("seed {seed:#x}: {compared} calls compared");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Command that prints rows of the table, and fails if an error is above its limit.
#[test]
fn table() {
    if variable("GANTRY_ULP").is_none() {
        return;
    }
    let effort = Effort {
        stride: number_of("GANTRY_STRIDE", 1).max(1),
        random: number_of("GANTRY_PAIRS", 10_000_000),
        threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let seed = number_of("GANTRY_SEED", 0x13);
    let chosen = variable("GANTRY_TARGET").unwrap_or_default();
    let target = TARGETS.into_iter().find(|t| *t == chosen).unwrap_or("skl");
    println!("| function | type | worst ulp | limit | calls | instructions | Intel's |");
    println!("|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for f in functions::all() {
        for ty in Type::ALL {
            if !asked("GANTRY_FUNCTIONS", f.name) || !asked("GANTRY_TYPES", ty.name()) {
                continue;
            }
            let limit = f.limits[ty as usize];
            if limit.is_none() && f.limits.iter().any(Option::is_some) {
                continue;
            }
            let mut r = Rng(seed ^ ty as u64);
            let began = std::time::Instant::now();
            let found = measure(&f, ty, target, &effort, &mut r);
            wrong.extend(verdict(&f, ty, target, &found));
            let ours = calls(&f, ty, kernel::gantry(&f, ty, Form::of(target), 1), false);
            let theirs = match target {
                "skl" => calls(&f, ty, kernel::intel(&f, ty), true),
                _ => String::new(),
            };
            let limit = limit.map_or("-".to_owned(), |l| l.to_string());
            match found {
                Ok(found) => {
                    println!(
                        "| `{}` | {} | {:.3} | {limit} | {} | {ours} | {theirs} |",
                        f.name,
                        ty.name(),
                        found.worst,
                        found.checked
                    );
                    eprintln!(
                        "    {:.1} s; worst at {}",
                        began.elapsed().as_secs_f64(),
                        found.at
                    );
                }
                Err(e) => println!(
                    "| `{}` | {} | refused: {e} | {limit} | | | {theirs} |",
                    f.name,
                    ty.name()
                ),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} functions:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Instructions of a call for ordinary numbers, without those of the surrounding kernel.
fn calls(f: &Function, ty: Type, loaded: Result<Loaded, String>, intel: bool) -> String {
    let count = || -> Result<f64, String> {
        let loaded = loaded?;
        let around = kernel::around(f, ty, intel)?;
        let inputs = f
            .arguments
            .iter()
            .filter(|k| !matches!(k, Kind::OutFloat | Kind::OutInt));
        // From 0.3 to 0.9 nearly all functions are defined and nontrivial. `acosh` starts at 1.
        let more = f64::from(u8::from(f.name == "acosh"));
        let args: Vec<Vec<u64>> = inputs
            .enumerate()
            .map(|(n, k)| match k {
                Kind::Int => vec![3; 256],
                _ => (0..256)
                    .map(|i| ty.of(more + 0.3 + f64::from((i + 77 * n as i32) % 256) / 427.0))
                    .collect(),
            })
            .collect();
        Ok(loaded.run(&args)?.instructions - around)
    };
    match count() {
        Ok(n) => format!("{n:.0}"),
        Err(e) => e
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect(),
    }
}
