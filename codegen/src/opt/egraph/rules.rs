//! Functions that the rules of `../isle` call.

use super::keys::{Orders, exchanged};
use super::magic::{self, Magic};
use super::{ALTERNATIVES, EGraph, regions};
use crate::ir::interp::Lanes;
use crate::ir::{InstData, IntCC, Opcode, Region, Scalar, Type, Value};
use gantry_isa_gen as isa;
use generated::rules::{Context, ContextIter, IntoContextIter, constructor_simplify};
use generated::{OptValue, Unit, ValueArray2, ValueArray3};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::marker::PhantomData;

/// Compiled rules.
#[allow(
    dead_code,
    unreachable_patterns,
    unused_imports,
    unused_variables,
    irrefutable_let_patterns,
    clippy::all,
    missing_docs,
    non_snake_case,
    non_camel_case_types,
    reason = "generated code"
)]
pub(super) mod generated {
    use super::Magic;
    use crate::ir::{
        ArgFact, AtomicOp, Block2dShape, BlockCall, CaseTable, Constant, DataRef, Dim, DpasShape,
        FenceSpaces, FloatCC, FuncRef, ImagePlace, Inst, InstData, IntCC, MemFlags, Opcode, Region,
        Scope, Type, Value,
    };
    pub(super) type Unit = ();
    pub(in crate::opt::egraph) type OptValue = cranelift_entity::packed_option::PackedOption<Value>;
    pub(super) type ValueArray2 = [Value; 2];
    pub(super) type ValueArray3 = [Value; 3];
    const EQ: IntCC = IntCC::Equal;
    const NE: IntCC = IntCC::NotEqual;
    const SLT: IntCC = IntCC::SignedLessThan;
    const SLE: IntCC = IntCC::SignedLessThanOrEqual;
    const SGT: IntCC = IntCC::SignedGreaterThan;
    const SGE: IntCC = IntCC::SignedGreaterThanOrEqual;
    const ULT: IntCC = IntCC::UnsignedLessThan;
    const ULE: IntCC = IntCC::UnsignedLessThanOrEqual;
    const UGT: IntCC = IntCC::UnsignedGreaterThan;
    const UGE: IntCC = IntCC::UnsignedGreaterThanOrEqual;
    const FEQ: FloatCC = FloatCC::Equal;
    const FNE: FloatCC = FloatCC::NotEqual;
    /// Maximal values of a term of a rule.
    const MAX_ISLE_RETURNS: usize = 8;
    type ConstructorVec<T> = smallvec::SmallVec<[T; MAX_ISLE_RETURNS]>;
    pub(super) mod rules {
        extern crate alloc;
        use super::*;
        include!(concat!(env!("OUT_DIR"), "/opt.rs"));
    }
}

impl<A: smallvec::Array> generated::rules::Length for SmallVec<A> {
    fn len(&self) -> usize {
        SmallVec::len(self)
    }
}

/// Adds to `found` the values that the rules make of a value.
pub(super) fn simplify(graph: &mut EGraph<'_>, v: Value, found: &mut SmallVec<[Value; 8]>) {
    graph.root = v;
    constructor_simplify(graph, v, found);
}

/// Maximal bytes of a value that may be live in two versions.
const MAX_COPIED_BYTES: u32 = 512;

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// Returns the outcomes of a comparison for which a condition holds.
fn outcomes(cond: IntCC) -> u8 {
    match cond {
        IntCC::Equal => EQUAL,
        IntCC::NotEqual => LESS | GREATER,
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => LESS,
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => LESS | EQUAL,
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => GREATER,
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => GREATER | EQUAL,
    }
}

/// Returns true if two conditions agree on what is less: both signed, both unsigned, or one of them
/// a test of equality.
fn comparable(a: IntCC, b: IntCC) -> bool {
    let equality = |c| matches!(c, IntCC::Equal | IntCC::NotEqual);
    equality(a) || equality(b) || a.is_signed() == b.is_signed()
}

