//! Underlying objects of addresses: the pointer arguments that they are based on.
//!
//! An address is *based* on an argument if it is that argument plus an offset. Sums, regions,
//! selects, shuffles and block parameters pass the object on if all their sources agree. An
//! argument *escapes* by any other computation on an address, and by any use other than the address
//! of a memory access. Then its numeric value matters.
//!
//! A value's object changes at most twice, and each change visits the value's users: the work is
//! linear.

use super::uses::Uses;
use crate::ir::{ArgKind, Block, Function, Inst, InstData, Opcode, Space, Value};
use crate::sized;
use cranelift_entity::SecondaryMap;

/// Object that an address is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum UnderlyingObject {
    /// No argument.
    #[default]
    None,
    /// Kernel argument of this index.
    Arg(u16),
    /// Several arguments, or a value that is no address.
    Several,
}

impl UnderlyingObject {
    /// Returns the object of a value that is one of two.
    fn or(self, other: UnderlyingObject) -> UnderlyingObject {
        match (self, other) {
            (UnderlyingObject::None, x) | (x, UnderlyingObject::None) => x,
            (x, y) if x == y => x,
            _ => UnderlyingObject::Several,
        }
    }

    /// Returns the object of a sum.
    fn plus(self, other: UnderlyingObject) -> UnderlyingObject {
        match (self, other) {
            (UnderlyingObject::None, x) | (x, UnderlyingObject::None) => x,
            _ => UnderlyingObject::Several,
        }
    }
}

/// Underlying objects of a kernel's addresses.
#[derive(Debug, Default)]
pub(super) struct UnderlyingObjects {
    of: SecondaryMap<Value, UnderlyingObject>,
    /// Set for each argument that escapes.
    escaped: Vec<bool>,
}

impl UnderlyingObjects {
    /// Analyzes a kernel. `blocks` are the reachable blocks.
    pub(super) fn new(func: &Function, blocks: &[Block]) -> UnderlyingObjects {
        let mut objects = UnderlyingObjects {
            of: sized(func.dfg.num_values()),
            escaped: vec![false; func.sig.params.len()],
        };
        let uses = Uses::new(func, blocks);
        let mut work = Vec::new();
        let entry = func.layout.entry();
        let params = entry.map_or(&[][..], |b| func.dfg.block_params(b));
        for (n, (&v, p)) in params.iter().zip(&func.sig.params).enumerate() {
            if p.kind == ArgKind::Ptr {
                objects.of[v] = UnderlyingObject::Arg(n as u16);
                work.push(v);
            }
        }
        while let Some(v) = work.pop() {
            for &user in uses.of(v) {
                objects.flow(func, user, &mut work);
            }
        }
        for &block in blocks {
            for &inst in func.layout.insts(block) {
                objects.find_escapes(func, inst);
            }
        }
        objects
    }

    /// Returns the underlying object of an address.
    pub(super) fn of(&self, v: Value) -> UnderlyingObject {
        self.of[v]
    }

    /// Returns true if an argument escapes.
    pub(super) fn escaped(&self, arg: u16) -> bool {
        self.escaped.get(usize::from(arg)).is_none_or(|e| *e)
    }

    /// Propagates objects from an instruction's operands to its results and branch targets.
    fn flow(&mut self, func: &Function, inst: Inst, work: &mut Vec<Value>) {
        if let Some(object) = self.result(func, inst)
            && let Some(v) = func.dfg.first_result(inst)
        {
            self.raise(v, object, work);
        }
        for dest in func.dfg.destinations(inst) {
            let args = dest.args.as_slice(&func.dfg.pool);
            let params = func.dfg.block_params(dest.block);
            for (&arg, &param) in args.iter().zip(params) {
                let object = self.of[param].or(self.of[arg]);
                self.raise(param, object, work);
            }
        }
    }

    fn raise(&mut self, v: Value, object: UnderlyingObject, work: &mut Vec<Value>) {
        if self.of[v] != object {
            self.of[v] = object;
            work.push(v);
        }
    }

