//! Kernels written as text: sends, and zebins around them.

use gantry_isa_gen::Platform;
use gantry_isa_gen::message::Message;
use gantry_isa_gen::text::assemble;

/// Returns a whole Gen9 kernel with a body, including the end of its thread. r100 has r0.
pub fn whole(body: &str) -> String {
    format!(
        "(W) mov (8|M0) r100.0<1>:ud r0.0<8;8,1>:ud\n\
         {body}\
         (W) mov (8|M0) r127.0<1>:ud r100.0<8;8,1>:ud\n{}",
        end(Platform::Gen9)
    )
}

/// Assembles a text.
pub fn code(p: Platform, text: &str) -> Vec<u8> {
    match assemble(p, text) {
        Ok(a) => a.bytes,
        Err(e) => panic!("{}", e.render("body", text)),
    }
}

/// Builds a zebin of the kernel `t` from a text.
pub fn zebin(p: Platform, ze_info: &str, text: &str) -> Vec<u8> {
    zebin_of(p, ze_info, code(p, text))
}

/// Builds a zebin of the kernel `t` from code.
pub fn zebin_of(p: Platform, ze_info: &str, code: Vec<u8>) -> Vec<u8> {
    gantry_zebin::write_kernels(p, ze_info, &[("t", code)]).unwrap()
}

/// Returns the annotation that waits for everything before.
fn after(p: Platform) -> &'static str {
    if p == Platform::XeLp { "@1" } else { "A@1" }
}

/// Returns the text of a send.
pub fn send(p: Platform, m: &Message, exec: u32, pred: &str, dst: &str, src: [&str; 2]) -> String {
    let s = m.bits(p).unwrap();
    let [src0, src1] = src;
    let (ex, desc) = (s.ex_desc(p), s.desc);
    match s.sfid.mnemonic(p).filter(|_| p >= Platform::XeLp) {
        Some(name) => {
            let src1 = match (p >= Platform::XeHpg, src1) {
                (true, "null") => "null:0".to_owned(),
                (true, r) => format!("{r}:{}", s.src1_len),
                (false, r) => r.to_owned(),
            };
            let after = after(p);
            format!(
                "{pred} send.{name} ({exec}|M0) {dst} {src0} {src1} {ex:#x} {desc:#x} {{{after},$0}}\n(W) sync.allwr null\n"
            )
        }
        None if src1 == "null" => {
            format!("{pred} send ({exec}|M0) {dst} {src0} {ex:#x} {desc:#x}\n")
        }
        None => format!("{pred} sends ({exec}|M0) {dst} {src0} {src1} {ex:#x} {desc:#x}\n"),
    }
}

/// Returns the text of a send whose extended descriptor is in a register and names a surface state.
/// `handle` is an operand that holds the state's bits of the extended descriptor.
pub fn bindless(
    p: Platform,
    m: &Message,
    exec: u32,
    pred: &str,
    dst: &str,
    src: [&str; 2],
    handle: &str,
) -> String {
    let s = m.bits(p).unwrap();
    let [src0, src1] = src;
    let (ex, desc) = (s.ex_desc(p), s.desc);
    let after = after(p);
    let wait = match s.sfid.mnemonic(p).filter(|_| p >= Platform::XeLp) {
        Some(_) => format!(" {{{after}}}"),
        None => String::new(),
    };
    let set = format!(
        "(W) mov (1|M0) a0.2<1>:ud {handle}\n(W) or (1|M0) a0.2<1>:ud a0.2<0;1,0>:ud {ex:#x}:ud{wait}\n"
    );
    let line = match s.sfid.mnemonic(p).filter(|_| p >= Platform::XeLp) {
        Some(name) if p >= Platform::XeHpg => {
            let n = s.src1_len;
            format!(
                "{pred} send.{name} ({exec}|M0) {dst} {src0} {src1}:{n} a0.2 {desc:#x} {{ExBSO,{after},$0}}\n(W) sync.allwr null\n"
            )
        }
        Some(name) => {
            format!(
                "{pred} send.{name} ({exec}|M0) {dst} {src0} {src1} a0.2 {desc:#x} {{{after},$0}}\n(W) sync.allwr null\n"
            )
        }
        None => format!("{pred} sends ({exec}|M0) {dst} {src0} {src1} a0.2 {desc:#x}\n"),
    };
    set + &line
}

/// Returns the text of the end of a thread.
pub fn end(p: Platform) -> &'static str {
    match p {
        Platform::XeHpg | Platform::XeHpc => {
            "(W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT,A@1}\n"
        }
        Platform::XeHp => "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,A@1}\n",
        Platform::XeLp => "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,@1}\n",
        _ => "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n",
    }
}
