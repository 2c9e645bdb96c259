//! Kernels of integers with high register pressure.

use super::program::{Program, Ty, V};

/// Returns the first primes.
fn primes(n: usize) -> Vec<u64> {
    (2..)
        .filter(|p| (2..*p).take_while(|d| d * d <= *p).all(|d| p % d != 0))
        .take(n)
        .collect()
}

/// Returns the first 32 fraction bits of a root of a prime.
fn fraction(prime: u64, root: u32) -> u64 {
    // The largest x with x^root <= prime * 2^(32 * root), by bisection.
    let (mut low, mut high) = (0u128, 1u128 << 40);
    while high - low > 1 {
        let x = (low + high) / 2;
        let fits = match root {
            2 => x * x <= u128::from(prime) << 64,
            _ => x * x <= (u128::from(prime) << 96) / x,
        };
        if fits {
            low = x;
        } else {
            high = x;
        }
    }
    low as u64 & 0xffff_ffff
}

/// Computes a block of SHA-256, unrolled.
pub fn sha256(p: &Program) {
    let (input, out) = (p.input(Ty::U32, 16), p.output(Ty::U32, 8));
    let word = |x: u64| p.int(Ty::U32, x);
    let primes = primes(64);
    let first: Vec<V<'_>> = primes
        .iter()
        .take(8)
        .map(|x| word(fraction(*x, 2)))
        .collect();
    let mut w = input.all(16);
    let mut s = first.clone();
    for (t, prime) in primes.iter().enumerate() {
        if t >= 16 {
            let (a, b) = (w[(t + 1) % 16], w[(t + 14) % 16]);
            let a = a.rotl(25) ^ a.rotl(14) ^ a >> 3;
            let b = b.rotl(15) ^ b.rotl(13) ^ b >> 10;
            w[t % 16] = w[t % 16] + a + w[(t + 9) % 16] + b;
        }
        let (a, e) = (s[0], s[4]);
        let choice = (e & s[5]) ^ (!e & s[6]);
        let one = s[7]
            + (e.rotl(26) ^ e.rotl(21) ^ e.rotl(7))
            + choice
            + word(fraction(*prime, 3))
            + w[t % 16];
        let majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        let two = (a.rotl(30) ^ a.rotl(19) ^ a.rotl(10)) + majority;
        s.rotate_right(1);
        s[4] = s[4] + one;
        s[0] = one + two;
    }
    for (k, (a, b)) in (0..).zip(s.iter().zip(&first)) {
        out.put(k, *a + *b);
    }
}

/// Sorts `n` numbers of a type by Batcher's network.
pub fn sort(p: &Program, ty: Ty, n: usize) {
    let (input, out) = (p.input(ty, n as u32), p.output(ty, n as u32));
    let mut x = input.all(n as u32);
    let mut length = 1;
    while length < n {
        let mut step = length;
        while step > 0 {
            for j in (step % length..n - step).step_by(2 * step) {
                for i in (j..j + step).filter(|i| i + step < n) {
                    if i / (2 * length) == (i + step) / (2 * length) {
                        let (a, b) = (x[i], x[i + step]);
                        x[i] = a.min(b);
                        x[i + step] = a.max(b);
                    }
                }
            }
            step /= 2;
        }
        length *= 2;
    }
    out.put_all(&x);
}

/// Computes Hadamard's transform of 8x8 numbers of 16 bits.
pub fn hadamard(p: &Program) {
    let (input, out) = (p.input(Ty::U16, 64), p.output(Ty::U16, 64));
    let mut x = input.all(64);
    for step in [1, 2, 4, 8, 16, 32] {
        for i in (0..64).filter(|i| i & step == 0) {
            let (a, b) = (x[i], x[i + step]);
            x[i] = a + b;
            x[i + step] = a - b;
        }
    }
    out.put_all(&x);
}

