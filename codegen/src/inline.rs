//! Subroutines become part of the kernel that calls them: every call is replaced by the callee's blocks.
//!
//! Needs: functions that verify (so calls do not recurse). Makes: a kernel without calls.

use crate::ir::instructions::ValueList;
use crate::ir::{Block, BlockCall, Function, Inst, InstData, Module, Opcode, Value};
use crate::result::CodegenError;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use std::borrow::Cow;

/// The kernel with its calls replaced, or the kernel itself where it has none.
///
/// # Errors
/// A call of a function that the module does not have: such IR does not verify.
pub fn inline_calls<'f>(
    module: &Module,
    func: &'f Function,
) -> Result<Cow<'f, Function>, CodegenError> {
    if calls(func).next().is_none() {
        return Ok(Cow::Borrowed(func));
    }
    let mut out = Function::new(func.name.clone(), func.kind, func.sig.clone());
    let entry = out.dfg.make_block();
    out.layout.append_block(entry);
    let mut inliner = Inliner {
        module,
        out,
        at: entry,
    };
    let params: Vec<Value> = match func.layout.entry() {
        Some(b) => func.dfg.block_params(b).to_vec(),
        None => Vec::new(),
    };
    let args: Vec<Value> = params
        .iter()
        .map(|&v| inliner.out.dfg.append_block_param(entry, func.dfg.ty(v)))
        .collect();
    inliner.body(func, &args, None)?;
    Ok(Cow::Owned(inliner.out))
}

/// The calls of a function.
pub fn calls(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    let insts = func
        .layout
        .blocks()
        .iter()
        .flat_map(|&b| func.layout.insts(b));
    insts
        .copied()
        .filter(|&i| func.dfg.data(i).opcode() == Opcode::Call)
}

struct Inliner<'m> {
    module: &'m Module,
    out: Function,
    /// The block that instructions are appended to.
    at: Block,
}

/// What the parts of the function being copied have become.
struct Copied {
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
}

impl Inliner<'_> {
    /// Appends a function's body behind the current block. Its entry's parameters are `args`; it returns to `exit`, or for good.
    fn body(
        &mut self,
        func: &Function,
        args: &[Value],
        exit: Option<Block>,
    ) -> Result<(), CodegenError> {
        let mut copied = Copied {
            values: SecondaryMap::new(),
            blocks: SecondaryMap::new(),
        };
        for (n, &b) in func.layout.blocks().iter().enumerate() {
            if n == 0 {
                for (&p, &a) in func.dfg.block_params(b).iter().zip(args) {
                    copied.values[p] = a.into();
                }
                continue;
            }
            let new = self.out.dfg.make_block();
            for &p in func.dfg.block_params(b) {
                let v = self.out.dfg.append_block_param(new, func.dfg.ty(p));
                copied.values[p] = v.into();
            }
            copied.blocks[b] = new.into();
        }
        for (n, &b) in func.layout.blocks().iter().enumerate() {
            if n > 0
                && let Some(new) = copied.blocks[b].expand()
            {
                self.out.layout.append_block(new);
                self.at = new;
            }
            for &inst in func.layout.insts(b) {
                self.inst(func, inst, &mut copied, exit)?;
            }
        }
        Ok(())
    }

    fn inst(
        &mut self,
        func: &Function,
        inst: Inst,
        copied: &mut Copied,
        exit: Option<Block>,
    ) -> Result<(), CodegenError> {
        let missing = |what: &str| CodegenError::internal(&func.name, format!("inlining: {what}"));
        let mut data = *func.dfg.data(inst);
        let results: Vec<Value> = func.dfg.results(inst).to_vec();
        match &mut data {
            InstData::Call {
                func: callee, args, ..
            } => {
                let Some(callee) = self.module.functions.get(*callee) else {
                    return Err(missing("a call of a function that does not exist"));
                };
                let args = copied.all(args.as_slice(&func.dfg.pool));
                let next = self.out.dfg.make_block();
                for &v in &results {
                    let new = self.out.dfg.append_block_param(next, func.dfg.ty(v));
                    copied.values[v] = new.into();
                }
                self.body(callee, &args, Some(next))?;
                self.out.layout.append_block(next);
                self.at = next;
                return Ok(());
            }
            InstData::Return { args, .. } => {
                let values = copied.all(args.as_slice(&func.dfg.pool));
                let args = ValueList::from_slice(&values, &mut self.out.dfg.pool);
                data = match exit {
                    Some(block) => InstData::Jump {
                        opcode: Opcode::Jump,
                        dest: BlockCall { block, args },
                    },
                    None => InstData::Return {
                        opcode: Opcode::Return,
                        args,
                    },
                };
            }
            InstData::Jump { dest, .. } => self
                .destination(func, dest, copied)
                .ok_or_else(|| missing("a block"))?,
            InstData::Brif { cond, dests, .. } => {
                *cond = copied.one(*cond);
                for d in dests {
                    self.destination(func, d, copied)
                        .ok_or_else(|| missing("a block"))?;
                }
            }
            InstData::ImmVec { constant, .. } => {
                *constant = self
                    .out
                    .dfg
                    .make_constant(func.dfg.constant(*constant).to_vec());
            }
            // No other instruction has a list.
            other => other.map_args(&mut self.out.dfg.pool, |v| copied.one(v)),
        }
        let types: Vec<_> = results.iter().map(|&v| func.dfg.ty(v)).collect();
        let new = self.out.dfg.make_inst(data, &types);
        for (&old, &v) in results.iter().zip(self.out.dfg.results(new)) {
            copied.values[old] = v.into();
        }
        self.out.layout.append_inst(self.at, new);
        Ok(())
    }

    fn destination(&mut self, func: &Function, d: &mut BlockCall, copied: &Copied) -> Option<()> {
        let args = copied.all(d.args.as_slice(&func.dfg.pool));
        *d = BlockCall {
            block: copied.blocks[d.block].expand()?,
            args: ValueList::from_slice(&args, &mut self.out.dfg.pool),
        };
        Some(())
    }
}

impl Copied {
    /// A value's copy. Uses follow definitions in layout order, which the verifier has seen to.
    fn one(&self, v: Value) -> Value {
        self.values[v].expand().unwrap_or(v)
    }

    fn all(&self, vs: &[Value]) -> Vec<Value> {
        vs.iter().map(|&v| self.one(v)).collect()
    }
}
