//! Features of shaders that WGSL cannot express, as SPIR-V. Each runs at every SIMD width, in the
//! interpreter and on the simulator for every platform, and is compared with plain Rust.

mod aliases;
mod fast;
mod groups;
mod images;
mod inputs;
mod linking;
mod malformed;
mod permits;
mod several;
mod simulated;
mod specialized;
mod tables;

use gantry_codegen::interp::{self, Addressing, Arg, Component, Grid, Image, Sampler, launch};
use gantry_codegen::ir::{BindingPlace, ImageShape, ParamRole, Resource};
use gantry_codegen::verifier::verify_module;
use gantry_spirv::{Options, Simd, SpecValue, Translated, translate};
use std::collections::BTreeMap;

/// Common part of all shaders: types, the built-in id, and `main` in groups of 16.
const HEAD: &str = r#"
OpCapability Shader
OpCapability Int64
MORE
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel ADDRESSING GLSL450
OpEntryPoint GLCompute %main "main" %gid
OpExecutionMode %main LocalSize 16 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
DECORATIONS
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%v2 = OpTypeVector %float 2
%v3 = OpTypeVector %float 3
%v4 = OpTypeVector %float 4
%u3 = OpTypeVector %uint 3
%fn = OpTypeFunction %void
%in_u3 = OpTypePointer Input %u3
%in_uint = OpTypePointer Input %uint
%gid = OpVariable %in_u3 Input
%0 = OpConstant %uint 0
%1 = OpConstant %uint 1
%2 = OpConstant %uint 2
%3 = OpConstant %uint 3
%4 = OpConstant %uint 4
%7 = OpConstant %uint 7
TYPES
%main = OpFunction %void None %fn
%entry = OpLabel
VARIABLES
%ix = OpAccessChain %in_uint %gid %0
%i = OpLoad %uint %ix
BODY
OpReturn
OpFunctionEnd
"#;

/// A runtime array of words as a storage buffer at binding `N`: `%bN`, its elements' pointer
/// `%p_uint`.
const WORDS: &str = "
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_uint = OpTypePointer StorageBuffer %uint
%b0 = OpVariable %p_block StorageBuffer
%b1 = OpVariable %p_block StorageBuffer
";
const WORDS_DECORATIONS: &str = "
OpDecorate %words ArrayStride 4
OpMemberDecorate %block 0 Offset 0
OpDecorate %block Block
OpDecorate %b0 DescriptorSet 0
OpDecorate %b0 Binding 0
OpDecorate %b1 DescriptorSet 0
OpDecorate %b1 Binding 1
";

