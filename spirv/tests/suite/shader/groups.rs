//! Minima and maxima of floats among the work-items of a sub-group and of a work-group, against
//! plain Rust.

use super::{Shader, WORDS, WORDS_DECORATIONS, simulated};
use gantry_codegen::Target;

/// A sub-group: the SIMD width.
const WIDTH: usize = 8;
/// The work-group.
const GROUP: usize = 16;

/// Operation that a case tests.
#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// An exclusive scan of a sub-group, in the work-items whose number is no multiple of 4.
    SubgroupScan,
    /// An exclusive scan of a work-group.
    GroupScan,
    /// Clusters of 64, which are the sub-group.
    Large,
    /// Clusters of 4 in a sub-group, in the same work-items.
    Clusters,
}

fn shader(bits: u32, op: &str, how: How) -> Shader {
    let (more, ty) = match bits {
        16 => ("OpCapability Float16", "%t = OpTypeFloat 16"),
        64 => ("OpCapability Float64", "%t = OpTypeFloat 64"),
        _ => ("", ""),
    };
    let t = if ty.is_empty() { "%float" } else { "%t" };
    let (scope, operation, size) = match how {
        How::SubgroupScan => ("%3", "ExclusiveScan", ""),
        How::GroupScan => ("%2", "ExclusiveScan", ""),
        How::Clusters => ("%3", "ClusteredReduce", "%4"),
        How::Large => ("%3", "ClusteredReduce", "%64"),
    };
    let single = match bits {
        32 => "%f = OpCopyObject %float %s",
        _ => "%f = OpFConvert %float %s",
    };
    let work = format!(
        "%s = OpGroupNonUniformF{op} {t} {scope} {operation} %x {size}
{single}
%word = OpBitcast %uint %f
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %word
"
    );
    let begin = format!(
        "%from = OpAccessChain %p_uint %b0 %0 %i
%v = OpLoad %uint %from
%x = OpConvertSToF {t} %v
"
    );
    let body = match how {
        How::GroupScan => format!("{begin}{work}"),
        _ => format!(
            "{begin}%rest = OpUMod %uint %i %4
%some = OpINotEqual %bool %rest %0
OpSelectionMerge %end None
OpBranchConditional %some %then %end
%then = OpLabel
{work}OpBranch %end
%end = OpLabel
"
        ),
    };
    Shader {
        more,
        decorations: WORDS_DECORATIONS.into(),
        types: format!("{WORDS}\n%64 = OpConstant %uint 64\n{ty}"),
        body: body.leak(),
        ..Shader::default()
    }
}

/// Returns the expected result of a work-item.
fn want(values: &[i32], i: usize, max: bool, how: How) -> f32 {
    let size = match how {
        How::SubgroupScan | How::Large => WIDTH,
        How::GroupScan => GROUP,
        How::Clusters => 4,
    };
    let first = i / size * size;
    let end = match how {
        How::Clusters | How::Large => first + size,
        _ => i,
    };
    let runs = |n: &usize| how == How::GroupScan || !n.is_multiple_of(4);
    let all = (first..end).filter(runs).map(|n| values[n] as f32);
    if max {
        all.fold(f32::NEG_INFINITY, f32::max)
    } else {
        all.fold(f32::INFINITY, f32::min)
    }
}

#[test]
fn minima_and_maxima_begin_with_infinities() {
    let values: Vec<i32> = (0..32).map(|i| (i * 37 + 11) % 64 - 40).collect();
    let words: Vec<u32> = values.iter().map(|v| *v as u32).collect();
    let untouched = 0x1234_5678;
    for (bits, targets) in [
        (16, ["skl", "dg2"]),
        (32, ["skl", "dg2"]),
        (64, ["skl", "pvc"]),
    ] {
        for max in [false, true] {
            for how in [How::SubgroupScan, How::GroupScan, How::Clusters, How::Large] {
                let shader = shader(bits, if max { "Max" } else { "Min" }, how);
                let t = shader.translate(WIDTH as u32).unwrap();
                let buffers = [(0, 0, words.clone()), (1, 0, vec![untouched; 32])];
                for target in targets {
                    let target = Target::lookup(target).unwrap();
                    let left = simulated::launch(&shader, &t, target, &buffers, &|_| Vec::new());
                    for (i, got) in left.unwrap()[1].iter().enumerate() {
                        let want = if how != How::GroupScan && i % 4 == 0 {
                            untouched
                        } else {
                            want(&values, i, max, how).to_bits()
                        };
                        let where_ = format!("{how:?} of {bits} bits, max {max}, work-item {i}");
                        assert_eq!(f32::from_bits(*got), f32::from_bits(want), "{where_}");
                    }
                }
            }
        }
    }
}

