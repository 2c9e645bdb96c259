//! Writer of the codec: a decoder of each port, and an encoder of each message.

use super::super::Writer;
use super::super::isa::WriteError;
use super::bits;
use crate::generation::{ALL, Gens};
use crate::messages;
use crate::messages::field::{Codec, Entry, Field, Missing};
use crate::messages::row::{Form, Message, Port};

/// Generates the source of the functions that decode and encode descriptors.
///
/// # Errors
/// Returns an error if a row breaks a rule.
pub fn message_codec() -> Result<String, WriteError> {
    let all = messages::all()?;
    let mut w = Writer::default();
    let ports: Vec<Port> = Port::ALL
        .into_iter()
        .filter(|p| {
            all.iter()
                .flat_map(|m| &m.forms)
                .any(|f| f.port == *p && f.has_codec())
        })
        .collect();
    dispatch(&mut w, &ports);
    for p in ports {
        let forms: Vec<&Form> = all
            .iter()
            .flat_map(|m| &m.forms)
            .filter(|f| f.port == p && f.has_codec())
            .collect();
        port(&mut w, p, &forms);
    }
    encoders(&mut w, &all);
    Ok(w.finish())
}

fn function(p: Port) -> String {
    format!("{p:?}").to_lowercase()
}

fn on(gens: Gens) -> String {
    format!("on({:#05x})", gens.bits())
}

fn dispatch(w: &mut Writer, ports: &[Port]) {
    w.line("/// Decodes descriptors, or returns `None` for a kind that has no variant.");
    w.line("pub(super) fn decode_op(platform: Platform, sfid: Sfid, w: u64) -> Result<Option<MsgOp>, MessageError> {");
    w.line("let on = |gens: u16| gens >> platform.column() & 1 == 1;");
    for p in ports.iter().filter(|p| p.sfid().is_none()) {
        w.line(format!(
            "if {} && let Some(port) = LscPort::of_sfid(sfid) {{",
            on(p.gens())
        ));
        w.line(format!(
            "return decode_{}(platform, port, w);",
            function(*p)
        ));
        w.line("}");
    }
    w.line("match sfid {");
    for p in ports {
        let Some(name) = p.sfid() else { continue };
        let guard = if p.gens() == ALL {
            String::new()
        } else {
            format!(" if {}", on(p.gens()))
        };
        w.line(format!(
            "Sfid::{name}{guard} => decode_{}(platform, w),",
            function(*p)
        ));
    }
    w.line("_ => Ok(None),");
    w.line("}");
    w.line("}");
}

const ALLOW: &str = "#[allow(unused_variables, unused_mut, clippy::collapsible_match, clippy::bool_comparison, clippy::identity_op, clippy::needless_return, clippy::single_match, clippy::too_many_lines, reason = \"a line for each field of the rows\")]";

