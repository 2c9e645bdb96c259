//! Faults: every kind ends its launch with an error that says what, where and in which thread.
//! Other launches go on.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, Message, MsgOp, Rgba, Simd, Surface,
};
use gantry_runtime::{Device, Error, Fault, Grid, SimOptions};

const P: Platform = Platform::Gen9;

/// Description of a kernel with a pointer argument and a KB of scratch a thread.
const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
      barrier_count: 1
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
    per_thread_memory_buffers:
      - type: scratch
        usage: spill_fill_space
        size: 1024
";

/// Assembles a body. r2.0:uq has the buffer's address, r100 is r0.
fn code(body: &str) -> Vec<u8> {
    text::code(P, &text::whole(body))
}

fn device() -> Device {
    Device::simulator(SimOptions {
        instruction_limit: 10_000,
        ..SimOptions::default()
    })
}

/// Runs code in two groups of two threads, with a buffer of 64 bytes.
fn launch(d: &Device, code: Vec<u8>) -> Result<(), Error> {
    let m = d.load(&text::zebin_of(P, INFO, code)).unwrap();
    let buffer = d.buffer(64).unwrap();
    m.kernel("t")
        .unwrap()
        .launch(Grid::new([32, 1, 1]).group([16, 1, 1]))
        .arg(&buffer)
        .run()
        .map(|_| ())
}

fn fault_of(code: Vec<u8>) -> Fault {
    match launch(&device(), code) {
        Err(Error::Fault(f)) => *f,
        Err(e) => panic!("another error: {e}"),
        Ok(()) => panic!("no fault"),
    }
}

/// Returns the fault of a body, which must be at the instruction with this number and have this
/// text.
fn fault(body: &str, number: usize, what: &str) -> Fault {
    let code = code(body);
    let listing = gantry_isa_gen::text::list(P, &code);
    let ip = listing[number].offset as u32;
    let f = fault_of(code);
    assert!(f.what.contains(what), "{}", f.what);
    assert_eq!((f.kernel.as_str(), f.ip), ("t", ip), "{f}");
    assert!(f.group[0] < 2 && f.thread < 2, "{f}");
    let [x, y, z] = f.group;
    let head = format!(
        "kernel `t`, group ({x}, {y}, {z}), thread {}, at {ip:#x}: {}",
        f.thread, f.what
    );
    let text = f.to_string();
    assert!(text.starts_with(&head), "{text}");
    assert!(text.contains(&f.instruction), "{text}");
    f
}

/// Returns the text of a message with its payload in r60 and its response in r20.
fn send(op: MsgOp) -> String {
    let (ex, desc) = Message::new(P, op).descs(P).unwrap();
    format!("send (8|M0) r20 r60 {ex:#x} {desc:#x}\n")
}

/// Returns the text of a message at a byte offset from the buffer's start in every channel.
fn at_buffer(offset: u64, op: MsgOp) -> String {
    format!(
        "(W) add (4|M0) r60.0<1>:uq r2.0<0;1,0>:uq {offset}:w\n\
         (W) add (4|M0) r61.0<1>:uq r2.0<0;1,0>:uq {offset}:w\n{}",
        send(op)
    )
}

#[test]
fn addresses() {
    let read = MsgOp::Untyped {
        dir: Dir::Read,
        addr: AddrModel::FLAT,
        rgba: Rgba::new(1).unwrap(),
        simd: Simd::S8,
    };
    let f = fault(&at_buffer(0x1000, read), 3, "a read of 4 bytes at address");
    assert!(f.what.contains("is outside every buffer"), "{f}");
    assert!(f.instruction.starts_with("send (8|M0) r20"), "{f}");
    // Its first bytes are outside.
    let f = fault(&at_buffer(64, read), 3, "is outside every buffer");
    assert!(f.what.contains("the buffer at "), "{f}");
    let atomic = MsgOp::Atomic {
        op: AtomicOp::Inc,
        addr: AddrModel::FLAT,
        qword: false,
        returns: true,
        simd: Simd::S8,
    };
    fault(&at_buffer(2, atomic), 3, "which is not aligned to them");
}

