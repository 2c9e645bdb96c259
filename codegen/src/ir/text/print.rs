//! Printing functions and modules.

use super::literal;
use crate::ir::opcode::Out;
use crate::ir::{
    ArgFact, ArgKind, Block, Block2dShape, BlockCall, BlockLayout, Data, DataReloc, DpasShape,
    FuncKind, Function, Inst, InstData, MemFlags, Module, Opcode, ParamInfo, ParamRole, Region,
    Resource, Sampler, Scalar, Space, Value,
};
use cranelift_entity::packed_option::PackedOption;
use std::fmt::{self, Write as _};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, name) in &self.files {
            writeln!(f, "{file} = {}", literal::quote(name.as_bytes()))?;
        }
        for d in self.data.values() {
            data(f, d, self)?;
        }
        for (r, func) in &self.functions {
            let first = cranelift_entity::EntityRef::index(r) == 0;
            if !(first && self.data.is_empty() && self.files.is_empty()) {
                writeln!(f)?;
            }
            print(f, func, Some(self))?;
        }
        Ok(())
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, None)
    }
}

/// Minimum run of equal elements that is printed once, with its length.
const REPEATED: usize = 8;

fn data(f: &mut fmt::Formatter<'_>, d: &Data, module: &Module) -> fmt::Result {
    let keyword = if d.written { "global" } else { "const" };
    write!(f, "{keyword} %{}", d.name)?;
    if let (true, Some(text)) = (d.string, d.bytes.strip_suffix(&[0])) {
        return writeln!(f, " = {}", literal::quote(text));
    }
    if d.align != d.scalar.bytes() {
        write!(f, " align {}", d.align)?;
    }
    let elements: Vec<u64> = d.elements().collect();
    let runs = elements.chunk_by(|a, b| a == b);
    let mut shown = Vec::new();
    for run in runs {
        let element = run.first().map(|&e| literal::print(d.scalar, e));
        let element = element.unwrap_or_default();
        match run.len() {
            n @ REPEATED.. => shown.push(format!("{element} x {n}")),
            n => shown.resize(shown.len() + n, element),
        }
    }
    write!(f, " = {} [{}]", d.scalar, shown.join(", "))?;
    if !d.relocs.is_empty() {
        let address = |r: &DataReloc| {
            let name = module.data.get(r.data).map(|d| d.name.as_str());
            let plus = if r.addend > 0 { "+" } else { "" };
            let addend = match r.addend {
                0 => String::new(),
                n => format!("{plus}{n}"),
            };
            format!("{}: %{}{addend}", r.offset, name.unwrap_or("?"))
        };
        let all: Vec<String> = d.relocs.iter().map(address).collect();
        write!(f, " relocs [{}]", all.join(", "))?;
    }
    writeln!(f)
}

/// `repeat linear norm`.
fn sampler(s: &Sampler) -> String {
    let filter = if s.linear { "linear" } else { "nearest" };
    let norm = if s.normalized { " norm" } else { "" };
    format!("{} {filter}{norm}", s.addressing.name())
}

/// Returns the reflection of a parameter: ` "data" binding(0, 1) storage 16`, or nothing.
fn param_info(info: &ParamInfo) -> String {
    let mut out = match info.name.as_str() {
        "" => String::new(),
        name => format!(" {}", literal::quote(name.as_bytes())),
    };
    out += &match info.role {
        ParamRole::Argument => String::new(),
        ParamRole::PushConstants => " push".to_owned(),
        ParamRole::SizeOf(of) => format!(" size_of {of}"),
        ParamRole::Resource(at, resource) => {
            let element = match at.element {
                0 => String::new(),
                n => format!(", {n}"),
            };
            let what = match resource {
                Resource::StorageBuffer { least, read_only } => {
                    let read = if read_only { " read" } else { "" };
                    format!(" storage{read} {least}")
                }
                Resource::UniformBuffer { least } => format!(" uniform {least}"),
                // The kind of the parameter tells.
                Resource::Image | Resource::Sampler => String::new(),
            };
            format!(" binding({}, {}{element}){what}", at.set, at.binding)
        }
    };
    out
}

