//! Vector loads and stores with element alignment, halves in memory, `shuffle` and `prefetch`.

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{Opcode, Scalar, Value};
use spirv::{FPRoundingMode, OpenclStd100Op as Std};

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

pub(super) fn find(which: Std) -> Option<Method> {
    Some(Method::All(match which {
        Std::vloadn | Std::vload_half | Std::vload_halfn | Std::vloada_halfn => load,
        Std::vstoren
        | Std::vstore_half
        | Std::vstore_half_r
        | Std::vstore_halfn
        | Std::vstore_halfn_r
        | Std::vstorea_halfn
        | Std::vstorea_halfn_r => store,
        Std::shuffle | Std::shuffle2 => shuffle,
        Std::prefetch => |_, _| Ok(Leaves::new()),
        _ => return None,
    }))
}

/// Scalar type in memory, and address of a vector by its index. `vloada_halfn` has a stride of 4
/// for 3-vectors.
fn place(
    e: &mut E<'_, '_, '_>,
    call: &Call<'_>,
    first: usize,
    count: u32,
    opcode: Opcode,
) -> Result<(Scalar, Value, crate::emit::Access), Error> {
    let (index, pointer) = (call.args.get(first), call.args.get(first + 1));
    let (&index, &pointer) = (index.ok_or_else(wrong)?, pointer.ok_or_else(wrong)?);
    let (class, of) = e.pointer(pointer)?;
    let scalar = e.scalar(of)?;
    let aligned = matches!(
        call.which,
        Std::vloada_halfn | Std::vstorea_halfn | Std::vstorea_halfn_r
    );
    let step = match (aligned, count) {
        (true, 3) => 4,
        (_, n) => n,
    };
    let mut access = e.access(class, of, &[])?;
    access.mem = e.with_cache_policy(pointer, opcode, access.mem);
    let (addr, index) = (e.address(pointer, &access)?, e.one(index)?);
    e.want_int(index)?;
    let index = e.resize(index, e.scalar_of(addr), true);
    let bytes = e.times(index, u64::from(step * scalar.bytes()));
    let mut v = [addr, bytes];
    e.even(&mut v);
    let addr = e.b.ins().iadd(v[0], v[1]);
    access.align = u64::from(scalar.bytes());
    Ok((scalar, addr, access))
}

fn load(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let ty = call.inst.ty.expand().ok_or_else(wrong)?;
    let to = e.scalar(ty)?;
    let count = e.components(ty);
    if let (Std::vloadn, &[index, pointer]) = (call.which, call.args)
        && let Some(n) = e.held(pointer)
    {
        return e.load_held_vector((pointer, n), index, count);
    }
    let (scalar, addr, access) = place(e, call, 0, count, Opcode::Load)?;
    let halves = call.which != Std::vloadn;
    if halves && (scalar != Scalar::F16 || !matches!(to, Scalar::F32 | Scalar::F64)) {
        return Err(wrong());
    }
    let mut out = Leaves::new();
    let mut at = 0;
    while at < count {
        let now = (count - at).min(4);
        let offset = (at * scalar.bytes()) as i32;
        e.elements(scalar, now as usize, addr, offset, access.mem, &mut out);
        at += now;
    }
    if halves {
        for v in &mut out {
            let ty = e.lanes(to, e.b.ty(*v).lanes());
            *v = e.b.ins().fpromote(ty, *v);
        }
    }
    if out.iter().all(|v| e.scalar_of(*v) == to) {
        Ok(out)
    } else {
        Err(wrong())
    }
}

fn store(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let data = *call.args.first().ok_or_else(wrong)?;
    let ty = e.type_of(data)?;
    let count = e.components(ty);
    let mut values = e.get(data)?;
    if let (Std::vstoren, &[_, index, pointer]) = (call.which, call.args)
        && let Some(n) = e.held(pointer)
    {
        e.store_held_vector((pointer, n), index, &values)?;
        return Ok(Leaves::new());
    }
    let (scalar, addr, access) = place(e, call, 1, count, Opcode::Store)?;
    if call.which != Std::vstoren {
        let mode = match call.which {
            Std::vstore_half_r | Std::vstore_halfn_r | Std::vstorea_halfn_r => {
                call.words.get(3).and_then(|w| FPRoundingMode::from_u32(*w))
            }
            _ => None,
        };
        if scalar != Scalar::F16 {
            return Err(wrong());
        }
        for v in &mut values {
            if !matches!(e.scalar_of(*v), Scalar::F32 | Scalar::F64) {
                return Err(wrong());
            }
            let ty = e.lanes(scalar, e.b.ty(*v).lanes());
            *v = match mode {
                None => e.b.ins().fdemote(ty, *v),
                Some(FPRoundingMode::RTE) => e.b.ins().fdemote_rte(ty, *v),
                Some(FPRoundingMode::RTZ) => e.b.ins().fdemote_rtz(ty, *v),
                Some(FPRoundingMode::RTP) => e.b.ins().fdemote_rtp(ty, *v),
                Some(FPRoundingMode::RTN) => e.b.ins().fdemote_rtn(ty, *v),
            };
        }
    }
    if !values.iter().all(|v| e.scalar_of(*v) == scalar) {
        return Err(wrong());
    }
    for (n, now) in values.chunks(4).enumerate() {
        let offset = (n as u32 * 4 * scalar.bytes()) as i32;
        e.store_elements(scalar, now, addr, offset, access.mem);
    }
    Ok(Leaves::new())
}

/// Selects components by the low bits of each index.
fn shuffle(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mask, vectors) = call.args.split_last().ok_or_else(wrong)?;
    let mut all = Leaves::new();
    for v in vectors {
        all.extend(e.get(*v)?);
    }
    let mut out = Leaves::new();
    let numbers = e.get(*mask)?;
    for n in numbers {
        e.want_int(n)?;
        let low = e.same(n, (all.len() as u64).next_power_of_two() - 1);
        let n = e.b.ins().band(n, low);
        let mut v = *all.first().ok_or_else(wrong)?;
        for (i, other) in all.iter().enumerate().skip(1) {
            let i = e.same(n, i as u64);
            let here = e.b.ins().icmp(gantry_codegen::ir::IntCC::Equal, n, i);
            v = e.choose(here, *other, v)?;
        }
        out.push(v);
    }
    Ok(out)
}
