//! Parsing of registers, regions and operands.

use super::cursor::{Cursor, Parsed, decimal};
use super::number::{literal, sees_literal};
use crate::inst::{Dst, Src, SrcMods};
use crate::platform::Features;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::types::Type;

/// Returns the register with this name, if there is one.
pub(super) fn register(word: &str, f: &Features) -> Option<Reg> {
    let digits = word
        .bytes()
        .position(|b| b.is_ascii_digit())
        .unwrap_or(word.len());
    let (name, number) = word.split_at_checked(digits)?;
    let n = match number {
        "" => 0,
        _ => u8::try_from(decimal(number)?).ok()?,
    };
    match name {
        "r" if !number.is_empty() && u32::from(n) < f.grf_names => {
            return Some(Reg::Grf(n));
        }
        "mme" if !number.is_empty() && n < 8 && f.mme_base + n < 16 => {
            return Some(Reg::Arf(Arf::Acc, f.mme_base + n));
        }
        "acc" if n >= f.mme_base => return None,
        _ => {}
    }
    let kind = Arf::from_name(name)?;
    let named = kind.numbered() != number.is_empty() || (kind == Arf::ChannelEnable && n == 0);
    (named && n < 16).then_some(Reg::Arf(kind, n))
}

/// Parses a sub-register of a kind, such as `f0.1` or `a0.2`, numbered in units of `bytes`.
pub(super) fn scalar(
    c: &mut Cursor<'_>,
    f: &Features,
    kind: Arf,
    bytes: u16,
) -> Parsed<RegRef<Reg>> {
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    match register(word, f) {
        Some(r @ Reg::Arf(k, _)) if k == kind => {
            let sub = if c.eat_close(".") {
                c.number("a sub-register", 31)? as u16
            } else {
                0
            };
            Ok(RegRef::new(r, sub * bytes))
        }
        _ => c.error_from(start, format!("expected a register `{}N.M`", kind.name())),
    }
}

/// Parses `:type`, if it comes next.
pub(super) fn opt_type(c: &mut Cursor<'_>) -> Parsed<Option<Type>> {
    if !c.eat_close(":") {
        return Ok(None);
    }
    let start = c.pos();
    let word = c.word();
    match Type::from_suffix(word) {
        Some(t) => Ok(Some(t)),
        None => c.error_from(start, format!("unknown type `{word}`")),
    }
}

fn want_type(c: &mut Cursor<'_>, default: Option<Type>) -> Parsed<Type> {
    match opt_type(c)?.or(default) {
        Some(t) => Ok(t),
        None => c.error("expected a type, as in `:f`"),
    }
}

/// Parses a region in `<` and `>`.
fn region(c: &mut Cursor<'_>) -> Parsed<Option<Region>> {
    let start = c.pos();
    if !c.eat_close("<") {
        return Ok(None);
    }
    let n = |c: &mut Cursor<'_>| c.number("a stride or width", 32).map(|n| n as u8);
    let first = n(c)?;
    let region = if c.eat(";") {
        let second = n(c)?;
        if c.eat(",") {
            let hs = n(c)?;
            Region::rect(first, second, hs)
        } else {
            Region::Ternary {
                vs: first,
                hs: second,
            }
        }
    } else if c.eat(",") {
        Region::VxH {
            w: first,
            hs: n(c)?,
        }
    } else {
        Region::Scalar3 { hs: first }
    };
    if !c.eat(">") {
        return c.error_from(
            start,
            "expected a region: `<vs;w,hs>`, `<w,hs>`, `<vs;hs>` or `<hs>`",
        );
    }
    Ok(Some(region))
}

/// Register part of an operand.
enum RegOperand {
    Direct(Reg, Option<u32>),
    Mme(Reg, u8),
    Indirect(RegRef<Reg>, i16),
}

