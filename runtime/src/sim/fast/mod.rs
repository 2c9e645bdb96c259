//! The paths that most instructions take: decoded once into a handler, which runs all channels as host SIMD loops.
//!
//! A handler is one operation at one width in one kind of lane ([`single`], [`int`]): where its operands lie
//! is all that is left to look at when it runs ([`lanes`]). What the operation computes is `isa-gen`'s semantics, inlined.
//! Handlers cannot fail, so operands with addresses that are known only when they run, and registers with effects, take
//! the general path (`alu`).

mod acc;
mod int;
mod lanes;
mod single;

use super::alu::in_acc;
use super::program::{DstOp, MicroOp, SrcOp};
use super::thread::Thread;
use gantry_isa_gen::sem::AluOp;
use gantry_isa_gen::{Cond, Op, SrcMods, Type};
use std::marker::PhantomData;

/// Runs an operation in the channels of a mask that is not empty.
pub(super) type Handler = fn(&mut Thread, &MicroOp, u32);

/// The handler of an operation, where there is one.
#[derive(Clone, Copy)]
pub(super) enum Fast {
    /// For any floating-point mode.
    Any(Handler),
    /// For IEEE mode: rounding to nearest, denormals kept.
    Ieee(Handler),
}

/// The operands' places and effects, as far as the choice depends on them.
pub(super) struct Operands<'a> {
    pub(super) n: u32,
    pub(super) dst: &'a DstOp,
    pub(super) srcs: &'a [SrcOp; 3],
    pub(super) acc_wr_en: bool,
    /// Registers that are computed when read, or have effects when written.
    pub(super) special: bool,
}

/// Chooses the handler of an operation.
pub(super) fn handler(alu: &AluOp, o: &Operands<'_>) -> Option<Fast> {
    let indirect = o
        .srcs
        .iter()
        .any(|s| matches!(s, SrcOp::Indirect { .. } | SrcOp::MultiIndirect { .. }));
    if o.special || indirect || matches!(o.dst, DstOp::Indirect { .. }) {
        return None;
    }
    if let Some(found) = through_acc(alu, o) {
        return found.map(Fast::Any);
    }
    let types = || alu.srcs.iter().flatten().copied();
    let null = matches!(o.dst, DstOp::Null);
    let simple_cond = !matches!(alu.cond, Some(Cond::Ov | Cond::Un | Cond::Eo));
    let single = |t: Type| matches!(t, Type::F | Type::Vf);
    if simple_cond && types().all(single) && (alu.dst == Type::F || (null && alu.op == Op::Cmp)) {
        return single::handler(alu.op, o.n).map(Fast::Ieee);
    }
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    if alu.op == Op::Mov && alu.cond.is_none() && !alu.sat {
        match alu.srcs[0] {
            Some(s) if small(s) && unmodified && alu.dst == Type::F => {
                return Some(Fast::Ieee(single::from_int(s, o.n)));
            }
            Some(Type::F) if matches!(alu.dst, Type::D | Type::Ud) => {
                return Some(Fast::Ieee(single::to_int(alu.dst, o.n)));
            }
            _ => {}
        }
    }
    if wide_lanes(alu) {
        return int::wide(alu.op, o.n).map(Fast::Any);
    }
    if alu.sat || !simple_cond || !types().all(small) || !small(alu.dst) {
        return None;
    }
    match narrow_lanes(alu, unmodified)? {
        Lanes::Signed => int::signed(alu.op, o.n),
        Lanes::Unsigned => int::unsigned(alu.op, o.n),
        Lanes::Wide => int::wide(alu.op, o.n),
    }
    .map(Fast::Any)
}

