//! Operations that compiled kernels rarely have, on registers alone.

use super::*;
use crate::sim::program::{MicroOpKind, Program};
use crate::sim::special;
use gantry_isa_gen::Platform;
use gantry_isa_gen::text::assemble;

/// Runs instructions in order with all channels on. `set` initializes registers as (register,
/// dwords).
fn run(platform: Platform, text: &str, set: &[(u32, &[u32])]) -> Thread {
    let code = match assemble(platform, text) {
        Ok(a) => a.bytes,
        Err(e) => panic!("{}", e.render("text", text)),
    };
    let f = platform.features();
    let program = Program::decode(platform, f.grf_count, &[(0, &code)]);
    let mut t = Thread::new(program.grf_end());
    t.reset(u32::MAX, 0);
    for (reg, values) in set {
        for (i, v) in values.iter().enumerate() {
            t.regs.set_u32(reg * f.grf_bytes + i as u32 * 4, *v);
        }
    }
    for op in &program.ops {
        let done = match &op.kind {
            MicroOpKind::Special(s) => special::execute(&mut t, op, *s, op.full),
            MicroOpKind::Bad(why) => Err(why.clone()),
            _ => execute(&mut t, op, op.full),
        };
        if let Err(e) = done {
            panic!("{e}\n{text}");
        }
    }
    t
}

/// Returns `n` dwords, starting at a register.
fn dwords(t: &Thread, platform: Platform, reg: u32, n: u32) -> Vec<u32> {
    let at = reg * platform.features().grf_bytes;
    (0..n).map(|i| t.regs.u32(at + i * 4)).collect()
}

fn floats(v: &[f32]) -> Vec<u32> {
    v.iter().map(|v| v.to_bits()).collect()
}

const G9: Platform = Platform::Gen9;

#[test]
fn planes_lines_and_dot_products() {
    let u: Vec<f32> = (0..8).map(|i| i as f32).collect();
    let v: Vec<f32> = (0..8).map(|i| 10.0 - i as f32).collect();
    let set: &[(u32, &[u32])] = &[
        (20, &floats(&[2.0, 3.0, 99.0, 0.5])),
        (30, &floats(&u)),
        (31, &floats(&v)),
    ];
    let one = |text: &str| dwords(&run(G9, text, set), G9, 10, 8);
    let got = one("pln (8|M0) r10.0<1>:f r20.0<0;1,0>:f r30.0<8;8,1>:f\n");
    let want: Vec<f32> = (0..8).map(|i| 2.0 * u[i] + 3.0 * v[i] + 0.5).collect();
    assert_eq!(got, floats(&want));
    let got = one("line (8|M0) r10.0<1>:f r20.0<0;1,0>:f r30.0<8;8,1>:f\n");
    let want: Vec<f32> = (0..8).map(|i| 2.0 * u[i] + 0.5).collect();
    assert_eq!(got, floats(&want));
    for (op, terms) in [("dp2", 2), ("dp3", 3), ("dp4", 4), ("dph", 3)] {
        let got = one(&format!(
            "{op} (8|M0) r10.0<1>:f r30.0<8;8,1>:f r31.0<8;8,1>:f\n"
        ));
        let sum = |g: usize| -> f32 {
            let dot: f32 = (0..terms).map(|i| u[4 * g + i] * v[4 * g + i]).sum();
            if op == "dph" { dot + v[4 * g + 3] } else { dot }
        };
        let want: Vec<f32> = (0..8).map(|i| sum(i / 4)).collect();
        assert_eq!(got, floats(&want), "{op}");
    }
}

#[test]
fn differences_of_bytes() {
    let set: &[(u32, &[u32])] = &[(20, &[0x0901_ff05]), (30, &[0x0103_0107])];
    let text = "sad2 (4|M0) r10.0<1>:uw r20.0<4;4,1>:ub r30.0<4;4,1>:ub\n\
                mov (4|M0) acc0.0<1>:w 100:w\n\
                sada2 (4|M0) r11.0<1>:uw r20.0<4;4,1>:ub r30.0<4;4,1>:ub\n";
    let t = run(G9, text, set);
    let word = |reg: u32, i: u32| t.regs.u16(reg * 32 + i * 2);
    assert_eq!((word(10, 0), word(10, 2)), (2 + 254, 2 + 8));
    assert_eq!((word(11, 0), word(11, 2)), (100 + 256, 110));
}

#[test]
fn accumulators_are_wider_than_their_types() {
    let big = [0x7fff_7fffu32; 8];
    let set: &[(u32, &[u32])] = &[(20, &big), (21, &[i32::MAX as u32; 8])];
    // The product of two words, 31 bits, does not fit a word. Subtracting it again shows that it
    // was kept.
    let t = run(
        G9,
        "mul (16|M0) acc0.0<1>:w r20.0<8;8,1>:w r20.0<8;8,1>:w\n\
         mac (16|M0) (sat) r10.0<1>:w -r20.0<8;8,1>:w r20.0<8;8,1>:w\n\
         mul (8|M0) acc0.0<1>:d r21.0<8;8,1>:d r21.0<8;8,1>:d\n\
         (W) mov (8|M0) r12.0<1>:d acc0.0<8;8,1>:d\n\
         (W) mov (8|M0) (sat) r13.0<1>:d acc0.0<8;8,1>:d\n\
         add (8|M0) (sat) r14.0<1>:d -acc0.0<8;8,1>:d r21.0<8;8,1>:d\n",
        set,
    );
    let at = |r| dwords(&t, G9, r, 1)[0];
    assert_eq!(at(10), 0);
    assert_eq!((at(12), at(13)), (1, i32::MAX as u32));
    assert_eq!(at(14), i32::MIN as u32);
}

