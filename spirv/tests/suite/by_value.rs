//! `ByVal` parameters: writes of the callee are invisible to others, and kernels have structures in
//! registers.

use crate::by_hand;
use gantry_codegen::Inline;
use gantry_spirv::{Options, Simd};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{
    Capability, Decoration, ExecutionModel, FunctionControl,
    FunctionParameterAttribute as Attribute, StorageClass, Word,
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

/// Kernel `k` that takes a pointer to dwords and a structure by value.
struct Taking {
    b: Builder,
    kernel: Word,
    int: Word,
    out: Word,
    pointer: Word,
    structure: Word,
    given: Word,
}

impl Taking {
    /// Begins the kernel. The structure has the members that `members` makes.
    fn new(members: impl Fn(&mut Builder) -> Vec<Word>) -> Taking {
        let mut b = by_hand::module(&[Capability::Int64, Capability::Int8]);
        let (void, int) = (b.type_void(), b.type_int(32, 0));
        let members = members(&mut b);
        let structure = b.type_struct(members);
        let own = b.type_pointer(None, StorageClass::Function, structure);
        let out = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
        let of = b.type_function(void, vec![out, own]);
        let kernel = b.begin_function(void, None, FunctionControl::NONE, of);
        let pointer = b.function_parameter(out).unwrap();
        let given = b.function_parameter(own).unwrap();
        let copied = Operand::FunctionParameterAttribute(Attribute::ByVal);
        b.decorate(given, Decoration::FuncParamAttr, vec![copied]);
        b.begin_block(None).unwrap();
        Taking {
            b,
            kernel: kernel.unwrap(),
            int,
            out,
            pointer,
            structure,
            given,
        }
    }

    fn n(&mut self, n: u32) -> Word {
        self.b.constant_bit32(self.int, n)
    }

    /// Pointer to the n-th dword of the buffer.
    fn place(&mut self, n: u32) -> Word {
        let n = self.n(n);
        let (out, pointer) = (self.out, self.pointer);
        self.b
            .in_bounds_ptr_access_chain(out, None, pointer, n, [])
            .unwrap()
    }

    /// Pointer to a part of the structure.
    fn part(&mut self, ty: Word, path: &[Word]) -> Word {
        let own = self.b.type_pointer(None, StorageClass::Function, ty);
        let path = path.iter().copied();
        self.b
            .in_bounds_access_chain(own, None, self.given, path)
            .unwrap()
    }

    fn run(mut self, given: [u32; 4], bytes: &[u8]) -> Vec<(u32, [u32; 4])> {
        self.b.ret().unwrap();
        self.b.end_function().unwrap();
        self.b
            .entry_point(ExecutionModel::Kernel, self.kernel, "k", []);
        let words = self.b.module().assemble();
        let simd = [8, 16, 32].map(|simd| {
            let options = Options {
                simd: Simd::Width(simd),
                ..Options::default()
            };
            by_hand::run_with(&words, &options, given, Some(bytes))
        });
        simd.into()
    }
}

/// Checks members of all sizes, with bytes between them.
#[test]
fn a_kernel_reads_members_in_registers() {
    let mut k = Taking::new(|b| [8, 32, 64, 8].map(|bits| b.type_int(bits, 0)).to_vec());
    for (n, bits) in [8, 32, 64, 8].into_iter().enumerate() {
        let (ty, which) = (k.b.type_int(bits, 0), k.n(n as u32));
        let from = k.part(ty, &[which]);
        let mut v = k.b.load(ty, None, from, None, []).unwrap();
        if bits != 32 {
            v = k.b.u_convert(k.int, None, v).unwrap();
        }
        let to = k.place(n as u32);
        k.b.store(to, v, None, []).unwrap();
    }
    let bytes: Vec<u8> = (1..=24).collect();
    for (scratch, out) in k.run([0; 4], &bytes) {
        assert_eq!((scratch, out), (0, [1, 0x0807_0605, 0x0c0b_0a09, 0x11]));
    }
}

/// Builds and runs a kernel that writes to its structure of words, and reads one of them at an
/// index that the buffer has.
fn indexed(copies: bool) -> Vec<(u32, [u32; 4])> {
    let mut k = Taking::new(|b| {
        let int = b.type_int(32, 0);
        let four = b.constant_bit32(int, 4);
        vec![int, b.type_array(int, four)]
    });
    let [zero, one, two] = [0, 1, 2].map(|n| k.n(n));
    let mut from = k.given;
    if copies {
        // Reads a copy of it, which is made by bytes.
        let (own, byte) = (k.b.type_int(64, 0), k.b.type_int(8, 0));
        let size = k.b.constant_bit64(own, 20);
        let whole = k.b.type_pointer(None, StorageClass::Function, k.structure);
        from = k.b.variable(whole, None, StorageClass::Function, None);
        let bytes = k.b.type_pointer(None, StorageClass::Function, byte);
        let [to, of] = [from, k.given].map(|p| k.b.bitcast(bytes, None, p).unwrap());
        k.b.copy_memory_sized(to, of, size, None, None, []).unwrap();
    }
    let int = k.int;
    let to = k.part(int, &[one, two]);
    let seven = k.n(7);
    k.b.store(to, seven, None, []).unwrap();
    let place = k.place(0);
    let index = k.b.load(int, None, place, None, []).unwrap();
    k.given = from;
    let at = k.part(int, &[one, index]);
    let v = k.b.load(int, None, at, None, []).unwrap();
    let first = k.part(int, &[zero]);
    let first = k.b.load(int, None, first, None, []).unwrap();
    for (n, v) in [(1, v), (2, first)] {
        let place = k.place(n);
        k.b.store(place, v, None, []).unwrap();
    }
    let words = [40u32, 41, 42, 43, 44];
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    k.run([2, 0, 0, 0], &bytes)
}

#[test]
fn a_kernel_indexes_its_structure_in_registers() {
    for (scratch, out) in indexed(false) {
        assert_eq!((scratch, out), (0, [2, 7, 40, 0]));
    }
}

#[test]
fn a_copy_of_a_structure_has_its_own_words() {
    for (scratch, out) in indexed(true) {
        assert_eq!((scratch, out), (0, [2, 43, 40, 0]));
    }
}
