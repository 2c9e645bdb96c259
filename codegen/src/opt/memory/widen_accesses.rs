//! Bytes and words as the dwords that they are parts of.
//!
//! A message by lanes moves one byte, word or dword of each lane. An access of several bytes or
//! words a lane that make up a word or dwords becomes one of those, and its elements are moved in
//! registers; an access of neighbours at one address, which is one of its elements' addresses
//! otherwise, becomes one of as few dwords as it has. A dword may be anywhere in memory: the
//! alignment that is promised stays what it is.
//!
//! Needs: IR that verifies. Makes: the same. Work: linear.

use super::vectorize_accesses::{Off, off_lanes};
use crate::ir::{
    BlockInsts, Function, Inst, InstData, MemFlags, Opcode, Region, Scalar, Type, Value,
};
use crate::opt::{Facts, State};
use cranelift_entity::packed_option::PackedOption;

/// Bytes of a dword.
const DWORD: u32 = 4;

/// Packs what is accessed; gives how many accesses are of larger elements now.
pub(crate) fn pack(func: &mut Function, _: &Facts<'_>, _: &mut State) -> u32 {
    let mut changed = 0;
    for n in 0..func.layout.blocks().len() {
        let Some(&block) = func.layout.blocks().get(n) else {
            continue;
        };
        let mut p = Packer {
            func,
            out: BlockInsts::new(),
        };
        for inst in std::mem::take(p.func.layout.insts_mut(block)) {
            let data = *p.func.dfg.data(inst);
            let done = match data {
                InstData::Load { mem, addr, .. } => p.load(inst, data, mem, addr),
                InstData::Store { mem, args, .. } => p.store(inst, data, mem, args[1]),
                _ => None,
            };
            changed += u32::from(done.is_some());
            if done.is_none() {
                p.out.push(inst);
            }
        }
        let out = p.out;
        *func.layout.insts_mut(block) = out;
    }
    changed
}

/// How elements are parts of larger ones.
struct Packed {
    /// What is accessed: all lanes' first ones, then all second ones.
    ty: Type,
    /// The same bytes as elements.
    elements: Type,
    mem: MemFlags,
    /// The elements of a lane, in what is accessed one behind the other.
    parts: Vec<Region>,
}

impl Packed {
    /// Of values of a type by so many addresses; `None` for what stays as it is.
    fn of(ty: Type, mem: MemFlags, lanes: u32, block: bool) -> Option<Packed> {
        let size = ty.scalar().bytes();
        if !matches!(size, 1 | 2) || mem.volatile {
            return None;
        }
        let bytes = ty.bytes() / lanes;
        let scalar = match bytes {
            2 if size == 1 => Scalar::I16,
            n if n % DWORD == 0 => Scalar::I32,
            _ => return None,
        };
        let whole = scalar.bytes();
        // Elements of a larger one.
        let each = whole / size;
        let part = |k: u32| {
            let at = k / each * lanes * whole + k % each * size;
            Region::new(each as u16, 1, 0, at as u16)
        };
        Some(Packed {
            ty: Type::new(scalar, ty.bytes() / whole)?,
            elements: ty,
            mem: mem.aligned(mem.alignment(size)),
            parts: if block {
                Vec::new()
            } else {
                (0..bytes / size).map(part).collect()
            },
        })
    }

    /// Where an element of all lanes is in the value.
    fn place(&self, k: usize, lanes: u32) -> Region {
        let at = k as u32 * lanes * self.elements.scalar().bytes();
        Region::contiguous(lanes as u16, at as u16)
    }
}

struct Packer<'f> {
    func: &'f mut Function,
    out: BlockInsts,
}

