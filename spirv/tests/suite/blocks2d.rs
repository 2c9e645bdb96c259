//! 2D block accesses, as instructions and as OpenCL functions. All shapes of
//! `cl_intel_subgroup_2d_block_io`, and some that only the instructions have, are checked against
//! the extension's text.

use gantry_codegen::CompileOptions;
use gantry_runtime::{Device, DeviceKind, Grid};
use gantry_spirv::{Options, Simd, translate};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl, LinkageType,
    MemoryModel, StorageClass, Word,
};

const SIMD: usize = 16;
/// Surface: width in bytes, height in rows, pitch in bytes.
const WIDTH: i64 = 64;
const ROWS: i64 = 12;
const PITCH: i64 = 80;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Read,
    Transpose,
    Transform,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    way: Way,
    bytes: usize,
    rows: usize,
    columns: usize,
    blocks: usize,
}

const fn shape(way: Way, bits: usize, rows: usize, columns: usize, blocks: usize) -> Shape {
    Shape {
        way,
        bytes: bits / 8,
        rows,
        columns,
        blocks,
    }
}

impl Shape {
    /// Column and row of each element, in the order of the registers.
    fn elements(&self) -> Vec<(i64, i64)> {
        let mut out = Vec::new();
        for b in 0..self.blocks {
            let column = |c: usize| (b * self.columns + c) as i64;
            match self.way {
                Way::Transpose => {
                    for c in 0..self.columns {
                        out.extend((0..self.rows).map(|r| (column(c), r as i64)));
                    }
                }
                Way::Transform => {
                    let packed = 4 / self.bytes;
                    for r in (0..self.rows).step_by(packed) {
                        for c in 0..self.columns {
                            out.extend((r..r + packed).map(|r| (column(c), r as i64)));
                        }
                    }
                }
                Way::Read | Way::Write => {
                    for r in 0..self.rows {
                        out.extend((0..self.columns).map(|c| (column(c), r as i64)));
                    }
                }
            }
        }
        out
    }

    /// Bytes of a unit of a work-item: an element, or several consecutive ones of a row.
    fn unit(&self) -> usize {
        let (element, run) = match self.way {
            Way::Transform => (4, self.columns * 4),
            Way::Transpose => (self.bytes, self.rows * self.bytes),
            Way::Read | Way::Write => (self.bytes, self.columns * self.bytes),
        };
        element.max(run / SIMD)
    }

    /// Number of units of a work-item.
    fn count(&self) -> usize {
        self.bytes * self.rows * self.columns * self.blocks / self.unit() / SIMD
    }

    /// Byte offset of an element in the surface, if in bounds.
    fn at(&self, (column, row): (i64, i64), place: [i32; 2]) -> Option<usize> {
        let (x, y) = (
            (i64::from(place[0]) + column) * self.bytes as i64,
            i64::from(place[1]) + row,
        );
        let inside = x >= 0 && x + self.bytes as i64 <= WIDTH && (0..ROWS).contains(&y);
        inside.then_some((y * PITCH + x) as usize)
    }

    fn name(&self) -> String {
        let way = match self.way {
            Way::Read => "read",
            Way::Transpose => "read_transpose",
            Way::Transform => "read_transform",
            Way::Write => "write",
        };
        let (bits, rows, columns, blocks) = (self.bytes * 8, self.rows, self.columns, self.blocks);
        let name = format!("intel_sub_group_2d_block_{way}_{bits}b_{rows}r{columns}x{blocks}c");
        format!("_Z{}{name}PU3AS1viiiDv2_iPv", name.len())
    }

