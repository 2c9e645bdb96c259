//! Calling convention: called functions with more arguments or results than go in registers. They
//! are structures by value and as `ByVal` pointers, many scalars, and work-item ids.

use crate::by_hand;
use gantry_codegen::{CompileOptions, Inline, OptLevel, compile};
use gantry_runtime::{Device, DeviceKind, Grid};
use gantry_spirv::{Options, Simd, translate};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{
    BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl,
    FunctionParameterAttribute as Attribute, StorageClass, Word,
};

/// Dwords of a structure: more than go in registers.
const WORDS: usize = 36;
const ITEMS: usize = 40;

/// Module whose kernel `k` takes a pointer to a dword for each work-item, with types for its
/// functions.
struct Made {
    b: Builder,
    void: Word,
    int: Word,
    bool: Word,
    long: Word,
    ids: Word,
    /// Structure with an array, and private pointers to it and into it.
    large: Word,
    to_large: Word,
    to_int: Word,
    global: Word,
}

impl Made {
    fn new() -> Made {
        let mut b = by_hand::module(&[Capability::Int64]);
        let (void, int, long) = (b.type_void(), b.type_int(32, 0), b.type_int(64, 0));
        let bool = b.type_bool();
        let three = b.type_vector(long, 3);
        let input = b.type_pointer(None, StorageClass::Input, three);
        let ids = b.variable(input, None, StorageClass::Input, None);
        let which = Operand::BuiltIn(BuiltIn::GlobalInvocationId);
        b.decorate(ids, Decoration::BuiltIn, vec![which]);
        let count = b.constant_bit32(int, WORDS as u32);
        let array = b.type_array(int, count);
        let large = b.type_struct([array]);
        let to_large = b.type_pointer(None, StorageClass::Function, large);
        let to_int = b.type_pointer(None, StorageClass::Function, int);
        let global = b.type_pointer(None, StorageClass::CrossWorkgroup, int);
        Made {
            b,
            void,
            int,
            bool,
            long,
            ids,
            large,
            to_large,
            to_int,
            global,
        }
    }

    fn n(&mut self, n: u32) -> Word {
        self.b.constant_bit32(self.int, n)
    }

    fn begin(&mut self, result: Word, params: &[Word]) -> (Word, Vec<Word>) {
        let of = self.b.type_function(result, params.to_vec());
        let f = self
            .b
            .begin_function(result, None, FunctionControl::NONE, of);
        let params = params
            .iter()
            .map(|p| self.b.function_parameter(*p).unwrap());
        let params = params.collect();
        self.b.begin_block(None).unwrap();
        (f.unwrap(), params)
    }

    fn end(&mut self, value: Option<Word>) {
        match value {
            Some(v) => self.b.ret_value(v).unwrap(),
            None => self.b.ret().unwrap(),
        }
        self.b.end_function().unwrap();
    }

    fn decorate(&mut self, param: Word, attribute: Attribute) {
        let what = Operand::FunctionParameterAttribute(attribute);
        self.b
            .decorate(param, Decoration::FuncParamAttr, vec![what]);
    }

    /// Begins the kernel. Returns a pointer to the work-item's dword, and the work-item id.
    fn kernel(&mut self) -> (Word, Word, Word) {
        let (k, params) = self.begin(self.void, &[self.global]);
        let id = self.id();
        let at = self
            .b
            .in_bounds_ptr_access_chain(self.global, None, params[0], id, []);
        (k, at.unwrap(), id)
    }

    /// Loads the work-item id.
    fn id(&mut self) -> Word {
        let three = self.b.type_vector(self.long, 3);
        let all = self.b.load(three, None, self.ids, None, []).unwrap();
        let x = self.b.composite_extract(self.long, None, all, [0]).unwrap();
        self.b.u_convert(self.int, None, x).unwrap()
    }

