//! Assembler: text to bytes.

use super::cursor::Cursor;
use super::parse::{Labels, ParsedLine, instruction};
use crate::compact::compact;
use crate::diag::{Diagnostic, Diagnostics, Span};
use crate::encode::{EncodeError, encode};
use crate::inst::{Inst, InstOpts, Src, Target};
use crate::platform::Platform;
use crate::reg::Reg;
use std::borrow::Cow;

/// Assembled program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assembled {
    /// Machine code.
    pub bytes: Vec<u8>,
    /// Instructions, with targets resolved.
    pub insts: Vec<Located>,
}

/// Instruction with its positions in program and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// Instruction.
    pub inst: Inst<Reg>,
    /// Offset from the start of the program, in bytes.
    pub offset: usize,
    /// Span of its opcode.
    pub span: Span,
}

/// Assembles a program in IGA syntax.
///
/// There is one instruction a line, with labels `name:` and comments `//` and `/* */`. A number as
/// a target is an offset in bytes from the instruction itself. `{Compacted}` selects the 8-byte
/// form, and is an error if there is none.
///
/// ```
/// use gantry_isa_gen::{Platform, text::assemble};
/// let a = assemble(Platform::Gen9, "loop:\n  (W) jmpi loop // for ever\n")?;
/// assert_eq!(a.bytes.len(), 16);
/// let e = assemble(Platform::Gen9, "mov (8|M0) r5.0<1>:f r6.0<8;8,1>:x\n").unwrap_err();
/// assert_eq!(e.to_string(), "1:34: unknown type `x`");
/// # Ok::<(), gantry_isa_gen::diag::Diagnostics>(())
/// ```
///
/// # Errors
/// Returns a located diagnostic for every line with an error.
pub fn assemble(platform: Platform, text: &str) -> Result<Assembled, Diagnostics> {
    let mut labels = Labels::default();
    let mut errors = Vec::new();
    // Most lines are instructions, aligned in columns.
    let few = text.len() / 64;
    let mut lines: Vec<(ParsedLine, usize)> = Vec::with_capacity(few);
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut offset = 0usize;
    let text = without_comments(text);
    for (n, l) in text.lines().enumerate() {
        let mut c = Cursor::new(l, n as u32 + 1);
        while let Some((name, span)) = label(&mut c) {
            let id = labels.id(name, span) as usize;
            if places.len() <= id {
                places.resize(id + 1, None);
            }
            match places.get_mut(id) {
                Some(p @ None) => *p = Some(offset),
                _ => errors.push(Diagnostic::new(
                    span,
                    format!("label `{name}` is defined twice"),
                )),
            }
        }
        if c.at_end() {
            continue;
        }
        match instruction(platform, c, &mut labels) {
            Ok(line) => {
                let short = line.inst.opts.contains(InstOpts::COMPACTED);
                lines.push((line, offset));
                offset += if short { 8 } else { 16 };
            }
            Err(e) => errors.push(e),
        }
    }
    for (id, (name, span)) in labels.first.iter().enumerate() {
        if places.get(id).copied().flatten().is_none() {
            errors.push(Diagnostic::new(
                *span,
                format!("label `{name}` is not defined"),
            ));
        }
    }
    let mut out = Assembled {
        bytes: Vec::with_capacity(offset),
        insts: Vec::with_capacity(lines.len()),
    };
    for (line, offset) in lines {
        match emit(platform, &line, offset, &places) {
            Ok((inst, native)) => {
                match native {
                    Bytes::Native(bytes) => out.bytes.extend_from_slice(&bytes),
                    Bytes::Compacted(bytes) => out.bytes.extend_from_slice(&bytes),
                }
                out.insts.push(Located {
                    inst,
                    offset,
                    span: line.span,
                });
            }
            // Missing labels have been reported already.
            Err(None) => {}
            Err(Some(e)) => errors.push(e),
        }
    }
    if errors.is_empty() {
        return Ok(out);
    }
    errors.sort_by_key(|e| (e.span.line, e.span.col));
    Err(Diagnostics(errors))
}