    /// Builds a kernel of one sub-group: `k(global T *surface, global T *own, int width, int
    /// height, int pitch, int2 place)`. `own` has the data of each work-item, read or to be
    /// written, in order.
    fn module(&self, as_function: bool) -> Vec<u32> {
        let mut b = Builder::new();
        b.set_version(1, 1);
        for c in [
            Capability::Addresses,
            Capability::Kernel,
            Capability::Linkage,
            Capability::Int8,
            Capability::Int16,
            Capability::Int64,
            Capability::SubgroupDispatch,
        ] {
            b.capability(c);
        }
        if !as_function {
            b.extension("SPV_INTEL_2d_block_io");
            b.capability(Capability::Subgroup2DBlockIOINTEL);
            b.capability(Capability::Subgroup2DBlockTransformINTEL);
            b.capability(Capability::Subgroup2DBlockTransposeINTEL);
        }
        b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
        let (void, int, long) = (b.type_void(), b.type_int(32, 0), b.type_int(64, 0));
        let unit = match self.unit() {
            4 => int,
            8 => long,
            n => b.type_int(n as u32 * 8, 0),
        };
        let number = |b: &mut Builder, n: usize| b.constant_bit32(int, n as u32);
        let count = number(&mut b, self.count());
        let array = b.type_array(unit, count);
        let pair = b.type_vector(int, 2);
        let three = b.type_vector(long, 3);
        let own = b.type_pointer(None, StorageClass::Function, array);
        let part = b.type_pointer(None, StorageClass::Function, unit);
        let global = b.type_pointer(None, StorageClass::CrossWorkgroup, unit);
        let input = b.type_pointer(None, StorageClass::Input, three);
        let item = b.variable(input, None, StorageClass::Input, None);
        let which = Operand::BuiltIn(BuiltIn::GlobalInvocationId);
        b.decorate(item, Decoration::BuiltIn, vec![which]);
        let none = FunctionControl::NONE;
        let declared = as_function.then(|| {
            let of = b.type_function(void, vec![global, int, int, int, pair, part]);
            let f = b.begin_function(void, None, none, of).unwrap();
            for ty in [global, int, int, int, pair, part] {
                b.function_parameter(ty).unwrap();
            }
            b.end_function().unwrap();
            let linkage = vec![
                Operand::LiteralString(self.name()),
                Operand::LinkageType(LinkageType::Import),
            ];
            b.decorate(f, Decoration::LinkageAttributes, linkage);
            f
        });
        let params = [global, global, int, int, int, pair];
        let of = b.type_function(void, params.to_vec());
        let k = b.begin_function(void, None, none, of).unwrap();
        let args = params.map(|ty| b.function_parameter(ty).unwrap());
        let [surface, to, sizes @ .., place] = args;
        b.begin_block(None).unwrap();
        let var = b.variable(own, None, StorageClass::Function, None);
        let all = b.load(three, None, item, None, []).unwrap();
        let id = b.composite_extract(long, None, all, [0]).unwrap();
        let id = b.u_convert(int, None, id).unwrap();
        let base = b.i_mul(int, None, id, count).unwrap();
        let places: Vec<(Word, Word)> = (0..self.count())
            .map(|n| {
                let n = b.constant_bit32(int, n as u32);
                let own = b.in_bounds_access_chain(part, None, var, [n]).unwrap();
                let at = b.i_add(int, None, base, n).unwrap();
                let out = b.in_bounds_ptr_access_chain(global, None, to, at, []);
                (own, out.unwrap())
            })
            .collect();
        let first = places[0].0;
        let copy = |b: &mut Builder, from: Word, to: Word| {
            let v = b.load(unit, None, from, None, []).unwrap();
            b.store(to, v, None, []).unwrap();
        };
        if self.way == Way::Write {
            for (own, out) in &places {
                copy(&mut b, *out, *own);
            }
        }
        let shape = [self.bytes, self.columns, self.rows, self.blocks];
        let [bytes, columns, rows, blocks] = shape.map(|n| b.constant_bit32(int, n as u32));
        let [width, height, pitch] = sizes;
        match (declared, self.way) {
            (Some(f), _) => {
                let args = [surface, width, height, pitch, place, first];
                b.function_call(void, None, f, args).unwrap();
            }
            (None, Way::Write) => b
                .subgroup2_d_block_store_intel(
                    bytes, columns, rows, blocks, first, surface, width, height, pitch, place,
                )
                .unwrap(),
            (None, way) => {
                let load = match way {
                    Way::Transpose => Builder::subgroup2_d_block_load_transpose_intel,
                    Way::Transform => Builder::subgroup2_d_block_load_transform_intel,
                    _ => Builder::subgroup2_d_block_load_intel,
                };
                b.subgroup2_d_block_prefetch_intel(
                    bytes, columns, rows, blocks, surface, width, height, pitch, place,
                )
                .unwrap();
                load(
                    &mut b, bytes, columns, rows, blocks, surface, width, height, pitch, place,
                    first,
                )
                .unwrap();
            }
        }
        if self.way != Way::Write {
            for (own, out) in &places {
                copy(&mut b, *own, *out);
            }
        }
        b.ret().unwrap();
        b.end_function().unwrap();
        b.entry_point(ExecutionModel::Kernel, k, "k", [item]);
        b.module().assemble()
    }

