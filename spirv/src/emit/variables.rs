//! Program-scope variables and constants: addresses, leaves, and contents of data.

use super::logical_pointers::Buffer;
use super::{Emit, Leaves, too_large};
use crate::error::Error;
use crate::logical_pointers::BUFFER_ALIGN;
use crate::module::constants::Constant;
use crate::module::types::{MAX_LEAVES, Ty, Type};
use crate::module::{Def, Module, addresses};
use crate::read::Id;
use gantry_codegen::ir::{self, Scalar, Value};
use smallvec::{SmallVec, smallvec};
use spirv::{Decoration, LinkageType, StorageClass};

/// Maximum bytes of a program-scope variable.
const MAX_BYTES: usize = 64 << 20;
/// Maximum bytes of all of them. With padding it is less than the verifier's limit.
const MAX_OF_ALL: usize = 255 << 20;

impl Emit<'_, '_, '_> {
    /// Pointer to a variable of the module.
    pub(super) fn global(&mut self, id: Id) -> Result<Value, Error> {
        let Def::Global(g) = self.m.def(id) else {
            return Err(Error::internal("no variable"));
        };
        let data = self.m.globals.get(g);
        let data = data.ok_or_else(|| Error::internal("no variable"))?;
        match data.class {
            StorageClass::Workgroup => match self.frame.slm.get(&id).copied() {
                Some(at) => Ok(self.number(Scalar::I32, u64::from(at))),
                // Used where no pointer is allowed, for example as a condition.
                None => Err(Error::malformed("a local variable that is no operand here")),
            },
            StorageClass::UniformConstant | StorageClass::CrossWorkgroup => {
                let symbol = self.data(id)?;
                Ok(self.b.ins().symbol_addr(symbol))
            }
            // It has no address. Loads look up the built-in.
            StorageClass::Input => Ok(self.number(Scalar::I64, 0)),
            // Offset 0.
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant => {
                Ok(self.number(Scalar::I32, 0))
            }
            other => Err(Error::unsupported(format!(
                "a variable of the program in {other:?} memory"
            ))),
        }
    }

    /// Leaves of a constant.
    pub(super) fn constant(&mut self, id: Id) -> Result<Leaves, Error> {
        let mut out = Leaves::new();
        let whole = id;
        let mut todo: SmallVec<[Id; 8]> = smallvec![id];
        while let Some(id) = todo.pop() {
            let Some(c) = self.m.constant(id) else {
                match self.m.def(id) {
                    Def::Global(_) => out.push(self.global(id)?),
                    _ => return Err(Error::malformed(format!("{id} is no constant"))),
                }
                continue;
            };
            if out.len() as u32 > MAX_LEAVES {
                let whole = self
                    .m
                    .constant(whole)
                    .map_or(0, |c| self.m.types.leaves(c.ty));
                return Err(too_large(whole));
            }
            match &c.value {
                Constant::Bits(bits) => {
                    let scalar = self.scalar(c.ty)?;
                    out.push(self.number(scalar, *bits));
                }
                Constant::Composite(parts) => todo.extend(parts.iter().rev().copied()),
                Constant::Scalars(all) => {
                    for ((ty, _), bits) in self.m.types.scalars(c.ty).iter().zip(all) {
                        let scalar = self.scalar(*ty)?;
                        out.push(self.number(scalar, *bits));
                    }
                }
                Constant::Null | Constant::Undef => {
                    if self.m.types.leaves(c.ty) > MAX_LEAVES {
                        return Err(too_large(self.m.types.leaves(c.ty)));
                    }
                    for (ty, _) in self.m.types.scalars(c.ty) {
                        let scalar = self.scalar(ty)?;
                        out.push(self.number(scalar, 0));
                    }
                }
                Constant::Address(base, at) => {
                    let base = self.global(*base)?;
                    out.push(self.plus(base, *at));
                }
                Constant::Sampler(..) => return Err(Error::unsupported("a constant sampler")),
            }
        }
        Ok(out)
    }

    /// Adds the constants of the body that are in memory to the module's data.
    pub(super) fn begin_constant_data(&mut self) {
        for (id, (ty, constant)) in &self.body.constant_data {
            match self.table(*ty, *constant) {
                Ok(buffer) => {
                    self.buffers.insert((*id, 0), buffer);
                }
                Err(e) => self.error(e, 0, 0, Some(*constant)),
            }
        }
    }

    fn table(&mut self, ty: Ty, constant: Id) -> Result<Buffer, Error> {
        let name = format!("table.{}", constant.as_u32());
        let size = self.m.types.size(ty);
        let symbol = match self.module.find_data(&name) {
            Some(there) => there,
            None => {
                let mut bytes = self.zeros(size)?;
                write(self.m, constant, &mut bytes)?;
                let data = ir::Data {
                    align: BUFFER_ALIGN,
                    bytes,
                    ..ir::Data::new(name, Scalar::I8, &[])
                };
                self.module.data.push(data)
            }
        };
        Ok(Buffer {
            base: self.b.ins().symbol_addr(symbol),
            size: Some(self.number(Scalar::I32, size)),
            length: None,
        })
    }

    /// Zeroed bytes, if the limits allow them.
    fn zeros(&self, size: u64) -> Result<Vec<u8>, Error> {
        let size = usize::try_from(size).ok().filter(|s| *s <= MAX_BYTES);
        let size = size.ok_or_else(|| Error::limit("a variable of more than 64 MiB"))?;
        let others = self.module.data.values().map(|d| d.bytes.len());
        if others.sum::<usize>() + size > MAX_OF_ALL {
            Err(Error::limit(
                "variables of the program of more than 255 MiB",
            ))
        } else {
            Ok(vec![0; size])
        }
    }

    /// Data of a program-scope variable, and of those whose addresses it holds.
    fn data(&mut self, id: Id) -> Result<ir::DataRef, Error> {
        if let Some(d) = self.data.get(&id) {
            return Ok(*d);
        }
        let mut todo = Vec::new();
        let symbol = self.declare_data(id, &mut todo)?;
        while let Some((holder, at)) = todo.pop() {
            let data = self.declare_data(at.base, &mut todo)?;
            let limit = || Error::limit("constant data of more than 64 MiB");
            let reloc = ir::DataReloc {
                offset: u32::try_from(at.offset).map_err(|_| limit())?,
                data,
                addend: at.addend as i64,
            };
            if let Some(holder) = self.module.data.get_mut(holder) {
                let after = holder.relocs.partition_point(|r| r.offset < reloc.offset);
                holder.relocs.insert(after, reloc);
            }
        }
        Ok(symbol)
    }

    /// Data of a program-scope variable. Addresses in it are appended to `todo`.
    fn declare_data(
        &mut self,
        id: Id,
        todo: &mut Vec<(ir::DataRef, Address)>,
    ) -> Result<ir::DataRef, Error> {
        if let Some(d) = self.data.get(&id) {
            return Ok(*d);
        }
        let Def::Global(g) = self.m.def(id) else {
            return Err(Error::internal("no variable"));
        };
        let g = self.m.globals.get(g);
        let g = g.ok_or_else(|| Error::internal("no variable"))?;
        let name = self.m.name(id).unwrap_or_default();
        let name = name.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '_' || c == '.' => c,
            _ => '_',
        });
        let name = format!("{}.{}", name.collect::<String>(), id.as_u32());
        if let Some(there) = self.module.find_data(&name) {
            self.data.insert(id, there);
            return Ok(there);
        }
        if g.init.is_none() && self.is_imported(id) {
            let name = self.m.name(id).unwrap_or_default();
            let what = format!("the variable {name:?}, which the module only declares");
            return Err(Error::unsupported(what));
        }
        let mut bytes = self.zeros(self.m.types.size(g.ty))?;
        let addresses = match g.init {
            Some(init) => write(self.m, init, &mut bytes)?,
            None => Vec::new(),
        };
        let asked = self.m.decorations(id).find_map(|(_, d, words)| {
            let align = words.first().filter(|a| a.is_power_of_two());
            align.filter(|_| d == Decoration::Alignment).copied()
        });
        let align = self.m.types.align(g.ty).max(asked.unwrap_or(1).into());
        let data = ir::Data {
            align: align.clamp(1, 4096) as u32,
            bytes,
            written: g.class == StorageClass::CrossWorkgroup,
            ..ir::Data::new(name, Scalar::I8, &[])
        };
        let symbol = self.module.data.push(data);
        todo.extend(addresses.into_iter().map(|a| (symbol, a)));
        self.data.insert(id, symbol);
        Ok(symbol)
    }

    /// Returns true if a variable is imported from another module.
    fn is_imported(&self, id: Id) -> bool {
        let mut all = self.m.decorations(id);
        all.any(|(_, d, words)| {
            d == Decoration::LinkageAttributes
                && words.last() == Some(&(LinkageType::Import as u32))
        })
    }

    /// String constant that a pointer points to, as data.
    ///
    /// # Errors
    /// A pointer to anything else.
    pub fn string(&mut self, pointer: Id) -> Result<ir::DataRef, Error> {
        let no = || Error::unsupported("a string that is no constant of the program");
        let id = self.roots.get(&pointer).copied().unwrap_or(pointer);
        let id = match addresses::of(self.m, id) {
            Some((base, 0)) => base,
            _ => id,
        };
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
        write(self.m, init, &mut bytes)?;
        let text: Vec<u8> = bytes.into_iter().take_while(|b| *b != 0).collect();
        let name = format!("text.{}", id.as_u32());
        Ok(match self.module.find_data(&name) {
            Some(there) => there,
            None => self.module.data.push(ir::Data::string(name, text)),
        })
    }
}

