//! Annotations of code in IGA syntax.

use super::*;
use gantry_isa_gen::{Target as Goal, text};

/// Assembles code, annotates it and prints one instruction per line. Inserted ones have no number.
fn annotated(platform: Platform, source: &str) -> Vec<String> {
    let program = text::assemble(platform, source).unwrap();
    let mut insts: Vec<Inst<Reg>> = program.insts.iter().map(|i| i.inst).collect();
    for i in &mut insts {
        i.swsb = Swsb::NONE;
        i.opts -= gantry_isa_gen::InstOpts::COMPACTED;
    }
    let syncs = annotate(platform, &mut insts, &[]);
    let label = |t: Goal| format!("{t:?}");
    let line = |i: &Inst<Reg>| {
        let text = text::print_inst(platform, i, &label);
        let words: Vec<_> = text.split_whitespace().collect();
        words.join(" ")
    };
    let mut out = Vec::new();
    let mut syncs = syncs.iter().peekable();
    for (n, i) in insts.iter().enumerate() {
        while let Some((_, s)) = syncs.next_if(|s| s.0 == n) {
            out.push(line(s));
        }
        out.push(line(i));
    }
    out
}

/// Returns the annotation in braces, or `-` if there is none.
fn waits(platform: Platform, source: &str) -> Vec<String> {
    let braces = |l: String| match l.split_once('{') {
        Some((_, rest)) => rest.split('}').next().unwrap_or_default().to_owned(),
        None if l.starts_with("sync") => l,
        None => "-".to_owned(),
    };
    annotated(platform, source)
        .into_iter()
        .map(braces)
        .collect()
}

const LP: Platform = Platform::XeLp;

#[test]
fn a_jump_to_what_is_next_leaves_the_pipes_as_they_are() {
    let over = |between: &str| {
        let code = format!(
            "
        cmp (1|M0) (ne)f1.0 null<1>:hf r1.12<0;1,0>:hf 6.5:hf
        (W) jmpi L32
        {between}
        L32:
        fbl (1|M0) r1.6<1>:ud r1.4<0;1,0>:ud
    "
        );
        waits(Platform::XeHpg, &code).pop()
    };
    assert_eq!(over("").as_deref(), Some("F@1"));
    // A taken branch finds them empty.
    let taken = over("mov (1|M0) r9.0<1>:ud 0x1:ud");
    assert_eq!(taken.as_deref(), Some("-"));
}

/// Each entry of a table is reached by the jump alone: it waits for what is open there.
#[test]
fn a_jump_by_a_register_reaches_the_entries_of_its_table() {
    let code = "
        send.dc1 (8|M0) r10 r2 null 0x0 0x02106E00
        mov (1|M0) r3.0<1>:d 32:d
        (W) jmpi r3.0
        (W) jmpi L96
        (W) jmpi L80
        L80:
        mov (8|M0) r4.0<1>:d r10.0<8;8,1>:d
        L96:
        mov (8|M0) r5.0<1>:d r10.0<8;8,1>:d
    ";
    let wanted = ["$0", "-", "@1", "-", "-", "$0.dst", "$0.dst"];
    assert_eq!(waits(LP, code), wanted);
}

#[test]
fn a_distance_counts_instructions_of_the_pipe() {
    let code = "
        mov (8|M0) r1.0<1>:f 1.0:f
        mov (8|M0) r2.0<1>:f 1.0:f
        add (8|M0) r3.0<1>:f r1.0<8;8,1>:f r2.0<8;8,1>:f
        add (8|M0) r4.0<1>:f r1.0<8;8,1>:f r5.0<8;8,1>:f
        add (8|M0) r5.0<1>:f r4.0<8;8,1>:f r3.0<8;8,1>:f
        mov (8|M0) r3.0<1>:f 2.0:f
    ";
    assert_eq!(waits(LP, code), ["-", "-", "@1", "-", "@1", "-"]);
}

#[test]
fn bytes_are_told_apart() {
    let code = "
        (W) mov (1|M0) r1.0<1>:ud 1:ud
        (W) mov (1|M0) r1.1<1>:ud 1:ud
        (W) mov (1|M0) r2.0<1>:ud r1.0<0;1,0>:ud
        (W) mov (1|M0) r2.1<1>:uw r1.4<0;1,0>:uw
    ";
    assert_eq!(waits(LP, code), ["-", "-", "@2", "-"]);
}

