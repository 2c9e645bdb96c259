//! Parsers of the operands of each format.

use super::function::Body;
use super::{Parser, Res, number};
use crate::ir::instructions::ValueList;
use crate::ir::opcode::{Format, Info};
use crate::ir::systolic::MOST_ROWS;
use crate::ir::text::lexer::Token;
use crate::ir::text::literal;
use crate::ir::{
    ArgFact, AtomicOp, Block, Block2dShape, BlockCall, BlockLayout, Cases, DataRef, Dim, DpasShape,
    Factor, FenceSpaces, FloatCC, ImageFact, ImagePlace, InstData, IntCC, MemFlags, Opcode, Region,
    SamplerFact, Scalar, Scope, Space, Type, Value,
};
use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen::diag::Diagnostic;

impl Parser<'_> {
    pub(super) fn literal(&mut self, scalar: Scalar) -> Res<u64> {
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

    /// Parses `<vs;w,hs>, offset[+index][, parent w]`.
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

    /// Parses `v1+16`, `v1-4`.
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

    /// Parses `slm v1+16 align 8 volatile`.
    fn place(&mut self, body: &mut Body) -> Res<(MemFlags, Value, i32)> {
        let mut mem = MemFlags::default();
        if self.eat_word("slm") {
            mem.space = Space::Slm;
        } else if self.eat_word("scratch") {
            mem.space = Space::Scratch;
        } else if self.eat_word("surface") {
            mem.space = Space::Surface(self.int("a surface's number")?);
        }
        let (addr, offset) = self.address(body)?;
        if self.eat_word("align") {
            let n: u32 = self.int("an alignment in bytes")?;
            if !n.is_power_of_two() {
                return self.error(format!("an alignment of {n} bytes is no power of two"));
            }
            mem = mem.aligned(n);
        }
        mem.volatile = self.eat_word("volatile");
        mem.constant = self.eat_word("constant");
        Ok((mem, addr, offset))
    }

    /// Parses a keyword and an index: `image 0`.
    fn numbered(&mut self, word: &str) -> Res<u8> {
        if !self.eat_word(word) {
            return self.error(format!("expected `{word}`, found {}", self.found()));
        }
        self.int("a number of an argument")
    }

    /// Parses `image 0 sampler 0 (v1, v2) lod v3, mask v4, v5` or `image 1 (v1, v2) lod v3, v4,
    /// mask v5`.
    fn image(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let mut at = ImagePlace {
            image: self.numbered("image")?,
            sampler: 0,
        };
        if opcode == Opcode::Sample {
            at.sampler = self.numbered("sampler")?;
        }
        self.expect('(')?;
        let mut coords = [PackedOption::default(); 4];
        for (n, c) in coords.iter_mut().enumerate() {
            if n > 0 && !self.eat(',') {
                break;
            }
            *c = self.value(body)?.into();
        }
        self.expect(')')?;
        let (mut lod, mut data) = (PackedOption::default(), PackedOption::default());
        if self.eat_word("lod") {
            lod = self.value(body)?.into();
        }
        if opcode == Opcode::ImageStore {
            self.expect(',')?;
            data = self.value(body)?.into();
        }
        let (mask, old) = match opcode {
            Opcode::ImageStore => (self.mask(body)?, None.into()),
            _ => self.mask_and_old(body)?,
        };
        Ok(InstData::Image {
            opcode,
            at,
            coords,
            lod,
            data,
            mask,
            old,
        })
    }

    /// Parses `image 0 (v1, v2) width 16, v3`.
    fn media(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let image = self.numbered("image")?;
        self.expect('(')?;
        let coords = self.pair(body)?;
        self.expect(')')?;
        if !self.eat_word("width") {
            return self.error(format!("expected `width`, found {}", self.found()));
        }
        let width = self.int("bytes of a row")?;
        let mut data = PackedOption::default();
        if opcode == Opcode::MediaStore {
            self.expect(',')?;
            data = self.value(body)?.into();
        }
        Ok(InstData::Media {
            opcode,
            image,
            width,
            coords,
            data,
        })
    }

    /// Parses `s8 u8 rows 4 v1, v2, v3`.
    fn dpas(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let what = "the kind of a factor";
        let columns = self.choice(&Factor::ALL, Factor::name, what)?;
        let rows = self.choice(&Factor::ALL, Factor::name, what)?;
        let span = self.span();
        let Ok(repeat) = u8::try_from(self.after("rows")?) else {
            let what = format!("a product has {MOST_ROWS} rows at most");
            return Err(Diagnostic::new(span, what));
        };
        let acc = self.value(body)?;
        self.expect(',')?;
        let [b, a] = self.pair(body)?;
        Ok(InstData::Dpas {
            opcode,
            shape: DpasShape {
                columns,
                rows,
                repeat,
            },
            args: [acc, b, a],
        })
    }

    /// Parses `packed rows 16 columns 16 blocks 1 bytes 2 v1 (v2, v3, v4) (v5, v6), v7`.
    fn block2d(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let named = [BlockLayout::Transposed, BlockLayout::Packed];
        let layout = named.into_iter().find(|l| self.eat_word(l.name()));
        let layout = layout.unwrap_or(BlockLayout::Rows);
        let mut numbers = [0; 4];
        for (n, word) in numbers
            .iter_mut()
            .zip(["rows", "columns", "blocks", "bytes"])
        {
            let span = self.span();
            let said = self.after(word)?;
            let Ok(said) = u8::try_from(said) else {
                let what = format!("no 2D block has {said} {word}");
                return Err(Diagnostic::new(span, what));
            };
            *n = said;
        }
        let [rows, columns, blocks, bytes] = numbers;
        let base = self.value(body)?;
        self.expect('(')?;
        let width = self.value(body)?;
        self.expect(',')?;
        let [height, pitch] = self.pair(body)?;
        self.expect(')')?;
        self.expect('(')?;
        let [x, y] = self.pair(body)?;
        self.expect(')')?;
        let mut data = PackedOption::default();
        if opcode == Opcode::Block2dStore {
            self.expect(',')?;
            data = self.value(body)?.into();
        }
        Ok(InstData::Block2d {
            opcode,
            shape: Block2dShape {
                layout,
                bytes,
                rows,
                columns,
                blocks,
            },
            args: [base, width, height, pitch, x, y],
            data,
        })
    }

    /// Parses a keyword and a number.
    fn after(&mut self, word: &str) -> Res<u32> {
        if !self.eat_word(word) {
            return self.error(format!("expected `{word}`, found {}", self.found()));
        }
        Ok(self.literal(Scalar::I32)? as u32)
    }

    /// Parses `exec 8 ex 0xc desc 0x2106e00 v1, v2, mask v3`.
    fn send(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let span = self.span();
        let Ok(exec) = u8::try_from(self.after("exec")?) else {
            let what = "channels of a message are 32 at most";
            return Err(Diagnostic::new(span, what));
        };
        let descs = [self.after("ex")?, self.after("desc")?];
        let payload = self.value(body)?;
        let mut second = PackedOption::default();
        let masked = matches!(self.tokens.get(self.at + 1), Some((Token::Word("mask"), _)));
        if !masked && self.eat(',') {
            second = self.value(body)?.into();
        }
        Ok(InstData::Send {
            opcode,
            exec,
            descs,
            payload,
            second,
            mask: self.mask(body)?,
        })
    }

    /// Parses `, mask v1, v2`.
    fn mask_and_old(&mut self, body: &mut Body) -> Res<(PackedOption<Value>, PackedOption<Value>)> {
        let mask = self.mask(body)?;
        let mut old = None;
        if mask.is_some() {
            self.expect(',')?;
            old = Some(self.value(body)?);
        }
        Ok((mask, old.into()))
    }

    /// Parses one of a list of keywords.
    pub(super) fn choice<T: Copy>(
        &mut self,
        all: &[T],
        name: impl Fn(T) -> &'static str,
        what: &str,
    ) -> Res<T> {
        let Token::Word(w) = self.peek() else {
            return self.error(format!("expected {what}, found {}", self.found()));
        };
        match all.iter().find(|c| name(**c) == w) {
            Some(c) => {
                self.at += 1;
                Ok(*c)
            }
            None => {
                let names: Vec<_> = all.iter().map(|c| name(*c)).collect();
                self.error(format!("`{w}` is not {what} ({})", names.join(", ")))
            }
        }
    }

    /// Parses `, mask v1`.
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

    pub(super) fn data_name(&mut self, what: &str) -> Res<DataRef> {
        let Token::Name(name) = self.peek() else {
            return self.error(format!("expected {what}, found {}", self.found()));
        };
        let Some(&data) = self.data.get(name) else {
            return self.error(format!("there is no data `%{name}`"));
        };
        self.at += 1;
        Ok(data)
    }

    /// Parses `v1, block4(v2) [0: block1, -7: block2(v3)]`. Values are kept as written until the
    /// type of `v1` is known.
    fn switch(&mut self, body: &mut Body, opcode: Opcode) -> Res<InstData> {
        let arg = self.value(body)?;
        self.expect(',')?;
        let mut cases = Cases {
            values: Vec::new(),
            dests: vec![self.destination(body)?],
        };
        self.expect('[')?;
        while !self.eat(']') {
            if !cases.values.is_empty() {
                self.expect(',')?;
            }
            cases.values.push(self.literal(Scalar::I64)?);
            self.expect(':')?;
            cases.dests.push(self.destination(body)?);
        }
        let cases = body.func.dfg.make_cases(cases);
        Ok(InstData::Switch { opcode, arg, cases })
    }

    pub(super) fn operands(
        &mut self,
        body: &mut Body,
        info: &Info,
        ctrl: Option<Type>,
    ) -> Res<InstData> {
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
                cond: self.choice(&IntCC::ALL, IntCC::name, "a condition")?,
                args: self.pair(body)?,
            },
            Format::FloatCompare => InstData::FloatCompare {
                opcode,
                cond: self.choice(&FloatCC::ALL, FloatCC::name, "a condition")?,
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
                // Operands are listed in the order old, new, index.
                if index.is_some()
                    && let Some(n) = body.map.spans.len().checked_sub(2)
                {
                    body.map.spans.swap(n, n + 1);
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
                let (mem, addr, offset) = self.place(body)?;
                let (mask, old) = self.mask_and_old(body)?;
                InstData::Load {
                    opcode,
                    mem,
                    addr,
                    offset,
                    mask,
                    old,
                }
            }
            Format::Store => {
                let value = self.value(body)?;
                self.expect(',')?;
                let (mem, addr, offset) = self.place(body)?;
                InstData::Store {
                    opcode,
                    mem,
                    args: [value, addr],
                    offset,
                    mask: self.mask(body)?,
                }
            }
            Format::Atomic => {
                let op = self.choice(&AtomicOp::ALL, AtomicOp::name, "an atomic operation")?;
                let (mem, addr, offset) = self.place(body)?;
                let mut data = [PackedOption::default(); 2];
                for d in data.iter_mut().take(op.operands()) {
                    self.expect(',')?;
                    *d = self.value(body)?.into();
                }
                let (mask, old) = self.mask_and_old(body)?;
                InstData::Atomic {
                    opcode,
                    op,
                    mem,
                    addr,
                    offset,
                    data,
                    mask,
                    old,
                }
            }
            Format::Fence => InstData::Fence {
                opcode,
                spaces: self.choice(&FenceSpaces::ALL, FenceSpaces::name, "memories")?,
                scope: self.choice(&Scope::ALL, Scope::name, "a scope")?,
            },
            Format::Image => self.image(body, opcode)?,
            Format::Media => self.media(body, opcode)?,
            Format::Send => self.send(body, opcode)?,
            Format::Dpas => self.dpas(body, opcode)?,
            Format::Block2d => self.block2d(body, opcode)?,
            Format::NamedBarrier => {
                let number = self.int("the number of a barrier")?;
                self.expect(',')?;
                InstData::NamedBarrier {
                    opcode,
                    number,
                    threads: self.value(body)?,
                }
            }
            Format::ArgQuery => {
                let (fact, word) = match opcode {
                    Opcode::ImageQuery => {
                        let fact = self.choice(&ImageFact::ALL, ImageFact::name, "a fact")?;
                        (ArgFact::Image(fact), "image")
                    }
                    _ => {
                        let fact = self.choice(&SamplerFact::ALL, SamplerFact::name, "a fact")?;
                        (ArgFact::Sampler(fact), "sampler")
                    }
                };
                let of = self.numbered(word)?;
                InstData::ArgQuery { opcode, fact, of }
            }
            Format::Symbol => {
                let data = self.data_name("data such as `%table`")?;
                InstData::Symbol { opcode, data }
            }
            Format::Printf => {
                let format = self.data_name("a string such as `%format`")?;
                self.expect('(')?;
                let args = self.value_list(body, Some(')'))?;
                let mask = self.mask(body)?;
                InstData::Printf {
                    opcode,
                    format,
                    args,
                    mask,
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
            Format::Switch => self.switch(body, opcode)?,
            Format::Return => InstData::Return {
                opcode,
                args: self.value_list(body, None)?,
            },
        })
    }
}
