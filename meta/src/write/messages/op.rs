//! Writer of the operations: enum, shared function, channels, payload lengths and text.

use super::super::Writer;
use super::super::isa::WriteError;
use crate::messages::expr::{Cond, Expr};
use crate::messages::row::{Arg, Message, Payload};
use crate::messages::{self, lsc, sampler};

/// Generates the source of `MsgOp`, and of the operations of sampler and load/store cache.
///
/// # Errors
/// Returns an error if a row breaks a rule.
pub fn message_ops() -> Result<String, WriteError> {
    let all = messages::all()?;
    let mut w = Writer::default();
    ops(&mut w, &all);
    w.line("impl MsgOp {");
    sfid(&mut w, &all);
    simd(&mut w, &all);
    access(&mut w, &all);
    lengths(&mut w, &all);
    w.line("}");
    display(&mut w, &all)?;
    lsc_ops(&mut w);
    sampler_ops(&mut w);
    Ok(w.finish())
}

fn is_tuple(m: &Message) -> bool {
    m.args.first().is_some_and(|a| a.name.is_empty())
}

fn ops(w: &mut Writer, all: &[Message]) {
    w.line("/// Operation of a message. Lengths are in [`Message`](super::Message).");
    w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]");
    w.line("pub enum MsgOp {");
    for m in all {
        w.line(format!("/// {}", m.doc));
        match &m.args[..] {
            [] => w.line(format!("{},", m.variant)),
            [one] if one.name.is_empty() => w.line(format!("{}({}),", m.variant, one.ty)),
            args => {
                w.line(format!("{} {{", m.variant));
                for a in args {
                    w.line(format!("/// {}", a.doc));
                    w.line(format!("{}: {},", a.name, a.ty));
                }
                w.line("},");
            }
        }
    }
    w.line("}");
}

/// Formats a pattern of a variant that binds arguments.
fn pattern(m: &Message, bound: &[&str]) -> String {
    let v = m.variant;
    match &m.args[..] {
        [] => format!("MsgOp::{v}"),
        _ if is_tuple(m) && bound.is_empty() => format!("MsgOp::{v}(_)"),
        _ if is_tuple(m) => format!("MsgOp::{v}(message)"),
        _ if bound.is_empty() => format!("MsgOp::{v} {{ .. }}"),
        args if args.len() == bound.len() => format!("MsgOp::{v} {{ {} }}", bound.join(", ")),
        _ => format!("MsgOp::{v} {{ {}, .. }}", bound.join(", ")),
    }
}

fn sfid(w: &mut Writer, all: &[Message]) {
    w.line("/// Shared function that receives it.");
    w.line("#[allow(unused_variables, unreachable_patterns, reason = \"patterns of whole rows\")]");
    w.line("pub fn sfid(&self) -> Sfid {");
    w.line("match *self {");
    for m in all {
        let forms: Vec<_> = m.forms.iter().filter(|f| f.value.is_some()).collect();
        let Some(first) = forms.first() else {
            w.line(format!("{} => sfid,", pattern(m, &["sfid"])));
            continue;
        };
        let of = |port: messages::Port| match port.sfid() {
            Some(name) => format!("Sfid::{name}"),
            None if is_tuple(m) => "message.port.sfid()".into(),
            None => "port.sfid()".into(),
        };
        // Forms on another port than the first one.
        for f in forms.iter().filter(|f| f.port != first.port) {
            if let Some(value) = f.value {
                w.line_at(format!("MsgOp::{value} => {},", of(f.port)), f.at);
            }
        }
        let bound: &[&str] = if first.port.sfid().is_none() {
            &["port"]
        } else {
            &[]
        };
        w.line(format!("{} => {},", pattern(m, bound), of(first.port)));
    }
    w.line("}");
    w.line("}");
}