#[test]
fn scratch_ends() {
    // The two threads of a group have 1 KB each.
    let block = MsgOp::Block {
        dir: Dir::Read,
        addr: AddrModel::A32(Surface::Stateless),
        unit: BlockUnit::Oword,
        count: 2,
        cache: Cache::Data,
    };
    let at = |offset: u32| {
        format!(
            "(W) mov (8|M0) r60.0<1>:ud 0:ud\n\
             (W) and (1|M0) r60.2<1>:ud r100.5<0;1,0>:ud 0xfffffc00:ud\n\
             (W) add (1|M0) r60.2<1>:ud r60.2<0;1,0>:ud {offset}:ud\n\
             (W) shr (1|M0) r60.2<1>:ud r60.2<0;1,0>:ud 4:ud\n\
             (W) {}",
            send(block)
        )
    };
    launch(&device(), code(&at(0))).unwrap();
    let f = fault(
        &at(1024),
        5,
        " is beyond the thread's own scratch of 1024 bytes",
    );
    assert!(f.what.ends_with(": scratch overflow"), "{f}");
    // Before it is another thread's scratch, or nothing.
    let below = at(0).replace("0:ud\n(W) shr", "-16:d\n(W) shr");
    fault(&below, 5, " is outside the thread's own scratch, ");
}

#[test]
fn instructions() {
    let f = fault("illegal\n", 1, "the `illegal` instruction");
    assert_eq!(f.instruction, "illegal");
    // An opcode that does not exist.
    let mut bytes = code("nop\n");
    let nop = 16;
    bytes[nop] = 0x7d;
    let f = fault_of(bytes);
    assert!(f.what.starts_with("illegal instruction: "), "{f}");
    assert_eq!((f.ip, f.instruction.as_str()), (16, ""));
    // Execution runs past the last instruction.
    let only = text::code(P, "(W) mov (8|M0) r1.0<1>:ud r0.0<8;8,1>:ud\n");
    let f = fault_of(only);
    assert_eq!(f.what, "execution left the kernel's code");
}

#[test]
fn divisions_trap_nothing() {
    let body = "math.inv (8|M0) r10.0<1>:f r11.0<8;8,1>:f \n\
                math.iqot (8|M0) r12.0<1>:d r13.0<8;8,1>:d r14.0<8;8,1>:d\n\
                math.irem (8|M0) r12.0<1>:d r13.0<8;8,1>:d r14.0<8;8,1>:d\n";
    launch(&device(), code(body)).unwrap();
}

#[test]
fn barriers_that_never_complete() {
    // The second thread of a group ends at once. Its local ids begin at 8.
    let body = "(W) mov (8|M0) r60.0<1>:ud 0:ud\n\
                (W) and (1|M0) r60.2<1>:ud r0.2<0;1,0>:ud 0x0F000000:ud\n\
                (W) cmp (1|M0) (ne)f0.0 null<1>:uw r1.0<0;1,0>:uw 0:uw\n\
                (W&f0.0) jmpi L144\n\
                (W) send (8|M0) null r60 0x3 0x02000004\n\
                wait n0.0<0;1,0>:ud\n";
    let info = INFO.replace(
        "    per_thread_memory",
        "    per_thread_payload_arguments:\n      - arg_type: local_id\n        offset: 0\n        size: 96\n    per_thread_memory",
    );
    let text = text::whole(&format!("{body}L144:\n"));
    let d = device();
    let m = d.load(&text::zebin(P, &info, &text)).unwrap();
    let buffer = d.buffer(64).unwrap();
    let grid = Grid::new([16, 1, 1]).group([16, 1, 1]);
    let e = m.kernel("t").unwrap().launch(grid).arg(&buffer).run();
    let e = e.unwrap_err().to_string();
    assert!(e.contains("barrier can never complete"), "{e}");
    assert!(e.contains("thread 0"), "{e}");
    assert!(e.contains("wait n0.0"), "{e}");
}

#[test]
fn barriers_that_the_kernel_does_not_have() {
    let body = text::whole(
        "(W) mov (8|M0) r60.0<1>:ud 0:ud\n\
         (W) and (1|M0) r60.2<1>:ud r0.2<0;1,0>:ud 0x0F000000:ud\n\
         (W) send (8|M0) null r60 0x3 0x02000004\n\
         wait n0.0<0;1,0>:ud\n",
    );
    let d = device();
    let buffer = d.buffer(64).unwrap();
    let run = |info: &str| {
        let m = d.load(&text::zebin(P, info, &body)).unwrap();
        let grid = Grid::new([16, 1, 1]).group([16, 1, 1]);
        m.kernel("t").unwrap().launch(grid).arg(&buffer).run()
    };
    run(INFO).unwrap();
    let none = INFO.replace("      barrier_count: 1\n", "");
    let e = run(&none).unwrap_err().to_string();
    assert!(
        e.contains("barrier 0 of a kernel whose `barrier_count` is 0"),
        "{e}"
    );
}

