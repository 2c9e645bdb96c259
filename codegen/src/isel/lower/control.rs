//! Lowering of blocks, terminators and copies on edges.

use super::Lower;
use crate::error::CodegenError;
use crate::graph::{DepthFirst, Graph};
use crate::ir::memory::SLM_ALIGN;
use crate::ir::{
    Block, BlockCall, FuncKind, Function, Inst, InstData, Opcode, Scalar, SourceLoc, Value,
    ValueDef,
};
use crate::legalize_ops::is_table;
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::lowered::{CodeRange, Flags, Lowered, LoweredBlock};
use crate::mir::operand::{control, grf_dst, imm, scalar_src, uniform};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{
    EdgeFlags, FlagTest, MInst, RegConstraint, VBlock, VFlag, VReg, VRegData, VirtReg,
    parallel_copies,
};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Op, Type};
use smallvec::{SmallVec, smallvec};

impl Lower<'_> {
    /// Lowers all blocks, in emission order. Their code is appended to `code`.
    pub(super) fn blocks(
        &mut self,
        order: &[Block],
        code: &mut Vec<Lowered>,
    ) -> Result<Vec<LoweredBlock>, CodegenError> {
        let mut number: SecondaryMap<Block, PackedOption<BlockIndex>> =
            sized(self.func.dfg.num_blocks());
        let mut preds: SecondaryMap<Block, u32> = sized(self.func.dfg.num_blocks());
        for (n, &b) in order.iter().enumerate() {
            number[b] = BlockIndex::from_u32(n as u32).into();
            for call in self.destinations(b) {
                preds[call.block] += 1;
            }
        }
        let mut blocks = vec![LoweredBlock::default(); order.len()];
        // Code is appended in reverse, from the end of the last block, and reversed as a whole at
        // the end.
        let body = code.len();
        // Edge blocks get the numbers after all others during lowering. At the end they move to
        // after their predecessor.
        let mut edges: Vec<(usize, LoweredBlock)> = Vec::new();
        // Source locations of the code, each with the end of its range.
        let mut from: Vec<(usize, SourceLoc)> = Vec::new();
        let located = self.func.has_srclocs();
        for (n, &b) in order.iter().enumerate().rev() {
            self.block = b;
            from.clear();
            let insts = self.func.layout.insts(b);
            let Some((&last, body)) = insts.split_last() else {
                return Err(CodegenError::internal(
                    &self.func.name,
                    format!("{b} is empty"),
                ));
            };
            self.place = self.places[last];
            self.code.clear();
            let mut succs = SmallVec::new();
            let mut args: SmallVec<[Flags; 2]> = SmallVec::new();
            let comes_later = |to: Block| number[to].expand().is_some_and(|to| to.0 as usize > n);
            self.terminator(last, comes_later);
            let calls = self.destinations(b);
            if let [call] = calls[..] {
                let term = self.code.pop();
                let flags = self.edge_copies(&call);
                self.code.extend(term);
                succs.push(self.target(&number, call.block)?);
                args.push(flags);
            } else {
                for call in &calls {
                    let mut to = self.target(&number, call.block)?;
                    let mut flags = Flags::new();
                    let has_args = !call.args.is_empty();
                    if has_args || preds[call.block] > 1 {
                        let saved = std::mem::take(&mut self.code);
                        let along = self.edge_copies(call);
                        self.emit(MInst::Jump);
                        let start = code.len();
                        let edge = std::mem::replace(&mut self.code, saved);
                        code.extend(edge.into_iter().rev());
                        let mut locs = SrcLocs::default();
                        locs.push(0, self.func.srclocs[last]);
                        let edge = LoweredBlock {
                            code: CodeRange::since(start, code),
                            locs,
                            succs: smallvec![to],
                            flags: EdgeFlags::new(Flags::new(), smallvec![along]),
                        };
                        to = VBlock::new(order.len() + edges.len());
                        edges.push((n, edge));
                    } else {
                        flags = self.edge_copies(call);
                    }
                    succs.push(to);
                    args.push(flags);
                }
            }
            if let InstData::Switch { .. } = self.func.dfg.data(last) {
                // The default is the last entry of the table.
                succs.rotate_left(1);
                args.rotate_left(1);
            }
            let start = code.len();
            code.extend(self.code.iter().rev());
            if located {
                from.push((code.len() - start, self.func.srclocs[last]));
            }
            for &inst in body.iter().rev() {
                self.lower_inst(inst);
                code.extend(self.code.iter().rev());
                if located {
                    from.push((code.len() - start, self.func.srclocs[inst]));
                }
            }
            self.code.clear();
            self.mask_param(b);
            code.extend(self.code.iter().rev());
            if n == 0 {
                self.code.clear();
                match self.own {
                    None => self.prologue(),
                    Some(_) => self.flags_of_params(),
                }
                self.define_flags();
                code.extend(self.code.iter().rev());
            }
            let params = self.flag_params(b);
            let out = &mut blocks[n];
            out.code = CodeRange::since(start, code);
            // Code at the block's start, which belongs to no instruction, has no location.
            for &(end, loc) in from.iter().rev() {
                out.locs.push(code.len() - start - end, loc);
            }
            out.succs = succs;
            out.flags = EdgeFlags::new(params, args);
        }
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        code[body..].reverse();
        let mut blocks = with_edges(blocks, edges);
        for b in &mut blocks {
            b.code = b.code.turned(body, code.len());
        }
        Ok(blocks)
    }

    fn target(
        &self,
        number: &SecondaryMap<Block, PackedOption<BlockIndex>>,
        block: Block,
    ) -> Result<VBlock, CodegenError> {
        number[block]
            .expand()
            .map(|n| VBlock::from_u32(n.as_u32()))
            .ok_or_else(|| {
                CodegenError::internal(&self.func.name, format!("{block} is not reached"))
            })
    }

    fn destinations(&self, block: Block) -> SmallVec<[BlockCall; 2]> {
        destinations(self.func, block)
    }

    fn flag_params(&mut self, block: Block) -> Flags {
        if Some(block) == self.func.layout.entry() {
            return Flags::new();
        }
        let func = self.func;
        let mut flags = Flags::new();
        for &v in func.dfg.block_params(block) {
            let wanted = self.needed.contains(v) && !self.keeps_param(block, v);
            if self.ty(v).is_pred() && wanted {
                flags.push(self.flag(v));
            }
        }
        flags
    }

    /// Emits parallel copies that define a block's parameters, and returns the arguments that are
    /// flags. The copies are ordered by register, since different values may share one.
    fn edge_copies(&mut self, call: &BlockCall) -> Flags {
        let func = self.func;
        let params = func.dfg.block_params(call.block);
        let args = call.args.as_slice(&func.dfg.pool);
        let mut flags = Flags::new();
        let mut copies: SmallVec<[(VReg, VReg); 8]> = SmallVec::new();
        let mut constants: SmallVec<[(VReg, Inst); 4]> = SmallVec::new();
        for (&p, &a) in params.iter().zip(args) {
            if !self.needed.contains(p) || self.keeps_param(call.block, p) {
                continue;
            }
            if self.ty(p).is_pred() {
                flags.push(self.flag(a));
                continue;
            }
            if a == p {
                continue;
            }
            let to = self.reg(p);
            match self.func.dfg.def_inst(a) {
                Some(inst) if matches!(self.func.dfg.data(inst), InstData::Imm { .. }) => {
                    constants.push((to, inst));
                }
                _ => copies.push((to, self.reg(a))),
            }
        }
        let copies = parallel_copies::sequence(&copies, |r| {
            let data = VRegData {
                constraint: RegConstraint::Any,
                ..self.vregs[r]
            };
            self.vregs.push(data)
        });
        for (dst, src) in copies {
            self.emit(MInst::Copy { dst, src });
        }
        for (to, inst) in constants {
            use super::generated::Context;
            let src = self.const_src(inst);
            let ty = self.result_signed(inst);
            let lanes = self
                .func
                .dfg
                .first_result(inst)
                .map_or(1, |v| self.ty(v).lanes());
            self.bale_at(
                View::contiguous(VirtReg::grf(to), lanes, ty),
                true,
                lanes,
                Operation::new(Op::Mov, ty, &[src]),
            );
        }
        flags
    }

    /// Emits a terminator. `comes_later` returns true if a block comes later in emission order.
    fn terminator(&mut self, inst: Inst, comes_later: impl Fn(Block) -> bool) {
        match *self.func.dfg.data(inst) {
            InstData::Jump { .. } => self.emit(MInst::Jump),
            InstData::Brif { cond, dests, .. } => {
                if let Some(none_first) = self.tests_exec(inst, cond) {
                    let [first, second] = dests.map(|d| comes_later(d.block));
                    if if none_first { first } else { second } {
                        return self.branch_exec(none_first);
                    }
                }
                let (flag, test) = self.branch_test(cond);
                let flag = VirtReg::flag(flag);
                self.emit(MInst::Branch { flag, sub: 0, test });
            }
            InstData::Switch { arg, .. } if is_table(&self.func.dfg, inst, self.target) => {
                let distance = self.reg(arg);
                self.emit(MInst::JumpTable { distance });
            }
            InstData::Return { .. } if matches!(self.func.kind, FuncKind::Kernel { .. }) => {
                let grf = self.grf;
                let first = grf.count - self.target.abi().eot_grfs;
                let payload = self.vregs.push(VRegData {
                    bytes: grf.bytes,
                    align: grf.bytes,
                    constraint: RegConstraint::AtLeast(first * grf.bytes),
                    value: None.into(),
                });
                let src = self.header;
                self.emit(MInst::Copy { dst: payload, src });
                self.emit(MInst::EndThread { payload });
            }
            InstData::Return { args, .. } => self.lower_return(args),
            ref data => {
                let name = data.opcode().name();
                self.fail(Some(inst), format!("`{name}` as the end of a block"));
            }
        }
    }

    /// Returns the flag that a branch reads, and its test. Tests of `any`, `all` and the last
    /// results of `goto` and `join` are part of the branch, if the hardware combines that many
    /// bits.
    fn branch_test(&mut self, cond: Value) -> (VFlag, FlagTest) {
        let mut inverse = false;
        let mut v = cond;
        while let ValueDef::Result(inst, n) = self.func.dfg.def(v) {
            let dfg = &self.func.dfg;
            let (of, all) = match (*dfg.data(inst), n) {
                (InstData::Unary { opcode, arg }, _) => match opcode {
                    Opcode::Bnot => {
                        (v, inverse) = (arg, !inverse);
                        continue;
                    }
                    Opcode::Any => (arg, false),
                    Opcode::All => (arg, true),
                    _ => break,
                },
                // True if no channel is left.
                (data, n)
                    if data.opcode() == Opcode::Goto && n == 2
                        || data.opcode() == Opcode::Join && n == 1 =>
                {
                    (dfg.results(inst).first().copied().unwrap_or(v), false)
                }
                _ => break,
            };
            let Some(test) = FlagTest::of_lanes(self.target, self.ty(of).lanes(), all) else {
                break;
            };
            let none = !matches!(dfg.data(inst), InstData::Unary { .. });
            let inverse = inverse != none;
            return (self.flag(of), FlagTest { inverse, ..test });
        }
        let test = FlagTest {
            inverse,
            ..FlagTest::ONE
        };
        (self.flag(v), test)
    }

    /// Sets the mode of denormals and rounding to the function's, whatever the driver set.
    fn prologue(&mut self) {
        let float = self.float;
        let bits = self.target.abi().denormals;
        let mut keep = 0;
        for (scalar, bit) in [Scalar::F64, Scalar::F32, Scalar::F16]
            .into_iter()
            .zip(bits)
        {
            if !float.flushes(scalar) {
                keep |= bit;
            }
        }
        let all = bits.iter().fold(0, |all, b| all | b);
        if keep != all {
            let change = control(self.target, Op::And, !(all & !keep));
            self.emit(change);
        }
        let set = keep | float.mode().round.cr0();
        if set != 0 {
            let change = control(self.target, Op::Or, set);
            self.emit(change);
        }
        self.place_local_pointers();
    }

    fn define_flags(&mut self) {
        self.place_scratch_base();
        for r in std::mem::take(&mut self.table_args) {
            let zero = BaleSrc::Imm(0, Type::Ud);
            self.bale(r, 1, Operation::new(Op::Mov, Type::Ud, &[zero]));
        }
        for v in self.undefined_flags() {
            let (flag, lanes) = (self.flag(v), self.ty(v).lanes());
            self.const_flag(flag, lanes, 0);
        }
    }

    /// Adds the size of the kernel's own local memory to pointers to local memory that the host
    /// sizes. The driver counts the latter from 0, but the former is placed before it.
    fn place_local_pointers(&mut self) {
        let FuncKind::Kernel { slm_bytes, .. } = self.func.kind else {
            return;
        };
        let own = slm_bytes.next_multiple_of(SLM_ALIGN);
        for (r, address) in std::mem::take(&mut self.local_pointers) {
            let data = VRegData::anywhere(Type::Ud.bytes(), self.grf);
            let from = self.vregs.push(VRegData {
                constraint: RegConstraint::Fixed(address),
                ..data
            });
            let from = View::scalar(VirtReg::grf(from), 0, Type::Ud).plain();
            let sum = [from, BaleSrc::Imm(u64::from(own), Type::Ud)];
            self.bale(r, 1, Operation::new(Op::Add, Type::Ud, &sum));
        }
    }

    /// Extracts the offset of the thread's scratch: the thread header has other bits below it.
    fn place_scratch_base(&mut self) {
        let Some(base) = self.scratch_base.take() else {
            return;
        };
        let mask = self.target.abi().scratch_mask;
        self.out.emit_op(uniform(
            Op::And,
            grf_dst(base, Type::Ud),
            [
                scalar_src(self.header, 20, Type::Ud),
                imm(u64::from(mask), Type::Ud),
            ],
        ));
        let shift = self.target.abi().scratch_shift;
        if shift > 0 {
            let srcs = [scalar_src(base, 0, Type::Ud), imm(shift.into(), Type::Uw)];
            let inst = uniform(Op::Shr, grf_dst(base, Type::Ud), srcs);
            self.emit(MInst::Op {
                inst,
                starts: false,
                keeps: None.into(),
            });
        }
    }

    /// Returns predicates that are `undef`. Any bits will do, but the flag allocator needs a
    /// definition.
    fn undefined_flags(&self) -> Vec<Value> {
        let mut out = Vec::new();
        for &b in self.func.layout.blocks() {
            for &i in self.func.layout.insts(b) {
                if self.func.dfg.data(i).opcode() == Opcode::Undef {
                    let results = self.func.dfg.results(i).iter();
                    out.extend(results.filter(|&&v| self.value_flags[v].is_some()));
                }
            }
        }
        out
    }
}

