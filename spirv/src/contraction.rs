//! Contraction: a product and a sum as one fused operation, rounded once.
//!
//! OpenCL C and Vulkan allow it unless the entry point (`ContractionOff`) or an operation
//! (`NoContraction`) forbids it. A product is fused into a sum in its block that is its only use.
//! Library functions depend on every rounding and are not contracted.
//!
//! Needs a body. The work is linear.

use crate::body::{BInst, Body};
use crate::module::Module;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use gantry_codegen::entity_set::sized;
use spirv::{Capability, Decoration, FPFastMathMode as Mode, Op};

/// Sum or difference with a fused product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fused {
    /// Factors of the product.
    pub factors: [Id; 2],
    /// Index of the operand of the sum that is the product.
    pub product: usize,
}

/// Fused sums by id.
pub(crate) type Sums = SecondaryMap<Id, Option<Fused>>;

/// Finds the sums of a body that are contracted.
pub(crate) fn sums(m: &Module<'_>, body: &Body) -> Sums {
    let mut out = Sums::new();
    let is_product = |i: &BInst| matches!(i.op, Op::FMul | Op::VectorTimesScalar | Op::Dot);
    if !body.blocks.values().flat_map(|b| &b.insts).any(is_product) {
        return out;
    }
    let mut uses: SecondaryMap<Id, u32> = sized(body.bound());
    body.for_each_read(|id| uses[id] += 1);
    // With SPV_KHR_float_controls2, the flags of an operation are complete.
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
                // All products but the first are fused into its sum.
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
        // Sums of other blocks may be in other loops.
        for id in here {
            products[id] = None;
        }
    }
    out
}