#[test]
fn a_shared_product_without_its_second_thread() {
    let text = "dpasw.8x8 (8|M0) r20:d r20:d r30:b r40.0:b {$0}\n\
                (W) mov (8|M0) r127.0<1>:ud r0.0<1;1,0>:ud\n\
                (W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {EOT,A@1}\n";
    let zebin = text::zebin(Platform::XeHpg, INFO, text);
    let d = Device::simulator(SimOptions {
        platform: Platform::XeHpg,
        ..SimOptions::default()
    });
    let m = d.load(&zebin).unwrap();
    let buffer = d.buffer(64).unwrap();
    let launch = |items: u32| {
        let grid = Grid::new([items, 1, 1]).group([items, 1, 1]);
        m.kernel("t").unwrap().launch(grid).arg(&buffer).run()
    };
    launch(16).unwrap();
    for items in [8, 24] {
        let e = launch(items).unwrap_err().to_string();
        assert!(e.contains("a second thread, which there is not"), "{e}");
        assert!(e.contains(&format!("thread {}", items / 8 - 1)), "{e}");
    }
}

/// Intel's compiler of 2026 begins sequences of `dpas` on DG2 with one whose sums are overwritten
/// unread. A wrong result runs into `illegal`.
#[test]
fn a_sequence_of_products_reads_before_it_writes() {
    // A row of twos by eight columns of ones, 32 deep.
    let ones: String = (30..38)
        .map(|r| format!("(W) mov (8|M0) r{r}.0<1>:ud 0x01010101:ud\n"))
        .collect();
    let program = |first: &str, second: &str| {
        format!(
            "{ones}\
             (W) mov (8|M0) r20.0<1>:d 5:d\n\
             (W) mov (8|M0) r40.0<1>:ud 0x02020202:ud\n\
             dpas.8x1 (8|M0) r20:d null:d r20:b r20.0:b {{{first}}}\n\
             dpas.8x1 (8|M0) {second}:d r20:d r30:b r40.0:b {{$1}}\n\
             sync.allwr null\n\
             (W) cmp (8|M0) (eq)f0.0 null<1>:d {second}.0<1;1,0>:d 69:d\n\
             (W&~f0.0) jmpi BAD\n\
             (W) mov (8|M0) r127.0<1>:ud r0.0<1;1,0>:ud\n\
             (W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {{EOT,A@1}}\n\
             BAD:\n\
             illegal\n"
        )
    };
    let d = Device::simulator(SimOptions {
        platform: Platform::XeHpg,
        ..SimOptions::default()
    });
    let buffer = d.buffer(64).unwrap();
    let run = |first: &str, second: &str| {
        let zebin = text::zebin(Platform::XeHpg, INFO, &program(first, second));
        let m = d.load(&zebin).unwrap();
        let grid = Grid::new([8, 1, 1]).group([8, 1, 1]);
        m.kernel("t").unwrap().launch(grid).arg(&buffer).run()
    };
    run("Atomic", "r20").unwrap();
    // An instruction outside of a sequence has written when the next one reads. So has one of a
    // sequence that is not overwritten.
    assert!(run("$0", "r20").is_err());
    assert!(run("Atomic", "r50").is_err());
}

#[test]
fn what_the_hardware_lacks() {
    let spans = "mov (16|M0) r10.0<1>:q r20.0<8;8,1>:d\n";
    fault(spans, 1, "illegal instruction: dst: 16 channels of 8 bytes");
    // Code that is not reached is not checked.
    let jumped = format!("(W) jmpi L48\n{spans}L48:\nmov (16|M0) r10.0<1>:df r20.0<8;8,1>:f\n");
    fault(&jumped, 3, "illegal instruction");
}

#[test]
fn the_watchdog() {
    // The limit counts to the instruction: one, and 4,999 rounds of two, and one more.
    let body = "L16:\n(W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n(W) jmpi L16\n";
    fault(
        body,
        2,
        "the thread has run 10000 instructions without an end",
    );
}

#[test]
fn other_launches_go_on() {
    let d = device();
    let bad = code("illegal\n");
    let good = code("(W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d 1:d\n");
    std::thread::scope(|s| {
        for i in 0..8 {
            let (d, code) = (d.clone(), if i % 2 == 0 { &bad } else { &good });
            s.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(launch(&d, code.clone()).is_err(), i % 2 == 0);
                }
            });
        }
    });
}
