//! Alias analysis of memory accesses.
//!
//! Different memory spaces are disjoint. Different surfaces are not, nor are surfaces and
//! addresses: one buffer may be bound twice, unless arguments are `noalias` (`noalias.rs`). Within
//! a space, the affine forms of addresses decide (`affine.rs`). They must have the same uniform
//! terms. Lane terms must be multiples of a number, and modulo that number the constants and access
//! sizes must not overlap. Examples are rows of 12 bytes, or a power of two where the address may
//! wrap. Lanes may have any addresses: a result holds for each lane of one access and any lane of
//! the other.

use super::affine::{AffineForm, AffineForms};
use super::noalias::{BaseArg, spaces_disjoint};
use crate::ir::{
    FenceSpaces, Function, Inst, InstData, MemFlags, Opcode, Space, Type, Value, ValueDef,
};

/// Load, store or atomic by addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MemoryAccess {
    pub mem: MemFlags,
    /// Affine form of the address, the instruction's offset included.
    pub form: AffineForm,
    /// Bounds of the lane terms.
    lane_terms: LaneTerms,
    /// Bytes that are accessed from each address on.
    pub bytes: u32,
    /// Type of the data.
    pub ty: Type,
    /// Number of addresses; one for a block access.
    pub lanes: u32,
    /// Set for block accesses at one address.
    pub block: bool,
    /// Set for stores and atomics.
    pub writes: bool,
    /// Address operand.
    pub addr: Value,
    /// Offset of the instruction in bytes.
    pub offset: i32,
    /// Mask of active lanes.
    pub mask: Option<Value>,
    /// Argument that the address is based on.
    base: Option<BaseArg>,
}

impl MemoryAccess {
    /// Describes a load, a store or an atomic; `None` for other instructions.
    #[inline]
    pub(super) fn of(func: &Function, inst: Inst, forms: &mut AffineForms) -> Option<MemoryAccess> {
        match func.dfg.data(inst) {
            InstData::Load { .. } | InstData::Store { .. } | InstData::Atomic { .. } => {
                MemoryAccess::of_access(func, inst, forms)
            }
            _ => None,
        }
    }

    fn of_access(func: &Function, inst: Inst, forms: &mut AffineForms) -> Option<MemoryAccess> {
        let dfg = &func.dfg;
        let data = dfg.data(inst);
        let result = dfg.first_result(inst);
        let (mem, addr, offset, of, mask, writes) = match *data {
            InstData::Load {
                mem,
                addr,
                offset,
                mask,
                ..
            } => (mem, addr, offset, result?, mask, false),
            InstData::Store {
                mem,
                args,
                offset,
                mask,
                ..
            } => (mem, args[1], offset, args[0], mask, true),
            InstData::Atomic {
                mem,
                addr,
                offset,
                mask,
                ..
            } => (mem, addr, offset, result?, mask, true),
            _ => return None,
        };
        let ty = dfg.ty(of);
        let lanes = dfg.ty(addr).lanes().max(1);
        let block = matches!(data.opcode(), Opcode::Bload | Opcode::Bstore);
        let mut form = forms.of(func, addr).clone();
        let width = mem.space.address().mask();
        form.constant = form.constant.wrapping_add_signed(i64::from(offset)) & width;
        Some(MemoryAccess {
            mem,
            lane_terms: LaneTerms::of(func, mem.space.address().bits(), form.lanes.iter()),
            form,
            bytes: ty.bytes() / lanes,
            ty,
            lanes,
            block,
            writes,
            addr,
            offset,
            mask: mask.expand(),
            base: forms.base_args.of(mem.space, addr),
        })
    }

    /// Returns true if the addresses have the same terms, so that they differ by a constant in each
    /// lane.
    pub(super) fn same_terms(&self, other: &MemoryAccess) -> bool {
        self.mem.space == other.mem.space
            && self.form.uniform == other.form.uniform
            && self.form.lanes == other.form.lanes
    }

    /// Returns the bytes from this access's addresses to those of one with the same terms.
    pub(super) fn distance(&self, other: &MemoryAccess) -> i64 {
        let bits = self.mem.space.address().bits();
        let apart = other.form.constant.wrapping_sub(self.form.constant);
        (apart << (64 - bits)) as i64 >> (64 - bits)
    }

    /// Returns true if two accesses never overlap, for any active lanes.
    pub(super) fn disjoint(&self, other: &MemoryAccess) -> bool {
        let base_args = self.base.zip(other.base);
        if spaces_disjoint(self.mem.space, other.mem.space)
            || base_args.is_some_and(|(a, b)| a.disjoint(b))
        {
            return true;
        }
        if self.mem.space != other.mem.space || self.form.uniform != other.form.uniform {
            return false;
        }
        self.disjoint_modulo(other, self.step(other))
    }

