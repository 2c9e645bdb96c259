//! Printing functions and modules.

use super::literal;
use crate::ir::immediate::Immediate;
use crate::ir::instructions::ValueList;
use crate::ir::opcode::Out;
use crate::ir::{
    ArgKind, Block, BlockCall, CaseTable, Constant, Data, DataRef, DataReloc, FuncKind, FuncRef,
    Function, Inst, InstData, Linkage, MemFlags, Module, Opcode, ParamInfo, ParamRole, Region,
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
        if float.reciprocal {
            f.write_str(" quotients(reciprocal)")?;
        }
    }
    match func.linkage {
        Linkage::Local => {}
        Linkage::Public => f.write_str(" public")?,
        Linkage::Import => return f.write_str(" import\n"),
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

/// Printer of an instruction. Generated code calls a method for each field of the format.
struct Printer<'a> {
    func: &'a Function,
    module: Option<&'a Module>,
    /// Type of a lane of the result.
    scalar: Scalar,
    out: String,
}

include!(concat!(env!("OUT_DIR"), "/printer.rs"));

impl Printer<'_> {
    fn text(&mut self, text: &dyn fmt::Display) {
        let _ = write!(self.out, "{text}");
    }

    fn immediate(&mut self, immediate: &impl Immediate) {
        immediate.print(&mut self.out);
    }

    fn literal(&mut self, bits: &u64) {
        self.out.push_str(&literal::print(self.scalar, *bits));
    }

    fn constant(&mut self, constant: &Constant) {
        let lanes = self.func.dfg.constant(*constant).iter();
        let lanes: Vec<String> = lanes.map(|&b| literal::print(self.scalar, b)).collect();
        self.text(&format_args!("[{}]", lanes.join(", ")));
    }

    fn value(&mut self, v: &Value) {
        self.text(v);
    }

    fn values(&mut self, list: &[Value]) {
        self.out.push_str(&values(list));
    }

    fn optional(&mut self, v: &PackedOption<Value>) {
        self.after("", v);
    }

    /// Prints an optional value after a literal.
    fn after(&mut self, literal: &str, v: &PackedOption<Value>) {
        if let Some(v) = v.expand() {
            self.text(&format_args!("{literal}{v}"));
        }
    }

    fn present(&mut self, list: &[PackedOption<Value>]) {
        let there: Vec<Value> = list.iter().filter_map(|v| v.expand()).collect();
        self.values(&there);
    }

    fn each_after_comma(&mut self, list: &[PackedOption<Value>]) {
        list.iter().for_each(|v| self.after(", ", v));
    }

    fn list(&mut self, list: &ValueList) {
        self.values(list.as_slice(&self.func.dfg.pool));
    }

    fn destination(&mut self, dest: &BlockCall) {
        self.text(&dest.block);
        if !dest.args.is_empty() {
            self.out.push('(');
            self.list(&dest.args);
            self.out.push(')');
        }
    }

    fn destinations(&mut self, dests: &[BlockCall]) {
        for (n, dest) in dests.iter().enumerate() {
            self.out.push_str(if n > 0 { ", " } else { "" });
            self.destination(dest);
        }
    }

    fn data_name(&mut self, data: &DataRef) {
        match self.module.and_then(|m| m.data.get(*data)) {
            Some(d) => self.text(&format_args!("%{}", d.name)),
            None => self.text(data),
        }
    }

    fn function_name(&mut self, callee: &FuncRef) {
        match self.module.and_then(|m| m.functions.get(*callee)) {
            Some(f) => self.text(&format_args!("%{}", f.name)),
            None => self.text(&format_args!("%{callee}")),
        }
    }

    /// Prints `<vs;w,hs>, offset[+index][, parent w]`.
    fn region(&mut self, r: &Region, index: &PackedOption<Value>) {
        self.text(&format_args!("{r}, {}", r.offset));
        self.after("+", index);
        if r.parent_width != 0 {
            self.text(&format_args!(", parent {}", r.parent_width));
        }
    }

    /// Prints `surface 0 v1+16 align 8 volatile l1 uncached l3 cached`.
    fn place(&mut self, mem: &MemFlags, v: &Value, offset: &i32) {
        match mem.space {
            Space::Global => {}
            Space::Slm => self.out.push_str("slm "),
            Space::Surface(n) => self.text(&format_args!("surface {n} ")),
            Space::Scratch => self.out.push_str("scratch "),
        }
        self.value(v);
        if *offset != 0 {
            self.text(&format_args!("{offset:+}"));
        }
        if mem.align != 0 {
            self.text(&format_args!(" align {}", mem.alignment(1)));
        }
        if mem.volatile {
            self.out.push_str(" volatile");
        }
        if mem.constant {
            self.out.push_str(" constant");
        }
        mem.cache.print(&mut self.out);
    }

    /// Prints `exec 8 ex 0xc desc 0x2106e00`.
    fn message(&mut self, exec: &u8, [ex, desc]: &[u32; 2]) {
        self.text(&format_args!("exec {exec} ex {ex:#x} desc {desc:#x}"));
    }

    /// Prints `v1, block4(v2) [0: block1, -7: block2(v3)]`.
    fn switch(&mut self, arg: &Value, cases: &CaseTable) {
        let dfg = &self.func.dfg;
        let cases = dfg.cases(*cases);
        let scalar = if dfg.has_value(*arg) {
            dfg.ty(*arg).scalar()
        } else {
            Scalar::I64
        };
        let mut dests = cases.dests.iter();
        self.text(&format_args!("{arg}, "));
        dests.next().into_iter().for_each(|d| self.destination(d));
        self.out.push_str(" [");
        for (n, (&v, dest)) in cases.values.iter().zip(dests).enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            // A value wider than its type is printed whole.
            let ty = if v & !scalar.mask() == 0 {
                scalar
            } else {
                Scalar::I64
            };
            self.text(&format_args!("{comma}{}: ", literal::print(ty, v)));
            self.destination(dest);
        }
        self.out.push(']');
    }
}

/// Returns the text of one instruction, without indentation.
pub(crate) fn inst_text(func: &Function, module: Option<&Module>, inst: Inst) -> String {
    let dfg = &func.dfg;
    let data = dfg.data(inst);
    let info = data.opcode().info();
    let results = dfg.results(inst);
    let first = results.first().map(|&v| dfg.ty(v));
    let mut p = Printer {
        func,
        module,
        scalar: first.map_or(Scalar::I32, |t| t.scalar()),
        out: String::new(),
    };
    if !results.is_empty() {
        p.values(results);
        p.out.push_str(" = ");
    }
    p.out.push_str(info.name);
    if let (Out::Ctrl, Some(ty)) = (info.out, first) {
        p.text(&format_args!(".{ty}"));
    }
    let head = p.out.len();
    p.out.push(' ');
    p.operands(data);
    if p.out.len() == head + 1 {
        p.out.truncate(head);
    }
    p.out
}
