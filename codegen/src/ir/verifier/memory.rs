//! Rules on addresses, values and masks of loads, stores and atomics.

use super::{ErrorLocation, Verifier};
use crate::ir::{
    AtomicOp, CachePolicy, Inst, InstData, LevelPolicy, MAX_BARRIERS, MemFlags, Opcode, Scalar,
    Space, Type, Value,
};
use cranelift_entity::packed_option::PackedOption;

/// Maximum number of consecutive elements of a lane of a scattered access.
const COMPONENTS: u32 = 4;
/// Maximum alignment that can be promised, in bytes.
const ALIGN: u32 = 4096;

/// Operands of an access: opcode, flags, address, accessed type, mask.
struct AccessOperands {
    opcode: Opcode,
    mem: MemFlags,
    /// Address, and its operand index.
    addr: (usize, Value),
    ty: Type,
    mask: Option<(usize, Value)>,
}

impl Verifier<'_> {
    pub(super) fn memory(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::NamedBarrier {
                number, threads, ..
            } => {
                if !(1..=MAX_BARRIERS).contains(&number.into()) {
                    let what = format!("barrier {number}: a work-group has 1 to {MAX_BARRIERS}");
                    self.error(ErrorLocation::Inst(inst), what);
                }
                let (have, want) = (self.ty(threads), Type::scalar_of(Scalar::I32));
                if have != want {
                    let what = format!("type clash: threads are {want}, and {threads} is {have}");
                    self.error(ErrorLocation::Operand(inst, 0), what);
                }
            }
            InstData::Load {
                opcode,
                mem,
                addr,
                mask,
                old,
                ..
            } => {
                let Some(ty) = self.result(inst) else {
                    return;
                };
                let access = AccessOperands {
                    opcode,
                    mem,
                    addr: (0, addr),
                    ty,
                    mask: mask.expand().map(|m| (1, m)),
                };
                self.access(inst, &access);
                self.lanes_off(inst, ty, mask, old, 2);
            }
            InstData::Store {
                opcode,
                mem,
                args: [value, addr],
                mask,
                ..
            } => {
                let access = AccessOperands {
                    opcode,
                    mem,
                    addr: (1, addr),
                    ty: self.ty(value),
                    mask: mask.expand().map(|m| (2, m)),
                };
                self.access(inst, &access);
                if mem.constant {
                    self.error(
                        ErrorLocation::Inst(inst),
                        "a store to what is promised constant",
                    );
                }
            }
            InstData::Prefetch {
                opcode,
                mem,
                addr,
                mask,
                ..
            } => {
                let access = AccessOperands {
                    opcode,
                    mem,
                    addr: (0, addr),
                    ty: Type::clamped(Scalar::I8, self.ty(addr).lanes()),
                    mask: mask.expand().map(|m| (1, m)),
                };
                self.access(inst, &access);
            }
            InstData::Atomic {
                opcode,
                op,
                mem,
                addr,
                data,
                mask,
                old,
                ..
            } => {
                let Some(ty) = self.result(inst) else {
                    return;
                };
                let access = AccessOperands {
                    opcode,
                    mem,
                    addr: (0, addr),
                    ty,
                    mask: mask.expand().map(|m| (1 + op.operands(), m)),
                };
                self.access(inst, &access);
                self.lanes_off(inst, ty, mask, old, 2 + op.operands());
                self.atomic(inst, op, mem, ty, data);
            }
            _ => {}
        }
    }

    pub(super) fn lanes_off(
        &mut self,
        inst: Inst,
        ty: Type,
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
        n: usize,
    ) {
        match (mask.expand(), old.expand()) {
            (Some(_), Some(old)) if self.ty(old) != ty => {
                let have = self.ty(old);
                self.error(
                    ErrorLocation::Operand(inst, n),
                    format!("type clash: {old} is {have}, and the load's type is {ty}"),
                );
            }
            (Some(_), None) => {
                self.error(
                    ErrorLocation::Inst(inst),
                    "a masked load needs the value of the lanes that are off",
                );
            }
            (None, Some(_)) => {
                self.error(
                    ErrorLocation::Inst(inst),
                    "a load without a mask has no lanes that are off",
                );
            }
            _ => {}
        }
    }

    fn atomic(
        &mut self,
        inst: Inst,
        op: AtomicOp,
        mem: MemFlags,
        ty: Type,
        data: [PackedOption<Value>; 2],
    ) {
        let there = data.iter().filter_map(|v| v.expand());
        let operands: Vec<Value> = there.collect();
        if operands.len() != op.operands() {
            self.error(
                ErrorLocation::Inst(inst),
                format!(
                    "`atomic` {} has {} operands besides the address, not {}",
                    op.name(),
                    op.operands(),
                    operands.len()
                ),
            );
        }
        for (n, v) in operands.into_iter().enumerate() {
            let have = self.ty(v);
            if have != ty {
                self.error(
                    ErrorLocation::Operand(inst, 1 + n),
                    format!("type clash: {v} is {have}, and the atomic's type is {ty}"),
                );
            }
        }
        if mem.space == Space::Scratch {
            self.error(ErrorLocation::Inst(inst), "there are no atomics in scratch");
        }
        let ok = match (op.is_float(), ty.scalar()) {
            (true, s) => matches!(s, Scalar::F16 | Scalar::F32),
            (false, Scalar::I16 | Scalar::I32) => true,
            (false, Scalar::I64) => mem.space == Space::Global,
            (false, _) => false,
        };
        if !ok {
            let what = if op.is_float() {
                "f16 or f32"
            } else {
                "i16, i32, or i64 in global memory"
            };
            self.error(
                ErrorLocation::Inst(inst),
                format!("`atomic` {} of {ty}: it takes {what}", op.name()),
            );
        }
        if mem.constant || mem.align != 0 && mem.alignment(1) < ty.scalar().bytes() {
            self.error(
                ErrorLocation::Inst(inst),
                "an atomic is of aligned elements, and changes them",
            );
        }
    }

    fn access(&mut self, inst: Inst, a: &AccessOperands) {
        let AccessOperands {
            opcode, mem, ty, ..
        } = *a;
        if ty.is_pred() {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` of {ty}: predicates are not in memory"),
            );
            return;
        }
        let block = matches!(opcode, Opcode::Bload | Opcode::Bstore);
        let (n, addr) = a.addr;
        let have = self.ty(addr);
        if mem.constant
            && let Some(def) = self.func.dfg.def_inst(addr)
            && let InstData::Symbol { data, .. } = *self.func.dfg.data(def)
            && let Some(d) = self.module.data.get(data).filter(|d| d.written)
        {
            let message = format!("%{} is promised constant, and kernels write to it", d.name);
            self.error(ErrorLocation::Inst(inst), message);
        }
        let scalar = mem.space.address();
        // Each lane of a scattered load or store may have several elements.
        let several = matches!(opcode, Opcode::Load | Opcode::Store)
            && have.lanes() > 0
            && ty.lanes().is_multiple_of(have.lanes())
            && ty.lanes() / have.lanes() <= COMPONENTS;
        let lanes = match (block, several) {
            (true, _) => 1,
            (false, true) => have.lanes(),
            (false, false) => ty.lanes(),
        };
        if have.scalar() != scalar || have.lanes() != lanes {
            let want =
                Type::new(scalar, lanes).map_or("fewer lanes".to_string(), |t| t.to_string());
            self.error(
                ErrorLocation::Operand(inst, n),
                format!(
                    "type clash: the address of `{opcode}` of {ty} is {want}, and {addr} is {have}"
                ),
            );
        }
        if mem.alignment(1) > ALIGN {
            let n = mem.alignment(1);
            self.error(
                ErrorLocation::Inst(inst),
                format!("an alignment of {n} bytes; {ALIGN} is the most"),
            );
        }
        self.cache_policy(inst, opcode, mem);
        match a.mask {
            Some((_, m)) if block => {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("`{opcode}` takes no mask, and {m} is one"),
                );
            }
            Some((n, m)) => self.mask(inst, n, m, lanes),
            None => {}
        }
    }

    /// Checks that messages have the cache policy of an access.
    fn cache_policy(&mut self, inst: Inst, opcode: Opcode, mem: MemFlags) {
        if mem.cache == CachePolicy::DEFAULT {
            return;
        }
        let cached = matches!(mem.space, Space::Global | Space::Surface(_));
        let what = if !cached {
            "global memory and surfaces alone have cache policies".to_string()
        } else if mem.volatile && mem.cache.l1 != LevelPolicy::Uncached {
            format!("a volatile `{opcode}` is `l1 uncached`")
        } else if let Err(what) = mem.cache.check(opcode) {
            what
        } else {
            return;
        };
        self.error(ErrorLocation::Inst(inst), what);
    }
}
