//! Parameters and results of subroutines, and calls.
//!
//! Each subroutine has registers of its own for parameters and results. A caller copies to them
//! before the call and from them after it. If they do not interfere, copy coalescing removes the
//! copies. Predicates are passed as dwords, but for an execution mask that the hardware keeps.

use super::{Lower, RoutineInterface};
use crate::ir::instructions::ValueList;
use crate::ir::{FuncRef, Function, Inst, Value};
use crate::isel::mask_stack::{MaskStack, Passed};
use crate::mir::lowered::Buffer;
use crate::mir::operand::{flag_dst, flag_src, flag_type, grf_dst, scalar_src, uniform};
use crate::mir::{MInst, Routine, VFlag, VReg, VRegData};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Bytes of the return address that a call writes: an address and a mask, a dword each (PRM Vol.
/// 2a, `call`).
const LINK_BYTES: u32 = 8;
/// Smallest number of channels of a `call`. Disabled ones do nothing.
const LEAST_EXEC: u32 = 8;

impl RoutineInterface {
    /// Makes the interface of a subroutine, some of whose masks the hardware may keep.
    pub(super) fn new(
        func: &Function,
        routine: Routine,
        kept: Option<&Passed>,
        out: &mut Buffer,
    ) -> RoutineInterface {
        let params = func
            .layout
            .entry()
            .map_or(0, |b| func.dfg.block_params(b).len());
        let link = VRegData {
            align: out.grf.bytes,
            ..VRegData::anywhere(LINK_BYTES, out.grf)
        };
        let results = func.sig.results.iter();
        RoutineInterface {
            routine,
            params: vec![None; params],
            results: (0..)
                .zip(results)
                .map(|(n, ty)| {
                    let pred = ty.is_pred().then_some(Type::Ud.bytes());
                    let bytes = pred.unwrap_or(ty.bytes());
                    let in_register = !kept.is_some_and(|k| k.results.contains(&n));
                    in_register.then(|| out.temp(bytes))
                })
                .collect(),
            link: out.vregs.push(link),
        }
    }
}

impl Lower<'_> {
    /// Returns the register of a subroutine's parameter.
    pub(super) fn own_param(&mut self, n: u16, bytes: u32) -> Option<VReg> {
        let known = *self.own.as_ref()?.params.get(usize::from(n))?;
        let r = known.unwrap_or_else(|| self.temp(bytes));
        if let Some(slot) = self
            .own
            .as_mut()
            .and_then(|o| o.params.get_mut(usize::from(n)))
        {
            *slot = Some(r);
        }
        Some(r)
    }

    /// Returns true if the hardware keeps a parameter of the subroutine: its execution mask.
    fn keeps_own_param(&self, n: usize) -> bool {
        let kept = self.masks.as_ref().and_then(|m| m.passed().param);
        kept.map(usize::from) == Some(n)
    }

    fn call_exec_size(&self) -> Option<ExecSize> {
        ExecSize::new(self.payload.simd.max(LEAST_EXEC))
    }

    fn flag_to_dword(&mut self, to: VReg, flag: VFlag, lanes: u32) {
        let from = flag_src(flag, flag_type(lanes));
        self.emit_op(uniform(Op::Mov, grf_dst(to, Type::Ud), [from]));
    }

    fn dword_to_flag(&mut self, flag: VFlag, from: VReg, lanes: u32) {
        let ty = flag_type(lanes);
        self.emit_op(uniform(
            Op::Mov,
            flag_dst(flag, ty),
            [scalar_src(from, 0, ty)],
        ));
    }

    /// Emits the flags of parameters that are predicates, at a subroutine's start.
    pub(super) fn flags_of_params(&mut self) {
        let entry = self.func.layout.entry();
        let params = entry
            .map_or(&[][..], |b| self.func.dfg.block_params(b))
            .to_vec();
        for (n, v) in params.into_iter().enumerate() {
            if let Some(flag) = self.value_flags[v].expand()
                && !self.keeps_own_param(n)
                && let Some(r) = self.own_param(n as u16, Type::Ud.bytes())
            {
                self.dword_to_flag(flag, r, self.ty(v).lanes());
            }
        }
    }

    /// Emits the end of a subroutine: its results and the return.
    pub(super) fn lower_return(&mut self, args: ValueList) {
        let args = args.as_slice(&self.func.dfg.pool).to_vec();
        let (Some(own), Some(exec)) = (&self.own, self.call_exec_size()) else {
            return;
        };
        let (results, link) = (own.results.clone(), own.link);
        if let Some(at) = self.masks.as_ref().and_then(MaskStack::exit) {
            self.emit(MInst::Join { at, exec });
        }
        for (dst, &v) in results.iter().zip(&args) {
            let Some(dst) = *dst else { continue };
            if self.ty(v).is_pred() {
                let flag = self.flag(v);
                self.flag_to_dword(dst, flag, self.ty(v).lanes());
            } else {
                let src = self.reg(v);
                self.emit(MInst::Copy { dst, src });
            }
        }
        for &reg in results.iter().flatten() {
            self.emit(MInst::Touch { reg, write: false });
        }
        self.emit(MInst::Return { link, exec });
    }

    pub(super) fn lower_call(&mut self, inst: Inst, func: FuncRef, args: ValueList) {
        let interfaces = self.interfaces;
        let (Some(callee), Some(exec)) = (&interfaces[func], self.call_exec_size()) else {
            return self.fail(Some(inst), "a call of a function that is not there");
        };
        let args = args.as_slice(&self.func.dfg.pool).to_vec();
        let wanted = |p: &(&Option<VReg>, &Value)| p.0.map(|r| (r, *p.1));
        let pairs: Vec<_> = callee.params.iter().zip(&args).collect();
        let pairs: Vec<(VReg, Value)> = pairs.iter().filter_map(wanted).collect();
        for &(dst, v) in &pairs {
            if self.ty(v).is_pred() {
                let flag = self.flag(v);
                self.flag_to_dword(dst, flag, self.ty(v).lanes());
            } else {
                let src = self.reg(v);
                self.emit(MInst::Copy { dst, src });
            }
        }
        for &(reg, _) in &pairs {
            self.emit(MInst::Touch { reg, write: false });
        }
        self.emit(MInst::Call {
            routine: callee.routine,
            link: callee.link,
            exec,
        });
        for &dst in callee.results.iter().flatten() {
            self.emit(MInst::Start { dst });
        }
        let results = self.func.dfg.results(inst).to_vec();
        for (src, v) in callee.results.iter().zip(results) {
            let Some(src) = *src else { continue };
            if let Some(flag) = self.value_flags[v].expand() {
                self.dword_to_flag(flag, src, self.ty(v).lanes());
            } else if let Some(dst) = self.value_regs[v].expand() {
                self.emit(MInst::Copy { dst, src });
            }
        }
    }
}
