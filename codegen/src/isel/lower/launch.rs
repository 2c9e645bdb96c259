//! Lowering of launch values (ids, sizes, the dispatch mask), and additions with carry.

use super::{Lower, gen_signed};
use crate::ir::{Dim, FuncKind, Inst, InstData, Opcode, Value};
use crate::mir::bale::{Bale, Operation, View};
use crate::mir::lowered::{Lowered, at};
use crate::mir::{MInst, VirtReg, operand};
use crate::target::abi::{LaunchFact, group_id_address};
use gantry_isa_gen::{Arf, ExecSize, Op, Reg, RegRef, Region, Src, SrcMods, Type};

impl Lower<'_> {
    /// Returns the byte address in the GRF file of a launch value at thread start, if this is one.
    /// Such a value needs no code.
    pub(super) fn launch_address(&self, inst: Inst) -> Option<u32> {
        let (opcode, dim) = match *self.func.dfg.data(inst) {
            InstData::Launch { opcode, dim } => (opcode, dim),
            InstData::ArgQuery { fact, of, .. } => {
                let mut facts = self.payload.arg_facts.iter();
                let (.., slot) = facts.find(|(n, f, _)| (*n, *f) == (of, fact))?;
                return Some(self.payload.cross_address() + slot.offset);
            }
            InstData::Nullary {
                opcode: opcode @ (Opcode::PrintfBuffer | Opcode::WorkDim),
            } => (opcode, Dim::X),
            _ => return None,
        };
        match opcode {
            Opcode::LocalId => Some(self.payload.local_id_address(dim)),
            Opcode::GroupId => Some(group_id_address(dim)),
            op => {
                let fact = LaunchFact::of(op)?;
                let (_, slot) = self.payload.facts.iter().find(|(f, _)| *f == fact)?;
                Some(self.payload.cross_address() + slot.offset + 4 * dim.index() as u32)
            }
        }
    }

    /// Emits the position of the thread on the GPU: bits of the thread header or of the state
    /// register.
    pub(super) fn lower_thread_place(&mut self, inst: Inst) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let (abi, out) = (self.target.abi(), self.reg(v));
        let state = RegRef::new(VirtReg::phys(Reg::Arf(Arf::State, 0)), 0);
        let state = operand::scalar(state, Type::Ud);
        let (from, bits) = match self.func.dfg.data(inst).opcode() {
            Opcode::EuId => (state, abi.eu),
            Opcode::EuThreadId => (state, abi.eu_thread),
            Opcode::SubsliceId => (state, abi.subslice),
            Opcode::SliceId => (state, abi.slice),
            _ => (
                operand::scalar_src(self.header, 20, Type::Ud),
                abi.hw_thread,
            ),
        };
        let mask = ((1u32 << bits.count) - 1) << bits.first;
        let to = operand::dst(RegRef::new(VirtReg::grf(out), 0), Type::Ud);
        let mask = operand::imm(mask.into(), Type::Ud);
        self.emit(operand::begins(operand::uniform(Op::And, to, [from, mask])));
        if bits.first > 0 {
            let field = operand::scalar_src(out, 0, Type::Ud);
            let by = operand::imm(bits.first.into(), Type::Ud);
            let inst = operand::uniform(Op::Shr, to, [field, by]);
            self.emit(MInst::Op {
                inst,
                starts: false,
                keeps: None.into(),
            });
        }
    }

    /// Reads both halves of the time stamp at once: the lower one may overflow at any time.
    pub(super) fn lower_time_stamp(&mut self, inst: Inst) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let stamp = RegRef::new(VirtReg::phys(Reg::Arf(Arf::Timestamp, 0)), 0);
        let from = Src::Direct {
            at: stamp,
            region: Region::packed(ExecSize::S2),
            ty: Type::Ud,
            mods: SrcMods::default(),
        };
        let to = operand::dst(RegRef::new(VirtReg::grf(self.reg(v)), 0), Type::Ud);
        let mut mov = operand::uniform(Op::Mov, to, [from]);
        mov.exec = ExecSize::S2;
        self.emit(operand::begins(mov));
    }

    /// Emits the enabled channels at thread start. All are enabled if the kernel requires groups
    /// that fill their threads. Otherwise a compare that is always true runs under the execution
    /// mask into a flag that was clear.
    pub(super) fn lower_dispatch_mask(&mut self, inst: Inst) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let lanes = self.ty(v).lanes();
        let (out, zero) = (self.flag(v), self.header);
        if let FuncKind::Kernel {
            simd: simd @ 1..,
            group_size: Some(size),
            ..
        } = self.func.kind
        {
            let simd = u64::from(simd);
            let left = size.iter().fold(1, |n, d| n * u64::from(*d) % simd);
            if left % simd == 0 {
                return self.const_flag(out, lanes, u64::MAX);
            }
        }
        self.exec_to_flag(out, lanes, zero);
    }

    /// Emits `addc` or `subb`, which write the carry to the accumulator and exist only for unsigned
    /// dwords.
    pub(super) fn lower_carry(&mut self, inst: Inst, op: Op, a: Value, b: Value) {
        let results: [Value; 2] = match self.func.dfg.results(inst) {
            &[s, c] => [s, c],
            _ => return,
        };
        let vt = self.ty(a);
        if gen_signed(vt.scalar()) != Type::D {
            return self.fail(Some(inst), "carry of lanes that are not 32 bits wide");
        }
        let lanes = vt.lanes();
        let [sum, carry] =
            results.map(|v| View::contiguous(VirtReg::grf(self.reg(v)), lanes, Type::Ud));
        let srcs = [a, b].map(|v| at(self.reg(v), 0, lanes, Type::Ud).plain());
        self.code.push(Lowered::Bale(Bale {
            carry: Some(carry),
            ..Bale::new(lanes, Operation::new(op, Type::Ud, &srcs), sum, true)
        }));
    }
}
