//! Assembly of a load's value from parts of available values.
//!
//! Vectors of lanes store all first elements before all second ones. So a byte, word or dword of
//! all lanes is a strided region of a value. A load element within one available value is such a
//! region. One that several values provide is assembled by region writes.

use super::alias_analysis::MemoryAccess;
use super::load_forwarding::{AvailableValue, bits};
use crate::ir::{BlockInsts, Function, Inst, InstData, Opcode, Region, Scalar, Space, Type, Value};
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;

/// Maximal element writes that are followed.
const MOST_WRITES: usize = 16;

/// Part of an element, in all lanes of an available value.
struct ElementPart {
    value: Value,
    /// Index of the element, and the byte offset in it.
    element: u32,
    within: u32,
}

/// Element of all lanes: one part, or several in sequence.
type ElementParts = SmallVec<[ElementPart; 4]>;

fn int(bytes: u32) -> Option<Scalar> {
    match bytes {
        1 => Some(Scalar::I8),
        2 => Some(Scalar::I16),
        4 => Some(Scalar::I32),
        8 => Some(Scalar::I64),
        _ => None,
    }
}

/// Returns true if a load may use part of an available value.
fn may_provide(k: &AvailableValue, load: &MemoryAccess, func: &Function) -> bool {
    let have = &k.access;
    have.lanes == load.lanes
        && have.bytes <= 64
        && have.same_terms(load)
        && have.covers_mask_of(load, func)
}

/// Finds `bytes` bytes of each lane, from `at` bytes after the load's addresses on.
fn part(
    func: &Function,
    known: &[&AvailableValue],
    load: &MemoryAccess,
    at: u32,
    bytes: u32,
) -> Option<ElementPart> {
    known.iter().rev().find_map(|k| {
        let have = &k.access;
        let from = have.distance(load) + i64::from(at);
        let wanted = bits(from, bytes.into());
        let size = func.dfg.ty(k.value).scalar().bytes();
        if from < 0 || wanted.count_ones() != bytes || k.valid & wanted != wanted || size < bytes {
            return None;
        }
        let from = from as u32;
        let (element, within) = (from / size, from % size);
        if within % bytes != 0 || within + bytes > size {
            return None;
        }
        let (value, element) = origin(func, k.value, load.lanes, element);
        let fits = u16::try_from(element * load.lanes * size + within).is_ok();
        fits.then_some(ElementPart {
            value,
            element,
            within,
        })
    })
}

/// Follows element writes to the value that defines an element of all lanes. Returns that value and
/// the element in it.
fn origin(func: &Function, mut v: Value, lanes: u32, element: u32) -> (Value, u32) {
    let size = func.dfg.ty(v).scalar().bytes();
    for _ in 0..MOST_WRITES {
        let Some(inst) = func.dfg.def_inst(v) else {
            break;
        };
        let InstData::WrRegion {
            args: [old, new],
            region,
            index,
            mask,
            ..
        } = *func.dfg.data(inst)
        else {
            break;
        };
        let at = u32::from(region.offset);
        let whole = Region::contiguous(lanes as u16, region.offset);
        if index.is_some() || mask.is_some() || func.dfg.ty(new).lanes() != lanes || region != whole
        {
            break;
        }
        let wanted = element * lanes * size;
        if at == wanted {
            return (new, 0);
        }
        if at.abs_diff(wanted) < lanes * size {
            break;
        }
        v = old;
    }
    (v, element)
}

/// Returns the vector and byte offset of a splat.
fn splat_source(func: &Function, v: Value) -> Option<(Value, u16)> {
    match *func.dfg.data(func.dfg.def_inst(v)?) {
        InstData::RdRegion {
            arg, region, index, ..
        } if index.is_none() && region == Region::scalar(region.offset) => {
            Some((arg, region.offset))
        }
        _ => None,
    }
}

/// Maximal parts of a load that are cheaper than the load. Scratch loads may have more, since
/// without them scratch may not be needed.
const MOST_PARTS: usize = 8;

/// Assembles the value of a load from new instructions; `None` if some of it is unknown.
pub(super) fn assemble(
    func: &mut Function,
    inst: Inst,
    load: &MemoryAccess,
    known: &[AvailableValue],
    out: &mut BlockInsts,
) -> Option<Value> {
    let known: SmallVec<[&AvailableValue; 8]> = known
        .iter()
        .filter(|k| may_provide(k, load, func))
        .collect();
    if known.is_empty() {
        return None;
    }
    let scalar = load.ty.scalar();
    let (lanes, size) = (load.lanes, scalar.bytes());
    let count = load.ty.lanes() / lanes;
    let mut elements: SmallVec<[(u32, ElementParts); 4]> = SmallVec::new();
    for n in 0..count {
        let sizes = [8, 4, 2, 1].into_iter().filter(|s| *s <= size);
        elements.push(sizes.into_iter().find_map(|each| {
            let parts =
                (0..size / each).map(|p| part(func, &known, load, n * size + p * each, each));
            Some((each, parts.collect::<Option<ElementParts>>()?))
        })?);
    }
    let pieces = elements.iter().map(|e| e.1.len()).sum::<usize>();
    if pieces > MOST_PARTS && load.mem.space != Space::Scratch {
        return None;
    }
    let mut a = Assembler { func, inst, out };
    let mut all: Option<Value> = None;
    for (n, (each, parts)) in (0u32..).zip(elements) {
        let element = a.element(scalar, lanes, each, &parts)?;
        if count == 1 {
            return Some(element);
        }
        let old = match all {
            Some(v) => v,
            None => a.undef(load.ty)?,
        };
        let region = Region::contiguous(lanes as u16, (n * lanes * size) as u16);
        all = Some(a.write(old, element, region)?);
    }
    all
}

