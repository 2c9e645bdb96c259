//! `select` and `bitselect`.

use super::{Method, wrong};
use crate::error::Error;
use gantry_codegen::ir::{IntCC, Scalar};
use spirv::OpenclStd100Op as Std;

pub(super) fn find(which: Std) -> Option<Method> {
    use Method::{All, Three};
    Some(match which {
        // Bits of `b` where those of `c` are set, else of `a`.
        Std::bitselect => Three(|e, a, b, c| {
            let scalar = e.scalar_of(a);
            let mut bits = [a, b, c];
            for v in &mut bits {
                if scalar.is_float() {
                    *v = e.bits(*v)?;
                }
            }
            let [a, b, c] = bits;
            if e.b.ty(a) != e.b.ty(b) || e.b.ty(a) != e.b.ty(c) || !e.scalar_of(a).is_int() {
                return Err(wrong());
            }
            let not = e.b.ins().bnot(c);
            let (a, b) = (e.b.ins().band(a, not), e.b.ins().band(b, c));
            let v = e.b.ins().bor(a, b);
            e.bitcast(&[v], scalar, 1)?
                .first()
                .copied()
                .ok_or_else(wrong)
        }),
        // Vectors select by the sign bit, scalars by any bit.
        Std::select => All(|e, call| {
            let &[a, b, c] = call.args else {
                return Err(wrong());
            };
            let (a, b, c) = (e.get(a)?, e.get(b)?, e.get(c)?);
            if a.len() != b.len() || a.len() != c.len() {
                return Err(wrong());
            }
            let cc = match a.len() {
                1 => IntCC::NotEqual,
                _ => IntCC::SignedLessThan,
            };
            let mut out = crate::emit::Leaves::new();
            for ((a, b), c) in a.iter().zip(&b).zip(&c) {
                if e.scalar_of(*c) == Scalar::B1 || !e.scalar_of(*c).is_int() {
                    return Err::<_, Error>(wrong());
                }
                let zero = e.same(*c, 0);
                let second = e.b.ins().icmp(cc, *c, zero);
                out.push(e.choose(second, *b, *a)?);
            }
            Ok(out)
        }),
        _ => return None,
    })
}