/// Position of a block in emission order.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BlockIndex(u32);
cranelift_entity::entity_impl!(BlockIndex);

/// Moves each edge block to after its predecessor, and renumbers.
fn with_edges(
    blocks: Vec<LoweredBlock>,
    mut edges: Vec<(usize, LoweredBlock)>,
) -> Vec<LoweredBlock> {
    let n = blocks.len();
    let mut new_index = vec![0; n + edges.len()];
    let mut out = Vec::with_capacity(n + edges.len());
    for (b, block) in blocks.into_iter().enumerate() {
        new_index[b] = out.len();
        out.push(block);
        // Edge blocks were created from the last block to the first, those of one block in order.
        let first = edges
            .iter()
            .rposition(|(owner, _)| *owner != b)
            .map_or(0, |e| e + 1);
        for (e, (_, edge)) in (first..).zip(edges.drain(first..)) {
            new_index[n + e] = out.len();
            out.push(edge);
        }
    }
    for to in out.iter_mut().flat_map(|b: &mut LoweredBlock| &mut b.succs) {
        *to = VBlock::new(new_index[to.index()]);
    }
    out
}

fn destinations(func: &Function, block: Block) -> SmallVec<[BlockCall; 2]> {
    let last = func.layout.terminator(block);
    last.map(|t| SmallVec::from_slice(func.dfg.destinations(t)))
        .unwrap_or_default()
}

