//! Parser of SPIR-V words into instructions with type, result and operands, by rspirv's grammar.
//!
//! Afterwards every instruction has the operands that the grammar requires. Their meaning is
//! checked later. Nothing is copied: an instruction is a range of words.

use crate::error::{Error, Errors};
use cranelift_entity::{entity_impl, packed_option::PackedOption};
use rspirv::grammar::{
    INSTRUCTION_TABLE as CORE, LogicalOperand, OPENCL_STD_100_INSTRUCTION_TABLE, OperandKind,
    OperandQuantifier, reflect::is_block_terminator,
};
use smallvec::SmallVec;
use spirv::Op;
use std::sync::LazyLock;

/// Id of the module, or one that a pass made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);
entity_impl!(Id, "%");

impl Id {
    /// Id in a word. Words that the grammar does not treat as ids are not checked against the
    /// bound. A word too large for an id becomes an id that nothing defines.
    pub(crate) fn of(word: u32) -> Id {
        Id::from_u32(word.min(u32::MAX - 1))
    }
}

/// Maximum id bound: SPIR-V's universal limit.
pub(crate) const MAX_IDS: u32 = 0x3f_ffff;
/// Offset added to the numbers of GLSL.std.450 instructions in bodies. All operands of those are
/// ids.
pub(crate) const GLSL: u32 = 1 << 16;
/// Words of the module header.
const HEADER: usize = 5;

/// Instruction of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Inst {
    pub op: Op,
    /// Index of its first word.
    pub at: u32,
    /// Type of the result, if it has one.
    pub ty: PackedOption<Id>,
    /// Result.
    pub id: PackedOption<Id>,
    /// Word range of the other operands.
    first: u32,
    end: u32,
}

/// Words of a module, split into instructions.
#[derive(Debug)]
pub(crate) struct Stream<'w> {
    pub words: &'w [u32],
    /// Exclusive upper bound of ids.
    pub bound: u32,
    pub insts: Vec<Inst>,
    /// Ids of OpenCL.std imports. Operands of sets other than this and GLSL.std.450 are unknown.
    opencl: Vec<u32>,
    /// Ids of GLSL.std.450 imports. Operands of its instructions are ids.
    glsl: Vec<u32>,
}

impl<'w> Stream<'w> {
    /// Returns true if the operands of an `OpExtInst` name OpenCL.std.
    pub fn is_opencl(&self, operands: &[u32]) -> bool {
        operands
            .first()
            .is_some_and(|set| self.opencl.contains(set))
    }

    /// Returns the operand words of an instruction, without type and result.
    pub fn operands(&self, inst: &Inst) -> &'w [u32] {
        &self.words[inst.first as usize..inst.end as usize]
    }
}

/// Role of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpClass {
    /// Type declaration.
    Type,
    /// Constant declaration.
    Constant,
    /// Block terminator.
    Terminator,
    Other,
}

/// Operands of an opcode by the grammar.
#[derive(Clone, Copy, Debug)]
struct Operands {
    /// Number of leading operands that are required and one word each.
    fixed: usize,
    /// Bit set of the leading operands that are ids.
    ids: u32,
    /// Remaining operands.
    rest: &'static [LogicalOperand],
}

impl Operands {
    fn new(all: &'static [LogicalOperand]) -> Operands {
        let is_fixed =
            |o: &&LogicalOperand| o.quantifier == OperandQuantifier::One && is_one_word(o.kind);
        let first = all.iter().take(u32::BITS as usize);
        let fixed = first.take_while(is_fixed).count();
        let (first, rest) = all.split_at_checked(fixed).unwrap_or((all, &[]));
        let bits = (0..).zip(first).filter(|(_, o)| is_id(o.kind));
        Operands {
            fixed,
            ids: bits.fold(0, |ids, (n, _): (u32, _)| ids | 1 << n),
            rest,
        }
    }
}

/// Grammar of an opcode.
#[derive(Clone, Copy, Debug)]
struct OpGrammar {
    op: Op,
    kind: OpClass,
    ty: bool,
    id: bool,
    /// Operands without type and result.
    operands: Operands,
}