    fn finish(mut self, (kernel, at): (Word, Word), value: Word) -> Vec<u32> {
        self.b.store(at, value, None, []).unwrap();
        self.end(None);
        let ids = self.ids;
        self.b
            .entry_point(ExecutionModel::Kernel, kernel, "k", [ids]);
        self.b.module().assemble()
    }

    fn extract(&mut self, of: Word, n: u32) -> Word {
        self.b
            .composite_extract(self.int, None, of, [0, n])
            .unwrap()
    }

    fn insert(&mut self, v: Word, into: Word, n: u32) -> Word {
        self.b
            .composite_insert(self.large, None, v, into, [0, n])
            .unwrap()
    }

    fn part(&mut self, pointer: Word, n: u32) -> Word {
        let (zero, n) = (self.n(0), self.n(n));
        let at = self
            .b
            .in_bounds_access_chain(self.to_int, None, pointer, [zero, n]);
        at.unwrap()
    }

    fn load(&mut self, pointer: Word, n: u32) -> Word {
        let at = self.part(pointer, n);
        self.b.load(self.int, None, at, None, []).unwrap()
    }

    fn store(&mut self, pointer: Word, n: u32, v: Word) {
        let at = self.part(pointer, n);
        self.b.store(at, v, None, []).unwrap();
    }

    fn variable(&mut self) -> Word {
        let class = StorageClass::Function;
        self.b.variable(self.to_large, None, class, None)
    }

    fn add(&mut self, a: Word, b: Word) -> Word {
        self.b.i_add(self.int, None, a, b).unwrap()
    }

    fn times(&mut self, a: Word, n: u32) -> Word {
        let n = self.n(n);
        self.b.i_mul(self.int, None, a, n).unwrap()
    }

    /// Tests if a number is odd.
    fn odd(&mut self, v: Word) -> Word {
        let (zero, one) = (self.n(0), self.n(1));
        let bit = self.b.bitwise_and(self.int, None, v, one).unwrap();
        self.b.i_not_equal(self.bool, None, bit, zero).unwrap()
    }
}

/// Runs the kernel. Returns the number of called functions, and the dwords.
fn run(words: &[u32], target: &str, level: OptLevel, inline: Inline) -> (usize, Vec<u32>) {
    let mut to = CompileOptions::for_target(target).unwrap();
    to.opt = level;
    let options = Options {
        simd: Simd::Width(16),
        inline,
        target: Some(to.clone()),
        ..Options::default()
    };
    let translated = translate(words, &options).unwrap();
    let functions = translated.module.functions.len() - 1;
    to.inline = inline;
    let zebin = compile(&translated.module, &to).unwrap().zebin;
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let given: Vec<u32> = (0..ITEMS as u32).map(|n| n * 77 + 5).collect();
    let numbers = device.buffer_from(&given).unwrap();
    let kernel = device.load(&zebin).unwrap().kernel("k").unwrap();
    let grid = Grid::new([ITEMS as u32, 1, 1]);
    kernel.launch(grid).arg(&numbers).run().unwrap();
    (functions, numbers.read().unwrap())
}

/// Checks a module against a function of dword and work-item id. `functions` is the number of
/// called functions.
fn judge(words: &[u32], functions: usize, expected: impl Fn(u32, u32) -> u32) {
    let want: Vec<u32> = (0..ITEMS as u32).map(|n| expected(n * 77 + 5, n)).collect();
    for target in ["skl", "tgllp", "dg2", "pvc"] {
        for level in OptLevel::ALL {
            for inline in [Inline::All, Inline::Never] {
                let (kept, out) = run(words, target, level, inline);
                assert_eq!(out, want, "{target} {level:?} {inline:?}");
                let stay = if inline == Inline::All { 0 } else { functions };
                assert_eq!(kept, stay, "{target} {inline:?}");
            }
        }
    }
}

