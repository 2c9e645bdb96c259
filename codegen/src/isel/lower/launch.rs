//! Lowering of launch values (ids, sizes, the dispatch mask), vector constants, and additions with
//! carry.

use super::{Lower, gen_signed};
use crate::ir::{Constant, Dim, FuncKind, Inst, InstData, Opcode, Value};
use crate::mir::bale::{Bale, BaleSrc, Operation, View};
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

    /// Emits a constant per lane. Groups of eight lanes that fit in nibbles are packed immediates,
    /// and steps of an arithmetic sequence are additions. The rest is one move per lane.
    pub(super) fn lower_constant_vector(&mut self, inst: Inst, c: Constant) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let vt = self.ty(v);
        let ty = gen_signed(vt.scalar());
        let out = self.reg(v);
        let lanes: Vec<u64> = self.func.dfg.constant(c).to_vec();
        let bits = vt.scalar().bits();
        let signed: Vec<i64> = lanes
            .iter()
            .map(|&x| super::facts::sign_extend(x, bits))
            .collect();
        let mut starts = true;
        for (n, chunk) in signed.chunks(8).enumerate() {
            let first = n as u32 * 8;
            let dst = View {
                offset: first * ty.bytes(),
                ..View::contiguous(VirtReg::grf(out), chunk.len() as u32, ty)
            };
            let n = chunk.len() as u32;
            if ty.is_int()
                && ty.bytes() >= 2
                && n > 1
                && let Some(NibbleSequence { steps, shift, base }) = NibbleSequence::of(chunk)
            {
                let words = self.packed(pack_nibbles(&steps)).plain();
                let mut ops: Vec<(Op, BaleSrc)> = Vec::new();
                if shift > 0 {
                    ops.push((Op::Shl, BaleSrc::Imm(shift.into(), Type::Uw)));
                }
                if base != 0 {
                    ops.push((Op::Add, BaleSrc::Imm(base as u64 & 0xffff, Type::W)));
                }
                // Operations before the last are on words. So are shifts for qwords, which not all
                // platforms have.
                let widens = ty.bytes() == 8 && base == 0;
                let last = ops.pop_if(|_| !widens);
                let mut words = words;
                for (op, by) in ops {
                    let made = self.temp(n * Type::W.bytes());
                    let to = View::contiguous(VirtReg::grf(made), n, Type::W);
                    self.bale_at(to, true, n, Operation::new(op, Type::W, &[words, by]));
                    words = to.plain();
                }
                let o = match last {
                    Some((op, by)) => Operation::new(op, ty, &[words, by]),
                    None => Operation::new(Op::Mov, ty, &[words]),
                };
                self.bale_at(dst, starts, n, o);
                starts = false;
                continue;
            }
            for (i, x) in chunk.iter().enumerate() {
                let at = View {
                    offset: (first + i as u32) * ty.bytes(),
                    ..View::scalar(VirtReg::grf(out), 0, ty)
                };
                let bits = lanes.get(first as usize + i).copied().unwrap_or(0);
                let src = match ty {
                    Type::B => BaleSrc::Imm(*x as u64 & 0xffff, Type::W),
                    t => BaleSrc::Imm(bits, t),
                };
                self.bale_at(at, starts, 1, Operation::new(Op::Mov, ty, &[src]));
                starts = false;
            }
        }
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

/// Numbers that are nibbles times a power of two, plus a base, all within words.
struct NibbleSequence {
    /// Nibbles, from -8 to 7.
    steps: Vec<i64>,
    shift: u32,
    base: i64,
}

impl NibbleSequence {
    fn of(xs: &[i64]) -> Option<NibbleSequence> {
        let nibble = |x: &i64| (-8..8).contains(x);
        let word = |x: i64| i16::try_from(x).is_ok();
        let (least, most) = (*xs.iter().min()?, *xs.iter().max()?);
        if xs.iter().all(nibble) {
            return Some(NibbleSequence {
                steps: xs.to_vec(),
                shift: 0,
                base: 0,
            });
        }
        if !word(least) || !word(most) {
            return None;
        }
        let first = *xs.first()?;
        let all = xs.iter().fold(0, |all, x| all | (x - least));
        let shift = all.trailing_zeros().min(15);
        // The first number is preferred as base, so that similar groups become equal. The next
        // choice is the middle.
        let bases = [0, first, least + (8 << shift)];
        bases.into_iter().find_map(|base| {
            let unit = 1 << shift;
            let fits = |x: &&i64| {
                let step = *x - base;
                step % unit == 0 && word(step) && nibble(&(step >> shift))
            };
            let all = word(base) && xs.iter().filter(fits).count() == xs.len();
            all.then(|| NibbleSequence {
                steps: xs.iter().map(|x| (x - base) >> shift).collect(),
                shift,
                base,
            })
        })
    }
}

fn pack_nibbles(xs: &[i64]) -> u64 {
    xs.iter()
        .enumerate()
        .fold(0, |acc, (i, x)| acc | ((*x as u64 & 0xf) << (4 * i)))
}
