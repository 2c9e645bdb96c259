//! Jump threading in graphs that structured languages do not produce.

use crate::by_hand;
use gantry_spirv::{Options, Simd};
use rspirv::binary::Assemble;
use spirv::{ExecutionModel, FunctionControl, StorageClass};

/// Builds a kernel where work-items with 1 reach a test with the flag set, and those with 2 or over
/// 3 with it clear. Those with 3 skip the test. After it some store, then all join. The edge taken
/// into the test is stored twice: from the branch itself, and through the storing block.
fn module() -> Vec<u32> {
    let mut b = by_hand::module(&[]);
    let (void, int, bool) = (b.type_void(), b.type_int(32, 0), b.type_bool());
    let global = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let numbers = [0, 1, 2, 3, 5, 7, 10, 20, 30].map(|n| b.constant_bit32(int, n));
    let [zero, one, two, three, five, seven, ten, twenty, thirty] = numbers;
    let of = b.type_function(void, vec![global]);
    let kernel = b.begin_function(void, None, FunctionControl::NONE, of);
    let p = b.function_parameter(global).unwrap();
    let [entry, second, third, around, asks, stores, end] = [(); 7].map(|()| b.id());

    b.begin_block(Some(entry)).unwrap();
    let x = b.load(int, None, p, None, []).unwrap();
    let is = [one, two, three].map(|n| b.i_equal(bool, None, x, n).unwrap());
    b.branch_conditional(is[0], asks, second, []).unwrap();
    b.begin_block(Some(second)).unwrap();
    b.branch_conditional(is[1], asks, third, []).unwrap();
    b.begin_block(Some(third)).unwrap();
    b.branch_conditional(is[2], around, asks, []).unwrap();
    b.begin_block(Some(around)).unwrap();
    b.branch(end).unwrap();

    b.begin_block(Some(asks)).unwrap();
    let flag = [(one, entry), (zero, second), (zero, third)];
    let flag = b.phi(int, None, flag).unwrap();
    let brought = [(ten, entry), (twenty, second), (thirty, third)];
    let brought = b.phi(int, None, brought).unwrap();
    let asked = b.i_not_equal(bool, None, flag, zero).unwrap();
    b.branch_conditional(asked, stores, end, []).unwrap();
    b.begin_block(Some(stores)).unwrap();
    let at = b.in_bounds_ptr_access_chain(global, None, p, one, []);
    b.store(at.unwrap(), five, None, []).unwrap();
    b.branch(end).unwrap();

    b.begin_block(Some(end)).unwrap();
    let all = [(seven, around), (brought, asks), (brought, stores)];
    let all = b.phi(int, None, all).unwrap();
    b.store(p, all, None, []).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Kernel, kernel.unwrap(), "k", []);
    b.module().assemble()
}

#[test]
fn what_is_brought_is_told_apart_where_all_come_together() {
    let options = Options {
        simd: Simd::Width(16),
        ..Options::default()
    };
    for (x, expected) in [(1, [10, 5]), (2, [20, 0]), (3, [7, 0]), (4, [30, 0])] {
        let (_, out) = by_hand::run(&module(), &options, [x, 0]);
        assert_eq!(out, expected, "{x}");
    }
}