/// Builds a function that changes a structure and returns it, and one that calls it once or, if its
/// id is odd, twice. It adds its own argument. The kernel calls that one unless its id is a
/// multiple of four.
fn values() -> Vec<u32> {
    let mut m = Made::new();
    let (large, int) = (m.large, m.int);
    let (inner, p) = m.begin(large, &[large, int]);
    let (first, last) = (m.extract(p[0], 0), m.extract(p[0], 35));
    let sum = m.times(first, 3);
    let sum = m.add(sum, last);
    let sum = m.add(sum, p[1]);
    let out = m.insert(sum, p[0], 0);
    let more = m.add(sum, first);
    let out = m.insert(more, out, 35);
    m.end(Some(out));

    let (outer, p) = m.begin(large, &[large, int]);
    let label = m.b.id();
    m.b.branch(label).unwrap();
    m.b.begin_block(Some(label)).unwrap();
    let a = m.b.function_call(large, None, inner, [p[0], p[1]]).unwrap();
    let odd = m.odd(p[1]);
    let (then, end) = (m.b.id(), m.b.id());
    m.b.branch_conditional(odd, then, end, []).unwrap();
    m.b.begin_block(Some(then)).unwrap();
    let by = m.times(p[1], 7);
    let b = m.b.function_call(large, None, inner, [a, by]).unwrap();
    m.b.branch(end).unwrap();
    m.b.begin_block(Some(end)).unwrap();
    let all = m.b.phi(large, None, [(a, label), (b, then)]).unwrap();
    let (given, made) = (m.extract(p[0], 0), m.extract(all, 0));
    let sum = m.add(given, made);
    let all = m.insert(sum, all, 1);
    m.end(Some(all));

    let (k, at, id) = m.kernel();
    let label = m.b.id();
    m.b.branch(label).unwrap();
    m.b.begin_block(Some(label)).unwrap();
    let x = m.b.load(int, None, at, None, []).unwrap();
    let mut s = m.b.constant_null(large);
    for n in [0, 1, 35] {
        let v = m.times(x, n + 1);
        s = m.insert(v, s, n);
    }
    let (three, zero) = (m.n(3), m.n(0));
    let low = m.b.bitwise_and(int, None, id, three).unwrap();
    let is = m.b.i_not_equal(m.bool, None, low, zero).unwrap();
    let (then, end) = (m.b.id(), m.b.id());
    m.b.branch_conditional(is, then, end, []).unwrap();
    m.b.begin_block(Some(then)).unwrap();
    let t = m.b.function_call(large, None, outer, [s, id]).unwrap();
    m.b.branch(end).unwrap();
    m.b.begin_block(Some(end)).unwrap();
    let all = m.b.phi(large, None, [(s, label), (t, then)]).unwrap();
    let mut sum = m.extract(all, 0);
    for n in [1, 35, 20] {
        let v = m.extract(all, n);
        sum = m.times(sum, 5);
        sum = m.add(sum, v);
    }
    m.finish((k, at), sum)
}

#[test]
fn large_values_go_in_memory() {
    let inner = |s: &mut [u32; WORDS], k: u32| {
        let first = s[0];
        s[0] = first.wrapping_mul(3).wrapping_add(s[35]).wrapping_add(k);
        s[35] = s[0].wrapping_add(first);
    };
    judge(&values(), 2, |x, id| {
        let mut s = [0; WORDS];
        for n in [0, 1, 35] {
            s[n] = x.wrapping_mul(n as u32 + 1);
        }
        if id % 4 != 0 {
            let given = s[0];
            inner(&mut s, id);
            if id % 2 == 1 {
                inner(&mut s, id.wrapping_mul(7));
            }
            s[1] = given.wrapping_add(s[0]);
        }
        let all = [1, 35, 20].map(|n| s[n]);
        let next = |sum: u32, v: u32| sum.wrapping_mul(5).wrapping_add(v);
        all.into_iter().fold(s[0], next)
    });
}

