//! Payne-Hanek reduction of large arguments: the relevant bits of 2/pi times the mantissa, in
//! integers.

use super::kit::{Kit, PerType};
use super::trigonometric::HALF_PI;
use crate::ir::{Data, DataRef, Scalar, Type, Value};

type K<'k, 'f> = Kit<'k, 'f>;

/// Bound up to which three parts of pi/2 suffice.
pub(super) const LIMIT: PerType<f64> = PerType {
    single: (1u64 << 17) as f64,
    double: (1u64 << 30) as f64,
};

/// Number of zeros before the first bit of the table.
const ZEROS: i64 = 24;

/// Bits of 2/pi after the binary point, preceded by [`ZEROS`] zeros.
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

/// Returns words of 2/pi from a bit on. The three words of singles come from selects among the few
/// candidates. The six words of doubles come from a table, in the module's memory or in registers.
fn window(k: &mut K<'_, '_>, bit: Value) -> Vec<Value> {
    let (five, low) = (k.i(5), k.i(31));
    let at = k.b.ins().ushr(bit, five);
    let words = match (k.wide, table(k)) {
        (true, Some(table)) => loaded(k, table, at),
        (true, None) => picked(k, at),
        (false, _) => chosen(k, at),
    };
    let up = k.b.ins().band(bit, low);
    let down = k.b.ins().bxor(up, low);
    let one = k.i(1);
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .map(|(high, next)| {
            let high = k.b.ins().ishl(*high, up);
            let next = k.b.ins().ushr(*next, one);
            let next = k.b.ins().ushr(next, down);
            k.b.ins().bor(high, next)
        })
        .collect()
}

