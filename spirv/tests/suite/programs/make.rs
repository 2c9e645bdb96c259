//! Random programs of the kinds that `program.rs` defines.

use crate::programs::graph::graph;
use crate::programs::program::{
    Arg, Block, Body, GIVEN, Inst, LOCAL, Place, Program, SLICE, Space, TABLE, Term, Way, What,
    reach, targets,
};
use crate::programs::rng::Rng;
use crate::programs::types::{Kind, Ty, U32};
use smallvec::smallvec;
use spirv::{Op, OpenclStd100Op as Std};

/// Restrictions of the target.
#[derive(Clone, Copy)]
pub struct Limits {
    pub doubles: bool,
}

struct Make<'r> {
    r: &'r mut Rng,
    limits: Limits,
    /// Functions that may be called, with the types of their results.
    callable: Vec<(usize, Ty)>,
    vars: Vec<(Ty, Way)>,
    arrays: Vec<(Ty, u32)>,
    /// Set if all stores to the first array are uniform.
    alike: bool,
    counters: usize,
    in_kernel: bool,
    /// Values of other blocks that may be used, and instructions of the current block.
    far: Vec<(usize, usize, Ty)>,
    /// Last value of the flag variable that blocks branch on.
    flag: bool,
    insts: Vec<Inst>,
}

const INTS: [Kind; 4] = [Kind::Int(8), Kind::Int(16), Kind::Int(32), Kind::Int(64)];

const INT2: [Op; 14] = [
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UDiv,
    Op::UMod,
    Op::SDiv,
    Op::SRem,
    Op::SMod,
    Op::BitwiseAnd,
    Op::BitwiseOr,
    Op::BitwiseXor,
    Op::ShiftLeftLogical,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
];
const INT1: [Op; 3] = [Op::Not, Op::SNegate, Op::BitCount];
const FLOAT2: [Op; 4] = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv];
const ASK_INT: [Op; 6] = [
    Op::IEqual,
    Op::INotEqual,
    Op::UGreaterThan,
    Op::ULessThanEqual,
    Op::SLessThan,
    Op::SGreaterThanEqual,
];
const ASK_FLOAT: [Op; 6] = [
    Op::FOrdEqual,
    Op::FUnordNotEqual,
    Op::FOrdLessThan,
    Op::FUnordGreaterThanEqual,
    Op::SignBitSet,
    Op::IsInf,
];
const LOGIC: [Op; 5] = [
    Op::LogicalAnd,
    Op::LogicalOr,
    Op::LogicalNot,
    Op::LogicalEqual,
    Op::LogicalNotEqual,
];
const FLOATS: [Std; 12] = [
    // Functions with a divergent loop.
    Std::fmod,
    Std::remainder,
    Std::fma,
    Std::fabs,
    Std::copysign,
    Std::floor,
    Std::ceil,
    Std::trunc,
    Std::rint,
    Std::fmin,
    Std::fmax,
    Std::fma,
];
const FUNCTIONS: [Std; 26] = [
    Std::u_max,
    Std::u_min,
    Std::s_max,
    Std::s_min,
    Std::clz,
    Std::ctz,
    Std::popcount,
    Std::rotate,
    Std::s_abs,
    Std::s_abs_diff,
    Std::u_abs_diff,
    Std::s_add_sat,
    Std::u_add_sat,
    Std::s_sub_sat,
    Std::u_sub_sat,
    Std::s_hadd,
    Std::u_hadd,
    Std::s_rhadd,
    Std::u_rhadd,
    Std::s_mul_hi,
    Std::u_mul_hi,
    Std::s_mad_hi,
    Std::u_mad_hi,
    Std::s_mad_sat,
    Std::u_mad_sat,
    Std::bitselect,
];
/// Number of leading operations that are commutative.
const COMMUTE: usize = 9;
const ATOMICS: [Op; 13] = [
    Op::AtomicIAdd,
    Op::AtomicISub,
    Op::AtomicAnd,
    Op::AtomicOr,
    Op::AtomicXor,
    Op::AtomicSMin,
    Op::AtomicSMax,
    Op::AtomicUMin,
    Op::AtomicUMax,
    Op::AtomicExchange,
    Op::AtomicIIncrement,
    Op::AtomicIDecrement,
    Op::AtomicCompareExchange,
];

