//! Systolic array: its operands are runs of whole GRFs, as payloads are, without regions.

use super::SendLowering;
use crate::mir::bale::Operation;
use crate::mir::logical::Systolic;
use crate::mir::lowered::at;
use crate::mir::operand::{begins, dst, scalar};
use crate::mir::{RegConstraint, VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{self as isa, ExecSize, Inst, Op, Reg, RegRef, Subfn, Type};

impl Systolic {
    /// Checks that the target's array has an operation.
    ///
    /// # Errors
    /// Sentence that says why it has not.
    pub fn check(target: &Target, op: &Dpas) -> Result<(), String> {
        let f = target.features();
        if !f.dpas {
            return Err("a product of matrices where there is no systolic array".to_owned());
        }
        let have = f.grf_bytes / Type::Ud.bytes();
        let channels = op.channels;
        if u32::from(channels) != have {
            return Err(format!(
                "a product of matrices of {channels} columns where the systolic array has {have}"
            ));
        }
        let any = Reg::Grf(0);
        let inst = instruction(op, any, any, [any; 2]).ok_or("a product of no channels")?;
        match isa::legal::check(target.platform(), &inst).first() {
            Some(finding) => Err(format!("a product of matrices ({finding})")),
            None => Ok(()),
        }
    }
}

/// Returns the instruction of an operation, on registers from their starts.
fn instruction<R: Copy>(op: &Dpas, to: R, acc: R, [columns, rows]: [R; 2]) -> Option<Inst<R>> {
    let mut inst = Inst::new(Op::Dpas, ExecSize::new(op.channels.into())?);
    inst.subfn = Subfn::Dpas {
        depth: op.depth,
        repeat: op.repeat,
    };
    inst.no_mask = true;
    let start = |r: R| RegRef::new(r, 0);
    inst.dst = dst(start(to), op.dst);
    inst.srcs = [
        scalar(start(acc), op.src0.unwrap_or(op.dst)),
        scalar(start(columns), op.src1),
        scalar(start(rows), op.src2),
    ];
    Some(inst)
}

impl SendLowering<'_> {
    pub(super) fn systolic(&mut self, s: &Systolic) {
        let op = s.op;
        let columns = self.systolic_operand(s.columns, op.src1_bytes());
        let rows = self.systolic_operand(s.rows, op.src2_bytes());
        let acc = match (s.acc, op.src0) {
            (Some(r), Some(ty)) => VirtReg::grf(self.systolic_operand(r, op.sum_bytes(ty))),
            _ => VirtReg::NULL,
        };
        self.at_grf(s.dst);
        let factors = [columns, rows].map(VirtReg::grf);
        match instruction(&op, VirtReg::grf(s.dst), acc, factors) {
            Some(inst) => self.out.emit(begins(inst)),
            None => self.fail("a product of no channels"),
        }
    }

    /// Returns a GRF-aligned register with the same value.
    fn systolic_operand(&mut self, reg: VReg, bytes: u32) -> VReg {
        let grf = self.out.grf;
        match self.out.vregs[reg].constraint {
            RegConstraint::Fixed(at) if !at.is_multiple_of(grf.bytes) => {}
            _ => {
                self.at_grf(reg);
                return reg;
            }
        }
        let t = self.out.temp_grfs(grf.hold(bytes));
        let ty = if bytes.is_multiple_of(Type::Ud.bytes()) {
            Type::Ud
        } else {
            Type::Uw
        };
        let lanes = bytes / ty.bytes();
        let mov = Operation::new(Op::Mov, ty, &[at(reg, 0, lanes, ty).plain()]);
        self.out.bale(t, lanes, mov);
        t
    }
}
