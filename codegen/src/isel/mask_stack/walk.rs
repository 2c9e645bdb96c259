//! Walk of a function as the hardware would run it: the active mask and the waiting channels at
//! each point.

use super::running::Running;
use super::waiting::{WaitMap, WaitMaps, Waiting};
use super::webs::{Gotos, Webs, is_empty, split};
use super::{Body, Finding, MaskStack, Role, Rule, RuleViolation, Within, tested_mask};
use crate::ir::{Block, BlockCall, FuncRef, Function, Inst, InstData, Opcode, Scalar, Type, Value};
use crate::mir::JoinPoint;
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::SmallVec;

/// State of the hardware's masks at a point of the function.
#[derive(Clone, Copy, Default)]
struct MaskState {
    /// Active mask. `None` if no value equals it.
    active: PackedOption<Value>,
    waiting: WaitMap,
    /// Places where channels are for certain.
    running: Running,
}

struct MaskWalk<'a> {
    func: &'a Function,
    of: &'a Gotos<'a>,
    mask: Type,
    webs: Webs,
    maps: WaitMaps,
    out: MaskStack,
    /// Position in emission order, from 1.
    number: SecondaryMap<Block, u32>,
    starts: SecondaryMap<Block, MaskState>,
    ends: SecondaryMap<Block, MaskState>,
    /// Block and `join` of each join point.
    joins: Vec<(Block, Inst)>,
    joined: SecondaryMap<JoinPoint, PackedOption<Inst>>,
    /// Returns of a subroutine, each with its state.
    returns: Vec<(Block, Inst, MaskState)>,
}

/// Edges into a block: predecessor and branch.
type Edges = SmallVec<[(Block, BlockCall); 2]>;

/// Violated rule, and the `goto` or `join` at fault, if there is one.
type FirstViolation = (Finding, Option<Inst>);

/// Computes the roles on the mask stack, without the instructions left out.
///
/// # Errors
/// Violated rules.
pub(super) fn attempt(
    body: &Body<'_>,
    within: Within<'_>,
    left_out: &EntitySet<Inst>,
) -> Result<MaskStack, Vec<RuleViolation>> {
    let (func, order) = (body.func, &body.order[..]);
    let Some(&block) = order.first() else {
        return Ok(MaskStack::default());
    };
    let simd = within.simd;
    if !matches!(simd, 8 | 16 | 32) {
        let blocks = order.iter();
        let mut all = blocks.flat_map(|&b| func.layout.insts(b));
        if !all.any(|&i| split(func, i).is_some()) {
            return Err(Vec::new());
        }
        let (finding, insts) = (Finding::new(Rule::Width, block, None), Vec::new());
        return Err(vec![RuleViolation { finding, insts }]);
    }
    let of = Gotos {
        func,
        order,
        needed: &body.needed,
        left_out,
        within,
    };
    let mask = Type::clamped(Scalar::B1, simd);
    let mut insts = order.iter().flat_map(|&b| func.layout.insts(b));
    let diverges = insts.any(|&i| of.split(i).is_some());
    let webs = if diverges {
        Webs::new(&of, mask)?
    } else {
        Webs::default()
    };
    let mut number = sized(func.dfg.num_blocks());
    for (n, &b) in order.iter().enumerate() {
        number[b] = n as u32 + 1;
    }
    let mut w = MaskWalk {
        func,
        of: &of,
        mask,
        maps: WaitMaps::new(webs.points),
        webs,
        out: MaskStack::default(),
        number,
        starts: sized(func.dfg.num_blocks()),
        ends: sized(func.dfg.num_blocks()),
        joins: Vec::new(),
        joined: SecondaryMap::new(),
        returns: Vec::new(),
    };
    for &b in order {
        for &i in func.layout.insts(b) {
            if let Some(s) = of.split(i)
                && s.new_rm.is_none()
                && !is_empty(func, s.rm)
                && let Some(point) = w.webs.point(s.rm)
            {
                w.joined[point] = i.into();
            }
        }
    }
    let own = within.subroutine.and_then(|_| w.own_mask(block));
    if let (Some(own), Some(&param)) = (own, own.and_then(|n| func.dfg.block_params(block).get(n)))
    {
        w.out.passed.param = Some(own as u16);
        w.starts[block].active = param.into();
    }
    let calls = within.calls || within.subroutine.is_some();
    let done = w.dispatch_mask(order).and_then(|first| {
        if diverges || calls {
            w.function(order)
        } else {
            w.out.everywhere = first.into();
            Ok(())
        }
    });
    match done {
        Ok(()) => {
            w.out.points = w.webs.points;
            Ok(w.out)
        }
        Err((finding, Some(inst))) => Err(vec![w.webs.fault(&of, finding, inst)]),
        Err((finding, None)) => {
            let insts = Vec::new();
            Err(vec![RuleViolation { finding, insts }])
        }
    }
}

