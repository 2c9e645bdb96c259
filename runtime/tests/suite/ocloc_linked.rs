//! Kernels of Intel's compiler for every device: data, strings and functions that a loader
//! relocates.

use crate::common::{compile_with, everywhere, have, launch, on, same};
use gantry_runtime::{Device, Grid, Module};

fn linked(f: impl Fn(&Device, &Module, &str)) {
    everywhere("linked.cl", f);
}

fn line(n: u32, group: u32) -> Grid {
    Grid::new([n, 1, 1]).group([group, 1, 1])
}

#[test]
fn data_is_where_code_looks_for_it() {
    linked(|d, m, what| {
        let n = 96usize;
        let out = d.buffer(n * 4).unwrap();
        let tab = [1, 2, 3, 5, 8, 13, 21, 34];
        for (round, pointee) in [(0, 20), (1, 30)] {
            launch(m, "data", line(n as u32, 32), vec![(&out).into()]);
            let want: Vec<i32> = (0..n)
                .map(|i| {
                    let pointed = tab[[2, 4][i & 1] + (i >> 1 & 1)];
                    let word = [10, 20, 30][i % 3];
                    tab[i & 7] * 1000 + pointed + round * i as i32 + word + pointee
                })
                .collect();
            same(&format!("{what}, launch {round}"), &out, &want);
            launch(m, "total", line(n as u32, 32), vec![(&out).into()]);
            let got: Vec<i32> = out.read().unwrap();
            assert_eq!(got[0], 7 + (round + 1) * n as i32, "{what}");
        }
    });
}

#[test]
fn what_is_printed_arrives() {
    linked(|d, m, what| {
        let o = d.buffer_from(&[1i32]).unwrap();
        let mut text = String::new();
        m.kernel("print")
            .unwrap()
            .launch(line(32, 32))
            .arg(&o)
            .arg(5i32)
            .printf(|t| text.push_str(t))
            .run()
            .unwrap();
        let want = "plain % \\n\n\
            z -3 -4 4000000000 ff  3.25|42      |+7|1.500000e+00|0.0001|0x1p+0\n\
            1,2,3,-4 1.000000,2.000000,3.500000 -1,1 3,-4 1,2,3,4,5,6,7,fff8 5,-6\n\
            literal|    padded|yes|left  |\n\
            123456789abcdef -5 5    12\n";
        assert_eq!(text, want, "{what}");

        let mut text = String::new();
        m.kernel("print_all")
            .unwrap()
            .launch(line(100, 20))
            .arg(&o)
            .printf(|t| text.push_str(t))
            .run()
            .unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let mut want: Vec<String> = (0..100).map(|i| format!("item {i}")).collect();
        want.sort_unstable();
        assert_eq!(lines, want, "{what}");
    });
}

/// Checks `calls` and `recursion` of a module.
fn check_calls(d: &Device, m: &Module, what: &str) {
    let n = 64;
    let p: Vec<i32> = (0..9).map(|i| i * 100).collect();
    let pb = d.buffer_from(&p).unwrap();
    let out = d.buffer(n * 4).unwrap();
    launch(
        m,
        "calls",
        line(n as u32, 16),
        vec![(&out).into(), (&pb).into()],
    );
    let want: Vec<i32> = (0..n)
        .map(|i| match i & 1 {
            1 => i as i32 * 3 + p[i & 7],
            _ => i as i32 * 6 + p[((i * 2) & 7) + 1],
        })
        .collect();
    same(&format!("{what}: calls"), &out, &want);
}

fn check_recursion(d: &Device, m: &Module, what: &str) {
    let input: Vec<i32> = (0..48).map(|i| i % 9).collect();
    let out = d.buffer_from(&input).unwrap();
    launch(m, "recursion", line(48, 24), vec![(&out).into()]);
    let fib = [0, 1, 1, 2, 3, 5, 8, 13, 21];
    let want: Vec<i32> = input.iter().map(|i| fib[*i as usize]).collect();
    same(&format!("{what}: recursion"), &out, &want);
}

#[test]
fn functions_call_each_other() {
    linked(|d, m, what| {
        check_calls(d, m, what);
        // For Broadwell the compiler saves registers by a `sends`, which the device lacks.
        if !what.starts_with("bdw") {
            check_recursion(d, m, what);
        }
    });
}

#[test]
fn functions_are_called_by_address() {
    if !have("ocloc") {
        return;
    }
    // The compiler gives every function its own section, called by its relocated address.
    for device in ["dg2", "pvc"] {
        let env = [("IGC_FunctionControl", "4")];
        let text = include_str!("../kernels/linked.cl");
        let zebin = compile_with(device, text, "-cl-std=CL2.0", &env);
        let parsed = gantry_runtime::zebin::Zebin::parse(&zebin).unwrap();
        assert!(parsed.symbols.iter().any(|s| s.name == "leaf"));
        assert!(parsed.kernels.iter().all(|k| !k.name.contains("Symbol")));
        on(device, &zebin, |d, m| check_calls(d, m, device));
    }
}

#[test]
fn functions_have_implicit_arguments() {
    if !have("ocloc") {
        return;
    }
    for device in ["dg2", "pvc"] {
        let env = [("IGC_EnableGlobalStateBuffer", "1")];
        let text = include_str!("../kernels/implicit.cl");
        let zebin = compile_with(device, text, "-cl-std=CL2.0", &env);
        on(device, &zebin, |d, m| {
            let p: Vec<i32> = vec![0, 5, 7, 11];
            let pb = d.buffer_from(&p).unwrap();
            for (global, local, offset) in [
                ([16, 1, 1], [16, 1, 1], [0u32, 0, 0]),
                ([12, 6, 4], [4, 3, 2], [2, 0, 0]),
                ([9, 3, 2], [3, 3, 2], [0, 1, 0]),
                // The last groups are smaller.
                ([10, 3, 1], [4, 2, 1], [0, 0, 0]),
            ] {
                let items = global.iter().product::<u32>() as usize;
                let out = d.buffer(items * 4).unwrap();
                let grid = Grid::new(global).group(local).offset(offset);
                launch(m, "implicit", grid, vec![(&out).into(), (&pb).into()]);
                let dimensions = match global {
                    [_, 1, 1] => 1,
                    [_, _, 1] => 2,
                    _ => 3,
                };
                let want: Vec<i32> = (0..items as u32)
                    .map(|i| {
                        let id = [
                            i % global[0],
                            i / global[0] % global[1],
                            i / global[0] / global[1],
                        ];
                        let l = |d: usize| id[d] % local[d];
                        let first = id[0] / local[0] * local[0];
                        let here = (global[0] - first).min(local[0]);
                        let depth = i & 3;
                        let base = l(0)
                            + 10 * l(1)
                            + 100 * l(2)
                            + 1000 * (id[0] / local[0])
                            + 10_000 * global[0].div_ceil(local[0])
                            + 100_000 * global[1]
                            + 1_000_000 * offset[0];
                        let more: i32 = (1..=depth).map(|n| p[n as usize]).sum();
                        (base + depth * (dimensions + here * 7)) as i32 + more
                    })
                    .collect();
                same(&format!("{device}: {global:?} by {local:?}"), &out, &want);
            }
        });
    }
}