impl Packer<'_> {
    fn put(&mut self, like: Inst, data: InstData, ty: Type) -> Option<Value> {
        let (inst, v) = self.func.make_like(like, data, ty);
        self.out.push(inst);
        Some(v)
    }

    fn cast(&mut self, like: Inst, arg: Value, ty: Type) -> Option<Value> {
        let opcode = Opcode::Bitcast;
        self.put(like, InstData::Unary { opcode, arg }, ty)
    }

    fn undef(&mut self, like: Inst, ty: Type) -> Option<Value> {
        let opcode = Opcode::Undef;
        self.put(like, InstData::Nullary { opcode }, ty)
    }

    fn load(&mut self, inst: Inst, data: InstData, mem: MemFlags, addr: Value) -> Option<()> {
        let InstData::Load { opcode, mask, .. } = data else {
            return None;
        };
        let result = self.func.dfg.first_result(inst)?;
        let lanes = self.func.dfg.ty(addr).lanes();
        let block = opcode == Opcode::Bload;
        let p = Packed::of(self.func.dfg.ty(result), mem, lanes, block)?;
        let off = off_lanes(self.func, &data)?;
        let old = match (mask.expand(), off) {
            (None, _) => None,
            (Some(_), Off::Any) => Some(self.undef(inst, p.ty)?),
            (Some(_), Off::Bits(bits)) => {
                // The element's bits in each part of the larger one.
                let element = p.elements.scalar();
                let times = p.ty.scalar().mask() / element.mask();
                let opcode = Opcode::Iconst;
                let bits = (bits & element.mask()) * times;
                Some(self.put(inst, InstData::Imm { opcode, bits }, p.ty)?)
            }
        };
        let mut new = data;
        if let InstData::Load { mem: m, old: o, .. } = &mut new {
            *m = p.mem;
            *o = old.into();
        }
        let whole = self.put(inst, new, p.ty)?;
        let last = p.parts.len().checked_sub(1);
        let Some(last) = last else {
            let (opcode, arg) = (Opcode::Bitcast, whole);
            *self.func.dfg.data_mut(inst) = InstData::Unary { opcode, arg };
            self.out.push(inst);
            return Some(());
        };
        let bytes = self.cast(inst, whole, p.elements)?;
        let mut all = self.undef(inst, p.elements)?;
        for (k, &region) in p.parts.iter().enumerate() {
            let read = InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg: bytes,
                region,
                index: PackedOption::default(),
            };
            let part = self.put(inst, read, p.elements.by(lanes))?;
            let write = written(all, part, p.place(k, lanes));
            if k == last {
                *self.func.dfg.data_mut(inst) = write;
                self.out.push(inst);
            } else {
                all = self.put(inst, write, p.elements)?;
            }
        }
        Some(())
    }

    fn store(&mut self, inst: Inst, data: InstData, mem: MemFlags, addr: Value) -> Option<()> {
        let InstData::Store { opcode, args, .. } = data else {
            return None;
        };
        let lanes = self.func.dfg.ty(addr).lanes();
        let block = opcode == Opcode::Bstore;
        let p = Packed::of(self.func.dfg.ty(args[0]), mem, lanes, block)?;
        let mut all = args[0];
        if !p.parts.is_empty() {
            all = self.undef(inst, p.elements)?;
        }
        for (k, &region) in p.parts.iter().enumerate() {
            let read = InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg: args[0],
                region: p.place(k, lanes),
                index: PackedOption::default(),
            };
            let part = self.put(inst, read, p.elements.by(lanes))?;
            all = self.put(inst, written(all, part, region), p.elements)?;
        }
        let whole = self.cast(inst, all, p.ty)?;
        if let InstData::Store { mem: m, args, .. } = self.func.dfg.data_mut(inst) {
            *m = p.mem;
            args[0] = whole;
        }
        self.out.push(inst);
        Some(())
    }
}

/// A value with a region of it replaced.
fn written(old: Value, new: Value, region: Region) -> InstData {
    InstData::WrRegion {
        opcode: Opcode::Wrregion,
        args: [old, new],
        region,
        index: PackedOption::default(),
        mask: PackedOption::default(),
    }
}
