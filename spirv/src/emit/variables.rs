//! Variables of the program and private ones: their places, and what constant data holds.

use super::Emit;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use gantry_codegen::ir::{self, MAX_SCRATCH, Scalar, Value};
use spirv::{Op, StorageClass};

impl Emit<'_, '_, '_> {
    /// A variable of the module as a pointer.
    pub(super) fn global(&mut self, id: Id) -> Result<Value, Error> {
        let Def::Global(g) = self.m.def(id) else {
            return Err(Error::internal("no variable"));
        };
        let data = self.m.globals.get(g);
        let data = data.ok_or_else(|| Error::internal("no variable"))?;
        match data.class {
            StorageClass::Workgroup => match self.slm.get(&id).copied() {
                Some(at) => Ok(self.number(Scalar::I32, u64::from(at))),
                None => Err(Error::internal("a local variable without its place")),
            },
            StorageClass::UniformConstant => {
                let symbol = self.data(id, data.ty, data.init)?;
                Ok(self.b.ins().symbol_addr(symbol))
            }
            // It has no value; loads of it look at what it is.
            StorageClass::Input => Ok(self.number(Scalar::I64, 0)),
            // Its beginning.
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant => {
                Ok(self.number(Scalar::I32, 0))
            }
            other => Err(Error::unsupported(format!(
                "a variable of the program in {other:?} memory"
            ))),
        }
    }

    fn data(&mut self, id: Id, ty: Ty, init: Option<Id>) -> Result<ir::DataRef, Error> {
        if let Some(d) = self.data.get(&id) {
            return Ok(*d);
        }
        let size = self.m.types.size(ty);
        let size = usize::try_from(size).ok().filter(|s| *s <= 64 << 20);
        let size = size.ok_or_else(|| Error::limit("constant data of more than 64 MiB"))?;
        let mut bytes = vec![0; size];
        if let Some(init) = init {
            write(self.m, init, 0, &mut bytes)?;
        }
        let name = self.m.name(id).unwrap_or_default();
        let mut name: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        name = format!("{name}.{}", id.as_u32());
        let align = self.m.types.align(ty).clamp(1, 4096) as u32;
        let data = ir::Data {
            name,
            align,
            scalar: Scalar::I8,
            bytes,
            string: false,
        };
        let symbol = match self.module.find_data(&data.name) {
            Some(there) => there,
            None => self.module.data.push(data),
        };
        self.data.insert(id, symbol);
        Ok(symbol)
    }

    /// The text of constant memory that a pointer is to, as a string of the module.
    ///
    /// # Errors
    /// It is no such pointer.
    pub fn string(&mut self, pointer: Id) -> Result<ir::DataRef, Error> {
        let no = || Error::unsupported("a string that is no constant of the program");
        let id = self.roots.get(&pointer).copied().unwrap_or(pointer);
        let Def::Global(g) = self.m.def(id) else {
            return Err(no());
        };
        let data = self.m.globals.get(g).ok_or_else(no)?;
        let size = usize::try_from(self.m.types.size(data.ty)).ok();
        let size = size.filter(|s| *s <= 1 << 16).ok_or_else(no)?;
        let (StorageClass::UniformConstant, Some(init)) = (data.class, data.init) else {
            return Err(no());
        };
        let Type::Array(of, _) = self.m.types.kind(data.ty) else {
            return Err(no());
        };
        if *self.m.types.kind(*of) != Type::Int(8) {
            return Err(no());
        }
        let mut bytes = vec![0; size];
        write(self.m, init, 0, &mut bytes)?;
        let text: Vec<u8> = bytes.into_iter().take_while(|b| *b != 0).collect();
        let name = format!("text.{}", id.as_u32());
        Ok(match self.module.find_data(&name) {
            Some(there) => there,
            None => self.module.data.push(ir::Data::string(name, text)),
        })
    }

    /// Lays out the private variables.
    pub(super) fn private_variables(&mut self) {
        let mut all: Vec<(Id, Ty, u32, u32)> = Vec::new();
        // Pointers that come of no variable need some place, too.
        let mut any = false;
        for (id, ty) in &self.body.params {
            // Only structures by value are such.
            if let Type::Pointer(StorageClass::Function, _) = self.m.types.kind(*ty) {
                all.push((*id, *ty, 0, 0));
            }
        }
        for b in &self.g.order {
            for inst in &self.body.blocks[*b].insts {
                self.body.for_each_use(inst, |id| {
                    let ty = self.body.type_of(self.m, id);
                    any |= self.held(id).is_none()
                        && matches!(
                            ty.map(|t| self.m.types.kind(t)),
                            Some(Type::Pointer(
                                StorageClass::Function | StorageClass::Private,
                                _
                            ))
                        );
                });
                if let (Op::Variable, Some(id), Some(ty)) =
                    (inst.op, inst.id.expand(), inst.ty.expand())
                    && self.held(id).is_none()
                {
                    all.push((id, ty, inst.at, inst.line));
                }
            }
        }
        // Behind what is of the call that a call is in: calls that are not in each other have the same room.
        all.sort_by_key(|v| self.body.call_of(v.0));
        let mut all = all.into_iter().peekable();
        let mut ends = vec![0u64; self.body.call_count()];
        let first = u64::from(self.behind_null(StorageClass::Function));
        let (mut kernel, mut end) = (first, first);
        for call in [None].into_iter().chain((0..ends.len()).map(Some)) {
            if let Some(n) = call {
                let within = self.body.within(n).and_then(|w| ends.get(w));
                end = within.copied().unwrap_or(kernel);
            }
            while let Some((id, ty, word, line)) = all.next_if(|v| self.body.call_of(v.0) == call) {
                let Some(ty) = self.m.pointee(ty) else {
                    continue;
                };
                let (size, align) = (self.m.types.size(ty), self.m.types.align(ty));
                let at = end.next_multiple_of(align.clamp(1, 4096));
                let most = u64::from(MAX_SCRATCH / self.simd);
                match at.checked_add(size).filter(|end| *end <= most) {
                    Some(new) => {
                        self.private.insert(id, at as u32);
                        end = new;
                    }
                    None => {
                        self.private.insert(id, 0);
                        let what = format!("more than {most} bytes of private memory");
                        self.error(Error::limit(what), word, line, Some(id));
                    }
                }
            }
            match call {
                None => kernel = end,
                Some(n) => ends[n] = end,
            }
            self.private_bytes = self.private_bytes.max(end as u32);
        }
        if any {
            self.private_bytes = self.private_bytes.max(1);
        }
        if self.private_bytes > 0 {
            self.private_bytes = self.private_bytes.next_multiple_of(64);
            let all = self
                .private_bytes
                .saturating_mul(self.simd)
                .min(MAX_SCRATCH);
            self.b.set_scratch_bytes(all);
        }
    }

    /// The address of a private variable in each work-item's part.
    pub(super) fn private_pointer(&mut self, id: Id) -> Result<Value, Error> {
        let at = self.private.get(&id).copied();
        let at =
            at.ok_or_else(|| Error::malformed("a private variable that is no pointer to a type"))?;
        let own = (0..i64::from(self.simd))
            .map(|l| i64::from(at) + l * i64::from(self.private_bytes))
            .collect::<Vec<_>>();
        Ok(self.b.ins().ints(Scalar::I32, &own))
    }
}

/// Writes a constant into memory.
pub(super) fn write(m: &Module<'_>, id: Id, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
    let mut todo = vec![(id, at)];
    while let Some((id, at)) = todo.pop() {
        let Some(c) = m.constant(id) else {
            return Err(Error::unsupported("an initializer with an address"));
        };
        match &c.value {
            Constant::Bits(bits) => {
                let size = m.types.size(c.ty) as usize;
                let place = usize::try_from(at)
                    .ok()
                    .and_then(|at| bytes.get_mut(at..at + size));
                let place = place.ok_or_else(|| Error::malformed("an initializer too large"))?;
                place.copy_from_slice(bits.to_le_bytes().get(..size).unwrap_or(&[]));
            }
            Constant::Composite(parts) => {
                for (n, part) in parts.iter().enumerate() {
                    let offset = m.types.offset(c.ty, n as u64);
                    let (_, offset) =
                        offset.ok_or_else(|| Error::malformed("an initializer too large"))?;
                    todo.push((*part, at + offset));
                }
            }
            Constant::Null | Constant::Undef => {}
            Constant::Sampler(..) => return Err(Error::unsupported("a sampler in memory")),
        }
    }
    Ok(())
}