fn print(f: &mut fmt::Formatter<'_>, func: &Function, module: Option<&Module>) -> fmt::Result {
    let params: Vec<String> = func
        .sig
        .params
        .iter()
        .enumerate()
        .map(|(n, p)| {
            let alone = if p.noalias { " noalias" } else { "" };
            let info = func.reflection.get(n).map_or(String::new(), param_info);
            match p.kind.name() {
                Some(kind) => match p.kind {
                    ArgKind::Image(_, access) => {
                        format!("{} {kind} {}{info}", p.ty, access.name())
                    }
                    _ => format!("{} {kind}{alone}{info}", p.ty),
                },
                None => format!("{}{info}", p.ty),
            }
        })
        .collect();
    let keyword = match func.kind {
        FuncKind::Kernel { .. } => "kernel",
        FuncKind::Subroutine => "function",
    };
    write!(f, "{keyword} %{}({})", func.name, params.join(", "))?;
    if !func.sig.results.is_empty() {
        let results: Vec<String> = func.sig.results.iter().map(|t| t.to_string()).collect();
        write!(f, " -> {}", results.join(", "))?;
    }
    if let FuncKind::Kernel {
        simd,
        slm_bytes,
        scratch_bytes,
        group_size,
        float,
    } = func.kind
    {
        write!(f, " simd{simd}")?;
        if slm_bytes > 0 {
            write!(f, " slm {slm_bytes}")?;
        }
        if scratch_bytes > 0 {
            write!(f, " scratch {scratch_bytes}")?;
        }
        if let Some([x, y, z]) = group_size {
            write!(f, " group {x},{y},{z}")?;
        }
        let flushed = [Scalar::F16, Scalar::F32, Scalar::F64];
        let flushed = flushed.iter().filter(|s| float.flushes(**s));
        let flushed: Vec<String> = flushed.map(|s| format!("{s} flush")).collect();
        if !flushed.is_empty() {
            write!(f, " denorms({})", flushed.join(", "))?;
        }
        if float.toward_zero {
            f.write_str(" rounding(rtz)")?;
        }
        if float.contract {
            f.write_str(" sums(contract)")?;
        }
    }
    if !func.samplers.is_empty() {
        let all: Vec<String> = func.samplers.iter().map(sampler).collect();
        write!(f, " samplers({})", all.join(", "))?;
    }
    writeln!(f, " {{")?;
    for (name, labelled) in func.labels.iter() {
        let labelled: Vec<Value> = labelled.collect();
        let name = literal::quote(name.as_bytes());
        writeln!(f, "    label {name} = {}", values(&labelled))?;
    }
    for &b in func.layout.blocks() {
        block(f, func, b)?;
        for &i in func.layout.insts(b) {
            write!(f, "    {}", inst_text(func, module, i))?;
            match func.srclocs[i] {
                loc if loc.is_none() => writeln!(f)?,
                loc => writeln!(f, " {loc}")?,
            }
        }
    }
    writeln!(f, "}}")
}

fn block(f: &mut fmt::Formatter<'_>, func: &Function, b: Block) -> fmt::Result {
    let params: Vec<String> = func
        .dfg
        .block_params(b)
        .iter()
        .map(|&v| format!("{v}: {}", func.dfg.ty(v)))
        .collect();
    if params.is_empty() {
        writeln!(f, "{b}:")
    } else {
        writeln!(f, "{b}({}):", params.join(", "))
    }
}

fn values(list: &[Value]) -> String {
    let list: Vec<String> = list.iter().map(|v| v.to_string()).collect();
    list.join(", ")
}

fn call(func: &Function, c: &BlockCall) -> String {
    match c.args.as_slice(&func.dfg.pool) {
        [] => c.block.to_string(),
        args => format!("{}({})", c.block, values(args)),
    }
}

fn region(r: &Region, index: PackedOption<Value>) -> String {
    let mut out = format!("{r}, {}", r.offset);
    if let Some(v) = index.expand() {
        let _ = write!(out, "+{v}");
    }
    if r.parent_width != 0 {
        let _ = write!(out, ", parent {}", r.parent_width);
    }
    out
}

fn address(v: Value, offset: i32) -> String {
    match offset {
        0 => v.to_string(),
        n => format!("{v}{n:+}"),
    }
}

