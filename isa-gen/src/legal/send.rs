//! Sends.

use super::{Ctx, Operand, Part, Place};
use crate::inst::{Desc, InstOpts};
use crate::op::Format;
use crate::reg::{Arf, Reg, Register};

fn is_send<R: Register>(c: &Ctx<'_, R>) -> bool {
    matches!(c.info.format, Format::Send | Format::SplitSend)
}

/// Destination and payloads are whole GRFs; only a destination or a second payload may be null.
pub(super) fn send_operands<R: Register>(c: &mut Ctx<'_, R>) {
    if !is_send(c) {
        return;
    }
    let found: Vec<(Part, &'static str)> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter_map(|o| match o.place {
            Place::Direct(at) => {
                let null_ok = matches!(o.part, Part::Dst | Part::Src(1));
                if o.arf().is_some() && !(o.is_null() && null_ok) {
                    Some((o.part, "a send operand is a GRF"))
                } else if u32::from(at.sub) % c.grf() != 0 {
                    Some((o.part, "a send operand starts at a register's start"))
                } else {
                    None
                }
            }
            Place::Indirect(..) => None,
            Place::Imm(_) | Place::Macro(_) => Some((o.part, "a send operand is a GRF")),
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
    if let Some(Desc::Reg(r)) = c.inst.send.map(|s| s.desc) {
        let a0 = match r.reg.as_phys() {
            Some(p) => p == Reg::Arf(Arf::Address, 0) && r.sub == 0,
            None => true,
        };
        if !a0 {
            c.find(Part::Desc, "a register descriptor is in a0.0");
        }
    }
}

fn grf_number<R: Register>(o: Option<&Operand<R>>) -> Option<u32> {
    match o?.place {
        Place::Direct(at) => match at.reg.as_phys()? {
            Reg::Grf(n) => Some(n.into()),
            Reg::Arf(..) => None,
        },
        _ => None,
    }
}

/// Payloads and response lie within the register file, and the two payloads do not overlap.
pub(super) fn send_lengths<R: Register>(c: &mut Ctx<'_, R>) {
    let Some(send) = c.inst.send.filter(|_| is_send(c)) else {
        return;
    };
    let (mlen, rlen) = match send.desc {
        Desc::Imm(d) => (d >> 25 & 15, d >> 20 & 31),
        Desc::Reg(_) => (1, 0),
    };
    if mlen == 0 {
        c.find(Part::Desc, "a message of no registers");
    }
    let ex_len = match send.ex {
        Desc::Imm(ex) => ex >> 6 & 15,
        Desc::Reg(_) => 1,
    };
    let count = c.features.grf_count;
    let (dst, s0, s1) = (
        grf_number(c.dst.as_ref()),
        grf_number(c.srcs.first()),
        grf_number(c.srcs.get(1)),
    );
    for (part, at, len) in [
        (Part::Dst, dst, rlen),
        (Part::Src(0), s0, mlen),
        (Part::Src(1), s1, ex_len),
    ] {
        if let Some(at) = at
            && at + len > count
        {
            c.find(
                part,
                format!("{len} registers from r{at} go beyond r{}", count - 1),
            );
        }
    }
    if let (Some(a), Some(b)) = (s0, s1)
        && a < b + ex_len
        && b < a + mlen
        && ex_len > 0
    {
        c.find(Part::Src(1), "the two payloads overlap");
    }
    if let (Some(d), Some(a)) = (dst, s0)
        && c.info.format == Format::Send
        && d + rlen > 127
        && a + mlen > d
    {
        c.find(
            Part::Dst,
            "a response that reaches r127 must not overlap the payload",
        );
    }
}

/// A message that ends the thread takes its payloads from the last sixteen registers and has no response.
pub(super) fn send_eot<R: Register>(c: &mut Ctx<'_, R>) {
    if !is_send(c) || !c.inst.opts.contains(InstOpts::EOT) {
        return;
    }
    let first = c.features.grf_count - 16;
    let wrong: Vec<Part> = c
        .srcs
        .iter()
        .filter(|s| grf_number(Some(s)).is_some_and(|n| n < first))
        .map(|s| s.part)
        .collect();
    for part in wrong {
        c.find(
            part,
            format!("the thread's last message must come from r{first} or above"),
        );
    }
    if c.written().is_some() {
        c.find(Part::Dst, "the thread's last message has no response");
    }
}