/// The words of a text, which is right.
fn assemble(text: &str) -> Vec<u32> {
    gantry_spirv::assemble(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[derive(Clone, Default)]
struct Shader {
    more: &'static str,
    physical: bool,
    decorations: String,
    types: String,
    variables: &'static str,
    body: &'static str,
    robust: bool,
    spec: BTreeMap<u32, u64>,
    constants: BTreeMap<String, SpecValue>,
    /// Floats may differ by some units of the last place, as quotients do.
    near: bool,
    /// The first two words of a buffer become the address of the next one.
    linked: bool,
}

impl Shader {
    fn words(&self) -> Vec<u32> {
        let addressing = if self.physical {
            "PhysicalStorageBuffer64"
        } else {
            "Logical"
        };
        let text = HEAD
            .replace("MORE", self.more)
            .replace("ADDRESSING", addressing)
            .replace("DECORATIONS", &self.decorations)
            .replace("TYPES", &self.types)
            .replace("VARIABLES", self.variables)
            .replace("BODY", self.body);
        assemble(&text)
    }

    fn translate(&self, simd: u32) -> Result<Translated, String> {
        let options = Options {
            simd: Simd::Width(simd),
            robust: Some(self.robust),
            spec_constants: self.spec.clone(),
            constants: self.constants.clone(),
            ..Options::default()
        };
        translate(&self.words(), &options).map_err(|e| e.to_string())
    }

    /// Runs 32 work-items in groups of 16 on buffers by binding and element, and gives what they
    /// hold. `pushed` may ask for their addresses.
    fn run(
        &self,
        buffers: &Buffers,
        pushed: impl Fn(&BTreeMap<(u32, u32), u64>) -> Vec<u32>,
    ) -> Vec<Vec<u32>> {
        let mut results: Vec<Vec<Vec<u32>>> = Vec::new();
        let mut simulated = Vec::new();
        for simd in [8, 16, 32] {
            let t = self.translate(simd).unwrap();
            verify_module(&t.module).unwrap_or_else(|e| panic!("{e}\n{}", t.module));
            for (target, left) in simulated::run(self, &t, buffers, &pushed) {
                simulated.push((format!("{target} at SIMD{simd}"), left));
            }
            let mut memory = interp::Buffers::default();
            let mut at = BTreeMap::new();
            self.place(buffers, |key, bytes| {
                let address = memory.add(bytes);
                at.insert(key, address);
                address
            });
            let k = &t.kernels[0];
            let function = &t.module.functions[k.function];
            let params = &function.sig.params;
            let mut args: Vec<Arg> = Vec::new();
            let mut last = 0;
            for (info, param) in function.reflection.iter().zip(params) {
                let (place, resource) = match info.role {
                    ParamRole::Resource(place, resource) => (place, resource),
                    ParamRole::PushConstants => {
                        let bytes = as_bytes(&pushed(&at));
                        args.push(Arg::from_bytes(param.ty, &bytes).unwrap());
                        continue;
                    }
                    // It follows its buffer.
                    ParamRole::SizeOf(of) => {
                        assert_eq!(of as usize + 1, args.len());
                        args.push(Arg::i32(memory.bytes(last).len() as i32));
                        continue;
                    }
                    ParamRole::Argument => panic!("a shader's own argument"),
                };
                if resource == Resource::Sampler {
                    // The second of an array repeats.
                    let addressing = match place.element {
                        1 => Addressing::Repeat,
                        _ => Addressing::Edge,
                    };
                    let sampler = memory.add_sampler(Sampler {
                        normalized: true,
                        ..Sampler::new(addressing, false)
                    });
                    args.push(Arg(vec![sampler]));
                    continue;
                }
                last = at[&(place.binding, place.element)];
                if resource == Resource::Image {
                    // A row of words.
                    let words = memory.bytes(last).len() as u32 / 4;
                    let image = memory.add_image(Image {
                        shape: ImageShape::D2,
                        extent: [words, 1, 1],
                        samples: 1,
                        levels: 1,
                        components: 1,
                        component: Component::Uint32,
                        address: last,
                    });
                    args.push(Arg(vec![image]));
                    continue;
                }
                args.push(Arg::ptr(last));
            }
            let size = k.group_size.unwrap();
            let grid = Grid::new([32, size[1], size[2]], size);
            let done = launch(&t.module, k.function, &grid, &args, &mut memory, 1 << 24);
            done.unwrap_or_else(|e| panic!("{e}\n{}", t.module));
            let read = buffers.iter().map(|(b, e, _)| memory.bytes(at[&(*b, *e)]));
            results.push(read.map(as_words).collect());
        }
        assert!(results.iter().all(|r| *r == results[0]));
        for (how, left) in simulated {
            for (n, (got, want)) in left.iter().zip(&results[0]).enumerate() {
                let linked = if self.linked { 2 } else { 0 };
                let (got, want) = (&got[linked..], &want[linked..]);
                let alike = got.iter().zip(want).all(|(g, w)| self.alike(*g, *w));
                assert!(alike, "{how}, buffer {n}: {got:x?}, not {want:x?}");
            }
        }
        results.remove(0)
    }

    /// Has buffers made, each by what it holds, which gives its address.
    fn place(&self, buffers: &Buffers, mut add: impl FnMut((u32, u32), Vec<u8>) -> u64) {
        let mut after = None;
        for (binding, element, words) in buffers.iter().rev() {
            let mut bytes = as_bytes(words);
            if let Some(after) = after.filter(|_| self.linked) {
                bytes[..8].copy_from_slice(&u64::to_le_bytes(after));
            }
            after = Some(add((*binding, *element), bytes));
        }
    }

    /// Returns true if a word of the simulator equals the interpreter's.
    fn alike(&self, got: u32, want: u32) -> bool {
        let (g, w) = (f32::from_bits(got), f32::from_bits(want));
        got == want || self.near && (g - w).abs() <= w.abs() * 4e-7
    }
}

/// Buffers by binding and element.
type Buffers = [(u32, u32, Vec<u32>)];

fn as_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn as_words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
    bytes.chunks(4).map(word).collect()
}

fn words(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect()
}

/// Holds words to what they should be, each by its number.
fn check(got: &[u32], want: impl Fn(usize) -> u32) {
    let want: Vec<u32> = (0..got.len()).map(want).collect();
    assert_eq!(got, want);
}

/// Returns a body that stores the sum of three words, `%sum`, in the buffer 1.
///
/// A loop starts at the pointer `%a` if `%i` is odd, else at `%b`. `next` defines the next pointer
/// `%next` from `%p` and the iteration `%n`.
fn three_words(pointers: &str, next: &str) -> String {
    format!(
        "{pointers}
%odd = OpUMod %uint %i %2
%is = OpINotEqual %bool %odd %0
%from = OpSelect %p_uint %is %a %b
OpBranch %head
%head = OpLabel
%p = OpPhi %p_uint %from %entry %next %loop
%sum = OpPhi %uint %0 %entry %more %loop
%n = OpPhi %uint %0 %entry %n1 %loop
%go = OpULessThan %bool %n %3
OpLoopMerge %end %loop None
OpBranchConditional %go %loop %end
%loop = OpLabel
%v = OpLoad %uint %p
%more = OpIAdd %uint %sum %v
%n1 = OpIAdd %uint %n %1
{next}
OpBranch %head
%end = OpLabel
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %sum
"
    )
}

#[test]
fn row_major_matrices_in_old_blocks() {
    // A uniform block with a matrix of 3 columns of 2, rows 16 bytes apart. An array of two such
    // matrices, rows 8 bytes apart. A buffer of class Uniform.
    let shader = Shader {
        decorations: "
OpDecorate %u Block
OpMemberDecorate %u 0 Offset 0
OpMemberDecorate %u 0 RowMajor
OpMemberDecorate %u 0 MatrixStride 16
OpMemberDecorate %u 1 Offset 32
OpMemberDecorate %u 1 RowMajor
OpMemberDecorate %u 1 MatrixStride 8
OpDecorate %ms ArrayStride 32
OpDecorate %out BufferBlock
OpMemberDecorate %out 0 Offset 0
OpDecorate %floats ArrayStride 4
OpDecorate %vu DescriptorSet 0
OpDecorate %vu Binding 0
OpDecorate %vo DescriptorSet 0
OpDecorate %vo Binding 1
"
        .into(),
        types: "
%m = OpTypeMatrix %v2 3
%m2 = OpTypeMatrix %v2 2
%ms = OpTypeArray %m2 %2
%u = OpTypeStruct %m %ms
%p_u = OpTypePointer Uniform %u
%p_m = OpTypePointer Uniform %m
%p_v2 = OpTypePointer Uniform %v2
%p_float = OpTypePointer Uniform %float
%floats = OpTypeRuntimeArray %float
%out = OpTypeStruct %floats
%p_out = OpTypePointer Uniform %out
%vu = OpVariable %p_u Uniform
%vo = OpVariable %p_out Uniform
%c1 = OpConstant %float 1.0
%c10 = OpConstant %float 10.0
%c100 = OpConstant %float 100.0
%v = OpConstantComposite %v3 %c1 %c10 %c100
"
        .into(),
        body: "
%pm = OpAccessChain %p_m %vu %0
%mat = OpLoad %m %pm
%r = OpMatrixTimesVector %v2 %mat %v
%r1 = OpCompositeExtract %float %r 1
%n = OpUMod %uint %i %3
%pc = OpAccessChain %p_v2 %vu %0 %n
%column = OpLoad %v2 %pc
%x = OpCompositeExtract %float %column 0
%k = OpUMod %uint %i %2
%pe = OpAccessChain %p_float %vu %1 %k %1 %k
%e = OpLoad %float %pe
%s = OpFAdd %float %r1 %x
%t = OpFAdd %float %s %e
%po = OpAccessChain %p_float %vo %0 %i
OpStore %po %t
",
        ..Shader::default()
    };
    let block: Vec<f32> = (0..24).map(|i| i as f32 * 0.5).collect();
    let bits: Vec<u32> = block.iter().map(|x| x.to_bits()).collect();
    let got = shader.run(&[(0, 0, bits), (1, 0, vec![0; 32])], |_| Vec::new());
    for (i, g) in got[1].iter().enumerate() {
        let row = |r: usize, c: usize| block[4 * r + c];
        let r1 = row(1, 0) + 10.0 * row(1, 1) + 100.0 * row(1, 2);
        // The array's k-th, column 1, row k.
        let k = i % 2;
        let want = r1 + row(0, i % 3) + block[8 + 8 * k + 2 * k + 1];
        assert_eq!(f32::from_bits(*g), want, "{i}");
    }
    let translated = shader.translate(8).unwrap();
    let kernel = &translated.module.functions[translated.kernels[0].function];
    let roles: Vec<ParamRole> = kernel.reflection.iter().map(|i| i.role).collect();
    let at = |binding| BindingPlace {
        binding,
        ..BindingPlace::default()
    };
    let storage = Resource::StorageBuffer {
        least: 4,
        read_only: false,
    };
    assert_eq!(
        roles,
        [
            ParamRole::Resource(at(0), Resource::UniformBuffer { least: 80 }),
            ParamRole::Resource(at(1), storage),
            ParamRole::SizeOf(1),
        ]
    );
}

#[test]
fn variable_pointers() {
    for robust in [false, true] {
        // A pointer that a loop moves on, and one of two by a condition.
        let shader = Shader {
            more: "OpCapability VariablePointersStorageBuffer",
            decorations: format!("{WORDS_DECORATIONS}OpDecorate %p_uint ArrayStride 4"),
            types: WORDS.into(),
            robust,
            body: three_words(
                "
%a = OpAccessChain %p_uint %b0 %0 %i
%b = OpAccessChain %p_uint %b0 %0 %7
",
                "%next = OpPtrAccessChain %p_uint %p %4",
            )
            .leak(),
            ..Shader::default()
        };
        // Without checks all is inside; with them, what is not is zero.
        let data = words(if robust { 30 } else { 40 });
        let got = shader.run(&[(0, 0, data.clone()), (1, 0, vec![0; 32])], |_| Vec::new());
        check(&got[1], |i| {
            let from = if i % 2 == 1 { i } else { 7 };
            let at = |n: usize| data.get(from + 4 * n).copied().unwrap_or(0);
            at(0).wrapping_add(at(1)).wrapping_add(at(2))
        });
    }
}

#[test]
fn arrays_of_buffers() {
    let shader = Shader {
        decorations: WORDS_DECORATIONS.into(),
        types: format!(
            "{WORDS}
%blocks = OpTypeArray %block %3
%p_blocks = OpTypePointer StorageBuffer %blocks
%all = OpVariable %p_blocks StorageBuffer
"
        ),
        body: "
%a = OpAccessChain %p_uint %all %2 %0 %i
%v = OpLoad %uint %a
%whole = OpAccessChain %p_block %all %1
%n = OpArrayLength %uint %whole 0
%w = OpIMul %uint %v %n
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %w
",
        ..Shader::default()
    };
    let mut shader = shader;
    shader.decorations += "OpDecorate %all DescriptorSet 0\nOpDecorate %all Binding 5";
    let data = words(32);
    let buffers = [
        (5, 2, data.clone()),
        (5, 1, vec![9; 13]),
        (1, 0, vec![0; 32]),
    ];
    let got = shader.run(&buffers, |_| Vec::new());
    let want: Vec<u32> = data.iter().map(|x| x.wrapping_mul(13)).collect();
    assert_eq!(got[2], want);
}

#[test]
fn addresses_of_buffers() {
    // An address among push constants, and one that is stored behind it.
    let shader = Shader {
        more: "OpCapability PhysicalStorageBufferAddresses",
        physical: true,
        decorations: "
OpDecorate %push Block
OpMemberDecorate %push 0 Offset 0
OpMemberDecorate %push 1 Offset 8
OpDecorate %row ArrayStride 4
OpMemberDecorate %node 0 Offset 0
OpMemberDecorate %node 1 Offset 8
"
        .into(),
        types: "
OpTypeForwardPointer %p_node PhysicalStorageBuffer
%row = OpTypeRuntimeArray %uint
%node = OpTypeStruct %p_node %row
%p_node = OpTypePointer PhysicalStorageBuffer %node
%p_next = OpTypePointer PhysicalStorageBuffer %p_node
%p_uint = OpTypePointer PhysicalStorageBuffer %uint
%push = OpTypeStruct %ulong %uint
%p_push = OpTypePointer PushConstant %push
%p_ulong = OpTypePointer PushConstant %ulong
%p_word = OpTypePointer PushConstant %uint
%pushed = OpVariable %p_push PushConstant
"
        .into(),
        body: "
%pa = OpAccessChain %p_ulong %pushed %0
%a = OpLoad %ulong %pa
%node0 = OpConvertUToPtr %p_node %a
%pn = OpAccessChain %p_next %node0 %0
%node1 = OpLoad %p_node %pn Aligned 8
%pk = OpAccessChain %p_word %pushed %1
%k = OpLoad %uint %pk
%from = OpAccessChain %p_uint %node1 %1 %i
%v = OpLoad %uint %from Aligned 4
%w = OpIAdd %uint %v %k
%to = OpAccessChain %p_uint %node0 %1 %i
OpStore %to %w Aligned 4
",
        linked: true,
        ..Shader::default()
    };
    let data = words(34);
    let got = shader.run(&[(0, 0, words(34)), (1, 0, data.clone())], |at| {
        let a = at[&(0, 0)];
        vec![a as u32, (a >> 32) as u32, 77]
    });
    let want: Vec<u32> = data[2..].iter().map(|x| x.wrapping_add(77)).collect();
    assert_eq!(got[0][2..], want);
}

#[test]
fn results_by_pointers_and_pairs() {
    let shader = Shader {
        decorations: WORDS_DECORATIONS.into(),
        types: format!(
            "{WORDS}
%pair = OpTypeStruct %uint %uint
%f_float = OpTypePointer Function %float
%f_uint = OpTypePointer Function %uint
%half = OpConstant %float 0.5
%big = OpConstant %uint 4294967290
"
        ),
        variables: "
%whole = OpVariable %f_float Function
%exp = OpVariable %f_uint Function
",
        body: "
%a = OpAccessChain %p_uint %b0 %0 %i
%v = OpLoad %uint %a
%x = OpConvertUToF %float %v
%y = OpFMul %float %x %half
%rest = OpExtInst %float %glsl Modf %y %whole
%w = OpLoad %float %whole
%m = OpExtInst %float %glsl Frexp %y %exp
%e = OpLoad %uint %exp
%rw = OpFAdd %float %rest %w
%same = OpFOrdEqual %bool %rw %y
%bit = OpSelect %uint %same %1 %0
%big_v = OpIAdd %uint %v %big
%sum = OpIAddCarry %pair %big_v %7
%carry = OpCompositeExtract %uint %sum 1
%difference = OpISubBorrow %pair %i %7
%borrow = OpCompositeExtract %uint %difference 1
%product = OpUMulExtended %pair %v %big
%high = OpCompositeExtract %uint %product 1
%t0 = OpIMul %uint %e %2
%t1 = OpIAdd %uint %t0 %bit
%t2 = OpIMul %uint %t1 %2
%t3 = OpIAdd %uint %t2 %carry
%t4 = OpIMul %uint %t3 %2
%t5 = OpIAdd %uint %t4 %borrow
%t6 = OpBitwiseXor %uint %t5 %high
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %t6
",
        ..Shader::default()
    };
    let data: Vec<u32> = (0..32).map(|i| i * i * 7 + 1).collect();
    let got = shader.run(&[(0, 0, data.clone()), (1, 0, vec![0; 32])], |_| Vec::new());
    for (i, (g, v)) in got[1].iter().zip(&data).enumerate() {
        let y = *v as f32 * 0.5;
        let exponent = (y.to_bits() >> 23) - 126;
        let carry = u32::from(v.wrapping_add(4_294_967_290).checked_add(7).is_none());
        let high = ((u64::from(*v) * 4_294_967_290) >> 32) as u32;
        let want = ((exponent * 2 + 1) * 2 + carry) * 2 + u32::from(i < 7);
        assert_eq!(*g, want ^ high, "{i}");
    }
}

#[test]
fn group_sizes_by_constants() {
    let shader = Shader {
        decorations: format!(
            "{WORDS_DECORATIONS}
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %sx SpecId 3
"
        ),
        types: format!(
            "{WORDS}
%sx = OpSpecConstant %uint 4
%size = OpSpecConstantComposite %u3 %sx %1 %1
"
        ),
        body: "
%n = OpCompositeExtract %uint %size 0
%v = OpIMul %uint %i %n
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %v
",
        ..Shader::default()
    };
    for (spec, n) in [(None, 4), (Some(8), 8)] {
        let spec = spec.map(|v| (3, v)).into_iter().collect();
        let shader = Shader {
            spec,
            ..shader.clone()
        };
        assert_eq!(
            shader.translate(8).unwrap().kernels[0].group_size,
            Some([n, 1, 1])
        );
        let got = shader.run(&[(1, 0, vec![0; 32])], |_| Vec::new());
        assert_eq!(got[0], (0..32).map(|i| i * n).collect::<Vec<u32>>());
    }
}

/// The size as an execution mode with ids, one of them a constant that the user says.
#[test]
fn group_sizes_by_ids() {
    let text = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionModeId %main LocalSizeId %x %two %one
OpDecorate %x SpecId 3
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%fn = OpTypeFunction %void
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%x = OpSpecConstant %uint 4
%main = OpFunction %void None %fn
%entry = OpLabel
OpReturn
OpFunctionEnd
";
    for (spec, n) in [(None, 4), (Some(8), 8)] {
        let options = Options {
            spec_constants: spec.map(|v| (3, v)).into_iter().collect(),
            ..Options::default()
        };
        let t = translate(&assemble(text), &options).unwrap();
        assert_eq!(t.kernels[0].group_size, Some([n, 2, 1]));
    }
}

/// Malformed: it must come to an end.
#[test]
fn a_value_stored_before_it_is_loaded() {
    let shader = Shader {
        types: "%f_uint = OpTypePointer Function %uint".into(),
        variables: "%p = OpVariable %f_uint Function",
        body: "
OpStore %p %v
%v = OpLoad %uint %p
%w = OpIAdd %uint %v %i
",
        ..Shader::default()
    };
    let _ = shader.translate(8);
}

#[test]
fn what_other_stages_have_is_not_looked_at() {
    let text = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\"
OpExecutionMode %main OriginUpperLeft
%void = OpTypeVoid
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%entry = OpLabel
OpReturn
OpFunctionEnd
";
    let e = translate(&assemble(text), &Options::default()).unwrap_err();
    assert!(
        e.to_string()
            .contains("the execution model Fragment is not supported"),
        "{e}"
    );
    let both = text.replace(
        "OpExecutionMode",
        "OpEntryPoint GLCompute %main \"compute\"\nOpExecutionMode %main LocalSize 8 1 1\nOpExecutionMode",
    );
    let t = translate(&assemble(&both), &Options::default()).unwrap();
    assert_eq!(t.kernels.len(), 1);
    assert_eq!(t.kernels[0].name, "compute");
}

/// A product of a sum alone is rounded with it: not where it is read twice, in another block, or
/// said to be by itself.
#[test]
fn products_are_part_of_sums_where_that_is_allowed() {
    let fused = |decorations: &str| {
        let shader = Shader {
            decorations: format!("{WORDS_DECORATIONS}{decorations}"),
            types: WORDS.into(),
            body: "
%at = OpAccessChain %p_uint %b0 %0 %i
%bits = OpLoad %uint %at
%x = OpBitcast %float %bits
%p = OpFMul %float %x %x
%s = OpFAdd %float %p %x
%q = OpFMul %float %s %s
%t = OpFSub %float %x %q
%twice = OpFMul %float %t %x
%u = OpFAdd %float %twice %x
%v = OpFSub %float %u %twice
%far = OpFMul %float %v %v
OpBranch %next
%next = OpLabel
%w = OpFAdd %float %far %v
%out = OpBitcast %uint %w
OpStore %at %out
",
            ..Shader::default()
        };
        let text = shader.translate(8).unwrap().module.to_string();
        text.matches(" = fma ").count()
    };
    assert_eq!(fused(""), 2);
    assert_eq!(fused("OpDecorate %p NoContraction\n"), 1);
    assert_eq!(fused("OpDecorate %t NoContraction\n"), 1);
    // ContractionOff.
    assert_eq!(fused("OpExecutionMode %main ContractionOff\n"), 0);
    // Of SPV_KHR_float_controls2 the flags say it; others than its own flags do not.
    let flags = "OpDecorate %p FPFastMathMode NotNaN|NotInf|NSZ\n";
    assert_eq!(fused(flags), 2);
    let controls = format!("OpCapability FloatControls2\n{flags}");
    assert_eq!(fused(&controls), 1);
    assert_eq!(fused(&controls.replace("NSZ", "NSZ|AllowContract")), 2);
    assert_eq!(
        fused("OpExecutionModeId %main FPFastMathDefault %float %0\n"),
        0
    );
}
