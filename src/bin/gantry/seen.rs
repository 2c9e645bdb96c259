//! Output of `gantry run` about a launch: statistics, a profile, a trace.

use crate::{Failure, print};
use clap::ValueEnum;
use gantry::isa::diag::Count;
use gantry::runtime::{
    Amount, Hazard, HazardKind, InstructionCount, LaunchStats, Report, Total, TraceEvent,
    TraceFilter, Watch,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::ops::RangeInclusive;

/// Format of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Lines and columns.
    Text,
    /// JSON object (for a trace, one a line).
    Json,
}

/// Returns the default format: text for a reader at a terminal, JSON for a program behind a pipe.
pub(crate) fn by_output() -> &'static str {
    if std::io::stdout().is_terminal() {
        "text"
    } else {
        "json"
    }
}

/// Observation of a launch: each option takes `=text` or `=json`; by default text at a terminal,
/// else JSON.
#[derive(clap::Args)]
pub(crate) struct WatchArgs {
    /// Print totals of what ran, by opcode and by message
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = by_output())]
    stats: Option<OutputFormat>,
    /// Print how often each source line (with debug information) and each instruction ran, and the
    /// modelled time of all threads
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = by_output())]
    profile: Option<OutputFormat>,
    /// Look for reads and writes that no scoreboard annotation (SWSB) waits for; the command fails
    /// if there are any
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = by_output())]
    check_hazards: Option<OutputFormat>,
    /// Print each instruction as it runs, with its channels and the values of its operands
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = by_output())]
    trace: Option<OutputFormat>,
    /// Trace only the group with this id: X[,Y[,Z]]
    #[arg(long, value_name = "X,Y,Z", value_parser = group, requires = "trace")]
    trace_group: Option<[u32; 3]>,
    /// Trace only the thread with this number in its group
    #[arg(long, value_name = "N", requires = "trace")]
    trace_thread: Option<u32>,
    /// Trace only the kernel of this name
    #[arg(long, value_name = "NAME", requires = "trace")]
    trace_kernel: Option<String>,
    /// Trace only instructions at these offsets in the kernel, in bytes: FIRST..LAST, as 0x40..0x80
    #[arg(long, value_name = "FIRST..LAST", value_parser = ip_range, requires = "trace")]
    trace_ip: Option<RangeInclusive<u32>>,
}

fn group(text: &str) -> Result<[u32; 3], String> {
    crate::run::dims(text, 0)
}

fn ip_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |s: &str| {
        let s = s.trim();
        let parsed = match s.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => s.parse(),
        };
        parsed.map_err(|_| format!("`{s}` is no offset"))
    };
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    Ok(number(first)?..=number(last)?)
}

impl WatchArgs {
    /// Returns the watch for the launch; `None` if nothing needs one.
    pub(crate) fn watch(&self, simulator: bool) -> Result<Option<Watch>, Failure> {
        let needed = self.profile.is_some() || self.trace.is_some() || self.check_hazards.is_some();
        if !simulator {
            return if needed {
                Err(Failure::new(
                    "--profile, --trace and --check-hazards need the simulator: --device sim",
                ))
            } else {
                Ok(None)
            };
        }
        let mut watch = Watch::new();
        if self.stats.is_some() || self.profile.is_some() {
            watch = watch.counts();
        }
        if self.profile.is_some() {
            watch = watch.cycles();
        }
        if self.check_hazards.is_some() {
            watch = watch.hazards();
        }
        if let Some(form) = self.trace {
            let filter = TraceFilter {
                kernel: self.trace_kernel.clone(),
                group: self.trace_group,
                thread: self.trace_thread,
                ip: self.trace_ip.clone(),
            };
            watch = watch.trace(filter, move |e| {
                // Standard output may be closed before the launch ends.
                let _ = match form {
                    OutputFormat::Text => writeln!(std::io::stdout(), "{e}"),
                    OutputFormat::Json => writeln!(std::io::stdout(), "{}", event(e)),
                };
            });
        }
        Ok((needed || self.stats.is_some()).then_some(watch))
    }

    /// Prints the observations of a launch. `hit` is true if its code was in the cache, where one
    /// was asked for.
    pub(crate) fn show(
        &self,
        kernel: &str,
        stats: Option<&LaunchStats>,
        report: Option<&Report>,
        hit: Option<bool>,
    ) -> Result<(), Failure> {
        let cache = hit.map(crate::input::hit_or_miss);
        if let (Some(form), Some(r)) = (self.profile, report) {
            print(&match form {
                OutputFormat::Text => profile_text(r),
                OutputFormat::Json => format!("{}\n", profile_json(r)),
            })?;
        }
        if let (Some(form), Some(s)) = (self.stats, stats) {
            print(&match form {
                OutputFormat::Text => stats_text(kernel, s, report, cache),
                OutputFormat::Json => format!("{}\n", stats_json(kernel, s, report, cache)),
            })?;
        }
        match (self.check_hazards, report) {
            (Some(form), Some(r)) => hazards(form, &r.hazards),
            _ => Ok(()),
        }
    }
}

fn amount(a: &Amount) -> Value {
    json!({
        "executed": a.executed,
        "channels": a.channels,
        "bytes_read": a.bytes_read,
        "bytes_written": a.bytes_written,
    })
}

/// Returns a JSON object with further entries.
fn with(mut object: Value, more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    if let Value::Object(map) = &mut object {
        map.extend(more.into_iter().map(|(k, v)| (k.to_owned(), v)));
    }
    object
}

