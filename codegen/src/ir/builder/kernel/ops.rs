//! Rust operators on values.

use super::val::{Operand, Val};
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, MulAssign, Neg, Not, Rem, Shl, Shr, Sub,
    SubAssign,
};

macro_rules! operators {
    ($($trait:ident $method:ident $int:ident $float:ident;)+) => {$(
        impl<'k, T: Operand<'k>> $trait<T> for Val<'k> {
            type Output = Val<'k>;

            #[track_caller]
            fn $method(self, other: T) -> Val<'k> {
                let float = self.is_float();
                self.op(other, |b, x, y| {
                    if float {
                        b.ins().$float(x, y)
                    } else {
                        b.ins().$int(x, y)
                    }
                })
            }
        }

        operators!(number $trait $method: i32 f64);
    )+};
    (number $trait:ident $method:ident: $($of:ty)+) => {$(
        impl<'k> $trait<Val<'k>> for $of {
            type Output = Val<'k>;

            #[track_caller]
            fn $method(self, other: Val<'k>) -> Val<'k> {
                self.beside(other).$method(other)
            }
        }
    )+};
}

// Literals on the left have one type each, so that it is unambiguous. An operation that floats lack
// is reported as that of integers.
operators! {
    Add add iadd fadd;
    Sub sub isub fsub;
    Mul mul imul fmul;
    Div div sdiv fdiv;
    Rem rem srem srem;
    BitAnd bitand band band;
    BitOr bitor bor bor;
    BitXor bitxor bxor bxor;
    Shl shl ishl ishl;
    Shr shr sshr sshr;
}

macro_rules! assigns {
    ($($trait:ident $method:ident $op:tt;)+) => {$(
        impl<'k, T: Operand<'k>> $trait<T> for Val<'k> {
            #[track_caller]
            fn $method(&mut self, other: T) {
                *self = *self $op other;
            }
        }
    )+};
}

assigns! {
    AddAssign add_assign +;
    SubAssign sub_assign -;
    MulAssign mul_assign *;
}

impl<'k> Neg for Val<'k> {
    type Output = Val<'k>;

    #[track_caller]
    fn neg(self) -> Val<'k> {
        let float = self.is_float();
        self.k.val(|b| {
            if float {
                b.ins().fneg(self.v)
            } else {
                b.ins().ineg(self.v)
            }
        })
    }
}

impl<'k> Not for Val<'k> {
    type Output = Val<'k>;

    #[track_caller]
    fn not(self) -> Val<'k> {
        self.k.val(|b| b.ins().bnot(self.v))
    }
}
