//! Coverage of SPIR-V instructions and GLSL.std.450 functions by the shaders.

use gantry_spirv::wgsl::to_spirv;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Default)]
pub struct Cover {
    ops: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
}

impl Cover {
    pub fn add(&mut self, text: &str) {
        let Ok(words) = to_spirv(text) else { return };
        let mut at = 5;
        while at < words.len() {
            let (len, op) = ((words[at] >> 16) as usize, words[at] & 0xffff);
            let name = spirv::Op::from_u32(op).map_or(op.to_string(), |o| format!("{o:?}"));
            if name == "ExtInst" {
                let which = spirv::GlslStd450Op::from_u32(words[at + 4]);
                let name = which.map_or(String::new(), |w| format!("{w:?}"));
                *self.functions.entry(name).or_default() += 1;
            }
            let quiet = [
                "Type", "Name", "Member", "Decorate", "Constant", "Capab", "Ext",
            ];
            if !quiet.iter().any(|q| name.starts_with(q)) {
                *self.ops.entry(name).or_default() += 1;
            }
            at += len.max(1);
        }
    }
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |m: &BTreeMap<String, usize>| {
            let all: Vec<String> = m.iter().map(|(n, c)| format!("{n} {c}")).collect();
            all.join(", ")
        };
        writeln!(f, "{} instructions: {}", self.ops.len(), list(&self.ops))?;
        write!(
            f,
            "{} functions: {}",
            self.functions.len(),
            list(&self.functions)
        )
    }
}
