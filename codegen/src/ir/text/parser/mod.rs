//! Parser of modules.
//!
//! Errors are collected, at most one per line, and parsing continues with the next line. A function
//! is parsed in two steps: first its lines, then (`define`) the types of its values. Values may be
//! used above the line that defines them.

mod data;
mod define;
mod function;
mod operands;

use super::lexer::{Token, lex};
use super::literal;
use crate::ir::{Block, DataRef, FuncRef, Inst, Module, SourceFile, SourceLoc, Type};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::diag::{Diagnostic, Diagnostics, Span};
use std::collections::HashMap;

/// Maximum number of a value or block. Keeps a text from asking for all memory.
const MAX_NUMBER: u32 = 1 << 20;

/// Spans of the parts of a function in the text.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// Header of the function.
    pub header: Span,
    /// Labels of blocks.
    pub blocks: SecondaryMap<Block, Span>,
    /// Opcodes of instructions.
    pub insts: SecondaryMap<Inst, Span>,
    /// Range in `spans` of the value operands of an instruction.
    operands: SecondaryMap<Inst, (u32, u32)>,
    spans: Vec<Span>,
}

impl SourceMap {
    /// Returns the span of the n-th value operand of an instruction, if the text has it. Operands
    /// are in the order of `InstData::for_each_arg`.
    pub fn operand(&self, inst: Inst, n: usize) -> Option<Span> {
        let (start, end) = self.operands[inst];
        let spans = self.spans.get(start as usize..end as usize)?;
        spans.get(n).copied()
    }
}

impl SourceMap {
    /// Reorders the spans of the last operands. `marks` has the start of each part in the text, and
    /// the part's place among the operands of the instruction.
    fn reorder(&mut self, marks: &[(usize, usize)]) {
        let Some(&(_, first)) = marks.first() else {
            return;
        };
        let ends = marks.iter().skip(1).map(|m| m.1);
        let ends = ends.chain([self.spans.len()]);
        let mut parts: Vec<(usize, Vec<Span>)> = marks
            .iter()
            .zip(ends)
            .map(|(&(place, start), end)| {
                let part = self.spans.get(start..end).unwrap_or_default();
                (place, part.to_vec())
            })
            .collect();
        parts.sort_by_key(|p| p.0);
        self.spans.truncate(first);
        self.spans.extend(parts.into_iter().flat_map(|p| p.1));
    }
}

/// Parsed module with its spans.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The functions.
    pub module: Module,
    /// Spans of each function, in module order.
    pub maps: Vec<SourceMap>,
    /// Span of each piece of data, in module order.
    pub data: Vec<Span>,
    /// Span of each source file name, in module order.
    pub files: Vec<Span>,
}

impl Parsed {
    /// Sets each instruction's source location to its line of this text, with `file` as the name of
    /// the text. Functions that have source locations keep them.
    pub fn locate(&mut self, file: &str) {
        if self.module.files.len() >= SourceLoc::MOST_FILES {
            return;
        }
        let file = self.module.source_file(file);
        for (func, map) in self.module.functions.values_mut().zip(&self.maps) {
            if func.has_srclocs() {
                continue;
            }
            for n in 0..func.dfg.num_insts() {
                let inst = Inst::from_u32(n as u32);
                let Span { line, col, .. } = map.insts[inst];
                let column = u16::try_from(col).unwrap_or(0);
                func.set_srcloc(inst, SourceLoc::new(file, line, column));
            }
        }
    }
}

/// Parses a text.
///
/// # Errors
/// Returns a diagnostic for every line with an error.
pub fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    let tokens = lex(text);
    let mut p = Parser {
        tokens: &tokens,
        at: 0,
        errors: Vec::new(),
        names: HashMap::new(),
        data: HashMap::new(),
        results: Vec::new(),
        entities: 0,
        data_bytes: 0,
    };
    p.collect_names();
    let mut out = Parsed::default();
    loop {
        while p.peek() == Token::Newline {
            p.at += 1;
        }
        if p.peek() == Token::End {
            break;
        }
        let before = p.at;
        if p.at_file() {
            let span = p.span();
            match p.source_file(SourceFile::new(out.module.files.len())) {
                Ok(name) => {
                    out.files.push(span);
                    out.module.files.push(name);
                }
                Err(e) => {
                    p.errors.push(e);
                    p.skip_item(before);
                }
            }
            continue;
        }
        if matches!(p.peek(), Token::Word("const" | "global")) {
            match p.module_data() {
                Ok(d) => {
                    out.data
                        .push(p.tokens.get(before).map_or(Span::default(), |t| t.1));
                    out.module.data.push(d);
                }
                Err(e) => {
                    p.errors.push(e);
                    p.skip_item(before);
                }
            }
            continue;
        }
        match p.function() {
            Ok((f, map)) => {
                out.module.functions.push(f);
                out.maps.push(map);
            }
            Err(e) => {
                p.errors.push(e);
                p.skip_item(before);
            }
        }
    }
    p.errors.sort_by_key(|e| (e.span.line, e.span.col));
    if p.errors.is_empty() {
        Ok(out)
    } else {
        Err(Diagnostics(p.errors))
    }
}

