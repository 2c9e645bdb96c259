//! Generic pointers to one memory, through phis and loops.

use crate::by_hand;
use gantry_spirv::{Options, Simd};
use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use spirv::{BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl, StorageClass, Word};

/// Builds a kernel with a divergent loop that chooses a generic pointer under a branch with a
/// store. The pointee is added to a sum, which is stored through the pointer at the end. `class` is
/// the memory.
fn module(class: StorageClass) -> Vec<u32> {
    let capabilities = [Capability::Int64, Capability::GenericPointer];
    let mut b = by_hand::module(&capabilities);
    let (void, int, long, bool) = (
        b.type_void(),
        b.type_int(32, 0),
        b.type_int(64, 0),
        b.type_bool(),
    );
    let three = b.type_vector(long, 3);
    let input = b.type_pointer(None, StorageClass::Input, three);
    let ids = b.variable(input, None, StorageClass::Input, None);
    let which = Operand::BuiltIn(BuiltIn::LocalInvocationId);
    b.decorate(ids, Decoration::BuiltIn, vec![which]);
    let numbers = [0, 1, 2, 3].map(|n| b.constant_bit32(int, n));
    let [zero, one, two, three_of] = numbers;
    let count = b.constant_bit32(int, 4);
    let array = b.type_array(int, count);
    let whole = b.type_pointer(None, class, array);
    let part = b.type_pointer(None, class, int);
    let global = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
    let generic = b.type_pointer(None, StorageClass::Generic, int);
    let shared = match class {
        StorageClass::Workgroup => Some(b.variable(whole, None, class, None)),
        _ => None,
    };
    let of = b.type_function(void, vec![global]);
    let none = FunctionControl::NONE;
    let kernel = b.begin_function(void, None, none, of).unwrap();
    let out = b.function_parameter(global).unwrap();
    let [entry, head, then, other, join, tail] = [(); 6].map(|()| b.id());
    b.begin_block(Some(entry)).unwrap();
    let var = match shared {
        Some(var) => var,
        None => b.variable(whole, None, class, None),
    };
    let all = b.load(three, None, ids, None, []).unwrap();
    let x = b.composite_extract(long, None, all, [0]).unwrap();
    let x = b.u_convert(int, None, x).unwrap();
    // A dynamic index keeps the variable in memory.
    let first = b.bitwise_and(int, None, x, zero).unwrap();
    let mut to = Vec::new();
    for (n, v) in [(first, two), (one, three_of)] {
        let at = b.in_bounds_access_chain(part, None, var, [n]).unwrap();
        b.store(at, v, None, []).unwrap();
        to.push(b.ptr_cast_to_generic(generic, None, at).unwrap());
    }
    b.branch(head).unwrap();

    b.begin_block(Some(head)).unwrap();
    let (next, added): (Word, Word) = (b.id(), b.id());
    let n = b.phi(int, None, [(zero, entry), (next, join)]).unwrap();
    let sum = b.phi(int, None, [(zero, entry), (added, join)]).unwrap();
    let bit = b.i_add(int, None, n, x).unwrap();
    let bit = b.bitwise_and(int, None, bit, one).unwrap();
    let odd = b.i_equal(bool, None, bit, one).unwrap();
    b.branch_conditional(odd, then, other, []).unwrap();
    for (block, index) in [(then, one), (other, two)] {
        b.begin_block(Some(block)).unwrap();
        let at = b.in_bounds_ptr_access_chain(global, None, out, index, []);
        b.store(at.unwrap(), index, None, []).unwrap();
        b.branch(join).unwrap();
    }
    b.begin_block(Some(join)).unwrap();
    let p = b
        .phi(generic, None, [(to[1], then), (to[0], other)])
        .unwrap();
    let v = b.load(int, None, p, None, []).unwrap();
    b.i_add(int, Some(added), sum, v).unwrap();
    b.i_add(int, Some(next), n, one).unwrap();
    let on = b.u_less_than_equal(bool, None, next, x).unwrap();
    b.branch_conditional(on, head, tail, []).unwrap();

    b.begin_block(Some(tail)).unwrap();
    b.store(p, added, None, []).unwrap();
    let v = b.load(int, None, p, None, []).unwrap();
    b.store(out, v, None, []).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Kernel, kernel, "k", [ids]);
    b.module().assemble()
}

#[test]
fn one_that_is_chosen_in_a_loop_that_channels_leave_is_as_its_memory_has_it() {
    for class in [StorageClass::Workgroup, StorageClass::Function] {
        for simd in [8, 16, 32] {
            let options = Options {
                simd: Simd::Width(simd),
                ..Options::default()
            };
            let (_, out) = by_hand::run(&module(class), &options, [0; 3]);
            assert_eq!(out, [2, 0, 2], "{class:?} {simd}");
        }
    }
}
