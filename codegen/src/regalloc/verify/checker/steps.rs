//! Effects of instructions on the state. Original instructions write values. Inserted instructions
//! move bytes or rematerialize constants.

use super::state::{ByteRange, ByteState, ValueSet};
use super::{CheckResult, Checker, SCRATCH, constant_of, element};
use crate::isel::lower_sends::has_second;
use crate::mir::{Access, MInst, VReg, VirtReg};
use gantry_isa_gen::message::Dir;
use gantry_isa_gen::{Dst, Inst, Op, Src};

impl Checker<'_> {
    /// Applies an instruction to the state.
    pub(super) fn step(&self, i: usize, state: &mut ByteState) -> CheckResult {
        let m = &self.after.code.insts[i];
        match self.original(i) {
            Some(original) => {
                let was = &self.before.insts[original];
                self.step_original(was, m, state);
                self.step_constant_def(original, was, state);
                if was.is_terminator() || state.has_grown() {
                    self.prune(original, state);
                }
                Ok(())
            }
            None => self
                .step_inserted(m, state)
                .map_err(|e| format!("instruction {i} (`{m}`) {e}")),
        }
    }

    fn step_original(&self, was: &MInst, m: &MInst, state: &mut ByteState) {
        match (was, m) {
            (&MInst::Copy { dst, src }, &MInst::Copy { dst: to, src: from }) => {
                let bytes = self.before.vregs[dst].bytes;
                state.rename(dst, src, bytes, &self.constants[src]);
                let bytes = self.after.code.vregs[to].bytes;
                state.copy(self.place(to), self.place(from), bytes);
            }
            (MInst::Start { dst }, _) => state.forget(*dst, self.before.vregs[*dst].bytes),
            (MInst::Touch { reg, write: true }, MInst::Touch { reg: new, .. }) => {
                // Writes somewhere in the register. Its place holds nothing else, and the value is
                // nowhere else.
                let bytes = self.before.vregs[*reg].bytes;
                let at = self.place(*new);
                state.kill(*reg, (0, bytes));
                state.put(
                    (at, at + bytes),
                    &ValueSet::from_slice(&[(*reg, i64::from(at))]),
                );
            }
            (
                MInst::Op {
                    inst: a, starts, ..
                },
                MInst::Op { inst: b, .. },
            ) if !a.op.has_runs() => {
                let (Dst::Direct { at, hs, ty }, Dst::Direct { at: new, .. }) = (a.dst, b.dst)
                else {
                    return self.write_spans(was, m, state);
                };
                let (Some(r), Some(n)) = (at.reg.as_grf(), new.reg.as_grf()) else {
                    return;
                };
                if *starts {
                    state.forget(r, self.before.vregs[r].bytes);
                }
                let (place, sub) = (self.place(n) + u32::from(new.sub), u32::from(at.sub));
                let (step, size, lanes) =
                    (u32::from(hs) * ty.bytes(), ty.bytes(), a.exec.channels());
                let runs = if step == size { 1 } else { lanes };
                let run = if step == size { lanes * size } else { size };
                for k in 0..runs {
                    self.write(state, r, sub + k * step, place + k * step, run);
                }
                let own = |c: &&(ByteRange, VReg)| c.0 == (sub, sub + run);
                if step == size
                    && let Some((_, constant)) = self.constants[r].iter().find(own)
                {
                    state.add((place, place + run), (*constant, i64::from(place)));
                }
            }
            _ => self.write_spans(was, m, state),
        }
    }

    /// Applies the definition of a constant that is rematerialized elsewhere: the bytes that stand
    /// for the constant also hold the value.
    fn step_constant_def(&self, original: usize, was: &MInst, state: &mut ByteState) {
        let MInst::Op { inst, .. } = was else { return };
        let Dst::Direct { at, hs: 1, ty } = inst.dst else {
            return;
        };
        let from = self
            .constant_defs
            .get(&original)
            .and_then(|c| self.rematerialized.get(c));
        if let (Some(&from), Some(r)) = (from, at.reg.as_grf()) {
            let bytes = inst.exec.channels() * ty.bytes();
            let delta = i64::from(from) - i64::from(at.sub);
            state.add((from, from + bytes), (r, delta));
        }
    }

    /// Writes bytes of a value at an address.
    fn write(&self, state: &mut ByteState, r: VReg, byte: u32, place: u32, bytes: u32) {
        let bytes = bytes.min(self.before.vregs[r].bytes.saturating_sub(byte));
        state.kill(r, (byte, byte + bytes));
        let delta = i64::from(place) - i64::from(byte);
        state.put((place, place + bytes), &ValueSet::from_slice(&[(r, delta)]));
    }

    /// Applies an instruction without lanes.
    fn write_spans(&self, was: &MInst, m: &MInst, state: &mut ByteState) {
        let mut places = Vec::new();
        self.spans(&self.after.code).each(m, |r, bytes, a| {
            places.push((self.place(r) + bytes.start, a));
        });
        let mut n = 0;
        self.spans(self.before).each(was, |r, bytes, a| {
            let place = places.get(n).map(|p| p.0);
            n += 1;
            let Some(place) = place.filter(|_| a != Access::Use) else {
                return;
            };
            if a == Access::Def {
                state.forget(r, self.before.vregs[r].bytes);
            }
            self.write(state, r, bytes.start, place, bytes.end - bytes.start);
        });
    }

    /// Applies an inserted instruction, which moves bytes or rematerializes a constant.
    fn step_inserted(&self, m: &MInst, state: &mut ByteState) -> CheckResult {
        let code = &self.after.code;
        match m {
            MInst::Start { .. } => Ok(()),
            MInst::Copy { dst, src } => {
                state.copy(self.place(*dst), self.place(*src), code.vregs[*dst].bytes);
                Ok(())
            }
            MInst::Op { inst, .. } => {
                if let Some((dir, at, bytes)) = self.scratch(inst) {
                    return self.scratch_step(inst, dir, at, bytes, state);
                }
                if self.base_step(inst, state) {
                    return Ok(());
                }
                if let Some(text) = constant_of(m) {
                    return self.constant_step(inst, &text, state);
                }
                self.mov_step(inst, state)
            }
            _ => Err("is new, and no move".to_owned()),
        }
    }

    fn scratch_step(
        &self,
        inst: &Inst<VirtReg>,
        dir: Dir,
        at: u32,
        bytes: u32,
        state: &mut ByteState,
    ) -> CheckResult {
        let grf = self.after.code.grf.bytes;
        let slots = self.own..self.after.spilled.scratch;
        let (first, end) = (at - SCRATCH, at - SCRATCH + bytes);
        if first < slots.start || end > slots.end {
            return Err(format!(
                "is about bytes {first} to {end} of scratch, which has {slots:?} for it"
            ));
        }
        let place = |at: gantry_isa_gen::RegRef<VirtReg>| match at.reg.as_grf() {
            Some(r) => Ok(self.place(r) + u32::from(at.sub)),
            None => Err("has no data".to_owned()),
        };
        let data = match (dir, inst.dst, inst.srcs[0], inst.srcs[1]) {
            (Dir::Read, Dst::Direct { at, .. }, _, _) => place(at)?,
            (Dir::Write, _, _, Src::Direct { at, .. }) if has_second(inst, VirtReg::NULL) => {
                place(at)?
            }
            // After the header.
            (Dir::Write, _, Src::Direct { at, .. }, _) => place(at)? + grf,
            _ => return Err("has no data".to_owned()),
        };
        if !data.is_multiple_of(grf) {
            return Err(format!("has its data at byte {data} of the GRF file"));
        }
        match dir {
            Dir::Read => state.copy(data, at, bytes),
            Dir::Write => state.copy(at, data, bytes),
        }
        Ok(())
    }

    fn constant_step(
        &self,
        inst: &Inst<VirtReg>,
        text: &str,
        state: &mut ByteState,
    ) -> CheckResult {
        let Dst::Direct { at, hs, ty } = inst.dst else {
            return Err("has no destination".to_owned());
        };
        let Some(r) = at.reg.as_grf() else {
            return Err("has no destination".to_owned());
        };
        let place = self.place(r) + u32::from(at.sub);
        let bytes = inst.exec.channels() * u32::from(hs) * ty.bytes();
        match self
            .constant_names
            .get(text)
            .and_then(|c| self.rematerialized.get(c))
        {
            Some(&from) => state.copy(place, from, bytes),
            None => state.put((place, place + bytes), &ValueSet::new()),
        }
        Ok(())
    }

    fn mov_step(&self, inst: &Inst<VirtReg>, state: &mut ByteState) -> CheckResult {
        let (
            Dst::Direct { at: to, hs, ty },
            Src::Direct {
                at: from,
                region,
                ty: of,
                mods,
            },
        ) = (inst.dst, inst.srcs[0])
        else {
            return Err("is new, and no move".to_owned());
        };
        let (Some(to_reg), Some(from_reg)) = (to.reg.as_grf(), from.reg.as_grf()) else {
            return Err("is new, and no move of registers".to_owned());
        };
        let lanes = inst.exec.channels();
        let packed = (0..lanes).all(|n| element(region, n) == Some(n)) && (hs == 1 || lanes == 1);
        let plain = inst.op == Op::Mov
            && inst.no_mask
            && inst.pred.is_none()
            && inst.cond.is_none()
            && !inst.sat
            && mods == gantry_isa_gen::SrcMods::default()
            && ty == of
            && packed;
        if !plain {
            return Err("is new, and no plain move".to_owned());
        }
        let place = |r: VReg, sub: u16| self.place(r) + u32::from(sub);
        let bytes = lanes * ty.bytes();
        state.copy(place(to_reg, to.sub), place(from_reg, from.sub), bytes);
        Ok(())
    }
}