/// Number of operands of a scalar function.
fn takes(which: Std) -> usize {
    match which {
        Std::fma
        | Std::s_mad_hi
        | Std::u_mad_hi
        | Std::s_mad_sat
        | Std::u_mad_sat
        | Std::bitselect => 3,
        Std::fabs
        | Std::floor
        | Std::ceil
        | Std::trunc
        | Std::rint
        | Std::clz
        | Std::ctz
        | Std::popcount
        | Std::s_abs => 1,
        _ => 2,
    }
}

impl Make<'_> {
    fn kind(&mut self) -> Kind {
        match self.r.below(20) {
            0..=8 => Kind::Int(32),
            9 | 10 => Kind::Int(8),
            11 | 12 => Kind::Int(16),
            13 | 14 => Kind::Int(64),
            15 => Kind::Float(16),
            16 if self.limits.doubles => Kind::Float(64),
            _ => Kind::Float(32),
        }
    }

    fn count(&mut self) -> u32 {
        match self.r.below(16) {
            0..=9 => 1,
            10 | 11 => 2,
            12 => 3,
            13 => 4,
            14 => 8,
            _ => self.r.of(&[1, 4, 16]),
        }
    }

    fn ty(&mut self) -> Ty {
        let count = self.count();
        self.kind().of(count)
    }

    fn constant(&mut self, ty: Ty) -> Arg {
        let mut one = || {
            let v = match (ty.kind, self.r.below(6)) {
                (Kind::Float(_), 0..=3) => {
                    let n = self
                        .r
                        .of(&[0.0, 1.0, -1.0, 0.5, 3.0, -7.25, 1e3, 6e-8, 65504.0]);
                    ty.kind.rounded(n)
                }
                (_, 0 | 1) => self.r.below(9) as u64,
                (_, 2) => u64::MAX,
                (_, 3) => 1 << (ty.kind.bits() - 1),
                _ => self.r.bits(),
            };
            ty.kind.clean(v)
        };
        let v = (0..ty.count).map(|_| one()).collect();
        Arg::Const(ty, v)
    }

    fn push(&mut self, ty: Ty, what: What, args: Vec<Arg>) -> Arg {
        self.insts.push(Inst { ty, what, args });
        Arg::Temp(self.insts.len() - 1)
    }

    /// Draws an existing value of a type, or makes one.
    fn value(&mut self, ty: Ty) -> Arg {
        if ty.kind != Kind::Bool && self.r.one_in(6) {
            return self.constant(ty);
        }
        let mut found = Vec::new();
        for (n, v) in self.vars.iter().enumerate() {
            if v.0 == ty {
                found.push(Arg::Var(n));
            }
        }
        for (n, i) in self.insts.iter().enumerate() {
            if i.gives() == Some(ty) {
                found.push(Arg::Temp(n));
                found.push(Arg::Temp(n));
            }
        }
        for (b, n, t) in &self.far {
            if *t == ty {
                found.push(Arg::Far(*b, *n));
            }
        }
        if !found.is_empty() {
            let n = self.r.below(found.len());
            return found.swap_remove(n);
        }
        if ty.kind == Kind::Bool {
            let of = self.kind().of(ty.count);
            return self.question(of);
        }
        if ty.count > 1 {
            let mut parts = Vec::new();
            let mut left = ty.count;
            while left > 0 {
                let fits = [1u32, 1, 2, 4]
                    .into_iter()
                    .filter(|n| *n <= left && *n != ty.count);
                let fits: Vec<u32> = fits.collect();
                let n = self.r.of(&fits);
                parts.push(self.value(ty.kind.of(n)));
                left -= n;
            }
            return self.push(ty, What::Construct, parts);
        }
        let from = Arg::Var(self.r.below(2));
        if ty == U32 {
            return from;
        }
        self.converted(from, U32, ty)
    }

    fn converted(&mut self, v: Arg, from: Ty, to: Ty) -> Arg {
        use Kind::{Float, Int};
        let sure = self.r.one_in(3);
        let signed = self.r.one_in(2);
        let what = match (from.kind, to.kind) {
            (Int(a), Int(b)) if a == b => return v,
            (Int(_), Int(_)) if sure => {
                let ops = [
                    Op::SConvert,
                    Op::UConvert,
                    Op::SatConvertSToU,
                    Op::SatConvertUToS,
                ];
                What::Convert(self.r.of(&ops), true)
            }
            (Int(_), Int(_)) if signed => What::Convert(Op::SConvert, false),
            (Int(_), Int(_)) => What::Convert(Op::UConvert, false),
            (Int(_), Float(_)) if signed => What::Convert(Op::ConvertSToF, false),
            (Int(_), Float(_)) => What::Convert(Op::ConvertUToF, false),
            (Float(_), Int(_)) if signed => What::Convert(Op::ConvertFToS, true),
            (Float(_), Int(_)) => What::Convert(Op::ConvertFToU, true),
            (Float(a), Float(b)) if a == b => return v,
            _ => What::Convert(Op::FConvert, false),
        };
        self.push(to, what, vec![v])
    }

    fn question(&mut self, of: Ty) -> Arg {
        let op = match of.kind {
            Kind::Float(_) => self.r.of(&ASK_FLOAT),
            _ => self.r.of(&ASK_INT),
        };
        let mut args = vec![self.value(of)];
        if !matches!(op, Op::SignBitSet | Op::IsInf) {
            args.push(self.value(of));
        }
        self.push(Kind::Bool.of(of.count), What::Core(op), args)
    }

    fn place(&mut self, ty: &mut Ty) -> Place {
        let space = match self.r.below(6) {
            0 | 1 => Space::Global,
            2 | 3 if self.alike && self.r.one_in(2) => Space::Array(0),
            2 => Space::Local,
            3 | 4 if !self.arrays.is_empty() => Space::Array(self.r.below(self.arrays.len())),
            5 if self.in_kernel => Space::Table,
            5 => Space::Given,
            _ => Space::Global,
        };
        let space = match space {
            // A function has only the slice of the buffer.
            Space::Local if !self.in_kernel || ty.size() > LOCAL => Space::Global,
            other => other,
        };
        let (room, own) = match space {
            Space::Global => (SLICE, false),
            Space::Local => (LOCAL, false),
            Space::Array(n) => {
                let (of, count) = self.arrays[n];
                *ty = of;
                (count * of.size(), true)
            }
            Space::Given => {
                *ty = U32;
                (GIVEN * 4, true)
            }
            Space::Table => {
                *ty = U32;
                (TABLE * 4, true)
            }
        };
        let alike = self.alike && space == Space::Array(0);
        let bytes = !own && ty.size() <= room / 2 && self.r.one_in(6);
        Place {
            space,
            count: if bytes { room / 2 } else { room / ty.size() },
            bytes,
            // The first array is only indexed, since only such arrays are promoted.
            generic: !matches!(space, Space::Table | Space::Array(0)) && self.r.one_in(4),
            mixed: self.r.one_in(2),
            either: space != Space::Array(0) && self.r.one_in(6),
            alike,
        }
    }

    fn at(&mut self, place: Place) -> Vec<Arg> {
        let mut args = vec![self.value(U32)];
        if place.either {
            args.push(self.value(Kind::Bool.of(1)));
            args.push(self.value(U32));
        }
        args
    }

    /// Makes a value of any type.
    fn something(&mut self) -> Option<(Arg, Ty)> {
        let mut ty = self.ty();
        let whole = matches!(ty.kind, Kind::Int(_));
        let arg = match self.r.below(25) {
            0..=3 if whole => {
                let op = self.r.of(&INT2);
                let args = vec![self.value(ty), self.value(ty)];
                self.push(ty, What::Core(op), args)
            }
            4 if whole => {
                let op = self.r.of(&INT1);
                let args = vec![self.value(ty)];
                self.push(ty, What::Core(op), args)
            }
            5..=7 if whole => {
                let which = self.r.of(&FUNCTIONS);
                let args = (0..takes(which)).map(|_| self.value(ty)).collect();
                self.push(ty, What::Function(which), args)
            }
            0..=3 => {
                let op = self.r.of(&FLOAT2);
                let args = vec![self.value(ty), self.value(ty)];
                self.push(ty, What::Core(op), args)
            }
            4 => {
                let args = vec![self.value(ty)];
                self.push(ty, What::Core(Op::FNegate), args)
            }
            5..=7 => {
                let mut which = self.r.of(&FLOATS);
                // Loops over the exponents of doubles take long.
                let long = matches!(which, Std::fmod | Std::remainder);
                if ty.kind == Kind::Float(16) && which == Std::fma
                    || ty.kind == Kind::Float(64) && long
                {
                    which = Std::fabs;
                }
                let args = (0..takes(which)).map(|_| self.value(ty)).collect();
                self.push(ty, What::Function(which), args)
            }
            8 | 9 => {
                let count = if self.r.one_in(2) { ty.count } else { 1 };
                let c = match self.r.below(3) {
                    0 => {
                        let op = self.r.of(&LOGIC);
                        let t = Kind::Bool.of(count);
                        let n = if op == Op::LogicalNot { 1 } else { 2 };
                        let args = (0..n).map(|_| self.value(t)).collect();
                        self.push(t, What::Core(op), args)
                    }
                    _ => {
                        let of = self.kind().of(count);
                        self.question(of)
                    }
                };
                // A scalar condition for a vector needs SPIR-V 1.4.
                let c = if count == ty.count {
                    c
                } else {
                    self.push(
                        Kind::Bool.of(ty.count),
                        What::Construct,
                        vec![c; ty.count as usize],
                    )
                };
                let args = vec![c, self.value(ty), self.value(ty)];
                self.push(ty, What::Select, args)
            }
            10 | 11 => {
                let from = self.kind().of(ty.count);
                let v = self.value(from);
                self.converted(v, from, ty)
            }
            12 => {
                let all: Vec<Ty> = INTS
                    .into_iter()
                    .chain([Kind::Float(16), Kind::Float(32), Kind::Float(64)])
                    .filter(|k| *k != Kind::Float(64) || self.limits.doubles)
                    .filter(|k| ty.bits().is_multiple_of(k.bits()))
                    .map(|k| k.of(ty.bits() / k.bits()))
                    .filter(|t| matches!(t.count, 1 | 2 | 3 | 4 | 8 | 16) && *t != ty)
                    .collect();
                if all.is_empty() {
                    return None;
                }
                let from = self.r.of(&all);
                let args = vec![self.value(from)];
                self.push(ty, What::Bits, args)
            }
            13 | 14 => {
                let count = self.r.of(&[2, 3, 4, 8, 16]);
                let of = ty.kind.of(count);
                let which = self.r.below(count as usize) as u32;
                match self.r.below(5) {
                    0 => {
                        ty = ty.scalar();
                        let args = vec![self.value(of)];
                        self.push(ty, What::Extract(which), args)
                    }
                    1 => {
                        let args = vec![self.value(of), self.value(ty.scalar())];
                        ty = of;
                        self.push(ty, What::Insert(which), args)
                    }
                    2 => {
                        let other = ty.kind.of(self.r.of(&[2, 3, 4, 8]));
                        let n = self.r.of(&[2, 3, 4, 8]);
                        let all = (count + other.count) as usize;
                        let picks = (0..n).map(|_| self.r.below(all) as u32).collect();
                        let args = vec![self.value(of), self.value(other)];
                        ty = ty.kind.of(n);
                        self.push(ty, What::Shuffle(picks), args)
                    }
                    n => {
                        // Lengths that are not a power of two have indices out of bounds.
                        if count == 3 {
                            return None;
                        }
                        let mut args = vec![self.value(of)];
                        ty = ty.scalar();
                        if n == 4 {
                            args.push(self.value(ty));
                            ty = of;
                        }
                        args.push(self.value(U32));
                        let what = if n == 4 {
                            What::InsertAt
                        } else {
                            What::ExtractAt
                        };
                        self.push(ty, what, args)
                    }
                }
            }
            15..=17 => {
                let place = self.place(&mut ty);
                let args = self.at(place);
                self.push(ty, What::Load(place), args)
            }
            18 | 19 => {
                let place = self.place(&mut ty);
                if place.space == Space::Table {
                    return None;
                }
                let args = if place.alike {
                    vec![self.constant(U32), self.constant(ty)]
                } else {
                    let mut args = self.at(place);
                    args.push(self.value(ty));
                    args
                };
                self.push(ty, What::Store(place), args);
                return None;
            }
            20 => {
                ty = self.r.of(&[U32, U32, Kind::Int(64).of(1)]);
                let local = self.in_kernel && self.r.one_in(2);
                let space = if local { Space::Local } else { Space::Global };
                let place = Place {
                    space,
                    count: if local { LOCAL } else { SLICE } / ty.size(),
                    bytes: false,
                    generic: self.r.one_in(4),
                    mixed: self.r.one_in(2),
                    either: self.r.one_in(6),
                    alike: false,
                };
                let mut args = self.at(place);
                args.push(self.value(ty));
                let op = self.r.of(&ATOMICS);
                if op == Op::AtomicCompareExchange {
                    args.push(self.value(ty));
                }
                self.push(ty, What::Atomic(op, place), args)
            }
            21 => {
                if self.counters == 0 || !self.in_kernel {
                    return None;
                }
                let args = vec![self.value(U32)];
                let n = self.r.below(self.counters);
                self.push(U32, What::Shared(n), args);
                return None;
            }
            22 => {
                let to = self.r.below(self.arrays.len().max(1));
                let of = self.arrays.get(to).copied();
                let alike = (0..self.arrays.len())
                    .filter(|n| *n != to && self.arrays.get(*n).copied() == of);
                let alike: Vec<usize> = alike.collect();
                // The first array may be one that is only stored to alike.
                if alike.is_empty() || self.alike && to == 0 {
                    return None;
                }
                let from = self.r.of(&alike);
                self.push(U32, What::Copy(to, from), Vec::new());
                return None;
            }
            _ => {
                if self.callable.is_empty() {
                    return None;
                }
                let (n, of) = self.callable[self.r.below(self.callable.len())];
                ty = of;
                let args = vec![self.value(U32), self.value(U32)];
                let given = !self.in_kernel && self.r.one_in(2);
                self.push(ty, What::Call(n, given), args)
            }
        };
        Some((arg, ty))
    }

    /// Draws the instructions of a block.
    fn block(&mut self) {
        // The counter stays uniform, and the number mixes.
        if self.r.one_in(2) {
            let step = Arg::Const(U32, smallvec![self.r.below(5) as u64]);
            let v = self.push(U32, What::Core(Op::IAdd), vec![Arg::Var(0), step]);
            self.push(U32, What::Set(0), vec![v]);
        }
        for _ in 0..self.r.below(5) {
            let Some((arg, ty)) = self.something() else {
                continue;
            };
            let fits: Vec<usize> = (1..self.vars.len())
                .filter(|v| self.vars[*v].0 == ty)
                .collect();
            if !fits.is_empty() && !self.r.one_in(3) {
                let v = self.r.of(&fits);
                self.push(ty, What::Set(v), vec![arg]);
            }
        }
        if self.r.one_in(2) {
            let factor = Arg::Const(U32, smallvec![(self.r.bits() & 0xffff_ffff) | 1]);
            let m = self.push(U32, What::Core(Op::IMul), vec![Arg::Var(1), factor]);
            let more = self.value(U32);
            let v = self.push(U32, What::Core(Op::IAdd), vec![m, more]);
            self.push(U32, What::Set(1), vec![v]);
        }
    }

    /// Draws a condition: a bit of the counter or of the number, or a comparison.
    fn condition(&mut self) -> Arg {
        let of = match self.r.below(4) {
            0 => 0,
            1 => return self.value(Kind::Bool.of(1)),
            _ => 1,
        };
        let bit = Arg::Const(U32, smallvec![self.r.below(20) as u64]);
        let one = Arg::Const(U32, smallvec![1]);
        let zero = Arg::Const(U32, smallvec![0]);
        let v = self.push(
            U32,
            What::Core(Op::ShiftRightLogical),
            vec![Arg::Var(of), bit],
        );
        let v = self.push(U32, What::Core(Op::BitwiseAnd), vec![v, one]);
        self.push(Kind::Bool.of(1), What::Core(Op::INotEqual), vec![v, zero])
    }
}