/// Grammar tables indexed by opcode. Those of rspirv are searched linearly.
struct Grammar {
    /// Index into `shapes` by opcode. Out of range for unknown opcodes.
    numbers: Vec<u16>,
    shapes: Vec<OpGrammar>,
    /// Operands of OpenCL.std instructions after the instruction number, by that number.
    opencl: Vec<Option<Operands>>,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut numbers = Vec::new();
    let mut shapes = Vec::new();
    for row in CORE.iter() {
        let n = row.opcode as usize;
        if numbers.len() <= n {
            numbers.resize(n + 1, u16::MAX);
        }
        if let Some(slot) = numbers.get_mut(n) {
            *slot = shapes.len() as u16;
        }
        let is = |at: usize, kind| row.operands.get(at).is_some_and(|o| o.kind == kind);
        let ty = is(0, OperandKind::IdResultType);
        let id = is(usize::from(ty), OperandKind::IdResult);
        let skip = usize::from(ty) + usize::from(id);
        shapes.push(OpGrammar {
            op: row.opcode,
            kind: match row.opname {
                name if name.starts_with("Type") => OpClass::Type,
                name if name.starts_with("Constant") => OpClass::Constant,
                name if name.starts_with("SpecConstant") => OpClass::Constant,
                _ if is_block_terminator(row.opcode) => OpClass::Terminator,
                _ => OpClass::Other,
            },
            ty,
            id,
            operands: Operands::new(row.operands.get(skip..).unwrap_or(&[])),
        });
    }
    let mut opencl = Vec::new();
    for row in OPENCL_STD_100_INSTRUCTION_TABLE.iter() {
        let n = u32::from(row.opcode) as usize;
        if opencl.len() <= n {
            opencl.resize(n + 1, None);
        }
        if let Some(slot @ None) = opencl.get_mut(n) {
            *slot = Some(Operands::new(row.operands));
        }
    }
    Grammar {
        numbers,
        shapes,
        opencl,
    }
});

impl Grammar {
    fn shape(&self, opcode: u32) -> Option<&OpGrammar> {
        let n = self.numbers.get(opcode as usize)?;
        self.shapes.get(usize::from(*n))
    }
}

/// Returns the role of an opcode.
pub(crate) fn kind(op: Op) -> OpClass {
    let shape = GRAMMAR.shape(op as u32);
    shape.map_or(OpClass::Other, |s| s.kind)
}

/// Returns the operands of an OpenCL.std instruction after its number.
fn opencl_operands(number: u32) -> Option<&'static Operands> {
    GRAMMAR.opencl.get(number as usize)?.as_ref()
}

/// Returns the name of an instruction, as in the specification.
pub(crate) fn name(op: Op) -> String {
    format!("Op{op:?}")
}

/// Returns true if an imported set with this name does not affect computed results.
pub(crate) fn is_silent(set: &str) -> bool {
    set.starts_with("NonSemantic.") || set.contains("DebugInfo")
}

/// Returns the name of an OpenCL.std instruction.
pub(crate) fn opencl_name(number: u32) -> String {
    match spirv::OpenclStd100Op::from_u32(number) {
        Some(op) => format!("OpenCL.std {op:?}"),
        None => format!("OpenCL.std {number}"),
    }
}

/// Returns the name of a GLSL.std.450 instruction.
pub(crate) fn glsl_name(number: u32) -> String {
    match spirv::GlslStd450Op::from_u32(number) {
        Some(op) => format!("GLSL.std.450 {op:?}"),
        None => format!("GLSL.std.450 {number}"),
    }
}

/// Number of words of a literal string including its terminator.
fn string_words(words: &[u32]) -> Option<usize> {
    // The borrow reaches the high bit of a byte that was clear only if a byte is zero.
    let ends = |w: &u32| w.wrapping_sub(0x0101_0101) & !w & 0x8080_8080 != 0;
    words.iter().position(ends).map(|n| n + 1)
}

/// Decodes a literal string.
pub(crate) fn string(words: &[u32]) -> String {
    let count = string_words(words).unwrap_or(words.len());
    let mut bytes = Vec::with_capacity(4 * count);
    for word in words.iter().take(count) {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    let end = bytes.iter().position(|b| *b == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    }
}

/// Operands of a GLSL.std.450 instruction as bodies have them: the number plus [`GLSL`].
pub(crate) fn shifted(operands: &[u32]) -> SmallVec<[u32; 8]> {
    let mut words: SmallVec<[u32; 8]> = SmallVec::from_slice(operands);
    if let Some(number) = words.get_mut(1) {
        *number = number.saturating_add(GLSL);
    }
    words
}

/// Calls `each` with the index of every operand that is an id. `wide` is set for a switch whose
/// literals have two words.
///
/// # Errors
/// A message about a missing or surplus operand.
pub(crate) fn for_each_id(
    op: Op,
    words: &[u32],
    wide: bool,
    each: impl FnMut(usize),
) -> Result<(), &'static str> {
    match GRAMMAR.shape(op as u32) {
        Some(shape) => for_each_id_of(shape, words, wide, each),
        None => Ok(()),
    }
}

