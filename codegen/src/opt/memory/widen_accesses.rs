//! Accesses of bytes and words as accesses of dwords.
//!
//! A message by lanes moves one byte, word or dword per lane. An access of several bytes or words
//! per lane that make up a word or dwords becomes an access of these. Elements are then moved in
//! GRFs. A block access at one address would otherwise use an address per element; it becomes one
//! of as few dwords as possible. A dword may have any address: the promised alignment stays the
//! same.
//!
//! Input and output: verified IR. Work: linear.

use super::vectorize_accesses::{InactiveLanes, inactive_lanes};
use crate::ir::{
    BlockInsts, Function, Inst, InstData, MemFlags, Opcode, Region, Scalar, Type, Value,
};
use crate::opt::{OptState, PassContext};
use cranelift_entity::packed_option::PackedOption;

/// Bytes of a dword.
const DWORD: u32 = 4;

/// Runs the pass. Returns the number of accesses that were widened.
pub(crate) fn run(func: &mut Function, _: &PassContext<'_>, _: &mut OptState) -> u32 {
    let mut changed = 0;
    for n in 0..func.layout.blocks().len() {
        let Some(&block) = func.layout.blocks().get(n) else {
            continue;
        };
        let mut p = Widener {
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

/// Layout of elements in wider ones.
struct WideLayout {
    /// Type of the access: all lanes' first elements, then all second ones.
    ty: Type,
    /// Same bytes as narrow elements.
    elements: Type,
    mem: MemFlags,
    /// Regions of a lane's narrow elements in the access; empty for block accesses.
    parts: Vec<Region>,
}

impl WideLayout {
    /// Returns the layout for an access by `lanes` addresses; `None` if it stays as it is.
    fn of(ty: Type, mem: MemFlags, lanes: u32, block: bool) -> Option<WideLayout> {
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
        // Narrow elements of a wide one.
        let each = whole / size;
        let part = |k: u32| {
            let at = k / each * lanes * whole + k % each * size;
            Region::new(each as u16, 1, 0, at as u16)
        };
        Some(WideLayout {
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

    /// Returns the region of an element of all lanes in the value.
    fn element_region(&self, k: usize, lanes: u32) -> Region {
        let at = k as u32 * lanes * self.elements.scalar().bytes();
        Region::contiguous(lanes as u16, at as u16)
    }
}

struct Widener<'f> {
    func: &'f mut Function,
    out: BlockInsts,
}

impl Widener<'_> {
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
        let p = WideLayout::of(self.func.dfg.ty(result), mem, lanes, block)?;
        let off = inactive_lanes(self.func, &data)?;
        let old = match (mask.expand(), off) {
            (None, _) => None,
            (Some(_), InactiveLanes::Any) => Some(self.undef(inst, p.ty)?),
            (Some(_), InactiveLanes::Bits(bits)) => {
                // Bits of the narrow element, repeated in the wide one.
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
            let write = write_region(all, part, p.element_region(k, lanes));
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
        let p = WideLayout::of(self.func.dfg.ty(args[0]), mem, lanes, block)?;
        let mut all = args[0];
        if !p.parts.is_empty() {
            all = self.undef(inst, p.elements)?;
        }
        for (k, &region) in p.parts.iter().enumerate() {
            let read = InstData::RdRegion {
                opcode: Opcode::Rdregion,
                arg: args[0],
                region: p.element_region(k, lanes),
                index: PackedOption::default(),
            };
            let part = self.put(inst, read, p.elements.by(lanes))?;
            all = self.put(inst, write_region(all, part, region), p.elements)?;
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

/// Returns a region write.
fn write_region(old: Value, new: Value, region: Region) -> InstData {
    InstData::WrRegion {
        opcode: Opcode::Wrregion,
        args: [old, new],
        region,
        index: PackedOption::default(),
        mask: PackedOption::default(),
    }
}
