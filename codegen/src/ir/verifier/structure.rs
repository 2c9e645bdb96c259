//! Rules on blocks, terminators and signatures, and on the existence of entities.

use super::{ErrorLocation, Verifier};
use crate::ir::opcode::Info;
use crate::ir::{ArgKind, FuncKind, Inst, InstData, Linkage, MAX_SCRATCH, Scalar, Type, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;
use gantry_zebin::names::EXTERNAL_FUNCTIONS;

/// Maximum number of parameters of a block, and of results of an instruction. Their indices have 16
/// bits.
const MAX_PARAMETERS: usize = u16::MAX as usize;

/// Returns true if a name can be written in the text format.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    !name.is_empty() && name.chars().all(plain)
}

/// Maximum number of samplers that a message can address (PRM, "Sampler Index": 4 bits).
const MAX_SAMPLERS: usize = 16;

impl Verifier<'_> {
    /// Checks name, kind and parameters.
    pub(super) fn signature(&mut self) {
        let func = self.func;
        if !is_name(&func.name) {
            self.error(
                ErrorLocation::Function,
                format!(
                    "`{}` is not a name of letters, digits, `_` and `.`",
                    func.name
                ),
            );
        }
        let kernel = matches!(func.kind, FuncKind::Kernel { .. });
        if let FuncKind::Kernel {
            simd,
            group_size,
            scratch_bytes,
            ..
        } = func.kind
        {
            if !matches!(simd, 1 | 8 | 16 | 32) {
                self.error(
                    ErrorLocation::Function,
                    format!("SIMD width {simd}: it is 1, 8, 16 or 32"),
                );
            }
            if scratch_bytes > MAX_SCRATCH {
                self.error(
                    ErrorLocation::Function,
                    format!("scratch of {scratch_bytes} bytes; {MAX_SCRATCH} is the most"),
                );
            }
            if group_size.is_some_and(|g| g.contains(&0)) {
                self.error(ErrorLocation::Function, "a required work-group size of 0");
            }
            if !func.sig.results.is_empty() {
                self.error(ErrorLocation::Function, "a kernel has no results");
            }
        }
        if kernel && func.linkage != Linkage::Local {
            let what = "only a subroutine has a linkage";
            self.error(ErrorLocation::Function, what);
        }
        if func.linkage == Linkage::Import && !func.layout.blocks().is_empty() {
            self.error(ErrorLocation::Function, "an import with blocks");
        }
        if kernel && func.name == EXTERNAL_FUNCTIONS {
            self.error(
                ErrorLocation::Function,
                format!("a kernel cannot be named {EXTERNAL_FUNCTIONS}: loaders take its code for that of external functions"),
            );
        }
        let given = func.sig.params.iter();
        let given = given.filter(|p| p.kind == ArgKind::Sampler).count();
        if !kernel && !func.samplers.is_empty() {
            self.error(
                ErrorLocation::Function,
                "only kernels have samplers of their own".to_owned(),
            );
        }
        if given + func.samplers.len() > MAX_SAMPLERS {
            self.error(
                ErrorLocation::Function,
                format!("more than {MAX_SAMPLERS} samplers"),
            );
        }
        if let Some(fault) = func.reflection_fault() {
            self.error(ErrorLocation::Function, fault);
        }
        for (n, p) in func.sig.params.iter().enumerate() {
            if p.noalias && !matches!(p.kind, ArgKind::Ptr | ArgKind::Surface) {
                let what = format!("parameter {n}: only a buffer can be `noalias`");
                self.error(ErrorLocation::Function, what);
            }
            let want = match p.kind {
                ArgKind::Value if kernel && p.ty.is_pred() => {
                    self.error(
                        ErrorLocation::Function,
                        format!("parameter {n}: a predicate cannot be a kernel argument"),
                    );
                    continue;
                }
                ArgKind::Value => continue,
                ArgKind::Ptr => Type::scalar_of(Scalar::I64),
                ArgKind::Slm | ArgKind::Surface | ArgKind::Image(..) | ArgKind::Sampler => {
                    Type::scalar_of(Scalar::I32)
                }
            };
            if !kernel {
                self.error(
                    ErrorLocation::Function,
                    format!(
                        "parameter {n}: only kernels have memory, images and samplers as parameters"
                    ),
                );
            } else if p.ty != want {
                let kind = p.kind.name().unwrap_or("");
                self.error(
                    ErrorLocation::Function,
                    format!("parameter {n}: `{kind}` is {want}, not {}", p.ty),
                );
            }
        }
    }

    /// Returns true if blocks and entities are sound, which the other rules assume.
    pub(super) fn structure(&mut self) -> bool {
        let before = self.errors.len();
        let func = self.func;
        let Some(entry) = func.layout.entry() else {
            self.error(ErrorLocation::Function, "there is no block");
            return false;
        };
        let mut placed = SecondaryMap::new();
        let mut used: SecondaryMap<Inst, bool> = sized(func.dfg.num_insts());
        for &block in func.layout.blocks() {
            if !func.dfg.has_block(block) {
                self.error(ErrorLocation::Function, format!("{block} does not exist"));
                return false;
            }
            if std::mem::replace(&mut placed[block], true) {
                self.error(
                    ErrorLocation::Block(block),
                    format!("{block} is in the function twice"),
                );
                return false;
            }
        }
        for &block in func.layout.blocks() {
            let insts = func.layout.insts(block);
            let last = insts.last().copied();
            for &inst in insts {
                if !func.dfg.has_inst(inst) {
                    self.error(
                        ErrorLocation::Block(block),
                        format!("{inst} does not exist"),
                    );
                    return false;
                }
                if std::mem::replace(&mut used[inst], true) {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("{inst} is in the function twice"),
                    );
                    return false;
                }
                let data = func.dfg.data(inst);
                let info = data.opcode().info();
                self.entities(inst, data, info);
                if !info.terminator {
                    continue;
                }
                if Some(inst) != last {
                    self.error(
                        ErrorLocation::Inst(inst),
                        "a block goes on after its terminator",
                    );
                }
                for dest in func.dfg.destinations(inst) {
                    if !placed[dest.block] {
                        self.error(
                            ErrorLocation::Inst(inst),
                            format!("there is no {}", dest.block),
                        );
                    } else if dest.block == entry {
                        self.error(ErrorLocation::Inst(inst), "a branch to the entry block");
                    }
                }
            }
            if !last.is_some_and(|i| func.dfg.data(i).opcode().info().terminator) {
                let place = last.map_or(ErrorLocation::Block(block), ErrorLocation::Inst);
                self.error(
                    place,
                    format!("{block} does not end with `jump`, `brif`, `switch` or `return`"),
                );
            }
        }
        for &block in func.layout.blocks() {
            let count = func.dfg.block_params(block).len();
            if count > MAX_PARAMETERS {
                let what = format!("{count} parameters: a block has {MAX_PARAMETERS} at most");
                self.error(ErrorLocation::Block(block), what);
            }
        }
        let params: Vec<Type> = func.sig.params.iter().map(|p| p.ty).collect();
        let have: Vec<Type> = func
            .dfg
            .block_params(entry)
            .iter()
            .map(|&v| self.ty(v))
            .collect();
        if params != have {
            let list = |t: &[Type]| t.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            self.error(
                ErrorLocation::Block(entry),
                format!(
                    "the entry block's parameters ({}) are not the function's ({})",
                    list(&have),
                    list(&params)
                ),
            );
        }
        self.errors.len() == before
    }

    /// Checks that operands exist, that results refer back to the instruction, and that operands
    /// have the opcode's format.
    fn entities(&mut self, inst: Inst, data: &InstData, info: &Info) {
        let dfg = &self.func.dfg;
        let asks = match *data {
            InstData::ArgQuery { opcode, fact, .. } => fact.opcode() == opcode,
            _ => true,
        };
        if data.format() != info.format || !asks {
            self.error(
                ErrorLocation::Inst(inst),
                format!("`{}` does not have operands of this shape", data.opcode()),
            );
        }
        let mut n = 0;
        data.for_each_arg(dfg, |v| {
            if !dfg.has_value(v) {
                self.error(
                    ErrorLocation::Operand(inst, n),
                    format!("{v} does not exist"),
                );
            }
            n += 1;
        });
        let results = dfg.results(inst);
        if results.len() > MAX_PARAMETERS {
            let what = format!("an instruction has {MAX_PARAMETERS} results at most");
            return self.error(ErrorLocation::Inst(inst), what);
        }
        for (n, &v) in results.iter().enumerate() {
            if dfg.def(v) != ValueDef::Result(inst, n as u16) {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("{v} is defined a second time"),
                );
            }
        }
        if let InstData::Switch { cases, .. } = *data {
            let has = dfg.cases(cases);
            if has.dests.len() != has.values.len() + 1 {
                let what = format!("{cases} has not a destination for each value and one more");
                self.error(ErrorLocation::Inst(inst), what);
            }
        }
        if let InstData::ImmVec { constant, .. } = *data
            && !dfg.has_constant(constant)
        {
            self.error(
                ErrorLocation::Inst(inst),
                format!("{constant} does not exist"),
            );
        }
    }
}
