//! Data flow graph: values and their definitions, instructions and their results.

use super::entities::{Block, CaseTable, Constant, Inst, Value};
use super::instructions::{BlockCall, Cases, InstData, ValueList, ValueListPool};
use super::opcode::Opcode;
use super::types::Type;
use cranelift_entity::packed_option::ReservedValue;
use cranelift_entity::{EntityRef, PrimaryMap};

/// Definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// N-th result of an instruction.
    Result(Inst, u16),
    /// N-th parameter of a block.
    Param(Block, u16),
}

#[derive(Clone, PartialEq, Debug)]
struct ValueData {
    ty: Type,
    def: ValueDef,
}

/// Results of an instruction. A single result is stored inline.
#[derive(Clone, PartialEq, Debug)]
struct Results {
    /// The only result, or [`Value::reserved_value`] for none or several.
    one: Value,
    /// All results, if there are several.
    many: ValueList,
}

impl Results {
    fn none() -> Results {
        Results {
            one: Value::reserved_value(),
            many: ValueList::new(),
        }
    }

    fn as_slice<'a>(&'a self, pool: &'a ValueListPool) -> &'a [Value] {
        if self.one.is_reserved_value() {
            self.many.as_slice(pool)
        } else {
            std::slice::from_ref(&self.one)
        }
    }

    /// Appends a result and returns its index.
    fn push(&mut self, v: Value, pool: &mut ValueListPool) -> u16 {
        let n = self.as_slice(pool).len();
        if n == 0 {
            self.one = v;
            return 0;
        }
        if n == 1 {
            self.many.push(self.one, pool);
            self.one = Value::reserved_value();
        }
        self.many.push(v, pool);
        n as u16
    }
}

#[derive(Clone, PartialEq, Debug)]
struct InstNode {
    data: InstData,
    results: Results,
}

/// Values, instructions and block parameters of a function. The [`Layout`](super::Layout) has the
/// order of instructions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DataFlowGraph {
    insts: PrimaryMap<Inst, InstNode>,
    values: PrimaryMap<Value, ValueData>,
    blocks: PrimaryMap<Block, ValueList>,
    constants: PrimaryMap<Constant, Vec<u64>>,
    cases: PrimaryMap<CaseTable, Cases>,
    /// Storage of every value list.
    pub pool: ValueListPool,
}

impl DataFlowGraph {
    /// Makes a block without parameters, not yet in the layout.
    pub fn make_block(&mut self) -> Block {
        self.blocks.push(ValueList::new())
    }

    /// Reserves space for this many more instructions of about one result each.
    pub fn reserve(&mut self, insts: usize) {
        self.insts.reserve(insts);
        self.values.reserve(insts);
    }

