//! Operand values of an instruction, for traces.

use super::alu::element_at;
use super::program::{DstOp, MicroOp, MicroOpKind, Program, SrcOp};
use super::regs;
use super::thread::Thread;
use crate::watch::TraceOperand;
use gantry_isa_gen::Type;

/// Operands of one instruction, collected before and after it runs.
#[derive(Default)]
pub(super) struct Line {
    operands: Vec<TraceOperand>,
    /// Byte offset and length of a send's response.
    response: Option<(u32, u32)>,
}

const SOURCES: [&str; 3] = ["src0", "src1", "src2"];

impl Line {
    pub(super) fn operands(&self) -> &[TraceOperand] {
        &self.operands
    }

    /// Records the sources before the instruction runs.
    pub(super) fn before(
        &mut self,
        t: &Thread,
        program: &Program,
        pc: u32,
        op: &MicroOp,
        mask: u32,
    ) {
        self.operands.clear();
        self.response = None;
        if let MicroOpKind::Send(s) = &op.kind {
            if let Some(m) = program.message(&t.regs, pc, s) {
                let grf = program.platform.features().grf_bytes;
                let payloads = [("src0", s.src0, m.src0_grfs), ("src1", s.src1, m.src1_grfs)];
                for (name, at, grfs) in payloads {
                    if grfs > 0 {
                        let bytes = u32::from(grfs) * grf;
                        self.operands.push(dwords(t, name, at, bytes));
                    }
                }
                let response = u32::from(m.response_grfs) * grf;
                self.response = s.dst.filter(|_| response > 0).map(|at| (at, response));
            }
            return;
        }
        for ((name, s), ty) in SOURCES.into_iter().zip(&op.srcs).zip(op.alu.srcs) {
            let Some(ty) = ty.filter(|_| !matches!(s, SrcOp::None)) else {
                continue;
            };
            let ty = element_type(ty);
            let values = elements(op, mask, |i| match s {
                SrcOp::Value(v) => Some(*v),
                SrcOp::Imm(v) => v.get(i as usize).copied(),
                _ => {
                    let at = element_at(t, s, i, ty.bytes()).ok()?;
                    Some(t.regs.element(at, ty.bytes()))
                }
            });
            self.operands.push(TraceOperand { name, ty, values });
        }
    }

    /// Records the destination and flags after the instruction has run.
    pub(super) fn after(&mut self, t: &Thread, op: &MicroOp, mask: u32) {
        if let Some((at, bytes)) = self.response {
            self.operands.push(dwords(t, "dst", at, bytes));
        }
        let ty = element_type(op.alu.dst);
        let place = |i: u32| match op.dst {
            DstOp::Null => None,
            DstOp::Direct { at, step, .. } => Some(at + i * step),
            DstOp::Indirect { addr, imm, step } => {
                let at = i32::from(t.regs.u16(addr)) + imm;
                Some(u32::try_from(at).ok()? + i * step)
            }
        };
        if !matches!(op.dst, DstOp::Null) {
            let values = elements(op, mask, |i| Some(t.regs.element(place(i)?, ty.bytes())));
            self.operands.push(TraceOperand {
                name: "dst",
                ty,
                values,
            });
        }
        if let Some(bit) = op.flag {
            let flag = t.regs.u32(regs::FLAGS + u32::from(bit / 32) * 4);
            let values = elements(op, mask, |i| {
                let bit = (u32::from(bit) + i) % 32;
                Some(u64::from(flag >> bit & 1))
            });
            self.operands.push(TraceOperand {
                name: "flag",
                ty: Type::Uw,
                values,
            });
        }
    }
}

/// Returns a value of each channel of an instruction; `None` for those that are off.
fn elements(op: &MicroOp, mask: u32, value: impl Fn(u32) -> Option<u64>) -> Vec<Option<u64>> {
    (0..u32::from(op.n))
        .map(|i| value(i).filter(|_| mask >> i & 1 == 1))
        .collect()
}

/// Returns the type of one element of a packed immediate.
fn element_type(ty: Type) -> Type {
    match ty {
        Type::Uv => Type::Uw,
        Type::V => Type::W,
        Type::Vf => Type::F,
        ty => ty,
    }
}

fn dwords(t: &Thread, name: &'static str, at: u32, bytes: u32) -> TraceOperand {
    let values = (0..bytes / 4)
        .map(|i| Some(u64::from(t.regs.u32(at + i * 4))))
        .collect();
    TraceOperand {
        name,
        ty: Type::Ud,
        values,
    }
}
