//! Integer functions. All are exact.

use super::{Method, wrong};
use crate::emit::Emit;
use crate::error::Error;
use gantry_codegen::ir::{IntCC, Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

pub(super) fn find(which: Std) -> Option<Method> {
    use Method::{One, Three, Two};
    Some(match which {
        Std::s_abs => One(|e, a| int(e, a).map(|()| e.b.ins().iabs(a))),
        Std::u_abs => One(|e, a| int(e, a).map(|()| a)),
        Std::clz => One(|e, a| int(e, a).map(|()| e.b.ins().clz(a))),
        Std::ctz => One(|e, a| int(e, a).map(|()| e.b.ins().ctz(a))),
        Std::popcount => One(|e, a| int(e, a).map(|()| e.b.ins().popcnt(a))),
        Std::s_max => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().smax(a, b))),
        Std::s_min => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().smin(a, b))),
        Std::u_max => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().umax(a, b))),
        Std::u_min => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().umin(a, b))),
        Std::s_add_sat => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().sadd_sat(a, b))),
        Std::u_add_sat => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().uadd_sat(a, b))),
        Std::s_sub_sat => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().ssub_sat(a, b))),
        Std::u_sub_sat => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().usub_sat(a, b))),
        Std::s_hadd => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().shadd(a, b))),
        Std::u_hadd => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().uhadd(a, b))),
        Std::s_rhadd => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().savg(a, b))),
        Std::u_rhadd => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().uavg(a, b))),
        Std::s_mul_hi => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().smulh(a, b))),
        Std::u_mul_hi => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().umulh(a, b))),
        // The low bits of a product depend only on those of 24-bit factors.
        Std::s_mul24 | Std::u_mul24 => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().imul(a, b))),
        Std::s_mad24 | Std::u_mad24 => Three(|e, a, b, c| {
            ints(e, a, b)?;
            ints(e, a, c).map(|()| e.b.ins().imad(a, b, c))
        }),
        Std::s_mad_hi => Three(|e, a, b, c| {
            ints(e, a, b)?;
            ints(e, a, c)?;
            let high = e.b.ins().smulh(a, b);
            Ok(e.b.ins().iadd(high, c))
        }),
        Std::u_mad_hi => Three(|e, a, b, c| {
            ints(e, a, b)?;
            ints(e, a, c)?;
            let high = e.b.ins().umulh(a, b);
            Ok(e.b.ins().iadd(high, c))
        }),
        Std::s_mad_sat => Three(|e, a, b, c| mad_sat(e, a, b, c, true)),
        Std::u_mad_sat => Three(|e, a, b, c| mad_sat(e, a, b, c, false)),
        Std::rotate => Two(|e, a, b| ints(e, a, b).map(|()| e.b.ins().rotl(a, b))),
        Std::s_abs_diff => Two(|e, a, b| difference(e, a, b, true)),
        Std::u_abs_diff => Two(|e, a, b| difference(e, a, b, false)),
        Std::s_clamp => Three(|e, a, low, high| {
            ints(e, a, low)?;
            ints(e, a, high)?;
            let v = e.b.ins().smax(a, low);
            Ok(e.b.ins().smin(v, high))
        }),
        Std::u_clamp => Three(|e, a, low, high| {
            ints(e, a, low)?;
            ints(e, a, high)?;
            let v = e.b.ins().umax(a, low);
            Ok(e.b.ins().umin(v, high))
        }),
        Std::s_upsample | Std::u_upsample => Two(upsample),
        _ => return None,
    })
}

fn int(e: &E<'_, '_, '_>, a: Value) -> Result<(), Error> {
    e.want_int(a).map(|_| ())
}

fn ints(e: &E<'_, '_, '_>, a: Value, b: Value) -> Result<(), Error> {
    if e.b.ty(a) == e.b.ty(b) {
        int(e, a)
    } else {
        Err(wrong())
    }
}

fn difference(e: &mut E<'_, '_, '_>, a: Value, b: Value, signed: bool) -> R {
    ints(e, a, b)?;
    let (low, high) = if signed {
        (e.b.ins().smin(a, b), e.b.ins().smax(a, b))
    } else {
        (e.b.ins().umin(a, b), e.b.ins().umax(a, b))
    };
    Ok(e.b.ins().isub(high, low))
}

/// `high << bits | low`, twice as wide.
fn upsample(e: &mut E<'_, '_, '_>, high: Value, low: Value) -> R {
    ints(e, high, low)?;
    let wide = match e.scalar_of(high) {
        Scalar::I8 => Scalar::I16,
        Scalar::I16 => Scalar::I32,
        Scalar::I32 => Scalar::I64,
        _ => return Err(wrong()),
    };
    let bits = e.scalar_of(high).bits();
    let (high, low) = (e.resize(high, wide, false), e.resize(low, wide, false));
    let by = e.same(high, u64::from(bits));
    let high = e.b.ins().ishl(high, by);
    Ok(e.b.ins().bor(high, low))
}

/// `mad_sat`: the low half of the product plus `c` with carry. It saturates if the high half is not
/// the extension of the low one.
fn mad_sat(e: &mut E<'_, '_, '_>, a: Value, b: Value, c: Value, signed: bool) -> R {
    ints(e, a, b)?;
    ints(e, a, c)?;
    let scalar = e.scalar_of(a);
    let low = e.b.ins().imul(a, b);
    let (sum, carry) = e.b.ins().iaddc(low, c);
    if !signed {
        let high = e.b.ins().umulh(a, b);
        let over = e.b.ins().bor(high, carry);
        let zero = e.same(over, 0);
        let fits = e.b.ins().icmp(IntCC::Equal, over, zero);
        let most = e.same(sum, scalar.mask());
        return e.choose(fits, sum, most);
    }
    let high = e.b.ins().smulh(a, b);
    let top = e.same(c, u64::from(scalar.bits() - 1));
    let sign = e.b.ins().sshr(c, top);
    let high = e.b.ins().iadd(high, sign);
    let high = e.b.ins().iadd(high, carry);
    let want = e.b.ins().sshr(sum, top);
    let fits = e.b.ins().icmp(IntCC::Equal, high, want);
    // Maximum, or minimum if the exact result is negative.
    let negative = e.b.ins().sshr(high, top);
    let most = e.same(sum, scalar.mask() >> 1);
    let clamped = e.b.ins().bxor(most, negative);
    e.choose(fits, sum, clamped)
}
