//! Prologue of a kernel whose payload is in memory: it loads the payload to the registers where the
//! hardware puts it on other platforms.
//!
//! `r0.0` has its address, as a 32-bit offset of general state base. Cross-thread data comes first,
//! then the ids of one thread after the other, by the thread's number in its group (`r0.2`). The
//! last GRF is free there, and holds the offset to load from.

use super::Physical;
use crate::isel::lower_sends;
use crate::mir::operand::{dst, imm, scalar, uniform};
use crate::target::Target;
use crate::target::abi::Payload;
use gantry_isa_gen::message::MessageError;
use gantry_isa_gen::{Inst, Op, Reg, RegRef, Type};

/// Bits of `r0.0` with the offset, a multiple of 64 bytes.
const OFFSET: u64 = 0xffff_ffc0;
/// Bits of `r0.2` with the thread's number in its group.
const THREAD: u64 = 0xff;
/// Unit in bytes to which the host rounds up the size of cross-thread data in memory.
const CROSS_UNIT: u32 = 32;
/// Byte of the thread header with the thread's number.
const THREAD_PLACE: u16 = 8;
/// Numbers of dwords that one message can load, the largest first.
const DWORDS: [u32; 4] = [64, 32, 16, 8];

/// Inserts the prologue before a kernel's instructions, if its target needs one.
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
    // Empty cross-thread data still takes one entry.
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
    /// Register with the offset to load from.
    offset: RegRef<Reg>,
    /// Register with the payload's own offset.
    base: RegRef<Reg>,
    /// Bytes that the last message loaded.
    step: u32,
}

impl Prologue<'_> {
    fn push(&mut self, op: Op, to: RegRef<Reg>, srcs: [gantry_isa_gen::Src<Reg>; 2]) {
        self.out.push(uniform(op, dst(to, Type::Ud), srcs));
    }

    /// Computes the offset of the thread's own ids, of `ids` bytes, after the cross-thread data.
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

    /// Loads `bytes` bytes, from the offset on, to a byte address of the GRF file that is the start
    /// of a GRF.
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