    /// Returns the object of a result, if addresses pass through the instruction.
    fn result(&self, func: &Function, inst: Inst) -> Option<UnderlyingObject> {
        let of = |v: Value| self.of[v];
        let unless = |other: UnderlyingObject, object: UnderlyingObject| match other {
            UnderlyingObject::None => object,
            _ => UnderlyingObject::Several,
        };
        Some(match *func.dfg.data(inst) {
            InstData::Binary { opcode, args } => match opcode {
                Opcode::Iadd => of(args[0]).plus(of(args[1])),
                Opcode::Isub | Opcode::Shuffle => unless(of(args[1]), of(args[0])),
                _ => return None,
            },
            InstData::Ternary { opcode, args } => match opcode {
                Opcode::Imad => unless(of(args[0]).or(of(args[1])), of(args[2])),
                Opcode::Select => of(args[1]).or(of(args[2])),
                _ => return None,
            },
            InstData::RdRegion { arg, index, .. } if index.is_none() => of(arg),
            InstData::WrRegion { args, index, .. } if index.is_none() => {
                of(args[0]).or(of(args[1]))
            }
            _ => return None,
        })
    }

    /// Finds the arguments that escape by an instruction.
    fn find_escapes(&mut self, func: &Function, inst: Inst) {
        let dfg = &func.dfg;
        let data = dfg.data(inst);
        if let Some(object) = self.result(func, inst) {
            let alike = !matches!(data.opcode(), Opcode::Iadd | Opcode::Isub | Opcode::Imad);
            let shuffled = data.opcode() == Opcode::Shuffle;
            let mut n = 0;
            data.for_each_arg(dfg, |v| {
                // An operand that selects a value is not passed through.
                let selector = dfg.ty(v).is_pred() || shuffled && n == 1;
                self.flows_into(func, v, object, alike && !selector);
                n += 1;
            });
            return;
        }
        let address = match *data {
            InstData::Load { mem, addr, .. } if mem.space == Space::Global => Some(addr),
            InstData::Store { mem, args, .. } if mem.space == Space::Global => Some(args[1]),
            // Qword atomics exist for 64-bit addresses only (PRM, "A64 Untyped Atomic Integer
            // Operation").
            InstData::Atomic { mem, addr, .. } if mem.space == Space::Global => {
                let ty = dfg.first_result(inst).map(|v| dfg.ty(v).scalar().bytes());
                Some(addr).filter(|_| ty == Some(4))
            }
            _ => None,
        };
        // The address operand counts once. Further uses as an operand use its numeric value.
        let mut left = usize::from(address.is_some());
        let branch = !dfg.destinations(inst).is_empty();
        let mut first = true;
        data.for_each_arg(dfg, |v| {
            // Arguments of branches are handled below.
            let other = !branch || first && !matches!(data, InstData::Jump { .. });
            first = false;
            if Some(v) == address && left > 0 {
                left -= 1;
            } else if other {
                self.escape(v);
            }
        });
        for dest in dfg.destinations(inst) {
            let args = dest.args.as_slice(&dfg.pool);
            for (&arg, &param) in args.iter().zip(dfg.block_params(dest.block)) {
                self.flows_into(func, arg, self.of[param], true);
            }
        }
    }

    /// Handles the flow of a value into one with object `into`, unchanged or as a term of a sum.
    fn flows_into(&mut self, func: &Function, v: Value, into: UnderlyingObject, unchanged: bool) {
        match (self.of[v], into) {
            (have, into) if have == into => {}
            (UnderlyingObject::None, UnderlyingObject::Arg(arg)) => {
                if unchanged && !func.dfg.is_undef(v) {
                    self.escape_arg(arg);
                }
            }
            _ => self.escape(v),
        }
    }

    fn escape(&mut self, v: Value) {
        if let UnderlyingObject::Arg(arg) = self.of[v] {
            self.escape_arg(arg);
        }
    }

    fn escape_arg(&mut self, arg: u16) {
        if let Some(e) = self.escaped.get_mut(usize::from(arg)) {
            *e = true;
        }
    }
}