/// Computes Keccak's permutation of 25 words of 64 bits.
pub fn keccak(p: &Program) {
    let (input, constants) = (p.input(Ty::U64, 25), p.shared(Ty::U64, 24));
    let out = p.output(Ty::U64, 25);
    let state: Vec<_> = input.all(25).into_iter().map(|v| p.var(v)).collect();
    p.repeat(24, |round| {
        let mut a: Vec<V<'_>> = state.iter().map(|s| s.get()).collect();
        let c: Vec<V<'_>> = (0..5)
            .map(|x| a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20])
            .collect();
        for x in 0..5 {
            let d = c[(x + 4) % 5] ^ c[(x + 1) % 5].rotl(1);
            for y in 0..5 {
                a[x + 5 * y] = a[x + 5 * y] ^ d;
            }
        }
        let mut b = a.clone();
        let (mut x, mut y) = (1, 0);
        for t in 0..24u32 {
            let turn = (t + 1) * (t + 2) / 2 % 64;
            b[y + 5 * ((2 * x + 3 * y) % 5)] = a[x + 5 * y].rotl(turn);
            (x, y) = (y, (2 * x + 3 * y) % 5);
        }
        b[0] = a[0];
        for y in 0..5 {
            for x in 0..5 {
                let at = |x: usize| b[x % 5 + 5 * y];
                let mut v = at(x) ^ (!at(x + 1) & at(x + 2));
                if x + y == 0 {
                    v = v ^ constants.one_at(0, round, 1);
                }
                state[x + 5 * y].set(v);
            }
        }
    });
    let all: Vec<V<'_>> = state.iter().map(|s| s.get()).collect();
    out.put_all(&all);
}

/// Mixes 16 words of 64 bits with 16 of a message as BLAKE2b does, `rounds` times, unrolled.
pub fn blake(p: &Program, rounds: usize) {
    let (message, out) = (p.input(Ty::U64, 16), p.output(Ty::U64, 16));
    let m = message.all(16);
    let mut v: Vec<V<'_>> = (1..=16u64)
        .map(|i| p.int(Ty::U64, i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ m[0])
        .collect();
    for r in 0..rounds {
        for g in 0..8 {
            let column = |row: usize| match g {
                0..4 => row * 4 + g,
                _ => row * 4 + (g + row) % 4,
            };
            let [a, b, c, d] = std::array::from_fn(column);
            // Another permutation of the message each round.
            let word = |n: usize| m[(n * (2 * r + 1) + r) % 16];
            for (n, [one, two]) in [[32, 40], [48, 1]].into_iter().enumerate() {
                v[a] = v[a] + v[b] + word(2 * g + n);
                v[d] = (v[d] ^ v[a]).rotl(one);
                v[c] = v[c] + v[d];
                v[b] = (v[b] ^ v[c]).rotl(two);
            }
        }
    }
    out.put_all(&v);
}

/// Computes ChaCha's block: 16 words, kept for the end, 10 times two rounds.
pub fn chacha(p: &Program) {
    let (input, out) = (p.input(Ty::U32, 16), p.output(Ty::U32, 16));
    let first = input.all(16);
    let state: Vec<_> = first.iter().map(|v| p.var(*v)).collect();
    p.repeat(10, |_| {
        let mut x: Vec<V<'_>> = state.iter().map(|s| s.get()).collect();
        for g in 0..8 {
            let column = |row: usize| match g {
                0..4 => row * 4 + g,
                _ => row * 4 + (g + row) % 4,
            };
            let [a, b, c, d] = std::array::from_fn(column);
            for [one, two] in [[16, 12], [8, 7]] {
                x[a] = x[a] + x[b];
                x[d] = (x[d] ^ x[a]).rotl(one);
                x[c] = x[c] + x[d];
                x[b] = (x[b] ^ x[c]).rotl(two);
            }
        }
        for (s, v) in state.iter().zip(x) {
            s.set(v);
        }
    });
    for (k, (s, f)) in (0..).zip(state.iter().zip(first)) {
        out.put(k, s.get() + f);
    }
}