/// Parses one line with an instruction, optionally followed by a comment.
///
/// A label as a target becomes [`Target::Label`] with its index in the returned names. If the
/// absolute target of `calla` is a label, it becomes 0.
///
/// ```
/// use gantry_isa_gen::{Platform, text::{parse_inst, print_inst}};
/// let line = "        sync.allrd                           ($0,$3)                 {$5.dst}";
/// let (inst, _) = parse_inst(Platform::XeLp, line)?;
/// assert_eq!(print_inst(Platform::XeLp, &inst, &|_| String::new()), line);
/// # Ok::<(), gantry_isa_gen::diag::Diagnostic>(())
/// ```
///
/// # Errors
/// Returns a diagnostic about the line.
pub fn parse_inst(platform: Platform, line: &str) -> Result<(Inst<Reg>, Vec<String>), Diagnostic> {
    let text = without_comments(line);
    let mut labels = Labels::default();
    let line = instruction(platform, Cursor::new(&text, 1), &mut labels)?;
    let names = labels.first.iter().map(|(name, _)| name.to_string());
    Ok((line.inst, names.collect()))
}

/// Parses a label definition, if one comes next.
fn label<'a>(c: &mut Cursor<'a>) -> Option<(&'a str, Span)> {
    let mut ahead = c.clone();
    ahead.skip_blanks();
    let start = ahead.pos();
    let name = ahead.word();
    let span = ahead.span_from(start);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !ahead.eat_close(":") {
        return None;
    }
    *c = ahead;
    Some((name, span))
}

/// Bytes of an instruction.
enum Bytes {
    Native([u8; 16]),
    Compacted([u8; 8]),
}

/// Resolves the targets of an instruction and encodes it.
fn emit(
    platform: Platform,
    line: &ParsedLine,
    offset: usize,
    places: &[Option<usize>],
) -> Result<(Inst<Reg>, Bytes), Option<Diagnostic>> {
    let place = |id: u32| places.get(id as usize).copied().flatten().ok_or(None);
    let at = |span, message: String| Some(Diagnostic::new(span, message));
    let far = || at(line.span, "the target is too far away".into());
    let mut inst = line.inst;
    for s in &mut inst.srcs {
        if let Src::Target(Target::Label(id)) = *s {
            let distance = place(id)? as i64 - offset as i64;
            *s = Src::Target(Target::Rel(i32::try_from(distance).map_err(|_| far())?));
        }
    }
    if let (Some(id), Src::Imm { bits, .. }) = (line.absolute, &mut inst.srcs[0]) {
        *bits = u32::try_from(place(id)?).map_err(|_| far())?.into();
    }
    let native = encode(platform, &inst).map_err(|e| {
        let operand = match &e {
            EncodeError::Operand { operand, .. } => line.operands.of(operand),
            _ => None,
        };
        at(operand.unwrap_or(line.span), e.to_string())
    })?;
    if !inst.opts.contains(InstOpts::COMPACTED) {
        return Ok((inst, Bytes::Native(native)));
    }
    match compact(platform, &native) {
        Some(short) => Ok((inst, Bytes::Compacted(short))),
        None => Err(at(
            line.span,
            "the instruction has no compacted form".into(),
        )),
    }
}

/// Replaces comments by blanks, so that columns do not change.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("//") && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (code, comment) = rest.split_at(at);
        out.push_str(code);
        let end = match comment.as_bytes().get(1) {
            Some(b'/') => comment.find('\n').unwrap_or(comment.len()),
            Some(b'*') => comment.find("*/").map_or(comment.len(), |n| n + 2),
            _ => {
                out.push('/');
                rest = comment.get(1..).unwrap_or("");
                continue;
            }
        };
        let (comment, after) = comment.split_at(end);
        if comment.bytes().all(|b| b.is_ascii_graphic() || b == b' ') {
            out.extend(std::iter::repeat_n(' ', comment.len()));
        } else {
            out.extend(
                comment
                    .chars()
                    .map(|c| if c == '\n' || c == '\t' { c } else { ' ' }),
            );
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}