fn simd(w: &mut Writer, all: &[Message]) {
    w.line("/// Returns the number of channels if the descriptor encodes it.");
    w.line("pub fn simd(&self) -> Option<Simd> {");
    w.line("match *self {");
    for m in all {
        match m.args.iter().find(|a| a.ty == "Simd") {
            Some(_) if is_tuple(m) => {
                w.line(format!("{} => Some(message),", pattern(m, &["message"])));
            }
            Some(a) => w.line(format!("{} => Some({}),", pattern(m, &[a.name]), a.name)),
            None => {}
        }
    }
    w.line("_ => None,");
    w.line("}");
    w.line("}");
}

/// Writes the access by an address model. A message with one and without a direction writes.
fn access(w: &mut Writer, all: &[Message]) {
    w.line(
        "/// Returns the address model of a message that has one, and true if it writes memory.",
    );
    w.line("pub fn access(&self) -> Option<(AddrModel, bool)> {");
    w.line("match *self {");
    let has = |m: &Message, name| m.args.iter().any(|a| a.name == name);
    for m in all.iter().filter(|m| has(m, "addr")) {
        if has(m, "dir") {
            let p = pattern(m, &["addr", "dir"]);
            w.line(format!("{p} => Some((addr, dir == Dir::Write)),"));
        } else {
            w.line(format!("{} => Some((addr, true)),", pattern(m, &["addr"])));
        }
    }
    w.line("_ => None,");
    w.line("}");
    w.line("}");
}

fn cond(c: Cond) -> String {
    match c {
        Cond::Flag(a) => a.into(),
        Cond::Is(a, v) => format!("{a} == {v}"),
        Cond::Page(a) => format!("{a}.is_page()"),
        Cond::A64 => "addr.is_a64()".into(),
    }
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Num(n) => format!("{n}_u32"),
        Expr::Arg(a) | Expr::Flag(a) => format!("u32::from({a})"),
        Expr::Count(a) => format!("{a}.count()"),
        Expr::Sources(a) => format!("{a}.sources()"),
        Expr::Channels => "simd.channels()".into(),
        Expr::AtomicChannels => "atomic_channels(simd, exec)".into(),
        Expr::Exec => "exec".into(),
        Expr::Grfs(e) => format!("u32::div_ceil({}, grf)", expr(e)),
        Expr::Times(a, b) if **b == Expr::Num(1) => expr(a),
        Expr::Times(a, b) => format!("{} * {}", factor(a), factor(b)),
        Expr::Plus(a, b) => format!("{} + {}", factor(a), factor(b)),
        Expr::Max(a, b) => format!("u32::max({}, {})", expr(a), expr(b)),
        Expr::If(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", cond(*c), expr(a), expr(b)),
        Expr::Writes(e) => format!("if dir == Dir::Write {{ {} }} else {{ 0 }}", expr(e)),
        Expr::Reads(e) => format!("if dir == Dir::Read {{ {} }} else {{ 0 }}", expr(e)),
    }
}

/// Formats a formula as an operand.
fn factor(e: &Expr) -> String {
    match e {
        Expr::Plus(..) | Expr::If(..) => format!("({})", expr(e)),
        _ => expr(e),
    }
}

fn lengths(w: &mut Writer, all: &[Message]) {
    for doc in [
        "/// Computes the payload lengths in GRFs for an instruction of `exec` channels.",
        "///",
        "/// `exec` matters for messages that do not encode the number of channels (load/store cache). An atomic of that cache has a response if it is asked for one. Lengths that the descriptor does not determine are 0: coordinates of typed messages, and all lengths of sampler, render target, media block and [`MsgOp::Raw`].",
    ] {
        w.line(doc);
    }
    w.line("pub fn lengths_for(&self, platform: Platform, exec: u32) -> Lengths {");
    w.line("let grf = platform.features().grf_bytes;");
    w.line("match *self {");
    for m in all {
        let Payload {
            header,
            address,
            data,
            response,
            hook,
        } = &m.payload;
        if let Some(hook) = hook {
            w.line(format!("{} => {hook},", pattern(m, &["message"])));
            continue;
        }
        let mut args = [address.args(), data.args(), response.args()].concat();
        args.sort_unstable();
        args.dedup();
        w.line(format!("{} => Lengths {{", pattern(m, &args)));
        w.line(format!("header: {header},"));
        w.line(format!("address: {},", expr(address)));
        w.line(format!("data: {},", expr(data)));
        w.line(format!("response: {},", expr(response)));
        w.line("},");
    }
    w.line("}");
    w.line("}");
}

