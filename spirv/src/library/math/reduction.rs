//! The reduction of large arguments, by Payne and Hanek: as many bits of 2/pi as count times the argument's, as integers.

use super::kit::{By, Kit};
use super::trigonometric::HALF_PI;
use gantry_codegen::ir::{self, Scalar, Value};

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// Up to here three parts of half of pi are enough.
pub(super) const LIMIT: By<f64> = By {
    single: (1u64 << 17) as f64,
    double: (1u64 << 30) as f64,
};

/// Zeros in front of the table's first bit.
const ZEROS: i64 = 24;

/// Bits of 2/pi behind the point, behind zeros.
const TWO_OVER_PI: [u32; 40] = [
    0x0000_00a2,
    0xf983_6e4e,
    0x4415_29fc,
    0x2757_d1f5,
    0x34dd_c0db,
    0x6295_993c,
    0x4390_41fe,
    0x5163_abde,
    0xbbc5_61b7,
    0x246e_3a42,
    0x4dd2_e006,
    0x492e_ea09,
    0xd192_1cfe,
    0x1deb_1cb1,
    0x29a7_3ee8,
    0x8235_f52e,
    0xbb44_84e9,
    0x9c70_26b4,
    0x5f7e_4139,
    0x91d6_3983,
    0x5339_f49c,
    0x845f_8bbd,
    0xf928_3b1f,
    0xf897_ffde,
    0x0598_0fef,
    0x2f11_8b5a,
    0x0a6d_1f6d,
    0x367e_cf27,
    0xcb09_b74f,
    0x463f_669e,
    0x5fea_2d75,
    0x27ba_c7eb,
    0xe5f1_7b3d,
    0x0739_f78a,
    0x5292_ea6b,
    0xfb5f_b11f,
    0x8d5d_0856,
    0x0330_46fc,
    0x7b6b_abf0,
    0xcfbc_209a,
];

/// Words of 2/pi from a bit on: three of singles, by selects among the few that they ask for; six of doubles, from a table in memory.
fn window(k: &mut K<'_, '_, '_, '_>, bit: Value) -> Vec<Value> {
    let (five, low) = (k.i(5), k.i(31));
    let at = k.e.b.ins().ushr(bit, five);
    let words = match k.wide {
        true => loaded(k, at),
        false => chosen(k, at),
    };
    let up = k.e.b.ins().band(bit, low);
    let down = k.e.b.ins().bxor(up, low);
    let one = k.i(1);
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .map(|(high, next)| {
            let high = k.e.b.ins().ishl(*high, up);
            let next = k.e.b.ins().ushr(*next, one);
            let next = k.e.b.ins().ushr(next, down);
            k.e.b.ins().bor(high, next)
        })
        .collect()
}

/// Four words from one of the first four on.
fn chosen(k: &mut K<'_, '_, '_, '_>, at: Value) -> Vec<Value> {
    let mut words: Vec<Value> = Vec::new();
    for w in TWO_OVER_PI.iter().take(7) {
        words.push(k.i(i64::from(*w as i32)));
    }
    for (bit, left) in [(2, 5), (1, 4)] {
        let is = k.has(at, bit);
        let pairs = words.iter().zip(words.iter().skip(bit as usize));
        words = pairs.take(left).map(|(a, b)| k.sel(is, *b, *a)).collect();
    }
    words
}

/// Seven words of the table.
fn loaded(k: &mut K<'_, '_, '_, '_>, at: Value) -> Vec<Value> {
    let name = "gantry.two_over_pi";
    let table = match k.e.module.find_data(name) {
        Some(there) => there,
        None => {
            let words = TWO_OVER_PI.map(u64::from);
            k.e.module
                .data
                .push(ir::Data::new(name, Scalar::I32, &words))
        }
    };
    // What is no large number may not lead out of the table.
    let most = k.i(TWO_OVER_PI.len() as i64 - 7);
    let at = k.e.b.ins().umin(at, most);
    let two = k.i(2);
    let at = k.e.b.ins().ishl(at, two);
    let at = k.e.resize(at, Scalar::I64, false);
    let base = k.e.b.ins().symbol_addr(table);
    let mut both = [base, at];
    k.e.even(&mut both);
    let address = k.e.b.ins().iadd(both[0], both[1]);
    let ty = k.int_type();
    let words = (0..7).map(|n| k.e.b.ins().load(ty, address, 4 * n));
    words.collect()
}