fn totals(totals: &[Total]) -> Value {
    totals
        .iter()
        .map(|t| with(amount(&t.amount), [("name", json!(t.name))]))
        .collect()
}

fn stats_json(
    kernel: &str,
    s: &LaunchStats,
    report: Option<&Report>,
    cache: Option<&str>,
) -> Value {
    let all = json!({
        "kernel": kernel,
        "threads": s.threads,
        "instructions": s.instructions,
        "channels": s.channels,
        "sends": s.sends,
        "bytes_read": s.bytes_read,
        "bytes_written": s.bytes_written,
        "scratch_reads": s.scratch.reads,
        "scratch_writes": s.scratch.writes,
        "wall_seconds": s.wall_seconds,
    });
    let parts = report.map(|r| {
        [
            ("opcodes", totals(&r.by_opcode())),
            ("messages", totals(&r.by_message())),
        ]
    });
    let cache = cache.map(|c| ("cache", json!(c)));
    with(all, parts.into_iter().flatten().chain(cache))
}

const HEAD: &str = "  executed   channels bytes read  bytes written";

fn row(out: &mut String, a: &Amount, name: &str) {
    let _ = writeln!(
        out,
        "{:>10} {:>10} {:>10} {:>14}  {name}",
        a.executed, a.channels, a.bytes_read, a.bytes_written
    );
}

fn stats_text(
    kernel: &str,
    s: &LaunchStats,
    report: Option<&Report>,
    cache: Option<&str>,
) -> String {
    let cache = cache.map_or(String::new(), |c| format!(", cache {c}"));
    let mut out = format!(
        "{kernel}: {}, {}, {}, {}, {} read, {} written, {:.6} s{cache}\n",
        Count(s.threads, "thread"),
        Count(s.instructions, "instruction"),
        Count(s.channels, "channel"),
        Count(s.sends, "send"),
        Count(s.bytes_read, "byte"),
        Count(s.bytes_written, "byte"),
        s.wall_seconds
    );
    if let Some(r) = report {
        for (what, totals) in [("opcode", r.by_opcode()), ("message", r.by_message())] {
            let _ = writeln!(out, "{HEAD}  {what}");
            for t in totals {
                row(&mut out, &t.amount, &t.name);
            }
        }
    }
    out
}

fn profile_text(r: &Report) -> String {
    let mut out = format!(
        "modelled: {} of threads alone, {} of the unit that they use most\n",
        Count(r.cycles.alone, "cycle"),
        r.cycles.busy
    );
    let lines = r.by_line();
    if !lines.is_empty() {
        let _ = writeln!(out, "{HEAD}  line");
        for t in lines {
            row(&mut out, &t.amount, &t.name);
        }
    }
    let _ = writeln!(out, "{HEAD}  offset  instruction");
    for i in &r.instructions {
        row(&mut out, &i.amount, &format!("{:#06x}  {}", i.ip, i.text));
    }
    out
}

fn profile_json(r: &Report) -> Value {
    let line = |i: &InstructionCount| {
        with(
            amount(&i.amount),
            [
                ("kernel", json!(i.kernel)),
                ("ip", json!(i.ip)),
                ("instruction", json!(i.text)),
                ("message", json!(i.message)),
                ("line", json!(i.source.as_ref().map(ToString::to_string))),
            ],
        )
    };
    json!({
        "profile": r.instructions.iter().map(line).collect::<Value>(),
        "lines": totals(&r.by_line()),
        "cycles": { "alone": r.cycles.alone, "busy": r.cycles.busy },
    })
}

/// Prints hazards. Any hazard is a failure.
fn hazards(form: OutputFormat, found: &[Hazard]) -> Result<(), Failure> {
    print(&match form {
        OutputFormat::Text => found.iter().map(|h| format!("{h}\n")).collect(),
        OutputFormat::Json => format!("{}\n", hazards_json(found)),
    })?;
    match found.len() {
        0 => Ok(()),
        n => Err(Failure::new(Count(n, "scoreboard hazard"))),
    }
}

fn hazards_json(found: &[Hazard]) -> Value {
    let one = |h: &Hazard| {
        json!({
            "kernel": h.kernel,
            "group": h.group,
            "thread": h.thread,
            "ip": h.ip,
            "instruction": h.instruction,
            "kind": match h.kind {
                HazardKind::ReadAfterWrite => "RAW",
                HazardKind::WriteAfterWrite => "WAW",
                HazardKind::WriteAfterRead => "WAR",
            },
            "register": h.register.to_string(),
            "part": h.part,
            "earlier_ip": h.earlier_ip,
            "earlier": h.earlier,
            "cover": h.cover,
            "line": h.source.as_ref().map(ToString::to_string),
            "count": h.count,
        })
    };
    json!({ "hazards": found.iter().map(one).collect::<Value>() })
}

fn event(e: &TraceEvent<'_>) -> Value {
    let operands: Value = e
        .operands
        .iter()
        .map(|o| json!({ "name": o.name, "type": o.ty.to_string(), "values": o.values }))
        .collect();
    json!({
        "kernel": e.kernel,
        "group": e.group,
        "thread": e.thread,
        "ip": e.ip,
        "instruction": e.instruction,
        "line": e.source.as_ref().map(ToString::to_string),
        "mask": e.mask,
        "operands": operands,
    })
}
