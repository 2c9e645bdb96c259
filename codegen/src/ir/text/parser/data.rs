//! Parser of module data.

use super::{Parser, Res};
use crate::ir::text::lexer::Token;
use crate::ir::text::literal;
use crate::ir::{Data, DataReloc, Scalar};

/// Maximum bytes of data of a text. Repeat counts let a short text describe much data.
const MAX_DATA_BYTES: usize = 1 << 28;

impl Parser<'_> {
    /// Parses `const %table align 16 = f32 [1.0, 2.0, 0.0 x 30]`, or `global` for `const`.
    ///
    /// Elements may span several lines. Relocated addresses may follow: `relocs [0: %other, 8:
    /// %other+4]`.
    pub(super) fn module_data(&mut self) -> Res<Data> {
        let written = self.peek() == Token::Word("global");
        self.at += 1;
        let Token::Name(name) = self.peek() else {
            return self.error(format!(
                "expected a name such as `%table`, found {}",
                self.found()
            ));
        };
        self.at += 1;
        let align = if self.eat_word("align") {
            Some(self.int("an alignment in bytes")?)
        } else {
            None
        };
        self.expect('=')?;
        if let Token::Text(text) = self.peek() {
            if align.is_some() {
                return self.error("a string has no alignment");
            }
            if written {
                return self.error("a string is constant: `const %text = \"..\"`");
            }
            let bytes = match literal::unquote(text) {
                Ok(bytes) => bytes,
                Err(e) => return self.error(e),
            };
            self.at += 1;
            self.end_of_line()?;
            return Ok(Data::string(name, bytes));
        }
        let ty = self.ty()?;
        if ty.lanes() != 1 || ty.scalar() == Scalar::B1 {
            return self.error(format!("data is of elements such as `i32`, not of {ty}"));
        }
        let bytes = self.elements(ty.scalar())?;
        let relocs = if self.eat_word("relocs") {
            self.relocs()?
        } else {
            Vec::new()
        };
        self.end_of_line()?;
        let data = Data::new(name, ty.scalar(), &[]);
        Ok(Data {
            align: align.unwrap_or(data.align),
            bytes,
            written,
            relocs,
            ..data
        })
    }

    /// Parses elements in brackets, where `0 x 100` repeats an element.
    fn elements(&mut self, scalar: Scalar) -> Res<Vec<u8>> {
        let size = scalar.bytes().max(1) as usize;
        let mut out = Vec::new();
        self.list(|p| {
            let element = p.literal(scalar)?.to_le_bytes();
            let count = if p.eat_word("x") {
                p.int::<u32>("a count of elements")? as usize
            } else {
                1
            };
            p.data_bytes = p.data_bytes.saturating_add(count.saturating_mul(size));
            if p.data_bytes > MAX_DATA_BYTES {
                p.at -= 1;
                return p.error(format!("more than {MAX_DATA_BYTES} bytes of data"));
            }
            let element = &element[..size];
            (0..count).for_each(|_| out.extend_from_slice(element));
            Ok(())
        })?;
        Ok(out)
    }

    /// Parses `[0: %other, 8: %other+4]`.
    fn relocs(&mut self) -> Res<Vec<DataReloc>> {
        let mut out = Vec::new();
        self.list(|p| {
            let offset = p.int("an offset in bytes")?;
            p.expect(':')?;
            let data = p.data_name("data such as `%table`")?;
            let negative = matches!(p.peek(), Token::Number(n) if n.starts_with('-'));
            let addend = if p.eat('+') || negative {
                p.int("a number of bytes")?
            } else {
                0
            };
            out.push(DataReloc {
                offset,
                data,
                addend,
            });
            Ok(())
        })?;
        Ok(out)
    }

    /// Parses a list in brackets, separated by commas, on one or several lines.
    fn list(&mut self, mut one: impl FnMut(&mut Self) -> Res<()>) -> Res<()> {
        self.expect('[')?;
        let mut first = true;
        loop {
            self.skip_newlines();
            if self.eat(']') {
                return Ok(());
            }
            if !std::mem::take(&mut first) {
                self.expect(',')?;
                self.skip_newlines();
            }
            one(self)?;
        }
    }

    fn skip_newlines(&mut self) {
        while self.peek() == Token::Newline {
            self.at += 1;
        }
    }
}
