//! Random accesses to integer images, whose results are exact.

use super::IMAGE_SIDE;
use super::generate::Gen;
use crate::ir::{AtomicOp, ImageFact, ImagePlace, Opcode, SamplerFact, Scalar, Type, Value};

impl Gen<'_, '_, '_> {
    /// Returns a lane count of an access, up to that of a predicate.
    fn texel_lanes(&mut self) -> u32 {
        self.lanes().min(Type::FLAG_LANES)
    }

    /// Returns integer coordinates around the image.
    fn whole_coordinate(&mut self, lanes: u32) -> Value {
        let i32 = Type::clamped(Scalar::I32, lanes);
        let any = self.value(i32);
        let mask = self.b.ins().iconst(i32, i64::from(2 * IMAGE_SIDE - 1));
        let some = self.b.ins().band(any, mask);
        let shift = self.b.ins().iconst(i32, i64::from(IMAGE_SIDE / 2));
        if self.rng.one_in(2) {
            self.b.ins().isub(some, shift)
        } else {
            // Inside of the image.
            let one = self.b.ins().iconst(i32, 1);
            self.b.ins().ushr(some, one)
        }
    }

    /// Returns levels of detail for a sample, sometimes: none where a small difference matters.
    fn detail(&mut self, lanes: u32) -> Option<Value> {
        let f32 = Type::clamped(Scalar::F32, lanes);
        let given = [-3.0, 0.0, 0.25, 0.75, 1.0, 9.0];
        match self.rng.below(6) {
            0 => {
                let lod = self.rng.pick(&given).unwrap_or(0.0);
                Some(self.b.ins().fconst(f32, lod))
            }
            1 => {
                // Each lane has its own: 0, 1, 2 or 3.
                let i32 = Type::clamped(Scalar::I32, lanes);
                let any = self.value(i32);
                let mask = self.b.ins().iconst(i32, 3);
                let lod = self.b.ins().band(any, mask);
                Some(self.b.ins().fcvt_from_sint(f32, lod))
            }
            _ => None,
        }
    }

    /// Returns a mask and the value of disabled lanes, sometimes.
    fn texel_mask(&mut self, lanes: u32, ty: Type) -> Option<(Value, Value)> {
        if self.rng.one_in(2) {
            let mask = self.value(Type::clamped(Scalar::B1, lanes));
            Some((mask, self.value(ty)))
        } else {
            None
        }
    }

    pub(super) fn image(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let lanes = self.texel_lanes();
        let ty = Type::clamped(Scalar::I32, 4 * lanes);
        match opcode {
            Opcode::ImageLoad => {
                let at = [(); 2].map(|()| self.whole_coordinate(lanes));
                let masked = self.texel_mask(lanes, ty);
                let lod = if self.rng.one_in(3) {
                    // Levels that there are: 0 and 1.
                    let i32 = Type::clamped(Scalar::I32, lanes);
                    let any = self.value(i32);
                    let one = self.b.ins().iconst(i32, 1);
                    Some(self.b.ins().band(any, one))
                } else {
                    None
                };
                let v = self.b.ins().image_load_level(ty, 0, &at, lod, masked);
                self.pool.push(v);
            }
            Opcode::Sample if self.rng.one_in(2) && self.normalized_texels => {
                self.sample_cube(lanes);
            }
            Opcode::Sample => {
                let f32 = Type::clamped(Scalar::F32, lanes);
                let at = [(); 2].map(|()| self.whole_coordinate(lanes));
                let half = self.b.ins().fconst(f32, 0.5);
                let at = at.map(|v| {
                    let v = self.b.ins().fcvt_from_sint(f32, v);
                    self.b.ins().fadd(v, half)
                });
                let lod = self.detail(lanes);
                let masked = self.texel_mask(lanes, ty);
                let place = ImagePlace::default();
                let v = self.b.ins().sample(ty, place, &at, lod, masked);
                self.pool.push(v);
            }
            _ => {
                let first = self.texels_used;
                if first + lanes > IMAGE_SIDE * IMAGE_SIDE {
                    return;
                }
                self.texels_used += lanes;
                let along = |f: fn(u32) -> u32| -> Vec<i64> {
                    (first..first + lanes).map(|n| i64::from(f(n))).collect()
                };
                let x = along(|n| n % IMAGE_SIDE);
                let y = along(|n| n / IMAGE_SIDE);
                let at = [x, y].map(|c| self.b.ins().ints(Scalar::I32, &c));
                let v = self.value(ty);
                let mask = if self.rng.one_in(2) {
                    Some(self.value(Type::clamped(Scalar::B1, lanes)))
                } else {
                    None
                };
                let lod = if self.rng.one_in(3) {
                    Some(self.b.ins().iconst(Type::clamped(Scalar::I32, lanes), 0))
                } else {
                    None
                };
                self.b.ins().image_store_level(v, 1, &at, lod, mask);
            }
        }
    }

    /// Generates a sample of the fifth image, in a direction that meets no edge of a texel.
    fn sample_cube(&mut self, lanes: u32) {
        let f32 = Type::clamped(Scalar::F32, lanes);
        let half = self.b.ins().fconst(f32, 0.5);
        let mut at: Vec<Value> = Vec::new();
        for _ in 0..3 {
            let v = self.whole_coordinate(lanes);
            let v = self.b.ins().fcvt_from_sint(f32, v);
            at.push(self.b.ins().fadd(v, half));
        }
        let index = self.rng.pick(&[-1.0, 0.0, 0.25, 0.75, 1.0, 9.0]);
        at.push(self.b.ins().fconst(f32, index.unwrap_or(0.0)));
        let lod = self.detail(lanes);
        let ty = Type::clamped(Scalar::F32, 4 * lanes);
        let masked = self.texel_mask(lanes, ty);
        let place = ImagePlace {
            image: 4,
            sampler: 0,
        };
        let v = if self.rng.one_in(2) {
            let reference = self.value(f32);
            let more = (lod, reference);
            // Only the first component is specified.
            let v = self.b.ins().sample_compare(ty, place, &at, more, masked);
            self.b.slice(v, 0, lanes)
        } else {
            self.b.ins().sample(ty, place, &at, lod, masked)
        };
        self.pool.push(v);
    }

    /// Generates an atomic on texels of the fourth image, some of them the same and some outside.
    pub(super) fn image_atomic(&mut self) {
        if !self.memory {
            return;
        }
        let integers: Vec<AtomicOp> = AtomicOp::ALL
            .into_iter()
            .filter(|op| !op.is_float())
            .collect();
        let op = self.rng.pick(&integers).unwrap_or(AtomicOp::Add);
        let lanes = self.texel_lanes();
        let ty = Type::clamped(Scalar::I32, lanes);
        let at = [(); 2].map(|()| self.whole_coordinate(lanes));
        let operands: Vec<Value> = (0..op.operands()).map(|_| self.value(ty)).collect();
        let masked = self.texel_mask(lanes, ty);
        let v = self.b.ins().image_atomic(op, 3, &at, &operands, masked);
        if self.rng.one_in(2) {
            self.pool.push(v);
        }
    }

    /// Generates access to a rectangle around the third image.
    pub(super) fn media(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let width = self.rng.pick(&[4u32, 4, 8, 16, 12, 20, 32]).unwrap_or(4);
        let rows = 1 + self.rng.below(20);
        let scalar = self.int();
        let bytes = width * rows;
        if !bytes.is_multiple_of(scalar.bytes()) {
            return;
        }
        let ty = Type::clamped(scalar, bytes / scalar.bytes());
        let at = [(); 2].map(|()| self.whole_coordinate(1));
        let width = width as u8;
        if opcode == Opcode::MediaLoad {
            let v = self.b.ins().media_load(ty, 2, at, width);
            self.pool.push(v);
        } else {
            let v = self.value(ty);
            self.b.ins().media_store(v, 2, at, width);
        }
    }

    /// Generates an untyped surface read or write as a send. The interpreter does not support
    /// sends.
    pub(super) fn send(&mut self, opcode: Opcode) {
        if !self.memory || self.options.runnable {
            return;
        }
        let at = self.value(Type::clamped(Scalar::I32, 8));
        let mask = if self.rng.one_in(2) {
            Some(self.value(Type::clamped(Scalar::B1, 8)))
        } else {
            None
        };
        if opcode == Opcode::SendReply {
            let ty = Type::clamped(Scalar::I32, 8);
            let descs = [0xc, 0x0210_6e00];
            let v = if self.rng.one_in(2) {
                let old = self.value(ty);
                self.b.ins().send_reply_over(old, 8, descs, at, None, mask)
            } else {
                self.b.ins().send_reply(ty, 8, descs, at, None, mask)
            };
            self.pool.push(v);
        } else {
            let both = self.value(Type::clamped(Scalar::I32, 16));
            let descs = [0xc, 0x0402_6e00];
            self.b.ins().send(8, descs, both, None, mask);
        }
    }

    /// Queries a property of an argument. Addresses are excluded, since they differ between
    /// machines.
    pub(super) fn arg_query(&mut self, opcode: Opcode) {
        if !self.memory {
            return;
        }
        let v = match opcode {
            Opcode::ImageQuery => {
                let fact = self.rng.pick(&ImageFact::ALL).unwrap_or(ImageFact::Width);
                // Where there is a sampler, drivers provide these alone.
                if !fact.is_driver() || fact == ImageFact::FlatBase && self.options.runnable {
                    return;
                }
                let image = self.rng.below(2) as u8;
                self.b.ins().image_query(fact, image)
            }
            _ => {
                // Where there is a sampler, drivers provide these alone.
                let facts = [
                    SamplerFact::Addressing,
                    SamplerFact::Normalized,
                    SamplerFact::Snap,
                ];
                let fact = self.rng.pick(&facts).unwrap_or(SamplerFact::Normalized);
                self.b.ins().sampler_query(fact, 0)
            }
        };
        self.pool.push(v);
    }
}
