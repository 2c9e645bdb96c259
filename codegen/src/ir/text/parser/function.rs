//! First step of parsing a function: header, blocks and lines.

use super::{MAX_NUMBER, Parser, Res, SourceMap, number};
use crate::ir::instructions::ValueList;
use crate::ir::opcode::Out;
use crate::ir::text::lexer::Token;
use crate::ir::{
    Addressing, ArgKind, BindingPlace, Block, FloatControls, FuncKind, Function, ImageAccess,
    ImageShape, InstData, Linkage, Opcode, Param, ParamInfo, ParamRole, Reflection, Resource,
    Sampler, Scalar, Signature, SourceLoc, Type, Value,
};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::diag::{Diagnostic, Span};
use smallvec::SmallVec;

/// Definition of a value, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Def {
    /// No definition yet.
    #[default]
    None,
    /// Defined by a line with an error.
    Wrong,
    /// Defined by the line of this index; its type is not known yet.
    Line(usize),
    /// Defined with this type.
    Type(Type),
}

/// Parsed line of an instruction.
pub(super) struct Line {
    pub(super) block: Block,
    pub(super) results: SmallVec<[Value; 4]>,
    pub(super) data: InstData,
    pub(super) ctrl: Option<Type>,
    /// Span of the opcode.
    pub(super) span: Span,
    /// Range in `SourceMap::spans` of the operands.
    pub(super) operands: (u32, u32),
    pub(super) loc: SourceLoc,
}