/// The handler of an operation that has an integer in an accumulator, named or not: those are wider than their registers.
/// The outer `None` is for all other operations.
fn through_acc(alu: &AluOp, o: &Operands<'_>) -> Option<Option<Handler>> {
    let to = matches!(o.dst, DstOp::Direct { acc: true, .. }) && alu.dst != Type::F;
    let implicit = matches!(alu.op, Op::Mach | Op::Macl | Op::Addc | Op::Subb);
    let from = o.srcs.iter().zip(alu.srcs).any(|(s, ty)| {
        let (SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. }) = *s else {
            return false;
        };
        in_acc(at) && ty.is_some_and(Type::is_int)
    });
    if !(to || implicit || from || o.acc_wr_en) {
        return None;
    }
    let dword = |t: Type| matches!(t, Type::D | Type::Ud);
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    let plain = alu.cond.is_none() && !alu.sat && alu.srcs.iter().flatten().all(|t| small(*t));
    let step = match o.dst {
        DstOp::Direct { step, .. } => *step,
        _ => 4,
    };
    Some(if !plain || !dword(alu.dst) || step != 4 {
        None
    } else if implicit && !to && !from && (o.acc_wr_en || alu.op == Op::Macl) {
        acc::implicit(alu.op, o.n)
    } else if to && !implicit && !from && !o.acc_wr_en {
        acc::to_acc(alu.op, o.n)
    } else if from && !to && !o.acc_wr_en && matches!(alu.op, Op::Mov | Op::Add | Op::Add3) {
        // The low bits of a sum depend on low bits alone.
        int::signed(alu.op, o.n)
    } else {
        None
    })
}

/// What lanes hold an integer operation of at most 32 bits.
enum Lanes {
    Signed,
    Unsigned,
    Wide,
}

fn narrow_lanes(alu: &AluOp, unmodified: bool) -> Option<Lanes> {
    let types = || alu.srcs.iter().flatten().copied();
    let unsigned = types().all(|t| !t.is_signed()) && unmodified;
    let signed = types().all(|t| t.is_signed() || t.bytes() < 4);
    let no_abs = alu.mods.iter().all(|m| !m.abs);
    // Only the low bits of the result are kept, and they depend on the low bits of the sources alone.
    let modular = match alu.op {
        Op::Mov
        | Op::Add
        | Op::Add3
        | Op::Mul
        | Op::Mad
        | Op::Xor
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Shl => no_abs,
        Op::Bfi1 | Op::Bfi2 | Op::Bfrev | Op::Cbit | Op::Lzd | Op::Fbl => unmodified,
        // A rotation is of the source's own width.
        Op::Rol | Op::Ror => {
            let dword = |t: Option<Type>| matches!(t, Some(Type::D | Type::Ud));
            unmodified && dword(alu.srcs[0]) && dword(Some(alu.dst))
        }
        _ => false,
    };
    match alu.op {
        // A flag looks at the result as its type has it.
        _ if modular && alu.cond.is_some() && alu.dst == Type::Ud => Some(Lanes::Unsigned),
        _ if modular => Some(Lanes::Signed),
        Op::Cmp | Op::Sel if alu.cond.is_some() => {
            if signed && unmodified {
                Some(Lanes::Signed)
            } else if unsigned {
                Some(Lanes::Unsigned)
            } else if alu.op == Op::Cmp {
                // 64 bits hold either sign, negated or not.
                Some(Lanes::Wide)
            } else {
                None
            }
        }
        Op::Csel if signed && unmodified => Some(Lanes::Signed),
        Op::Sel if no_abs => Some(Lanes::Signed),
        Op::Asr if signed && alu.cond.is_none() && unmodified => Some(Lanes::Signed),
        Op::Shr
            if alu.cond.is_none()
                && unmodified
                && matches!(alu.srcs[0], Some(Type::Ud | Type::Uw | Type::Ub)) =>
        {
            Some(Lanes::Unsigned)
        }
        _ => None,
    }
}

