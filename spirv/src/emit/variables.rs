//! Variables of the program: their places, and what constant data holds.

use super::Emit;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use gantry_codegen::ir::{self, Scalar, Value};
use spirv::StorageClass;

impl Emit<'_, '_, '_> {
    /// A variable of the module as a pointer.
    pub(super) fn global(&mut self, id: Id) -> Result<Value, Error> {
        let Def::Global(g) = self.m.def(id) else {
            return Err(Error::internal("no variable"));
        };
        let data = self.m.globals.get(g);
        let data = data.ok_or_else(|| Error::internal("no variable"))?;
        match data.class {
            StorageClass::Workgroup => match self.room.slm.get(&id).copied() {
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
