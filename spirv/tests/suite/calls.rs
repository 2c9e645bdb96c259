//! Inlining decisions: functions of a module that are called.

use crate::by_hand;
use gantry_codegen::Inline;
use gantry_spirv::{Options, Simd, translate};
use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use spirv::{Capability, Decoration, ExecutionModel, FunctionControl, StorageClass, Word};

/// End of a function of the module, after its sums.
#[derive(Clone, Copy)]
enum End {
    Returns,
    /// Calls a function, perhaps itself, by its index.
    Calls(usize),
    /// Loops forever.
    Loops,
    /// Reads a work-item id.
    Asks,
    /// Uses a work-group vote.
    Meets,
}

/// Builds a kernel that calls the first function `times` times, and a function of `sums` additions
/// for each end.
fn module(times: usize, sums: usize, ends: &[End]) -> Vec<u32> {
    let mut b = by_hand::module(&[Capability::Int64]);
    let (void, int, long) = (b.type_void(), b.type_int(32, 0), b.type_int(64, 0));
    let three = b.type_vector(long, 3);
    let input = b.type_pointer(None, StorageClass::Input, three);
    let item = b.variable(input, None, StorageClass::Input, None);
    let which = Operand::BuiltIn(spirv::BuiltIn::GlobalInvocationId);
    b.decorate(item, Decoration::BuiltIn, vec![which]);
    let ptr = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let of = b.type_function(int, vec![int]);
    let functions: Vec<Word> = ends.iter().map(|_| b.id()).collect();
    for (f, end) in functions.iter().zip(ends) {
        let none = FunctionControl::NONE;
        b.begin_function(int, Some(*f), none, of).unwrap();
        let mut v = b.function_parameter(int).unwrap();
        b.begin_block(None).unwrap();
        for _ in 0..sums {
            v = b.i_add(int, None, v, v).unwrap();
        }
        match end {
            End::Returns | End::Meets => {}
            End::Calls(n) => v = b.function_call(int, None, functions[*n], [v]).unwrap(),
            End::Loops => {
                let label = b.id();
                b.branch(label).unwrap();
                b.begin_block(Some(label)).unwrap();
                b.branch(label).unwrap();
            }
            End::Asks => {
                let all = b.load(three, None, item, None, []).unwrap();
                let x = b.composite_extract(long, None, all, [0]).unwrap();
                let x = b.u_convert(int, None, x).unwrap();
                v = b.i_add(int, None, v, x).unwrap();
            }
        }
        if let End::Meets = end {
            let (bool, two) = (b.type_bool(), b.constant_bit32(int, 2));
            let odd = b.i_equal(bool, None, v, two).unwrap();
            b.group_all(bool, None, two, odd).unwrap();
        }
        if !matches!(end, End::Loops) {
            b.ret_value(v).unwrap();
        }
        b.end_function().unwrap();
    }
    let of = b.type_function(void, vec![ptr, int]);
    let none = FunctionControl::NONE;
    let k = b.begin_function(void, None, none, of).unwrap();
    let out = b.function_parameter(ptr).unwrap();
    let mut v = b.function_parameter(int).unwrap();
    b.begin_block(None).unwrap();
    for _ in 0..times {
        v = b.function_call(int, None, functions[0], [v]).unwrap();
    }
    b.store(out, v, None, []).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Kernel, k, "k", [item]);
    b.module().assemble()
}

/// Number of functions besides the kernel.
fn kept(words: &[u32], inline: Inline) -> Result<usize, String> {
    let options = Options {
        simd: Simd::Width(16),
        inline,
        ..Options::default()
    };
    let t = translate(words, &options).map_err(|e| e.to_string())?;
    gantry_codegen::verifier::verify_module(&t.module).map_err(|e| e.to_string())?;
    Ok(t.module.functions.len() - 1)
}

#[test]
fn functions_stay_where_their_copies_would_add_too_much() {
    let few = module(3, 2000, &[End::Returns]);
    assert_eq!(kept(&few, Inline::Auto), Ok(0), "a small kernel");
    assert_eq!(kept(&few, Inline::Never), Ok(1));
    let many = module(60, 2000, &[End::Returns]);
    assert_eq!(kept(&many, Inline::Auto), Ok(1));
    assert_eq!(kept(&many, Inline::All), Ok(0));
    let small = module(6000, 12, &[End::Returns]);
    assert_eq!(kept(&small, Inline::Auto), Ok(0), "of no more than a call");
    // The second is called once and is inlined in the first.
    let nested = module(60, 1000, &[End::Calls(1), End::Returns]);
    assert_eq!(kept(&nested, Inline::Auto), Ok(1));
    assert_eq!(kept(&nested, Inline::Never), Ok(2));
    let huge = module(600, 2000, &[End::Returns]);
    assert_eq!(kept(&huge, Inline::Auto), Ok(1));
    let e = kept(&huge, Inline::All).unwrap_err();
    assert!(e.contains("more than 500000 instructions"), "{e}");
}

#[test]
fn functions_that_callers_must_know_more_of_are_inlined() {
    let meets = module(2, 30, &[End::Meets]);
    assert_eq!(
        kept(&meets, Inline::Never),
        Ok(0),
        "groups are the kernel's"
    );
    let loops = module(2, 30, &[End::Loops]);
    assert_eq!(kept(&loops, Inline::Never), Ok(0), "it never returns");
    let through = module(2, 30, &[End::Calls(1), End::Loops]);
    assert_eq!(kept(&through, Inline::Never), Ok(0), "nor does that");
    let through = module(2, 30, &[End::Calls(1), End::Meets]);
    assert_eq!(
        kept(&through, Inline::Never),
        Ok(0),
        "what stands in it meets"
    );
}

#[test]
fn functions_are_given_the_ids_that_they_read() {
    let asks = module(2, 30, &[End::Asks]);
    assert_eq!(kept(&asks, Inline::Never), Ok(1));
    let through = module(2, 30, &[End::Calls(1), End::Asks]);
    assert_eq!(kept(&through, Inline::Never), Ok(2));
}

#[test]
fn recursion_is_refused_by_name() {
    for ends in [&[End::Calls(0)][..], &[End::Calls(1), End::Calls(0)]] {
        for inline in Inline::ALL {
            let e = kept(&module(1, 1, ends), inline).unwrap_err();
            assert!(e.contains("recursion"), "{e}");
        }
    }
}
