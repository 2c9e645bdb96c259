//! Divergent ifs with tiny bodies, candidates for if-conversion.

use super::generate::Gen;
use crate::ir::{Opcode, Type, Value};

impl Gen<'_, '_, '_> {
    /// Generates a divergent if around one operation or load, whose result is assigned in the
    /// channels that run.
    pub(super) fn short_branch(&mut self) {
        let cond = self.mask();
        let ty = self.simd_type();
        let start = self.value(ty);
        let var = self.b.var(start);
        let loads = self.memory && self.rng.one_in(3);
        let state = &mut *self.state;
        self.b.simd_if(cond, |b| {
            let mut g = Gen { b, state };
            let before = g.pool.len();
            let v = match g.rng.below(4) {
                _ if loads => Some(g.load_for(ty)),
                0 => g.part(ty),
                _ => g.operation_of(ty),
            };
            if let Some(v) = v {
                g.b.assign(var, v);
            }
            g.pool.truncate(before);
        });
        let v = self.b.use_var(var);
        self.pool.push(v);
    }

    /// Generates a load of an element for each enabled channel. Half the time a flag disables
    /// further channels, and then all lanes of the result are stored.
    fn load_for(&mut self, ty: Type) -> Value {
        let space = self.space();
        let unit = ty.scalar().bytes();
        let addr = self.read_addresses(space, ty.lanes(), unit, unit);
        let mem = self.flags(Opcode::Load, space, unit);
        let (mut running, old) = (self.b.exec_mask(), self.value(ty));
        let parted = self.rng.one_in(2);
        if parted {
            let flag = self.mask();
            running = self.b.ins().band(running, flag);
        }
        let mask = Some((running, old));
        let v = self.b.ins().load_from(mem, ty, addr, 0, mask);
        if parted && let Some(at) = self.out_room(ty) {
            let out = self.output;
            self.b.ins().bstore(v, out, at as i32);
        }
        v
    }
}
