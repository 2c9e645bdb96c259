//! ALU operations on more than lanes of their operands: math macros with their special
//! accumulators, and the systolic array.

use super::alu::{self, SourceLanes};
use super::program::{DstOp, MicroOp, MicroOpKind, Program, SrcOp};
use super::thread::Thread;
use gantry_isa_gen::sem::dpas::{self, Dpas};
use gantry_isa_gen::sem::{Extra, LANES, macros};
use gantry_isa_gen::{Dst, Inst, InstOpts, Op, Reg, Src, Subfn};

/// Operation of this kind with what it has besides its operands.
#[derive(Clone, Copy)]
pub(super) enum Special {
    /// Math macro with the special accumulators of the destination and the sources, where they have
    /// one.
    Macro {
        dst: Option<u8>,
        srcs: [Option<u8>; 3],
    },
    /// `dpas`.
    Systolic(Dpas),
    /// `dpas` or `dpasw` whose sums are overwritten unread ([`mark_overwritten`]).
    Overwritten { product: Dpas, fused: bool },
    /// `dpasw`: two threads have half of source 2 each.
    Fused(Dpas),
}

/// Special accumulators of a thread, from `mme0` on.
pub(super) type Accumulators = [macros::Special; 8];

/// Returns the kind of an instruction that is special in this way.
pub(super) fn kind(inst: &Inst<Reg>) -> Result<Option<MicroOpKind>, String> {
    // `nomme` counts as the accumulator after the last.
    let mme = |n: u8| (n < 8).then_some(n);
    let special = match (inst.op, inst.subfn, inst.dst) {
        (_, Subfn::Dpas { .. }, _) => {
            let d = Dpas::of(inst).ok_or("a systolic operand without a type")?;
            match inst.op {
                Op::Dpasw => Special::Fused(d),
                _ => Special::Systolic(d),
            }
        }
        (_, _, Dst::Macro { mme: n, .. }) => Special::Macro {
            dst: mme(n),
            srcs: inst.srcs.map(|s| match s {
                Src::Macro { mme: n, .. } => mme(n),
                _ => None,
            }),
        },
        _ => return Ok(None),
    };
    Ok(Some(MicroOpKind::Special(special)))
}

/// Runs such an operation in the channels of `mask`, which is not empty.
pub(super) fn execute(
    t: &mut Thread,
    op: &MicroOp,
    special: Special,
    mask: u32,
) -> Result<(), String> {
    match special {
        Special::Macro { dst, srcs } => {
            alu::with_lanes(t, |t, lanes| macro_step(t, op, (dst, srcs), mask, lanes))
        }
        Special::Systolic(d) => systolic(t, op, &d, None),
        Special::Overwritten { .. } => Ok(()),
        Special::Fused(d) => match t.lent.take() {
            Some(src2) => systolic(t, op, &d, Some(&src2)),
            None => Err("`dpasw` without the other thread's half of source 2".to_owned()),
        },
    }
}

/// Marks each `dpas` whose sums are overwritten unread. The instructions of a sequence (`{Atomic}`
/// on all but the last) read their operands before preceding ones have written. A sum is then lost
/// if the next instruction writes over all of it.
///
/// Intel's compiler of 2026 begins sequences on DG2 with such an instruction (IGC,
/// `visa/LocalScheduler`, `createADummyDpasRSWAInst`). It multiplies the next one's sums with
/// themselves. If it ran before the next one, that would add to its sums.
pub(super) fn mark_overwritten(ops: &mut [MicroOp], insts: &[Option<Inst<Reg>>]) {
    let sums = |op: &MicroOp| match (&op.kind, &op.dst) {
        (
            MicroOpKind::Special(s @ (Special::Systolic(d) | Special::Fused(d))),
            DstOp::Direct { at, .. },
        ) => Some((*s, *d, *at..*at + d.sum_bytes(d.dst))),
        _ => None,
    };
    for n in 1..ops.len() {
        let together = insts.get(n - 1).and_then(Option::as_ref);
        if !together.is_some_and(|i| i.opts.contains(InstOpts::ATOMIC)) {
            continue;
        }
        let of = |n: usize| ops.get(n).and_then(sums);
        if let (Some((special, product, sums)), Some((_, _, next))) = (of(n - 1), of(n))
            && next.start <= sums.start
            && sums.end <= next.end
            && let Some(op) = ops.get_mut(n - 1)
        {
            let fused = matches!(special, Special::Fused(_));
            op.kind = MicroOpKind::Special(Special::Overwritten { product, fused });
        }
    }
}

