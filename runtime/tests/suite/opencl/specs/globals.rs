//! Program-scope variables, and initializers that hold addresses. The expectation is computed here,
//! since pocl has no such variables in global memory.

use super::super::case::{Case, Memory, any, zero};

const ROWS: [[i32; 4]; 3] = [[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400]];
const NAMES: [&str; 6] = ["zero", "one", "two", "three", "four", "five and more"];
/// Work-items of a launch, one group.
const N: usize = 64;

pub fn cases() -> Vec<Case> {
    let one = |kernel| {
        Case::new("globals", kernel)
            .line(N as u32, N as u32)
            .buffer::<i32>(N, zero)
    };
    let two = |kernel| one(kernel).buffer::<i32>(N, any::<i32>);
    let launches = |kernel, n: u32| {
        Case::new("globals", kernel)
            .buffer::<u32>(1, zero)
            .scalar(n)
    };
    vec![
        two("write_cells").expect(write_cells),
        two("count").local::<i32>(N).expect(count),
        two("spell").expect(spell),
        two("follow").expect(follow),
        one("move_cursor").expect(move_cursor),
        two("one_of_several").local::<i32>(N).expect(one_of_several),
        two("by_function").expect(by_function),
        launches("count_launches", 0).expect(|m, _| m.set::<u32>(0, [42])),
        launches("add_launches", 1).expect(|m, _| m.set::<u32>(0, [10])),
    ]
}

/// Returns an element of a variable whose first elements are given and whose others are zero.
fn at(first: &[i32], i: usize) -> i32 {
    first.get(i).copied().unwrap_or(0)
}

fn write_cells(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    m.fill(0, |i| x[i].wrapping_mul(3).wrapping_add(at(&[5, 6, 7], i)));
}

fn count(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    let counter: i32 = 1000 + x.iter().map(|x| 1 + (x & 1)).sum::<i32>();
    let bin = |n: usize| 1024 * x.iter().filter(|x| **x as usize & 7 == n).count() as i32;
    m.fill(0, |i| counter + bin(i & 7) + (1 << 24));
}

fn spell(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    m.fill(0, |i| {
        let name = NAMES[x[i] as u32 as usize % 6].bytes();
        name.fold(0i32, |sum, c| (sum ^ i32::from(c)).wrapping_mul(31))
    });
}

fn follow(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    m.fill(0, |i| match x[i] as u32 % 3 {
        0 => 3 + i32::from(b'a') + ROWS[2][1] + 22,
        1 => -4 + i32::from(b'b') + ROWS[1][3] + 44,
        _ => 9 + i32::from(b'c') + ROWS[0][1],
    });
}

fn move_cursor(m: &mut Memory, _: u32) {
    let places = [50, 51, 52, 77, 79, 78, 80, 0];
    let vectors = [[1, 2, 3, 4], [5, 9, 5, 5], [0; 4]];
    m.fill(0, |l| {
        let byte = b"proGram scope"[l % 13];
        let of_entries = ROWS[2][1 + (l & 1)] + i32::from(b'x');
        places[l % 8] + 5 + of_entries + i32::from(byte) + 4 + 5 + vectors[l % 3][l & 3] + 52
    });
}

fn one_of_several(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    m.fill(0, |i| {
        let v = match x[i] & 3 {
            0 => x[i].wrapping_mul(5).wrapping_add(1000),
            1 => x[i].wrapping_add(1000 + i32::from(x[i] < 0)),
            _ => at(&[1, 2, 3, 4, 5], i),
        };
        let name = ["ab", "cd", NAMES[3], NAMES[i % 6]][i & 3];
        v.wrapping_add(name.as_bytes()[1].into())
    });
}

fn by_function(m: &mut Memory, _: u32) {
    let x = m.get::<i32>(1);
    let called = |x: i32, factor: i32| {
        let row = ROWS[(x & 1) as usize][3];
        x.wrapping_mul(row).wrapping_add(factor + 22)
    };
    m.fill(0, |i| {
        called(x[i], 3).wrapping_add(called(x[i].wrapping_add(1), 9))
    });
}
