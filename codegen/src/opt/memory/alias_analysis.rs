//! Where accesses go, and which of them may be to the same bytes.
//!
//! Different memories are apart; different surfaces, and surfaces and addresses, are not: a buffer
//! may be there twice, unless the kernel's arguments promise another thing (`noalias.rs`). In one
//! memory two places are apart if they are by their sums (`affine.rs`): the same values in every
//! lane, and what lanes add besides multiples of some number, modulo which the constants and the
//! bytes behind them do not meet (rows of 12 bytes; a power of two, where the sum may wrap around).
//! Lanes may have any addresses: what holds is of each lane of the one and any lane of the other.

use super::affine::{Sum, Sums};
use super::noalias::{Owner, memories_apart};
use crate::ir::{
    FenceSpaces, Function, Inst, InstData, MemFlags, Opcode, Space, Type, Value, ValueDef,
};

/// An access to memory by addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub mem: MemFlags,
    /// The address, and which constant it is apart from what its values come to.
    pub sum: Sum,
    /// What lanes add to it.
    added: Added,
    /// Bytes that are read or written from each address on.
    pub bytes: u32,
    /// What is read or written.
    pub ty: Type,
    /// Addresses: one of neighbours.
    pub lanes: u32,
    /// Whether it is of neighbours at one address.
    pub block: bool,
    /// Whether memory may be changed.
    pub writes: bool,
    /// The operand that is the address.
    pub addr: Value,
    /// Bytes that are added to it.
    pub offset: i32,
    /// The lanes that take part.
    pub mask: Option<Value>,
    /// The argument that it is reached by.
    owner: Option<Owner>,
}

impl Place {
    /// Of an instruction that is a load, a store or an atomic.
    #[inline]
    pub(super) fn of(func: &Function, inst: Inst, sums: &mut Sums) -> Option<Place> {
        match func.dfg.data(inst) {
            InstData::Load { .. } | InstData::Store { .. } | InstData::Atomic { .. } => {
                Place::of_access(func, inst, sums)
            }
            _ => None,
        }
    }

    fn of_access(func: &Function, inst: Inst, sums: &mut Sums) -> Option<Place> {
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
        let mut sum = sums.of(func, addr).clone();
        let width = mem.space.address().mask();
        sum.constant = sum.constant.wrapping_add_signed(i64::from(offset)) & width;
        Some(Place {
            mem,
            added: Added::of(func, mem.space.address().bits(), sum.lanes.iter()),
            sum,
            bytes: ty.bytes() / lanes,
            ty,
            lanes,
            block,
            writes,
            addr,
            offset,
            mask: mask.expand(),
            owner: sums.owners.of(mem.space, addr),
        })
    }

    /// Whether another place is of the same values, so that a constant is between them in each
    /// lane.
    pub(super) fn beside(&self, other: &Place) -> bool {
        self.mem.space == other.mem.space
            && self.sum.uniform == other.sum.uniform
            && self.sum.lanes == other.sum.lanes
    }

    /// The bytes from this place's addresses to those of one beside it.
    pub(super) fn distance(&self, other: &Place) -> i64 {
        let bits = self.mem.space.address().bits();
        let apart = other.sum.constant.wrapping_sub(self.sum.constant);
        (apart << (64 - bits)) as i64 >> (64 - bits)
    }

    /// Whether no byte is of both, whichever lanes take part.
    pub(super) fn apart(&self, other: &Place) -> bool {
        let owners = self.owner.zip(other.owner);
        if memories_apart(self.mem.space, other.mem.space)
            || owners.is_some_and(|(a, b)| a.apart(b))
        {
            return true;
        }
        if self.mem.space != other.mem.space || self.sum.uniform != other.sum.uniform {
            return false;
        }
        self.apart_by(other, self.step(other))
    }

    /// What lanes of this place and of another are a multiple of apart, but for the constants,
    /// where they are of the same values of one lane.
    pub(super) fn step(&self, other: &Place) -> i128 {
        self.added
            .and(other.added)
            .step(self.mem.space.address().bits())
    }

    /// Whether no byte is of both, if all that lanes add is a multiple of some number.
    pub(super) fn apart_by(&self, other: &Place, step: i128) -> bool {
        let distance = i128::from(self.distance(other)).rem_euclid(step);
        distance >= i128::from(self.bytes) && step - distance >= i128::from(other.bytes)
    }

    /// Whether no two lanes are of one byte: by a constant that is different in each, as arrays
    /// have it that lanes have elements of side by side. `bytes`: from each address on.
    pub(super) fn lanes_apart(&self, bytes: u32, func: &Function) -> bool {
        if self.lanes == 1 {
            return true;
        }
        let bits = self.mem.space.address().bits();
        self.sum.lanes.iter().any(|&(v, times)| {
            let others = self.sum.lanes.iter().filter(|t| t.0 != v);
            let Some(constant) = lanes_of(func, v) else {
                return false;
            };
            let step = Added::of(func, bits, others).step(bits);
            let at = |n: u64| i128::from(n.wrapping_mul(times)).rem_euclid(step);
            let mut at: Vec<i128> = constant.iter().map(|&n| at(n)).collect();
            at.sort_unstable();
            // Behind the last one the first one comes again.
            let next = at.iter().skip(1).copied();
            let next = next.chain(at.first().map(|a| a + step));
            at.iter().zip(next).all(|(a, b)| b - a >= i128::from(bytes))
        })
    }
}