/// The upper words of a product's low part: a factor's words, the lowest first, by the window's, the highest first. Two of singles, four of doubles.
fn product(k: &mut K<'_, '_, '_, '_>, factor: &[Value], window: &[Value]) -> [Value; 4] {
    let mut carry: Option<Value> = None;
    let mut out = [k.i(0); 4];
    let count = if k.wide { 4 } else { 2 };
    for (n, word) in out.iter_mut().enumerate().take(count).rev() {
        let mut terms: Vec<Value> = Vec::new();
        for (i, f) in factor.iter().enumerate() {
            if let (Some(a), Some(b)) = (window.get(n + i), window.get(n + i + 1)) {
                terms.push(k.e.b.ins().imul(*f, *a));
                terms.push(k.e.b.ins().umulh(*f, *b));
            }
        }
        terms.extend(carry.take());
        for t in terms {
            let (s, c) = k.e.b.ins().iaddc(*word, t);
            *word = s;
            carry = Some(match carry {
                Some(before) => k.e.b.ins().iadd(before, c),
                None => c,
            });
        }
    }
    out
}

/// What is left of a multiple of half of pi, of doubles what that lacks, and the multiple's low bits. Of infinities NaNs.
pub(super) fn payne_hanek(k: &mut K<'_, '_, '_, '_>, x: Value) -> [Value; 3] {
    let top = k.top(x);
    let (by, bias) = k.format();
    let shift = k.i(by);
    let exponent = k.e.b.ins().ushr(top, shift);
    let mask = k.i(2 * bias + 1);
    let exponent = k.e.b.ins().band(exponent, mask);
    let (below, hidden) = (k.i((1 << by) - 1), k.i(1 << by));
    let m = k.e.b.ins().band(top, below);
    let m = k.e.b.ins().bor(m, hidden);
    let (factor, bits) = match k.wide {
        true => (vec![k.lower(x), m], 52),
        false => (vec![m], 23),
    };
    // The window's first bit is that which times the argument's last one is 2.
    let off = k.i(ZEROS - 2 - bias - bits);
    let bit = k.e.b.ins().iadd(exponent, off);
    let window = window(k, bit);
    let words = product(k, &factor, &window);

    // Two bits of the multiple; the rest is a part of it, from -1/2 to 1/2 with the next multiple.
    let (two, thirty) = (k.i(2), k.i(30));
    let [first, ..] = words;
    let mut parts = words.map(|w| k.e.b.ins().ishl(w, two));
    for (part, next) in parts.iter_mut().zip(words.iter().skip(1)) {
        let next = k.e.b.ins().ushr(*next, thirty);
        *part = k.e.b.ins().bor(*part, next);
    }
    let n = k.e.b.ins().ushr(first, thirty);
    let all = k.i(31);
    let [part, ..] = parts;
    let up = k.e.b.ins().sshr(part, all);
    let n = k.e.b.ins().isub(n, up);
    let [a, b, c, d] = parts.map(|p| k.e.b.ins().bxor(p, up));
    let sign = k.e.b.ins().sshr(top, all);
    // The argument's sign turns both around.
    let turned = k.e.b.ins().bxor(n, sign);
    let n = k.e.b.ins().isub(turned, sign);
    let sign = k.e.b.ins().bxor(sign, up);
    let negative = k.ilt(sign, 0);
    let nothing = k.sub(x, x);
    let [high, middle, _] = k.by(HALF_PI);
    if !k.wide {
        let r = part_of_single(k, a, b);
        let r = k.times(r, high);
        let r = k.negate_if(negative, r);
        let r = k.add(r, nothing);
        return [r, r, n];
    }
    let mut place = 1.0;
    let [a, b, c, d] = [a, b, c, d].map(|w| {
        place *= 2f64.powi(-32);
        let f = k.of_unsigned(w);
        k.times(f, place)
    });
    let (h, l) = k.sum(a, b);
    let rest = k.add(c, d);
    let l = k.add(l, rest);
    let (h, l) = k.sum(h, l);
    let pi = k.n(high);
    let (p, e) = k.product(h, pi);
    let e = k.fma_n(h, middle, e);
    let e = k.fma(l, pi, e);
    let (r, low) = k.sum(p, e);
    let (r, low) = (k.negate_if(negative, r), k.negate_if(negative, low));
    [k.add(r, nothing), low, n]
}

/// A part of 62 bits as a single: by pieces that are exact, so that leading zeros lose nothing.
fn part_of_single(k: &mut K<'_, '_, '_, '_>, a: Value, b: Value) -> Value {
    let (eight, sixteen) = (k.i(8), k.i(16));
    let first = k.e.b.ins().ushr(a, eight);
    let (high, low) = (k.e.b.ins().ishl(a, sixteen), k.e.b.ins().ushr(b, sixteen));
    let second = k.e.b.ins().bor(high, low);
    let mask = k.i(0xff_ffff);
    let second = k.e.b.ins().band(second, mask);
    let mask = k.i(0xffff);
    let third = k.e.b.ins().band(b, mask);
    let (first, second, third) = (k.of_int(first), k.of_int(second), k.of_int(third));
    let v = k.times(third, 2f64.powi(-64));
    let v = k.fma_n(second, 2f64.powi(-48), v);
    k.fma_n(first, 2f64.powi(-24), v)
}