impl Make<'_> {
    /// Compares the flag variable, which earlier blocks set to constants.
    fn flagged(&mut self) -> Arg {
        let flag = Arg::Var(self.vars.len() - 1);
        let (op, than) = self.r.of(&[
            (Op::IEqual, 0),
            (Op::INotEqual, 0),
            (Op::IEqual, 1),
            (Op::UGreaterThan, 0),
            (Op::SLessThan, 1),
        ]);
        let than = Arg::Const(U32, smallvec![than]);
        self.push(Kind::Bool.of(1), What::Core(op), vec![flag, than])
    }

    /// Sets the flag variable to a constant, mostly to a new one.
    fn set_flag(&mut self) {
        self.flag ^= !self.r.one_in(4);
        let value = if self.r.one_in(24) {
            self.value(U32)
        } else {
            Arg::Const(U32, smallvec![u64::from(self.flag)])
        };
        let flag = self.vars.len() - 1;
        self.push(U32, What::Set(flag), vec![value]);
    }
}

fn body(r: &mut Rng, limits: Limits, callable: Vec<(usize, Ty)>, kernel: Option<usize>) -> Body {
    let mut m = Make {
        r,
        limits,
        callable,
        vars: Vec::new(),
        arrays: Vec::new(),
        alike: false,
        counters: kernel.unwrap_or(0),
        in_kernel: kernel.is_some(),
        far: Vec::new(),
        flag: false,
        insts: Vec::new(),
    };
    let ways = [Way::Phis, Way::Variable, Way::Part];
    let one = m.r.of(&ways);
    let mixed = m.r.one_in(3);
    for n in 0..3 + m.r.below(4) {
        let ty = if n < 2 { U32 } else { m.ty() };
        let way = if mixed { m.r.of(&ways) } else { one };
        m.vars.push((ty, way));
    }
    // The flag variable, which joins branch on. It is mostly a phi.
    let rare = usize::from(m.r.one_in(6));
    let way = m.r.of(&ways[..2 + rare]);
    m.vars.push((U32, way));
    m.alike = m.r.one_in(2);
    for _ in 0..m.r.below(3).max(usize::from(m.alike)) {
        let ty = m.ty();
        let count = m.r.of(&[2, 4, 8, 16]);
        let count = if ty.size() > 16 { 2 } else { count };
        let before = m.arrays.last().copied().filter(|_| m.r.one_in(2));
        m.arrays.push(before.unwrap_or((ty, count)));
    }
    if !m.callable.is_empty() {
        m.arrays.push((U32, GIVEN));
    }
    // Draws the graphs and connects them.
    let mut blocks: Vec<Block> = Vec::new();
    let phases = if kernel.is_some() {
        1 + m.r.below(4) / 2
    } else {
        1
    };
    for _ in 0..phases {
        let most = if kernel.is_some() { 10 } else { 4 };
        let (first, n) = (blocks.len(), 3 + m.r.below(most));
        let end = first + n;
        let all = graph(m.r, first, n, end);
        let block = |term| Block {
            insts: Vec::new(),
            term,
            meets: false,
        };
        blocks.extend(all.into_iter().map(block));
        blocks.push(Block {
            insts: Vec::new(),
            term: Term::Goto(end + 1),
            meets: true,
        });
    }
    // The last block returns, without barrier.
    if let Some(last) = blocks.last_mut() {
        last.term = Term::Return;
        last.meets = false;
    }
    let all = reach(&blocks, usize::MAX);
    let count = blocks.len();
    // Joins, in most bodies.
    let mut preds = vec![0; count + 1];
    for b in (0..count).filter(|b| all[*b]) {
        targets(&blocks[b].term).iter().for_each(|t| preds[*t] += 1);
    }
    let any = !m.r.one_in(4);
    let flagged: Vec<bool> = (0..count)
        .map(|b| any && matches!(blocks[b].term, Term::If(..)) && preds[b] > 1 && !m.r.one_in(8))
        .collect();
    let without: Vec<Vec<bool>> = (0..count).map(|d| reach(&blocks, d)).collect();
    let mut given: Vec<Vec<(usize, Ty)>> = vec![Vec::new(); count];
    for b in (0..count).filter(|b| all[*b]) {
        m.far.clear();
        for d in (0..b).filter(|d| all[*d] && !without[*d][b]) {
            m.far.extend(given[d].iter().map(|(n, ty)| (d, *n, *ty)));
        }
        // These mostly have only the comparison, and a quarter of the others are empty.
        let fills = m.r.one_in(4) == flagged[b];
        if !blocks[b].meets && fills {
            m.block();
        }
        if !blocks[b].meets && targets(&blocks[b].term).iter().any(|t| flagged[*t]) {
            // Before the condition, which may read it.
            m.set_flag();
        }
        match &mut blocks[b].term {
            Term::If(by, ..) if flagged[b] => *by = m.flagged(),
            Term::If(by, ..) => *by = m.condition(),
            Term::Return if kernel.is_none() => {}
            _ => {}
        }
        let insts = std::mem::take(&mut m.insts);
        let results = insts.iter().enumerate();
        given[b] = results.filter_map(|(n, i)| Some((n, i.gives()?))).collect();
        blocks[b].insts = insts;
    }
    Body {
        packed: m.r.one_in(4),
        vars: m.vars,
        arrays: m.arrays,
        blocks,
    }
}

/// Draws a program.
pub fn program(r: &mut Rng, limits: Limits) -> Program {
    let mut functions: Vec<Body> = Vec::new();
    let mut callable = Vec::new();
    let many = r.below(4);
    for n in (0..many).rev() {
        let f = body(r, limits, callable.clone(), None);
        callable.push((n, f.vars[2].0));
        functions.push(f);
    }
    functions.reverse();
    let counters = (0..r.below(4))
        .map(|_| r.of(&ATOMICS[..COMMUTE]))
        .collect::<Vec<_>>();
    let kernel = body(r, limits, callable, Some(counters.len()));
    let group = match r.below(3) {
        0 => 1 + r.below(64) as u32,
        _ => r.of(&[8, 16, 32, 64]),
    };
    Program {
        kernel,
        functions,
        table: (0..TABLE).map(|_| r.bits() as u32).collect(),
        counters,
        group,
        groups: 1 + r.below(2) as u32,
        required: r.one_in(2),
        variable: r.one_in(3),
        counter: r.below(1000) as u32,
        neighbour: r.below(group as usize) as u32,
        no_alias: r.below(8) as u32,
        by_value: r.one_in(2),
    }
}
