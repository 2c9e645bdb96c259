//! Oracle of allocations that shares nothing with the checker. It executes the original and the
//! allocated code side by side along one random path. Every byte written gets a token: in virtual
//! registers for the original code, in the GRF file for the allocated code. Each instruction must
//! read the same tokens in both. Bytes that the original code never defined are ignored.
//!
//! Inserted instructions are executed as the hardware would, whatever their purpose. A byte of a
//! constant has the token of its contents, so that the register that holds it does not matter.
//! Instructions that write more than a GRF work in halves in the GRF file, as in
//! [`crate::mir::liveness`].

use crate::isel::lower_sends::has_second;
use crate::isel::lower_sends::spill::{Scratch, slot};
use crate::mir::insert::NEW;
use crate::mir::{MInst, RegConstraint, SymbolPart, VBlock, VCode, VReg, VirtReg};
use crate::regalloc::Allocated;
use crate::target::Target;
use gantry_isa_gen::legal::geometry::{dst_span_bytes, element_offset, span_bytes};
use gantry_isa_gen::message::{Dir, Message};
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, Op, RegRef, Region, Src, Type, effects};

/// Token of undefined bytes.
const UNDEFINED: u64 = 0;

/// Returns a hash that is practically unique and never 0.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) | 1
}

/// Kinds of tokens.
#[derive(Clone, Copy)]
enum Token {
    /// Result of an instruction.
    Result = 1,
    /// Byte of a constant.
    Constant,
    /// Initial contents of an address.
    Garbage,
    /// Thread payload.
    Payload,
    /// Choice of the path.
    Choice,
    /// Base of a window of scratch.
    Window,
}

fn token(kind: Token, n: u64) -> u64 {
    mix(mix(kind as u64) ^ n)
}

/// Byte offset of the scratch base in a header, and the number of bytes that a message's offset can
/// reach from there.
const BASE: u32 = 20;
const WINDOW: u64 = Scratch::WINDOW as u64;

/// Returns the token of a byte of a window's base.
fn base(window: u64, byte: u32) -> u64 {
    token(Token::Window, window << 8 | u64::from(byte))
}

/// Word of the address register: a register of the original code, a byte offset in it, and that
/// byte's address in the GRF file.
#[derive(Clone, Copy)]
struct IndirectAddress {
    base: VReg,
    byte: u32,
    place: u32,
}

/// State of both codes. Reused from one run to the next.
#[derive(Default)]
pub(super) struct Replay {
    /// Index in `values` of the first byte of each register of the original code.
    first: Vec<u32>,
    values: Vec<u64>,
    file: Vec<u64>,
    scratch: Vec<u64>,
    a0: [Option<IndirectAddress>; 16],
    /// Number of tokens created, and the seed of the run.
    count: u64,
    seed: u64,
    /// Reads of the current instruction: expected token, address, and true if its second half reads
    /// it.
    reads: Vec<(u64, u32, bool)>,
    /// Writes of the current instruction: index in `values`, address, token, and true if its second
    /// half writes it.
    writes: Vec<(u32, u32, u64, bool)>,
    wrong: Option<String>,
}

/// Original and allocated code.
#[derive(Clone, Copy)]
pub(super) struct AllocationPair<'a> {
    pub(super) before: &'a VCode,
    pub(super) after: &'a Allocated,
    pub(super) target: &'a Target,
    /// Bytes of scratch that the kernel itself uses.
    pub(super) own: u32,
}

impl AllocationPair<'_> {
    fn place(&self, r: VReg) -> u32 {
        self.after.alloc.address[r]
    }

    /// Returns the address of an operand in the GRF file.
    fn at(&self, at: RegRef<VirtReg>) -> Option<u32> {
        let r = at.reg.as_grf()?;
        Some(self.place(r) + u32::from(at.sub))
    }

    fn decode(&self, inst: &Inst<VirtReg>) -> Option<Message> {
        effects::message(self.target.platform(), inst)
    }

    fn header(&self) -> Option<VReg> {
        let mut all = self.before.vregs.iter();
        all.find(|(_, d)| {
            d.constraint == RegConstraint::Fixed(0) && d.bytes == self.before.grf.bytes
        })
        .map(|x| x.0)
    }
}