/// `SPV_KHR_uniform_group_instructions`: a reduction and an exclusive scan of a work-group, of each
/// operation.
#[test]
fn uniform_arithmetic() {
    type Of = fn(u32, u32) -> u32;
    let all: [(&str, u32, Of); 8] = [
        ("IMulKHR", 1, |a, b| a.wrapping_mul(b)),
        ("BitwiseAndKHR", u32::MAX, |a, b| a & b),
        ("BitwiseOrKHR", 0, |a, b| a | b),
        ("BitwiseXorKHR", 0, |a, b| a ^ b),
        ("LogicalAndKHR", 1, |a, b| a & b),
        ("LogicalOrKHR", 0, |a, b| a | b),
        ("LogicalXorKHR", 0, |a, b| a ^ b),
        ("FMulKHR", 1, |a, b| a * b),
    ];
    for (op, identity, two) in all {
        let (ty, from, to) = match op.split_at(1).0 {
            "L" => (
                "%bool",
                "%low = OpBitwiseAnd %uint %v %1\n%x = OpINotEqual %bool %low %0",
                "%m = OpSelect %uint %a %1 %0\n%n = OpSelect %uint %b %1 %0",
            ),
            "F" => (
                "%float",
                "%low = OpBitwiseAnd %uint %v %1\n%two = OpIAdd %uint %low %1\n%x = OpConvertUToF %float %two",
                "%m = OpConvertFToU %uint %a\n%n = OpConvertFToU %uint %b",
            ),
            _ => (
                "%uint",
                "%x = OpBitwiseOr %uint %v %1",
                "%m = OpCopyObject %uint %a\n%n = OpCopyObject %uint %b",
            ),
        };
        let value = |v: u32| match ty {
            "%bool" => v & 1,
            "%float" => (v & 1) + 1,
            _ => v | 1,
        };
        let body = format!(
            "%from = OpAccessChain %p_uint %b0 %0 %i
%v = OpLoad %uint %from
{from}
%a = OpGroup{op} {ty} %2 Reduce %x
%b = OpGroup{op} {ty} %2 ExclusiveScan %x
{to}
%sum = OpIMul %uint %m %3
%r = OpIAdd %uint %sum %n
%put = OpAccessChain %p_uint %b1 %0 %i
OpStore %put %r
"
        );
        let shader = Shader {
            more: "OpCapability GroupUniformArithmeticKHR",
            decorations: WORDS_DECORATIONS.into(),
            types: WORDS.into(),
            body: body.leak(),
            ..Shader::default()
        };
        let t = shader.translate(WIDTH as u32).unwrap();
        let data: Vec<u32> = (0..32u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9) >> 3 | 0x100)
            .collect();
        let buffers = [(0, 0, data.clone()), (1, 0, vec![0; 32])];
        for target in ["skl", "dg2"] {
            let target = Target::lookup(target).unwrap();
            let left = simulated::launch(&shader, &t, target, &buffers, &|_| Vec::new());
            super::check(&left.unwrap()[1], |i| {
                let group = i / GROUP * GROUP;
                let of = |end: usize| {
                    let values = data[group..end].iter().map(|v| value(*v));
                    values.fold(identity, two)
                };
                of(group + GROUP).wrapping_mul(3).wrapping_add(of(i))
            });
        }
    }
}