    /// Returns a number that divides all differences of lane terms of two accesses with the same
    /// uniform terms.
    pub(super) fn step(&self, other: &MemoryAccess) -> i128 {
        self.lane_terms
            .and(other.lane_terms)
            .step(self.mem.space.address().bits())
    }

    /// Returns true if two accesses never overlap, given that lane terms differ by multiples of
    /// `step`.
    pub(super) fn disjoint_modulo(&self, other: &MemoryAccess, step: i128) -> bool {
        let distance = self.distance(other);
        let distance = match i64::try_from(step) {
            Ok(step) => i128::from(distance.rem_euclid(step)),
            Err(_) => i128::from(distance).rem_euclid(step),
        };
        distance >= i128::from(self.bytes) && step - distance >= i128::from(other.bytes)
    }

    /// Returns true if no two lanes access the same byte among `bytes` from each address on. A
    /// constant vector must separate the lanes, as for arrays with an element per lane.
    pub(super) fn lanes_disjoint(&self, bytes: u32, func: &Function) -> bool {
        if self.lanes == 1 {
            return true;
        }
        let bits = self.mem.space.address().bits();
        self.form.lanes.iter().any(|&(v, times)| {
            let others = self.form.lanes.iter().filter(|t| t.0 != v);
            let Some(constant) = lanes_of(func, v) else {
                return false;
            };
            let step = LaneTerms::of(func, bits, others).step(bits);
            let at = |n: u64| i128::from(n.wrapping_mul(times)).rem_euclid(step);
            let mut at: Vec<i128> = constant.iter().map(|&n| at(n)).collect();
            at.sort_unstable();
            // After the last lane, the first one comes again.
            let next = at.iter().skip(1).copied();
            let next = next.chain(at.first().map(|a| a + step));
            at.iter().zip(next).all(|(a, b)| b - a >= i128::from(bytes))
        })
    }
}

/// Bounds of the sum of an address's lane terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct LaneTerms {
    /// Maximal value.
    most: i128,
    /// Common divisor; 0 if there are no terms.
    common: u128,
}

impl LaneTerms {
    /// Computes the bounds of values with factors, modulo a width.
    fn of<'t>(
        func: &Function,
        bits: u32,
        lanes: impl Iterator<Item = &'t (Value, u64)>,
    ) -> LaneTerms {
        let signed = |times: u64| i128::from((times << (64 - bits)) as i64 >> (64 - bits));
        lanes.fold(LaneTerms::default(), |sum, &(v, times)| {
            let (bounds, divisor) = bounds(func, v);
            let times = signed(times).unsigned_abs();
            sum.and(LaneTerms {
                most: (times as i128).saturating_mul(bounds),
                common: times.saturating_mul(divisor),
            })
        })
    }

    /// Adds other terms.
    fn and(self, other: LaneTerms) -> LaneTerms {
        LaneTerms {
            most: self.most.saturating_add(other.most),
            common: gcd(self.common, other.common),
        }
    }

    /// Returns the stride of the terms modulo a width, or the modulus if there are none.
    fn step(self, bits: u32) -> i128 {
        let whole = 1i128 << bits;
        // Where sums are far from wrapping, differences are multiples of the common divisor.
        // Otherwise they are multiples of its power of two.
        match self.common {
            0 => whole,
            common if self.most < whole / 4 => common as i128,
            common => (1i128 << common.trailing_zeros()).min(whole),
        }
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => gcd_of_qwords(a, b).into(),
        _ if b == 0 => a,
        _ => gcd(b, a % b),
    }
}