/// Types whose text is their `name`.
const NAMED: [&str; 8] = [
    "AtomicOp",
    "FloatAtomicOp",
    "GatewayOp",
    "BlockUnit",
    "CcsOp",
    "LscFenceOp",
    "LscScope",
    "LscData",
];

/// Formats a placeholder as the text to print and the argument it reads. Placeholders are `{a}`,
/// `{a*8}`, `{a:#x}` (the low 32 bits), `{a?yes|no}` of a `bool`, and `{a=value?yes|no}`.
fn placeholder(m: &Message, p: &str) -> Result<(&'static str, String, Arg), WriteError> {
    let end = p.find(['?', '=', '*', ':']).unwrap_or(p.len());
    let (name, rest) = p.split_at(end);
    let found = m.args.iter().find(|a| a.name == name);
    let arg = found
        .ok_or_else(|| {
            format!(
                "{}: the text names `{name}`, which is no argument",
                m.variant
            )
        })?
        .clone();
    let of = if name.is_empty() { "message" } else { name };
    let choice = |test: String, texts: &str| {
        let (yes, no) = texts.split_once('|').unwrap_or((texts, ""));
        format!("if {test} {{ {yes:?} }} else {{ {no:?} }}")
    };
    let plain = match arg.ty {
        "Simd" => format!("{of}.channels()"),
        ty if NAMED.contains(&ty) => format!("{of}.name()"),
        _ => of.to_string(),
    };
    let (format, value) = match rest.split_at(rest.len().min(1)) {
        ("", _) => ("{}", plain),
        ("*", n) => ("{}", format!("u32::from({of}) * {n}")),
        (":", "#x") => ("{:#x}", format!("{of} as u32")),
        ("?", texts) => ("{}", choice(of.into(), texts)),
        ("=", rest) => {
            let (value, texts) = rest.split_once('?').unwrap_or((rest, ""));
            ("{}", choice(format!("{of} == {value}"), texts))
        }
        _ => return Err(format!("{}: no such placeholder `{p}`", m.variant).into()),
    };
    Ok((format, value, arg))
}

fn display(w: &mut Writer, all: &[Message]) -> Result<(), WriteError> {
    w.line("#[allow(clippy::uninlined_format_args, reason = \"the arguments are expressions\")]");
    w.line("impl fmt::Display for MsgOp {");
    w.line("fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {");
    w.line("match *self {");
    for m in all {
        let (mut format, mut values, mut args) = (String::new(), vec![], vec![]);
        let mut rest = m.text;
        while let Some((before, after)) = rest.split_once('{') {
            let (p, after) = after
                .split_once('}')
                .ok_or_else(|| format!("{}: a brace is open", m.variant))?;
            let (f, value, arg) = placeholder(m, p)?;
            format += before;
            format += f;
            values.push(value);
            args.push(arg.name);
            rest = after;
        }
        format += rest;
        args.sort_unstable();
        args.dedup();
        let does = if values.is_empty() {
            format!("f.write_str({format:?})")
        } else {
            format!("write!(f, {format:?}, {})", values.join(", "))
        };
        w.line(format!("{} => {does},", pattern(m, &args)));
    }
    w.line("}");
    w.line("}");
    w.line("}");
    Ok(())
}

