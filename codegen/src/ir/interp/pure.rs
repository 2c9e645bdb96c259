//! Execution of operations without side effects.

use super::memory::from_le;
use super::{Lanes, alu};
use crate::ir::{DataFlowGraph, DpasTypes, InstData, Opcode, Region, Scalar, Type, Value};
use gantry_isa_gen::sem::{FpMode, dpas};

pub(super) fn lane_of(lanes: &[u64], lane: usize) -> Result<u64, String> {
    lanes
        .get(lane)
        .copied()
        .ok_or_else(|| format!("there is no lane {lane} (the function was not verified)"))
}

/// Returns the element that a lane of a region refers to. Elements have `bytes` bytes.
fn element(r: &Region, lane: usize, index: Option<&Lanes>, bytes: u32) -> Result<usize, String> {
    let lane = lane as u32;
    let row = lane / u32::from(r.width).max(1);
    let (start, within) = match index {
        None => (0, r.element(lane)),
        Some(i) if i.len() == 1 => (alu::signed(Scalar::I16, lane_of(i, 0)?), r.element(lane)),
        Some(i) => (
            alu::signed(Scalar::I16, lane_of(i, row as usize)?),
            lane % u32::from(r.width).max(1) * u32::from(r.hstride),
        ),
    };
    let at = start + i64::from(r.offset) + i64::from(within) * i64::from(bytes);
    let size = i64::from(bytes.max(1));
    if at < 0 || at % size != 0 {
        return Err(format!(
            "lane {lane} of the region is at byte {at} of the vector"
        ));
    }
    let element = at / size;
    // One index stays in the row of the parent in which each row of the region begins.
    if let (Some(1), true) = (index.map(Vec::len), r.parent_width > 0) {
        let first = i64::from(r.offset) / size + i64::from(row * u32::from(r.vstride));
        let parent = i64::from(r.parent_width);
        if element / parent != first / parent {
            return Err(format!(
                "lane {lane} of the region is element {element}, not in a row of {parent} with {first}"
            ));
        }
    }
    Ok(element as usize)
}

/// Reduces or scans lanes, in the order that `reduce_fadd` and `scan_fadd` specify.
fn among(opcode: Opcode, t: Scalar, x: &Lanes, mode: &FpMode) -> Option<Lanes> {
    let among = opcode.among_lanes()?;
    let both = |a: &[u64], b: &[u64]| alu::binary(among.opcode, t, t, a, b, mode);
    let mut x = x.clone();
    if among.scan {
        let mut d = 1;
        while d < x.len() {
            let upper: Vec<usize> = (0..x.len()).filter(|i| i & d != 0).collect();
            let at = |n: usize| x.get(n).copied();
            let last: Option<Lanes> = upper.iter().map(|i| at((i & !(d - 1)) - 1)).collect();
            let here: Option<Lanes> = upper.iter().map(|i| at(*i)).collect();
            let new = both(&last?, &here?)?;
            for (i, v) in upper.into_iter().zip(new) {
                *x.get_mut(i)? = v;
            }
            d *= 2;
        }
        return Some(x);
    }
    while x.len() > 1 {
        let (n, kept) = (x.len() / 2, x.len().div_ceil(2));
        let new = both(x.get(..n)?, x.get(kept..)?)?;
        x.truncate(kept);
        x.splice(..n, new);
    }
    Some(x)
}