/// Returns the greatest common divisor of two qwords: division of 128 bits is a call.
fn gcd_of_qwords(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the maximum of an unsigned value and a divisor of it, over all lanes.
fn bounds(func: &Function, v: Value) -> (i128, u128) {
    let all = i128::from(func.dfg.ty(v).scalar().mask());
    if let Some(constant) = lanes_of(func, v) {
        let most = constant.iter().copied().max().unwrap_or(0);
        let common = constant.iter().fold(0, |a, &b| match a {
            1 => 1,
            _ => gcd_of_qwords(a, b),
        });
        return (i128::from(most), u128::from(common.max(1)));
    }
    let of = func.dfg.def_inst(v).map(|i| func.dfg.data(i));
    match of {
        Some(&InstData::Unary {
            opcode: Opcode::Uextend,
            arg,
        }) => (i128::from(func.dfg.ty(arg).scalar().mask()), 1),
        _ => (all, 1),
    }
}

/// Maximal operations that a mask is followed through.
const MASKS: u32 = 16;

/// Returns true if the definition of a mask shows that its lanes are a subset of another's.
pub(super) fn is_submask(func: &Function, mask: Value, of: Value) -> bool {
    fn walk(func: &Function, m: Value, of: Value, left: &mut u32) -> bool {
        if m == of {
            return true;
        }
        let ValueDef::Result(inst, n) = func.dfg.def(m) else {
            return false;
        };
        let Some(rest) = left.checked_sub(1) else {
            return false;
        };
        *left = rest;
        let mut is = |m: Value| walk(func, m, of, left);
        match *func.dfg.data(inst) {
            InstData::Imm { bits: 0, .. } => true,
            // Channels that stay active, and those that wait.
            InstData::Ternary {
                opcode: Opcode::Goto,
                args: [run, wait, _],
            } => match n {
                0 => is(run),
                1 => is(run) && is(wait),
                _ => false,
            },
            InstData::Binary {
                opcode: Opcode::Join,
                args: [run, wait],
            } => n == 0 && is(run) && is(wait),
            InstData::Binary {
                opcode: Opcode::Band,
                args: [a, b],
            } => is(a) || is(b),
            InstData::Binary {
                opcode: Opcode::Bor,
                args: [a, b],
            } => is(a) && is(b),
            _ => false,
        }
    }
    walk(func, mask, of, &mut MASKS.clone())
}

impl MemoryAccess {
    /// Returns true if this access is active in all lanes of another.
    pub(super) fn covers_mask_of(&self, other: &MemoryAccess, func: &Function) -> bool {
        match (self.mask, other.mask) {
            (None, _) => true,
            (Some(here), Some(there)) => is_submask(func, there, here),
            (Some(_), None) => false,
        }
    }
}

/// Returns the memory space and address of an access.
pub(super) fn space_and_address(data: &InstData) -> Option<(Space, Value)> {
    match *data {
        InstData::Load { mem, addr, .. } | InstData::Atomic { mem, addr, .. } => {
            Some((mem.space, addr))
        }
        InstData::Store { mem, args, .. } => Some((mem.space, args[1])),
        _ => None,
    }
}

/// Returns the lanes of a constant.
fn lanes_of(func: &Function, v: Value) -> Option<&[u64]> {
    match func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::ImmVec { constant, .. } => Some(func.dfg.constant(*constant)),
        _ => None,
    }
}

/// Memory effect of an instruction that is no access by addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// No effect.
    None,
    /// Publishes writes, or observes other threads' writes, in these spaces.
    Others(FenceSpaces),
    /// Any effect.
    Any,
}

impl Effect {
    /// Returns the effect of an instruction.
    pub(super) fn of(data: &InstData) -> Effect {
        match *data {
            InstData::Fence { spaces, .. } => Effect::Others(spaces),
            // Images and the printf buffer are global memory, and may be part of a buffer.
            InstData::Image { opcode, .. }
            | InstData::ImageAtomic { opcode, .. }
            | InstData::Media { opcode, .. } => {
                if opcode.info().effect {
                    Effect::Others(FenceSpaces::Global)
                } else {
                    Effect::None
                }
            }
            // A 2D block load reads earlier stores.
            InstData::Block2d { .. } => Effect::Others(FenceSpaces::Global),
            InstData::Printf { .. } => Effect::Others(FenceSpaces::Global),
            InstData::NamedBarrier { .. } => Effect::Others(FenceSpaces::All),
            InstData::Nullary {
                opcode: Opcode::Barrier | Opcode::BarrierArrive | Opcode::BarrierWait,
            } => Effect::Others(FenceSpaces::All),
            InstData::Send { .. } | InstData::Call { .. } => Effect::Any,
            _ if data.opcode().info().terminator || data.opcode().info().hint => Effect::None,
            _ if data.opcode().info().effect => Effect::Any,
            _ => Effect::None,
        }
    }

    /// Returns true if accesses with these flags must not move across the effect.
    pub(super) fn stops(self, mem: MemFlags) -> bool {
        match self {
            Effect::None => false,
            Effect::Any => true,
            Effect::Others(spaces) => match mem.space {
                Space::Global | Space::Surface(_) => spaces.global(),
                Space::Slm => spaces.slm(),
                Space::Scratch => false,
            },
        }
    }
}