/// Returns the condition with the combined outcomes of two comparable ones, if there is one.
fn combined(a: IntCC, b: IntCC, combine: fn(u8, u8) -> u8) -> Option<IntCC> {
    if !comparable(a, b) {
        return None;
    }
    let wanted = combine(outcomes(a), outcomes(b));
    let fits = |c: &IntCC| outcomes(*c) == wanted && comparable(*c, a) && comparable(*c, b);
    IntCC::ALL.into_iter().find(fits)
}

fn then(condition: bool) -> Option<()> {
    condition.then_some(())
}

/// Truncates a number to the width of a lane.
fn truncate(ty: Type, bits: u64) -> u64 {
    bits & ty.scalar().mask()
}

/// Sign-extends a lane.
fn signed(ty: Type, bits: u64) -> i64 {
    let unused = 64 - ty.scalar().bits();
    ((bits << unused) as i64) >> unused
}

/// Nodes of a class for patterns; the data of each is looked up when it is matched. A node whose
/// operands may be exchanged comes in both orders, so a rule has to name one of them.
#[derive(Default)]
pub(super) struct ClassMembers<'a> {
    /// The class itself, if it has no alternatives.
    only: Option<Value>,
    /// The last node, if it is to come again with its operands exchanged.
    exchange: Option<Value>,
    values: SmallVec<[Value; ALTERNATIVES]>,
    next: usize,
    of: PhantomData<&'a ()>,
}

impl<'a> IntoContextIter for ClassMembers<'a> {
    type Context = EGraph<'a>;
    type Output = (Type, InstData);
    type IntoIter = ClassMembers<'a>;

    fn into_context_iter(self) -> ClassMembers<'a> {
        self
    }
}

impl<'a> ContextIter for ClassMembers<'a> {
    type Context = EGraph<'a>;
    type Output = (Type, InstData);

    fn next(&mut self, graph: &mut EGraph<'a>) -> Option<(Type, InstData)> {
        if let Some(v) = self.exchange.take() {
            return Some((graph.ty(v), exchanged(graph.data(v)?)?));
        }
        let v = match self.only.take() {
            Some(v) => v,
            None => {
                let &v = self.values.get(self.next)?;
                self.next += 1;
                v
            }
        };
        let data = *graph.data(v)?;
        let root = v == graph.root;
        match graph.known[v].orders {
            Orders::One => {}
            Orders::OneAtRoot if root => {}
            Orders::ExchangedAtRoot if root => return Some((graph.ty(v), exchanged(&data)?)),
            _ => self.exchange = Some(v),
        }
        Some((graph.ty(v), data))
    }
}

impl<'a> Context for EGraph<'a> {
    type node_returns = ClassMembers<'a>;

    fn fired(&mut self, rule: u32) {
        self.fired.opt_rule(rule);
    }

    fn node(&mut self, v: Value, returns: &mut Self::node_returns) {
        if self.is_alone(v) {
            returns.only = Some(v)
        } else {
            returns.values = self.members(v)
        }
    }

    fn make(&mut self, ty: Type, data: &InstData) -> Value {
        EGraph::node(self, ty, *data, None)
    }

    fn make_pair(&mut self, a: Value, b: Value) -> ValueArray2 {
        [a, b]
    }

    fn make_triple(&mut self, a: Value, b: Value, c: Value) -> ValueArray3 {
        [a, b, c]
    }

    fn pair(&mut self, a: ValueArray2) -> (Value, Value) {
        (a[0], a[1])
    }

    fn triple(&mut self, a: ValueArray3) -> (Value, Value, Value) {
        (a[0], a[1], a[2])
    }

    fn no_value(&mut self, v: OptValue) -> Option<()> {
        then(v.is_none())
    }

    fn some_value(&mut self, v: OptValue) -> Option<Value> {
        v.expand()
    }

    fn none(&mut self) -> OptValue {
        OptValue::default()
    }

