//! Memory that a module or a launch asks for and does not use is not taken from the host. The test
//! is alone in its process, whose memory it measures.

use crate::common::text;
use gantry_isa_gen::Platform;
use gantry_runtime::{Device, Grid, SimOptions};
use gantry_zebin::elf::Section;
use gantry_zebin::{product, write};

const P: Platform = Platform::Gen9;

const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
    per_thread_memory_buffers:
      - type: global
        usage: private_space
        size: 67108864
";

/// Returns the peak memory of the process in bytes; `None` where the host does not report it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb << 10)
}

#[test]
fn what_is_not_used_is_not_there() {
    let Some(before) = peak() else {
        println!("skipped: the host does not say how much memory a process has");
        return;
    };
    let d = Device::simulator(SimOptions {
        threads: 4,
        ..SimOptions::default()
    });
    let zebin = write(
        product(P),
        INFO,
        vec![
            Section::new(".text.t", text::code(P, &text::whole(""))),
            Section::zeros(".bss.global", 1 << 30),
        ],
    )
    .unwrap();
    let m = d.load(&zebin).unwrap();
    let _buffer = d.buffer(1 << 30).unwrap();
    // Four groups at once, of four threads with 64 MiB each.
    let grid = Grid::new([32 * 200, 1, 1]).group([32, 1, 1]);
    let stats = m.kernel("t").unwrap().launch(grid).run().unwrap();
    assert_eq!(stats.threads, 800);
    let more = peak().unwrap() - before;
    assert!(more < 100 << 20, "{more} bytes");
}