fn port(w: &mut Writer, p: Port, forms: &[&Form]) {
    w.line(ALLOW);
    let own = if p.sfid().is_none() {
        "port: LscPort, "
    } else {
        ""
    };
    w.line(format!(
        "fn decode_{}(platform: Platform, {own}w: u64) -> Result<Option<MsgOp>, MessageError> {{",
        function(p)
    ));
    w.line("let on = |gens: u16| gens >> platform.column() & 1 == 1;");
    w.line("let modes = SimdModes::of(platform);");
    let unnumbered = |f: &&&Form| f.number.is_none();
    for f in forms
        .iter()
        .filter(unnumbered)
        .filter(|f| f.selects().next().is_some())
    {
        decode(w, p, f);
    }
    let mut numbers: Vec<u8> = forms.iter().filter_map(|f| f.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.is_empty() {
        let (lo, len) = p.number();
        w.line(format!("match bits(w, {lo}, {len}) {{"));
        for n in numbers {
            w.line(format!("{n:#04x} => {{"));
            for f in forms.iter().filter(|f| f.number == Some(n)) {
                if !decode(w, p, f) {
                    break;
                }
            }
            w.line("}");
        }
        w.line("_ => {}");
        w.line("}");
    }
    let mut goes_on = true;
    for f in forms
        .iter()
        .filter(unnumbered)
        .filter(|f| f.selects().next().is_none())
    {
        goes_on &= decode(w, p, f);
    }
    if goes_on {
        w.line("Ok(None)");
    }
    w.line("}");
}

/// Formats a field with its bits as errors name it.
fn label(f: &Field) -> String {
    let places: Vec<String> = f
        .parts
        .iter()
        .map(|(lo, len)| match len {
            1 => lo.to_string(),
            _ => format!("{}:{lo}", lo + len - 1),
        })
        .collect();
    format!("{} {}", f.labels.0, places.join(", "))
}

fn values(e: &Entry) -> String {
    match &e.values[..] {
        [one] => (*one).into(),
        all => format!("({})", all.join(", ")),
    }
}

fn guard(gens: Gens) -> String {
    if gens == ALL {
        String::new()
    } else {
        format!(" if {}", on(gens))
    }
}

/// Writes the decoding of a form. Returns true if other descriptors go on to the next form.
fn decode(w: &mut Writer, p: Port, f: &Form) -> bool {
    let mut tests = vec![];
    if f.gens != p.gens() {
        tests.push(on(f.gens));
    }
    for field in &f.fields {
        match &field.codec {
            Codec::Select(v) => tests.push(format!("{} == {v}", bits(field))),
            Codec::Table {
                entries,
                choose: true,
                ..
            } => {
                let alternatives: Vec<String> = entries
                    .iter()
                    .map(|e| {
                        let is = format!("{} == {}", bits(field), e.bits);
                        if e.gens == ALL {
                            is
                        } else {
                            format!("{is} && {}", on(e.gens))
                        }
                    })
                    .collect();
                tests.push(format!("({})", alternatives.join(" || ")));
            }
            _ => {}
        }
    }
    let conditional = !tests.is_empty();
    if conditional {
        w.line_at(format!("if {} {{", tests.join(" && ")), f.at);
    }
    for field in turns(f) {
        decode_field(w, f, field);
    }
    match (f.value, f.fields.iter().find(|x| !x.labels.0.is_empty())) {
        (Some(value), _) => w.line_at(format!("return Ok(Some(MsgOp::{value}));"), f.at),
        (None, Some(x)) => w.line_at(
            format!(
                "return reserved({:?}, {:?}, {});",
                f.name,
                label(x),
                bits(x)
            ),
            f.at,
        ),
        (None, None) => {}
    }
    if conditional {
        w.line("}");
    }
    conditional
}

/// Returns the fields by their turns.
fn turns(f: &Form) -> Vec<&Field> {
    let mut fields: Vec<&Field> = f.fields.iter().collect();
    fields.sort_by_key(|x| x.turn);
    fields
}

fn decode_field(w: &mut Writer, form: &Form, f: &Field) {
    let name = f.of.unwrap_or(form.name);
    let mut bits = bits(f);
    let label = label(f);
    let fail = format!("return reserved({name:?}, {label:?}, v)");
    let to = match &f.args[..] {
        // A reserved form has no use for its values.
        [one] if form.reserved => format!("_{one}"),
        [one] => (*one).to_string(),
        args => format!("({})", args.join(", ")),
    };
    match &f.codec {
        Codec::None | Codec::Select(_) | Codec::Always(_) | Codec::Reserved => return,
        Codec::Table { .. } if form.reserved => return,
        _ if f.parts.len() > 1 => {
            w.line_at(format!("let all = {bits};"), form.at);
            bits = "all".into();
        }
        _ => {}
    }
    let value = match &f.codec {
        Codec::None | Codec::Select(_) | Codec::Always(_) | Codec::Reserved => return,
        Codec::Clear(v) => (*v).to_string(),
        Codec::Flag => format!("{bits} == 1"),
        Codec::Uint(ty) => format!("{bits} as {ty}"),
        Codec::Log2(max) if f.parts.iter().all(|(_, len)| (1u32 << len) - 1 <= *max) => {
            format!("1u8 << {bits}")
        }
        Codec::Log2(max) => {
            format!("match {bits} {{ v if v > {max} => {fail}, v => 1u8 << v }}")
        }
        Codec::Simd(false) => format!("modes.simd2({bits})"),
        Codec::Simd(true) => format!("modes.simd2(1 - {bits})"),
        Codec::Simd3 => format!(
            "match {bits} {{ 0 => return Ok(None), 1 => modes.full, 2 => modes.small, v => {fail} }}"
        ),
        Codec::Small if f.parts.is_empty() => "modes.small".into(),
        Codec::Small => format!("match {bits} {{ 0 => modes.small, v => {fail} }}"),
        Codec::Simd16 => format!("if {bits} == 0 {{ Simd::S8 }} else {{ Simd::S16 }}"),
        Codec::Mask => format!("components({name:?}, {label:?}, {bits})?"),
        Codec::Surface => format!("Surface::from_bits({bits} as u8)"),
        Codec::Stateless => format!("stateless({bits})?"),
        Codec::Enum(ty) => format!(
            "match {ty}::ALL.get({bits} as usize) {{ Some(v) => *v, None => {{ let v = {bits}; {fail}; }} }}"
        ),
        Codec::Table { entries, .. } => {
            let arms: Vec<String> = entries
                .iter()
                .map(|e| format!("{}{} => {}", e.bits, guard(e.gens), values(e)))
                .collect();
            format!("match {bits} {{ {}, v => {fail} }}", arms.join(", "))
        }
        Codec::OneOf(all) => {
            let arms: Vec<String> = all
                .iter()
                .map(|(v, gens)| format!("{v}{} => {v}", guard(*gens)))
                .collect();
            format!("match {bits} {{ {}, v => {fail} }}", arms.join(", "))
        }
        Codec::Hook { decode, .. } => decode.replacen("{}", &bits, 1),
    };
    w.line_at(format!("let {to} = {value};"), form.at);
}

fn encoders(w: &mut Writer, all: &[Message]) {
    w.line(
        "/// Encodes the bits of an operation: the descriptor, and the extended one in bits 63:32.",
    );
    w.line("pub(super) fn encode_op(platform: Platform, message: &MsgOp) -> Result<u64, MessageError> {");
    w.line("match message {");
    for m in all
        .iter()
        .filter(|m| m.forms.iter().any(|f| f.value.is_some()))
    {
        let rest = match &m.args[..] {
            [] => "",
            [one] if one.name.is_empty() => "(_)",
            _ => " { .. }",
        };
        w.line(format!(
            "MsgOp::{}{rest} => encode_{}(platform, message),",
            m.variant,
            m.variant.to_lowercase()
        ));
    }
    w.line("MsgOp::Raw { control, .. } => Ok(*control),");
    w.line("}");
    w.line("}");
    for m in all {
        let forms: Vec<&Form> = m.forms.iter().filter(|f| f.value.is_some()).collect();
        if !forms.is_empty() {
            encoder(w, m, &forms);
        }
    }
}

fn encoder(w: &mut Writer, m: &Message, forms: &[&Form]) {
    w.line(ALLOW);
    w.line("#[allow(unreachable_patterns, reason = \"the forms may be all cases\")]");
    w.line(format!(
        "fn encode_{}(platform: Platform, message: &MsgOp) -> Result<u64, MessageError> {{",
        m.variant.to_lowercase()
    ));
    w.line("let on = |gens: u16| gens >> platform.column() & 1 == 1;");
    w.line("let modes = SimdModes::of(platform);");
    w.line("match *message {");
    for f in forms {
        encode(w, f);
    }
    w.line("_ => unsupported(platform, message.to_string()),");
    w.line("}");
    w.line("}");
}

fn encode(w: &mut Writer, f: &Form) {
    let Some(value) = f.value else { return };
    let mut guards = vec![];
    for field in &f.fields {
        match &field.codec {
            Codec::Small => guards.push("simd == modes.small".to_string()),
            Codec::Table { entries, .. } if field.args.len() == 2 => {
                let mut firsts: Vec<&str> = entries.iter().map(|e| e.values[0]).collect();
                firsts.sort_unstable();
                firsts.dedup();
                guards.push(format!(
                    "matches!({}, {})",
                    field.args[0],
                    firsts.join(" | ")
                ));
            }
            _ => {}
        }
    }
    let guard = if guards.is_empty() {
        String::new()
    } else {
        format!(" if {}", guards.join(" && "))
    };
    w.line_at(format!("MsgOp::{value}{guard} => {{"), f.at);
    if f.gens != ALL {
        let what = match f.lacks {
            "" => "message.to_string()".into(),
            text => format!("{text:?}.to_owned()"),
        };
        w.line(format!(
            "if !{} {{ return unsupported(platform, {what}); }}",
            on(f.gens)
        ));
    }
    let mut fixed = 0u64;
    if let Some(n) = f.number {
        fixed |= u64::from(n) << f.port.number().0;
    }
    for field in &f.fields {
        if let (Codec::Select(v) | Codec::Always(v), Some((lo, _))) =
            (&field.codec, field.parts.first())
        {
            fixed |= u64::from(*v) << lo;
        }
    }
    w.line(format!("let mut w = {fixed:#x}u64;"));
    for field in turns(f) {
        encode_field(w, f, field);
    }
    w.line("Ok(w)");
    w.line("}");
}

fn encode_field(w: &mut Writer, form: &Form, f: &Field) {
    let name = f.of.unwrap_or(form.name);
    let label = f.labels.1;
    let len: u8 = f.parts.iter().map(|(_, len)| len).sum();
    let arg = match &f.args[..] {
        [one] => (*one).to_string(),
        args => format!("({})", args.join(", ")),
    };
    let last = f.args.last().copied().unwrap_or_default();
    let value = match &f.codec {
        Codec::None | Codec::Select(_) | Codec::Always(_) | Codec::Reserved | Codec::Small => {
            return;
        }
        Codec::Clear(v) => {
            w.line(format!(
                "if {arg} != {v} {{ return range({name:?}, {label:?}, u64::from({arg})); }}"
            ));
            return;
        }
        Codec::Flag => format!("u32::from({arg})"),
        Codec::Uint("u8") if len == 8 => format!("u32::from({arg})"),
        Codec::Uint(_) => format!("fit({name:?}, {label:?}, u64::from({arg}), {len})?"),
        Codec::Log2(max) => format!("log2_count({name:?}, {label:?}, {arg}, {max})?"),
        Codec::Simd(false) => format!("modes.bit(platform, message, {arg})?"),
        Codec::Simd(true) => format!("1 - modes.bit(platform, message, {arg})?"),
        Codec::Simd3 => format!("2 - modes.bit(platform, message, {arg})?"),
        Codec::Simd16 => format!("u32::from({arg} == Simd::S16)"),
        Codec::Mask => format!("u32::from(!{arg}.mask() & 0xf)"),
        Codec::Surface => format!("surface_bits(AddrModel::A32({arg}))?"),
        Codec::Stateless => format!("surface_bits(AddrModel::A64({arg}))?"),
        Codec::Enum(_) => format!("{arg} as u32"),
        Codec::Table {
            entries, missing, ..
        } => {
            let arms: Vec<String> = entries
                .iter()
                .map(|e| format!("{}{} => {}u32", values(e), guard(e.gens), e.bits))
                .collect();
            let rest = match missing {
                Missing::Range(label) => {
                    format!("_ => return range({name:?}, {label:?}, u64::from({last})),")
                }
                Missing::Lacks(what) => format!("_ => return unsupported(platform, {what}),"),
                Missing::Never => String::new(),
            };
            format!("match {arg} {{ {}, {rest} }}", arms.join(", "))
        }
        Codec::OneOf(all) => {
            let arms: Vec<String> = all
                .iter()
                .map(|(v, gens)| format!("{v}{} => {v}u32", guard(*gens)))
                .collect();
            format!(
                "match {arg} {{ {}, _ => return range({name:?}, {label:?}, u64::from({arg})) }}",
                arms.join(", ")
            )
        }
        Codec::Hook { encode, .. } => encode.replacen("{}", &arg, 1),
    };
    if let [(lo, _)] = f.parts[..] {
        w.line_at(format!("w |= u64::from({value}) << {lo};"), form.at);
        return;
    }
    w.line_at(format!("let v = u64::from({value});"), form.at);
    let mut shift = len;
    for (lo, len) in &f.parts {
        shift -= len;
        w.line(format!(
            "w |= (v >> {shift} & {:#x}) << {lo};",
            (1u64 << len) - 1
        ));
    }
}
