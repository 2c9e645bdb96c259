//! Addresses of texels, and levels of detail.
//!
//! Texels are tightly packed: rows of a slice or layer, then slices or layers, then levels. A layer
//! of several samples has a picture for each sample. A view may have some of the layers: its levels
//! are as far apart as those of all layers.

use super::AccessKind;
use super::body::Body;
use crate::ir::{AtomicOp, ImageFact, ImageShape, IntCC, MemFlags, Scalar, Space, Type, Value};

/// Logarithm of the bytes of a component, two bits for each of OpenCL's numbers from
/// `CL_SNORM_INT8` (0x10d0) on. The last is for all of packed texels: their dword counts as four
/// components.
const COMPONENT_BYTES: i64 = table(&[
    (0x0, 0),
    (0x1, 1),
    (0x2, 0),
    (0x3, 1),
    (0x7, 0),
    (0x8, 1),
    (0x9, 2),
    (0xa, 0),
    (0xb, 1),
    (0xc, 2),
    (0xd, 1),
    (0xe, 2),
]);

/// Logarithm of the components of a texel, two bits for each of OpenCL's numbers from `CL_R`
/// (0x10b0) on. The last is for all of sRGB.
const COMPONENTS: i64 = table(&[(0x2, 1), (0x4, 2), (0x5, 2), (0x6, 2), (0xf, 2)]);

const fn table(entries: &[(u32, i64)]) -> i64 {
    let (mut all, mut n) = (0, 0);
    while n < entries.len() {
        all |= entries[n].1 << (2 * entries[n].0);
        n += 1;
    }
    all
}

/// Numbers that the tables begin with.
pub(super) const FIRST_TYPE: i64 = 0x10d0;
pub(super) const FIRST_ORDER: i64 = 0x10b0;

/// Sizes of a level of detail, in texels of every lane, and the texels before it.
pub(super) struct Level {
    /// Width, height, and slices, layers or faces. 1 where the shape has none.
    pub sizes: [Value; 3],
    /// Texels before the level, uniform or by lanes.
    start: Option<Value>,
    /// Lanes whose level exists.
    exists: Option<Value>,
}

