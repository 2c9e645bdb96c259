//! Formats of IR instructions: the fields of each, and its text.

use super::text::{self, Piece};

/// Defines the enum of formats and the row of each.
macro_rules! formats {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident [$($flag:ident)*] { $($field:ident: $ty:ty),* } = $text:literal;
    )*) => {
        /// Format of an instruction: its operands.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "each row has a doc")]
        pub enum Format { $($name,)* }

        const FORMATS: &[Source] = &[$(Source {
            format: Format::$name,
            doc: concat!($($doc, "\n"),*),
            flags: &[$(stringify!($flag)),*],
            fields: &[$((stringify!($field), stringify!($ty))),*],
            text: $text,
        },)*];
    };
}

// A row is documentation, a name, flags, the fields and the text of the operands.
//
// Types of fields:
//
// - `Value`, `Option<Value>`, arrays of these: value operands, in the order of visits.
// - `ValueList`, `BlockCall`, `[BlockCall; n]`, `CaseTable`: operands in the function's pools.
// - `Literal`: the bits of a lane of the result. `Constant`: such bits for each lane.
// - `DataRef`, `FuncRef`: entities of the module.
// - Any other type is an immediate, and implements `ir::Immediate`.
//
// Text:
//
// - `{field}`, `{field.0}`, `{field.part}`: a field, an element of an array, a part of an
//   immediate. Text after `: ` says to the parser's errors what is expected.
// - `{field * op}`: values, each after a comma. `op.operands()` is their number.
// - `{name(field, field)}`: fields whose text a function of the parser and one of the printer know.
// - `[, mask {mask}]`: present if the first field in it is. Others are each present on their own.
// - Everything else is literal.
//
// A row of an opcode may replace the text (`Row::text`).
//
// Flags:
//
// - `common`: visitors of its operands are inlined.
// - `pure`: without an effect, one result depends on the operands alone.
// - `whole`: rules match the instruction and not its fields. It is lowered by `lower_whole`.
// - `by_hand`: methods of the builder are written by hand.
formats! {
    /// No operands: `dispatch_mask`, `undef`, `barrier`.
    Nullary [common pure] {} = "";
    /// One immediate for every lane, the bits of the element zero-extended: `iconst`, `fconst`. For
    /// `bconst`: bit i is lane i.
    Imm [common pure by_hand] { bits: Literal } = "{bits}";
    /// An immediate per lane: `vconst`.
    ImmVec [common pure by_hand] { constant: Constant } = "{constant}";
    /// Launch parameter in a dimension: `group_id`, `local_id`, ...
    Launch [pure by_hand] { dim: Dim } = "{dim}";
    /// One operand.
    Unary [common pure] { arg: Value } = "{arg}";
    /// Two operands. Also `join` (em, rm).
    Binary [common pure] { args: [Value; 2] } = "{args}";
    /// Three operands. Also `goto` (em, rm, condition) and `select` (mask, if true, if false).
    Ternary [common pure] { args: [Value; 3] } = "{args}";
    /// `icmp`.
    IntCompare [common pure] { cond: IntCC, args: [Value; 2] } = "{cond: a condition} {args}";
    /// `fcmp`.
    FloatCompare [common pure] { cond: FloatCC, args: [Value; 2] } = "{cond: a condition} {args}";
    /// `rdregion`. An index of one lane makes the region indirect (Vx1), an index with a lane per
    /// row makes it multi-indirect (VxH). The index is in bytes, `i16`.
    RdRegion [common pure by_hand] { arg: Value, region: Region, index: Option<Value> }
        = "{arg}, {region(region, index)}";
    /// `wrregion`: old vector, new elements, optional index and mask.
    WrRegion [pure by_hand] { args: [Value; 2], region: Region, index: Option<Value>, mask: Option<Value> }
        = "{args.0}, {region(region, index)}, {args.1}[, mask {mask}]";
    /// `rdpred`: consecutive lanes from a lane offset.
    RdPred [pure by_hand] { arg: Value, offset: u8 } = "{arg}, {offset: a lane offset}";
    /// `wrpred`: old predicate, new lanes, lane offset.
    WrPred [pure] { args: [Value; 2], offset: u8 } = "{args}, {offset: a lane offset}";
    /// `load` (one address per lane) and `bload` (one address, consecutive lanes). `offset`, in
    /// bytes, is added to every address. With a mask, disabled lanes take the value of `old`.
    Load [by_hand] { mem: MemFlags, addr: Value, offset: i32, mask: Option<Value>, old: Option<Value> }
        = "{place(mem, addr, offset)}[, mask {mask}, {old}]";
    /// `store` and `bstore`: value, address.
    Store [by_hand] { mem: MemFlags, args: [Value; 2], offset: i32, mask: Option<Value> }
        = "{args.0}, {place(mem, args.1, offset)}[, mask {mask}]";
    /// `atomic`: operation, addresses, and as many operands as the operation needs. With a mask,
    /// disabled lanes take the value of `old`.
    Atomic [whole by_hand] {
        op: AtomicOp, mem: MemFlags, addr: Value, offset: i32, data: [Option<Value>; 2],
        mask: Option<Value>, old: Option<Value>
    } = "{op: an atomic operation} {place(mem, addr, offset)}{data * op}[, mask {mask}, {old}]";
    /// `fence`.
    Fence [] { spaces: FenceSpaces, scope: Scope } = "{spaces: memories} {scope: a scope}";
    /// `image_load`, `image_store` and `sample`: coordinates, the level of detail if given, and the
    /// stored texels or the reference. With a mask, disabled lanes of the result take the value of
    /// `old`.
    Image [whole by_hand] {
        at: ImagePlace, coords: [Option<Value>; 4], lod: Option<Value>, data: Option<Value>,
        mask: Option<Value>, old: Option<Value>
    } = "image {at.image: a number of an argument} ({coords})[ lod {lod}][, mask {mask}, {old}]";
    /// `image_atomic`: operation, coordinates, and as many operands as the operation needs. With a
    /// mask, disabled lanes take the value of `old`.
    ImageAtomic [whole by_hand] {
        op: AtomicOp, image: u8, coords: [Option<Value>; 4], data: [Option<Value>; 2],
        mask: Option<Value>, old: Option<Value>
    } = "{op: an atomic operation} image {image: a number of an argument} ({coords}){data * op}[, mask {mask}, {old}]";
    /// `image_query` and `sampler_query`: property, and index of the image or sampler argument.
    ArgQuery [pure whole by_hand] { fact: ArgFact, of: u8 }
        = "{fact: a fact} image {of: a number of an argument}";
    /// `media_load`, `media_store`: coordinates in bytes and rows, bytes of a row, stored value.
    Media [whole by_hand] { image: u8, width: u8, coords: [Value; 2], data: Option<Value> }
        = "image {image: a number of an argument} ({coords}) width {width: bytes of a row}";
    /// `send`, `send_reply`: exec size, extended descriptor and descriptor, one or two payloads,
    /// mask of enabled channels. What the response does not write keeps the value of `old`.
    Send [whole by_hand] {
        exec: u8, descs: [u32; 2], payload: Value, second: Option<Value>, mask: Option<Value>,
        old: Option<Value>
    } = "{message(exec, descs)} {payload}[, {second}][, mask {mask}][, old {old}]";
    /// `symbol_addr`: data of the module.
    Symbol [pure by_hand] { data: DataRef } = "{data: data such as `%table`}";
    /// `call`: a subroutine of the module.
    Call [by_hand] { func: FuncRef, args: ValueList } = "{func: a function such as `%f`}({args})";
    /// `jump`.
    Jump [by_hand] { dest: BlockCall } = "{dest}";
    /// `brif`: `b1` condition, destinations if true and if false.
    Brif [by_hand] { cond: Value, dests: [BlockCall; 2] } = "{cond}, {dests}";
    /// `return`.
    Return [by_hand] { args: ValueList } = "{args}";
    /// `switch`: integer of one lane, and cases that belong to this instruction alone.
    Switch [by_hand] { arg: Value, cases: CaseTable } = "{switch(arg, cases)}";
    /// `printf`: format string of the module, values, mask of the lanes that print. Without a mask,
    /// one lane prints.
    Printf [by_hand] { format: DataRef, args: ValueList, mask: Option<Value> }
        = "{format: a string such as `%format`}({args})[, mask {mask}]";
    /// `dpas`: accumulator, columns, rows.
    Dpas [whole by_hand] { shape: DpasShape, args: [Value; 3] } = "{shape} {args}";
    /// `block2d_load`, `block2d_store`, `block2d_prefetch`: address, width, height and pitch of the
    /// surface, first column and row, stored value.
    Block2d [whole by_hand] { shape: Block2dShape, args: [Value; 6], data: Option<Value> }
        = "{shape} {args.0} ({args.1}, {args.2}, {args.3}) ({args.4}, {args.5})";
    /// `named_barrier`: number within the work-group, number of threads.
    NamedBarrier [whole] { number: u8, threads: Value } = "{number: the number of a barrier}, {threads}";
    /// `prefetch`: addresses. `offset`, in bytes, is added to every address.
    Prefetch [whole] { mem: MemFlags, addr: Value, offset: i32, mask: Option<Value> }
        = "{place(mem, addr, offset)}[, mask {mask}]";
}