    /// Number of blocks that were made.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of values that were made.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Number of instructions that were made.
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }

    /// Returns true if this block was made in this graph.
    pub fn has_block(&self, block: Block) -> bool {
        block.index() < self.blocks.len()
    }

    /// Appends a parameter to a block.
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        let n = self.blocks[block].len(&self.pool) as u16;
        let v = self.values.push(ValueData {
            ty,
            def: ValueDef::Param(block, n),
        });
        self.blocks[block].push(v, &mut self.pool);
        v
    }

    /// The parameters of a block.
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.blocks[block].as_slice(&self.pool)
    }

    /// Makes an instruction with one result per type, not yet in the layout.
    pub fn make_inst(&mut self, data: InstData, results: &[Type]) -> Inst {
        let inst = self.insts.push(InstNode {
            data,
            results: Results::none(),
        });
        for (n, &ty) in results.iter().enumerate() {
            let v = self.values.push(ValueData {
                ty,
                def: ValueDef::Result(inst, n as u16),
            });
            self.insts[inst].results.push(v, &mut self.pool);
        }
        inst
    }

    /// Makes values up to a count, for a parser that knows their numbers. Each must be attached
    /// before it is used.
    pub(crate) fn reserve_values(&mut self, count: usize) {
        while self.values.len() < count {
            let n = self.values.len() as u16;
            self.values.push(ValueData {
                ty: Type::scalar_of(super::Scalar::I32),
                def: ValueDef::Param(Block::from_u32(0), n),
            });
        }
    }

    /// Makes a reserved value the next parameter of a block.
    pub(crate) fn attach_block_param(&mut self, block: Block, v: Value, ty: Type) {
        let n = self.blocks[block].len(&self.pool) as u16;
        self.values[v] = ValueData {
            ty,
            def: ValueDef::Param(block, n),
        };
        self.blocks[block].push(v, &mut self.pool);
    }

    /// Makes an instruction whose results are reserved values.
    pub(crate) fn make_inst_with(&mut self, data: InstData, results: &[(Value, Type)]) -> Inst {
        let inst = self.make_inst(data, &[]);
        for (n, &(v, ty)) in results.iter().enumerate() {
            self.values[v] = ValueData {
                ty,
                def: ValueDef::Result(inst, n as u16),
            };
            self.insts[inst].results.push(v, &mut self.pool);
        }
        inst
    }

    /// Adds a result to an instruction.
    pub fn append_result(&mut self, inst: Inst, ty: Type) -> Value {
        let v = self.values.next_key();
        let n = self.insts[inst].results.push(v, &mut self.pool);
        let def = ValueDef::Result(inst, n);
        self.values.push(ValueData { ty, def })
    }

    /// Removes the parameters of a block that are not kept. The removed values stay, detached, with
    /// their types. Branches still pass arguments for them.
    pub(crate) fn retain_block_params(&mut self, block: Block, keep: &[bool]) {
        let old = self.block_params(block).to_vec();
        self.blocks[block].clear(&mut self.pool);
        for (v, keep) in old.into_iter().zip(keep) {
            let mut n = u16::MAX;
            if *keep {
                n = self.blocks[block].len(&self.pool) as u16;
                self.blocks[block].push(v, &mut self.pool);
            }
            self.values[v].def = ValueDef::Param(block, n);
        }
    }

    /// Returns true if this instruction was made in this graph.
    pub fn has_inst(&self, inst: Inst) -> bool {
        inst.index() < self.insts.len()
    }

    /// Returns true if this constant was made in this graph.
    pub fn has_constant(&self, constant: Constant) -> bool {
        constant.index() < self.constants.len()
    }

    /// Returns true if this value was made in this graph.
    pub fn has_value(&self, v: Value) -> bool {
        v.index() < self.values.len()
    }

    /// Replaces every operand `v` of an instruction by `f(v)`.
    #[inline]
    pub fn map_args(&mut self, inst: Inst, mut f: impl FnMut(Value) -> Value) {
        if self.insts[inst].data.map_own_args(&mut f) {
            return;
        }
        let mut data = self.insts[inst].data;
        data.map_args(self, f);
        self.insts[inst].data = data;
    }

    /// Returns the data of an instruction.
    pub fn data(&self, inst: Inst) -> &InstData {
        &self.insts[inst].data
    }

    /// Returns the data of an instruction, to change.
    pub fn data_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst].data
    }

    /// Returns the results of an instruction.
    pub fn results(&self, inst: Inst) -> &[Value] {
        self.insts[inst].results.as_slice(&self.pool)
    }

    /// Returns the first result, if there is one.
    pub fn first_result(&self, inst: Inst) -> Option<Value> {
        self.results(inst).first().copied()
    }

    /// Returns the type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// Changes the type of a value. The caller must then rewrite its definition and its uses.
    pub(crate) fn set_type(&mut self, v: Value, ty: Type) {
        self.values[v].ty = ty;
    }

    /// Returns the definition of a value.
    pub fn def(&self, v: Value) -> ValueDef {
        self.values[v].def
    }

    /// Returns the instruction that defines a value; `None` for block parameters.
    pub fn def_inst(&self, v: Value) -> Option<Inst> {
        match self.def(v) {
            ValueDef::Result(i, _) => Some(i),
            ValueDef::Param(..) => None,
        }
    }

    /// Returns the bits that every lane of a value is known to have: those of a splat constant, or
    /// of lanes of one.
    pub fn same_constant(&self, v: Value) -> Option<u64> {
        match *self.data(self.def_inst(v)?) {
            InstData::Imm { bits, .. } => Some(bits),
            InstData::RdRegion { arg, .. } => match *self.data(self.def_inst(arg)?) {
                InstData::Imm { bits, .. } => Some(bits),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if `undef` defines the value, which may then be anything.
    pub fn is_undef(&self, v: Value) -> bool {
        self.def_inst(v)
            .is_some_and(|i| self.data(i).opcode() == Opcode::Undef)
    }

    /// Adds the cases of a `switch`.
    pub fn make_cases(&mut self, cases: Cases) -> CaseTable {
        self.cases.push(cases)
    }

    /// Returns true if these cases were made in this graph.
    pub fn has_cases(&self, cases: CaseTable) -> bool {
        cases.index() < self.cases.len()
    }

    /// Returns the cases of a `switch`, or none if they were not made in this graph.
    pub fn cases(&self, cases: CaseTable) -> &Cases {
        const NONE: &Cases = &Cases {
            values: Vec::new(),
            dests: Vec::new(),
        };
        self.cases.get(cases).unwrap_or(NONE)
    }

    /// Returns the cases of a `switch`, to change, and the pool of their arguments.
    pub fn cases_mut(&mut self, cases: CaseTable) -> (Option<&mut Cases>, &mut ValueListPool) {
        (self.cases.get_mut(cases), &mut self.pool)
    }

    /// Returns the blocks that an instruction may branch to.
    pub fn destinations(&self, inst: Inst) -> &[BlockCall] {
        self.data(inst).destinations(self)
    }

    /// Returns the blocks that an instruction may branch to, to change, and the pool of their
    /// arguments.
    pub fn destinations_mut(&mut self, inst: Inst) -> (&mut [BlockCall], &mut ValueListPool) {
        let data = &mut self.insts[inst].data;
        let dests = data.destinations_mut(&mut self.cases);
        (dests, &mut self.pool)
    }

    /// Adds a vector constant: the bits of each lane, zero-extended.
    pub fn make_constant(&mut self, lanes: Vec<u64>) -> Constant {
        self.constants.push(lanes)
    }

    /// Returns the lanes of a vector constant.
    pub fn constant(&self, c: Constant) -> &[u64] {
        &self.constants[c]
    }
}