#[inline]
fn for_each_id_of(
    shape: &OpGrammar,
    words: &[u32],
    wide: bool,
    mut each: impl FnMut(usize),
) -> Result<(), &'static str> {
    match shape.op {
        Op::Switch => switch(words, wide, &mut each),
        Op::ExtInst | Op::SpecConstantOp => of_another(shape, words, &mut each),
        _ => {
            let at = walk(&shape.operands, words, 0, &mut each)?;
            is_all(at, words)
        }
    }
}

fn switch(words: &[u32], wide: bool, mut each: &mut dyn FnMut(usize)) -> Result<(), &'static str> {
    let step = if wide { 3 } else { 2 };
    if words.len() < 2 || !(words.len() - 2).is_multiple_of(step) {
        return Err("an incomplete case");
    }
    (0..2).for_each(&mut each);
    (2 + step - 1..words.len()).step_by(step).for_each(each);
    Ok(())
}

/// Visits the ids of `OpExtInst` and `OpSpecConstantOp`, whose operands depend on another opcode.
fn of_another(
    shape: &OpGrammar,
    words: &[u32],
    mut each: &mut dyn FnMut(usize),
) -> Result<(), &'static str> {
    if shape.op == Op::SpecConstantOp {
        walk(&shape.operands, words, 0, &mut each)?;
        let inner = words.first().and_then(|n| GRAMMAR.shape(*n));
        let inner = inner.ok_or("an unknown opcode")?;
        let at = walk(&inner.operands, words, 1, &mut each)?;
        return is_all(at, words);
    }
    // The remaining operands are those of the imported instruction.
    let set = Operands {
        rest: &[],
        ..shape.operands
    };
    let at = walk(&set, words, 0, &mut each)?;
    let number = words.get(1).copied().unwrap_or(0);
    if number >= GLSL {
        (at..words.len()).for_each(each);
        return Ok(());
    }
    match opencl_operands(number) {
        Some(operands) => {
            let at = walk(operands, words, at, &mut each)?;
            is_all(at, words)
        }
        None => Ok(()),
    }
}

fn is_all(at: usize, words: &[u32]) -> Result<(), &'static str> {
    if at == words.len() {
        Ok(())
    } else {
        Err("more operands than it has")
    }
}

/// Visits the ids among operands from a word on. Returns the index of the word after them.
#[inline]
fn walk(
    operands: &Operands,
    words: &[u32],
    at: usize,
    each: &mut impl FnMut(usize),
) -> Result<usize, &'static str> {
    let have = words.len().saturating_sub(at);
    let enough = have >= operands.fixed;
    let mut left = if enough {
        operands.ids
    } else {
        operands.ids & !(u32::MAX << have)
    };
    while left != 0 {
        each(at + left.trailing_zeros() as usize);
        left &= left - 1;
    }
    match (enough, operands.rest) {
        (false, _) => Err("an operand is missing"),
        (true, []) => Ok(at + operands.fixed),
        (true, rest) => walk_rest(rest, words, at + operands.fixed, each),
    }
}

/// Visits operands one by one.
fn walk_rest(
    operands: &[LogicalOperand],
    words: &[u32],
    mut at: usize,
    each: &mut impl FnMut(usize),
) -> Result<usize, &'static str> {
    for operand in operands {
        loop {
            if at >= words.len() {
                match operand.quantifier {
                    OperandQuantifier::One => return Err("an operand is missing"),
                    _ => break,
                }
            }
            at = one(operand.kind, words, at, each)?;
            if operand.quantifier != OperandQuantifier::ZeroOrMore {
                break;
            }
        }
    }
    Ok(at)
}

fn is_id(kind: OperandKind) -> bool {
    use OperandKind as K;
    matches!(
        kind,
        K::IdRef | K::IdScope | K::IdMemorySemantics | K::IdResultType | K::IdResult
    )
}

/// Returns true if an operand is one word for every value.
fn is_one_word(kind: OperandKind) -> bool {
    use OperandKind as K;
    !matches!(
        kind,
        K::LiteralString
            | K::LiteralContextDependentNumber
            | K::PairLiteralIntegerIdRef
            | K::PairIdRefLiteralInteger
            | K::PairIdRefIdRef
            | K::MemoryAccess
            | K::ImageOperands
            | K::Decoration
            | K::ExecutionMode
            | K::LoopControl
    )
}