/// Row of a format as it is written.
struct Source {
    format: Format,
    doc: &'static str,
    flags: &'static [&'static str],
    fields: &'static [(&'static str, &'static str)],
    text: &'static str,
}

/// Kind of a field: its type, and its part in an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Value operand.
    Value,
    /// Value operand that may be absent.
    OptValue,
    /// Array of value operands.
    Values(usize),
    /// Array of value operands, the last of which may be absent.
    OptValues(usize),
    /// Values in a pool.
    List,
    /// Block and its arguments.
    BlockCall,
    /// Array of blocks and their arguments.
    BlockCalls(usize),
    /// Cases of a `switch`.
    Cases,
    /// Bits of each lane, in a pool.
    Constant,
    /// Bits of a lane.
    Literal,
    /// Data of the module.
    Data,
    /// Function of the module.
    Func,
    /// Immediate of this type.
    Imm(String),
}

impl Kind {
    fn parse(ty: &str) -> Result<Kind, String> {
        let ty: String = ty.chars().filter(|c| !c.is_whitespace()).collect();
        let array = ty.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        if let Some((element, n)) = array.and_then(|t| t.split_once(';')) {
            let n: usize = n.parse().map_err(|_| format!("`{ty}`: not an array"))?;
            return Ok(match Kind::parse(element)? {
                Kind::Value => Kind::Values(n),
                Kind::OptValue => Kind::OptValues(n),
                Kind::BlockCall => Kind::BlockCalls(n),
                Kind::Imm(element) => Kind::Imm(format!("[{element}; {n}]")),
                other => return Err(format!("there are no arrays of {other:?}")),
            });
        }
        Ok(match ty.as_str() {
            "Value" => Kind::Value,
            "Option<Value>" => Kind::OptValue,
            "ValueList" => Kind::List,
            "BlockCall" => Kind::BlockCall,
            "CaseTable" => Kind::Cases,
            "Constant" => Kind::Constant,
            "Literal" => Kind::Literal,
            "DataRef" => Kind::Data,
            "FuncRef" => Kind::Func,
            _ => Kind::Imm(ty),
        })
    }

