//! Promotion of private variables that are accessed through pointers of other types.

use crate::by_hand;
use gantry_spirv::{Options, Simd};
use rspirv::binary::Assemble;
use rspirv::dr::Builder;
use spirv::{Capability, ExecutionModel, FunctionControl, StorageClass, Word};

/// Module of a kernel `k` with a pointer to dwords, and its types.
struct Made {
    b: Builder,
    kernel: Word,
    pointer: Word,
    int: Word,
    three: Word,
    four: Word,
    /// Structure of a byte and a dword with padding, and one of two dwords.
    loose: Word,
    dense: Word,
}

impl Made {
    fn new() -> Made {
        use Capability::*;
        let mut b = by_hand::module(&[Int8, Int64, GenericPointer]);
        let (void, int, byte) = (b.type_void(), b.type_int(32, 0), b.type_int(8, 0));
        let (three, four) = (b.type_vector(int, 3), b.type_vector(int, 4));
        let (loose, dense) = (b.type_struct([byte, int]), b.type_struct([int, int]));
        let out = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
        let of = b.type_function(void, vec![out]);
        let kernel = b.begin_function(void, None, FunctionControl::NONE, of);
        let pointer = b.function_parameter(out).unwrap();
        b.begin_block(None).unwrap();
        Made {
            b,
            kernel: kernel.unwrap(),
            pointer,
            int,
            three,
            four,
            loose,
            dense,
        }
    }

    fn variable(&mut self, ty: Word) -> Word {
        let own = self.b.type_pointer(None, StorageClass::Function, ty);
        self.b.variable(own, None, StorageClass::Function, None)
    }

    /// Casts a pointer to one to another type.
    fn cast(&mut self, v: Word, class: StorageClass, ty: Word) -> Word {
        let to = self.b.type_pointer(None, class, ty);
        self.b.bitcast(to, None, v).unwrap()
    }

    /// Copies bytes.
    fn copy(&mut self, to: (Word, StorageClass), from: (Word, StorageClass), size: u64) {
        let (byte, long) = (self.b.type_int(8, 0), self.b.type_int(64, 0));
        let size = self.b.constant_bit64(long, size);
        let to = self.cast(to.0, to.1, byte);
        let from = self.cast(from.0, from.1, byte);
        self.b
            .copy_memory_sized(to, from, size, None, None, [])
            .unwrap();
    }

    /// Runs the kernel. Returns its scratch bytes, and the numbers afterwards.
    fn run(mut self, given: [u32; 8]) -> (u32, [u32; 8]) {
        self.b.ret().unwrap();
        self.b.end_function().unwrap();
        self.b
            .entry_point(ExecutionModel::Kernel, self.kernel, "k", []);
        let options = Options {
            simd: Simd::Width(16),
            ..Options::default()
        };
        by_hand::run(&self.b.module().assemble(), &options, given)
    }
}

const GLOBAL: StorageClass = StorageClass::CrossWorkgroup;
const OWN: StorageClass = StorageClass::Function;
const GIVEN: [u32; 8] = [1, 2, 3, 4, 0, 0, 0, 0];

/// Builds and runs a kernel that shuffles a 4-vector into a 3-vector variable through a 4-vector
/// pointer, then reads it back, reverses and stores it.
fn three_as_four(fourth: u32) -> (u32, [u32; 8]) {
    let mut m = Made::new();
    let var = m.variable(m.three);
    let as_four = m.cast(var, OWN, m.four);
    let given = m.cast(m.pointer, GLOBAL, m.four);
    let v = m.b.load(m.four, None, given, None, []).unwrap();
    let v =
        m.b.vector_shuffle(m.four, None, v, v, [1, 2, 0, fourth])
            .unwrap();
    m.b.store(as_four, v, None, []).unwrap();
    let v = m.b.load(m.four, None, as_four, None, []).unwrap();
    let v =
        m.b.vector_shuffle(m.four, None, v, v, [2, 1, 0, 3])
            .unwrap();
    let one = m.b.constant_bit32(m.int, 1);
    let to = m.b.type_pointer(None, GLOBAL, m.four);
    let at = m.b.in_bounds_ptr_access_chain(to, None, given, one, []);
    m.b.store(at.unwrap(), v, None, []).unwrap();
    m.run(GIVEN)
}

#[test]
fn three_components_are_loaded_and_stored_as_four() {
    let (scratch, out) = three_as_four(u32::MAX);
    assert_eq!((scratch, &out[4..7]), (0, &[1, 3, 2][..]));
}

/// Checks that constants with an undefined fourth component are accepted, as front ends use to
/// start vector sums.
#[test]
fn a_constant_is_stored_as_four() {
    let mut m = Made::new();
    let var = m.variable(m.three);
    let as_four = m.cast(var, OWN, m.four);
    let [five, six] = [5, 6].map(|n| m.b.constant_bit32(m.int, n));
    // A module-scope constant, not one of the block.
    let block = m.b.selected_block();
    m.b.select_block(None).unwrap();
    let nothing = m.b.undef(m.int, None);
    m.b.select_block(block).unwrap();
    let v = m.b.constant_composite(m.four, [five, six, five, nothing]);
    m.b.store(as_four, v, None, []).unwrap();
    let v = m.b.load(m.four, None, as_four, None, []).unwrap();
    let given = m.cast(m.pointer, GLOBAL, m.four);
    m.b.store(given, v, None, []).unwrap();
    let (scratch, out) = m.run(GIVEN);
    assert_eq!((scratch, &out[..3]), (0, &[5, 6, 5][..]));
}