    /// Contents of both buffers after a launch.
    fn run(&self, words: &[u32], place: [i32; 2], surface: &[u8], own: &[u8]) -> [Vec<u8>; 2] {
        let options = Options {
            simd: Simd::Width(SIMD as u32),
            ..Options::default()
        };
        let translated = translate(words, &options).unwrap();
        let target = CompileOptions::for_target("pvc").unwrap();
        let zebin = gantry_codegen::compile(&translated.module, &target)
            .unwrap()
            .zebin;
        let device = Device::open(DeviceKind::Simulator).unwrap();
        let buffers = [surface, own].map(|b| device.buffer_from(b).unwrap());
        let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
        kernel
            .launch(Grid::new([SIMD as u32, 1, 1]).group([SIMD as u32, 1, 1]))
            .arg(&buffers[0])
            .arg(&buffers[1])
            .arg(WIDTH as i32)
            .arg(ROWS as i32)
            .arg(PITCH as i32)
            .arg(place)
            .run()
            .unwrap();
        buffers.map(|b| b.read::<u8>().unwrap())
    }

    fn judge(&self, place: [i32; 2]) {
        let surface: Vec<u8> = (0..ROWS * PITCH).map(|n| (n * 7 % 251) as u8).collect();
        let (unit, count) = (self.unit(), self.count());
        let own: Vec<u8> = (0..unit * count * SIMD)
            .map(|n| (n % 239) as u8 + 1)
            .collect();
        // Byte of a register, and its position in the data of a work-item.
        let part = |n: usize| {
            let (k, lane) = (n / unit / SIMD, n / unit % SIMD);
            (lane * count + k) * unit + n % unit
        };
        let (mut read, mut written) = (own.clone(), surface.clone());
        for (n, element) in self.elements().into_iter().enumerate() {
            let at = self.at(element, place);
            for byte in 0..self.bytes {
                let register = part(n * self.bytes + byte);
                match (self.way, at) {
                    (Way::Write, Some(at)) => written[at + byte] = own[register],
                    (Way::Write, None) => {}
                    (_, at) => read[register] = at.map_or(0, |at| surface[at + byte]),
                }
            }
        }
        for as_function in [false, true] {
            let words = self.module(as_function);
            let [got, parts] = self.run(&words, place, &surface, &own);
            assert_eq!(
                parts, read,
                "{self:?} at {place:?}, function: {as_function}"
            );
            assert_eq!(
                got, written,
                "{self:?} at {place:?}, function: {as_function}"
            );
        }
    }
}

#[test]
fn blocks_are_spread_over_the_sub_group() {
    let mut shapes = Vec::new();
    for rows in [1, 2, 4, 8] {
        for (bits, columns) in [(8, 32), (16, 16), (32, 16)] {
            shapes.push(shape(Way::Read, bits, rows, columns, 1));
            shapes.push(shape(Way::Write, bits, rows, columns, 1));
        }
    }
    for rows in [8, 16, 32] {
        shapes.push(shape(Way::Read, 8, rows, 32, 2));
        shapes.push(shape(Way::Read, 16, rows, 16, 2));
        shapes.push(shape(Way::Read, 32, rows, 8, 1));
    }
    shapes.push(shape(Way::Transpose, 32, 16, 8, 1));
    shapes.push(shape(Way::Transpose, 32, 32, 8, 1));
    shapes.push(shape(Way::Transpose, 64, 8, 4, 1));
    for blocks in [1, 2, 4] {
        shapes.push(shape(Way::Transform, 8, 32, 16, blocks));
    }
    for (rows, blocks) in [(16, 1), (32, 1), (16, 2), (32, 2)] {
        shapes.push(shape(Way::Transform, 16, rows, 16, blocks));
    }
    for s in &shapes {
        for place in [[0, 0], [4, 3], [-8, -2]] {
            s.judge(place);
        }
    }
    println!(
        "{} shapes at 3 places, as instructions and as functions",
        shapes.len()
    );
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |s: Shape| {
        let options = Options {
            simd: Simd::Width(SIMD as u32),
            ..Options::default()
        };
        translate(&s.module(false), &options)
            .unwrap_err()
            .to_string()
    };
    let wide = refused(shape(Way::Read, 32, 8, 16, 2));
    assert!(wide.contains("2 rows of 64 bytes"), "{wide}");
    let words = shape(Way::Read, 16, 8, 16, 1).module(false);
    let translated = translate(&words, &Options::default()).unwrap();
    let target = CompileOptions::for_target("dg2").unwrap();
    let e = gantry_codegen::compile(&translated.module, &target).unwrap_err();
    assert!(
        e.to_string().contains("a 2D block where there are none"),
        "{e}"
    );
}
