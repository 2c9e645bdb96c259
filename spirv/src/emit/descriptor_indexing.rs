//! Dynamically indexed arrays of images and samplers.
//!
//! An instruction on such a resource is emitted for each possible element, for the channels with
//! that index. All elements are kernel arguments. An index out of bounds reads zeros and writes
//! nothing.

use super::{Emit, Leaves};
use crate::body::{BInst, Block};
use crate::error::Error;
use crate::read::Id;
use gantry_codegen::ir::{IntCC, Scalar, Value};
use smallvec::SmallVec;
use spirv::Op;
use std::collections::BTreeMap;

/// Dynamically indexed element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedResource {
    /// Variable.
    array: Id,
    /// Index, uniform or divergent.
    index: Value,
    /// Block of the access chain.
    block: Block,
}

/// Dynamically indexed resources by the id of a pointer, image or sampler.
#[derive(Debug, Default)]
pub(super) struct IndexedResources {
    chosen: BTreeMap<Id, IndexedResource>,
    /// Resources whose element is known in the current code.
    decided: Vec<Id>,
}

impl IndexedResources {
    /// Gives an id the resource of another.
    pub(super) fn same(&mut self, to: Id, from: Id) {
        if let Some(choice) = self.chosen.get(&from).copied() {
            self.chosen.insert(to, choice);
        }
    }
}

impl Emit<'_, '_, '_> {
    /// Records a pointer to a dynamically indexed element.
    pub(super) fn choose_resource(&mut self, to: Id, array: Id, index: Id) -> Result<(), Error> {
        let index = self.one(index)?;
        let index = self.resize(index, Scalar::I32, false);
        let block = self.block;
        let choice = IndexedResource {
            array,
            index,
            block,
        };
        self.images.choices.chosen.insert(to, choice);
        Ok(())
    }

    /// Loads a dynamically indexed resource.
    pub(super) fn load_choice(&mut self, to: Id, pointer: Id) -> Result<Leaves, Error> {
        let choices = &mut self.images.choices.chosen;
        match choices.get(&pointer).copied() {
            Some(choice) => {
                choices.insert(to, choice);
                Ok(Leaves::new())
            }
            None => Err(Error::unsupported(
                "an image by an index that goes by another pointer",
            )),
        }
    }

    /// Image or sampler of an instruction whose element is not known.
    pub(super) fn chosen(&self, inst: &BInst, first: Id) -> Option<Id> {
        if matches!(inst.op, Op::SampledImage | Op::Image) {
            return None;
        }
        let both = self.images.sampled.get(&first).copied();
        let (image, sampler) = both.map_or((first, None), |(i, s)| (i, Some(s)));
        let choices = &self.images.choices;
        let mut all = [Some(image), sampler].into_iter().flatten();
        all.find(|id| choices.chosen.contains_key(id) && !choices.decided.contains(id))
    }

    /// Emits an instruction for each possible element of an image or a sampler.
    pub(super) fn for_each_choice(&mut self, inst: &BInst, id: Id) -> Result<Leaves, Error> {
        let choice = self.images.choices.chosen.get(&id).copied();
        let choice = choice.ok_or_else(|| Error::internal("no choice"))?;
        if self.g.exited_loop(choice.block, self.block).is_some() {
            let what = "an image by an index, behind the loop that it is loaded in";
            return Err(Error::unsupported(what));
        }
        let uniform = self.b.ty(choice.index).lanes() == 1;
        let lanes = if uniform && crate::op_info::is_image_query(inst.op) {
            1
        } else {
            self.simd
        };
        let mut vars: SmallVec<[_; 4]> = SmallVec::new();
        if let Some(ty) = inst.ty.expand() {
            for (of, _) in self.m.types.scalars(ty) {
                let scalar = self.scalar(of)?;
                let zero = self.number(scalar, 0);
                let zero = self.b.splat(zero, lanes);
                vars.push(self.b.var(zero));
            }
        }
        let count = self.elements_of(choice.array)?;
        let mut done = Ok(());
        self.images.choices.decided.push(id);
        for element in 0..count {
            let this = self.same(choice.index, element.into());
            let is = self.b.ins().icmp(IntCC::Equal, choice.index, this);
            if uniform {
                self.b.uniform_if_begin(is)
            } else {
                self.b.simd_if_begin(is)
            }
            let emitted = self
                .same_resource(id, choice.array, element)
                .and_then(|()| self.image(inst))
                .and_then(|leaves| self.fits(inst, leaves));
            match emitted {
                Ok(leaves) => {
                    for (var, leaf) in vars.iter().zip(leaves) {
                        let leaf = self.b.splat(leaf, lanes);
                        self.b.def_var(*var, leaf);
                    }
                }
                Err(e) => done = done.and(Err(e)),
            }
            if uniform {
                self.b.uniform_if_end()
            } else {
                self.b.simd_if_end()
            }
        }
        self.images.choices.decided.pop();
        done?;
        Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect())
    }
}
