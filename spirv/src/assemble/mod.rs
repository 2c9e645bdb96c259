//! Assembler for the text that `spirv-dis` prints and `spirv-as` reads: `%5 = OpIAdd %uint %3 %4`.
//!
//! The grammar is that of the `rspirv` crate. Numeric ids keep their numbers. The header has the
//! version of a comment `; Version: 1.2`, as `spirv-dis` prints it, else 1.6.

mod literal;
mod operands;

use operands::{Parameters, enumerant};
use rspirv::grammar::{
    GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE, LogicalOperand,
    OPENCL_STD_100_INSTRUCTION_TABLE, OperandKind, OperandQuantifier,
};
use spirv::Op;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Error in a text, with its line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct AssembleError {
    /// Line, from 1.
    pub line: u32,
    /// Message.
    pub message: String,
}

/// Maximum number of words of an instruction, which encodes it in 16 bits.
const MAX_WORDS: usize = u16::MAX as usize;

/// Assembles a text.
///
/// ```
/// let words = gantry_spirv::assemble("OpCapability Kernel ; Version: 1.0\n")?;
/// assert_eq!(words[5..], [0x0002_0011, 6]);
/// # Ok::<(), gantry_spirv::AssembleError>(())
/// ```
///
/// # Errors
/// The first line that is not an instruction.
pub fn assemble(text: &str) -> Result<Vec<u32>, AssembleError> {
    let mut a = Assembler {
        ids: Ids::new(text),
        types: HashMap::new(),
        numbers: HashMap::new(),
        sets: HashMap::new(),
    };
    let mut words = vec![spirv::MAGIC_NUMBER, version(text), 0, 0, 0];
    for (line, text) in (1..).zip(text.lines()) {
        let inst = tokens(text).and_then(|tokens| a.instruction(&tokens));
        words.extend(inst.map_err(|message| AssembleError { line, message })?);
    }
    if let Some(bound) = words.get_mut(3) {
        *bound = a.ids.bound;
    }
    Ok(words)
}

/// Version in a comment.
fn version(text: &str) -> u32 {
    let said = text.lines().find_map(|l| l.split_once("; Version: "));
    let number = said.and_then(|(_, v)| v.trim().split_once('.'));
    let number = number.and_then(|(a, b)| Some((a.parse::<u8>().ok()?, b.parse::<u8>().ok()?)));
    let (major, minor) = number.unwrap_or((1, 6));
    u32::from(major) << 16 | u32::from(minor) << 8
}

/// Splits a line without its comment into tokens. A string with its quotes is one token.
fn tokens(line: &str) -> Result<Vec<&str>, String> {
    let mut out = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with(';') {
        let end = if rest.starts_with('"') {
            string_end(rest).ok_or("a string without its end")?
        } else {
            rest.find(|c: char| c.is_whitespace() || c == ';')
                .unwrap_or(rest.len())
        };
        let (token, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        out.push(token);
        rest = tail.trim_start();
    }
    Ok(out)
}

/// Byte after the closing quote of a string at the start of a text.
fn string_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(at + 1),
            '\\' => {
                chars.next();
            }
            _ => {}
        }
    }
    None
}

/// Ids of a module.
struct Ids {
    /// Numeric ids.
    numbered: HashSet<u32>,
    named: HashMap<String, u32>,
    /// Last id that was assigned to a name.
    last: u32,
    bound: u32,
}

impl Ids {
    fn new(text: &str) -> Ids {
        let numbers = text.split('%').skip(1).filter_map(|t| {
            let end = t.find(|c: char| !is_name(c)).unwrap_or(t.len());
            t.get(..end).and_then(|n| n.parse().ok())
        });
        Ids {
            numbered: numbers.filter(|n| *n != 0).collect(),
            named: HashMap::new(),
            last: 0,
            bound: 1,
        }
    }