fn macro_step(
    t: &mut Thread,
    op: &MicroOp,
    (dst, srcs): (Option<u8>, [Option<u8>; 3]),
    mask: u32,
    lanes: &mut SourceLanes,
) -> Result<(), String> {
    let n = usize::from(op.n);
    for ((s, ty), out) in op.srcs.iter().zip(op.alu.srcs).zip(lanes.iter_mut()) {
        if let Some(ty) = ty {
            alu::gather(t, s, ty, n as u32, mask, out)?;
        }
    }
    let zero = [0; LANES];
    let held = srcs.map(|s| {
        let all = t.special_acc.as_ref()?;
        Some(*all.get(usize::from(s?))?)
    });
    let [x, y, z] = &held;
    let special = [x, y, z].map(|h| h.as_ref().unwrap_or(&zero));
    let extra = Extra {
        mode: t.mode,
        ..Extra::default()
    };
    let [a, b, c] = &*lanes;
    let (outcome, kept) = macros::eval(&op.alu, n, [a, b, c], special, dst.is_some(), &extra)
        .map_err(|e| e.to_string())?;
    alu::write(t, op, &op.dst, op.alu.dst, mask, &outcome)?;
    if let Some(bit) = op.flag {
        t.regs.set_flags(bit, mask, outcome.flags);
    }
    if let Some(d) = dst {
        let all = t
            .special_acc
            .get_or_insert_with(|| Box::new([[0; LANES]; 8]));
        if let Some(acc) = all.get_mut(usize::from(d)) {
            for (i, (a, k)) in acc.iter_mut().zip(kept).enumerate() {
                if mask >> i & 1 == 1 {
                    *a = k;
                }
            }
        }
    }
    Ok(())
}

/// Returns the byte offset of a systolic operand.
fn operand(s: &SrcOp) -> Result<u32, String> {
    match *s {
        SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => Ok(at),
        _ => Err("a systolic operand is a direct register".to_owned()),
    }
}

/// Returns the bytes of a systolic operand.
fn within(t: &Thread, from: u32, bytes: u32) -> Result<&[u8], String> {
    if from + bytes <= t.regs.grf_end() {
        Ok(t.regs.get(from, bytes as usize))
    } else {
        Err("a systolic operand runs past the last register".to_owned())
    }
}

/// Runs the systolic array, which computes all channels whatever the mask. `shared` is source 2,
/// where it is not all in the thread's own registers.
fn systolic(t: &mut Thread, op: &MicroOp, d: &Dpas, shared: Option<&[u8]>) -> Result<(), String> {
    let [src0, src1, src2] = &op.srcs;
    let DstOp::Direct { at: dst, .. } = op.dst else {
        return Ok(());
    };
    let start = match d.src0 {
        Some(ty) => within(t, operand(src0)?, d.sum_bytes(ty))?,
        None => &[],
    };
    let rows = match shared {
        Some(rows) => rows,
        None => within(t, operand(src2)?, d.src2_bytes())?,
    };
    let columns = within(t, operand(src1)?, d.src1_bytes())?;
    let sums = dpas::eval(d, start, columns, rows).map_err(|e| e.to_string())?;
    within(t, dst, sums.len() as u32)?;
    t.regs.get_mut(dst, sums.len()).copy_from_slice(&sums);
    Ok(())
}

/// Exchanges the halves of source 2 between threads that wait for each other in `dpasw`. A pair is
/// a thread of even number and the one after it, which fused EUs run together. Returns true if
/// there were any, or the thread that is wrong and why.
pub(super) fn lend(threads: &mut [Thread], program: &Program) -> Result<bool, (usize, String)> {
    let mut any = false;
    for (k, pair) in threads.chunks_mut(2).enumerate() {
        // Operation at which a thread waits with its half.
        let waiting = |t: &Thread| t.lends.then_some(t.pc);
        match pair {
            [a, b] if waiting(a).is_some() && waiting(a) == waiting(b) => {
                let Some(op) = program.ops.get(a.pc as usize) else {
                    continue;
                };
                let MicroOpKind::Special(Special::Fused(d)) = &op.kind else {
                    continue;
                };
                let [first, second] = d.halves(program.platform.features().grf_bytes);
                let at = operand(&op.srcs[2]).map_err(|e| (2 * k, e))?;
                let mut all = within(a, at, first).map_err(|e| (2 * k, e))?.to_vec();
                all.extend(within(b, at, second).map_err(|e| (2 * k + 1, e))?);
                for t in [a, b] {
                    t.lends = false;
                    t.lent = Some(all.clone());
                }
                any = true;
            }
            [a, b] => {
                for (t, other, i) in [(&*a, &*b, 0), (&*b, &*a, 1)] {
                    if waiting(t).is_some() && other.done {
                        return Err((2 * k + i, ALONE.to_owned()));
                    }
                }
            }
            [a] if waiting(a).is_some() => return Err((2 * k, ALONE.to_owned())),
            _ => {}
        }
    }
    Ok(any)
}

const ALONE: &str = "`dpasw` shares operands with a second thread, which there is not";