fn place(c: &mut Cursor<'_>, f: &Features) -> Parsed<RegOperand> {
    c.skip_blanks();
    let start = c.pos();
    let word = c.word();
    if word == "r" && c.eat_close("[") {
        let addr = scalar(c, f, Arf::Address, 2)?;
        let mut imm = 0;
        if c.eat(",") {
            c.skip_blanks();
            let at = c.pos();
            imm = super::number::distance(c)?;
            let reach = f.indirect_reach;
            if !(-reach..reach).contains(&imm) {
                return c.error_from(
                    at,
                    format!("the address offset must be -{reach} to {}", reach - 1),
                );
            }
        }
        c.expect("]")?;
        return Ok(RegOperand::Indirect(addr, imm as i16));
    }
    let Some(reg) = register(word, f) else {
        return c.error_from(start, format!("expected a register, found `{word}`"));
    };
    if !c.eat_close(".") {
        return Ok(RegOperand::Direct(reg, None));
    }
    let at = c.pos();
    let sub = c.word();
    if let Some(n @ 0..1024) = decimal(sub) {
        return Ok(RegOperand::Direct(reg, Some(n)));
    }
    let mme = match sub.strip_prefix("mme").map(str::parse::<u8>) {
        Some(Ok(n)) if n < 8 => Some(n),
        _ if sub == "nomme" => Some(8),
        _ => None,
    };
    match mme {
        Some(n) => Ok(RegOperand::Mme(reg, n)),
        None => c.error_from(at, format!("expected a sub-register, found `{sub}`")),
    }
}

/// Returns the byte offset of a numbered sub-register.
fn sub_bytes(
    c: &Cursor<'_>,
    f: &Features,
    start: usize,
    reg: Reg,
    sub: Option<u32>,
    ty: Type,
) -> Parsed<RegRef<Reg>> {
    let unit = match reg {
        Reg::Arf(kind, _) if kind.counts_bytes() => 8,
        _ => ty.bits(),
    };
    let bits = sub.unwrap_or(0) * unit;
    if bits >= f.grf_bytes * 8 {
        return c.error_from(start, "the sub-register is beyond the register");
    }
    if !bits.is_multiple_of(8) {
        return c.error_from(start, "the sub-register does not start at a byte");
    }
    let bytes = bits / 8;
    Ok(RegRef::new(reg, bytes as u16))
}

/// Defaults of the optional parts of an operand.
#[derive(Clone, Copy)]
pub(super) struct OperandDefaults {
    /// Features of the platform.
    pub features: &'static Features,
    pub ty: Option<Type>,
    pub region: Option<Region>,
}

/// Parses a destination operand.
pub(super) fn dst(c: &mut Cursor<'_>, f: &Features, default: Option<Type>) -> Parsed<Dst<Reg>> {
    c.skip_blanks();
    let start = c.pos();
    let place = place(c, f)?;
    let at = c.pos();
    let hs = match region(c)? {
        None => 1,
        Some(Region::Scalar3 {
            hs: hs @ (1 | 2 | 4),
        }) => hs,
        Some(_) => return c.error_from(at, "a destination's region is `<1>`, `<2>` or `<4>`"),
    };
    let ty = want_type(c, default)?;
    Ok(match place {
        RegOperand::Direct(reg, sub) => Dst::Direct {
            at: sub_bytes(c, f, start, reg, sub, ty)?,
            hs,
            ty,
        },
        RegOperand::Mme(reg, mme) => Dst::Macro {
            at: RegRef::new(reg, 0),
            mme,
            ty,
        },
        RegOperand::Indirect(addr, imm) => Dst::Indirect { addr, imm, hs, ty },
    })
}

/// Parses a data source operand. Negation is written `-`, or `~` for bitwise operations; both are
/// accepted.
pub(super) fn src(c: &mut Cursor<'_>, default: OperandDefaults) -> Parsed<Src<Reg>> {
    if sees_literal(c) {
        let l = literal(c)?;
        let ty = want_type(c, default.ty)?;
        return Ok(Src::Imm {
            bits: l.bits(ty, c)?,
            ty,
        });
    }
    c.skip_blanks();
    let start = c.pos();
    let mods = SrcMods {
        neg: c.eat("-") || c.eat("~"),
        abs: c.eat("(abs)"),
    };
    let f = default.features;
    let place = place(c, f)?;
    let region = region(c)?.or(default.region);
    let ty = want_type(c, default.ty)?;
    let want = |c: &mut Cursor<'_>| match region {
        Some(r) => Ok(r),
        None => c.error_from(start, "the source needs a region, as in `<8;8,1>`"),
    };
    Ok(match place {
        RegOperand::Direct(reg, sub) => Src::Direct {
            at: sub_bytes(c, f, start, reg, sub, ty)?,
            region: want(c)?,
            ty,
            mods,
        },
        RegOperand::Mme(reg, mme) => Src::Macro {
            at: RegRef::new(reg, 0),
            mme,
            ty,
            mods,
        },
        RegOperand::Indirect(addr, imm) => Src::Indirect {
            addr,
            imm,
            region: want(c)?,
            ty,
            mods,
        },
    })
}
