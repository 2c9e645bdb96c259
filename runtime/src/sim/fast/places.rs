//! Operand layouts of handlers. A handler need not examine at run time what its layout fixes.

use super::super::program::{DstOp, MicroOp, SrcOp};
use super::super::thread::Thread;
use super::choose::Operands;
use super::lanes::{self, Lane};
use gantry_isa_gen::sem::{AluOp, is_logic, truth_of_mask};
use gantry_isa_gen::{Op, SrcMods, Type};

/// Access of a handler to its operands.
pub(super) trait OperandAccess {
    /// True if there is no saturation, and only comparisons write flags.
    const PLAIN: bool;
    /// Loads a source's lanes, with its modifiers. Lanes beyond the instruction's channels are
    /// undefined.
    fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N];
    /// Writes the lanes of `mask` to the destination.
    fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32, v: &[L; N]);
}

/// Operand layout that a handler is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OperandLayout {
    /// [`Rows`]. Bit k of `splat` is set if source k is one dword for all channels.
    Rows { splat: u8, mods: bool },
    /// [`One`].
    One,
    /// [`Anywhere`].
    Anywhere,
}

/// Source of [`Rows`]: adjacent dwords, or one dword for all channels.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct RowSource {
    /// Byte offset of the first dword in the GRF file; `None` for an immediate.
    at: Option<u32>,
    /// Lane of an immediate.
    value: u32,
    /// Effect of modifiers on a lane: bits that are kept, bits that are flipped, and a number
    /// subtracted afterwards.
    keep: u32,
    flip: u32,
    minus: u32,
}

impl OperandLayout {
    /// Returns the layout of an operation's operands in lanes of 32 bits, and the row sources.
    pub(super) fn of(alu: &AluOp, o: &Operands<'_>) -> (OperandLayout, [RowSource; 3]) {
        let none = [RowSource::default(); 3];
        let vector = o.srcs.iter().any(|s| matches!(s, SrcOp::Imm(_)));
        if o.n == 1 && !vector {
            return (OperandLayout::One, none);
        }
        match rows(alu, o) {
            Some((splat, mods, rows)) => (OperandLayout::Rows { splat, mods }, rows),
            None => (OperandLayout::Anywhere, none),
        }
    }

    /// Returns the layout for lanes that are no dwords.
    pub(super) fn without_rows(self) -> OperandLayout {
        match self {
            OperandLayout::Rows { .. } => OperandLayout::Anywhere,
            place => place,
        }
    }
}

/// Returns the set of one-dword sources, whether there are modifiers, and the sources as rows.
/// `None` where an operand is no row.
fn rows(alu: &AluOp, o: &Operands<'_>) -> Option<(u8, bool, [RowSource; 3])> {
    let dword = |t: Type| matches!(t, Type::D | Type::Ud | Type::F);
    let row = match o.dst {
        DstOp::Direct { step: 4, .. } => dword(alu.dst),
        DstOp::Null => alu.op == Op::Cmp,
        _ => false,
    };
    if !row || alu.sat || o.flags && alu.op != Op::Cmp || !matches!(o.n, 8 | 16 | 32) {
        return None;
    }
    let (mut splat, mut modified) = (0, false);
    let mut rows = [RowSource::default(); 3];
    for (k, (s, ty)) in o.srcs.iter().zip(alu.srcs).enumerate() {
        let Some(ty) = ty else { continue };
        let mods = alu.mods[k];
        let out = &mut rows[k];
        *out = modifiers(ty, mods, is_logic(alu.op))?;
        match *s {
            SrcOp::Packed { at } if dword(ty) => {
                out.at = Some(at);
                modified |= mods != SrcMods::default();
            }
            SrcOp::Scalar { at } if dword(ty) => {
                out.at = Some(at);
                splat |= 1 << k;
            }
            SrcOp::Value(v) if ty == Type::F || ty.is_int() && ty.bytes() <= 4 => {
                let lane = if ty == Type::F {
                    v as u32
                } else {
                    u32::of_element(v, ty)
                };
                out.value = out.modify(lane);
                splat |= 1 << k;
            }
            _ => return None,
        }
    }
    Some((splat, modified, rows))
}