    /// Id of a token `%name`.
    fn of(&mut self, token: &str) -> Result<u32, String> {
        let name = token.strip_prefix('%');
        let name = name.filter(|n| !n.is_empty() && n.chars().all(is_name));
        let name = name.ok_or_else(|| format!("expected an id such as `%x`, found `{token}`"))?;
        let number = name.parse::<u32>().ok();
        let id = match number.filter(|n| self.numbered.contains(n)) {
            // The bound would overflow.
            Some(u32::MAX) => return Err(format!("the id `{token}` is too high")),
            Some(id) => id,
            None => match self.named.get(name) {
                Some(&id) => id,
                None => {
                    self.last += 1;
                    while self.numbered.contains(&self.last) {
                        self.last += 1;
                    }
                    self.named.insert(name.to_owned(), self.last);
                    self.last
                }
            },
        };
        self.bound = self.bound.max(id + 1);
        Ok(id)
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Numeric type.
#[derive(Clone, Copy)]
struct NumberType {
    float: bool,
    bits: u32,
}

/// Instruction numbers of a set by name.
type InstSet = HashMap<&'static str, u32>;

struct Assembler {
    ids: Ids,
    /// Type of each value.
    types: HashMap<u32, u32>,
    /// Numeric types by id.
    numbers: HashMap<u32, NumberType>,
    /// Imported instruction sets.
    sets: HashMap<u32, Option<&'static InstSet>>,
}

/// Opcodes by name.
fn opcodes() -> &'static HashMap<&'static str, Op> {
    static ALL: OnceLock<HashMap<&'static str, Op>> = OnceLock::new();
    ALL.get_or_init(|| {
        INSTRUCTION_TABLE
            .iter()
            .map(|i| (i.opname, i.opcode))
            .collect()
    })
}

/// Instructions of an imported set, or `None` if their names are unknown.
fn set(name: &str) -> Option<&'static InstSet> {
    static OPENCL: OnceLock<InstSet> = OnceLock::new();
    static GLSL: OnceLock<InstSet> = OnceLock::new();
    let (kept, table) = match name {
        "OpenCL.std" => (&OPENCL, &OPENCL_STD_100_INSTRUCTION_TABLE),
        "GLSL.std.450" => (&GLSL, &GLSL_STD_450_INSTRUCTION_TABLE),
        _ => return None,
    };
    Some(kept.get_or_init(|| table.iter().map(|i| (i.opname, i.opcode.into())).collect()))
}

/// Remaining tokens of an instruction, and the words so far.
struct Operands<'t> {
    tokens: std::slice::Iter<'t, &'t str>,
    words: Vec<u32>,
}

impl<'t> Operands<'t> {
    fn next(&mut self, what: &str) -> Result<&'t str, String> {
        let next = self.tokens.next().copied();
        next.ok_or_else(|| format!("expected {what}, found the end of the line"))
    }

    fn is_empty(&self) -> bool {
        self.tokens.as_slice().is_empty()
    }
}

impl Assembler {
    /// Assembles a line.
    fn instruction(&mut self, tokens: &[&str]) -> Result<Vec<u32>, String> {
        let (result, name, operands) = match tokens {
            [] => return Ok(Vec::new()),
            [result, "=", name, operands @ ..] => (Some(*result), *name, operands),
            [name, operands @ ..] => (None, *name, operands),
        };
        let op = name.strip_prefix("Op").and_then(|n| opcodes().get(n));
        let op = *op.ok_or_else(|| format!("unknown instruction `{name}`"))?;
        let grammar = INSTRUCTION_TABLE.get(op).operands;
        let has_result = grammar.iter().any(|o| o.kind == OperandKind::IdResult);
        if has_result != result.is_some() {
            return Err(if has_result {
                format!("`{name}` has a result: `%x = {name}`")
            } else {
                format!("`{name}` has no result")
            });
        }
        let mut rest = Operands {
            tokens: operands.iter(),
            words: vec![0],
        };
        let mut ty = None;
        for o in grammar {
            match o.kind {
                OperandKind::IdResult => rest.words.push(self.ids.of(result.unwrap_or(""))?),
                OperandKind::IdResultType => {
                    let id = self.ids.of(rest.next("a type")?)?;
                    ty = Some(id);
                    rest.words.push(id);
                }
                _ => self.operand(op, o, ty, &mut rest)?,
            }
        }
        if let Some(more) = rest.tokens.next() {
            return Err(format!("`{name}` takes no further operand `{more}`"));
        }
        let mut words = rest.words;
        if words.len() > MAX_WORDS {
            return Err(format!("more than {MAX_WORDS} words"));
        }
        if let Some(first) = words.first_mut() {
            *first = op as u32;
        }
        self.learn(op, &words, operands);
        let length = words.len() as u32;
        if let Some(first) = words.first_mut() {
            *first |= length << 16;
        }
        Ok(words)
    }

    /// Records types and imports for later lines.
    fn learn(&mut self, op: Op, words: &[u32], operands: &[&str]) {
        match (op, words) {
            (Op::TypeInt, [_, id, bits, ..]) | (Op::TypeFloat, [_, id, bits, ..]) => {
                let float = op == Op::TypeFloat;
                self.numbers.insert(*id, NumberType { float, bits: *bits });
            }
            (Op::ExtInstImport, [_, id, ..]) => {
                let name = operands.first().map_or("", |n| n.trim_matches('"'));
                self.sets.insert(*id, set(name));
            }
            (_, [_, ty, id, ..]) => {
                let grammar = INSTRUCTION_TABLE.get(op).operands;
                let first = grammar.first().map(|o| o.kind);
                if first == Some(OperandKind::IdResultType) {
                    self.types.insert(*id, *ty);
                }
            }
            _ => {}
        }
    }