impl MaskWalk<'_> {
    fn function(&mut self, order: &[Block]) -> Result<(), FirstViolation> {
        let mut into: SecondaryMap<Block, Edges> = sized(self.func.dfg.num_blocks());
        for &b in order {
            for call in self.destinations(b) {
                into[call.block].push((b, call));
            }
        }
        for &b in order {
            self.start(b, &into[b])?;
            self.block(b)?;
            for call in self.destinations(b) {
                if self.number[call.block] <= self.number[b] {
                    self.back(b, &call)?;
                }
            }
        }
        self.returned()?;
        self.forward(order)
    }

    fn destinations(&self, block: Block) -> SmallVec<[BlockCall; 2]> {
        let last = self.func.layout.terminator(block);
        last.map(|t| SmallVec::from_slice(self.func.dfg.destinations(t)))
            .unwrap_or_default()
    }

    fn fail(&self, rule: Rule, block: Block, value: Value, inst: Option<Inst>) -> FirstViolation {
        (Finding::new(rule, block, Some(value)), inst)
    }

    /// Returns the `goto` or `join` that defined a mask.
    fn maker(&self, v: Option<Value>) -> Option<Inst> {
        let inst = self.func.dfg.def_inst(v?)?;
        self.of.split(inst).map(|_| inst)
    }

    /// Returns the `join` of a web.
    fn join_of(&self, point: JoinPoint) -> Option<Inst> {
        self.joined[point].expand()
    }

    /// Returns the first read of the dispatch mask. All reads must be in the entry block, before
    /// channels leave.
    fn dispatch_mask(&mut self, order: &[Block]) -> Result<Option<Value>, FirstViolation> {
        let mut first: Option<Value> = None;
        for (n, &b) in order.iter().enumerate() {
            let mut left = false;
            for &i in self.func.layout.insts(b) {
                let opcode = self.func.dfg.data(i).opcode();
                left |= opcode == Opcode::Goto;
                let Some(v) = self.func.dfg.first_result(i) else {
                    continue;
                };
                if opcode != Opcode::DispatchMask || !self.of.needed.contains(v) {
                    continue;
                }
                match first {
                    None if n > 0 || left => return Err(self.fail(Rule::DispatchMask, b, v, None)),
                    None => first = Some(v),
                    Some(f) => self.out.same[v] = f.into(),
                }
            }
        }
        if let (Some(entry), Some(v)) = (order.first(), first) {
            self.starts[*entry].active = v.into();
        }
        Ok(first)
    }

    /// Returns the parameters of a block that are masks, with their numbers.
    fn mask_params(&self, block: Block) -> SmallVec<[(usize, Value); 4]> {
        let params = self.func.dfg.block_params(block).iter().enumerate();
        params
            .filter(|&(_, &p)| self.func.dfg.ty(p) == self.mask && self.of.needed.contains(p))
            .map(|(n, &p)| (n, p))
            .collect()
    }

    fn arg(&self, call: &BlockCall, n: usize) -> Option<Value> {
        call.args.get(n, &self.func.dfg.pool)
    }

    fn is_active(&self, at: MaskState, v: Value) -> bool {
        at.active.expand() == Some(self.out.canonical(v))
    }

    /// Returns true if a resume mask is the waiting channels of its join point.
    fn waits(&self, at: MaskState, point: JoinPoint, v: Value) -> bool {
        match self.maps.get(at.waiting, point) {
            Waiting::Nobody => is_empty(self.func, v),
            Waiting::Unknown => false,
            Waiting::Mask(m) => m == v,
        }
    }

    /// Returns true if the argument of a parameter is the waiting channels at the end of the
    /// predecessor.
    fn edge_waits(&self, from: Block, call: &BlockCall, n: usize, point: JoinPoint) -> bool {
        let arg = self.arg(call, n);
        arg.is_some_and(|a| self.waits(self.ends[from], point, a))
    }

    /// Computes the state at a block's start from the edges of earlier blocks. Back edges are
    /// checked at their source.
    fn start(&mut self, block: Block, edges: &Edges) -> Result<(), FirstViolation> {
        let before: Edges = edges
            .iter()
            .filter(|(from, _)| self.number[*from] < self.number[block])
            .copied()
            .collect();
        let mut state = self.starts[block];
        if let Some(&(first, ref call)) = before.first() {
            state = self.ends[first];
            state.running = self.along(first, call);
            for (from, call) in before.iter().skip(1) {
                state.running = state.running.or(self.along(*from, call));
            }
            let actives = before.iter().map(|(from, _)| self.ends[*from].active);
            if actives.clone().any(|a| a != state.active) {
                state.active = None.into();
            }
        }
        let params = if edges.is_empty() {
            SmallVec::new()
        } else {
            self.mask_params(block)
        };
        for &(from, _) in before.iter().skip(1) {
            for point in self.maps.differing(state.waiting, self.ends[from].waiting) {
                state.waiting = self.maps.set(state.waiting, point, Waiting::Unknown);
            }
        }
        for &(n, p) in &params {
            let class = self.webs.find(p);
            if self.webs.is_rm[class] {
                // No flag holds it.
                self.out.resume_params[p] = true;
                let Some(point) = self.webs.point(p) else {
                    continue;
                };
                if !before
                    .iter()
                    .all(|(from, call)| self.edge_waits(*from, call, n, point))
                {
                    return Err(self.fail(Rule::WaitingChannels, block, p, self.join_of(point)));
                }
                state.waiting = self.maps.set(state.waiting, point, Waiting::Mask(p));
                continue;
            }
            let carries = |(from, call): &(Block, BlockCall)| {
                self.arg(call, n)
                    .is_some_and(|a| self.is_active(self.ends[*from], a))
            };
            if self.webs.is_em[class] && !before.is_empty() && before.iter().all(carries) {
                state.active = p.into();
            }
        }
        self.starts[block] = state;
        self.out.active_in[block] = state.active;
        Ok(())
    }

    fn block(&mut self, block: Block) -> Result<(), FirstViolation> {
        let mut state = self.starts[block];
        for &inst in self.func.layout.insts(block) {
            if self.of.split(inst).is_some() {
                self.control(block, inst, &mut state)?;
                continue;
            }
            let data = self.func.dfg.data(inst);
            match *data {
                InstData::Call { func, .. } => self.call(block, inst, func, state)?,
                InstData::Return { .. } => self.returns.push((block, inst, state)),
                _ => {}
            }
            let asks = matches!(
                data,
                InstData::WrRegion { .. }
                    | InstData::Load { .. }
                    | InstData::Store { .. }
                    | InstData::Atomic { .. }
                    | InstData::Image { .. }
                    | InstData::ImageAtomic { .. }
                    | InstData::Send { .. }
                    | InstData::Ternary { .. }
                    | InstData::Brif { .. }
                    | InstData::Jump { .. }
                    | InstData::Switch { .. }
            );
            if asks {
                self.out.active_at[inst] = state.active;
            }
        }
        self.ends[block] = state;
        Ok(())
    }

    fn control(
        &mut self,
        block: Block,
        inst: Inst,
        state: &mut MaskState,
    ) -> Result<(), FirstViolation> {
        let Some(s) = self.of.split(inst) else {
            return Ok(());
        };
        if !self.is_active(*state, s.em) {
            return Err(self.fail(Rule::CurrentMask, block, s.em, Some(inst)));
        }
        let role = match s.new_rm {
            Some(new_rm) => {
                let mut point = self.webs.point(new_rm);
                if let Some(point) = point {
                    if !self.waits(*state, point, s.rm) {
                        return Err(self.fail(Rule::WaitingChannels, block, s.rm, Some(inst)));
                    }
                    state.waiting = self.maps.set(state.waiting, point, Waiting::Mask(new_rm));
                } else if self.of.within.subroutine.is_some() {
                    point = Some(self.exit());
                }
                state.running = state.running.leave(point);
                state.active = s.new_em.into();
                Role::Leave(point)
            }
            None if is_empty(self.func, s.rm) => {
                // The empty mask leaves channels out that wait for another join, or no channel
                // waits.
                self.out.same[s.new_em] = self.out.canonical(s.em).into();
                Role::Nothing
            }
            None => {
                let Some(point) = self.webs.point(s.rm) else {
                    return Err(self.fail(Rule::ResumeMask, block, s.rm, Some(inst)));
                };
                if !self.waits(*state, point, s.rm) {
                    return Err(self.fail(Rule::WaitingChannels, block, s.rm, Some(inst)));
                }
                self.joins.push((block, inst));
                state.waiting = self.maps.set(state.waiting, point, Waiting::Nobody);
                state.running = state.running.join(point);
                state.active = s.new_em.into();
                Role::Join(point)
            }
        };
        self.out.roles[inst] = Some(role);
        Ok(())
    }

    /// Checks that the state assumed at a block's start holds along a back edge.
    fn back(&mut self, from: Block, call: &BlockCall) -> Result<(), FirstViolation> {
        let to = call.block;
        let (start, end) = (self.starts[to], self.ends[from]);
        let params = self.mask_params(to);
        let active = start.active.expand();
        let is_param = params.iter().find(|(_, p)| Some(*p) == active);
        let carried = match is_param {
            Some(&(n, _)) => self.arg(call, n).is_some_and(|a| self.is_active(end, a)),
            None => active.is_none() || start.active == end.active,
        };
        if !carried {
            // The instruction that changed it in the loop, or the next one that reads it.
            let at_fault = self.maker(end.active.expand()).or(self.maker(active));
            let value = active.or(end.active.expand());
            return Err((Finding::new(Rule::CurrentMask, from, value), at_fault));
        }
        for &(n, p) in &params {
            if self.out.resume_params[p]
                && let Some(point) = self.webs.point(p)
                && !self.edge_waits(from, call, n, point)
            {
                return Err(self.fail(Rule::WaitingChannels, from, p, self.join_of(point)));
            }
        }
        // What is known to run at the loop's start counts if something is called.
        if self.of.within.calls && !start.running.covers(self.along(from, call)) {
            let finding = Finding::new(Rule::CallChannels, from, end.active.expand());
            return Err((finding, self.maker(end.active.expand())));
        }
        for point in self.maps.differing(start.waiting, end.waiting) {
            match self.maps.get(start.waiting, point) {
                // A parameter of the block, checked above.
                Waiting::Mask(v) if params.iter().any(|(_, p)| *p == v) => {}
                Waiting::Unknown => {}
                Waiting::Mask(_) | Waiting::Nobody => {
                    let finding = Finding::new(Rule::WaitingChannels, from, None);
                    return Err((finding, self.join_of(point)));
                }
            }
        }
        Ok(())
    }

    /// Checks that every join point comes after the `goto`s whose channels wait there.
    fn forward(&self, order: &[Block]) -> Result<(), FirstViolation> {
        let mut at: SecondaryMap<JoinPoint, u32> = SecondaryMap::new();
        for &(block, inst) in &self.joins {
            if let Some(Role::Join(p)) = self.out.roles[inst] {
                at[p] = self.number[block];
            }
        }
        if let (Some(p), [(block, ..)]) = (self.out.exit.expand(), &self.returns[..]) {
            at[p] = self.number[*block];
        }
        let returns = |b: &&Block| self.destinations(**b).is_empty();
        let end = order
            .iter()
            .rev()
            .find(returns)
            .map_or(0, |b| self.number[*b]);
        for &block in order {
            for &inst in self.func.layout.insts(block) {
                let to = match self.out.roles[inst] {
                    Some(Role::Leave(Some(p))) => at[p],
                    Some(Role::Leave(None)) => end,
                    _ => continue,
                };
                let here = self.number[block];
                let after = match self.out.roles[inst] {
                    // In one block, the join may come after it.
                    Some(Role::Leave(Some(p))) if to == here => self.joins_after(block, inst, p),
                    _ => to > here || to == end && to == here,
                };
                if !after {
                    let value = self.func.dfg.first_result(inst);
                    return Err((Finding::new(Rule::Forward, block, value), Some(inst)));
                }
            }
        }
        Ok(())
    }

    fn joins_after(&self, block: Block, inst: Inst, point: JoinPoint) -> bool {
        if self.out.exit() == Some(point) {
            return true;
        }
        let mut insts = self.func.layout.insts(block).iter();
        insts.any(|i| *i == inst) && insts.any(|i| self.out.roles[*i] == Some(Role::Join(point)))
    }

    /// Returns the parameter of a subroutine that is its execution mask: the one of a `goto` or
    /// `join`, or else the first mask.
    fn own_mask(&self, entry: Block) -> Option<usize> {
        let params = self.mask_params(entry);
        let blocks = self.of.order.iter();
        let mut insts = blocks.flat_map(|&b| self.func.layout.insts(b));
        let of_goto = insts.find_map(|&i| {
            let em = self.of.split(i)?.em;
            params.iter().find(|(_, p)| *p == em)
        });
        of_goto.or(params.first()).map(|&(n, _)| n)
    }

    /// Returns where channels are for certain along an edge.
    fn along(&self, from: Block, call: &BlockCall) -> Running {
        let end = self.ends[from];
        let last = self.func.layout.terminator(from);
        let Some(InstData::Brif { cond, dests, .. }) = last.map(|i| *self.func.dfg.data(i)) else {
            return end.running;
        };
        match tested_mask(self.func, cond) {
            Some((mask, none_first)) if self.is_active(end, mask) => {
                let [first, second] = dests.map(|d| d.block == call.block);
                let some = if none_first {
                    second && !first
                } else {
                    first && !second
                };
                if some {
                    Running::default()
                } else {
                    end.running
                }
            }
            _ => end.running,
        }
    }

    /// Checks a call. Results that are the execution mask equal the active one.
    fn call(
        &mut self,
        block: Block,
        inst: Inst,
        func: FuncRef,
        state: MaskState,
    ) -> Result<(), FirstViolation> {
        let active = state.active.expand();
        if !state.running.is_certain() {
            let finding = Finding::new(Rule::CallChannels, block, active);
            return Err((finding, self.maker(active)));
        }
        self.out.sites.push((block, inst, state.active));
        let within = self.of.within;
        for &n in &within.passed[func].results {
            if let Some(&v) = self.func.dfg.results(inst).get(usize::from(n)) {
                self.out.same[v] = state.active;
            }
        }
        Ok(())
    }

    /// Returns the join point at the return of a subroutine.
    fn exit(&mut self) -> JoinPoint {
        let exit = self.out.exit();
        exit.unwrap_or_else(|| {
            let new = JoinPoint::new(self.webs.points);
            self.webs.points += 1;
            self.out.exit = new.into();
            new
        })
    }

    /// Checks that all channels are back at the returns of a subroutine, and finds the results
    /// that are its execution mask.
    fn returned(&mut self) -> Result<(), FirstViolation> {
        if self.of.within.subroutine.is_none() {
            return Ok(());
        }
        let mut results: Option<SmallVec<[u16; 1]>> = None;
        for &(block, inst, state) in &self.returns {
            if state.waiting != WaitMap::default() {
                let of = self.maps.differing(state.waiting, WaitMap::default());
                let join = of.first().and_then(|p| self.join_of(*p));
                return Err((Finding::new(Rule::ReturnMask, block, None), join));
            }
            if self.out.exit.is_some() && self.returns.len() > 1 {
                let active = state.active.expand();
                let finding = Finding::new(Rule::ReturnMask, block, active);
                return Err((finding, self.maker(active)));
            }
            let InstData::Return { args, .. } = *self.func.dfg.data(inst) else {
                continue;
            };
            let args = args.as_slice(&self.func.dfg.pool);
            let is = |n: &u16| {
                let v = args.get(usize::from(*n));
                v.is_some_and(|&v| self.func.dfg.ty(v) == self.mask && self.is_active(state, v))
            };
            results = Some(match results {
                None => (0..args.len() as u16).filter(is).collect(),
                Some(old) => old.into_iter().filter(is).collect(),
            });
        }
        // Channels that left come back behind the last mask that a value holds.
        if self.out.exit.is_none() && self.out.passed.param.is_some() {
            self.out.passed.results = results.unwrap_or_default();
        }
        Ok(())
    }
}