#[test]
fn messages_get_tokens_and_are_waited_for() {
    let code = "
        send.dc1 (8|M0) r10 r2 null 0x0 0x02106E00
        send.dc1 (8|M0) r11 r3 null 0x0 0x02106E00
        mov (8|M0) r2.0<1>:ud 0:ud
        mov (8|M0) r3.0<1>:ud 0:ud
        add (8|M0) r5.0<1>:f r10.0<8;8,1>:f r11.0<8;8,1>:f
        mov (8|M0) r11.0<1>:f 1.0:f
    ";
    let got = waits(LP, code);
    // Two tokens to wait for, of which one fits.
    assert_eq!(
        got,
        ["$0", "$1", "$0.src", "$1.src", "$1.dst", "$0.dst", "-"]
    );
}

#[test]
fn the_later_read_of_one_function_tells_of_the_earlier() {
    let code = "
        (W) send.dc1 (8|M0) null r2 r10 0x40 0x02026E01
        (W) send.dc1 (8|M0) null r3 r11 0x40 0x02026E01
        mov (8|M0) r3.0<1>:ud 0:ud
        mov (8|M0) r2.0<1>:ud 0:ud
    ";
    assert_eq!(waits(LP, code), ["$0", "$1", "$1.src", "-"]);
}

#[test]
fn a_token_is_set_again_by_who_waits_for_it() {
    let code = "
        send.dc1 (8|M0) r10 r2 null 0x0 0x02106E00
        send.dc1 (8|M0) r11 r10 null 0x0 0x02106E00
        mov (8|M0) r5.0<1>:ud r11.0<8;8,1>:ud
    ";
    assert_eq!(waits(LP, code), ["$0", "$0", "$0.dst"]);
}

#[test]
fn what_is_open_flows_round_a_loop() {
    let code = "
        mov (8|M0) r2.0<1>:ud 0:ud
        L16:
        mov (8|M0) r5.0<1>:ud r10.0<8;8,1>:ud
        send.dc1 (8|M0) r10 r2 null 0x0 0x02106E00
        (W&f0.0) jmpi L16
        mov (8|M0) r2.0<1>:ud 0:ud
    ";
    assert_eq!(waits(LP, code), ["-", "$0.dst", "@1,$0", "-", "$0.src"]);
}

#[test]
fn a_change_of_the_control_register_waits_and_is_waited_for() {
    let code = "
        mov (8|M0) r2.0<1>:ud 0:ud
        (W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4C0:uw
        mov (8|M0) r3.0<1>:ud 0:ud
        mov (8|M0) r4.0<1>:ud 0:ud
    ";
    assert_eq!(waits(LP, code), ["-", "@1", "@1", "-"]);
}

#[test]
fn pipes_beside_each_other_wait_for_reads_and_writes() {
    let code = "
        add (8|M0) r3.0<1>:d r1.0<1;1,0>:d r2.0<1;1,0>:d
        mov (8|M0) r1.0<1>:f 1.0:f
        mov (8|M0) r3.0<1>:f 2.0:f
        add (8|M0) r6.0<1>:f r1.0<1;1,0>:f r3.0<1;1,0>:f
    ";
    assert_eq!(waits(Platform::XeHpg, code), ["-", "I@1", "-", "F@1"]);
}

/// Any number of instructions, blocks and tokens: the walk ends within its limit of visits.
#[test]
fn a_ladder_of_loops_comes_to_an_end() {
    let mut code = String::new();
    for n in 0..60 {
        code += &format!("L{}:\n", n * 48);
        code += &format!(
            "send.dc1 (8|M0) r{} r{} null 0x0 0x02106E00\n",
            10 + n % 50,
            70 + n % 40
        );
        code += &format!("mov (8|M0) r{}.0<1>:ud 0:ud\n", 70 + (n * 7) % 40);
        let to = (n / 2) * 48;
        code += &format!("(W&f0.0) jmpi L{to}\n");
    }
    let got = waits(LP, &code);
    assert!(got.len() >= 180, "{}", got.len());
    assert!(got.iter().filter(|w| w.contains("$15")).count() > 0);
}