/// Visits one operand. Returns the index of the word after it.
fn one(
    kind: OperandKind,
    words: &[u32],
    at: usize,
    each: &mut impl FnMut(usize),
) -> Result<usize, &'static str> {
    use OperandKind as K;
    let rest = words.get(at..).unwrap_or(&[]);
    let need = |n: usize| {
        if rest.len() >= n {
            Ok(at + n)
        } else {
            Err("an operand is missing")
        }
    };
    match kind {
        kind if is_id(kind) => {
            each(at);
            Ok(at + 1)
        }
        K::LiteralString => Ok(at + string_words(rest).ok_or("a string without its zero")?),
        // It has as many words as its type, and literals end an instruction.
        K::LiteralContextDependentNumber => Ok(words.len()),
        K::PairLiteralIntegerIdRef => {
            each(at + 1);
            need(2)
        }
        K::PairIdRefLiteralInteger => {
            each(at);
            need(2)
        }
        K::PairIdRefIdRef => {
            each(at);
            each(at + 1);
            need(2)
        }
        K::MemoryAccess => {
            let mask = rest.first().copied().unwrap_or(0);
            let literals = usize::from(mask & 2 != 0);
            let ids = (mask & !7 & 0x3_0018).count_ones() as usize;
            let end = need(1 + literals + ids)?;
            (at + 1 + literals..end).for_each(each);
            Ok(end)
        }
        K::ImageOperands => {
            (at + 1..words.len()).for_each(each);
            Ok(words.len())
        }
        // Their parameters are literals. Those of decorations and modes are checked by their
        // readers.
        K::Decoration | K::ExecutionMode | K::LoopControl => Ok(words.len()),
        _ => Ok(at + 1),
    }
}

/// Error for a missing type or result, or one that is no id.
#[cold]
fn undeclared(op: Op, word: Option<&u32>, what: &str) -> Error {
    match word {
        Some(w) => Error::malformed(format!(
            "{what} {w} of {} is not between 0 and the bound",
            name(op)
        )),
        None => Error::malformed(format!("{} has no {what}", name(op))),
    }
}

/// Splits words into instructions.
///
/// # Errors
/// All instructions that violate the grammar, or words that are not a module.
pub(crate) fn read(words: &[u32]) -> Result<Stream<'_>, Errors> {
    let header = words.get(..HEADER);
    let Some(&[magic, version, _, bound, _]) = header else {
        return Err(Error::malformed("fewer words than the header of a module has").into());
    };
    if magic != spirv::MAGIC_NUMBER {
        return Err(Error::malformed(format!("{magic:#010x} is not SPIR-V's magic number")).into());
    }
    let (major, minor) = (version >> 16 & 0xff, version >> 8 & 0xff);
    if major != 1 || minor > 6 {
        return Err(Error::unsupported(format!("SPIR-V {major}.{minor}")).into());
    }
    if bound > MAX_IDS {
        return Err(Error::limit(format!("an id bound of {bound}: {MAX_IDS} is the most")).into());
    }
    let mut stream = Stream {
        words,
        bound,
        // Most instructions have three words or more.
        insts: Vec::with_capacity(words.len() / 3),
        opencl: Vec::new(),
        glsl: Vec::new(),
    };
    let grammar = &*GRAMMAR;
    let mut errors = Errors(Vec::new());
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (len, opcode) = ((first >> 16) as usize, first & 0xffff);
        let word = at as u32;
        let whole = words.get(at..at + len).unwrap_or(&[]);
        if whole.is_empty() {
            let what = format!(
                "an instruction of {len} words, and {} are left",
                words.len() - at
            );
            errors.push(Error::malformed(what).at(word));
            break;
        }
        match inst(&stream, grammar, at, whole, opcode) {
            Ok(inst) => {
                if inst.op == Op::ExtInstImport {
                    let id = inst.id.expand().map(|id| id.as_u32());
                    match string(stream.operands(&inst)).as_str() {
                        "OpenCL.std" => stream.opencl.extend(id),
                        "GLSL.std.450" => stream.glsl.extend(id),
                        _ => {}
                    }
                }
                stream.insts.push(inst);
            }
            Err(e) => errors.push(e.at(word)),
        }
        at += len;
    }
    if errors.0.is_empty() {
        Ok(stream)
    } else {
        Err(errors)
    }
}

