//! Contraction: a product and the sum that it is a part of, rounded once.
//!
//! OpenCL C and Vulkan allow that where neither the entry point (`ContractionOff`) nor an operation of the two (`NoContraction`) says otherwise. A product
//! becomes part of a sum of its own block that is the only one to read it. The functions of the library are emitted as they stand: what they compute depends on every rounding.
//!
//! Needs a body. Makes: for sums, what they are the sum of. The work is linear.

use crate::body::{BInst, Body};
use crate::module::Module;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::maps::sized;
use spirv::{Capability, Decoration, FPFastMathMode as Mode, Op};

/// A sum or difference of a product and something else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fused {
    /// The factors.
    pub factors: [Id; 2],
    /// Which operand of the sum the product is.
    pub product: usize,
}

/// By the ids of sums.
pub(crate) type Sums = SecondaryMap<Id, Option<Fused>>;

/// The sums of a body that are rounded once.
pub(crate) fn sums(m: &Module<'_>, body: &Body) -> Sums {
    let mut out = Sums::new();
    let is_product = |i: &BInst| matches!(i.op, Op::FMul | Op::VectorTimesScalar | Op::Dot);
    if !body.blocks.values().flat_map(|b| &b.insts).any(is_product) {
        return out;
    }
    let mut uses: SecondaryMap<Id, u32> = sized(body.bound());
    body.for_each_read(|id| uses[id] += 1);
    // The flags of operations say it all where they are those of SPV_KHR_float_controls2.
    let by_flags = |words: &[u32]| {
        let flags = Mode::from_bits_truncate(words.first().copied().unwrap_or(0));
        m.has_capability(Capability::FloatControls2)
            && !flags.intersects(Mode::ALLOW_CONTRACT | Mode::FAST)
    };
    let alone = |id: Id| {
        let mut all = m.decorations(body.origin(id));
        all.any(|(member, d, words)| {
            member.is_none()
                && (d == Decoration::NoContraction
                    || d == Decoration::FPFastMathMode && by_flags(words))
        })
    };
    let mut products: SecondaryMap<Id, Option<[Id; 2]>> = sized(body.bound());
    for data in body.blocks.values() {
        let mut here = Vec::new();
        for inst in &data.insts {
            let (Some(id), &[x, y]) = (inst.id.expand(), body.operands(inst)) else {
                continue;
            };
            let operands = [x, y].map(Id::of);
            match inst.op {
                Op::FMul | Op::VectorTimesScalar if uses[id] == 1 && !alone(id) => {
                    products[id] = Some(operands);
                    here.push(id);
                }
                // A sum of products of its own, each of which but the first becomes part of it.
                Op::Dot if !alone(id) => {
                    let (factors, product) = (operands, 1);
                    out[id] = Some(Fused { factors, product });
                }
                Op::FAdd | Op::FSub if !alone(id) => {
                    let fused = |product: usize| {
                        let factors = products[operands[product]]?;
                        Some(Fused { factors, product })
                    };
                    if let Some(fused) = fused(1).or_else(|| fused(0)) {
                        out[id] = Some(fused);
                    }
                }
                _ => {}
            }
        }
        // Those of other blocks may be in loops that this one is not in.
        for id in here {
            products[id] = None;
        }
    }
    out
}