fn lsc_ops(w: &mut Writer) {
    w.line("/// Operation of the load/store cache.");
    w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]");
    w.line("pub enum LscOp {");
    for o in &lsc::OPS {
        w.line(format!("/// `{}`: {}.", o.name, o.line));
        w.line(format!("{},", o.variant));
    }
    w.line("}");
    w.line("/// Operations by number (bits 5:0 of the descriptor).");
    w.line(format!(
        "pub(crate) static OPS: [LscRow; {}] = [",
        lsc::OPS.len()
    ));
    for o in &lsc::OPS {
        w.line(format!(
            "LscRow {{ op: LscOp::{}, name: {:?}, line: {:?}, kind: LscKind::{:?}, mask: {} }},",
            o.variant, o.name, o.line, o.kind, o.mask
        ));
    }
    w.line("];");
    w.line("/// Elements per address by number (bits 14:12 of the descriptor).");
    w.line(format!(
        "pub(crate) const VECTORS: [u8; 8] = {:?};",
        lsc::VECTORS
    ));
    for (name, doc, values) in [
        (
            "LscData",
            "Size of an element in memory and in registers, in the order of the numbers (bits 11:9 of the descriptor).",
            &lsc::DATA_SIZES[..],
        ),
        (
            "LscFenceOp",
            "Operation of a fence on caches, in the order of the numbers (bits 14:12 of the descriptor).",
            &lsc::FENCE_OPS[..],
        ),
        (
            "LscScope",
            "Scope of a fence, in the order of the numbers (bits 11:9 of the descriptor).",
            &lsc::SCOPES[..],
        ),
        (
            "CcsOp",
            "Compression control operation, in the order of the numbers (bits 19:17 of the descriptor).",
            &lsc::CCS_OPS[..],
        ),
    ] {
        w.line("named_enum! {");
        w.line(format!("/// {doc}"));
        w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]");
        w.line(format!("pub enum {name} {{"));
        for v in values {
            w.line(format!("/// {}", v.doc));
            w.line(format!("{} = {:?},", v.variant, v.name));
        }
        w.line("}");
        w.line("}");
    }
}

fn sampler_ops(w: &mut Writer) {
    w.line("/// Operation of the sampler (bits 16:12 of the descriptor).");
    w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]");
    w.line("pub enum SampleOp {");
    for o in &sampler::OPS {
        w.line(format!("/// `{}`: {}.", o.name, o.line));
        w.line(format!("{},", o.variant));
    }
    w.line("/// Number without a name here: the media operations, and those of SIMD32/64.");
    w.line("Other(u8),");
    w.line("}");
    w.line("/// Parameter of a sampler message: a value per channel.");
    w.line("#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]");
    w.line("pub enum SampleParam {");
    for p in sampler::Param::ALL {
        w.line(format!("/// {}", p.doc()));
        w.line(format!("{p:?},"));
    }
    w.line("}");
    let params = |params: &[sampler::Param]| {
        let names: Vec<String> = params
            .iter()
            .map(|p| format!("SampleParam::{p:?}"))
            .collect();
        format!("&[{}]", names.join(", "))
    };
    w.line("/// Operations of the sampler that have names.");
    w.line(format!(
        "pub(super) static SAMPLE_OPS: [SampleRow; {}] = [",
        sampler::OPS.len()
    ));
    for o in &sampler::OPS {
        let old = o.old.map_or("None".into(), |(gens, order)| {
            format!("Some(({:#05x}, {}))", gens.bits(), params(order))
        });
        let halves = o
            .halves
            .map_or("None".into(), |h| format!("Some({})", params(h)));
        w.line(format!(
            "SampleRow {{ op: SampleOp::{}, number: {:#04x}, name: {:?}, gens: {:#05x}, state: {}, params: {}, old: {old}, halves: {halves} }},",
            o.variant,
            o.number,
            o.name,
            o.gens.bits(),
            o.state,
            params(o.params),
        ));
    }
    w.line("];");
}