    fn type_of(&mut self, v: Value) -> Type {
        self.ty(v)
    }

    fn lane_bits(&mut self, ty: Type) -> u64 {
        u64::from(ty.scalar().bits())
    }

    fn lane_mask(&mut self, ty: Type) -> u64 {
        ty.scalar().mask()
    }

    fn lane_add(&mut self, ty: Type, a: u64, b: u64) -> u64 {
        truncate(ty, a.wrapping_add(b))
    }

    fn lane_sub(&mut self, ty: Type, a: u64, b: u64) -> u64 {
        truncate(ty, a.wrapping_sub(b))
    }

    fn lane_mul(&mut self, ty: Type, a: u64, b: u64) -> u64 {
        truncate(ty, a.wrapping_mul(b))
    }

    fn lane_shl(&mut self, ty: Type, a: u64, by: u64) -> u64 {
        truncate(ty, a.checked_shl(by as u32).unwrap_or(0))
    }

    fn lane_shr(&mut self, ty: Type, a: u64, by: u64) -> u64 {
        truncate(ty, a).checked_shr(by as u32).unwrap_or(0)
    }

    fn lane_neg(&mut self, ty: Type, a: u64) -> u64 {
        truncate(ty, a.wrapping_neg())
    }

    fn bits_and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }

    fn bits_or(&mut self, a: u64, b: u64) -> u64 {
        a | b
    }

    fn bits_xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    fn full(&mut self, ty: Type) -> u64 {
        u64::MAX >> (64 - ty.lanes().clamp(1, 64))
    }

    fn equal(&mut self, a: u64, b: u64) -> Option<Unit> {
        then(a == b)
    }

    fn not_equal(&mut self, a: u64, b: u64) -> Option<Unit> {
        then(a != b)
    }

    fn not_zero(&mut self, a: u64) -> Option<Unit> {
        then(a != 0)
    }

    fn less(&mut self, a: u64, b: u64) -> Option<Unit> {
        then(a < b)
    }

    fn sum_less(&mut self, a: u64, b: u64, limit: u64) -> Option<u64> {
        (a < limit && b < limit && a + b < limit).then(|| a + b)
    }

    fn log2(&mut self, ty: Type, a: u64) -> Option<u64> {
        let positive = signed(ty, a) > 0 && a.is_power_of_two();
        positive.then(|| u64::from(a.trailing_zeros()))
    }

    fn product_fits(&mut self, ty: Type, a: u64, b: u64) -> Option<u64> {
        let product = a.checked_mul(b)?;
        (product != 0 && product <= ty.scalar().mask()).then_some(product)
    }

    fn sum_fits(&mut self, a: Value, b: Value, more: u64) -> Option<Unit> {
        let sum = EGraph::possible(self, a).checked_add(EGraph::possible(self, b))?;
        then(sum.checked_add(more)? <= self.ty(a).scalar().mask())
    }

    fn possible(&mut self, v: Value) -> u64 {
        EGraph::possible(self, v)
    }

    fn not_negative(&mut self, v: Value) -> Option<Unit> {
        then(self.is_not_negative(v))
    }

    fn always(&mut self, cond: IntCC, v: Value, k: u64) -> Option<Unit> {
        then(self.decided(cond, v, k) == Some(true))
    }

    fn never(&mut self, cond: IntCC, v: Value, k: u64) -> Option<Unit> {
        then(self.decided(cond, v, k) == Some(false))
    }

    fn both_hold(&mut self, a: IntCC, b: IntCC) -> Option<IntCC> {
        combined(a, b, |a, b| a & b)
    }

    fn never_both(&mut self, a: IntCC, b: IntCC) -> Option<Unit> {
        then(comparable(a, b) && outcomes(a) & outcomes(b) == 0)
    }

    fn one_holds(&mut self, a: IntCC, b: IntCC) -> Option<IntCC> {
        combined(a, b, |a, b| a | b)
    }

    fn always_one(&mut self, a: IntCC, b: IntCC) -> Option<Unit> {
        then(comparable(a, b) && outcomes(a) | outcomes(b) == LESS | EQUAL | GREATER)
    }

    fn zeros(&mut self, ty: Type) -> Value {
        self.make_constant(ty, Lanes::from([0]))
    }

    fn ones(&mut self, ty: Type) -> Value {
        let lanes = if ty.is_pred() { ty.lanes() } else { 1 };
        self.make_constant(ty, (0..lanes).map(|_| ty.scalar().mask()).collect())
    }

    fn dword_type(&mut self, v: Value) -> Option<Type> {
        Some(self.ty(v)).filter(|ty| ty.scalar() == Scalar::I32)
    }

    fn resized(&mut self, ty: Type, arg: Value) -> Value {
        let opcode = match self.ty(arg).scalar().bits().cmp(&ty.scalar().bits()) {
            Ordering::Less => Opcode::Uextend,
            Ordering::Equal => return arg,
            Ordering::Greater => Opcode::Ireduce,
        };
        EGraph::node(self, ty, InstData::Unary { opcode, arg }, None)
    }

    fn inverse_power(&mut self, ty: Type, bits: u64) -> Option<u64> {
        // Fraction bits and exponent bias (IEEE 754).
        let (fraction, bias) = match ty.scalar() {
            Scalar::F16 => (10, 15),
            Scalar::F32 => (23, 127),
            Scalar::F64 => (52, 1023),
            _ => return None,
        };
        let exponent = bits >> fraction & (2 * bias + 1);
        let sign = bits & 1 << (ty.scalar().bits() - 1);
        let is_power = bits & ((1 << fraction) - 1) == 0 && (1..2 * bias).contains(&exponent);
        is_power.then(|| sign | (2 * bias - exponent) << fraction)
    }

    fn float_sign(&mut self, ty: Type) -> Option<u64> {
        let scalar = ty.scalar();
        scalar.is_float().then(|| 1 << (scalar.bits() - 1))
    }

    fn is_width(&mut self, ty: Type, bits: u64) -> Option<Unit> {
        then(u64::from(ty.scalar().bits()) == bits)
    }

    fn narrower(&mut self, a: Type, b: Type) -> Option<Unit> {
        then(a.scalar().bits() < b.scalar().bits())
    }

    fn same_type(&mut self, a: Type, b: Type) -> Option<Unit> {
        then(a == b)
    }

    fn different(&mut self, a: Value, b: Value) -> Option<Unit> {
        then(a != b)
    }

    fn narrows(&mut self, from: Type, to: Type, x: Value, y: Value) -> Option<Type> {
        let of = self.narrows_product(from, to)?;
        let extended = |graph: &Self, v: Value| {
            graph.members(v).into_iter().any(|m| match graph.data(m) {
                Some(&InstData::Unary {
                    opcode: Opcode::Sextend | Opcode::Uextend,
                    arg,
                }) => graph.ty(arg).scalar().bits() <= of.scalar().bits(),
                _ => false,
            })
        };
        let fewer = from.scalar() == Scalar::I64 || extended(self, x) || extended(self, y);
        fewer.then_some(of)
    }

    fn narrows_product(&mut self, from: Type, to: Type) -> Option<Type> {
        match (from.scalar(), to.scalar()) {
            (Scalar::I64, Scalar::I32) => Some(to),
            (Scalar::I32, Scalar::I16) => Some(to),
            (Scalar::I32, Scalar::I8) => Type::new(Scalar::I16, to.lanes()),
            _ => None,
        }
    }

    fn to_nearest(&mut self) -> Option<Unit> {
        then(!self.ctx.float.toward_zero)
    }

    fn has_rotate(&mut self) -> Option<Unit> {
        let platform = self.ctx.target.platform();
        then(isa::Op::Rol.info(platform).is_some())
    }

    fn negative(&mut self, ty: Type, k: u64) -> Option<Unit> {
        then(signed(ty, k) < 0)
    }

    fn one_lane(&mut self, ty: Type) -> Option<Unit> {
        then(ty.lanes() == 1)
    }

    fn spread(&mut self, ty: Type, v: Value) -> Value {
        let data = match self.data(v) {
            Some(&data @ InstData::Imm { .. }) => data,
            _ => InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg: v,
                region: Region::scalar(0),
                index: None.into(),
            },
        };
        EGraph::node(self, ty, data, None)
    }

    fn lanes_like(&mut self, ty: Type, like: Type) -> Option<Type> {
        Type::new(ty.scalar(), like.lanes())
    }

    fn int_type(&mut self, bits: u64, like: Type) -> Option<Type> {
        let ints = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
        let scalar = ints.into_iter().find(|s| u64::from(s.bits()) == bits)?;
        like.with_scalar(scalar)
    }

    fn twice(&mut self, ty: Type) -> Option<Type> {
        Type::new(ty.scalar(), ty.lanes() * 2)
    }

    fn every_second(&mut self, offset: u64) -> Region {
        Region::new(2, 1, 0, offset as u16)
    }

    fn lanes_of_one(&mut self) -> Type {
        Type::scalar_of(Scalar::B1)
    }

    fn unsigned_magic(&mut self, ty: Type, x: Value, d: u64) -> Option<Magic> {
        let fits = ty.scalar() == Scalar::I32 && d > 2 && !d.is_power_of_two();
        fits.then(|| magic::unsigned(d as u32, self.possible(x) as u32))
    }

    fn signed_magic(&mut self, ty: Type, d: u64) -> Option<Magic> {
        let fits = ty.scalar() == Scalar::I32 && signed(ty, d) > 2 && !d.is_power_of_two();
        fits.then(|| magic::signed(d as u32))
    }

    fn multiplier(&mut self, m: Magic) -> u64 {
        m.multiplier
    }

    fn shift(&mut self, m: Magic) -> u64 {
        m.shift
    }

    fn one_bit_more(&mut self, m: Magic) -> Option<Unit> {
        then(m.more)
    }

    fn product_is_lane(&mut self, m: Magic) -> Option<Unit> {
        then(m.fits)
    }

    fn of_itself(&mut self, ty: Type, cond: IntCC) -> u64 {
        let holds = matches!(
            cond,
            IntCC::Equal
                | IntCC::SignedLessThanOrEqual
                | IntCC::SignedGreaterThanOrEqual
                | IntCC::UnsignedLessThanOrEqual
                | IntCC::UnsignedGreaterThanOrEqual
        );
        if holds { self.full(ty) } else { 0 }
    }

    fn opposite(&mut self, cond: IntCC) -> IntCC {
        cond.inverse()
    }

    fn is_equality(&mut self, cond: IntCC) -> Option<Unit> {
        then(matches!(cond, IntCC::Equal | IntCC::NotEqual))
    }

    fn unsigned_condition(&mut self, cond: IntCC) -> Option<IntCC> {
        Some(match cond {
            IntCC::SignedLessThan => IntCC::UnsignedLessThan,
            IntCC::SignedLessThanOrEqual => IntCC::UnsignedLessThanOrEqual,
            IntCC::SignedGreaterThan => IntCC::UnsignedGreaterThan,
            IntCC::SignedGreaterThanOrEqual => IntCC::UnsignedGreaterThanOrEqual,
            other => other,
        })
    }

    fn narrowed_signed(&mut self, from: Type, to: Type, k: u64) -> Option<u64> {
        let narrow = truncate(to, k);
        (signed(to, narrow) == signed(from, k)).then_some(narrow)
    }

    fn narrowed_unsigned(&mut self, _: Type, to: Type, k: u64) -> Option<u64> {
        (truncate(to, k) == k).then_some(k)
    }

    fn low_part(&mut self, ty: Type, k: u64) -> Option<u64> {
        (!ty.is_pred()).then(|| truncate(ty, k))
    }

    fn whole(&mut self, ty: Type, of: Type, region: Region) -> Option<Unit> {
        then(ty == of && regions::contiguous_bytes(ty, &region)?.0 == 0)
    }

    fn composed(
        &mut self,
        ty: Type,
        outer: Region,
        between: Type,
        inner: Region,
    ) -> Option<Region> {
        regions::composed(ty, outer, between, inner)
    }

    fn composed_indexed(
        &mut self,
        ty: Type,
        outer: Region,
        between: Type,
        inner: Region,
    ) -> Option<Region> {
        regions::composed_indexed(ty, outer, between, inner)
    }

    fn composed_cast(
        &mut self,
        ty: Type,
        outer: Region,
        between: Type,
        inner: Region,
        index: OptValue,
    ) -> Option<Region> {
        let one = self.has_one_index(index);
        one.then(|| regions::composed(ty, outer, between, inner))?
    }

    fn one_index(&mut self, index: OptValue) -> Option<Unit> {
        then(self.has_one_index(index))
    }

    fn index_sum(&mut self, of: Type, region: Region, a: Value, b: Value) -> Option<Value> {
        self.sum_of_indices(of, region, a, b)
    }

    fn without_parent(&mut self, region: Region) -> Region {
        regions::without_parent(region)
    }

    fn some(&mut self, v: Value) -> OptValue {
        v.into()
    }

    fn within(
        &mut self,
        ty: Type,
        region: Region,
        of: Type,
        at: Region,
        index: OptValue,
    ) -> Option<Region> {
        self.part_within(ty, region, of, at, index)
    }

    fn cast_of(&mut self, like: Type, of: Type) -> Option<Type> {
        regions::cast_type(like, of)
    }

    fn region_cast(&mut self, ty: Type, of: Type, region: Region) -> Option<Region> {
        regions::region_cast(ty, of, region)
    }

    fn several_or_small(&mut self, a: Type, b: Type) -> Option<Unit> {
        then(a.lanes() > 1 || a.scalar().bytes() <= b.scalar().bytes())
    }

    fn same_size(&mut self, a: Type, b: Type) -> Option<Unit> {
        then(a.scalar().bytes() == b.scalar().bytes())
    }

    fn extended_part(
        &mut self,
        ty: Type,
        region: Region,
        whole: Type,
        from: Type,
    ) -> Option<Region> {
        // Where a second source has no bytes, readers of most of the vector would each widen them.
        let bytes = from.scalar() == Scalar::I8 && !self.ctx.target.features().byte_src1;
        if bytes && 2 * ty.lanes() >= whole.lanes() {
            return None;
        }
        regions::before_extension(ty, region, whole, from)
    }

    fn written_back(
        &mut self,
        x: Value,
        part: Value,
        at: Region,
        index: OptValue,
    ) -> Option<Value> {
        EGraph::written_back(self, x, part, at, index)
    }

    fn written_into(
        &mut self,
        x: Value,
        part: Value,
        at: Region,
        index: OptValue,
    ) -> Option<Value> {
        EGraph::written_into(self, x, part, at, index)
    }

    fn undefined(&mut self, v: Value) -> Option<Unit> {
        then(self.func.dfg.is_undef(v))
    }

    fn copied_cheaply(&mut self, ty: Type) -> Option<Unit> {
        then(ty.bytes() <= MAX_COPIED_BYTES)
    }

    fn before_unseen(&mut self, ty: Type, region: Region, i: OptValue, vector: Value) -> Value {
        EGraph::before_unseen(self, ty, region, i, vector)
    }

    fn apart(
        &mut self,
        ty: Type,
        region: Region,
        of: Type,
        at: Region,
        index: OptValue,
    ) -> Option<Unit> {
        then(self.is_apart(ty, region, of, at, index))
    }

    fn writable(&mut self, region: Region) -> Option<Unit> {
        then(regions::is_writable(&region))
    }
}
