//! The first instructions of a kernel whose payload is in memory: they load it to the registers
//! that it is in where the hardware puts it there itself.
//!
//! `r0.0` holds where it begins, as a 32-bit offset of general state base: cross-thread data, then
//! the ids of one thread after the other, by the number of the thread in its group (`r0.2`). The
//! last register is free then, and has the offset that is loaded from.

use super::Physical;
use crate::isel::lower_sends;
use crate::mir::operand::{dst, imm, scalar, uniform};
use crate::target::Target;
use crate::target::abi::Payload;
use gantry_isa_gen::message::MessageError;
use gantry_isa_gen::{Inst, Op, Reg, RegRef, Type};

/// The bits of `r0.0` that are the offset: it is a multiple of 64 bytes.
const OFFSET: u64 = 0xffff_ffc0;
/// The bits of `r0.2` that are the number of the thread in its group.
const THREAD: u64 = 0xff;
/// Bytes to which the host rounds cross-thread data up in memory.
const CROSS_UNIT: u32 = 32;
/// Where in the thread header the number of the thread is, in bytes.
const THREAD_PLACE: u16 = 8;
/// Dwords that one message loads, the most first.
const DWORDS: [u32; 4] = [64, 32, 16, 8];

/// Puts the prologue before a kernel's instructions, where its target wants one.
///
/// # Errors
/// The platform lacks the message.
pub(super) fn add(
    physical: &mut Physical,
    payload: &Payload,
    target: &Target,
) -> Result<(), MessageError> {
    if !target.abi().loads_payload {
        return Ok(());
    }
    let grf = target.grf();
    let last = Reg::Grf((grf.count - 1) as u8);
    let mut p = Prologue {
        target,
        out: Vec::new(),
        offset: RegRef::new(last, 0),
        base: RegRef::new(last, 4),
        step: 0,
    };
    // What is no cross-thread data is one entry all the same.
    let used = if payload.cross_is_empty() {
        crate::target::abi::NO_CROSS_BYTES
    } else {
        payload.cross_used
    };
    let cross = used.next_multiple_of(CROSS_UNIT);
    let ids = payload.per_thread_bytes();
    if ids > 0 {
        p.thread(cross, ids);
        p.load(grf.bytes, ids)?;
    }
    let entry = p.out.len();
    let header = scalar(RegRef::new(Reg::Grf(0), 0), Type::Ud);
    p.push(Op::And, p.offset, [header, imm(OFFSET, Type::Ud)]);
    if payload.cross_is_empty() {
        p.out.truncate(entry);
    } else {
        p.load(payload.cross_address(), cross)?;
    }
    physical.prepend(p.out, entry);
    Ok(())
}

struct Prologue<'a> {
    target: &'a Target,
    out: Vec<Inst<Reg>>,
    /// Where the offset is that is loaded from.
    offset: RegRef<Reg>,
    /// Where the payload's own offset is kept.
    base: RegRef<Reg>,
    /// Bytes that the last message loaded.
    step: u32,
}

impl Prologue<'_> {
    fn push(&mut self, op: Op, to: RegRef<Reg>, srcs: [gantry_isa_gen::Src<Reg>; 2]) {
        self.out.push(uniform(op, dst(to, Type::Ud), srcs));
    }

    /// The offset of the thread's own ids, of so many bytes, behind the cross-thread data.
    fn thread(&mut self, cross: u32, ids: u32) {
        let header = |at| scalar(RegRef::new(Reg::Grf(0), at), Type::Ud);
        let (offset, base) = (self.offset, self.base);
        let own = |at| scalar(at, Type::Ud);
        self.push(Op::And, base, [header(0), imm(OFFSET, Type::Ud)]);
        self.push(
            Op::And,
            offset,
            [header(THREAD_PLACE), imm(THREAD, Type::Ud)],
        );
        self.push(Op::Mul, offset, [own(offset), imm(ids.into(), Type::Uw)]);
        self.push(Op::Add, base, [own(base), imm(cross.into(), Type::Ud)]);
        self.push(Op::Add, offset, [own(offset), own(base)]);
    }

    /// Loads so many bytes, from the offset on, to a byte address of the file that begins a
    /// register.
    fn load(&mut self, to: u32, bytes: u32) -> Result<(), MessageError> {
        let file = self.target.grf();
        let mut done = 0;
        while done < bytes {
            let rest = (bytes - done).div_ceil(Type::Ud.bytes());
            let fits = |n: &u32| *n <= rest.next_multiple_of(DWORDS[3]);
            let n = DWORDS.into_iter().find(fits).unwrap_or(DWORDS[3]);
            if done > 0 {
                let before = scalar(self.offset, Type::Ud);
                let step = imm(self.step.into(), Type::Ud);
                self.push(Op::Add, self.offset, [before, step]);
            }
            let at = file.of(to + done);
            let at = RegRef::new(Reg::Grf(at.min(u8::MAX.into()) as u8), 0);
            self.out.push(lower_sends::load_payload(
                self.target,
                n as u8,
                self.offset,
                at,
            )?);
            self.step = n * Type::Ud.bytes();
            done += self.step;
        }
        Ok(())
    }
}
