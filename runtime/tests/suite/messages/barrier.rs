//! Named barriers with producers and consumers.

use super::text;
use gantry_isa_gen::Platform;
use gantry_runtime::{Device, DeviceKind, Error, Grid};

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      barrier_count: 4
      simd_size: 16
      slm_size: 1024
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 0
        arg_index: 0
        addrmode: stateful
        addrspace: global
    binding_table_indices:
      - bti_value: 0
        arg_index: 0
";

/// Runs four threads. f0.0 is set in the first; r4.0 is the thread's number, r5.0 four times it,
/// r6.2 the barrier's dword.
fn run(signal: &str, wait: &str) -> Result<Vec<u32>, Error> {
    let text = format!(
        "(W) mov (16|M0) r6.0<1>:ud 0:ud\n\
         (W) and (1|M0) r4.0<1>:ud r0.2<0;1,0>:ud 0xff:ud\n\
         (W) shl (1|M0) r5.0<1>:ud r4.0<0;1,0>:ud 2:ud {{I@1}}\n\
         (W) mov (1|M0) f0.0<1>:ud 0:ud\n\
         (W) cmp (1|M0) (eq)f0.0 null<1>:ud r4.0<0;1,0>:ud 0:ud {{I@1}}\n\
         (W) add (1|M0) r7.0<1>:ud r4.0<0;1,0>:ud 100:ud\n\
         {signal}\
         (W) send.gtwy (1|M0) null r6 null:0 0x0 0x02000004 {{A@1,$1}}\n\
         (W&~f0.0) jmpi end\n\
         {wait}\
         (W) mov (1|M0) r8.0<1>:ud 0:ud\n\
         (W) send.slm (1|M0) r9 r8 null:0 0x0 0x0210b500 {{A@1,$2}}\n\
         (W) send.ugm (1|M0) null r8 r9:1 0x0 0x6200b504 {{$2.dst}}\n\
         end:\n\
         (W) mov (16|M0) r127.0<1>:ud 0:ud {{$2.src}}\n\
         (W) send.gtwy (8|M0) null r127 null:0 0x0 0x02000010 {{EOT,A@1}}\n"
    );
    let p = Platform::XeHpc;
    let d = Device::open(DeviceKind::Simulator).unwrap();
    let m = d.load(&text::zebin(p, INFO, &text)).unwrap();
    let out = d.buffer(16).unwrap();
    m.kernel("t")
        .unwrap()
        .launch(Grid::new([64, 1, 1]).group([64, 1, 1]))
        .arg(&out)
        .run()?;
    out.read()
}

/// Code in which the producers write their numbers to SLM, and all signal barrier 3.
const PRODUCE: &str = "\
    (~f0.0) send.slm (1|M0) null r5 r7:1 0x0 0x02000504 {A@1,$0}\n\
    (W) mov (1|M0) r6.2<1>:ud 0x01034003:ud\n\
    (W&f0.0) mov (1|M0) r6.2<1>:ud 0x01038003:ud\n";

#[test]
fn a_consumer_waits_for_its_producers() {
    let by_number = run(PRODUCE, "sync.bar 0x3\n").unwrap();
    assert_eq!(by_number, [0, 101, 102, 103]);
    let by_flag = run(
        PRODUCE,
        "(W) mov (1|M0) f1.0<1>:ud 3:ud\nsync.bar f1.0 {I@1}\n",
    )
    .unwrap();
    assert_eq!(by_flag, [0, 101, 102, 103]);
}

#[test]
fn what_never_completes_is_a_fault() {
    let e = run(PRODUCE, "sync.bar 0x2\n").unwrap_err().to_string();
    assert!(
        e.contains("barrier 2 without a barrier message before it"),
        "{e}"
    );
    // Four producers are expected, and there are three.
    let four = PRODUCE.replace("0x0103", "0x0104");
    let e = run(&four, "sync.bar 0x3\n").unwrap_err().to_string();
    assert!(e.contains("the barrier can never complete"), "{e}");
    let none = PRODUCE.replace("0x0103", "0x0000");
    let e = run(&none, "sync.bar 0x3\n").unwrap_err().to_string();
    assert!(e.contains("0 producers and 0 consumers"), "{e}");
}
