//! Limits on inputs that ask for much in few bytes. They are refused with a sentence that says
//! what, how much and the limit. Inputs below the limits take time in proportion to their size.

use crate::common;
use crate::common::{have, text};
use gantry_isa_gen::Platform;
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Device, Error, Grid, Limits, Pool, SimOptions};
use gantry_zebin::elf::Section;
use gantry_zebin::{product, write, write_kernels};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const P: Platform = Platform::Gen9;

/// Returns `.ze_info` of a number of kernels, from `k0` on.
fn many(kernels: usize) -> String {
    let mut info = "kernels:\n".to_owned();
    for i in 0..kernels {
        writeln!(
            info,
            "  - name: k{i}\n    execution_env:\n      simd_size: 8"
        )
        .unwrap();
    }
    info
}

/// Builds a zebin of one kernel with further sections.
fn with_sections(more: Vec<Section>) -> Vec<u8> {
    let mut sections = vec![Section::new(".text.k0", vec![0; 16])];
    sections.extend(more);
    write(product(P), &many(1), sections).unwrap()
}

fn refused(zebin: &[u8], limits: &Limits) -> String {
    let e = Zebin::parse_within(zebin, limits).unwrap_err().to_string();
    e.strip_prefix("not a usable zebin: ").unwrap().to_owned()
}

#[test]
fn aliases_are_refused() {
    // Each list has the one before it sixty times.
    let mut info = "a0: &a0 [1, 2, 3]\n".to_owned();
    for i in 1..8 {
        let of = format!("*a{}, ", i - 1).repeat(60);
        writeln!(info, "a{i}: &a{i} [{of}]").unwrap();
    }
    let zebin = write_kernels(P, &(info + &many(1)), &[("k0", vec![0; 16])]).unwrap();
    assert_eq!(
        refused(&zebin, &Limits::default()),
        ".ze_info: an alias (`*`), which no compiler writes"
    );
}

#[test]
fn zeros_count_together() {
    let half = 600 << 20;
    let zebin = with_sections(vec![
        Section::zeros(".bss.const", half),
        Section::zeros(".bss.global", half),
    ]);
    assert_eq!(
        refused(&zebin, &Limits::default()),
        "1258291200 bytes of constants and globals; the limit is 1073741824"
    );
    let more = Limits {
        data_bytes: 2 << 30,
        ..Limits::default()
    };
    assert_eq!(
        Zebin::parse_within(&zebin, &more).unwrap().data[1].size(),
        half as usize
    );
    let zebin = with_sections(vec![Section::zeros(".bss.const", u64::MAX)]);
    assert!(refused(&zebin, &more).contains(" bytes of constants and globals"));
    let twice = vec![Section::zeros(".bss.const", 8); 2];
    assert_eq!(
        refused(&with_sections(twice), &more),
        "a second section .bss.const"
    );
}

#[test]
fn every_limit_of_a_module_is_said() {
    let all = Limits::default();
    let zebin = with_sections(vec![
        Section::new(".text.f", vec![0; 32]),
        Section::new(".data.const", vec![0; 50]),
    ]);
    // The names are .text.k0, .text.f, .data.const, .ze_info, .note.intelgt.compat, .shstrtab.
    let exactly = Limits {
        kernels: 1,
        info_values: 10,
        code_bytes: 48,
        data_bytes: 50,
        name_bytes: 8 + 7 + 11 + 8 + 20 + 9,
        symbols: 0,
        arguments: 0,
        ..all
    };
    Zebin::parse_within(&zebin, &exactly).unwrap();
    for (limits, said) in [
        (Limits { kernels: 0, ..all }, "1 kernels; the limit is 0"),
        (
            Limits {
                info_values: 9,
                ..all
            },
            "10 values in .ze_info; the limit is 9",
        ),
        (
            Limits {
                code_bytes: 47,
                ..all
            },
            "48 bytes of code; the limit is 47",
        ),
        (
            Limits {
                data_bytes: 49,
                ..all
            },
            "50 bytes of constants and globals; the limit is 49",
        ),
        (
            Limits {
                name_bytes: 62,
                ..all
            },
            "63 bytes of names; the limit is 62",
        ),
    ] {
        assert_eq!(refused(&zebin, &limits), said);
    }
    // An index implies as many arguments.
    let mut info = many(2);
    for i in 0..2 {
        let arg = "payload_arguments: [{arg_type: arg_byvalue, size: 4, arg_index: 999}]";
        let name = format!("  - name: k{i}\n");
        info = info.replace(&name, &format!("{name}    {arg}\n"));
    }
    let zebin = write_kernels(P, &info, &[("k0", vec![0; 16]), ("k1", vec![0; 16])]).unwrap();
    let limits = Limits {
        arguments: 1500,
        ..all
    };
    Zebin::parse(&zebin).unwrap();
    let said = "2000 arguments of kernels; the limit is 1500";
    assert_eq!(refused(&zebin, &limits), said);
    // The limit holds in other sections too.
    let mut info = many(2) + "kernels_misc_info:\n";
    for i in 0..2 {
        info += &format!("  - {{name: k{i}, args_info: [{{index: 999}}]}}\n");
    }
    let zebin = write_kernels(P, &info, &[("k0", vec![0; 16]), ("k1", vec![0; 16])]).unwrap();
    Zebin::parse(&zebin).unwrap();
    assert_eq!(refused(&zebin, &limits), said);
}