/// Builds a function with a `ByVal` structure, which it changes, and a pointer for its result.
/// Another function calls it twice with its own structure, which it changes between the calls. The
/// kernel calls that one.
fn pointers() -> Vec<u32> {
    let mut m = Made::new();
    let (void, int, to_large) = (m.void, m.int, m.to_large);
    let own = |m: &mut Made| {
        let (f, p) = m.begin(void, &[to_large, to_large, int]);
        m.decorate(p[0], Attribute::Sret);
        m.decorate(p[0], Attribute::NoAlias);
        m.decorate(p[1], Attribute::ByVal);
        (f, p)
    };
    let (inner, p) = own(&mut m);
    let (first, last) = (m.load(p[1], 0), m.load(p[1], 35));
    let sum = m.times(first, 3);
    let sum = m.add(sum, p[2]);
    m.store(p[1], 35, sum);
    let all = m.load(p[1], 35);
    let all = m.add(all, last);
    m.store(p[0], 0, all);
    m.store(p[0], 35, first);
    m.end(None);

    let (outer, p) = own(&mut m);
    let between = m.variable();
    m.b.function_call(void, None, inner, [between, p[1], p[2]])
        .unwrap();
    let v = m.load(between, 0);
    let w = m.load(p[1], 35);
    let v = m.add(v, w);
    m.store(p[1], 0, v);
    m.b.function_call(void, None, inner, [p[0], p[1], v])
        .unwrap();
    m.end(None);

    let (k, at, id) = m.kernel();
    let [given, got] = [(); 2].map(|()| m.variable());
    let x = m.b.load(int, None, at, None, []).unwrap();
    m.store(given, 0, x);
    let y = m.times(x, 9);
    m.store(given, 35, y);
    m.b.function_call(void, None, outer, [got, given, id])
        .unwrap();
    let mut sum = m.n(0);
    for (from, n) in [(got, 0), (got, 35), (given, 0), (given, 35)] {
        let v = m.load(from, n);
        sum = m.times(sum, 5);
        sum = m.add(sum, v);
    }
    m.finish((k, at), sum)
}

#[test]
fn what_is_got_by_value_is_changed_for_nobody_else() {
    let inner = |first: u32, last: u32, k: u32| {
        let sum = first.wrapping_mul(3).wrapping_add(k);
        (sum.wrapping_add(last), first)
    };
    judge(&pointers(), 2, |x, id| {
        let y = x.wrapping_mul(9);
        let v = inner(x, y, id).0.wrapping_add(y);
        let (a, b) = inner(v, y, v);
        let next = |sum: u32, v: u32| sum.wrapping_mul(5).wrapping_add(v);
        [a, b, x, y].into_iter().fold(0, next)
    });
}

/// Builds a function with a `ByVal` structure and a pointer to the same one. It writes through the
/// pointer before it reads the copy.
fn aliased() -> Vec<u32> {
    let mut m = Made::new();
    let (int, to_large) = (m.int, m.to_large);
    let (f, p) = m.begin(int, &[to_large, to_large]);
    m.decorate(p[0], Attribute::ByVal);
    let seven = m.n(7);
    m.store(p[1], 3, seven);
    let v = m.load(p[0], 3);
    m.end(Some(v));

    let (k, at, _) = m.kernel();
    let own = m.variable();
    let x = m.b.load(int, None, at, None, []).unwrap();
    m.store(own, 3, x);
    let v = m.b.function_call(int, None, f, [own, own]).unwrap();
    let v = m.times(v, 5);
    let w = m.load(own, 3);
    let v = m.add(v, w);
    m.finish((k, at), v)
}

#[test]
fn what_is_got_by_value_is_not_written_by_other_pointers() {
    judge(&aliased(), 1, |x, _| x.wrapping_mul(5).wrapping_add(7));
}