#[test]
fn halves_of_products() {
    let (a, b) = (0xdead_beefu32, 0x8765_4321u32);
    let set: &[(u32, &[u32])] = &[(20, &[a; 16]), (30, &[b; 16])];
    let product = u64::from(a) * u64::from(b);
    let (low, high) = (product as u32, (product >> 32) as u32);
    let mul = "mul (8|M0) acc0.0<1>:ud r20.0<8;8,1>:ud r30.0<2;1,0>:uw\n";
    let mach = "mach (8|M0) r10.0<1>:ud r20.0<8;8,1>:ud r30.0<8;8,1>:ud";
    for p in [G9, Platform::Gen11, Platform::XeLp] {
        let t = run(p, &format!("{mul}{mach} {{AccWrEn}}\n"), set);
        assert_eq!(dwords(&t, p, 10, 8), [high; 8], "{p}");
        assert_eq!(acc_value(&t, regs::ACC, Type::Ud) as u32, low, "{p}");
        // `mach` without `{AccWrEn}` gives the low half.
        let t = run(p, &format!("{mul}{mach}\n"), set);
        assert_eq!(dwords(&t, p, 10, 8), [low; 8], "{p}");
    }
    let p = Platform::XeHpc;
    let t = run(
        p,
        "mul (16|M0) acc0.0<1>:ud r20.0<1;1,0>:ud r30.0<2;1,0>:uw\n\
         mach (16|M0) r10.0<1>:ud r20.0<1;1,0>:ud r30.0<1;1,0>:ud\n\
         mul (16|M0) acc0.0<1>:ud r20.0<1;1,0>:ud r30.0<2;1,0>:uw\n\
         macl (16|M0) r11.0<1>:ud r20.0<1;1,0>:ud r30.0<1;1,0>:ud\n",
        set,
    );
    assert_eq!(dwords(&t, p, 10, 16), [high; 16]);
    assert_eq!(dwords(&t, p, 11, 16), [low; 16]);
}

#[test]
fn scattered_moves_and_division_with_remainder() {
    let set: &[(u32, &[u32])] = &[
        (10, &[7; 8]),
        (20, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (30, &[100; 8]),
    ];
    let t = run(
        G9,
        "smov (8|M0) r10.0<1>:d r20.0<8;8,1>:d 0x5A:ud\n\
         math.idiv (8|M0) r12.0<1>:d r30.0<8;8,1>:d r20.0<8;8,1>:d\n",
        set,
    );
    assert_eq!(dwords(&t, G9, 10, 8), [7, 2, 7, 4, 5, 7, 7, 7]);
    let quotients: Vec<u32> = (1..9).map(|d| 100 / d).collect();
    let remainders: Vec<u32> = (1..9).map(|d| 100 % d).collect();
    assert_eq!(dwords(&t, G9, 12, 8), quotients);
    assert_eq!(dwords(&t, G9, 13, 8), remainders);
}

#[test]
fn native_floats_are_more_precise() {
    let p = Platform::Gen11;
    let (x, y) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    let set: &[(u32, &[u32])] = &[
        (20, &floats(&[1.0; 8])),
        (21, &floats(&[x; 8])),
        (22, &floats(&[y; 8])),
    ];
    // 1 + x * y, with the 1 subtracted again: the product's last bits are below those of a single
    // near 2.
    let t = run(
        p,
        "mad (8|M0) acc0.0<1>:nf r20.0<8;1>:f r21.0<8;1>:f r22.0<1>:f\n\
         mad (8|M0) r10.0<1>:f -r20.0<8;1>:f acc0.0<8;1>:nf r20.0<1>:f\n",
        set,
    );
    let want = (f64::from(x) * f64::from(y)) as f32;
    assert_eq!(dwords(&t, p, 10, 8), floats(&[want; 8]));
}

#[test]
fn operations_of_xe() {
    let p = Platform::XeHpg;
    let set: &[(u32, &[u32])] = &[
        (20, &[0xf0f0_1234; 8]),
        (21, &[0xcccc_5678; 8]),
        (22, &[0xaaaa_9abc; 8]),
        (23, &floats(&[1.0 + 1.0 / 256.0; 8])),
    ];
    let t = run(
        p,
        "add3 (8|M0) r10.0<1>:d r20.0<1;0>:d r21.0<1;0>:d r22.0<1>:d\n\
         bfn.0x96 (8|M0) r11.0<1>:ud r20.0<1;0>:ud r21.0<1;0>:ud r22.0<1>:ud\n\
         ror (8|M0) r12.0<1>:ud r20.0<1;1,0>:ud 4:w\n\
         dp4a (8|M0) r13.0<1>:d r20.0<1;0>:d r21.0<1;0>:ud r22.0<1>:d\n\
         mov (8|M0) r14.0<1>:bf r23.0<1;1,0>:f\n",
        set,
    );
    let (a, b, c) = (0xf0f0_1234u32, 0xcccc_5678u32, 0xaaaa_9abcu32);
    let at = |r| dwords(&t, p, r, 1)[0];
    assert_eq!(at(10), a.wrapping_add(b).wrapping_add(c));
    assert_eq!(at(11), a ^ b ^ c);
    assert_eq!(at(12), a.rotate_right(4));
    let dot: i32 = (0..4)
        .map(|i| i32::from(b.to_le_bytes()[i]) * i32::from(c.to_le_bytes()[i] as i8))
        .sum();
    assert_eq!(at(13), a.wrapping_add(dot as u32));
    // A tie goes to even: 1.0.
    assert_eq!(at(14), 0x3f80_3f80);
}
