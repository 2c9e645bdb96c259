//! Operations across the lanes of a vector by regions: reductions by halves, scans by doubling.
//! Also sub-group numbers and shuffles.

use super::{Expander, Results, Rule};
use crate::ir::{Dim, FuncKind, Inst, InstData, Opcode, Region, Scalar, Type, Value};
use smallvec::smallvec;

/// Maximal destination stride in elements with which one instruction writes many of them (PRM Vol.
/// 7, "Horizontal Stride").
const MOST_STEP: u32 = 4;

/// Returns the rule for an operation across lanes.
pub(super) fn rule(op: Opcode) -> Option<Rule> {
    Some(match op {
        Opcode::Shuffle => Rule::whole(shuffle),
        Opcode::SubgroupId => Rule::whole(subgroup_id),
        Opcode::SubgroupCount => Rule::whole(subgroup_count),
        op => {
            if op.among_lanes()?.scan {
                Rule::whole(scan)
            } else {
                Rule::whole(reduce)
            }
        }
    })
}

impl Expander<'_> {
    /// Returns lanes `first..first + lanes` of a vector.
    fn lanes(&mut self, v: Value, first: u32, lanes: u32) -> Value {
        let ty = self.ty(v);
        if first == 0 && lanes == ty.lanes() {
            return v;
        }
        let at = first * ty.scalar().bytes();
        self.region(ty.by(lanes), v, Region::contiguous(lanes as u16, at as u16))
    }

    /// Replaces the lanes of a vector from `first` on.
    fn with_lanes(&mut self, v: Value, first: u32, new: Value) -> Value {
        let ty = self.ty(new);
        if ty == self.ty(v) {
            return new;
        }
        let at = first * ty.scalar().bytes();
        let region = Region::contiguous(ty.lanes() as u16, at as u16);
        self.replace(v, new, region)
    }

    fn launch(&mut self, opcode: Opcode, dim: Dim) -> Value {
        let lanes = match (opcode, self.func.kind) {
            (Opcode::LocalId, FuncKind::Kernel { simd, .. }) => Type::clamped(Scalar::I16, simd),
            _ => Type::scalar_of(Scalar::I32),
        };
        self.one(InstData::Launch { opcode, dim }, Some(lanes))
    }
}

/// Combines the upper half with the lower one until one lane is left.
fn reduce(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [mut v] = e.args(inst);
    let among = e.func.dfg.data(inst).opcode().among_lanes();
    let op = among.map_or(Opcode::Bor, |a| a.opcode);
    loop {
        let n = e.ty(v).lanes();
        if n <= 1 {
            return smallvec![v];
        }
        let (upper, kept) = (n / 2, n.div_ceil(2));
        let (low, high) = (e.lanes(v, 0, upper), e.lanes(v, kept, upper));
        let both = e.bin(op, low, high);
        let rest = e.lanes(v, 0, kept);
        v = e.with_lanes(rest, 0, both);
    }
}

/// Combines the last lane of each lower half with all lanes of the upper half, in groups of `2 * d`
/// lanes. `d` is 1, 2, 4 and so on.
fn scan(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [mut v] = e.args(inst);
    let among = e.func.dfg.data(inst).opcode().among_lanes();
    let op = among.map_or(Opcode::Bor, |a| a.opcode);
    let ty = e.ty(v);
    let (n, size) = (ty.lanes(), ty.scalar().bytes());
    let mut d = 1;
    while d < n {
        let both = 2 * d;
        // If the destination stride allows it, one instruction handles the same lane of all upper
        // halves. Otherwise each upper half takes one.
        if both <= MOST_STEP {
            for here in d..both.min(n) {
                let lanes = (n - here).div_ceil(both);
                let at = |lane: u32| Region::new(both as u16, 1, 0, (lane * size) as u16);
                let last = e.region(ty.by(lanes), v, at(d - 1));
                let old = e.region(ty.by(lanes), v, at(here));
                let new = e.bin(op, last, old);
                v = e.replace(v, new, at(here));
            }
        } else {
            for first in (d..n).step_by(both as usize) {
                let lanes = d.min(n - first);
                let last = Region::scalar(((first - 1) * size) as u16);
                let last = e.region(ty.by(lanes), v, last);
                let old = e.lanes(v, first, lanes);
                let new = e.bin(op, last, old);
                v = e.with_lanes(v, first, new);
            }
        }
        d = both;
    }
    smallvec![v]
}

