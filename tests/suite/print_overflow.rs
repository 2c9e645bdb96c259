//! Overflow of the printf buffer. The first calls are printed whole, the others not at all, and
//! nothing is written past the buffer.

use gantry::codegen::{CompileOptions, compile, text};
use gantry::runtime::{Device, DeviceKind, Grid};

/// Dwords of a call: the address of the format, and each value with its type.
const DWORDS: usize = 6;
const LANES: usize = 16;
/// Buffer size that the compiler assumes (as Intel's does), less the dword with the count.
const BUFFER: usize = (4 << 20) - 4;
const CALLS: usize = 14_000;

const SOURCE: &str = "\
const %line = \"%d %d\\n\"

kernel %many(i32) simd16 {
block0(v0: i32):
    v1 = iconst.i32 0
    v2 = vconst.i32x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    v3 = dispatch_mask.b1x16
    jump block1(v1)
block1(v4: i32):
    v5 = rdregion.i32x16 v4, <0;1,0>, 0
    printf %line(v5, v2), mask v3
    v6 = iconst.i32 1
    v7 = iadd v4, v6
    v8 = icmp ult v7, v0
    brif v8, block1(v7), block2
block2:
    return
}
";

fn printed(target: &str) -> String {
    let module = text::parse(SOURCE).unwrap().module;
    let mut options = CompileOptions::for_target(target).unwrap();
    options.check = true;
    let zebin = compile(&module, &options).unwrap().zebin;
    let device = Device::open(DeviceKind::Simulator).unwrap();
    let module = device.load(&zebin).unwrap();
    let kernel = module.kernel("many").unwrap();
    let mut out = String::new();
    kernel
        .launch(Grid::new([LANES as u32, 1, 1]))
        .printf(|s| out.push_str(s))
        .arg(CALLS as i32)
        .run()
        .unwrap();
    out
}

#[test]
fn what_does_not_fit_is_not_printed() {
    for target in ["bdw", "skl", "icllp"] {
        let out = printed(target);
        let lines: Vec<&str> = out.lines().collect();
        // Space is reserved for all lanes of a call at once.
        let whole = BUFFER / (DWORDS * 4 * LANES) * LANES;
        assert!(whole < CALLS * LANES);
        assert!(
            (whole..whole + LANES).contains(&lines.len()),
            "{target}: {} lines, {whole} in whole calls",
            lines.len()
        );
        for (n, line) in lines.iter().enumerate() {
            assert_eq!(*line, format!("{} {}", n / LANES, n % LANES), "{target}");
        }
    }
}
