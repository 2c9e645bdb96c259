//! Parsing modules. Errors are collected, one a line, and parsing goes on with the next line.

use super::lexer::{Token, lex};
use super::literal;
use crate::ir::instructions::ValueList;
use crate::ir::opcode::{Format, Info, Out};
use crate::ir::{
    ArgKind, Block, BlockCall, Dim, FloatCC, FuncKind, FuncRef, Function, Inst, InstData, IntCC,
    Module, Opcode, Param, Region, Scalar, Signature, Type, Value,
};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::diag::{Diagnostic, Diagnostics, Span};
use std::collections::HashMap;

/// The highest number of a value or block, so that a text cannot ask for all memory.
const MAX_NUMBER: u32 = 1 << 20;

/// Where in the text the parts of a function are.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// The function's header.
    pub header: Span,
    /// Block labels.
    pub blocks: SecondaryMap<Block, Span>,
    /// Opcodes.
    pub insts: SecondaryMap<Inst, Span>,
    /// Per instruction, its value operands in text order (that of `InstData::for_each_arg`).
    pub operands: SecondaryMap<Inst, Vec<Span>>,
}

/// A parsed text.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The functions.
    pub module: Module,
    /// Where each is, in module order.
    pub maps: Vec<SourceMap>,
}

/// Parses a text.
///
/// # Errors
/// Every line that is wrong, with the place in it.
pub fn parse(text: &str) -> Result<Parsed, Diagnostics> {
    let tokens = lex(text);
    let mut p = Parser {
        tokens: &tokens,
        at: 0,
        errors: Vec::new(),
        names: HashMap::new(),
        results: Vec::new(),
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
        match p.function() {
            Ok((f, map)) => {
                out.module.functions.push(f);
                out.maps.push(map);
            }
            Err(e) => {
                p.errors.push(e);
                p.skip_function(before);
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

type Res<T> = Result<T, Diagnostic>;

struct Parser<'a> {
    tokens: &'a [(Token<'a>, Span)],
    at: usize,
    errors: Vec<Diagnostic>,
    names: HashMap<&'a str, FuncRef>,
    /// Result types per function, for calls.
    results: Vec<Vec<Type>>,
}

/// The function being parsed.
struct Body {
    func: Function,
    map: SourceMap,
    types: SecondaryMap<Value, Option<Type>>,
    /// Operand spans of the instruction being parsed.
    operands: Vec<Span>,
}

fn number(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).map_or(Token::End, |t| t.0)
    }

    fn span(&self) -> Span {
        let last = self.tokens.last();
        self.tokens
            .get(self.at)
            .or(last)
            .map_or(Span::default(), |t| t.1)
    }

    fn error<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Diagnostic::new(self.span(), message))
    }

    fn found(&self) -> String {
        match self.peek() {
            Token::Word(w) | Token::Number(w) => format!("`{w}`"),
            Token::Name(w) => format!("`%{w}`"),
            Token::Punct(c) | Token::Bad(c) => format!("`{c}`"),
            Token::Arrow => "`->`".to_string(),
            Token::Newline => "the end of the line".to_string(),
            Token::End => "the end of the text".to_string(),
        }
    }

    fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Token::Punct(c);
        self.at += usize::from(hit);
        hit
    }

    fn eat_word(&mut self, w: &str) -> bool {
        let hit = self.peek() == Token::Word(w);
        self.at += usize::from(hit);
        hit
    }

    fn expect(&mut self, c: char) -> Res<()> {
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

    fn int<T: TryFrom<i64>>(&mut self, what: &str) -> Res<T> {
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
                if self.names.insert(n, r).is_some() {
                    self.errors
                        .push(Diagnostic::new(*span, format!("a second function `%{n}`")));
                }
                self.results.push(Vec::new());
            }
            line_start = matches!(pair.first(), Some((Token::Newline, _)));
        }
        // The result types stand between `->` and the line's end.
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

    /// Goes on behind the function that began at `start`.
    fn skip_function(&mut self, start: usize) {
        self.at = self.at.max(start + 1);
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word("kernel" | "function")
                    if self.at > 0
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

    fn function(&mut self) -> Res<(Function, SourceMap)> {
        let header = self.span();
        let kernel = match self.peek() {
            Token::Word("kernel") => true,
            Token::Word("function") => false,
            _ => {
                return self.error(format!(
                    "expected `kernel` or `function`, found {}",
                    self.found()
                ));
            }
        };
        self.at += 1;
        let Token::Name(name) = self.peek() else {
            return self.error(format!(
                "expected a name such as `%saxpy`, found {}",
                self.found()
            ));
        };
        self.at += 1;
        let mut sig = Signature::default();
        self.expect('(')?;
        while !self.eat(')') {
            let ty = self.ty()?;
            let kind = if self.eat_word("ptr") {
                ArgKind::Ptr
            } else if self.eat_word("slm") {
                ArgKind::Slm
            } else {
                ArgKind::Value
            };
            sig.params.push(Param { ty, kind });
            if !self.eat(',') && self.peek() != Token::Punct(')') {
                return self.error(format!("expected `,` or `)`, found {}", self.found()));
            }
        }
        if self.peek() == Token::Arrow {
            self.at += 1;
            sig.results.push(self.ty()?);
            while self.eat(',') {
                sig.results.push(self.ty()?);
            }
        }
        let kind = if kernel {
            self.kernel_facts()?
        } else {
            FuncKind::Subroutine
        };
        self.expect('{')?;
        self.end_of_line()?;
        let mut body = Body {
            func: Function::new(name, kind, sig),
            map: SourceMap {
                header,
                ..SourceMap::default()
            },
            types: SecondaryMap::new(),
            operands: Vec::new(),
        };
        self.make_entities(&mut body)?;
        self.blocks(&mut body);
        Ok((body.func, body.map))
    }

    fn kernel_facts(&mut self) -> Res<FuncKind> {
        let simd = match self.peek() {
            Token::Word(w) => number(w, "simd").filter(|n| matches!(n, 1 | 8 | 16 | 32)),
            _ => None,
        };
        let Some(simd) = simd else {
            return self.error(format!(
                "expected `simd1`, `simd8`, `simd16` or `simd32`, found {}",
                self.found()
            ));
        };
        self.at += 1;
        let slm_bytes = if self.eat_word("slm") {
            self.int("a size in bytes")?
        } else {
            0
        };
        let group_size = if self.eat_word("group") {
            let x = self.int("a group size")?;
            self.expect(',')?;
            let y = self.int("a group size")?;
            self.expect(',')?;
            Some([x, y, self.int("a group size")?])
        } else {
            None
        };
        Ok(FuncKind::Kernel {
            simd,
            slm_bytes,
            group_size,
        })
    }

    /// Makes blocks and values of every number up to the highest in the body, so that numbers stay what they are.
    fn make_entities(&mut self, body: &mut Body) -> Res<()> {
        let (mut blocks, mut values) = (0, 0);
        for (t, span) in self.tokens.iter().skip(self.at) {
            let word = match t {
                Token::Word(w) => w,
                Token::Punct('}') => break,
                _ => continue,
            };
            let highest = match (number(word, "v"), number(word, "block")) {
                (Some(n), _) => {
                    values = values.max(n + 1);
                    n
                }
                (_, Some(n)) => {
                    blocks = blocks.max(n + 1);
                    n
                }
                _ => continue,
            };
            if highest >= MAX_NUMBER {
                return Err(Diagnostic::new(
                    *span,
                    format!("`{word}`: the number is too large"),
                ));
            }
        }
        for _ in 0..blocks {
            body.func.dfg.make_block();
        }
        body.func.dfg.reserve_values(values as usize);
        Ok(())
    }

    fn blocks(&mut self, body: &mut Body) {
        let mut current = None;
        loop {
            match self.peek() {
                Token::Newline => self.at += 1,
                Token::Punct('}') => {
                    self.at += 1;
                    if let Err(e) = self.end_of_line() {
                        self.errors.push(e);
                    }
                    return;
                }
                Token::End => {
                    let e = Diagnostic::new(
                        body.map.header,
                        format!("`%{}` has no closing `}}`", body.func.name),
                    );
                    self.errors.push(e);
                    return;
                }
                _ => {
                    let start = self.at;
                    let line = self.line(body, &mut current);
                    if let Err(e) = line {
                        self.errors.push(e);
                        // What is wrong with a whole line is found behind it.
                        let behind = self.at > start
                            && matches!(self.tokens.get(self.at - 1), Some((Token::Newline, _)));
                        if behind {
                            continue;
                        }
                        while !matches!(self.peek(), Token::Newline | Token::End) {
                            self.at += 1;
                        }
                    }
                }
            }
        }
    }

    fn line(&mut self, body: &mut Body, current: &mut Option<Block>) -> Res<()> {
        if let Token::Word(w) = self.peek()
            && let Some(n) = number(w, "block")
        {
            let block = Block::new(n as usize);
            let span = self.span();
            self.at += 1;
            if body.func.layout.blocks().contains(&block) {
                return Err(Diagnostic::new(span, format!("a second `{block}`")));
            }
            body.func.layout.append_block(block);
            body.map.blocks[block] = span;
            *current = Some(block);
            if self.eat('(') {
                while !self.eat(')') {
                    let v = self.new_value(body)?;
                    self.expect(':')?;
                    let ty = self.ty()?;
                    body.func.dfg.attach_block_param(block, v, ty);
                    body.types[v] = Some(ty);
                    if !self.eat(',') && self.peek() != Token::Punct(')') {
                        return self.error(format!("expected `,` or `)`, found {}", self.found()));
                    }
                }
            }
            self.expect(':')?;
            return self.end_of_line();
        }
        let Some(block) = *current else {
            return self.error(format!(
                "expected a block such as `block0:`, found {}",
                self.found()
            ));
        };
        self.inst(body, block)
    }

    /// A value that is defined here.
    fn new_value(&mut self, body: &Body) -> Res<Value> {
        let v = match self.peek() {
            Token::Word(w) => number(w, "v"),
            _ => None,
        };
        let Some(v) = v.map(|n| Value::new(n as usize)) else {
            return self.error(format!(
                "expected a value such as `v1`, found {}",
                self.found()
            ));
        };
        if body.types[v].is_some() {
            return self.error(format!("`{v}` is defined a second time"));
        }
        self.at += 1;
        Ok(v)
    }

    /// A value that is used here.
    fn value(&mut self, body: &mut Body) -> Res<Value> {
        let v = match self.peek() {
            Token::Word(w) => number(w, "v"),
            _ => None,
        };
        let Some(v) = v.map(|n| Value::new(n as usize)) else {
            return self.error(format!(
                "expected a value such as `v1`, found {}",
                self.found()
            ));
        };
        if body.types[v].is_none() {
            return self.error(format!("`{v}` is used before it is defined"));
        }
        body.operands.push(self.span());
        self.at += 1;
        Ok(v)
    }

    fn value_list(&mut self, body: &mut Body, close: Option<char>) -> Res<ValueList> {
        let mut out = Vec::new();
        loop {
            let done = match close {
                Some(c) => self.eat(c),
                None => matches!(self.peek(), Token::Newline | Token::End),
            };
            if done {
                return Ok(ValueList::from_slice(&out, &mut body.func.dfg.pool));
            }
            if !out.is_empty() {
                self.expect(',')?;
            }
            out.push(self.value(body)?);
        }
    }

    fn inst(&mut self, body: &mut Body, block: Block) -> Res<()> {
        let mut results = Vec::new();
        let first = self.at;
        let defines = self
            .tokens
            .iter()
            .skip(first)
            .take_while(|t| t.0 != Token::Newline);
        if defines.clone().any(|t| t.0 == Token::Punct('=')) {
            loop {
                results.push((self.new_value(body)?, self.span()));
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('=')?;
        }
        let span = self.span();
        let text = self.word("an opcode")?;
        let (name, ctrl) = match text.split_once('.') {
            Some((n, t)) => (n, Some(t)),
            None => (text, None),
        };
        let Some(opcode) = Opcode::from_name(name) else {
            return Err(Diagnostic::new(
                Span {
                    len: name.len() as u32,
                    ..span
                },
                format!("unknown opcode `{name}`"),
            ));
        };
        let info = opcode.info();
        let at_type = Span {
            col: span.col + name.len() as u32 + 1,
            len: ctrl.map_or(1, |c| c.len() as u32).max(1),
            ..span
        };
        let ctrl = match (info.out, ctrl) {
            (Out::Ctrl, Some(t)) => match Type::parse(t) {
                Some(t) => Some(t),
                None => return Err(Diagnostic::new(at_type, format!("`{t}` is not a type"))),
            },
            (Out::Ctrl, None) => {
                let what = format!("`{name}` needs a result type: `{name}.i32`");
                return Err(Diagnostic::new(span, what));
            }
            (_, Some(_)) => {
                return Err(Diagnostic::new(
                    at_type,
                    format!("`{name}` takes no type: its operands say it"),
                ));
            }
            (_, None) => None,
        };
        body.operands.clear();
        let data = self.operands(body, info, ctrl)?;
        self.end_of_line()?;
        let types = self.result_types(body, &data, info, ctrl);
        if types.len() != results.len() {
            let what = format!(
                "`{name}` has {} result{}, and {} {} defined here",
                types.len(),
                if types.len() == 1 { "" } else { "s" },
                results.len(),
                if results.len() == 1 { "is" } else { "are" },
            );
            return Err(Diagnostic::new(span, what));
        }
        let named: Vec<(Value, Type)> = results.iter().map(|r| r.0).zip(types).collect();
        let inst = body.func.dfg.make_inst_with(data, &named);
        for (v, ty) in named {
            body.types[v] = Some(ty);
        }
        body.func.layout.append_inst(block, inst);
        body.map.insts[inst] = span;
        body.map.operands[inst] = std::mem::take(&mut body.operands);
        Ok(())
    }

    fn result_types(
        &self,
        body: &Body,
        data: &InstData,
        info: &Info,
        ctrl: Option<Type>,
    ) -> Vec<Type> {
        let mut args = Vec::new();
        data.for_each_arg(&body.func.dfg.pool, |v| args.push(v));
        let ty = |n: usize| args.get(n).and_then(|&v| body.types[v]);
        crate::ir::result_types(
            info.opcode,
            ctrl,
            ty,
            |f| self.results.get(f.index()).cloned().unwrap_or_default(),
            data,
        )
    }

    fn condition<T: Copy>(&mut self, all: &[T], name: impl Fn(T) -> &'static str) -> Res<T> {
        let Token::Word(w) = self.peek() else {
            return self.error(format!("expected a condition, found {}", self.found()));
        };
        match all.iter().find(|c| name(**c) == w) {
            Some(c) => {
                self.at += 1;
                Ok(*c)
            }
            None => {
                let names: Vec<_> = all.iter().map(|c| name(*c)).collect();
                self.error(format!("`{w}` is not a condition ({})", names.join(", ")))
            }
        }
    }

    fn literal(&mut self, scalar: Scalar) -> Res<u64> {
        let Token::Number(n) = self.peek() else {
            return self.error(format!("expected a number, found {}", self.found()));
        };
        match literal::parse(scalar, n) {
            Ok(bits) => {
                self.at += 1;
                Ok(bits)
            }
            Err(what) => self.error(what),
        }
    }

    fn pair(&mut self, body: &mut Body) -> Res<[Value; 2]> {
        let a = self.value(body)?;
        self.expect(',')?;
        Ok([a, self.value(body)?])
    }

    /// `<vs;w,hs>, offset[+index][, parent w]`.
    fn region(&mut self, body: &mut Body) -> Res<(Region, PackedOption<Value>)> {
        self.expect('<')?;
        let vstride = self.int("a vertical stride")?;
        self.expect(';')?;
        let width = self.int("a width")?;
        self.expect(',')?;
        let hstride = self.int("a horizontal stride")?;
        self.expect('>')?;
        self.expect(',')?;
        let offset = self.int("an offset in bytes")?;
        let index = if self.eat('+') {
            Some(self.value(body)?)
        } else {
            None
        };
        let mut parent_width = 0;
        if self.peek() == Token::Punct(',')
            && self
                .tokens
                .get(self.at + 1)
                .is_some_and(|t| t.0 == Token::Word("parent"))
        {
            self.at += 2;
            parent_width = self.int("a parent width")?;
        }
        let region = Region {
            vstride,
            width,
            hstride,
            offset,
            parent_width,
        };
        Ok((region, index.into()))
    }

    /// `v1+16`, `v1-4`.
    fn address(&mut self, body: &mut Body) -> Res<(Value, i32)> {
        let v = self.value(body)?;
        let negative = matches!(self.peek(), Token::Number(n) if n.starts_with('-'));
        let offset = if self.eat('+') || negative {
            self.int("an offset in bytes")?
        } else {
            0
        };
        Ok((v, offset))
    }

    /// `, mask v1`.
    fn mask(&mut self, body: &mut Body) -> Res<PackedOption<Value>> {
        if !self.eat(',') {
            return Ok(None.into());
        }
        if !self.eat_word("mask") {
            return self.error(format!("expected `mask`, found {}", self.found()));
        }
        Ok(Some(self.value(body)?).into())
    }

    fn destination(&mut self, body: &mut Body) -> Res<BlockCall> {
        let block = match self.peek() {
            Token::Word(w) => number(w, "block"),
            _ => None,
        };
        let Some(block) = block.map(|n| Block::new(n as usize)) else {
            return self.error(format!(
                "expected a block such as `block1`, found {}",
                self.found()
            ));
        };
        self.at += 1;
        let args = if self.eat('(') {
            self.value_list(body, Some(')'))?
        } else {
            ValueList::new()
        };
        Ok(BlockCall { block, args })
    }

    fn operands(&mut self, body: &mut Body, info: &Info, ctrl: Option<Type>) -> Res<InstData> {
        let opcode = info.opcode;
        let scalar = ctrl.map_or(Scalar::I32, Type::scalar);
        Ok(match info.format {
            Format::Nullary => InstData::Nullary { opcode },
            Format::Imm => InstData::Imm {
                opcode,
                bits: self.literal(scalar)?,
            },
            Format::ImmVec => {
                self.expect('[')?;
                let mut lanes = Vec::new();
                while !self.eat(']') {
                    if !lanes.is_empty() {
                        self.expect(',')?;
                    }
                    lanes.push(self.literal(scalar)?);
                }
                let constant = body.func.dfg.make_constant(lanes);
                InstData::ImmVec { opcode, constant }
            }
            Format::Launch => {
                let dim = match self.peek() {
                    Token::Word("x") => Dim::X,
                    Token::Word("y") => Dim::Y,
                    Token::Word("z") => Dim::Z,
                    _ => {
                        return self
                            .error(format!("expected `x`, `y` or `z`, found {}", self.found()));
                    }
                };
                self.at += 1;
                InstData::Launch { opcode, dim }
            }
            Format::Unary => InstData::Unary {
                opcode,
                arg: self.value(body)?,
            },
            Format::Binary => InstData::Binary {
                opcode,
                args: self.pair(body)?,
            },
            Format::Ternary => {
                let [a, b] = self.pair(body)?;
                self.expect(',')?;
                let args = [a, b, self.value(body)?];
                InstData::Ternary { opcode, args }
            }
            Format::IntCompare => InstData::IntCompare {
                opcode,
                cond: self.condition(&IntCC::ALL, IntCC::name)?,
                args: self.pair(body)?,
            },
            Format::FloatCompare => InstData::FloatCompare {
                opcode,
                cond: self.condition(&FloatCC::ALL, FloatCC::name)?,
                args: self.pair(body)?,
            },
            Format::RdRegion => {
                let arg = self.value(body)?;
                self.expect(',')?;
                let (region, index) = self.region(body)?;
                InstData::RdRegion {
                    opcode,
                    arg,
                    region,
                    index,
                }
            }
            Format::WrRegion => {
                let old = self.value(body)?;
                self.expect(',')?;
                let (region, index) = self.region(body)?;
                self.expect(',')?;
                let new = self.value(body)?;
                // Operands are listed old, new, index.
                if index.is_some()
                    && let Some(n) = body.operands.len().checked_sub(2)
                {
                    body.operands.swap(n, n + 1);
                }
                InstData::WrRegion {
                    opcode,
                    args: [old, new],
                    region,
                    index,
                    mask: self.mask(body)?,
                }
            }
            Format::RdPred => {
                let arg = self.value(body)?;
                self.expect(',')?;
                let offset = self.int("a lane offset")?;
                InstData::RdPred {
                    opcode,
                    arg,
                    offset,
                }
            }
            Format::WrPred => {
                let args = self.pair(body)?;
                self.expect(',')?;
                let offset = self.int("a lane offset")?;
                InstData::WrPred {
                    opcode,
                    args,
                    offset,
                }
            }
            Format::Load => {
                let (addr, offset) = self.address(body)?;
                let mask = self.mask(body)?;
                let mut old = None;
                if mask.is_some() {
                    self.expect(',')?;
                    old = Some(self.value(body)?);
                }
                InstData::Load {
                    opcode,
                    addr,
                    offset,
                    mask,
                    old: old.into(),
                }
            }
            Format::Store => {
                let value = self.value(body)?;
                self.expect(',')?;
                let (addr, offset) = self.address(body)?;
                InstData::Store {
                    opcode,
                    args: [value, addr],
                    offset,
                    mask: self.mask(body)?,
                }
            }
            Format::Call => {
                let Token::Name(name) = self.peek() else {
                    return self.error(format!(
                        "expected a function such as `%f`, found {}",
                        self.found()
                    ));
                };
                let Some(&func) = self.names.get(name) else {
                    return self.error(format!("there is no function `%{name}`"));
                };
                self.at += 1;
                self.expect('(')?;
                let args = self.value_list(body, Some(')'))?;
                InstData::Call { opcode, func, args }
            }
            Format::Jump => InstData::Jump {
                opcode,
                dest: self.destination(body)?,
            },
            Format::Brif => {
                let cond = self.value(body)?;
                self.expect(',')?;
                let then = self.destination(body)?;
                self.expect(',')?;
                let dests = [then, self.destination(body)?];
                InstData::Brif {
                    opcode,
                    cond,
                    dests,
                }
            }
            Format::Return => InstData::Return {
                opcode,
                args: self.value_list(body, None)?,
            },
        })
    }
}