/// Returns true if a block ends in a branch that is taken if a `goto` or `join` leaves no channel.
fn branches_on_empty_mask(func: &Function, block: Block) -> bool {
    let dfg = &func.dfg;
    let last = func.layout.terminator(block);
    let Some(InstData::Brif { cond, .. }) = last.map(|t| *dfg.data(t)) else {
        return false;
    };
    match dfg.def(cond) {
        ValueDef::Result(i, n) => match dfg.data(i).opcode() {
            Opcode::Goto => n == 2,
            Opcode::Join => n == 1,
            _ => false,
        },
        ValueDef::Param(..) => false,
    }
}

/// Returns the reachable blocks in emission order. If `none_falls` is set, a branch on an empty
/// mask is followed by the destination for a non-empty one.
pub(super) fn reverse_postorder(func: &Function, none_falls: bool) -> Vec<Block> {
    let graph = EmissionGraph { func, none_falls };
    let entry = func.layout.entry();
    entry.map_or_else(Vec::new, |entry| {
        DepthFirst::new(&graph, entry).into_reverse_postorder()
    })
}

/// Blocks of a function, with their successors in the order that makes the reverse postorder the
/// order of emission.
struct EmissionGraph<'a> {
    func: &'a Function,
    none_falls: bool,
}

impl Graph for EmissionGraph<'_> {
    type Node = Block;

    fn num_nodes(&self) -> usize {
        self.func.dfg.num_blocks()
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> {
        // The last destination comes first, so that the first one follows its block.
        let mut dests = destinations(self.func, block);
        if !(self.none_falls && branches_on_empty_mask(self.func, block)) {
            dests.reverse();
        }
        dests.into_iter().map(|d| d.block)
    }
}