/// What lanes add to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Added {
    /// How much it is at most.
    most: i128,
    /// What all of it is a multiple of; 0 of nothing.
    common: u128,
}

impl Added {
    /// Values and their factors, modulo a width.
    fn of<'t>(func: &Function, bits: u32, lanes: impl Iterator<Item = &'t (Value, u64)>) -> Added {
        let signed = |times: u64| i128::from((times << (64 - bits)) as i64 >> (64 - bits));
        lanes.fold(Added::default(), |sum, &(v, times)| {
            let (range, divisor) = range(func, v);
            let times = signed(times).unsigned_abs();
            sum.and(Added {
                most: (times as i128).saturating_mul(range),
                common: times.saturating_mul(divisor),
            })
        })
    }

    /// With what others add.
    fn and(self, other: Added) -> Added {
        Added {
            most: self.most.saturating_add(other.most),
            common: gcd(self.common, other.common),
        }
    }

    /// What it is a multiple of, modulo a width; the width's modulus if it is nothing.
    fn step(self, bits: u32) -> i128 {
        let whole = 1i128 << bits;
        // Differences of sums that are far from wrapping around are multiples of the factors'
        // common divisor, others of its power of two.
        match self.common {
            0 => whole,
            common if self.most < whole / 4 => common as i128,
            common => (1i128 << common.trailing_zeros()).min(whole),
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        // Division of 128 bits is a call.
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(a), Ok(less)) => (b, u128::from(a % less)),
            _ => (b, a % b),
        };
    }
    a
}

/// How large a value may be, as an unsigned number, and what it is a multiple of, in every lane.
fn range(func: &Function, v: Value) -> (i128, u128) {
    let all = i128::from(func.dfg.ty(v).scalar().mask());
    if let Some(constant) = lanes_of(func, v) {
        let most = constant.iter().copied().max().unwrap_or(0);
        let common = constant.iter().fold(0, |a, &b| gcd(a, u128::from(b)));
        return (i128::from(most), common.max(1));
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

/// How many operations a mask is followed through.
const MASKS: u32 = 16;

/// Whether all lanes of a mask are in another, by what it was made of.
pub(super) fn within(func: &Function, mask: Value, of: Value) -> bool {
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
            // The channels that go on, and those that wait with the others.
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

impl Place {
    /// Whether all lanes that take part in an access take part in this one.
    pub(super) fn has_lanes_of(&self, other: &Place, func: &Function) -> bool {
        match (self.mask, other.mask) {
            (None, _) => true,
            (Some(here), Some(there)) => within(func, there, here),
            (Some(_), None) => false,
        }
    }
}

/// The memory and the address of an access.
pub(super) fn access(data: &InstData) -> Option<(Space, Value)> {
    match *data {
        InstData::Load { mem, addr, .. } | InstData::Atomic { mem, addr, .. } => {
            Some((mem.space, addr))
        }
        InstData::Store { mem, args, .. } => Some((mem.space, args[1])),
        _ => None,
    }
}

/// The lanes of a constant.
fn lanes_of(func: &Function, v: Value) -> Option<&[u64]> {
    match func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::ImmVec { constant, .. } => Some(func.dfg.constant(*constant)),
        _ => None,
    }
}

/// What an instruction that is no access by addresses does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// Others' writes to these memories are seen, or their own are made seen.
    Others(FenceSpaces),
    /// Anything.
    Any,
}

impl Effect {
    /// Of an instruction.
    pub(super) fn of(data: &InstData) -> Effect {
        match *data {
            InstData::Fence { spaces, .. } => Effect::Others(spaces),
            // Images and the printf buffer are global memory, and may be a buffer's.
            InstData::Image { opcode, .. } | InstData::Media { opcode, .. } => {
                if opcode.info().effect {
                    Effect::Others(FenceSpaces::Global)
                } else {
                    Effect::None
                }
            }
            // What is stored before a load of 2D blocks is in what it reads.
            InstData::Block2d { .. } => Effect::Others(FenceSpaces::Global),
            InstData::Printf { .. } => Effect::Others(FenceSpaces::Global),
            InstData::NamedBarrier { .. } => Effect::Others(FenceSpaces::All),
            _ if data.opcode() == Opcode::Barrier => Effect::Others(FenceSpaces::All),
            InstData::Send { .. } | InstData::Call { .. } => Effect::Any,
            _ if data.opcode().info().terminator => Effect::None,
            _ if data.opcode().info().effect => Effect::Any,
            _ => Effect::None,
        }
    }

    /// Whether accesses to a memory may not be moved over it.
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