/// Returns the token of a byte of a lane if an instruction moves a constant to all channels.
fn constant(inst: &Inst<VirtReg>, lane: u32, byte: u32) -> Option<u64> {
    let (Src::Imm { bits, ty: of }, Dst::Direct { ty, .. }) = (inst.srcs[0], inst.dst) else {
        return None;
    };
    if inst.op != Op::Mov || !inst.no_mask || inst.pred.is_some() || inst.cond.is_some() {
        return None;
    }
    let vector = matches!(of, Type::Uv | Type::V | Type::Vf);
    Some(if ty == of && !inst.sat && !vector {
        token(Token::Constant, bits >> (8 * byte) & 0xff)
    } else {
        let lane = if vector { lane } else { 0 };
        let kind = (ty as u64) << 16 | (of as u64) << 8 | u64::from(inst.sat) << 24;
        let byte = u64::from(lane) << 40 | u64::from(byte) << 32;
        token(Token::Constant, mix(bits) ^ (kind | byte | 1 << 48))
    })
}

impl Replay {
    fn reset(&mut self, p: &AllocationPair<'_>, seed: u64) {
        self.first.clear();
        let mut sum = 0;
        for d in p.before.vregs.values() {
            self.first.push(sum);
            sum += d.bytes;
        }
        self.values.clear();
        self.values.resize(sum as usize, UNDEFINED);
        self.file.clear();
        let size = u64::from(p.before.grf.size());
        self.file
            .extend((0..size).map(|n| token(Token::Garbage, n)));
        self.scratch.clear();
        for (r, d) in &p.before.vregs {
            if let RegConstraint::Fixed(at) = d.constraint {
                for k in 0..d.bytes {
                    let t = token(Token::Payload, (at + k).into());
                    self.values[(self.first[r.as_u32() as usize] + k) as usize] = t;
                    self.file[(at + k) as usize] = t;
                }
            }
        }
        self.a0 = [None; 16];
        (self.count, self.seed) = (0, mix(seed));
        self.wrong = None;
    }

    /// Runs once along a random path of at most `most` instructions. Returns the number of
    /// instructions.
    ///
    /// # Errors
    /// Returns the first instruction that reads another value than in the original code.
    pub(super) fn run_path(
        &mut self,
        p: AllocationPair<'_>,
        seed: u64,
        most: usize,
    ) -> Result<usize, String> {
        self.reset(&p, seed);
        let code = &p.after.code;
        let mut calls: Vec<(VBlock, usize)> = Vec::new();
        let mut block = VBlock::from_u32(0);
        let mut i = code.blocks[block].start;
        for n in 0..most {
            if i >= code.blocks[block].end {
                let succs = &code.blocks[block].succs;
                let Some(&next) = succs.get(self.choice(succs.len() as u32) as usize) else {
                    return Ok(n);
                };
                block = next;
                i = code.blocks[block].start;
                continue;
            }
            let m = &code.insts[i];
            self.step(&p, i, m);
            if let Some(what) = self.wrong.take() {
                return Err(format!("instruction {i} (`{m}`) {what}"));
            }
            i += 1;
            match m {
                MInst::Call { routine, .. } => {
                    calls.push((block, i));
                    block = VBlock::from_u32(code.routines[*routine].first);
                    i = code.blocks[block].start;
                }
                MInst::Return { .. } => match calls.pop() {
                    Some(back) => (block, i) = back,
                    None => return Ok(n),
                },
                _ => {}
            }
        }
        Ok(most)
    }

    fn fail(&mut self, what: impl FnOnce() -> String) {
        self.wrong.get_or_insert_with(what);
    }

    fn new_token(&mut self, kind: Token) -> u64 {
        self.count += 1;
        token(kind, self.seed ^ self.count)
    }

    fn choice(&mut self, n: u32) -> u32 {
        let t = self.new_token(Token::Choice);
        (((t >> 32) * u64::from(n)) >> 32) as u32
    }

    fn value(&self, r: VReg) -> u32 {
        self.first[r.as_u32() as usize]
    }