/// Reads a region with an index per lane.
fn shuffle(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [v, by] = e.args(inst);
    let (of, lanes) = (e.ty(v), e.ty(by).lanes());
    let last = of.lanes() - 1;
    if let Some(known) = numbers(e, by) {
        let size = of.scalar().bytes();
        let bytes = known
            .into_iter()
            .map(|n| n.min(last.into()) * u64::from(size));
        return smallvec![known_shuffle(e, v, bytes.collect(), of.by(lanes))];
    }
    // An index type that is too narrow cannot exceed the last lane.
    let most = e.ty(by).scalar().mask();
    let by = if u64::from(last) < most {
        let last = e.int(e.ty(by), last.into());
        e.bin(Opcode::Umin, by, last)
    } else {
        by
    };
    let words = Type::clamped(Scalar::I16, lanes);
    let by = match e.ty(by).scalar().bytes() {
        1 => e.to(Opcode::Uextend, words, by),
        2 => by,
        _ => e.to(Opcode::Ireduce, words, by),
    };
    let size = e.int(words, of.scalar().bytes().trailing_zeros().into());
    let index = e.bin(Opcode::Ishl, by, size);
    let data = InstData::RdRegion {
        opcode: Opcode::Rdregion,
        arg: v,
        region: Region::new(0, 1, 0, 0),
        index: index.into(),
    };
    smallvec![e.one(data, Some(of.by(lanes)))]
}

/// Returns the lanes of a constant.
fn numbers(e: &Expander<'_>, v: Value) -> Option<Vec<u64>> {
    let lanes = e.ty(v).lanes() as usize;
    match *e.func.dfg.data(e.func.dfg.def_inst(v)?) {
        InstData::Imm { bits, .. } => Some(vec![bits; lanes]),
        InstData::ImmVec { constant, .. } => Some(e.func.dfg.constant(constant).to_vec()),
        _ => None,
    }
}

/// Reads lanes at constant byte offsets: as a region if they have a constant stride, otherwise by
/// an index each.
fn known_shuffle(e: &mut Expander<'_>, v: Value, bytes: Vec<u64>, ty: Type) -> Value {
    let size = u64::from(ty.scalar().bytes());
    let first = bytes.first().copied().unwrap_or(0);
    let step = bytes.get(1).map_or(0, |b| b.wrapping_sub(first));
    let mut lanes = (0..).zip(&bytes);
    let even = lanes.all(|(n, &b)| b == first.wrapping_add(step.wrapping_mul(n)));
    let (region, index) = if even && step == 0 {
        (Region::scalar(first as u16), None)
    } else if even && step < 1 << 15 {
        (Region::new((step / size) as u16, 1, 0, first as u16), None)
    } else {
        let words = Type::clamped(Scalar::I16, ty.lanes());
        let constant = e.func.dfg.make_constant(bytes);
        let opcode = Opcode::Vconst;
        let index = e.one(InstData::ImmVec { opcode, constant }, Some(words));
        (Region::new(0, 1, 0, 0), Some(index))
    };
    let data = InstData::RdRegion {
        opcode: Opcode::Rdregion,
        arg: v,
        region,
        index: index.into(),
    };
    e.one(data, Some(ty))
}

fn simd(e: &Expander<'_>) -> u32 {
    match e.func.kind {
        FuncKind::Kernel { simd, .. } => simd.max(1),
        FuncKind::Subroutine => 1,
    }
}

/// Computes the linear id of the first work-item, divided by the SIMD width.
fn subgroup_id(e: &mut Expander<'_>, _: Inst) -> Results {
    let i32 = Type::scalar_of(Scalar::I32);
    let [x, y, z] = [Dim::X, Dim::Y, Dim::Z].map(|d| {
        let ids = e.launch(Opcode::LocalId, d);
        let first = e.lanes(ids, 0, 1);
        e.to(Opcode::Uextend, i32, first)
    });
    let [wide, high] = [Dim::X, Dim::Y].map(|d| e.launch(Opcode::LocalSize, d));
    let row = e.ter(Opcode::Imad, z, high, y);
    let item = e.ter(Opcode::Imad, row, wide, x);
    let shift = e.int(i32, simd(e).trailing_zeros().into());
    smallvec![e.bin(Opcode::Ushr, item, shift)]
}

/// Computes the number of work-items divided by the SIMD width, rounded up.
fn subgroup_count(e: &mut Expander<'_>, _: Inst) -> Results {
    let i32 = Type::scalar_of(Scalar::I32);
    let [x, y, z] = [Dim::X, Dim::Y, Dim::Z].map(|d| e.launch(Opcode::LocalSize, d));
    let plane = e.bin(Opcode::Imul, x, y);
    let most = e.int(i32, i64::from(simd(e)) - 1);
    let items = e.ter(Opcode::Imad, plane, z, most);
    let shift = e.int(i32, simd(e).trailing_zeros().into());
    smallvec![e.bin(Opcode::Ushr, items, shift)]
}
