//! Builder of a subroutine: parameters of the access, vectors of its lanes, uniform choices.

use super::{Access, AccessKind};
use crate::ir::builder::{BuildError, FunctionBuilder};
use crate::ir::{Block, Function, ImageFact, ImageShape, IntCC, Scalar, Type, Value};

/// Numbers that choose a way, and what builds its values.
pub(super) type Way<'w, 'f> = (&'w [i64], &'w mut Build<'w, 'f>);

/// Builder of the values of a way.
pub(super) type Build<'w, 'f> = dyn FnMut(&mut Body<'f>) -> Vec<Value> + 'w;

/// Subroutine that is being built.
pub(super) struct Body<'f> {
    pub b: FunctionBuilder<'f>,
    pub access: Access,
    pub shape: ImageShape,
    /// Coordinates of the access.
    pub coords: Vec<Value>,
    pub lod: Option<Value>,
    /// Stored texels, the reference, or operands of an atomic.
    pub data: Vec<Value>,
    /// Lanes that take part.
    pub mask: Value,
}

impl<'f> Body<'f> {
    pub fn new(func: &'f mut Function, access: Access, shape: ImageShape) -> Body<'f> {
        use AccessKind::{Atomic, Load, Sample, Store};
        let lanes = access.lanes;
        let int = Type::clamped(Scalar::I32, lanes);
        let float = Type::clamped(Scalar::F32, lanes);
        let coordinate = match access.kind {
            Sample => float,
            _ => int,
        };
        let mut b = FunctionBuilder::new(func);
        let coords = (0..shape.coordinates()).map(|_| b.param(coordinate));
        let coords = coords.collect();
        let lod = access.lod.then(|| b.param(coordinate));
        let mut data = Vec::new();
        match access.kind {
            Load => {}
            Sample if access.reference => data.push(b.param(float)),
            Sample => {}
            Store => {
                let one = if access.float { float } else { int };
                data.push(b.param(one.by(4 * lanes)));
            }
            Atomic(op) => {
                let op = crate::ir::AtomicOp::ALL.get(usize::from(op));
                let count = op.map_or(0, |op| op.operands());
                data.extend((0..count).map(|_| b.param(int)));
            }
        }
        let mask = b.param(Type::clamped(Scalar::B1, lanes));
        Body {
            b,
            access,
            shape,
            coords,
            lod,
            data,
            mask,
        }
    }

    /// Starts a subroutine that has no lanes of its own, and no parameters yet.
    pub fn uniform(func: &'f mut Function, image: u8) -> Body<'f> {
        let access = Access {
            kind: AccessKind::Load,
            image,
            sampler: 0,
            float: false,
            lanes: 1,
            lod: false,
            reference: false,
        };
        let mut b = FunctionBuilder::new(func);
        let mask = b.ins().bconst(1, 1);
        Body {
            b,
            access,
            shape: ImageShape::Block,
            coords: Vec::new(),
            lod: None,
            data: Vec::new(),
            mask,
        }
    }

    pub fn finish(mut self) -> Result<(), BuildError> {
        self.b.seal_all_blocks();
        self.b.finish()
    }

    /// Returns a type with a lane for each of the access.
    pub fn lanes(&self, scalar: Scalar) -> Type {
        Type::clamped(scalar, self.access.lanes)
    }

    /// Returns an integer in every lane.
    pub fn int(&mut self, value: i64) -> Value {
        let ty = self.lanes(Scalar::I32);
        self.b.ins().iconst(ty, value)
    }

    /// Returns a single in every lane.
    pub fn float(&mut self, value: f64) -> Value {
        let ty = self.lanes(Scalar::F32);
        self.b.ins().fconst(ty, value)
    }

    /// Returns a uniform integer.
    pub fn one(&mut self, value: i64) -> Value {
        let ty = Type::scalar_of(Scalar::I32);
        self.b.ins().iconst(ty, value)
    }

    /// Copies a uniform value to every lane.
    pub fn all(&mut self, v: Value) -> Value {
        self.b.splat(v, self.access.lanes)
    }

    /// Queries a property of the image.
    pub fn fact(&mut self, fact: ImageFact) -> Value {
        self.b.ins().image_query(fact, self.access.image)
    }

    /// Reads the bits as another type of as many bytes.
    pub fn cast(&mut self, scalar: Scalar, v: Value) -> Value {
        let ty = Type::clamped(scalar, self.b.ty(v).lanes());
        self.b.ins().bitcast(ty, v)
    }

    /// Converts integers to singles.
    pub fn single_of(&mut self, v: Value) -> Value {
        let ty = Type::clamped(Scalar::F32, self.b.ty(v).lanes());
        self.b.ins().fcvt_from_sint(ty, v)
    }

    /// Converts whole singles to integers.
    pub fn int_of(&mut self, v: Value) -> Value {
        let ty = Type::clamped(Scalar::I32, self.b.ty(v).lanes());
        self.b.ins().fcvt_to_sint(ty, v)
    }

    pub fn icmp(&mut self, cond: IntCC, a: Value, b: Value) -> Value {
        self.b.ins().icmp(cond, a, b)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().band(a, b)
    }

    /// Returns the bits of `a` where those of a uniform mask, all or none, are set, else of `b`.
    /// All three are integers of equally many lanes.
    pub fn blend(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let differ = self.b.ins().bxor(a, b);
        let taken = self.and(differ, mask);
        self.b.ins().bxor(b, taken)
    }

    /// As [`Self::blend`], of singles.
    pub fn blend_floats(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|v| self.cast(Scalar::I32, v));
        let v = self.blend(mask, a, b);
        self.cast(Scalar::F32, v)
    }

    /// Clamps integers to bounds.
    pub fn clamp(&mut self, v: Value, low: Value, high: Value) -> Value {
        let v = self.b.ins().smax(v, low);
        self.b.ins().smin(v, high)
    }

    /// Chooses among ways by a uniform integer, the first if none has its number. All of them give
    /// values of the same types, which are returned.
    pub fn choose(
        &mut self,
        by: Value,
        otherwise: &mut dyn FnMut(&mut Self) -> Vec<Value>,
        ways: &mut [Way<'_, 'f>],
    ) -> Vec<Value> {
        let first = self.b.create_block();
        let mut cases: Vec<(i64, Block, &[Value])> = Vec::new();
        let mut blocks = Vec::new();
        for (numbers, _) in ways.iter() {
            let block = self.b.create_block();
            blocks.push(block);
            cases.extend(numbers.iter().map(|n| (*n, block, &[] as &[Value])));
        }
        self.b.ins().switch(by, first, &[], &cases);
        let join = self.b.create_block();
        self.b.seal_block(first);
        self.b.switch_to_block(first);
        let values = otherwise(self);
        let results: Vec<Value> = values
            .iter()
            .map(|&v| {
                let ty = self.b.ty(v);
                self.b.append_block_param(join, ty)
            })
            .collect();
        self.b.ins().jump(join, &values);
        for (block, (_, way)) in blocks.into_iter().zip(ways) {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let values = way(self);
            self.b.ins().jump(join, &values);
        }
        self.b.seal_block(join);
        self.b.switch_to_block(join);
        results
    }

    /// Chooses between two ways by a uniform condition.
    pub fn choose_if(
        &mut self,
        condition: Value,
        then: &mut dyn FnMut(&mut Self) -> Vec<Value>,
        otherwise: &[Value],
    ) -> Vec<Value> {
        let (block, join) = (self.b.create_block(), self.b.create_block());
        let results: Vec<Value> = otherwise
            .iter()
            .map(|&v| {
                let ty = self.b.ty(v);
                self.b.append_block_param(join, ty)
            })
            .collect();
        self.b.ins().brif(condition, block, &[], join, otherwise);
        self.b.seal_block(block);
        self.b.switch_to_block(block);
        let values = then(self);
        self.b.ins().jump(join, &values);
        self.b.seal_block(join);
        self.b.switch_to_block(join);
        results
    }

    /// Joins four components to texels.
    pub fn join(&mut self, parts: &[Value]) -> Value {
        let lanes = self.access.lanes;
        let Some(&first) = parts.first() else {
            return self.mask;
        };
        let ty = self.b.ty(first);
        let mut out = self.b.ins().undef(ty.by(parts.len() as u32 * lanes));
        for (n, part) in (0..).zip(parts) {
            let at = n * lanes * ty.scalar().bytes();
            let region = crate::ir::Region::contiguous(lanes as u16, at as u16);
            out = self.b.ins().wrregion(out, region, *part);
        }
        out
    }

    /// Splits texels into components of all lanes.
    pub fn split(&mut self, v: Value, parts: u32) -> Vec<Value> {
        let lanes = self.access.lanes;
        let part = |n| self.b.slice(v, n * lanes, lanes);
        (0..parts).map(part).collect()
    }
}