    fn step(&mut self, p: &AllocationPair<'_>, i: usize, m: &MInst) {
        let origin = &p.after.origin;
        let original = if origin.is_empty() {
            Some(i as u32)
        } else {
            Some(origin[i]).filter(|n| *n != NEW)
        };
        match original {
            Some(original) => self.original(p, &p.before.insts[original as usize], m),
            None => self.inserted_inst(p, m),
        }
    }

    /// Records a read of bytes of a register.
    fn read(
        &mut self,
        p: &AllocationPair<'_>,
        r: VReg,
        from: u32,
        bytes: u32,
        place: u32,
        second: bool,
    ) {
        let size = p.before.vregs[r].bytes;
        let first = self.value(r);
        for k in 0..bytes.min(size.saturating_sub(from)) {
            let want = self.values[(first + from + k) as usize];
            self.reads.push((want, place + k, second));
        }
    }

    fn compare(&mut self, second: bool) {
        for n in 0..self.reads.len() {
            let (want, place, half) = self.reads[n];
            if half != second || want == UNDEFINED {
                continue;
            }
            if self.file.get(place as usize) != Some(&want) {
                return self.fail(|| format!("reads something else at byte {place}"));
            }
        }
    }

    /// Records a write of bytes of a register.
    fn write(&mut self, p: &AllocationPair<'_>, r: VReg, from: u32, place: u32, tokens: &[u64]) {
        let size = p.before.vregs[r].bytes;
        let first = self.value(r);
        for (k, &t) in (0u32..).zip(tokens) {
            if from + k < size {
                self.writes.push((first + from + k, place + k, t, false));
            }
        }
    }

    fn apply(&mut self, second: bool) {
        for n in 0..self.writes.len() {
            let (_, place, t, half) = self.writes[n];
            if half == second {
                match self.file.get_mut(place as usize) {
                    Some(byte) => *byte = t,
                    None => return self.fail(|| format!("writes byte {place}")),
                }
            }
        }
    }

    /// Compares the reads, then applies the writes.
    fn commit(&mut self) {
        self.compare(false);
        self.apply(false);
        self.compare(true);
        self.apply(true);
        for n in 0..self.writes.len() {
            let (value, _, t, _) = self.writes[n];
            self.values[value as usize] = t;
        }
        self.reads.clear();
        self.writes.clear();
    }

    fn undefine(&mut self, p: &AllocationPair<'_>, r: VReg) {
        let first = self.value(r) as usize;
        let end = first + p.before.vregs[r].bytes as usize;
        self.values[first..end].fill(UNDEFINED);
    }

    fn whole(&mut self, p: &AllocationPair<'_>, r: VReg, now: VReg) {
        self.read(p, r, 0, u32::MAX, p.place(now), false);
    }