/// Result of a parser.
pub(crate) type Res<T> = Result<T, Diagnostic>;

/// Parser of a text.
pub(crate) struct Parser<'a> {
    tokens: &'a [(Token<'a>, Span)],
    at: usize,
    errors: Vec<Diagnostic>,
    names: HashMap<&'a str, FuncRef>,
    data: HashMap<&'a str, DataRef>,
    /// Result types of each function, for calls.
    results: Vec<Vec<Type>>,
    /// Number of blocks and values so far, including those that no line names.
    entities: usize,
    /// Bytes of data so far.
    data_bytes: usize,
}

fn number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl<'a> Parser<'a> {
    pub(in crate::ir) fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).map_or(Token::End, |t| t.0)
    }

    /// Skips the next token.
    pub(in crate::ir) fn skip(&mut self) {
        self.at += 1;
    }

    pub(in crate::ir) fn span(&self) -> Span {
        let last = self.tokens.last();
        self.tokens
            .get(self.at)
            .or(last)
            .map_or(Span::default(), |t| t.1)
    }

    pub(in crate::ir) fn error<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Diagnostic::new(self.span(), message))
    }

    pub(in crate::ir) fn found(&self) -> String {
        match self.peek() {
            Token::Word(w) | Token::Number(w) => format!("`{w}`"),
            Token::Text(w) => format!("`\"{w}\"`"),
            Token::Name(w) => format!("`%{w}`"),
            Token::Punct(c) | Token::Bad(c) => format!("`{c}`"),
            Token::Arrow => "`->`".to_string(),
            Token::Newline => "the end of the line".to_string(),
            Token::End => "the end of the text".to_string(),
        }
    }

    pub(in crate::ir) fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Token::Punct(c);
        self.at += usize::from(hit);
        hit
    }

    pub(in crate::ir) fn eat_word(&mut self, w: &str) -> bool {
        let hit = self.peek() == Token::Word(w);
        self.at += usize::from(hit);
        hit
    }

    pub(in crate::ir) fn expect(&mut self, c: char) -> Res<()> {
        if self.eat(c) {
            return Ok(());
        }
        self.error(format!("expected `{c}`, found {}", self.found()))
    }

    fn end_of_line(&mut self) -> Res<()> {
        match self.peek() {
            Token::Newline => {
                self.at += 1;
                Ok(())
            }
            Token::End => Ok(()),
            _ => self.error(format!(
                "expected the end of the line, found {}",
                self.found()
            )),
        }
    }

    fn word(&mut self, what: &str) -> Res<&'a str> {
        match self.peek() {
            Token::Word(w) => {
                self.at += 1;
                Ok(w)
            }
            _ => self.error(format!("expected {what}, found {}", self.found())),
        }
    }

    pub(in crate::ir) fn int<T: TryFrom<i64>>(&mut self, what: &str) -> Res<T> {
        let Token::Number(n) = self.peek() else {
            return self.error(format!("expected {what}, found {}", self.found()));
        };
        let value = n.parse::<i64>().ok().and_then(|v| T::try_from(v).ok());
        match value {
            Some(v) => {
                self.at += 1;
                Ok(v)
            }
            None => self.error(format!("`{n}` is out of range for {what}")),
        }
    }

    fn ty(&mut self) -> Res<Type> {
        let Token::Word(w) = self.peek() else {
            return self.error(format!("expected a type, found {}", self.found()));
        };
        match Type::parse(w) {
            Some(t) => {
                self.at += 1;
                Ok(t)
            }
            None => self.error(format!(
                "`{w}` is not a type (such as `f32x16`, `i32`, `b1x8`)"
            )),
        }
    }

    /// Returns true at the declaration of a source file.
    fn at_file(&self) -> bool {
        let named = matches!(self.peek(), Token::Word(w) if number(w, "file").is_some());
        let next = self.tokens.get(self.at + 1);
        named && next.is_some_and(|t| t.0 == Token::Punct('='))
    }

    /// Parses `file0 = "saxpy.cl"`, where the number must be `next`.
    fn source_file(&mut self, next: SourceFile) -> Res<String> {
        if self.peek() != Token::Word(&next.to_string()) {
            return self.error(format!(
                "source files are numbered in order: expected `{next}`, found {}",
                self.found()
            ));
        }
        self.at += 1;
        self.expect('=')?;
        let name = self.string("a source file's name")?;
        self.end_of_line()?;
        Ok(name)
    }

    /// Parses a string in quotes.
    fn string(&mut self, what: &str) -> Res<String> {
        let Token::Text(text) = self.peek() else {
            return self.error(format!("expected {what} in quotes, found {}", self.found()));
        };
        let bytes = match literal::unquote(text) {
            Ok(bytes) => bytes,
            Err(e) => return self.error(e),
        };
        let Ok(name) = String::from_utf8(bytes) else {
            return self.error(format!("{what} is UTF-8"));
        };
        self.at += 1;
        Ok(name)
    }

    /// Parses `@file0:12:5` or `@file0:12`, if there is one.
    fn source_loc(&mut self) -> Res<SourceLoc> {
        if !self.eat('@') {
            return Ok(SourceLoc::NONE);
        }
        let file = match self.peek() {
            Token::Word(w) => number(w, "file"),
            _ => None,
        };
        let Some(file) = file else {
            return self.error(format!(
                "expected a source file such as `file0`, found {}",
                self.found()
            ));
        };
        if file as usize >= SourceLoc::MOST_FILES {
            return self.error(format!(
                "the number is too large: {} source files are the most",
                SourceLoc::MOST_FILES
            ));
        }
        self.at += 1;
        self.expect(':')?;
        let line = self.int("a line")?;
        if line == 0 {
            self.at -= 1;
            return self.error("lines are numbered from 1");
        }
        let column = if self.eat(':') {
            self.int("a column")?
        } else {
            0
        };
        Ok(SourceLoc::new(SourceFile::from_u32(file), line, column))
    }

    fn collect_names(&mut self) {
        let mut line_start = true;
        for pair in self.tokens.windows(2) {
            if let [
                (Token::Word("kernel" | "function"), _),
                (Token::Name(n), span),
            ] = pair
                && line_start
            {
                let r = FuncRef::new(self.results.len());
                if self.names.insert(n, r).is_some() || self.data.contains_key(n) {
                    self.errors
                        .push(Diagnostic::new(*span, format!("a second function `%{n}`")));
                }
                self.results.push(Vec::new());
            }
            if let [(Token::Word("const" | "global"), _), (Token::Name(n), span)] = pair
                && line_start
            {
                let r = DataRef::new(self.data.len());
                if self.names.contains_key(n) || self.data.insert(n, r).is_some() {
                    self.errors
                        .push(Diagnostic::new(*span, format!("a second `%{n}`")));
                }
            }
            line_start = matches!(pair.first(), Some((Token::Newline, _)));
        }
        // Result types stand between `->` and the end of the line.
        let mut n = 0;
        for i in 0..self.tokens.len() {
            let header = matches!(self.tokens[i].0, Token::Word("kernel" | "function"))
                && matches!(self.tokens.get(i + 1), Some((Token::Name(_), _)))
                && (i == 0 || self.tokens[i - 1].0 == Token::Newline);
            if !header {
                continue;
            }
            let line = self.tokens[i..]
                .iter()
                .take_while(|t| t.0 != Token::Newline);
            let types = line
                .skip_while(|t| t.0 != Token::Arrow)
                .filter_map(|t| match t.0 {
                    Token::Word(w) => Type::parse(w),
                    _ => None,
                });
            if let Some(r) = self.results.get_mut(n) {
                *r = types.collect();
            }
            n += 1;
        }
    }

    /// Skips the rest of the function, data or source file that began at `start`.
    fn skip_item(&mut self, start: usize) {
        self.at = self.at.max(start + 1);
        loop {
            let begins = self.at_file()
                || matches!(self.peek(), Token::Word("kernel" | "function" | "const"));
            match self.peek() {
                Token::End => return,
                _ if begins
                    && self.at > 0
                    && self
                        .tokens
                        .get(self.at - 1)
                        .is_some_and(|t| t.0 == Token::Newline) =>
                {
                    return;
                }
                _ => self.at += 1,
            }
        }
    }
}