/// Function being parsed.
pub(super) struct Body {
    pub(super) func: Function,
    pub(super) map: SourceMap,
    pub(super) defs: SecondaryMap<Value, Def>,
    pub(super) lines: Vec<Line>,
    /// Spans of values in `label` lines.
    pub(super) labelled: Vec<(Value, Span)>,
}

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Res<(Function, SourceMap)> {
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
        let mut reflection = Reflection::default();
        self.expect('(')?;
        while !self.eat(')') {
            let ty = self.ty()?;
            let kind = if self.eat_word("ptr") {
                ArgKind::Ptr
            } else if self.eat_word("slm") {
                ArgKind::Slm
            } else if self.eat_word("surface") {
                ArgKind::Surface
            } else if self.eat_word("sampler") {
                ArgKind::Sampler
            } else if let Some(shape) = self.image_shape() {
                let all = &ImageAccess::ALL;
                ArgKind::Image(shape, self.choice(all, ImageAccess::name, "an access")?)
            } else {
                ArgKind::Value
            };
            let noalias = self.eat_word("noalias");
            let info = self.param_info(kind)?;
            reflection.set(sig.params.len(), info);
            sig.params.push(Param { ty, kind, noalias });
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
        let linkage = match self.peek() {
            Token::Word("public") if !kernel => Linkage::Public,
            Token::Word("import") if !kernel => Linkage::Import,
            _ => Linkage::Local,
        };
        self.at += usize::from(linkage != Linkage::Local);
        if linkage == Linkage::Import {
            self.end_of_line()?;
            let mut func = Function::new(name, kind, sig);
            func.linkage = linkage;
            func.reflection = reflection;
            let map = SourceMap {
                header,
                ..SourceMap::default()
            };
            return Ok((func, map));
        }
        let samplers = if kernel && self.eat_word("samplers") {
            self.samplers()?
        } else {
            Vec::new()
        };
        self.expect('{')?;
        self.end_of_line()?;
        let mut body = Body {
            func: Function::new(name, kind, sig),
            map: SourceMap {
                header,
                ..SourceMap::default()
            },
            defs: SecondaryMap::new(),
            lines: Vec::new(),
            labelled: Vec::new(),
        };
        body.func.linkage = linkage;
        body.func.samplers = samplers;
        body.func.reflection = reflection;
        self.make_entities(&mut body)?;
        self.blocks(&mut body);
        self.define(&mut body);
        Ok((body.func, body.map))
    }

    fn image_shape(&mut self) -> Option<ImageShape> {
        let Token::Word(w) = self.peek() else {
            return None;
        };
        let shape = ImageShape::from_name(w)?;
        self.at += 1;
        Some(shape)
    }

    /// Parses `"data" binding(0, 1) storage 16`; each part is optional.
    fn param_info(&mut self, kind: ArgKind) -> Res<ParamInfo> {
        let name = match self.peek() {
            Token::Text(_) => self.string("a parameter's name")?,
            _ => String::new(),
        };
        let role = if self.eat_word("push") {
            ParamRole::PushConstants
        } else if self.eat_word("size_of") {
            ParamRole::SizeOf(self.int("a parameter's number")?)
        } else if self.eat_word("binding") {
            self.expect('(')?;
            let set = self.int("a descriptor set")?;
            self.expect(',')?;
            let binding = self.int("a binding")?;
            let element = if self.eat(',') {
                self.int("an element")?
            } else {
                0
            };
            self.expect(')')?;
            let place = BindingPlace {
                set,
                binding,
                element,
            };
            ParamRole::Resource(place, self.resource(kind)?)
        } else {
            ParamRole::Argument
        };
        Ok(ParamInfo { name, role })
    }

    fn resource(&mut self, kind: ArgKind) -> Res<Resource> {
        if self.eat_word("storage") {
            let read_only = self.eat_word("read");
            let least = self.int("bytes of a buffer")?;
            return Ok(Resource::StorageBuffer { least, read_only });
        }
        if self.eat_word("uniform") {
            let least = self.int("bytes of a buffer")?;
            return Ok(Resource::UniformBuffer { least });
        }
        match kind {
            ArgKind::Image(..) => Ok(Resource::Image),
            ArgKind::Sampler => Ok(Resource::Sampler),
            _ => self.error(format!(
                "expected `storage` or `uniform`, found {}",
                self.found()
            )),
        }
    }

    /// Parses `(edge linear, repeat nearest norm)`.
    fn samplers(&mut self) -> Res<Vec<Sampler>> {
        let mut out = Vec::new();
        self.expect('(')?;
        loop {
            let addressing = self.choice(
                &Addressing::ALL,
                Addressing::name,
                "what is outside of images",
            )?;
            let linear = self.eat_word("linear");
            if !linear && !self.eat_word("nearest") {
                return self.error(format!(
                    "expected `linear` or `nearest`, found {}",
                    self.found()
                ));
            }
            out.push(Sampler {
                addressing,
                linear,
                normalized: self.eat_word("norm"),
            });
            if !self.eat(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(out)
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
        let scratch_bytes = if self.eat_word("scratch") {
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
        let float = self.float_controls()?;
        Ok(FuncKind::Kernel {
            simd,
            slm_bytes,
            scratch_bytes,
            group_size,
            float,
        })
    }

    /// Parses `denorms(f16 flush, f32 keep) rounding(rtz) sums(contract)
    /// quotients(reciprocal)`.
    fn float_controls(&mut self) -> Res<FloatControls> {
        let mut out = FloatControls::default();
        if self.eat_word("denorms") {
            self.expect('(')?;
            loop {
                let flush = if self.eat_word("f16") {
                    &mut out.flush_f16
                } else if self.eat_word("f32") {
                    &mut out.flush_f32
                } else if self.eat_word("f64") {
                    &mut out.flush_f64
                } else {
                    return self.error(format!(
                        "expected `f16`, `f32` or `f64`, found {}",
                        self.found()
                    ));
                };
                *flush = self.eat_word("flush");
                if !*flush && !self.eat_word("keep") {
                    return self.error(format!(
                        "expected `flush` or `keep`, found {}",
                        self.found()
                    ));
                }
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        if self.eat_word("rounding") {
            self.expect('(')?;
            out.toward_zero = self.eat_word("rtz");
            if !out.toward_zero && !self.eat_word("rte") {
                return self.error(format!("expected `rte` or `rtz`, found {}", self.found()));
            }
            self.expect(')')?;
        }
        if self.eat_word("sums") {
            self.expect('(')?;
            if !self.eat_word("contract") {
                return self.error(format!("expected `contract`, found {}", self.found()));
            }
            out.contract = true;
            self.expect(')')?;
        }
        if self.eat_word("quotients") {
            self.expect('(')?;
            if !self.eat_word("reciprocal") {
                return self.error(format!("expected `reciprocal`, found {}", self.found()));
            }
            out.reciprocal = true;
            self.expect(')')?;
        }
        Ok(out)
    }

    /// Makes blocks and values of every number up to the highest in the body, so that numbers are
    /// kept.
    fn make_entities(&mut self, body: &mut Body) -> Res<()> {
        let (mut blocks, mut values) = (0, 0);
        let mut highest = body.map.header;
        let mut line_start = true;
        for (t, span) in self.tokens.iter().skip(self.at) {
            let first = std::mem::replace(&mut line_start, *t == Token::Newline);
            let word = match t {
                Token::Word(w) => w,
                Token::Punct('}') if first => break,
                _ => continue,
            };
            let (n, count) = match (number(word, "v"), number(word, "block")) {
                (Some(n), _) => (n, &mut values),
                (_, Some(n)) => (n, &mut blocks),
                _ => continue,
            };
            if n >= MAX_NUMBER {
                let what = format!("`{word}`: the number is too large: {MAX_NUMBER} is the limit");
                return Err(Diagnostic::new(*span, what));
            }
            if n >= *count {
                *count = n + 1;
                highest = *span;
            }
        }
        // Numbers may have gaps, but not so large that a short text takes much memory.
        self.entities += blocks as usize + values as usize;
        let most = MAX_NUMBER as usize + 8 * self.tokens.len();
        if self.entities > most {
            let what = format!(
                "the blocks and values up to this are too many: all functions of this text may have {most}"
            );
            return Err(Diagnostic::new(highest, what));
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
                    if let Err(e) = self.line(body, &mut current) {
                        self.errors.push(e);
                        self.at = start;
                        self.skip_line(body);
                    }
                }
            }
        }
    }

    /// Skips a line with an error. The values that it would define count as defined, so that their
    /// uses raise no further errors.
    fn skip_line(&mut self, body: &mut Body) {
        let mut named = Vec::new();
        while !matches!(self.peek(), Token::Newline | Token::End) {
            match self.peek() {
                // Values before a source location are not defined by the line.
                Token::Punct('@') => named.clear(),
                Token::Word(w) => named.extend(number(w, "v").map(|n| Value::new(n as usize))),
                // `block1(v2: i32` defines `v2` too.
                Token::Punct('=' | ':') => {
                    for v in named.drain(..) {
                        if matches!(body.defs[v], Def::None) {
                            body.defs[v] = Def::Wrong;
                        }
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn line(&mut self, body: &mut Body, current: &mut Option<Block>) -> Res<()> {
        if let Token::Word(w) = self.peek()
            && let Some(n) = number(w, "block")
        {
            let block = Block::new(n as usize);
            let span = self.span();
            self.at += 1;
            if body.map.blocks[block].line != 0 {
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
                    body.defs[v] = Def::Type(ty);
                    if !self.eat(',') && self.peek() != Token::Punct(')') {
                        return self.error(format!("expected `,` or `)`, found {}", self.found()));
                    }
                }
            }
            self.expect(':')?;
            return self.end_of_line();
        }
        if self.peek() == Token::Word("label") {
            if current.is_some() {
                return self.error("labels stand before the first block");
            }
            return self.label(body);
        }
        let Some(block) = *current else {
            return self.error(format!(
                "expected a block such as `block0:`, found {}",
                self.found()
            ));
        };
        self.inst(body, block)
    }

    /// Parses `label "x" = v1, v2`: names of values for a debugger.
    fn label(&mut self, body: &mut Body) -> Res<()> {
        self.at += 1;
        let name = self.string("a name")?;
        self.expect('=')?;
        loop {
            let span = self.span();
            let v = self.value(body)?;
            body.map.spans.pop();
            body.func.labels.add(&name, v);
            body.labelled.push((v, span));
            if !self.eat(',') {
                return self.end_of_line();
            }
        }
    }

    /// Parses a value that is defined here.
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
        if !matches!(body.defs[v], Def::None | Def::Wrong) {
            return self.error(format!("`{v}` is defined a second time"));
        }
        self.at += 1;
        Ok(v)
    }

    /// Parses a value that is used here.
    pub(super) fn value(&mut self, body: &mut Body) -> Res<Value> {
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
        body.map.spans.push(self.span());
        self.at += 1;
        Ok(v)
    }

    pub(super) fn value_list(&mut self, body: &mut Body, close: Option<char>) -> Res<ValueList> {
        let mut out = Vec::new();
        loop {
            let done = match close {
                Some(c) => self.eat(c),
                None => matches!(self.peek(), Token::Newline | Token::End | Token::Punct('@')),
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
        let mut results = SmallVec::new();
        let first = self.at;
        let defines = self
            .tokens
            .iter()
            .skip(first)
            .take_while(|t| t.0 != Token::Newline);
        if defines.clone().any(|t| t.0 == Token::Punct('=')) {
            loop {
                let v = self.new_value(body)?;
                if results.contains(&v) {
                    self.at -= 1;
                    return self.error(format!("`{v}` is defined a second time"));
                }
                results.push(v);
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
        let first = body.map.spans.len() as u32;
        let scalar = ctrl.map_or(Scalar::I32, Type::scalar);
        let data = self.operands(body, info, scalar)?;
        let loc = self.source_loc()?;
        self.end_of_line()?;
        for &v in &results {
            body.defs[v] = Def::Line(body.lines.len());
        }
        body.lines.push(Line {
            block,
            results,
            data,
            ctrl,
            span,
            operands: (first, body.map.spans.len() as u32),
            loc,
        });
        Ok(())
    }
}