fn inst(
    stream: &Stream<'_>,
    grammar: &Grammar,
    at: usize,
    words: &[u32],
    opcode: u32,
) -> Result<Inst, Error> {
    let Some(shape) = grammar.shape(opcode) else {
        return Err(Error::unsupported(format!("opcode {opcode}")));
    };
    let op = shape.op;
    let bound = stream.bound;
    let is_id = |w: u32| w != 0 && w < bound;
    let id = |n: usize| words.get(n).filter(|w| is_id(**w)).map(|w| Id::of(*w));
    let first = 1 + usize::from(shape.ty) + usize::from(shape.id);
    let (mut of_type, mut result) = (None, None);
    if shape.ty {
        of_type = id(1);
        if of_type.is_none() {
            return Err(undeclared(op, words.get(1), "type"));
        }
    }
    if shape.id {
        result = id(first - 1);
        if result.is_none() {
            return Err(undeclared(op, words.get(first - 1), "result"));
        }
    }
    let inst = Inst {
        op,
        at: at as u32,
        ty: of_type.into(),
        id: result.into(),
        first: (at + first) as u32,
        end: (at + words.len()) as u32,
    };
    let operands = words.get(first..).unwrap_or(&[]);
    let mut wrong = None;
    let looked_at = match op {
        // Switch cases are checked once the type of the selector is known.
        Op::Switch => false,
        Op::ExtInst => {
            let of = |sets: &[u32]| operands.first().is_some_and(|set| sets.contains(set));
            if of(&stream.glsl) {
                if operands.len() < 2 {
                    return Err(Error::malformed("OpExtInst: an operand is missing"));
                }
                wrong = operands.iter().skip(2).copied().find(|w| !is_id(*w));
            }
            of(&stream.opencl)
        }
        _ => true,
    };
    if looked_at {
        for_each_id_of(shape, operands, false, |n| {
            let id = operands.get(n).copied().unwrap_or(0);
            if !is_id(id) {
                wrong = wrong.or(Some(id));
            }
        })
        .map_err(|e| Error::malformed(format!("{}: {e}", name(op))))?;
    }
    match wrong {
        None => Ok(inst),
        Some(id) => Err(Error::malformed(format!(
            "operand {id} of {} is not between 0 and the bound",
            name(op)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    const HEAD: [u32; 5] = [spirv::MAGIC_NUMBER, 0x1_0000, 0, 10, 0];

    fn with(words: &[u32]) -> Vec<u32> {
        HEAD.iter().chain(words).copied().collect()
    }

    #[test]
    fn instructions() {
        // OpTypeInt %3 64 0; OpLoad %3 %4 %5 Aligned 8.
        let words = with(&[4 << 16 | 21, 3, 64, 0, 6 << 16 | 61, 3, 4, 5, 2, 8]);
        let stream = read(&words).unwrap();
        let [int, load] = stream.insts.as_slice() else {
            panic!("{stream:?}");
        };
        assert_eq!(
            (int.op, int.at, stream.operands(int)),
            (Op::TypeInt, 5, &[64, 0][..])
        );
        assert_eq!(load.ty.expand(), Some(Id::new(3)));
        assert_eq!(load.id.expand(), Some(Id::new(4)));
        let mut ids = Vec::new();
        for_each_id(load.op, stream.operands(load), false, |n| ids.push(n)).unwrap();
        assert_eq!(ids, [0]);
    }

    #[test]
    fn mistakes() {
        let say = |words: &[u32]| read(words).map(|_| ()).unwrap_err().to_string();
        assert!(say(&[]).contains("header"));
        assert!(say(&[7, 0, 0, 0, 0]).contains("magic"));
        assert!(say(&with(&[0])).contains("of 0 words"));
        assert!(say(&with(&[9 << 16 | 21, 3])).contains("9 words, and 2 are left"));
        assert!(say(&with(&[1 << 16 | 0xfff0])).contains("opcode 65520 is not supported"));
        assert!(say(&with(&[4 << 16 | 61, 3, 4, 11])).contains("operand 11 of OpLoad"));
        assert!(say(&with(&[3 << 16 | 61, 3, 4])).contains("an operand is missing"));
        // Both errors are reported.
        let both = with(&[1 << 16 | 0xfff0, 3 << 16 | 61, 3, 4]);
        assert_eq!(read(&both).unwrap_err().0.len(), 2);
    }
}
