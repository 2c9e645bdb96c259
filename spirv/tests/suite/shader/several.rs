//! Pointers into one of several buffers.

use super::{Shader, WORDS, WORDS_DECORATIONS, check, three_words, words};

/// Three buffers of words at bindings 0 to 2, and an array of three at binding 5.
fn shader(body: &'static str, robust: bool) -> Shader {
    let more = "
OpDecorate %b2 DescriptorSet 0
OpDecorate %b2 Binding 2
OpDecorate %all DescriptorSet 0
OpDecorate %all Binding 5
OpDecorate %p_uint ArrayStride 4
OpDecorate %pair Block
OpMemberDecorate %pair 0 Offset 0
OpMemberDecorate %pair 1 Offset 4
OpDecorate %pairs DescriptorSet 0
OpDecorate %pairs Binding 6
";
    Shader {
        more: "OpCapability VariablePointers",
        decorations: format!("{WORDS_DECORATIONS}{more}"),
        types: format!(
            "{WORDS}
%b2 = OpVariable %p_block StorageBuffer
%blocks = OpTypeArray %block %3
%p_blocks = OpTypePointer StorageBuffer %blocks
%all = OpVariable %p_blocks StorageBuffer
%pair = OpTypeStruct %uint %uint
%two = OpTypeArray %pair %2
%p_two = OpTypePointer StorageBuffer %two
%pairs = OpVariable %p_two StorageBuffer
"
        ),
        body,
        robust,
        ..Shader::default()
    }
}

/// Runs with `sizes` words in the buffers 0, 2 and those of the array. Buffer 1 starts as zeros and
/// is the first that is returned.
fn run(body: &'static str, robust: bool, sizes: [usize; 5]) -> Vec<Vec<u32>> {
    let of = |n: usize| -> Vec<u32> { (0..sizes[n]).map(|i| word(n, i)).collect() };
    let buffers = [
        (1, 0, vec![0; 32]),
        (0, 0, of(0)),
        (2, 0, of(1)),
        (5, 0, of(2)),
        (5, 1, of(3)),
        (5, 2, of(4)),
        (6, 0, vec![100, 200]),
        (6, 1, vec![300, 400]),
    ];
    shader(body, robust).run(&buffers, |_| Vec::new())
}

/// Returns a word of a buffer, by the buffer's number in `run`.
fn word(n: usize, i: usize) -> u32 {
    words(64)[i] ^ n as u32
}

/// Returns the word that a shader reads from a buffer: zero if it is out of bounds.
fn read(sizes: [usize; 5], n: usize, i: usize) -> u32 {
    if i < sizes[n] { word(n, i) } else { 0 }
}

/// A condition selects one of two buffers. A loop advances the pointer and changes to the other
/// buffer half way. Stores select one of two buffers as well.
#[test]
fn by_choices_and_phis() {
    let sums = three_words(
        "
%a = OpAccessChain %p_uint %b0 %0 %i
%b = OpAccessChain %p_uint %b2 %0 %i
",
        "
%on = OpPtrAccessChain %p_uint %p %4
%half = OpIEqual %bool %n %1
%next = OpSelect %p_uint %half %a %on
",
    );
    let stored = "
%c = OpAccessChain %p_uint %all %1 %0 %i
%d = OpAccessChain %p_uint %all %2 %0 %i
%low = OpULessThan %bool %i %7
%into = OpSelect %p_uint %low %c %d
OpStore %into %sum
";
    let body: &str = format!("{sums}{stored}").leak();
    // With checks the buffers are shorter than the places, each by another number.
    for (robust, sizes) in [(false, [40, 40, 0, 40, 40]), (true, [30, 20, 0, 5, 29])] {
        let got = run(body, robust, sizes);
        let read = |n, i| read(sizes, n, i);
        let sum = |i: usize| {
            let first = if i % 2 == 1 { 0 } else { 1 };
            let sum = read(first, i).wrapping_add(read(first, i + 4));
            sum.wrapping_add(read(0, i))
        };
        check(&got[0], sum);
        check(&got[4], |i| if i < 7 { sum(i) } else { word(3, i) });
        check(&got[5], |i| {
            if (7..32).contains(&i) {
                sum(i)
            } else {
                word(4, i)
            }
        });
    }
}

/// By an index of each channel's own into the array: elements, lengths, stores; what is outside
/// reads zeros where that is looked at.
#[test]
fn by_an_index() {
    let body = "
%n = OpUMod %uint %i %3
%p = OpAccessChain %p_uint %all %n %0 %i
%v = OpLoad %uint %p
%whole = OpAccessChain %p_block %all %n
%length = OpArrayLength %uint %whole 0
%sum = OpIAdd %uint %v %length
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %sum
OpStore %p %i
";
    for (robust, sizes) in [(false, [1, 1, 32, 33, 34]), (true, [1, 1, 32, 11, 28])] {
        let got = run(body, robust, sizes);
        check(&got[0], |i| {
            let n = 2 + i % 3;
            read(sizes, n, i).wrapping_add(sizes[n] as u32)
        });
        for k in 2..5 {
            check(&got[k + 1], |i| {
                if i % 3 + 2 == k && i < 32 {
                    i as u32
                } else {
                    word(k, i)
                }
            });
        }
    }
}

/// An index outside of the array of buffers: nothing is there.
#[test]
fn outside_of_the_array() {
    let body = "
%n = OpUMod %uint %i %7
%p = OpAccessChain %p_uint %all %n %0 %i
%v = OpLoad %uint %p
%m = OpUMod %uint %i %3
%pm = OpAccessChain %p_uint %pairs %m %1
%vm = OpLoad %uint %pm
%v1 = OpIAdd %uint %v %vm
%more = OpIAdd %uint %v1 %1
OpStore %p %more
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %more
";
    let got = run(body, true, [1, 1, 32, 32, 32]);
    let member = |i: usize| 1 + [200, 400, 0][i % 3];
    check(&got[0], |i| match i % 7 {
        n @ 0..3 => word(2 + n, i).wrapping_add(member(i)),
        _ => member(i),
    });
    for k in 2..5 {
        check(&got[k + 1], |i| {
            if i % 7 + 2 == k {
                word(k, i).wrapping_add(member(i))
            } else {
                word(k, i)
            }
        });
    }
}

/// Pointers to a whole buffer, atomics, and what is the same.
#[test]
fn wholes_atomics_and_compares() {
    let body = "
%odd = OpUMod %uint %i %2
%is = OpINotEqual %bool %odd %0
%whole = OpSelect %p_block %is %b0 %b2
%length = OpArrayLength %uint %whole 0
%p = OpAccessChain %p_uint %whole %0 %2
%old = OpAtomicIAdd %uint %p %1 %0 %1
%a = OpAccessChain %p_uint %b0 %0 %2
%b = OpAccessChain %p_uint %b2 %0 %2
%same = OpPtrEqual %bool %p %a
%never = OpPtrEqual %bool %a %b
%x = OpSelect %uint %same %4 %0
%y = OpSelect %uint %never %7 %1
%xy = OpIAdd %uint %x %y
%r = OpIAdd %uint %xy %length
%to = OpAccessChain %p_uint %b1 %0 %i
OpStore %to %r
";
    for robust in [false, true] {
        let got = run(body, robust, [12, 17, 1, 1, 1]);
        check(&got[0], |i| match i % 2 {
            1 => 12 + 4 + 1,
            _ => 17 + 1,
        });
        for n in [0, 1] {
            let more = |i: usize| if i == 2 { 16 } else { 0 };
            check(&got[n + 1], |i| word(n, i).wrapping_add(more(i)));
        }
    }
}