    /// Returns the type in Rust.
    pub fn rust(&self) -> String {
        match self {
            Kind::Value => "Value".to_owned(),
            Kind::OptValue => "PackedOption<Value>".to_owned(),
            Kind::Values(n) => format!("[Value; {n}]"),
            Kind::OptValues(n) => format!("[PackedOption<Value>; {n}]"),
            Kind::List => "ValueList".to_owned(),
            Kind::BlockCall => "BlockCall".to_owned(),
            Kind::BlockCalls(n) => format!("[BlockCall; {n}]"),
            Kind::Cases => "CaseTable".to_owned(),
            Kind::Constant => "Constant".to_owned(),
            Kind::Literal => "u64".to_owned(),
            Kind::Data => "DataRef".to_owned(),
            Kind::Func => "FuncRef".to_owned(),
            Kind::Imm(ty) => match ty.chars().next() {
                // Types of the IR. Others are primitive.
                Some('A'..='Z') => format!("crate::ir::{ty}"),
                _ => ty.clone(),
            },
        }
    }

    /// Returns true if it has value operands.
    pub fn has_values(&self) -> bool {
        matches!(
            self,
            Kind::Value
                | Kind::OptValue
                | Kind::Values(_)
                | Kind::OptValues(_)
                | Kind::List
                | Kind::BlockCall
                | Kind::BlockCalls(_)
                | Kind::Cases
        )
    }

