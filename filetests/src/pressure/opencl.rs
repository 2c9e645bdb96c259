//! Programs as OpenCL C.

use super::program::{Expr, Index, Op, Program, Stmt, Ty};
use std::fmt::Write;

const fn name(ty: Ty) -> &'static str {
    match ty {
        Ty::U8 => "uchar",
        Ty::U16 => "ushort",
        Ty::U32 => "uint",
        Ty::U64 => "ulong",
        Ty::F16 => "half",
        Ty::F32 => "float",
    }
}

fn element(buffer: usize, index: &Index) -> String {
    let mut out = format!("b{buffer}[{}", index.first);
    if let Some((counter, by)) = index.step {
        let _ = write!(out, " + i{counter} * {by}");
    }
    if index.lane {
        out += " + gid";
    }
    out + "]"
}

fn operation(op: Op, ty: Ty, args: &[usize]) -> String {
    let a = |n: usize| format!("v{}", args.get(n).copied().unwrap_or(0));
    let infix = |sign: &str| format!("{} {sign} {}", a(0), a(1));
    let call = |f: &str| {
        let all: Vec<String> = (0..args.len()).map(a).collect();
        format!("{f}({})", all.join(", "))
    };
    let float = matches!(ty, Ty::F16 | Ty::F32);
    let text = match op {
        Op::Add => infix("+"),
        Op::Sub => infix("-"),
        Op::Mul => infix("*"),
        Op::Div => infix("/"),
        Op::And => infix("&"),
        Op::Or => infix("|"),
        Op::Xor => infix("^"),
        Op::Shl => infix("<<"),
        Op::Shr => infix(">>"),
        Op::Not => format!("~{}", a(0)),
        Op::Fma => call("fma"),
        Op::Min if float => call("fmin"),
        Op::Max if float => call("fmax"),
        Op::Min => call("min"),
        Op::Max => call("max"),
        Op::Rotl => call("rotate"),
        Op::Rsqrt => call("native_rsqrt"),
    };
    match ty {
        Ty::U8 | Ty::U16 => format!("({})({text})", name(ty)),
        _ => text,
    }
}

fn constant(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::F32 => format!("as_float(0x{bits:x}u)"),
        Ty::F16 => format!("as_half((ushort)0x{bits:x})"),
        Ty::U64 => format!("0x{bits:x}ul"),
        _ => format!("({})0x{bits:x}u", name(ty)),
    }
}

fn statements(p: &Program, code: &[Stmt], out: &mut String) {
    let ty = |n: usize| p.values.borrow().get(n).map_or(Ty::U32, |v| v.0);
    for s in code {
        let text = match s {
            Stmt::Let(n, expr) => {
                let value = match expr {
                    Expr::Const(bits) => constant(ty(*n), *bits),
                    Expr::Get(var) => format!("x{var}"),
                    Expr::Load(buffer, index) => element(*buffer, index),
                    Expr::Op(op, args) => operation(*op, ty(*n), args),
                };
                format!("{} v{n} = {value};", name(ty(*n)))
            }
            Stmt::Var(var, v) => format!("{} x{var} = v{v};", name(ty(*v))),
            Stmt::Set(var, v) => format!("x{var} = v{v};"),
            Stmt::Store(buffer, index, v) => format!("{} = v{v};", element(*buffer, index)),
            Stmt::For(i, times, body) => {
                // Not unrolled: both sides have the loop.
                let _ = writeln!(
                    out,
                    "#pragma unroll 1\nfor (int i{i} = 0; i{i} < {times}; i{i}++) {{"
                );
                statements(p, body, out);
                "}".to_owned()
            }
        };
        *out += &text;
        out.push('\n');
    }
}

/// Generates the kernel, in SIMD16.
pub fn source(kernel: &str, p: &Program) -> String {
    let mut out = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
        __attribute__((intel_reqd_sub_group_size(16)))\n"
        .to_owned();
    let args = p.buffers.borrow();
    let args = args.iter().enumerate().map(|(n, b)| {
        let constant = if b.output { "" } else { "const " };
        format!("global {constant}{} *restrict b{n}", name(b.ty))
    });
    let args: Vec<String> = args.collect();
    let _ = writeln!(out, "kernel void {kernel}({}) {{", args.join(", "));
    out += "int gid = get_global_id(0);\n";
    statements(p, &p.code.borrow(), &mut out);
    out + "}\n"
}
