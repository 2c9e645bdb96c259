//! Formats of `printf`: conversions, the values they take, and limits.

use crate::ir::{Data, DataRef, Module, Scalar, Type};
use gantry_isa_gen::printf::{Length, Spec};

/// Maximum length of a string in bytes, without its zero.
pub const MAX_STRING: usize = (16 << 10) - 1;
/// Maximum number of values of a `printf`.
pub const MAX_VALUES: usize = 64;
/// Maximum field width of a conversion.
pub const MAX_WIDTH: usize = 4 << 10;

/// Part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'a> {
    /// Literal text.
    Text(&'a [u8]),
    /// Conversion of a value.
    Value(Spec),
}

/// Parses a format.
///
/// # Errors
/// Returns an error for an invalid or unsupported conversion.
pub(crate) fn pieces(format: &[u8]) -> Result<Vec<Piece<'_>>, String> {
    let mut out = Vec::new();
    let mut rest = format;
    while !rest.is_empty() {
        let Some(at) = rest.iter().position(|&c| c == b'%') else {
            out.push(Piece::Text(rest));
            break;
        };
        let (text, conversion) = rest.split_at(at);
        if !text.is_empty() {
            out.push(Piece::Text(text));
        }
        let after = &conversion[1..];
        if let Some(tail) = after.strip_prefix(b"%") {
            out.push(Piece::Text(b"%"));
            rest = tail;
            continue;
        }
        let Some((spec, after)) = Spec::parse(after) else {
            let shown: Vec<u8> = conversion.iter().copied().take(8).collect();
            let shown = String::from_utf8_lossy(&shown).escape_debug().to_string();
            return Err(format!(
                "`{shown}` is no conversion; they are `%d %i %u %o %x %X %c %f %e %g %a %s %p %%`, with flags, width and precision as numbers, `v2 v3 v4 v8 v16`, and `hh h l z t j`"
            ));
        };
        if spec.characters() > MAX_WIDTH {
            return Err(format!(
                "a conversion of {} characters; {MAX_WIDTH} are the most",
                spec.characters()
            ));
        }
        let vectors = [0, 2, 3, 4, 8, 16];
        if !vectors.contains(&spec.vector()) {
            return Err(format!(
                "a vector of {} elements; they have 2, 3, 4, 8 or 16",
                spec.vector()
            ));
        }
        if spec.vector() > 0 && matches!(spec.conversion(), 'c' | 's' | 'p') {
            return Err(format!("there is no vector of `%{}`", spec.conversion()));
        }
        out.push(Piece::Value(spec));
        rest = after;
    }
    Ok(out)
}

/// Returns the scalar types that a conversion accepts.
pub(crate) fn takes(spec: &Spec) -> &'static [Scalar] {
    match (spec.conversion(), spec.length()) {
        ('s' | 'p', _) | ('d' | 'i' | 'u' | 'o' | 'x' | 'X', Length::Long) => &[Scalar::I64],
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X' | 'c', _) => &[Scalar::I32],
        _ => &[Scalar::F32, Scalar::F64],
    }
}

/// Number of elements that a conversion takes per lane.
pub(crate) fn elements(spec: &Spec) -> u32 {
    spec.vector().max(1) as u32
}

/// Returns a list, in words, of the types that a conversion accepts where `lanes` lanes print.
pub(crate) fn accepted(spec: &Spec, lanes: u32) -> String {
    let lanes = lanes * elements(spec);
    let types = takes(spec)
        .iter()
        .map(|&s| Type::clamped(s, lanes).to_string());
    types.collect::<Vec<_>>().join(" or ")
}

/// Returns the text of a string of a module, without its zero; `None` for other data.
pub(crate) fn string(data: Option<&Data>) -> Option<&[u8]> {
    let d = data.filter(|d| d.string)?;
    d.bytes.strip_suffix(&[0])
}

/// Returns the conversions of a module's format. Empty if the format does not verify.
pub(crate) fn conversions(module: &Module, format: DataRef) -> Vec<Spec> {
    let text = string(module.data.get(format)).unwrap_or(&[]);
    let pieces = pieces(text).unwrap_or_default().into_iter();
    let values = pieces.filter_map(|p| match p {
        Piece::Value(spec) => Some(spec),
        Piece::Text(_) => None,
    });
    values.collect()
}