    /// Returns true if part of it is in a pool of the function.
    pub fn pooled(&self) -> bool {
        matches!(
            self,
            Kind::List | Kind::BlockCall | Kind::BlockCalls(_) | Kind::Cases | Kind::Constant
        )
    }

    /// Returns true if it has blocks.
    pub fn has_blocks(&self) -> bool {
        matches!(self, Kind::BlockCall | Kind::BlockCalls(_) | Kind::Cases)
    }
}

/// Field of a format.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
}

/// Row of a format.
#[derive(Clone, Debug)]
pub struct FormatRow {
    /// The format.
    pub format: Format,
    /// Lines of documentation.
    pub doc: &'static str,
    /// True if visitors of its operands are inlined.
    pub common: bool,
    /// True if, without an effect, one result depends on the operands alone.
    pub pure: bool,
    /// True if rules match the instruction and not its fields.
    pub whole: bool,
    /// True if methods of the builder are written by hand.
    pub by_hand: bool,
    /// Fields after the opcode.
    pub fields: Vec<Field>,
    /// Text of the operands.
    pub text: Vec<Piece>,
}

impl Format {
    /// Returns the name of the variant.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

impl FormatRow {
    fn new(source: &Source) -> Result<FormatRow, String> {
        let Source {
            format,
            doc,
            flags,
            fields,
            text,
        } = *source;
        let wrong = |e: String| format!("{format:?}: {e}");
        let known = ["common", "pure", "whole", "by_hand"];
        if let Some(flag) = flags.iter().find(|f| !known.contains(f)) {
            return Err(wrong(format!("`{flag}` is not a flag")));
        }
        let field =
            |&(name, ty): &(&'static str, &str)| Kind::parse(ty).map(|kind| Field { name, kind });
        let fields: Result<Vec<Field>, String> = fields.iter().map(field).collect();
        let mut row = FormatRow {
            format,
            doc,
            common: flags.contains(&"common"),
            pure: flags.contains(&"pure"),
            whole: flags.contains(&"whole"),
            by_hand: flags.contains(&"by_hand"),
            fields: fields.map_err(wrong)?,
            text: Vec::new(),
        };
        row.text = text::parse(&row, text).map_err(wrong)?;
        Ok(row)
    }

    /// Returns the field of a name.
    pub fn field(&self, name: &str) -> Result<&Field, String> {
        let found = self.fields.iter().find(|f| f.name == name);
        found.ok_or_else(|| format!("`{}` has no field `{name}`", self.format.name()))
    }
}

/// Returns the row of every format, in the order of the enum.
///
/// # Errors
/// Returns an error if a row has an unknown flag, or if its text is malformed.
pub fn formats() -> Result<Vec<FormatRow>, String> {
    FORMATS.iter().map(FormatRow::new).collect()
}
