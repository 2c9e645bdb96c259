//! Resources of shaders as arguments: buffers, images, samplers and push constants.
//!
//! Arguments are those that the kernel uses, in order of set, binding and element. A buffer is a
//! pointer, followed by its size in bytes if it ends in a runtime array. Images and samplers are as
//! in kernels. Push constants are the last argument, by value.

use super::logical_pointers::{Buffer, is_buffer};
use super::{Emit, Leaves};
use crate::error::Error;
use crate::logical_pointers::{self, Root, is_array_of_descriptors};
use crate::module::Def;
use crate::module::types::{Ty, Type};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::ir::{self, BindingPlace, IntCC, ParamRole, Resource, Scalar};
use spirv::{Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum bytes of push constants.
const MAX_PUSHED: u64 = 2048;

/// Maximum number of positions that a dynamically indexed push constant is selected among.
const MAX_CHOICES: u64 = 4096;

/// Maximum length of an array of descriptors with a dynamic index.
const MAX_CHOSEN: u64 = 32;

/// Variable that the host binds.
struct HostVariable {
    id: Id,
    ty: Ty,
    class: StorageClass,
    at: u32,
}

/// Name of an argument that accompanies a variable.
fn behind(name: &str, what: &str) -> String {
    match name {
        "" => String::new(),
        name => format!("{name}.{what}"),
    }
}

impl Emit<'_, '_, '_> {
    pub(super) fn descriptors(&mut self) {
        let mut used = SecondaryMap::new();
        crate::frame_layout::used(self.body, self.g, &mut used);
        self.sized = self.robust && self.goes_by_pointers();
        let mut elements: BTreeSet<(Id, u32)> = BTreeSet::new();
        let mut among: BTreeSet<Id> = BTreeSet::new();
        for place in self.places.values().flatten() {
            match place.root {
                Root::One(id, n) => {
                    elements.insert((id, n));
                }
                Root::Among(id) => {
                    among.insert(id);
                }
                Root::Several | Root::Any | Root::Address => {}
            }
        }
        for id in among {
            match self.elements_of(id) {
                Ok(count) => elements.extend((0..count).map(|n| (id, n))),
                Err(e) => self.error(e, 0, 0, Some(id)),
            }
        }
        let mut all: BTreeMap<(u32, u32, u32), Vec<HostVariable>> = BTreeMap::new();
        let mut pushed = Vec::new();
        for data in self.m.globals.values().filter(|d| used[d.id]) {
            let (id, class, at) = (data.id, data.class, data.at);
            let found = |ty| HostVariable { id, ty, class, at };
            match class {
                StorageClass::PushConstant => pushed.push(found(data.ty)),
                StorageClass::StorageBuffer
                | StorageClass::Uniform
                | StorageClass::UniformConstant => {
                    let words = |d: Decoration| {
                        let found = self.m.decorations(id).find(|x| x.1 == d);
                        found.and_then(|x| x.2.first().copied())
                    };
                    let (set, binding) =
                        (words(Decoration::DescriptorSet), words(Decoration::Binding));
                    let (Some(set), Some(binding)) = (set, binding) else {
                        let e = Error::malformed("a resource without its set and binding");
                        self.error(e, at, 0, Some(id));
                        continue;
                    };
                    if is_array_of_descriptors(self.m, id) {
                        let of = self.m.types.step(data.ty, 0, None).map(|s| s.0);
                        for (_, n) in elements.range((id, 0)..=(id, u32::MAX)) {
                            let element = found(of.unwrap_or(data.ty));
                            all.entry((set, binding, *n)).or_default().push(element);
                        }
                    } else {
                        let one = all.entry((set, binding, 0)).or_default();
                        one.push(found(data.ty));
                    }
                }
                _ => {}
            }
        }
        for ((set, binding, element), found) in all {
            let Some(first) = found.first() else { continue };
            let (at, id) = (first.at, first.id);
            let place = BindingPlace {
                set,
                binding,
                element,
            };
            if let Err(e) = self.resource(&found, place) {
                self.error(e, at, 0, Some(id));
            }
        }
        if pushed.len() > 1 {
            let e = Error::malformed("several variables of push constants");
            self.error(e, pushed.get(1).map_or(0, |p| p.at), 0, None);
        } else if let Some(one) = pushed.first()
            && let Err(e) = self.push_constants(one)
        {
            self.error(e, one.at, 0, Some(one.id));
        }
    }

    /// Length of a dynamically indexed array of descriptors.
    pub(super) fn elements_of(&self, id: Id) -> Result<u32, Error> {
        match logical_pointers::elements(self.m, id) {
            Some(n) if u64::from(n) <= MAX_CHOSEN => Ok(n),
            Some(n) => Err(Error::limit(format!(
                "an index of {n} resources: {MAX_CHOSEN} are the most"
            ))),
            None => Err(Error::unsupported(
                "an index of resources whose number neither the module nor an option tells",
            )),
        }
    }

    /// Adds the arguments of a resource.
    fn resource(&mut self, found: &[HostVariable], place: BindingPlace) -> Result<(), Error> {
        let buffers = found.iter().all(|f| is_buffer(f.class));
        if buffers {
            return self.buffer_argument(found, place);
        }
        let element = place.element;
        let [one] = found else {
            return Err(Error::unsupported("several resources at one binding"));
        };
        let mut kind = self.m.types.kind(one.ty).clone();
        // A combined image sampler takes two arguments: the image, then the sampler.
        let combined = matches!(kind, Type::SampledImage(_));
        if let Type::SampledImage(of) = kind {
            kind = self.m.types.kind(of).clone();
        }
        let name = self.m.name(one.id).unwrap_or_default();
        let resource = match kind {
            Type::Image(mut t) => {
                let (no_write, no_read) = (
                    self.m.has(one.id, Decoration::NonWritable),
                    self.m.has(one.id, Decoration::NonReadable),
                );
                use spirv::AccessQualifier as Access;
                if t.access == Access::ReadWrite {
                    t.access = match (no_read, no_write) {
                        (true, _) => Access::WriteOnly,
                        (_, true) => Access::ReadOnly,
                        _ => Access::ReadWrite,
                    };
                }
                self.image_argument(one.id, element, &t)?;
                Resource::Image
            }
            Type::Sampler => {
                self.sampler_argument(one.id, element)?;
                Resource::Sampler
            }
            _ => {
                let what = self.describe(one.ty);
                return Err(Error::unsupported(format!("a resource that is {what}")));
            }
        };
        let role = ParamRole::Resource(place, resource);
        self.b.describe_param(name.clone(), role);
        if combined {
            self.sampler_argument(one.id, element)?;
            let role = ParamRole::Resource(place, Resource::Sampler);
            self.b.describe_param(behind(&name, "sampler"), role);
        }
        Ok(())
    }

    fn buffer_argument(
        &mut self,
        found: &[HostVariable],
        place: BindingPlace,
    ) -> Result<(), Error> {
        let name = found.first().and_then(|f| self.m.name(f.id));
        let name = name.unwrap_or_default();
        let mut least = 0;
        let mut tails = Vec::new();
        let (mut read_only, mut uniform) = (true, true);
        for f in found {
            let Type::Struct(members) = self.m.types.kind(f.ty) else {
                let what = self.describe(f.ty);
                return Err(Error::unsupported(format!("a buffer of {what}")));
            };
            let count = members.len() as u32;
            let tail = members
                .last()
                .and_then(|(ty, at)| match self.m.types.kind(*ty) {
                    Type::RuntimeArray(of) => Some((*at, self.m.types.stride(*ty), *of)),
                    _ => None,
                });
            let behind = tail.map_or(0, |(at, _, of)| at.saturating_add(self.m.types.extent(of)));
            least = self.m.types.extent(f.ty).max(behind).max(least);
            tails.push(tail);
            let block = self.m.type_id(f.ty);
            let is = |d: Decoration| block.is_some_and(|b| self.m.has(b, d));
            uniform &= f.class == StorageClass::Uniform && !is(Decoration::BufferBlock);
            let frozen = self.m.has(f.id, Decoration::NonWritable)
                || block.is_some_and(|b| {
                    count > 0 && self.m.members_with(b, Decoration::NonWritable) >= count
                });
            read_only &= uniform || frozen;
        }
        if least > 1 << 31 {
            return Err(Error::limit("a buffer of more than 2 GiB"));
        }
        let least = least as u32;
        let resource = if uniform {
            Resource::UniformBuffer { least }
        } else {
            Resource::StorageBuffer { least, read_only }
        };
        let number = self.b.params().len() as u32;
        let base = self.b.ptr_param();
        let role = ParamRole::Resource(place, resource);
        self.b.describe_param(name.clone(), role);
        // SPIR-V, 2.18.2: declared variables do not alias in these memory models, unless decorated.
        let aliased = |f: &HostVariable| {
            let mut said = self.m.decorations(f.id).map(|d| d.1);
            said.any(|d| matches!(d, Decoration::Aliased | Decoration::AliasedPointer))
        };
        if !found.iter().any(aliased) {
            self.b.promise_noalias(base);
        }
        let sized = tails.iter().any(Option::is_some) || self.sized;
        let size = sized.then(|| {
            let size = self.b.param(ir::Type::scalar_of(Scalar::I32));
            let role = ParamRole::SizeOf(number);
            self.b.describe_param(behind(&name, "size"), role);
            size
        });
        for (f, tail) in found.iter().zip(tails) {
            let length = match (tail, size) {
                (Some((at, stride, _)), Some(size)) => {
                    let stride = stride.max(1);
                    let mut rest = size;
                    if at != 0 {
                        let first = self.same(size, at);
                        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, size, first);
                        let zero = self.same(size, 0);
                        rest = self.b.ins().isub(size, first);
                        rest = self.b.ins().select(more, rest, zero);
                    }
                    Some(if stride.is_power_of_two() {
                        let by = self.same(rest, u64::from(stride.trailing_zeros()));
                        self.b.ins().ushr(rest, by)
                    } else {
                        let by = self.same(rest, stride);
                        self.b.ins().udiv(rest, by)
                    })
                }
                _ => None,
            };
            self.buffers
                .insert((f.id, place.element), Buffer { base, size, length });
        }
        Ok(())
    }

    /// Returns true if the body has `PtrAccessChain`, whose pointers may be into buffers.
    fn goes_by_pointers(&self) -> bool {
        let mut all = self
            .g
            .order
            .iter()
            .flat_map(|b| &self.body.blocks[*b].insts);
        all.any(|i| matches!(i.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain))
    }

    fn push_constants(&mut self, found: &HostVariable) -> Result<(), Error> {
        let size = self.m.types.extent(found.ty).next_multiple_of(4);
        if size > MAX_PUSHED {
            return Err(Error::limit(format!(
                "more than {MAX_PUSHED} bytes of push constants"
            )));
        }
        let words = ir::Type::new(Scalar::I32, (size / 4) as u32);
        let words = words.ok_or_else(|| Error::malformed("push constants without any"))?;
        self.pushed = Some(self.b.param(words));
        let name = self.m.name(found.id).unwrap_or_default();
        self.b.describe_param(name, ParamRole::PushConstants);
        Ok(())
    }

    /// Loads push constants. At a constant offset it is a part of the argument. At a dynamic offset
    /// it is selected among all positions.
    pub(super) fn load_pushed(&mut self, pointer: Id, ty: Ty) -> Result<Leaves, Error> {
        let none = || Error::unsupported("a pointer to one of several push constants");
        let place = self.place(pointer).ok_or_else(none)?;
        let all = self.pushed.ok_or_else(none)?;
        let bytes = u64::from(self.b.ty(all).bytes());
        let scalars = self.m.types.scalars_in(ty, place.matrix);
        let at = match place.known {
            Some(_) => None,
            None => Some(self.one(pointer)?),
        };
        let most = scalars.len() as u64 * bytes / u64::from(place.align.clamp(1, 4));
        if at.is_some() && most > MAX_CHOICES {
            return Err(Error::limit("push constants of this size by an index"));
        }
        let mut out = Leaves::new();
        for (of, behind) in scalars {
            let scalar = self.scalar(of)?;
            let size = u64::from(scalar.bytes());
            let fits = |k: u64| k.checked_add(size).is_some_and(|end| end <= bytes);
            let Some(at) = at else {
                let k = place.known.unwrap_or(0).wrapping_add(behind);
                out.push(if fits(k) {
                    self.part_of_pushed(all, scalar, k)?
                } else {
                    self.number(scalar, 0)
                });
                continue;
            };
            // Zero if out of bounds.
            let step = u64::from(place.align).min(size).max(1);
            let mut v = self.number(scalar, 0);
            let mut k = 0;
            while fits(k + behind) {
                let here = self.same(at, k);
                let here = self.b.ins().icmp(IntCC::Equal, at, here);
                let part = self.part_of_pushed(all, scalar, k + behind)?;
                v = self.choose(here, part, v)?;
                k += step;
            }
            out.push(v);
        }
        Ok(out)
    }

    fn part_of_pushed(
        &mut self,
        all: ir::Value,
        scalar: Scalar,
        at: u64,
    ) -> Result<ir::Value, Error> {
        let word = self.b.lane(all, (at / 4) as u32);
        Ok(match scalar.bytes() {
            4 if scalar == Scalar::I32 => word,
            4 => self.b.ins().bitcast(ir::Type::scalar_of(scalar), word),
            8 => {
                let two = self.b.slice(all, (at / 4) as u32, 2);
                self.b.ins().bitcast(ir::Type::scalar_of(scalar), two)
            }
            n => {
                let by = self.same(word, at % 4 * 8);
                let low = self.b.ins().ushr(word, by);
                let int = if n == 2 { Scalar::I16 } else { Scalar::I8 };
                let low = self.resize(low, int, false);
                if scalar == int {
                    low
                } else {
                    self.b.ins().bitcast(ir::Type::scalar_of(scalar), low)
                }
            }
        })
    }

    /// Gives a loaded image or sampler the resource of its variable.
    pub(super) fn load_resource(&mut self, to: Id, pointer: Id) -> Result<Leaves, Error> {
        let place = self.place(pointer);
        let (_, of) = self.pointer(pointer)?;
        if let Type::SampledImage(_) = self.m.types.kind(of) {
            self.images.sampled.insert(to, (to, to));
        }
        match place.map(|p| p.root) {
            Some(Root::One(id, n)) if matches!(self.m.def(id), Def::Global(_)) => {
                self.same_resource(to, id, n)?;
                Ok(Leaves::new())
            }
            Some(Root::Among(_)) => self.load_choice(to, pointer),
            _ => Err(Error::unsupported("one of several images")),
        }
    }
}