/// Selects four consecutive words, beginning with one of the first four.
fn chosen(k: &mut K<'_, '_>, at: Value) -> Vec<Value> {
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

/// Number of table words read for doubles.
const WORDS: i32 = 7;

/// Returns the table of doubles in the module's data, if the module is given.
fn table(k: &mut K<'_, '_>) -> Option<DataRef> {
    let name = "gantry.two_over_pi";
    let module = k.module.as_deref_mut().filter(|_| k.wide)?;
    let there = module.find_data(name);
    Some(there.unwrap_or_else(|| {
        let words = TWO_OVER_PI.map(u64::from);
        module.data.push(Data::new(name, Scalar::I32, &words))
    }))
}

/// Clamps the index of the first word to the table. Lanes with small arguments may compute any
/// index.
fn within(k: &mut K<'_, '_>, at: Value) -> Value {
    let most = k.i(TWO_OVER_PI.len() as i64 - i64::from(WORDS));
    k.b.ins().umin(at, most)
}

/// Loads words of the table from memory.
fn loaded(k: &mut K<'_, '_>, table: DataRef, at: Value) -> Vec<Value> {
    let at = within(k, at);
    let two = k.i(2);
    let at = k.b.ins().ishl(at, two);
    let wide = Type::clamped(Scalar::I64, k.int_type().lanes());
    let at = k.b.ins().uextend(wide, at);
    let base = k.b.ins().symbol_addr(table);
    let base = k.spread(base);
    let address = k.b.ins().iadd(base, at);
    let ty = k.int_type();
    let words = (0..WORDS).map(|n| k.b.ins().load(ty, address, 4 * n));
    words.collect()
}

/// Reads words of the table from registers.
fn picked(k: &mut K<'_, '_>, at: Value) -> Vec<Value> {
    let at = within(k, at);
    let table = k.b.ins().vconst(Scalar::I32, &TWO_OVER_PI.map(u64::from));
    let words = (0..WORDS).map(|n| {
        let n = k.i(n.into());
        let n = k.b.ins().iadd(at, n);
        k.b.ins().shuffle(table, n)
    });
    words.collect()
}

/// Returns the upper words of the low part of a product: two for singles, four for doubles. The
/// factor's words come lowest first, the window's highest first.
fn product(k: &mut K<'_, '_>, factor: &[Value], window: &[Value]) -> [Value; 4] {
    let mut carry: Option<Value> = None;
    let mut out = [k.i(0); 4];
    let count = if k.wide { 4 } else { 2 };
    for (n, word) in out.iter_mut().enumerate().take(count).rev() {
        let mut terms: Vec<Value> = Vec::new();
        for (i, f) in factor.iter().enumerate() {
            if let (Some(a), Some(b)) = (window.get(n + i), window.get(n + i + 1)) {
                terms.push(k.b.ins().imul(*f, *a));
                terms.push(k.b.ins().umulh(*f, *b));
            }
        }
        terms.extend(carry.take());
        for t in terms {
            let (s, c) = k.b.ins().iaddc(*word, t);
            *word = s;
            carry = Some(match carry {
                Some(before) => k.b.ins().iadd(before, c),
                None => c,
            });
        }
    }
    out
}

/// Returns the remainder modulo pi/2, its low part for doubles, and the low bits of the multiple.
/// Returns NaNs for infinities.
pub(super) fn payne_hanek(k: &mut K<'_, '_>, x: Value) -> [Value; 3] {
    let top = k.top(x);
    let (by, bias) = k.format();
    let shift = k.i(by);
    let exponent = k.b.ins().ushr(top, shift);
    let mask = k.i(2 * bias + 1);
    let exponent = k.b.ins().band(exponent, mask);
    let (below, hidden) = (k.i((1 << by) - 1), k.i(1 << by));
    let m = k.b.ins().band(top, below);
    let m = k.b.ins().bor(m, hidden);
    let (factor, bits) = if k.wide {
        (vec![k.lower(x), m], 52)
    } else {
        (vec![m], 23)
    };
    // The product of the window's first bit and the mantissa's last bit is 2.
    let off = k.i(ZEROS - 2 - bias - bits);
    let bit = k.b.ins().iadd(exponent, off);
    let window = window(k, bit);
    let words = product(k, &factor, &window);

    // The first two bits are the multiple. The rest is a fraction from -1/2 to 1/2, once the
    // multiple is rounded.
    let (two, thirty) = (k.i(2), k.i(30));
    let [first, ..] = words;
    let mut parts = words.map(|w| k.b.ins().ishl(w, two));
    for (part, next) in parts.iter_mut().zip(words.iter().skip(1)) {
        let next = k.b.ins().ushr(*next, thirty);
        *part = k.b.ins().bor(*part, next);
    }
    let n = k.b.ins().ushr(first, thirty);
    let all = k.i(31);
    let [part, ..] = parts;
    let up = k.b.ins().sshr(part, all);
    let n = k.b.ins().isub(n, up);
    let [a, b, c, d] = parts.map(|p| k.b.ins().bxor(p, up));
    let sign = k.b.ins().sshr(top, all);
    // The sign of the argument negates both.
    let turned = k.b.ins().bxor(n, sign);
    let n = k.b.ins().isub(turned, sign);
    let sign = k.b.ins().bxor(sign, up);
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

/// Converts a fraction of 62 bits to a single, by exact pieces, so that leading zeros lose no
/// precision.
fn part_of_single(k: &mut K<'_, '_>, a: Value, b: Value) -> Value {
    let (eight, sixteen) = (k.i(8), k.i(16));
    let first = k.b.ins().ushr(a, eight);
    let (high, low) = (k.b.ins().ishl(a, sixteen), k.b.ins().ushr(b, sixteen));
    let second = k.b.ins().bor(high, low);
    let mask = k.i(0xff_ffff);
    let second = k.b.ins().band(second, mask);
    let mask = k.i(0xffff);
    let third = k.b.ins().band(b, mask);
    let (first, second, third) = (k.of_int(first), k.of_int(second), k.of_int(third));
    let v = k.times(third, 2f64.powi(-64));
    let v = k.fma_n(second, 2f64.powi(-48), v);
    k.fma_n(first, 2f64.powi(-24), v)
}