    /// Assembles an operand with all its repetitions.
    fn operand(
        &mut self,
        op: Op,
        operand: &LogicalOperand,
        ty: Option<u32>,
        rest: &mut Operands<'_>,
    ) -> Result<(), String> {
        match operand.quantifier {
            OperandQuantifier::One => self.one(op, operand.kind, ty, rest),
            OperandQuantifier::ZeroOrOne if rest.is_empty() => Ok(()),
            OperandQuantifier::ZeroOrOne => self.one(op, operand.kind, ty, rest),
            OperandQuantifier::ZeroOrMore => {
                while !rest.is_empty() {
                    self.one(op, operand.kind, ty, rest)?;
                }
                Ok(())
            }
        }
    }

    fn one(
        &mut self,
        op: Op,
        kind: OperandKind,
        ty: Option<u32>,
        rest: &mut Operands<'_>,
    ) -> Result<(), String> {
        match kind {
            OperandKind::IdRef
            | OperandKind::IdScope
            | OperandKind::IdMemorySemantics
            | OperandKind::IdResultType
            | OperandKind::IdResult => {
                // Some extended instructions take numbers and rounding modes.
                let next = rest.tokens.as_slice().first();
                let kind = match next.filter(|t| op == Op::ExtInst && !t.starts_with('%')) {
                    Some(t) if t.starts_with(|c: char| c.is_ascii_digit()) => {
                        OperandKind::LiteralInteger
                    }
                    Some(_) => OperandKind::FPRoundingMode,
                    None => return self.id(rest),
                };
                self.one(op, kind, ty, rest)
            }
            OperandKind::LiteralString => literal::string(rest.next("a string")?, &mut rest.words),
            OperandKind::LiteralInteger | OperandKind::LiteralFloat => {
                let float = kind == OperandKind::LiteralFloat;
                let number = NumberType { float, bits: 32 };
                literal::number(rest.next("a number")?, number, &mut rest.words)
            }
            OperandKind::LiteralContextDependentNumber => {
                let number = ty.and_then(|ty| self.numbers.get(&ty)).copied();
                let number = number.ok_or("a number of a type that is none of numbers")?;
                literal::number(rest.next("a number")?, number, &mut rest.words)
            }
            OperandKind::LiteralExtInstInteger => {
                let of = rest.words.last().and_then(|id| self.sets.get(id)).copied();
                let of = of.ok_or("a set of instructions that was not imported")?;
                let name = rest.next("an instruction of the set")?;
                let number = of.and_then(|set| set.get(name)).copied();
                let number = number.or_else(|| name.parse().ok());
                rest.words
                    .push(number.ok_or_else(|| format!("the set has no `{name}`"))?);
                Ok(())
            }
            OperandKind::LiteralSpecConstantOpInteger => self.of_constants(ty, rest),
            OperandKind::PairLiteralIntegerIdRef => {
                // Cases of a switch have the type of the selector.
                let selector = rest.words.get(1).and_then(|id| self.types.get(id));
                let number = selector.and_then(|ty| self.numbers.get(ty)).copied();
                let plain = NumberType {
                    float: false,
                    bits: 32,
                };
                let number = number.filter(|_| op == Op::Switch).unwrap_or(plain);
                literal::number(rest.next("a number")?, number, &mut rest.words)?;
                self.id(rest)
            }
            OperandKind::PairIdRefIdRef => self.id(rest).and_then(|()| self.id(rest)),
            OperandKind::PairIdRefLiteralInteger => {
                self.id(rest)?;
                self.one(op, OperandKind::LiteralInteger, ty, rest)
            }
            kind => {
                let (word, parameters) = enumerant(kind, rest.next("a name")?)?;
                rest.words.push(word);
                self.parameters(op, &parameters, ty, rest)
            }
        }
    }

    /// Assembles the parameters of an enumerant. Those of a mask are in the order of its bits, and
    /// their kinds follow from the tokens.
    fn parameters(
        &mut self,
        op: Op,
        parameters: &Parameters,
        ty: Option<u32>,
        rest: &mut Operands<'_>,
    ) -> Result<(), String> {
        for p in parameters {
            let next = rest.tokens.as_slice().first();
            let kind = match next {
                Some(t) if t.starts_with('%') => OperandKind::IdRef,
                Some(t) if t.starts_with('"') => OperandKind::LiteralString,
                Some(t) if t.starts_with(|c: char| c.is_ascii_digit()) => {
                    OperandKind::LiteralInteger
                }
                _ => p.kind,
            };
            let one = LogicalOperand {
                kind,
                quantifier: p.quantifier,
            };
            self.operand(op, &one, ty, rest)?;
        }
        Ok(())
    }