/// Builds a function of forty scalars that reads the work-item id, and one that forwards them.
/// Twenty of them are the kernel's own.
fn many() -> Vec<u32> {
    let mut m = Made::new();
    let int = m.int;
    let types = vec![int; 40];
    let (inner, p) = m.begin(int, &types);
    let mut sum = m.id();
    for v in p {
        sum = m.times(sum, 3);
        sum = m.add(sum, v);
    }
    m.end(Some(sum));
    let (outer, p) = m.begin(int, &types);
    let v = m.b.function_call(int, None, inner, p).unwrap();
    m.end(Some(v));
    let (k, at, _) = m.kernel();
    let x = m.b.load(int, None, at, None, []).unwrap();
    let given = (0..40).map(|n| match n % 2 {
        0 => m.n(n + 100),
        _ => m.times(x, n),
    });
    let given: Vec<Word> = given.collect();
    let v = m.b.function_call(int, None, outer, given).unwrap();
    m.finish((k, at), v)
}

#[test]
fn many_scalars_and_the_number_of_the_work_item_are_passed() {
    judge(&many(), 2, |x, id| {
        (0..40u32).fold(id, |sum, n| {
            let v = if n % 2 == 0 {
                n + 100
            } else {
                x.wrapping_mul(n)
            };
            sum.wrapping_mul(3).wrapping_add(v)
        })
    });
}

/// Builds functions of a structure, each of which calls the previous one four times.
fn deep(levels: usize) -> Vec<u32> {
    let mut m = Made::new();
    let (large, int) = (m.large, m.int);
    let (mut f, p) = m.begin(large, &[large, int]);
    let mut s = p[0];
    for n in 0..WORDS as u32 {
        let v = m.extract(s, n);
        let w = m.extract(s, (n + 5) % WORDS as u32);
        let v = m.times(v, 3);
        let v = m.add(v, w);
        let v = m.add(v, p[1]);
        s = m.insert(v, s, n);
    }
    m.end(Some(s));
    for n in 0..levels {
        let (g, p) = m.begin(large, &[large, int]);
        let mut s = p[0];
        for by in [1, 7, 11, 13] {
            let k = m.times(p[1], by + n as u32);
            s = m.b.function_call(large, None, f, [s, k]).unwrap();
        }
        m.end(Some(s));
        f = g;
    }
    let (k, at, id) = m.kernel();
    let x = m.b.load(int, None, at, None, []).unwrap();
    let null = m.b.constant_null(large);
    let s = m.insert(x, null, 0);
    let s = m.b.function_call(large, None, f, [s, id]).unwrap();
    let v = m.extract(s, 30);
    m.finish((k, at), v)
}

fn deep_value(s: &mut [u32; WORDS], k: u32, level: usize) {
    if level == 0 {
        for n in 0..WORDS {
            let v = s[n].wrapping_mul(3).wrapping_add(s[(n + 5) % WORDS]);
            s[n] = v.wrapping_add(k);
        }
        return;
    }
    for by in [1, 7, 11, 13] {
        deep_value(s, k.wrapping_mul(by + level as u32 - 1), level - 1);
    }
}

#[test]
fn a_tree_of_calls_with_large_structures_is_no_larger_than_its_functions() {
    let kept = |words: &[u32], inline: Inline| {
        let options = Options {
            simd: Simd::Width(16),
            inline,
            ..Options::default()
        };
        let translated = translate(words, &options).map_err(|e| e.to_string())?;
        Ok::<usize, String>(translated.module.functions.len() - 1)
    };
    let high = deep(8);
    let e = kept(&high, Inline::All).unwrap_err();
    assert!(e.contains("more than 500000 instructions"), "{e}");
    let auto = kept(&high, Inline::Auto).unwrap();
    assert!(auto > 0, "{auto}");
    assert_eq!(kept(&high, Inline::Never), Ok(9));
    let want: Vec<u32> = (0..ITEMS as u32)
        .map(|id| {
            let mut s = [0; WORDS];
            s[0] = id * 77 + 5;
            deep_value(&mut s, id, 3);
            s[30]
        })
        .collect();
    let (kept, out) = run(&deep(3), "skl", OptLevel::default(), Inline::Never);
    assert_eq!((kept, out), (4, want));
}