fn place(mem: MemFlags, v: Value, offset: i32) -> String {
    let mut out = match mem.space {
        Space::Global => String::new(),
        Space::Slm => "slm ".to_string(),
        Space::Surface(n) => format!("surface {n} "),
        Space::Scratch => "scratch ".to_string(),
    };
    out.push_str(&address(v, offset));
    if mem.align != 0 {
        let _ = write!(out, " align {}", mem.alignment(1));
    }
    if mem.volatile {
        out.push_str(" volatile");
    }
    if mem.constant {
        out.push_str(" constant");
    }
    out
}

/// Appends optional operands, each after a comma.
fn more(list: &[PackedOption<Value>]) -> String {
    let there = list.iter().filter_map(|v| v.expand());
    there.map(|v| format!(", {v}")).collect()
}

fn masked(mask: PackedOption<Value>) -> String {
    mask.expand()
        .map(|m| format!(", mask {m}"))
        .unwrap_or_default()
}

/// Returns the text of one instruction, without indentation.
pub(crate) fn inst_text(func: &Function, module: Option<&Module>, inst: Inst) -> String {
    let dfg = &func.dfg;
    let data = dfg.data(inst);
    let info = data.opcode().info();
    let results = dfg.results(inst);
    let mut out = String::new();
    if !results.is_empty() {
        let _ = write!(out, "{} = ", values(results));
    }
    out.push_str(info.name);
    let first = results.first().map(|&v| dfg.ty(v));
    if let (Out::Ctrl, Some(ty)) = (info.out, first) {
        let _ = write!(out, ".{ty}");
    }
    let scalar = first.map_or(crate::ir::Scalar::I32, |t| t.scalar());
    let operands = match *data {
        InstData::Nullary { .. } => String::new(),
        InstData::Imm { bits, .. } => literal::print(scalar, bits),
        InstData::ImmVec { constant, .. } => {
            let lanes = dfg.constant(constant).iter();
            let lanes: Vec<String> = lanes.map(|&b| literal::print(scalar, b)).collect();
            format!("[{}]", lanes.join(", "))
        }
        InstData::Launch { dim, .. } => dim.name().to_string(),
        InstData::Unary { arg, .. } => arg.to_string(),
        InstData::Binary { args, .. } => values(&args),
        InstData::Ternary { args, .. } => values(&args),
        InstData::IntCompare { cond, args, .. } => format!("{cond} {}", values(&args)),
        InstData::FloatCompare { cond, args, .. } => format!("{cond} {}", values(&args)),
        InstData::RdRegion {
            arg,
            region: ref r,
            index,
            ..
        } => format!("{arg}, {}", region(r, index)),
        InstData::WrRegion {
            args,
            region: ref r,
            index,
            mask,
            ..
        } => format!(
            "{}, {}, {}{}",
            args[0],
            region(r, index),
            args[1],
            masked(mask)
        ),
        InstData::RdPred { arg, offset, .. } => format!("{arg}, {offset}"),
        InstData::WrPred { args, offset, .. } => format!("{}, {offset}", values(&args)),
        InstData::Load {
            mem,
            addr,
            offset,
            mask,
            old,
            ..
        } => format!(
            "{}{}{}",
            place(mem, addr, offset),
            masked(mask),
            more(&[old])
        ),
        InstData::Store {
            mem,
            args,
            offset,
            mask,
            ..
        } => format!(
            "{}, {}{}",
            args[0],
            place(mem, args[1], offset),
            masked(mask)
        ),
        InstData::Atomic {
            op,
            mem,
            addr,
            offset,
            data,
            mask,
            old,
            ..
        } => format!(
            "{} {}{}{}{}",
            op.name(),
            place(mem, addr, offset),
            more(&data),
            masked(mask),
            more(&[old])
        ),
        InstData::Fence { spaces, scope, .. } => format!("{} {}", spaces.name(), scope.name()),
        InstData::Image {
            opcode,
            at,
            coords,
            lod,
            data,
            mask,
            old,
        } => {
            let coords: Vec<Value> = coords.iter().filter_map(|v| v.expand()).collect();
            let mut out = format!("image {} ", at.image);
            if opcode == Opcode::Sample {
                let _ = write!(out, "sampler {} ", at.sampler);
            }
            let _ = write!(out, "({})", values(&coords));
            if let Some(v) = lod.expand() {
                let _ = write!(out, " lod {v}");
            }
            format!("{out}{}{}{}", more(&[data]), masked(mask), more(&[old]))
        }
        InstData::Media {
            image,
            width,
            coords: [x, y],
            data,
            ..
        } => format!("image {image} ({x}, {y}) width {width}{}", more(&[data])),
        InstData::Send {
            exec,
            descs: [ex, desc],
            payload,
            second,
            mask,
            ..
        } => format!(
            "exec {exec} ex {ex:#x} desc {desc:#x} {payload}{}{}",
            more(&[second]),
            masked(mask)
        ),
        InstData::Dpas {
            shape:
                DpasShape {
                    columns,
                    rows,
                    repeat,
                },
            args,
            ..
        } => {
            let (columns, rows) = (columns.name(), rows.name());
            format!("{columns} {rows} rows {repeat} {}", values(&args))
        }
        InstData::Block2d {
            shape:
                Block2dShape {
                    layout,
                    bytes,
                    rows,
                    columns,
                    blocks,
                },
            args: [base, width, height, pitch, x, y],
            data,
            ..
        } => {
            let layout = match layout {
                BlockLayout::Rows => String::new(),
                other => format!("{} ", other.name()),
            };
            let data = more(&[data]);
            format!(
                "{layout}rows {rows} columns {columns} blocks {blocks} bytes {bytes} {base} ({width}, {height}, {pitch}) ({x}, {y}){data}"
            )
        }
        InstData::NamedBarrier {
            number, threads, ..
        } => format!("{number}, {threads}"),
        InstData::ArgQuery { fact, of, .. } => match fact {
            ArgFact::Image(f) => format!("{} image {of}", f.name()),
            ArgFact::Sampler(f) => format!("{} sampler {of}", f.name()),
        },
        InstData::Symbol { data, .. } => {
            let name = module.and_then(|m| m.data.get(data)).map(|d| &d.name);
            name.map_or(data.to_string(), |n| format!("%{n}"))
        }
        InstData::Printf {
            format, args, mask, ..
        } => {
            let name = module.and_then(|m| m.data.get(format)).map(|d| &d.name);
            let name = name.map_or(format.to_string(), |n| format!("%{n}"));
            format!(
                "{name}({}){}",
                values(args.as_slice(&dfg.pool)),
                masked(mask)
            )
        }
        InstData::Call {
            func: callee, args, ..
        } => {
            let name = module
                .and_then(|m| m.functions.get(callee))
                .map(|f| f.name.clone())
                .unwrap_or_else(|| callee.to_string());
            format!("%{name}({})", values(args.as_slice(&dfg.pool)))
        }
        InstData::Jump { ref dest, .. } => call(func, dest),
        InstData::Brif {
            cond, ref dests, ..
        } => {
            format!(
                "{cond}, {}, {}",
                call(func, &dests[0]),
                call(func, &dests[1])
            )
        }
        InstData::Switch { arg, cases, .. } => {
            let cases = dfg.cases(cases);
            let has = dfg.has_value(arg);
            let scalar = if has {
                dfg.ty(arg).scalar()
            } else {
                Scalar::I64
            };
            let mut dests = cases.dests.iter().map(|d| call(func, d));
            let mut out = format!("{arg}, {} [", dests.next().unwrap_or_default());
            for (n, (&v, dest)) in cases.values.iter().zip(dests).enumerate() {
                let comma = if n > 0 { ", " } else { "" };
                // A value wider than its type is printed whole.
                let ty = if v & !scalar.mask() == 0 {
                    scalar
                } else {
                    Scalar::I64
                };
                let _ = write!(out, "{comma}{}: {dest}", literal::print(ty, v));
            }
            out + "]"
        }
        InstData::Return { args, .. } => values(args.as_slice(&dfg.pool)),
    };
    if !operands.is_empty() {
        out.push(' ');
        out.push_str(&operands);
    }
    out
}