/// Returns the effect of modifiers on a lane; `None` for an integer's absolute value.
fn modifiers(ty: Type, mods: SrcMods, logic: bool) -> Option<RowSource> {
    let plain = RowSource {
        keep: u32::MAX,
        ..RowSource::default()
    };
    let ones = |yes: bool| if yes { u32::MAX } else { 0 };
    Some(if ty == Type::F {
        RowSource {
            keep: if mods.abs { i32::MAX as u32 } else { u32::MAX },
            flip: if mods.neg { 1 << 31 } else { 0 },
            ..plain
        }
    } else if mods.abs {
        return None;
    } else {
        RowSource {
            flip: ones(mods.neg),
            minus: ones(mods.neg && !logic),
            ..plain
        }
    })
}

impl RowSource {
    #[inline(always)]
    fn modify(&self, lane: u32) -> u32 {
        (lane & self.keep ^ self.flip).wrapping_sub(self.minus)
    }
}

/// Rows of dwords in the registers, or one dword for all channels where the bit of `SPLAT` is set.
/// Rows may have modifiers only if `MODS` is true.
pub(super) struct Rows<const SPLAT: u8, const MODS: bool>;

impl<const SPLAT: u8, const MODS: bool> OperandAccess for Rows<SPLAT, MODS> {
    const PLAIN: bool = true;

    #[inline(always)]
    fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N] {
        let Some(row) = op.rows.get(k) else {
            return [L::default(); N];
        };
        if SPLAT >> k & 1 == 1 {
            let lane = match row.at {
                Some(at) => row.modify(t.regs.u32(at)),
                None => row.value,
            };
            return [L::of_dword(lane, true); N];
        }
        let Some(from) = t.regs.elements::<4, N>(row.at.unwrap_or(0)) else {
            return [L::default(); N];
        };
        let mut out = [L::default(); N];
        for i in 0..N {
            let lane = u32::from_le_bytes(from[i]);
            let lane = if MODS { row.modify(lane) } else { lane };
            out[i] = L::of_dword(lane, true);
        }
        out
    }

    #[inline(always)]
    fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32, v: &[L; N]) {
        let DstOp::Direct { at, .. } = op.dst else {
            return;
        };
        let Some(out) = t.regs.elements_mut::<4, N>(at) else {
            return;
        };
        if mask == op.full {
            for i in 0..N {
                out[i] = (v[i].bits() as u32).to_le_bytes();
            }
        } else {
            let on = truth_of_mask::<N>(mask);
            for i in 0..N {
                let old = u32::from_le_bytes(out[i]);
                let new = v[i].bits() as u32;
                out[i] = (if on[i] != 0 { new } else { old }).to_le_bytes();
            }
        }
    }
}

/// One channel, with elements of any size.
pub(super) struct One;

impl OperandAccess for One {
    const PLAIN: bool = false;

    #[inline(always)]
    fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N] {
        let (Some(s), Some(Some(ty)), Some(mods)) =
            (op.srcs.get(k), op.alu.srcs.get(k), op.alu.mods.get(k))
        else {
            return [L::default(); N];
        };
        let bits = match *s {
            SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => {
                t.regs.element(at, ty.bytes())
            }
            SrcOp::Value(v) => v,
            _ => 0,
        };
        let lane = L::of_element(bits, *ty);
        if *mods == SrcMods::default() {
            return [lane; N];
        }
        [lane.modified(*mods, is_logic(op.alu.op)); N]
    }

    #[inline(always)]
    fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, _: u32, v: &[L; N]) {
        if let (DstOp::Direct { at, .. }, Some(v)) = (op.dst, v.first()) {
            let ty = op.alu.dst;
            t.regs.set_element(at, ty.bytes(), v.element(ty));
        }
    }
}

/// Direct operands of any layout, examined when the operation runs.
pub(super) struct Anywhere;

impl OperandAccess for Anywhere {
    const PLAIN: bool = false;

    #[inline(always)]
    fn load<L: Lane, const N: usize>(t: &Thread, op: &MicroOp, k: usize) -> [L; N] {
        lanes::load(t, op, k)
    }

    #[inline(always)]
    fn store<L: Lane, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32, v: &[L; N]) {
        lanes::store(t, op, mask, v);
    }
}
