//! Parsers of the operands of each format. The parser of a format is generated from its row in
//! `meta`, and calls a function here for each kind of field.

use super::function::Body;
use super::{Parser, Res, number};
use crate::ir::immediate::Immediate;
use crate::ir::instructions::ValueList;
use crate::ir::opcode::{Format, Info};
use crate::ir::text::lexer::Token;
use crate::ir::text::literal;
use crate::ir::{
    Block, BlockCall, CachePolicy, CaseTable, Cases, Constant, DataRef, FuncRef, InstData,
    MemFlags, Opcode, Region, Scalar, Space, Value,
};
use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use gantry_isa_gen::diag::Diagnostic;

include!(concat!(env!("OUT_DIR"), "/parser.rs"));

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

    /// Parses N values.
    fn values<const N: usize>(&mut self, body: &mut Body) -> Res<[Value; N]> {
        let mut out = [Value::reserved_value(); N];
        for (n, v) in out.iter_mut().enumerate() {
            if n > 0 {
                self.expect(',')?;
            }
            *v = self.value(body)?;
        }
        Ok(out)
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

    /// Parses `surface 0 v1+16 align 8 volatile l1 uncached l3 cached`.
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
        mem.cache = CachePolicy::parse(self)?;
        Ok((mem, addr, offset))
    }

    /// Parses a keyword.
    pub(in crate::ir) fn keyword(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        self.error(format!("expected `{word}`, found {}", self.found()))
    }

    /// Returns true if these tokens are next.
    fn ahead(&self, tokens: &[Token<'_>]) -> bool {
        let next = self.tokens.get(self.at..).unwrap_or_default();
        next.len() >= tokens.len() && next.iter().zip(tokens).all(|(a, b)| a.0 == *b)
    }

    /// Parses one to N values.
    fn present<const N: usize>(&mut self, body: &mut Body) -> Res<[PackedOption<Value>; N]> {
        let mut out = [PackedOption::default(); N];
        for (n, v) in out.iter_mut().enumerate() {
            if n > 0 && !self.eat(',') {
                break;
            }
            *v = self.value(body)?.into();
        }
        Ok(out)
    }

    /// Parses a number of values, each after a comma.
    fn each_after_comma<const N: usize>(
        &mut self,
        body: &mut Body,
        count: usize,
    ) -> Res<[PackedOption<Value>; N]> {
        let mut out = [PackedOption::default(); N];
        for v in out.iter_mut().take(count) {
            self.expect(',')?;
            *v = self.value(body)?.into();
        }
        Ok(out)
    }

    /// Parses `[1, 2, 3]`.
    fn constant(&mut self, body: &mut Body, scalar: Scalar) -> Res<Constant> {
        self.expect('[')?;
        let mut lanes = Vec::new();
        while !self.eat(']') {
            if !lanes.is_empty() {
                self.expect(',')?;
            }
            lanes.push(self.literal(scalar)?);
        }
        Ok(body.func.dfg.make_constant(lanes))
    }

    /// Parses a keyword and a number.
    pub(in crate::ir) fn number_after(&mut self, word: &str) -> Res<u32> {
        self.keyword(word)?;
        Ok(self.literal(Scalar::I32)? as u32)
    }

    /// Parses `exec 8 ex 0xc desc 0x2106e00`.
    fn message(&mut self, _: &mut Body) -> Res<(u8, [u32; 2])> {
        let span = self.span();
        let Ok(exec) = u8::try_from(self.number_after("exec")?) else {
            let what = "channels of a message are 32 at most";
            return Err(Diagnostic::new(span, what));
        };
        Ok((exec, [self.number_after("ex")?, self.number_after("desc")?]))
    }

    /// Parses one of a list of keywords.
    pub(in crate::ir) fn choice<T: Copy>(
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

    fn destinations<const N: usize>(&mut self, body: &mut Body) -> Res<[BlockCall; N]> {
        let mut out = [BlockCall {
            block: Block::reserved_value(),
            args: ValueList::new(),
        }; N];
        for (n, dest) in out.iter_mut().enumerate() {
            if n > 0 {
                self.expect(',')?;
            }
            *dest = self.destination(body)?;
        }
        Ok(out)
    }

    fn function_name(&mut self, what: &str) -> Res<FuncRef> {
        let Token::Name(name) = self.peek() else {
            return self.error(format!("expected {what}, found {}", self.found()));
        };
        let Some(&func) = self.names.get(name) else {
            return self.error(format!("there is no function `%{name}`"));
        };
        self.at += 1;
        Ok(func)
    }

    /// Parses `v1, block4(v2) [0: block1, -7: block2(v3)]`. Values are kept as written until the
    /// type of `v1` is known.
    fn switch(&mut self, body: &mut Body) -> Res<(Value, CaseTable)> {
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
        Ok((arg, body.func.dfg.make_cases(cases)))
    }
}