/// Address in a constant.
pub(super) struct Address {
    /// Byte offset in the constant.
    offset: u64,
    /// Program-scope variable.
    base: Id,
    /// Byte offset in the variable.
    addend: u64,
}

/// Writes a constant to memory. Returns the addresses in it, which are left zero.
pub(super) fn write(m: &Module<'_>, id: Id, bytes: &mut [u8]) -> Result<Vec<Address>, Error> {
    let mut addresses = Vec::new();
    let mut todo = vec![(id, 0)];
    while let Some((id, at)) = todo.pop() {
        if let Some((base, addend)) = addresses::of(m, id) {
            place(bytes, at, 8)?;
            addresses.push(Address {
                offset: at,
                base,
                addend,
            });
            continue;
        }
        let Some(c) = m.constant(id) else {
            return Err(Error::unsupported("an initializer that is no constant"));
        };
        match &c.value {
            Constant::Bits(bits) => {
                let place = place(bytes, at, m.types.size(c.ty))?;
                let size = place.len();
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
            Constant::Scalars(all) => {
                for ((ty, offset), bits) in m.types.scalars(c.ty).iter().zip(all) {
                    let place = place(bytes, at + offset, m.types.size(*ty))?;
                    let size = place.len();
                    place.copy_from_slice(bits.to_le_bytes().get(..size).unwrap_or(&[]));
                }
            }
            Constant::Null | Constant::Undef | Constant::Address(..) => {}
            Constant::Sampler(..) => return Err(Error::unsupported("a sampler in memory")),
        }
    }
    Ok(addresses)
}

/// Slice of `size` bytes at an offset.
fn place(bytes: &mut [u8], at: u64, size: u64) -> Result<&mut [u8], Error> {
    let range = usize::try_from(at).ok().zip(usize::try_from(size).ok());
    let range = range.and_then(|(at, size)| Some(at..at.checked_add(size)?));
    let place = range.and_then(|r| bytes.get_mut(r));
    place.ok_or_else(|| Error::malformed("an initializer too large"))
}