impl Body<'_> {
    /// Returns the size of the first level along each of three dimensions, uniform.
    pub fn first_sizes(&mut self) -> [Value; 3] {
        use ImageFact::{Depth, Height, Layers, Width};
        let facts: [Option<ImageFact>; 3] = match self.shape {
            ImageShape::D1 | ImageShape::Buffer => [Some(Width), None, None],
            ImageShape::D1Array => [Some(Width), Some(Layers), None],
            ImageShape::D2 | ImageShape::Block | ImageShape::D2Msaa | ImageShape::Cube => {
                [Some(Width), Some(Height), None]
            }
            ImageShape::D2Array | ImageShape::D2ArrayMsaa | ImageShape::CubeArray => {
                [Some(Width), Some(Height), Some(Layers)]
            }
            ImageShape::D3 => [Some(Width), Some(Height), Some(Depth)],
        };
        let mut sizes = facts.map(|f| match f {
            Some(fact) => self.fact(fact),
            None => self.one(1),
        });
        if self.shape.is_cube() {
            let faces = self.one(6);
            sizes[2] = self.b.ins().imul(sizes[2], faces);
        }
        sizes
    }

    /// Returns the number of the dimensions that shrink from level to level.
    fn shrinking(&self) -> usize {
        match self.shape {
            ImageShape::D1 | ImageShape::Buffer | ImageShape::D1Array => 1,
            ImageShape::D3 => 3,
            _ => 2,
        }
    }

    /// Returns the number of the last level, uniform.
    pub fn last_level(&mut self) -> Value {
        let levels = self.fact(ImageFact::Levels);
        let one = self.one(1);
        let levels = self.b.ins().umax(levels, one);
        self.b.ins().isub(levels, one)
    }

    /// Returns the level of detail of a load or a store, the first without `lod`.
    pub fn level(&mut self) -> Level {
        let sizes = self.first_sizes();
        let Some(lod) = self.lod else {
            return self.level_of(sizes, None);
        };
        let last = self.last_level();
        let last = self.all(last);
        let exists = self.icmp(IntCC::UnsignedLessThanOrEqual, lod, last);
        let lod = self.b.ins().umin(lod, last);
        let (sizes, start) = self.at_level(sizes, lod);
        Level {
            exists: Some(exists),
            ..self.level_of(sizes, Some(start))
        }
    }

    /// Returns a level that exists, by its sizes and the texels before it.
    pub fn level_of(&mut self, sizes: [Value; 3], start: Option<Value>) -> Level {
        Level {
            sizes: sizes.map(|s| self.all(s)),
            start,
            exists: None,
        }
    }

    /// Returns the sizes of a level that exists, and the texels before it: uniform if its number
    /// is, or by lanes.
    pub fn at_level(&mut self, first: [Value; 3], lod: Value) -> ([Value; 3], Value) {
        let shrinking = self.shrinking();
        let lanes = self.b.ty(lod).lanes();
        let mut sizes = first;
        for size in sizes.iter_mut().take(shrinking) {
            *size = self.b.splat(*size, lanes);
            let one = self.b.ins().iconst(Type::clamped(Scalar::I32, lanes), 1);
            let less = self.b.ins().ushr(*size, lod);
            *size = self.b.ins().umax(less, one);
        }
        // The texels of all levels before it, a level at a time.
        let (whole, skipped) = self.layers_in_memory(first);
        let qwords = Type::clamped(Scalar::I64, lanes);
        let zero = self.b.ins().iconst(qwords, 0);
        let sum = self.b.var(zero);
        let zero = self.one(0);
        let number = self.b.var(zero);
        let last = self.last_level();
        let [head, body, end] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let n = self.b.use_var(number);
        let more = self.icmp(IntCC::SignedLessThan, n, last);
        self.b.ins().brif(more, body, &[], end, &[]);
        self.b.seal_block(body);
        self.b.switch_to_block(body);
        let mut parts = whole;
        for part in parts.iter_mut().take(shrinking) {
            let one = self.one(1);
            let less = self.b.ins().ushr(*part, n);
            *part = self.b.ins().umax(less, one);
        }
        let [width, height, depth] = parts;
        let row = self.b.ins().imul(height, depth);
        let qword = Type::scalar_of(Scalar::I64);
        let texels = self.b.ins().umul_wide(qword, row, width);
        let texels = self.b.splat(texels, lanes);
        let here = self.b.splat(n, lanes);
        let before = self.icmp(IntCC::UnsignedGreaterThan, lod, here);
        let none = self.b.ins().iconst(qwords, 0);
        let added = self.b.ins().select(before, texels, none);
        let old = self.b.use_var(sum);
        let new = self.b.ins().iadd(old, added);
        self.b.def_var(sum, new);
        let one = self.one(1);
        let next = self.b.ins().iadd(n, one);
        self.b.def_var(number, next);
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        let start = self.b.use_var(sum);
        let start = self.after_layers(start, first, sizes, skipped);
        (sizes, start)
    }

    /// Returns the first sizes with all layers of the memory instead of the view's, and the number
    /// of layers before the first of the view. `None` for volumes.
    fn layers_in_memory(&mut self, first: [Value; 3]) -> ([Value; 3], Option<Value>) {
        if self.shape == ImageShape::D3 {
            return (first, None);
        }
        let range = self.fact(ImageFact::LayerRange);
        let half = self.one(16);
        let all = self.b.ins().ushr(range, half);
        let low = self.one(0xffff);
        let skipped = self.and(range, low);
        let mut sizes = first;
        let layers = usize::from(self.shape != ImageShape::D1Array) + 1;
        if let Some(size) = sizes.get_mut(layers) {
            *size = all;
        }
        (sizes, Some(skipped))
    }

    /// Returns the texels from the first one of a view to the first one of its level, of those from
    /// one level to the other in memory: the layers before the view's are smaller there.
    fn after_layers(
        &mut self,
        start: Value,
        first: [Value; 3],
        sizes: [Value; 3],
        skipped: Option<Value>,
    ) -> Value {
        let Some(skipped) = skipped else {
            return start;
        };
        let lanes = self.b.ty(start).lanes();
        let [here, there] = [sizes, first].map(|[width, height, _]| {
            let own = self.b.ty(width).lanes();
            // A layer has at most 2^28 texels, and there are at most 2,048.
            let layer = match self.shape {
                ImageShape::D1Array => width,
                _ => {
                    let height = self.b.splat(height, own);
                    self.b.ins().imul(width, height)
                }
            };
            let layers = self.b.splat(skipped, own);
            let qwords = Type::clamped(Scalar::I64, own);
            self.b.ins().umul_wide(qwords, layer, layers)
        });
        let there = self.b.splat(there, lanes);
        let start = self.b.ins().iadd(start, here);
        self.b.ins().isub(start, there)
    }

    /// Returns the coordinates of a load, a store or an atomic as columns, rows and slices, and the
    /// sample's number.
    fn whole_place(&mut self) -> ([Value; 3], Option<Value>) {
        let zero = self.int(0);
        let at = |n: usize| self.coords.get(n).copied().unwrap_or(zero);
        match self.shape {
            ImageShape::D2Msaa => ([at(0), at(1), zero], Some(at(2))),
            ImageShape::D2ArrayMsaa => ([at(0), at(1), at(2)], Some(at(3))),
            _ => ([at(0), at(1), at(2)], None),
        }
    }

    /// Returns the lanes of a mask whose place is in a level.
    pub fn inside(&mut self, level: &Level, place: [Value; 3], mask: Value) -> Value {
        let mut inside = mask;
        for (at, size) in place.into_iter().zip(level.sizes) {
            let fits = self.icmp(IntCC::UnsignedLessThan, at, size);
            inside = self.and(inside, fits);
        }
        match level.exists {
            Some(exists) => self.and(inside, exists),
            None => inside,
        }
    }

    /// Returns the address of the texel at a place, with a number of pictures per slice and the
    /// picture.
    pub fn address(
        &mut self,
        level: &Level,
        [x, y, z]: [Value; 3],
        picture: Option<(Value, Value)>,
    ) -> Value {
        let [width, height, _] = level.sizes;
        let qwords = self.lanes(Scalar::I64);
        let z = match picture {
            Some((count, n)) => self.b.ins().imad(z, count, n),
            None => z,
        };
        let row = self.b.ins().imad(z, height, y);
        let texel = self.b.ins().umul_wide(qwords, row, width);
        let x = self.b.ins().uextend(qwords, x);
        let mut texel = self.b.ins().iadd(texel, x);
        let shift = self.texel_shift();
        let shift = self.b.ins().uextend(Type::scalar_of(Scalar::I64), shift);
        let mut base = self.fact(ImageFact::FlatBase);
        match level.start {
            Some(start) if self.b.ty(start).lanes() == 1 => {
                let bytes = self.b.ins().ishl(start, shift);
                base = self.b.ins().iadd(base, bytes);
            }
            Some(start) => texel = self.b.ins().iadd(texel, start),
            None => {}
        }
        let shift = self.all(shift);
        let offset = self.b.ins().ishl(texel, shift);
        let base = self.all(base);
        self.b.ins().iadd(base, offset)
    }

    /// Returns the logarithm of the bytes of a texel, uniform.
    pub fn texel_shift(&mut self) -> Value {
        if matches!(self.access.kind, AccessKind::Atomic(_)) {
            return self.one(2);
        }
        let entry = |body: &mut Self, fact, first, table: i64| {
            let number = body.fact(fact);
            let first = body.one(first);
            let at = body.b.ins().isub(number, first);
            let most = body.one(15);
            let at = body.b.ins().umin(at, most);
            let at = body.b.ins().iadd(at, at);
            let table = body.one(table);
            let entry = body.b.ins().ushr(table, at);
            let bits = body.one(3);
            body.and(entry, bits)
        };
        let channel = (ImageFact::ChannelType, ImageFact::ChannelOrder);
        let component = entry(self, channel.0, FIRST_TYPE, COMPONENT_BYTES);
        let count = entry(self, channel.1, FIRST_ORDER, COMPONENTS);
        self.b.ins().iadd(component, count)
    }

    /// Returns addresses of the texels of a load, a store or an atomic, and the lanes that have
    /// one. Others have that of the first texel of a level.
    fn whole_address(&mut self) -> (Value, Value) {
        let level = self.level();
        let (place, sample) = self.whole_place();
        let mut inside = self.inside(&level, place, self.mask);
        let picture = sample.map(|n| {
            let count = self.fact(ImageFact::Samples);
            let count = self.all(count);
            let exists = self.icmp(IntCC::UnsignedLessThan, n, count);
            inside = self.and(inside, exists);
            (count, n)
        });
        let address = self.address(&level, place, picture);
        (address, inside)
    }

    /// Builds `image_load`.
    pub fn load(&mut self) {
        let (address, inside) = self.whole_address();
        let texel = self.fetch(address, inside);
        let all = self.join(&texel);
        self.b.ins().return_(&[all]);
    }

    /// Builds `image_store`.
    pub fn store(&mut self) {
        let (address, inside) = self.whole_address();
        let texels = self.data.first().copied().unwrap_or(self.mask);
        let texel = self.split(texels, 4);
        self.put(address, inside, &texel);
        self.b.ins().return_(&[]);
    }

    /// Builds `image_atomic`, on texels of one dword.
    pub fn atomic(&mut self, op: AtomicOp) {
        let (address, inside) = self.whole_address();
        let outside = self.int(0);
        let data = self.data.clone();
        let mem = MemFlags::of(Space::Global);
        let ty = self.lanes(Scalar::I32);
        let masked = Some((inside, outside));
        let old = self.b.ins().atomic(op, mem, ty, address, 0, &data, masked);
        self.b.ins().return_(&[old]);
    }
}
