//! SPIR-V from lines of text: `%x = OpLoad %float %p`, with names for ids, `Class.`, `Deco.`, `BuiltIn.`, `Cap.` and `Glsl.` before names of numbers,
//! singles with a point, and everything else a number or a string.

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use std::collections::BTreeMap;

/// The words of a text.
pub fn assemble(text: &str) -> Vec<u32> {
    let mut ids: BTreeMap<String, u32> = BTreeMap::new();
    let mut words = vec![spirv::MAGIC_NUMBER, 0x1_0500, 0, 0, 0];
    for line in text.lines() {
        let line = line.split(';').next().unwrap().trim();
        if line.is_empty() {
            continue;
        }
        let (result, rest) = match line.split_once(" = ") {
            Some((r, rest)) => (Some(r), rest),
            None => (None, line),
        };
        let mut tokens = rest.split_whitespace();
        let name = tokens.next().unwrap();
        let name = name.strip_prefix("Op").unwrap();
        let mut rows = INSTRUCTION_TABLE.iter();
        let row = rows.find(|r| r.opname == name).unwrap();
        let op = row.opcode;
        let typed = row
            .operands
            .first()
            .is_some_and(|o| o.kind == OperandKind::IdResultType);
        let mut out = Vec::new();
        for t in tokens {
            operand(t, &mut ids, &mut out);
        }
        if let Some(result) = result {
            let mut id = Vec::new();
            operand(result, &mut ids, &mut id);
            out.insert(usize::from(typed), id[0]);
        }
        words.push((out.len() as u32 + 1) << 16 | op as u32);
        words.extend(out);
    }
    words[3] = ids.len() as u32 + 1;
    words
}

fn operand(token: &str, ids: &mut BTreeMap<String, u32>, out: &mut Vec<u32>) {
    if let Some(name) = token.strip_prefix('%') {
        let next = ids.len() as u32 + 1;
        out.push(*ids.entry(name.to_owned()).or_insert(next));
        return;
    }
    if let Some(text) = token.strip_prefix('"') {
        let mut bytes: Vec<u8> = text.trim_end_matches('"').bytes().collect();
        bytes.resize(bytes.len() / 4 * 4 + 4, 0);
        let word = |c: &[u8]| u32::from_le_bytes(c.try_into().unwrap());
        out.extend(bytes.chunks(4).map(word));
        return;
    }
    out.push(match token.split_once('.') {
        Some(("Class", n)) => n.parse::<spirv::StorageClass>().unwrap() as u32,
        Some(("Deco", n)) => n.parse::<spirv::Decoration>().unwrap() as u32,
        Some(("BuiltIn", n)) => n.parse::<spirv::BuiltIn>().unwrap() as u32,
        Some(("Cap", n)) => n.parse::<spirv::Capability>().unwrap() as u32,
        Some(("Glsl", n)) => {
            let mut all = (0..100).filter_map(spirv::GlslStd450Op::from_u32);
            all.find(|g| format!("{g:?}") == n).unwrap() as u32
        }
        Some(_) => token.parse::<f32>().unwrap().to_bits(),
        None => token.parse::<i64>().unwrap() as u32,
    });
}
