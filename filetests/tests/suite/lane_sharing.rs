//! Lane sharing: values of different channels share registers. A divergent kernel then needs fewer
//! bytes of the GRF file, and gives the same results.

use gantry_codegen::ir::Module;
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, Compiled, compile};
use gantry_filetests::file::without_header;
use gantry_filetests::launch::Run;
use gantry_filetests::runner::{CompileVariant, RUNNERS, simulate};

const KERNEL: &str = include_str!("../../filetests/run/regalloc/by-channel.gir");

fn module() -> Module {
    parse(&without_header(KERNEL)).unwrap().module
}

fn compiled(target: &str, lane_sharing: bool, grfs: u32) -> Compiled {
    let module = module();
    let mut options = CompileOptions::for_target(target).unwrap();
    options.check = true;
    options.debug.lane_sharing = lane_sharing;
    options.grfs = Some(grfs);
    compile(&module, &options).unwrap()
}

fn spills(c: &Compiled) -> u32 {
    let spilled = &c.kernels[0].stats.spilled;
    spilled.registers + spilled.remats
}

#[test]
fn results_of_channels_that_left_are_where_others_go_on() {
    for target in ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2"] {
        let (with, without) = (compiled(target, true, 128), compiled(target, false, 128));
        let [a, b] = [&with, &without].map(|c| &c.kernels[0].stats);
        println!(
            "{target}: {} bytes live with, {} without; {} registers shared",
            a.grf_bytes_demand, b.grf_bytes_demand, a.shared
        );
        assert_eq!((spills(&with), b.shared), (0, 0));
        assert!(spills(&without) > 0 && a.shared >= 36);
        assert!(3 * a.grf_bytes_demand < 2 * b.grf_bytes_demand);
        let least = (48..128).find(|&n| spills(&compiled(target, true, n)) == 0);
        println!("{target}: no spill from {least:?} registers on");
        assert!(least.is_some_and(|n| n <= 88), "{target}: {least:?}");
    }
}

#[test]
fn what_shares_registers_does_the_same() {
    let module = module();
    let interpreter = RUNNERS.into_iter().find(|r| !r.compiles()).unwrap();
    let line = KERNEL
        .lines()
        .find_map(|l| l.strip_prefix("; run: "))
        .unwrap();
    let run = Run::parse(line).unwrap();
    let expected = interpreter
        .prepare(&module, "skl", CompileVariant::default())
        .unwrap();
    let expected = expected.run(&run).unwrap();
    for target in ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2"] {
        for (lane_sharing, grfs) in [(true, 128), (true, 84), (true, 40), (false, 84)] {
            let c = compiled(target, lane_sharing, grfs);
            let got = simulate(&c.zebin, &run).unwrap();
            assert_eq!(got.0, expected, "{target}, {lane_sharing}, {grfs}");
        }
    }
}