    /// Executes an instruction of the original code.
    fn original(&mut self, p: &AllocationPair<'_>, was: &MInst, now: &MInst) {
        match (*was, *now) {
            (MInst::Op { inst, starts, .. }, MInst::Op { inst: now, .. }) => {
                if inst.op.is_systolic() {
                    self.systolic(p, &inst, &now, starts);
                } else if inst.op.is_send() {
                    self.send(p, &inst, &now, starts);
                } else {
                    self.op(p, &inst, &now, starts);
                }
            }
            (MInst::Start { dst }, _) => self.undefine(p, dst),
            (MInst::Copy { dst, src }, MInst::Copy { dst: to, src: from }) => {
                let (a, b) = (self.value(dst) as usize, self.value(src) as usize);
                let bytes = p.before.vregs[dst].bytes as usize;
                self.values.copy_within(b..b + bytes, a);
                self.copy(p.place(to), p.place(from), p.after.code.vregs[to].bytes);
            }
            (
                MInst::LoadAddress {
                    sub,
                    count,
                    base,
                    offset,
                    index,
                },
                MInst::LoadAddress {
                    base: to,
                    index: from,
                    ..
                },
            ) => {
                if let (Some((r, at)), Some((n, _))) = (index, from) {
                    self.read(p, r, at, 2 * count.channels(), p.place(n) + at, false);
                }
                for n in 0..count.channels() {
                    if let Some(word) = self.a0.get_mut(u32::from(sub) as usize + n as usize) {
                        *word = base.zip(to).map(|(base, to)| IndirectAddress {
                            base,
                            byte: offset,
                            place: p.place(to) + offset,
                        });
                    }
                }
                self.commit();
            }
            (
                MInst::RegAddress { dst, index, .. },
                MInst::RegAddress {
                    dst: to,
                    index: from,
                    ..
                },
            ) => {
                if let (Some((r, at)), Some((n, _))) = (index, from) {
                    self.read(p, r, at, 2, p.place(n) + at, false);
                }
                let bytes = p.before.vregs[dst].bytes;
                let tokens: Vec<u64> = (0..bytes).map(|_| self.new_token(Token::Result)).collect();
                self.write(p, dst, 0, p.place(to), &tokens);
                self.commit();
            }
            (MInst::Symbol { dst, part, .. }, MInst::Symbol { dst: to, .. }) => {
                let (from, bytes) = match part {
                    SymbolPart::Whole => (0, 8),
                    SymbolPart::Low => (0, 4),
                    SymbolPart::High => (4, 4),
                };
                if part != SymbolPart::High {
                    self.undefine(p, dst);
                }
                let tokens: Vec<u64> = (0..bytes).map(|_| self.new_token(Token::Result)).collect();
                self.write(p, dst, from, p.place(to) + from, &tokens);
                self.commit();
            }
            (MInst::Call { link, .. }, MInst::Call { link: to, .. }) => {
                let bytes = p.before.vregs[link].bytes;
                let tokens: Vec<u64> = (0..bytes).map(|_| self.new_token(Token::Result)).collect();
                self.write(p, link, 0, p.place(to), &tokens);
                self.commit();
            }
            (MInst::Return { link: was, .. }, MInst::Return { link: now, .. })
            | (MInst::JumpTable { distance: was }, MInst::JumpTable { distance: now })
            | (MInst::EndThread { payload: was }, MInst::EndThread { payload: now }) => {
                self.whole(p, was, now);
                self.commit();
            }
            (MInst::Op { .. } | MInst::Copy { .. } | MInst::LoadAddress { .. }, _) => {
                self.fail(|| "is another instruction".to_owned());
            }
            _ => {}
        }
    }

    /// Returns true if a lane of an instruction is active. It is the same in both codes.
    fn runs(&mut self, inst: &Inst<VirtReg>) -> bool {
        let all = inst.no_mask && (inst.pred.is_none() || inst.op == Op::Sel);
        all || self.choice(2) == 0
    }

