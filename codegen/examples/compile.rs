//! Minimal compilation: from IR of the builder to a zebin. Its size is the cost of the compiler
//! alone for a host (README).

use gantry_codegen::builder::FunctionBuilder;
use gantry_codegen::ir::{Function, Module, scalars::I32};
use gantry_codegen::{CompileOptions, compile};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut kernel = Function::kernel("double", 16);
    let mut b = FunctionBuilder::new(&mut kernel);
    let data = b.ptr_param();
    let v = b.ins().bload(I32.by(16), data, 0);
    let sum = b.ins().iadd(v, v);
    b.ins().bstore(sum, data, 0);
    b.ins().return_(&[]);
    b.finish()?;
    let mut module = Module::default();
    module.functions.push(kernel);
    let target = std::env::args().nth(1);
    let options = CompileOptions::for_target(target.as_deref().unwrap_or("skl"))?;
    let compiled = compile(&module, &options)?;
    println!("{} bytes of zebin", compiled.zebin.len());
    Ok(())
}