/// Evaluates an operation without side effects from the values of its operands. `to` is the type of
/// the first result. `mode` has rounding and denormal modes.
pub(crate) fn evaluate<'v>(
    dfg: &DataFlowGraph,
    to: Type,
    data: &InstData,
    values: impl Fn(Value) -> &'v Lanes,
    mode: &FpMode,
) -> Result<Vec<Lanes>, String> {
    let none = || format!("`{}` has no meaning here", data.opcode());
    let lanes = |f: &mut dyn FnMut(usize) -> Result<u64, String>| -> Result<Lanes, String> {
        (0..to.lanes() as usize).map(f).collect()
    };
    let one = match *data {
        InstData::Imm { opcode, bits } => {
            let pred = opcode == Opcode::Bconst;
            lanes(&mut |l| Ok(if pred { bits >> l & 1 } else { bits }))?
        }
        InstData::ImmVec { constant, .. } => dfg.constant(constant).to_vec(),
        InstData::Unary { opcode, arg } => {
            let (from, x) = (dfg.ty(arg), values(arg));
            match opcode {
                Opcode::Any => vec![u64::from(x.contains(&1))],
                Opcode::All => vec![u64::from(x.iter().all(|&b| b == 1))],
                Opcode::PredToBits => {
                    vec![x.iter().enumerate().fold(0, |v, (l, &b)| v | b << (l % 64))]
                }
                Opcode::BitsToPred => {
                    let bits = lane_of(x, 0)?;
                    lanes(&mut |l| Ok(bits >> l & 1))?
                }
                Opcode::Bitcast => bitcast(from, to, x),
                _ if opcode.among_lanes().is_some() => {
                    among(opcode, from.scalar(), x, mode).ok_or_else(none)?
                }
                _ => alu::unary(opcode, from.scalar(), to.scalar(), x, mode).ok_or_else(none)?,
            }
        }
        InstData::Binary {
            opcode: Opcode::Join,
            args: [em, rm],
        } => {
            let new = lanes(&mut |l| Ok(lane_of(values(em), l)? | lane_of(values(rm), l)?))?;
            let empty = u64::from(!new.contains(&1));
            return Ok(vec![new, vec![empty]]);
        }
        InstData::Binary {
            opcode: Opcode::Shuffle,
            args: [v, by],
        } => {
            let (from, by) = (values(v), values(by));
            let last = from.len().saturating_sub(1);
            let at = |n: u64| usize::try_from(n).map_or(last, |n| n.min(last));
            lanes(&mut |l| lane_of(from, at(lane_of(by, l)?)))?
        }
        InstData::Binary {
            opcode,
            args: [a, b],
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), values(a), values(b));
            let first = alu::binary(opcode, t, to.scalar(), x, y, mode).ok_or_else(none)?;
            if matches!(opcode, Opcode::Iaddc | Opcode::Isubb) {
                return Ok(vec![first, alu::carry(opcode, t, x, y)]);
            }
            first
        }
        InstData::Ternary {
            opcode: Opcode::Goto,
            args: [em, rm, cond],
        } => {
            let at = |v: Value, l: usize| lane_of(values(v), l);
            let stay = lanes(&mut |l| Ok(at(em, l)? & !at(cond, l)? & 1))?;
            let left = lanes(&mut |l| Ok(at(rm, l)? | at(em, l)? & at(cond, l)?))?;
            let empty = u64::from(!stay.contains(&1));
            return Ok(vec![stay, left, vec![empty]]);
        }
        InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, a, b],
        } => lanes(&mut |l| match lane_of(values(mask), l)? {
            1 => lane_of(values(a), l),
            _ => lane_of(values(b), l),
        })?,
        InstData::Ternary {
            opcode,
            args: [a, b, c],
        } => {
            let lanes = [a, b, c].map(|v| values(v).as_slice());
            alu::ternary(opcode, dfg.ty(a).scalar(), lanes, mode).ok_or_else(none)?
        }
        InstData::Dpas { shape, args, .. } => {
            let [acc, columns, rows] = args.map(|v| dfg.ty(v));
            let op = shape.operation(&DpasTypes {
                acc,
                columns,
                rows,
                result: to,
            })?;
            let [acc, columns, rows] = args.map(|v| to_le(dfg.ty(v), values(v)));
            let sums = dpas::eval(&op, &acc, &columns, &rows).map_err(|e| e.to_string())?;
            lanes_of(to, &sums)
        }
        InstData::IntCompare {
            cond, args: [a, b], ..
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), values(a), values(b));
            alu::int_compare(cond, t, x, y).ok_or_else(none)?
        }
        InstData::FloatCompare {
            cond, args: [a, b], ..
        } => {
            let (t, x, y) = (dfg.ty(a).scalar(), values(a), values(b));
            alu::float_compare(cond, t, x, y, mode).ok_or_else(none)?
        }
        InstData::RdRegion {
            arg,
            ref region,
            index,
            ..
        } => {
            let index = index.expand().map(&values);
            let size = to.scalar().bytes();
            lanes(&mut |l| lane_of(values(arg), element(region, l, index, size)?))?
        }
        InstData::WrRegion {
            args: [old, new],
            ref region,
            index,
            mask,
            ..
        } => {
            let index = index.expand().map(&values);
            let mut out = values(old).clone();
            for (l, &bits) in values(new).iter().enumerate() {
                let on = mask.expand().is_none_or(|m| values(m).get(l) == Some(&1));
                if on {
                    let at = element(region, l, index, to.scalar().bytes())?;
                    lane_of(&out, at)?;
                    out[at] = bits;
                }
            }
            out
        }
        InstData::RdPred { arg, offset, .. } => {
            lanes(&mut |l| lane_of(values(arg), l + usize::from(offset)))?
        }
        InstData::WrPred {
            args: [old, new],
            offset,
            ..
        } => {
            let mut out = values(old).clone();
            for (l, &b) in values(new).iter().enumerate() {
                *out.get_mut(l + usize::from(offset)).ok_or_else(none)? = b;
            }
            out
        }
        _ => return Err(none()),
    };
    Ok(vec![one])
}

fn bitcast(from: Type, to: Type, x: &[u64]) -> Lanes {
    lanes_of(to, &to_le(from, x))
}

/// Returns the bytes of a value's lanes.
fn to_le(ty: Type, x: &[u64]) -> Vec<u8> {
    let size = ty.scalar().bytes() as usize;
    let bytes = x.iter().map(|b| b.to_le_bytes());
    bytes.flat_map(|b| b.into_iter().take(size)).collect()
}

/// Returns the lanes of a type that bytes encode.
fn lanes_of(ty: Type, bytes: &[u8]) -> Lanes {
    bytes
        .chunks(ty.scalar().bytes().max(1) as usize)
        .map(from_le)
        .collect()
}
