//! Figures of compiled kernels: `gantry compile --stats`.

use crate::Failure;
use crate::seen::OutputFormat;
use gantry::codegen::ir::Module;
use gantry::codegen::report::{AllocationReport, Held};
use gantry::codegen::{CompileOptions, Compiled, KernelStats};
use gantry::isa::diag::Count;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Prints the figures of each kernel.
pub(crate) fn print(
    form: OutputFormat,
    module: &Module,
    compiled: &Compiled,
    options: &CompileOptions,
) -> Result<(), Failure> {
    let threads = options.target.features().eu_threads;
    for k in &compiled.kernels {
        crate::print(&match form {
            OutputFormat::Text => text(&k.name, &k.stats, threads),
            OutputFormat::Json => format!("{}\n", object(module, &k.name, &k.stats, threads)),
        })?;
    }
    Ok(())
}

/// Returns the figures of a kernel as lines of text, for EUs of `threads` threads.
fn text(name: &str, s: &KernelStats, threads: u32) -> String {
    let spilled = &s.spilled;
    let mut out = format!(
        "{name}: SIMD{}, {}, {} of code, {} of registers at most",
        s.simd_width,
        Count(s.instructions, "instruction"),
        Count(s.bytes, "byte"),
        Count(s.grf_bytes_demand, "byte"),
    );
    if let Some(c) = s.cycles {
        let _ = write!(out, ", {}", Count(c.of_threads(threads), "modelled cycle"));
    }
    let _ = writeln!(
        out,
        "\n{name}: {}, {}, {}, {} of scratch",
        Count(spilled.registers, "spilled register"),
        Count(spilled.stores, "store"),
        Count(spilled.fills, "fill"),
        Count(spilled.scratch, "byte"),
    );
    for broken in &s.simd_cf {
        let _ = writeln!(out, "{name}: {broken}");
    }
    let _ = writeln!(out, "   seconds  stage");
    for (stage, time) in &s.stages {
        let _ = writeln!(out, "{:>10.6}  {stage}", time.as_secs_f64());
    }
    if !s.passes.is_empty() {
        let _ = writeln!(out, "   seconds    changes  pass");
    }
    for p in &s.passes {
        let seconds = p.time.as_secs_f64();
        let _ = writeln!(out, "{seconds:>10.6} {:>10}  {}", p.changes, p.pass.name());
    }
    out
}

/// Limit on the points of the demand curve.
const CURVE: usize = 256;

fn held(h: &Held) -> Value {
    json!({
        "value": h.value.map(|v| v.to_string()),
        "register": h.register,
        "bytes": h.bytes,
    })
}

/// Returns the results of register allocation.
fn allocation(module: &Module, r: &AllocationReport, s: &KernelStats) -> Value {
    let source = |loc| module.source_line(loc).map(|l| l.to_string());
    let all = |list: &[Held]| list.iter().map(held).collect::<Vec<_>>();
    let step = r.demand.len().div_ceil(CURVE).max(1);
    let curve: Vec<u32> = r
        .demand
        .chunks(step)
        .filter_map(|c| c.iter().copied().max())
        .collect();
    let spilled = r.spilled.iter().map(|v| {
        json!({
            "value": held(&v.held),
            "slot": v.slot,
            "fills": v.fills,
            "stores": v.stores,
            "remats": v.remats,
            "left_for": v.left_for,
            "source": source(v.loc),
            "forced_by": all(&v.forced_by),
        })
    });
    json!({
        "file_bytes": r.file,
        "demand_curve": { "instructions_a_step": step, "bytes": curve },
        "peak": {
            "bytes": r.peak.bytes,
            "instruction": r.peak.instruction,
            "text": r.peak.text,
            "source": source(r.peak.loc),
            "live": all(&r.peak.live),
        },
        "live_bytes": r.live,
        "used_bytes": r.used,
        "fragmentation_bytes": r.used.saturating_sub(r.live),
        "scratch_bytes_per_work_item": f64::from(s.spilled.scratch) / f64::from(s.simd_width.max(1)),
        "spilled": spilled.collect::<Vec<_>>(),
    })
}

/// Returns the figures of a kernel as a JSON object, for EUs of `threads` threads.
fn object(module: &Module, name: &str, s: &KernelStats, threads: u32) -> Value {
    let stages: Map<String, Value> = (s.stages.iter())
        .map(|(stage, time)| ((*stage).to_owned(), json!(time.as_secs_f64())))
        .collect();
    let passes: Map<String, Value> = (s.passes.iter())
        .map(|p| {
            let did = json!({ "changes": p.changes, "seconds": p.time.as_secs_f64() });
            (p.pass.name().to_owned(), did)
        })
        .collect();
    json!({
        "kernel": name,
        "compile_seconds": stages,
        "passes": passes,
        "instructions": s.instructions,
        "bytes": s.bytes,
        "grf_bytes_demand": s.grf_bytes_demand,
        "scratch_bytes": s.spilled.scratch,
        "spill_bytes": s.spilled.bytes,
        "spilled_registers": s.spilled.registers,
        "fills": s.spilled.fills,
        "stores": s.spilled.stores,
        "remats": s.spilled.remats,
        "moves": s.moves,
        "splits": s.splits,
        "allocation": s.report.as_ref().map(|r| allocation(module, r, s)),
        "cycles": s.cycles.map(|c| c.alone),
        "cycles_of_threads": s.cycles.map(|c| c.of_threads(threads)),
        "simd_width": s.simd_width,
        "simd_cf_by_flags": s.simd_cf.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
