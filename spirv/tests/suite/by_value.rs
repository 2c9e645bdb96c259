//! `ByVal` parameters: writes of the callee are invisible to others.

use crate::by_hand;
use gantry_codegen::Inline;
use gantry_spirv::{Options, Simd};
use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use spirv::{
    Capability, Decoration, ExecutionModel, FunctionControl,
    FunctionParameterAttribute as Attribute, StorageClass,
};

/// Builds a kernel with a structure of 40 and 2, and a function that takes it by value. The
/// function adds an argument to the first number and returns the sum of both. The kernel calls it
/// twice, and stores both results and its own first number.
fn module() -> Vec<u32> {
    let mut b = by_hand::module(&[Capability::Int64]);
    let (void, int) = (b.type_void(), b.type_int(32, 0));
    let pair = b.type_struct([int, int]);
    let own = b.type_pointer(None, StorageClass::Function, pair);
    let part = b.type_pointer(None, StorageClass::Function, int);
    let out = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let [zero, one, two, forty] = [0, 1, 2, 40].map(|n| b.constant_bit32(int, n));
    let of = b.type_function(int, vec![own, int]);
    let none = FunctionControl::NONE;
    let f = b.begin_function(int, None, none, of).unwrap();
    let given = b.function_parameter(own).unwrap();
    let by = b.function_parameter(int).unwrap();
    let copied = Operand::FunctionParameterAttribute(Attribute::ByVal);
    b.decorate(given, Decoration::FuncParamAttr, vec![copied]);
    b.begin_block(None).unwrap();
    let first = b.in_bounds_access_chain(part, None, given, [zero]).unwrap();
    let v = b.load(int, None, first, None, []).unwrap();
    let v = b.i_add(int, None, v, by).unwrap();
    b.store(first, v, None, []).unwrap();
    let second = b.in_bounds_access_chain(part, None, given, [one]).unwrap();
    let w = b.load(int, None, second, None, []).unwrap();
    let sum = b.i_add(int, None, v, w).unwrap();
    b.ret_value(sum).unwrap();
    b.end_function().unwrap();

    let of = b.type_function(void, vec![out]);
    let k = b.begin_function(void, None, none, of).unwrap();
    let out_pointer = b.function_parameter(out).unwrap();
    b.begin_block(None).unwrap();
    let var = b.variable(own, None, StorageClass::Function, None);
    let at = [zero, one].map(|n| b.in_bounds_access_chain(part, None, var, [n]).unwrap());
    b.store(at[0], forty, None, []).unwrap();
    b.store(at[1], two, None, []).unwrap();
    let mut results = Vec::new();
    for by in [one, two] {
        results.push(b.function_call(int, None, f, [var, by]).unwrap());
    }
    results.push(b.load(int, None, at[0], None, []).unwrap());
    for (v, n) in results.into_iter().zip([zero, one, two]) {
        let at = b.in_bounds_ptr_access_chain(out, None, out_pointer, n, []);
        b.store(at.unwrap(), v, None, []).unwrap();
    }
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Kernel, k, "k", []);
    b.module().assemble()
}

#[test]
fn a_function_writes_its_own_copy() {
    for simd in [8, 16, 32] {
        for inline in [Inline::All, Inline::Never] {
            let options = Options {
                simd: Simd::Width(simd),
                inline,
                ..Options::default()
            };
            let (_, out) = by_hand::run(&module(), &options, [0; 4]);
            assert_eq!(out, [43, 44, 40, 0]);
        }
    }
}