#[test]
fn symbols_and_relocations_are_bounded() {
    if !have("ocloc") {
        return;
    }
    let source = "
        __global int kept[4] = {1, 2, 3, 4};
        __kernel void adds(__global int *out) { out[0] = kept[out[0] & 3]++; }
    ";
    let zebin = common::compile_source(source, 16, "-cl-std=CL2.0");
    let limit = |symbols| Limits {
        symbols,
        ..Limits::default()
    };
    let parsed = Zebin::parse(&zebin).unwrap();
    let relocations = parsed.relocations.iter().map(Vec::len).sum::<usize>();
    assert!(relocations > 0);
    // Asking for one asks for all of them.
    let asked = |symbols| {
        let said = refused(&zebin, &limit(symbols));
        let (n, rest) = said.split_once(' ').unwrap();
        assert_eq!(
            rest,
            format!("symbols and relocations; the limit is {symbols}")
        );
        n.parse::<usize>().unwrap()
    };
    let symbols = asked(0);
    let all = asked(symbols);
    assert!(all >= symbols + relocations.min(1), "{symbols} {all}");
    assert!(Zebin::parse_within(&zebin, &limit(symbols + 1000)).is_ok());
}

#[test]
fn devices_have_limits_of_their_own() {
    let d = Device::simulator(SimOptions {
        limits: Limits {
            kernels: 3,
            ..Limits::default()
        },
        ..SimOptions::default()
    });
    let zebin = |n: usize| {
        let sections = (0..n).map(|i| Section::new(format!(".text.k{i}"), vec![0; 16]));
        write(product(P), &many(n), sections.collect()).unwrap()
    };
    assert_eq!(d.load(&zebin(3)).unwrap().kernels().count(), 3);
    assert_eq!(
        d.load(&zebin(4)).unwrap_err().to_string(),
        "not a usable zebin: 4 kernels; the limit is 3"
    );
}

/// Returns the CPU time of this thread in seconds, which excludes other tests.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns the time since the first call, in seconds.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}

#[test]
fn modules_take_time_as_their_size() {
    // Kernels with their code, without that of the last, and functions instead of kernels.
    type Make = fn(usize) -> Vec<u8>;
    let makes: [(&str, Make, bool); 3] = [
        ("kernels", |n| sections("k", n, n), true),
        ("kernels without code", |n| sections("k", n, n - 1), false),
        ("functions", |n| sections("f", 1, n), true),
    ];
    let d = Device::simulator(SimOptions::default());
    for (what, make, loads) in makes {
        let sizes = [2000, 32_000].map(make);
        // The fastest runs of either size count, of as many as it takes on a busy machine.
        let mut best = [f64::INFINITY; 2];
        let mut ratio = || {
            for (zebin, best) in sizes.iter().zip(&mut best) {
                let start = cpu_seconds();
                assert_eq!(d.load(zebin).is_ok(), loads, "{what}");
                *best = best.min(cpu_seconds() - start);
            }
            best[1] / best[0]
        };
        let mut found = ratio();
        for _ in 0..10 {
            if found < 48.0 {
                break;
            }
            found = ratio();
        }
        assert!(
            found < 48.0,
            "{what}: sixteen times as many take {found:.0} times as long"
        );
    }
}

/// Builds a zebin of `kernels` kernels, with `count` code sections of a name.
fn sections(name: &str, kernels: usize, count: usize) -> Vec<u8> {
    let code = |i| Section::new(format!(".text.{name}{i}"), vec![0; 16]);
    let mut all: Vec<Section> = (0..count).map(code).collect();
    if name != "k" {
        all.push(Section::new(".text.k0", vec![0; 16]));
    }
    write(product(P), &many(kernels), all).unwrap()
}

/// Launches a kernel with private memory, with two threads in each of `groups` groups.
fn private(bytes: u32, groups: u32, limits: Limits) -> Result<u64, Error> {
    let options = SimOptions {
        limits,
        ..SimOptions::default()
    };
    private_on(&Device::simulator(options), bytes, groups)
}