    fn id(&mut self, rest: &mut Operands<'_>) -> Result<(), String> {
        let id = self.ids.of(rest.next("an id")?)?;
        rest.words.push(id);
        Ok(())
    }

    /// Assembles the operation of `OpSpecConstantOp` with its operands.
    fn of_constants(&mut self, ty: Option<u32>, rest: &mut Operands<'_>) -> Result<(), String> {
        let name = rest.next("an operation")?;
        let op = opcodes().get(name.strip_prefix("Op").unwrap_or(name));
        // A nested one has no meaning, and would recurse as deep as the line is long.
        let op = op.filter(|op| **op != Op::SpecConstantOp);
        let op = *op.ok_or_else(|| format!("unknown operation `{name}`"))?;
        rest.words.push(op as u32);
        let results = [OperandKind::IdResult, OperandKind::IdResultType];
        let grammar = INSTRUCTION_TABLE.get(op).operands;
        for o in grammar.iter().filter(|o| !results.contains(&o.kind)) {
            self.operand(op, o, ty, rest)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let text = "\
; SPIR-V
; Version: 1.2
OpCapability Kernel
%ext = OpExtInstImport \"OpenCL.std\" ; a comment
OpEntryPoint Kernel %7 \"a \\\"b\\\"\" %x
%u16 = OpTypeInt 16 0
%f64 = OpTypeFloat 64
%3 = OpConstant %u16 0xffff
%4 = OpConstant %f64 -0x1.8p+1
%x = OpExtInst %f64 %ext sqrt %4
OpStore %4 %x Volatile|Aligned 8
%y = OpSpecConstantOp %u16 UConvert %3
";
        let words = assemble(text).unwrap();
        assert_eq!(words[..2], [spirv::MAGIC_NUMBER, 0x1_0200]);
        // 3, 4 and 7 are taken.
        let (ext, x, u16_, f64_, y) = (1, 2, 5, 6, 8);
        assert_eq!(words[3], 9);
        let string = |s: &[u8; 12]| -> Vec<u32> {
            let words = s.as_chunks::<4>().0.iter();
            words.map(|w| u32::from_le_bytes(*w)).collect()
        };
        let mut want = vec![2 << 16 | 17, 6, 5 << 16 | 11, ext];
        want.extend(string(b"OpenCL.std\0\0"));
        want.extend([6 << 16 | 15, 6, 7]);
        want.extend(&string(b"a \"b\"\0\0\0\0\0\0\0")[..2]);
        want.push(x);
        want.extend([4 << 16 | 21, u16_, 16, 0, 3 << 16 | 22, f64_, 64]);
        want.extend([4 << 16 | 43, u16_, 3, 0xffff]);
        want.extend([5 << 16 | 43, f64_, 4, 0, 0xc008_0000]);
        want.extend([6 << 16 | 12, f64_, x, ext, 61, 4]);
        want.extend([5 << 16 | 62, 4, x, 3, 8]);
        want.extend([5 << 16 | 52, u16_, y, 113, 3]);
        assert_eq!(words[5..], want);
    }

    #[test]
    fn wrong_lines() {
        for (text, said) in [
            ("OpNop\nOpNap", "line 2: unknown instruction `OpNap`"),
            ("OpNop 1", "line 1: `OpNop` takes no further operand `1`"),
            ("%x = OpNop", "line 1: `OpNop` has no result"),
            (
                "OpTypeVoid",
                "line 1: `OpTypeVoid` has a result: `%x = OpTypeVoid`",
            ),
            (
                "OpCapability",
                "line 1: expected a name, found the end of the line",
            ),
            ("OpCapability Karnel", "line 1: `Karnel` is no Capability"),
            (
                "OpName x \"y\"",
                "line 1: expected an id such as `%x`, found `x`",
            ),
            ("OpName %x y", "line 1: expected a string, found `y`"),
            ("OpName %x \"y", "line 1: a string without its end"),
            (
                "OpName %4294967295 \"y\"",
                "line 1: the id `%4294967295` is too high",
            ),
            (
                "%x = OpTypeInt 32 two",
                "line 1: `two` is no number of 32 bits",
            ),
            (
                "%x = OpConstant %y 1",
                "line 1: a number of a type that is none of numbers",
            ),
            (
                "%x = OpExtInst %y %z sqrt %w",
                "line 1: a set of instructions that was not imported",
            ),
            (
                "%x = OpSpecConstantOp %y SpecConstantOp IAdd %z %z",
                "line 1: unknown operation `SpecConstantOp`",
            ),
            (
                "OpStore %x %y Volatile|Alined",
                "line 1: `Alined` is no MemoryAccess",
            ),
        ] {
            assert_eq!(assemble(text).unwrap_err().to_string(), said);
        }
    }
}