/// Whether lanes of 64 bits hold an operation that has an operand of 64 bits.
fn wide_lanes(alu: &AluOp) -> bool {
    let types = || alu.srcs.iter().flatten().copied();
    let wide = alu.dst.bytes() == 8 || types().any(|t| t.bytes() == 8);
    if !wide || alu.sat || alu.dst.is_float() || types().any(Type::is_float) {
        return false;
    }
    let plain = alu.mods.iter().all(|m| !m.abs);
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    match alu.op {
        // Only low bits are kept.
        Op::Mov | Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl | Op::Sel => {
            plain && alu.cond.is_none()
        }
        Op::Asr => unmodified && alu.cond.is_none() && alu.srcs[0] != Some(Type::Uq),
        // 64 signed bits hold every value but an unsigned qword's.
        Op::Cmp => {
            unmodified
                && !types().any(|t| t == Type::Uq)
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}

/// What the host's vector unit can do, chosen once a thread.
#[derive(Clone, Copy)]
pub(super) enum Host {
    /// What every host of this architecture has.
    Plain,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Host {
    pub(super) fn detect() -> Host {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            return Host::Avx2(v3);
        }
        Host::Plain
    }
}

/// How many sources an operation with a handler has.
const fn arity(op: Op) -> usize {
    match op {
        Op::Mov
        | Op::Not
        | Op::Frc
        | Op::Rndd
        | Op::Rnde
        | Op::Rndz
        | Op::Rndu
        | Op::Bfrev
        | Op::Cbit
        | Op::Lzd
        | Op::Fbl => 1,
        Op::Mad | Op::Lrp | Op::Bfi2 | Op::Add3 | Op::Csel => 3,
        _ => 2,
    }
}

/// Operations that share a kind of lane, at any width. `FMA`: the host multiplies and adds in one rounding.
trait Family {
    fn run<const N: usize, const FMA: bool>(t: &mut Thread, op: &MicroOp, mask: u32, which: Op);
}

/// One operation of a family, known when it is compiled.
trait Known {
    type Of: Family;
    const OP: Op;
}

/// A call of a family's body, as the host's dispatcher takes it.
#[cfg(target_arch = "x86_64")]
struct Call<'a, F, const N: usize> {
    t: &'a mut Thread,
    op: &'a MicroOp,
    mask: u32,
    which: Op,
    family: PhantomData<F>,
}

#[cfg(target_arch = "x86_64")]
impl<F: Family, const N: usize> pulp::NullaryFnOnce for Call<'_, F, N> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        F::run::<N, true>(self.t, self.op, self.mask, self.which);
    }
}

/// The handler of a known operation at a width of up to `N` channels: compiled for this operation alone where the host's
/// vectors are wide, for it and all others of its family elsewhere.
fn known<K: Known, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    match t.host {
        #[cfg(target_arch = "x86_64")]
        Host::Avx2(v3) => v3.vectorize(Call::<K::Of, N> {
            t,
            op,
            mask,
            which: K::OP,
            family: PhantomData,
        }),
        Host::Plain => any::<K::Of, N>(t, op, mask),
    }
}

/// The handler of all operations of a family.
#[inline(never)]
fn any<F: Family, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    F::run::<N, false>(t, op, mask, op.alu.op);
}

/// The handler of a known operation for so many channels. Few operations have 32: each family has one body for those.
fn of_width<K: Known>(n: u32) -> Handler {
    match n {
        32 => any::<K::Of, 32>,
        16 => known::<K, 16>,
        _ => known::<K, 8>,
    }
}

/// The handlers of a list of operations.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident, $family:ty, [$($op:ident),* $(,)?]) => {
        $(#[$doc])*
        pub(super) fn $name(op: gantry_isa_gen::Op, n: u32) -> Option<super::Handler> {
            match op {
                $(gantry_isa_gen::Op::$op => {
                    struct This;
                    impl super::Known for This {
                        type Of = $family;
                        const OP: gantry_isa_gen::Op = gantry_isa_gen::Op::$op;
                    }
                    Some(super::of_width::<This>(n))
                })*
                _ => None,
            }
        }
    };
}
use handlers;

#[cfg(test)]
mod tests {
    use super::{int, single};
    use gantry_isa_gen::Op;
    use gantry_isa_gen::sem::{Round, float, int as ints};
    use std::collections::BTreeSet;

    /// A handler takes source 0 where the operation is none of lanes, so every operation listed must be one.
    #[test]
    fn every_operation_listed_is_one_of_lanes() {
        let mut ops = BTreeSet::new();
        for name in [
            "mov", "add", "add3", "mul", "mad", "xor", "and", "or", "not", "shl", "shr", "asr",
            "avg", "lrp", "frc", "rndd", "rnde", "rndz", "rndu", "bfi1", "bfi2", "bfrev", "cbit",
            "lzd", "fbl", "fbh", "bfe", "rol", "ror", "mac", "dp4a",
        ] {
            ops.extend(Op::from_mnemonic(name));
        }
        let (mut whole, mut floats) = (0, 0);
        for op in ops {
            let z = [0i32; 8];
            if int::signed(op, 8)
                .or(int::unsigned(op, 8))
                .or(int::wide(op, 8))
                .is_some()
            {
                assert!(ints::apply(op, &z, &z, &z, 31).is_some(), "{op}");
                whole += 1;
            }
            let z = [0f32; 8];
            if single::handler(op, 8).is_some() {
                assert!(
                    float::apply(op, &z, &z, &z, Round::Nearest).is_some(),
                    "{op}"
                );
                floats += 1;
            }
        }
        assert!(whole >= 19 && floats >= 10, "{whole} {floats}");
    }
}