/// Checks that a fourth component is kept, which may belong to another member of a union.
#[test]
fn a_fourth_component_is_kept() {
    let (_, out) = three_as_four(3);
    assert_eq!(out[4..], [1, 3, 2, 4]);
}

/// Copies a structure into a variable, adds to its last member, and copies it to the next position.
fn copied(ty: fn(&Made) -> Word) -> (u32, [u32; 8]) {
    let mut m = Made::new();
    let ty = ty(&m);
    let var = m.variable(ty);
    let given = m.cast(m.pointer, GLOBAL, ty);
    m.copy((var, OWN), (given, GLOBAL), 8);
    let one = m.b.constant_bit32(m.int, 1);
    let part = m.b.type_pointer(None, OWN, m.int);
    let at = m.b.in_bounds_access_chain(part, None, var, [one]).unwrap();
    let v = m.b.load(m.int, None, at, None, []).unwrap();
    let v = m.b.i_add(m.int, None, v, v).unwrap();
    m.b.store(at, v, None, []).unwrap();
    let to = m.b.type_pointer(None, GLOBAL, ty);
    let next =
        m.b.in_bounds_ptr_access_chain(to, None, given, one, [])
            .unwrap();
    m.copy((next, GLOBAL), (var, OWN), 8);
    m.run([0x0403_0201, 21, 0, 0, 0, 0, 0, 0])
}

#[test]
fn copies_of_all_bytes_are_values() {
    let (scratch, out) = copied(|m| m.dense);
    assert_eq!(
        (scratch, &out[..4]),
        (0, &[0x0403_0201, 21, 0x0403_0201, 42][..])
    );
}

/// Checks that padding is copied, which may belong to another member of a union.
#[test]
fn bytes_between_parts_are_copied() {
    let (_, out) = copied(|m| m.loose);
    assert_eq!(out[..4], [0x0403_0201, 21, 0x0403_0201, 42]);
}

#[test]
fn a_pointer_to_any_memory_is_one_to_a_variable() {
    let mut m = Made::new();
    let var = m.variable(m.int);
    let any = m.b.type_pointer(None, StorageClass::Generic, m.int);
    let any = m.b.ptr_cast_to_generic(any, None, var).unwrap();
    let v = m.b.load(m.int, None, m.pointer, None, []).unwrap();
    m.b.store(var, v, None, []).unwrap();
    let v = m.b.load(m.int, None, any, None, []).unwrap();
    let v = m.b.i_add(m.int, None, v, v).unwrap();
    m.b.store(any, v, None, []).unwrap();
    let v = m.b.load(m.int, None, var, None, []).unwrap();
    m.b.store(m.pointer, v, None, []).unwrap();
    let (scratch, out) = m.run([21; 8]);
    assert_eq!((scratch, out[0]), (0, 42));
}

/// Copies a variable to the first member of a structure of the same type, through a cast of a
/// pointer to the structure. `before` is the number of elements before it.
fn copied_into_first(before: usize) -> (u32, [u32; 8]) {
    let mut m = Made::new();
    let two = m.b.constant_bit32(m.int, 2);
    let array = m.b.type_array(m.int, two);
    let inner =
        m.b.type_struct(vec![m.dense; before].into_iter().chain([array]));
    let outer = m.b.type_struct([inner]);
    let (from, to) = (m.variable(array), m.variable(outer));
    let given = m.cast(m.pointer, GLOBAL, array);
    m.copy((from, OWN), (given, GLOBAL), 8);
    let first = m.cast(to, OWN, array);
    let (long, part) = (m.b.type_int(64, 0), m.b.type_pointer(None, OWN, m.int));
    let size = m.b.constant_bit64(long, 8);
    m.b.copy_memory_sized(first, from, size, None, None, [])
        .unwrap();
    let zero = m.b.constant_bit32(m.int, 0);
    let one = m.b.constant_bit32(m.int, 1);
    for (n, index) in [(zero, one), (one, zero)] {
        let at = m.b.in_bounds_access_chain(part, None, to, [zero, zero, n]);
        let v = m.b.load(m.int, None, at.unwrap(), None, []).unwrap();
        let ptr = m.b.type_pointer(None, GLOBAL, m.int);
        let to =
            m.b.in_bounds_ptr_access_chain(ptr, None, m.pointer, index, []);
        m.b.store(to.unwrap(), v, None, []).unwrap();
    }
    m.run(GIVEN)
}

#[test]
fn a_structure_is_seen_as_what_it_begins_with() {
    let (scratch, out) = copied_into_first(0);
    assert_eq!((scratch, &out[..2]), (0, &[2, 1][..]));
    let (_, out) = copied_into_first(1);
    assert_eq!(out[..2], [2, 1], "or as another type of the same bytes");
}