    /// Executes a matrix product. The first row is written before the last one is read.
    fn systolic(
        &mut self,
        p: &AllocationPair<'_>,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        starts: bool,
    ) {
        let Some(d) = Dpas::of(was) else { return };
        let first = |bytes: u32| bytes / u32::from(d.repeat);
        let sums = |ty: Option<Type>| ty.map_or(0, |ty| d.sum_bytes(ty));
        let bytes = [sums(d.src0), d.src1_bytes(), d.src2_bytes()];
        for (n, (x, y)) in was.srcs.iter().zip(&now.srcs).enumerate() {
            let (Src::Direct { at, .. }, Src::Direct { at: to, .. }) = (*x, *y) else {
                continue;
            };
            if let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to)) {
                let (sub, all) = (u32::from(at.sub), bytes[n]);
                // Every row reads all of the columns.
                let half = if n == 1 { 0 } else { first(all) };
                self.read(p, r, sub, half, place, false);
                self.read(p, r, sub + half, all - half, place + half, true);
            }
        }
        if let (Dst::Direct { at, .. }, Dst::Direct { at: to, .. }) = (was.dst, now.dst)
            && let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to))
        {
            let all = d.sum_bytes(d.dst);
            let tokens: Vec<u64> = (0..all).map(|_| self.new_token(Token::Result)).collect();
            let from = self.writes.len();
            self.write(p, r, at.sub.into(), place, &tokens);
            for w in &mut self.writes[from..] {
                w.3 = w.1 - place >= first(all);
            }
            if starts {
                self.undefine(p, r);
            }
        }
        self.commit();
    }

    fn op(
        &mut self,
        p: &AllocationPair<'_>,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        starts: bool,
    ) {
        let lanes = was.exec.channels();
        let early = match was.dst {
            Dst::Direct { at, hs, ty } if at.reg.is_grf() => {
                lanes * u32::from(hs) * ty.bytes() > p.before.grf.bytes
            }
            _ => false,
        };
        let second = |lane: u32| early && lane >= lanes / 2;
        for (x, y) in was.srcs.iter().zip(&now.srcs) {
            match (*x, *y) {
                (Src::Direct { at, region, ty, .. }, Src::Direct { at: to, .. }) => {
                    let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to)) else {
                        continue;
                    };
                    let mut seen = None;
                    for lane in 0..lanes {
                        let Some(e) = element_offset(region, lane, ty.bytes()) else {
                            continue;
                        };
                        let this = (e, second(lane));
                        let byte = u32::from(at.sub) + e;
                        // Elements beyond a register's end are ignored.
                        let inside = byte + ty.bytes() <= p.before.vregs[r].bytes;
                        if seen.replace(this) != Some(this) && inside {
                            self.read(p, r, byte, ty.bytes(), place + e, this.1);
                        }
                    }
                }
                (
                    Src::Indirect {
                        addr, region, ty, ..
                    },
                    _,
                ) => {
                    let (rows, w, hs) = match region {
                        Region::VxH { w, hs } => (lanes / u32::from(w).max(1), w.into(), hs.into()),
                        _ => (1, lanes, 0u32),
                    };
                    for row in 0..rows {
                        let span = match region {
                            Region::VxH { .. } => ((w - 1) * hs + 1) * ty.bytes(),
                            _ => span_bytes(region, was.exec, ty.bytes()).unwrap_or(0),
                        };
                        let Some((r, byte, place)) =
                            self.indirect_target(p, addr.sub, row, span, ty)
                        else {
                            continue;
                        };
                        for n in 0..w {
                            let e = match region {
                                Region::VxH { .. } => n * hs * ty.bytes(),
                                _ => element_offset(region, n, ty.bytes()).unwrap_or(0),
                            };
                            self.read(p, r, byte + e, ty.bytes(), place + e, second(row * w + n));
                        }
                    }
                }
                (Src::Macro { at, .. }, Src::Macro { at: to, .. }) => {
                    if let (Some(r), Some(n)) = (at.reg.as_grf(), to.reg.as_grf()) {
                        self.whole(p, r, n);
                    }
                }
                _ => {}
            }
        }
        match (was.dst, now.dst) {
            (Dst::Direct { at, hs, ty }, Dst::Direct { at: to, .. }) => {
                if let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to)) {
                    let step = u32::from(hs) * ty.bytes();
                    self.lanes(p, was, (r, at.sub.into(), place), (step, ty), second);
                    if starts {
                        self.undefine(p, r);
                    }
                }
            }
            (Dst::Indirect { addr, hs, ty, .. }, _) => {
                let span = dst_span_bytes(hs.into(), was.exec, ty.bytes());
                if let Some(to) = self.indirect_target(p, addr.sub, 0, span, ty) {
                    let step = u32::from(hs) * ty.bytes();
                    self.lanes(p, was, to, (step, ty), second);
                }
            }
            (Dst::Macro { at, .. }, Dst::Macro { at: to, .. }) => {
                if let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to)) {
                    let bytes = p.before.vregs[r].bytes;
                    let tokens: Vec<u64> =
                        (0..bytes).map(|_| self.new_token(Token::Result)).collect();
                    self.write(p, r, 0, place, &tokens);
                    if starts {
                        self.undefine(p, r);
                    }
                }
            }
            _ => {}
        }
        self.commit();
    }

    /// Records the writes of lanes.
    fn lanes(
        &mut self,
        p: &AllocationPair<'_>,
        inst: &Inst<VirtReg>,
        (r, byte, place): (VReg, u32, u32),
        (step, ty): (u32, Type),
        second: impl Fn(u32) -> bool,
    ) {
        for lane in 0..inst.exec.channels() {
            if !self.runs(inst) {
                continue;
            }
            let from = self.writes.len();
            let mut tokens = [0; 8];
            for (k, t) in (0u32..).zip(tokens.iter_mut()).take(ty.bytes() as usize) {
                *t = match constant(inst, lane, k) {
                    Some(t) => t,
                    None => self.new_token(Token::Result),
                };
            }
            let tokens = &tokens[..(ty.bytes() as usize).min(8)];
            self.write(p, r, byte + lane * step, place + lane * step, tokens);
            for w in &mut self.writes[from..] {
                w.3 = second(lane);
            }
        }
    }

    /// Returns a random byte of the register that a word of the address register points to, such
    /// that `span` bytes fit.
    fn indirect_target(
        &mut self,
        p: &AllocationPair<'_>,
        sub: u16,
        row: u32,
        span: u32,
        ty: Type,
    ) -> Option<(VReg, u32, u32)> {
        let a = self
            .a0
            .get((u32::from(sub) / 2 + row) as usize)
            .copied()??;
        let rest = p.before.vregs[a.base].bytes.saturating_sub(a.byte + span);
        let more = self.choice(rest / ty.bytes() + 1) * ty.bytes();
        Some((a.base, a.byte + more, a.place + more))
    }

    fn send(
        &mut self,
        p: &AllocationPair<'_>,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        starts: bool,
    ) {
        let known = p.decode(was);
        let lengths = known.map(|m| [m.src0_grfs, m.src1_grfs, m.response_grfs]);
        let bytes = |n: usize| match lengths {
            Some(l) => l.get(n).map_or(0, |g| u32::from(*g) * p.before.grf.bytes),
            None => u32::MAX,
        };
        for (n, (x, y)) in was.srcs.iter().zip(&now.srcs).enumerate() {
            if let (Src::Direct { at, .. }, Src::Direct { at: to, .. }) = (x, y)
                && let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(*to))
            {
                self.read(p, r, at.sub.into(), bytes(n), place, false);
            }
        }
        if let (Dst::Direct { at, .. }, Dst::Direct { at: to, .. }) = (was.dst, now.dst)
            && let (Some(r), Some(place)) = (at.reg.as_grf(), p.at(to))
        {
            let sub = u32::from(at.sub);
            let n = bytes(2).min(p.before.vregs[r].bytes.saturating_sub(sub));
            for from in (0..n).step_by(4) {
                if self.runs(was) {
                    let tokens = [(); 4].map(|()| self.new_token(Token::Result));
                    let few = &tokens[..(n - from).min(4) as usize];
                    self.write(p, r, sub + from, place + from, few);
                }
            }
            if starts {
                self.undefine(p, r);
            }
        }
        self.commit();
    }

    /// Moves bytes of the GRF file at once.
    fn copy(&mut self, to: u32, from: u32, bytes: u32) {
        let (t, f, n) = (to as usize, from as usize, bytes as usize);
        if t.max(f) + n > self.file.len() {
            return self.fail(|| "moves beyond the GRF file".to_owned());
        }
        self.file.copy_within(f..f + n, t);
    }

    /// Executes an inserted instruction.
    fn inserted_inst(&mut self, p: &AllocationPair<'_>, m: &MInst) {
        match m {
            MInst::Start { .. } => {}
            MInst::Copy { dst, src } => {
                self.copy(p.place(*dst), p.place(*src), p.after.code.vregs[*dst].bytes);
            }
            MInst::Op { inst, .. } if inst.op.is_send() => self.spill(p, inst),
            MInst::Op { inst, .. } if inst.op == Op::Mov => self.mov(p, inst),
            MInst::Op { inst, .. } if inst.op == Op::Add => self.base(p, inst),
            _ => self.fail(|| "is new, and of an unknown kind".to_owned()),
        }
    }

    fn mov(&mut self, p: &AllocationPair<'_>, inst: &Inst<VirtReg>) {
        let Dst::Direct { at, hs, ty } = inst.dst else {
            return self.fail(|| "has no destination".to_owned());
        };
        let Some(place) = p.at(at) else {
            return self.fail(|| "has no destination".to_owned());
        };
        let from = match inst.srcs[0] {
            Src::Direct { at, region, .. } => p.at(at).map(|place| (place, region)),
            _ => None,
        };
        let plain = inst.no_mask && inst.pred.is_none() && (from.is_none() || !inst.sat);
        let mut out: Vec<(u32, u64)> = Vec::new();
        for lane in 0..inst.exec.channels() {
            for k in 0..ty.bytes() {
                let t = match from {
                    None => constant(inst, lane, k),
                    Some((at, region)) => element_offset(region, lane, ty.bytes())
                        .and_then(|e| self.file.get((at + e + k) as usize).copied()),
                };
                let Some(t) = t.filter(|_| plain) else {
                    return self.fail(|| "is new, and no move".to_owned());
                };
                out.push((place + lane * u32::from(hs) * ty.bytes() + k, t));
            }
        }
        for (at, t) in out {
            match self.file.get_mut(at as usize) {
                Some(byte) => *byte = t,
                None => return self.fail(|| format!("writes byte {at}")),
            }
        }
    }

    /// Computes the scratch base of a header, a number of windows after the thread's own.
    fn base(&mut self, p: &AllocationPair<'_>, inst: &Inst<VirtReg>) {
        let (Dst::Direct { at: to, .. }, Src::Direct { at: from, .. }, Src::Imm { bits, .. }) =
            (inst.dst, inst.srcs[0], inst.srcs[1])
        else {
            return self.fail(|| "is new, and no base of scratch".to_owned());
        };
        let (Some(to), Some(from), Some(header)) = (p.at(to), p.at(from), p.header()) else {
            return self.fail(|| "is new, and no base of scratch".to_owned());
        };
        self.read(p, header, BASE, 4, from, false);
        self.commit();
        for k in 0..4 {
            match self.file.get_mut((to + k) as usize) {
                Some(byte) => *byte = base(bits / WINDOW, k),
                None => return self.fail(|| format!("writes byte {to}")),
            }
        }
    }

    fn spill(&mut self, p: &AllocationPair<'_>, inst: &Inst<VirtReg>) {
        let Some((dir, at, bytes)) = p.decode(inst).and_then(|m| slot(&m)) else {
            return self.fail(|| "is new, and no message of scratch".to_owned());
        };
        let src = |n: usize| match inst.srcs[n] {
            Src::Direct { at, .. } => p.at(at),
            _ => None,
        };
        let data = match (dir, inst.dst) {
            (Dir::Read, Dst::Direct { at, .. }) => p.at(at),
            (Dir::Write, _) if has_second(inst, VirtReg::NULL) => src(1),
            (Dir::Write, _) => src(0).map(|at| at + p.before.grf.bytes),
            _ => None,
        };
        let (Some(data), Some(head), Some(header)) = (data, src(0), p.header()) else {
            return self.fail(|| "has no data".to_owned());
        };
        if !data.is_multiple_of(p.before.grf.bytes) || !head.is_multiple_of(p.before.grf.bytes) {
            return self.fail(|| "is not at a register's start".to_owned());
        }
        // The header has the scratch base.
        let says = |w: &u64| {
            let at = (head + BASE) as usize;
            let there = self.file.get(at..at + 4).unwrap_or(&[]);
            there.iter().copied().eq((0..4).map(|k| base(*w, k)))
        };
        let window = (1..16).find(says);
        let at = at + window.unwrap_or(0) as u32 * WINDOW as u32;
        if at < p.own || at + bytes > p.after.spilled.scratch {
            return self.fail(|| format!("is about byte {at} of scratch"));
        }
        match window {
            None => self.read(p, header, 0, u32::MAX, head, false),
            Some(_) => {
                self.read(p, header, 0, BASE, head, false);
                self.read(p, header, BASE + 4, u32::MAX, head + BASE + 4, false);
            }
        }
        self.commit();
        let end = (at + bytes) as usize;
        while self.scratch.len() < end {
            let n = self.scratch.len() as u64 | 1 << 32;
            self.scratch.push(token(Token::Garbage, n));
        }
        let (from, to) = (at as usize, data as usize);
        let Some(file) = self.file.get_mut(to..to + bytes as usize) else {
            return self.fail(|| "is beyond the GRF file".to_owned());
        };
        let slot = &mut self.scratch[from..end];
        match dir {
            Dir::Read => file.copy_from_slice(slot),
            Dir::Write => slot.copy_from_slice(file),
        }
    }
}