fn private_on(d: &Device, bytes: u32, groups: u32) -> Result<u64, Error> {
    let info = many(1).replace("k0", "t")
        + &format!(
            "    per_thread_memory_buffers:\n      - {{type: global, usage: private_space, size: {bytes}}}\n"
        );
    let m = d.load(&text::zebin(P, &info, &text::whole(""))).unwrap();
    let grid = Grid::new([16 * groups, 1, 1]).group([16, 1, 1]);
    m.kernel("t").unwrap().launch(grid).run().map(|s| s.threads)
}

#[test]
fn memory_of_threads_is_bounded() {
    let limits = Limits::default();
    assert_eq!(private(1 << 20, 3, limits).unwrap(), 6);
    assert_eq!(
        private((64 << 20) + 1, 1, limits).unwrap_err().to_string(),
        "kernel `t`: 67108865 bytes of private memory a thread; the limit is 67108864"
    );
    let small = Limits {
        launch_bytes: 3 << 20,
        ..limits
    };
    assert_eq!(
        private(2 << 20, 1, small).unwrap_err().to_string(),
        "kernel `t`: 4194304 bytes of memory for the threads of a group; the limit is 3145728"
    );
    // Memory that suffices for one group suffices for all, one after the other.
    assert_eq!(private(1 << 20, 100, small).unwrap(), 200);
}

/// Pool that counts the calls it is asked for.
#[derive(Default)]
struct Many(AtomicUsize);

impl Pool for Many {
    fn threads(&self) -> usize {
        64
    }

    fn run(&self, times: usize, work: &(dyn Fn() + Sync)) {
        self.0.fetch_max(times, Ordering::Relaxed);
        work();
    }
}

#[test]
fn as_many_groups_run_at_once_as_memory_lasts_for() {
    let pool = Arc::new(Many::default());
    for (mb, times) in [(4, 2), (7, 3), (200, 64)] {
        let options = SimOptions {
            limits: Limits {
                launch_bytes: mb << 20,
                ..Limits::default()
            },
            ..SimOptions::default()
        };
        let d = Device::simulator_on(options, pool.clone());
        assert_eq!(private_on(&d, 1 << 20, 1000).unwrap(), 2000);
        assert_eq!(pool.0.swap(0, Ordering::Relaxed), times, "{mb} MB");
    }
}

#[test]
fn code_that_is_decoded_is_bounded() {
    let limits = |kernel_code_bytes| Limits {
        kernel_code_bytes,
        ..Limits::default()
    };
    let bytes = text::code(P, &text::whole("")).len();
    private(0, 1, limits(bytes)).unwrap();
    assert_eq!(
        private(0, 1, limits(bytes - 1)).unwrap_err().to_string(),
        format!(
            "kernel `t`: {bytes} bytes of code, its functions among them; the limit is {}",
            bytes - 1
        )
    );
}

#[test]
fn text_that_is_printed_is_bounded() {
    if !have("ocloc") {
        return;
    }
    let source = "
        __kernel __attribute__((intel_reqd_sub_group_size(16)))
        void lines(int n) { for (int i = 0; i < n; i++) printf(\"%100d\\n\", i); }
        __kernel __attribute__((intel_reqd_sub_group_size(16)))
        void wide(int n) { printf(\"%99999999d|%.2000000000f\", n, (float)n); }
    ";
    let zebin = common::compile_source(source, 16, "-cl-std=CL2.0");
    let d = Device::simulator(SimOptions {
        limits: Limits {
            printf_bytes: 1000,
            ..Limits::default()
        },
        ..SimOptions::default()
    });
    let m = d.load(&zebin).unwrap();
    let run = |name: &str, n: i32| {
        let mut out = String::new();
        let kernel = m.kernel(name).unwrap();
        let launch = kernel.launch(Grid::new([1, 1, 1])).arg(n);
        let end = launch.printf(|text| out += text).run();
        (out, end.map(|_| ()).map_err(|e| e.to_string()))
    };
    let (out, end) = run("lines", 5);
    assert_eq!((out.len(), end), (505, Ok(())));
    let (out, end) = run("lines", 20_000);
    assert_eq!(out.len(), 1000);
    assert_eq!(
        end.unwrap_err(),
        "kernel `lines`: 1009 bytes of printed text; the limit is 1000"
    );
    let (out, end) = run("wide", 1);
    assert_eq!(out, "");
    assert_eq!(
        end.unwrap_err(),
        "kernel `wide`: 99999999 characters in a printf conversion; the limit is 4096"
    );
}
