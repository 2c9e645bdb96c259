//! Which pointer argument an address is in.
//!
//! An address is *based* on an argument if it is that argument and some number: by sums, through
//! regions, selects, shuffles and block parameters all of whose sources are based on the same one.
//! What is computed from an address in any other way, and where an address goes other than to the
//! access of a memory, makes its argument *escape*: its number matters.
//!
//! A value's base changes twice at most, and each change looks at the value's users: the work is
//! linear.

use super::uses::Uses;
use crate::ir::{ArgKind, Block, Function, Inst, InstData, Opcode, Space, Value};
use crate::sized;
use cranelift_entity::SecondaryMap;

/// What an address is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Base {
    /// No argument.
    #[default]
    None,
    /// The kernel's argument of this number.
    Arg(u16),
    /// Several arguments, or nothing that is an address.
    Several,
}

impl Base {
    /// Of a value that is one or the other.
    fn or(self, other: Base) -> Base {
        match (self, other) {
            (Base::None, x) | (x, Base::None) => x,
            (x, y) if x == y => x,
            _ => Base::Several,
        }
    }

    /// Of a sum.
    fn plus(self, other: Base) -> Base {
        match (self, other) {
            (Base::None, x) | (x, Base::None) => x,
            _ => Base::Several,
        }
    }
}

/// The addresses of a kernel and what they are based on.
#[derive(Debug, Default)]
pub(super) struct Bases {
    of: SecondaryMap<Value, Base>,
    /// By argument: whether its number matters.
    escaped: Vec<bool>,
}

impl Bases {
    /// Of a kernel. `blocks`: those that may run.
    pub(super) fn new(func: &Function, blocks: &[Block]) -> Bases {
        let mut bases = Bases {
            of: sized(func.dfg.num_values()),
            escaped: vec![false; func.sig.params.len()],
        };
        let uses = Uses::new(func, blocks);
        let mut work = Vec::new();
        let entry = func.layout.entry();
        let params = entry.map_or(&[][..], |b| func.dfg.block_params(b));
        for (n, (&v, p)) in params.iter().zip(&func.sig.params).enumerate() {
            if p.kind == ArgKind::Ptr {
                bases.of[v] = Base::Arg(n as u16);
                work.push(v);
            }
        }
        while let Some(v) = work.pop() {
            for &user in uses.of(v) {
                bases.flow(func, user, &mut work);
            }
        }
        for &block in blocks {
            for &inst in func.layout.insts(block) {
                bases.judge(func, inst);
            }
        }
        bases
    }

    /// What an address is based on.
    pub(super) fn of(&self, v: Value) -> Base {
        self.of[v]
    }

    /// Whether an argument's number matters.
    pub(super) fn escaped(&self, arg: u16) -> bool {
        self.escaped.get(usize::from(arg)).is_none_or(|e| *e)
    }

    /// Passes the bases of an instruction's operands on to its results, or to what it branches to.
    fn flow(&mut self, func: &Function, inst: Inst, work: &mut Vec<Value>) {
        if let Some(base) = self.result(func, inst)
            && let Some(v) = func.dfg.first_result(inst)
        {
            self.raise(v, base, work);
        }
        for dest in func.dfg.destinations(inst) {
            let args = dest.args.as_slice(&func.dfg.pool);
            let params = func.dfg.block_params(dest.block);
            for (&arg, &param) in args.iter().zip(params) {
                let base = self.of[param].or(self.of[arg]);
                self.raise(param, base, work);
            }
        }
    }

    fn raise(&mut self, v: Value, base: Base, work: &mut Vec<Value>) {
        if self.of[v] != base {
            self.of[v] = base;
            work.push(v);
        }
    }

    /// The base of a result, where the instruction is one that addresses pass through.
    fn result(&self, func: &Function, inst: Inst) -> Option<Base> {
        let of = |v: Value| self.of[v];
        let unless = |other: Base, base: Base| match other {
            Base::None => base,
            _ => Base::Several,
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
    fn judge(&mut self, func: &Function, inst: Inst) {
        let dfg = &func.dfg;
        let data = dfg.data(inst);
        if let Some(base) = self.result(func, inst) {
            let alike = !matches!(data.opcode(), Opcode::Iadd | Opcode::Isub | Opcode::Imad);
            let shuffled = data.opcode() == Opcode::Shuffle;
            let mut n = 0;
            data.for_each_arg(dfg, |v| {
                // Who chooses between values is none of them.
                let chooser = dfg.ty(v).is_pred() || shuffled && n == 1;
                self.meets(func, v, base, alike && !chooser);
                n += 1;
            });
            return;
        }
        let address = match *data {
            InstData::Load { mem, addr, .. } if mem.space == Space::Global => Some(addr),
            InstData::Store { mem, args, .. } if mem.space == Space::Global => Some(args[1]),
            // Atomics of quadwords are by 64-bit addresses alone (PRM, "A64 Untyped Atomic Integer
            // Operation").
            InstData::Atomic { mem, addr, .. } if mem.space == Space::Global => {
                let ty = dfg.first_result(inst).map(|v| dfg.ty(v).scalar().bytes());
                Some(addr).filter(|_| ty == Some(4))
            }
            _ => None,
        };
        // The address is an operand once; if it is another one too, that is a use of its number.
        let mut left = usize::from(address.is_some());
        let branch = !dfg.destinations(inst).is_empty();
        let mut first = true;
        data.for_each_arg(dfg, |v| {
            // Of branches the values for parameters are looked at below.
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
                self.meets(func, arg, self.of[param], true);
            }
        }
    }

    /// A value of a base goes into one of a base, as it is or as a part of a sum.
    fn meets(&mut self, func: &Function, v: Value, into: Base, as_it_is: bool) {
        match (self.of[v], into) {
            (have, into) if have == into => {}
            (Base::None, Base::Arg(arg)) => {
                if as_it_is && !func.dfg.is_undef(v) {
                    self.escape_arg(arg);
                }
            }
            _ => self.escape(v),
        }
    }

    fn escape(&mut self, v: Value) {
        if let Base::Arg(arg) = self.of[v] {
            self.escape_arg(arg);
        }
    }

    fn escape_arg(&mut self, arg: u16) {
        if let Some(e) = self.escaped.get_mut(usize::from(arg)) {
            *e = true;
        }
    }
}