struct Assembler<'f> {
    func: &'f mut Function,
    /// Load to replace.
    inst: Inst,
    out: &'f mut BlockInsts,
}

impl Assembler<'_> {
    fn put(&mut self, data: InstData, ty: Type) -> Option<Value> {
        let new = self.func.dfg.make_inst(data, &[ty]);
        let loc = self.func.srclocs[self.inst];
        self.func.set_srcloc(new, loc);
        self.out.push(new);
        self.func.dfg.first_result(new)
    }

    fn undef(&mut self, ty: Type) -> Option<Value> {
        let opcode = Opcode::Undef;
        self.put(InstData::Nullary { opcode }, ty)
    }

    fn cast(&mut self, arg: Value, ty: Type) -> Option<Value> {
        if self.func.dfg.ty(arg) == ty {
            return Some(arg);
        }
        let opcode = Opcode::Bitcast;
        self.put(InstData::Unary { opcode, arg }, ty)
    }

    fn write(&mut self, old: Value, new: Value, region: Region) -> Option<Value> {
        let ty = self.func.dfg.ty(old);
        let data = InstData::WrRegion {
            opcode: Opcode::Wrregion,
            args: [old, new],
            region,
            index: PackedOption::default(),
            mask: PackedOption::default(),
        };
        self.put(data, ty)
    }

    /// Reads the bytes of a part as elements of `each` bytes.
    fn part(&mut self, lanes: u32, each: u32, part: &ElementPart) -> Option<Value> {
        let ty = self.func.dfg.ty(part.value);
        let size = ty.scalar().bytes();
        let scalar = int(each)?;
        let to = Type::new(scalar, lanes)?;
        if let Some((of, at)) = splat_source(self.func, part.value) {
            let one = self.read(of, Region::scalar(at), Type::scalar_of(ty.scalar()))?;
            let cut = self.cast(one, Type::new(scalar, size / each)?)?;
            let lane = self.read(
                cut,
                Region::scalar(part.within as u16),
                Type::scalar_of(scalar),
            )?;
            return match lanes {
                1 => Some(lane),
                _ => self.read(lane, Region::scalar(0), to),
            };
        }
        // A whole element keeps its type.
        let scalar = if size == each { ty.scalar() } else { scalar };
        let arg = self.cast(part.value, Type::new(scalar, ty.bytes() / each)?)?;
        let offset = (part.element * lanes * size + part.within) as u16;
        let region = match (lanes, size / each) {
            (1, _) => Region::scalar(offset),
            (_, 1) => Region::contiguous(lanes as u16, offset),
            (_, step) => Region::new(step as u16, 1, 0, offset),
        };
        self.read(arg, region, Type::new(scalar, lanes)?)
    }

    fn read(&mut self, arg: Value, region: Region, ty: Type) -> Option<Value> {
        let data = InstData::RdRegion {
            opcode: Opcode::Rdregion,
            arg,
            region,
            index: PackedOption::default(),
        };
        self.put(data, ty)
    }

    fn element(
        &mut self,
        to: Scalar,
        lanes: u32,
        each: u32,
        parts: &[ElementPart],
    ) -> Option<Value> {
        let ty = Type::new(to, lanes)?;
        if let [one] = parts {
            let v = self.part(lanes, each, one)?;
            return self.cast(v, ty);
        }
        let same = |p: &ElementPart| splat_source(self.func, p.value).is_some();
        if lanes > 1 && parts.iter().all(same) {
            let one = self.element(to, 1, each, parts)?;
            return self.read(one, Region::scalar(0), ty);
        }
        let pieces = parts.len() as u32;
        let mut all = self.undef(Type::new(int(each)?, lanes * pieces)?)?;
        for (n, p) in (0u32..).zip(parts) {
            let v = self.part(lanes, each, p)?;
            let v = self.cast(v, Type::new(int(each)?, lanes)?)?;
            let at = (n * each) as u16;
            let region = match lanes {
                1 => Region::scalar(at),
                _ => Region::new(pieces as u16, 1, 0, at),
            };
            all = self.write(all, v, region)?;
        }
        self.cast(all, ty)
    }
}
