//! OpenCL C through Intel's compiler. Its zebins run on the simulator with the right results, and
//! print as `iga64` prints them.

use crate::common::{Scratch, bytes, gantry, oracle, run};
use gantry::runtime::zebin::Zebin;
use gantry::runtime::{Device, DeviceKind};
use gantry_isa_gen::Platform;
use std::process::Command;

const SOURCE: &str = "
__attribute__((intel_reqd_sub_group_size(SIMD)))
kernel void saxpy(global const float *x, global float *y, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

__attribute__((intel_reqd_sub_group_size(SIMD)))
kernel void add(global const float *a, global const float *b, global float *c) {
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}
";

const BLUR: &str = "
__attribute__((intel_reqd_sub_group_size(SIMD)))
kernel void blur(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
    int2 p = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0.0f;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += read_imagef(in, s, p + (int2)(x, y));
    write_imagef(out, p, sum / 9.0f);
}
";

const WIDTHS: [u32; 3] = [8, 16, 32];

/// Devices with a width that each can compile for.
const DEVICES: [(&str, u32); 7] = [
    ("bdw", 8),
    ("skl", 16),
    ("bxt", 32),
    ("icllp", 8),
    ("tgllp", 16),
    ("dg2", 8),
    ("pvc", 32),
];

/// Compiles the kernels for a device, and returns the zebin's path.
fn compile(dir: &Scratch, device: &str, simd: u32) -> String {
    compile_source(dir, SOURCE, device, simd)
}

fn compile_source(dir: &Scratch, source: &str, device: &str, simd: u32) -> String {
    let source = dir.write("k.cl", source);
    run(Command::new("ocloc")
        .args([
            "compile",
            "-file",
            &source,
            "-device",
            device,
            "-out_dir",
            &dir.text("out"),
        ])
        .args(["-options", &format!("-DSIMD={simd}")])
        .args([
            "-internal_options",
            "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin",
        ]))
    .ok();
    let found = std::fs::read_dir(dir.path("out")).unwrap();
    let mut files = found.map(|f| f.unwrap().path());
    let zebin = files.find(|f| f.extension().is_some_and(|e| e == "bin"));
    zebin.unwrap().display().to_string()
}

/// SPIR-V that Intel's compiler takes runs as its zebin does, compiled at any width for any
/// product. Damaged, it is refused.
#[test]
fn its_spirv_runs_too() {
    if !oracle("ocloc") {
        return;
    }
    let dir = Scratch::new();
    let zebin = compile_source(&dir, &SOURCE.replace("SIMD", "16"), "skl", 16);
    let spirv = zebin.replace(".bin", ".spv");
    let x = dir.write("x", bytes((0..1000).map(|i| i as f32)));
    let y = dir.write("y", bytes((0..1000).map(|i| 0.25 * i as f32)));
    let launch = |file: &str, more: &[&str], out: &str| {
        let line =
            "--kernel saxpy --global 1024 --local 64 --device sim --arg f32:3.0 --arg i32:1000";
        let (buffers, rest) = line.split_at(line.find("--arg").unwrap());
        let read = format!("in:{x}");
        let write = format!("inout:{y}:{}", dir.text(out));
        let args = ["--arg", &read, "--arg", &write];
        let all = ["run", file].into_iter().chain(buffers.split_whitespace());
        let all = all.chain(args).chain(rest.split_whitespace());
        gantry(all.chain(more.iter().copied()))
    };
    launch(&zebin, &[], "theirs").ok();
    for target in ["bdw", "skl", "bxt", "icllp"] {
        launch(&spirv, &["--target", target], "ours").ok();
        assert_eq!(dir.floats("ours"), dir.floats("theirs"), "{target}");
    }
    let asm = gantry(["compile", &spirv, "--emit", "gir"]).ok();
    assert!(
        asm.contains("kernel %saxpy(") && asm.contains("simd16"),
        "{asm}"
    );
    let all = std::fs::read(&spirv).unwrap();
    let half = dir.write("half.spv", &all[..all.len() / 2 / 4 * 4]);
    let e = launch(&half, &["--target", "skl"], "none").fails();
    assert!(e.contains("half.spv"), "{e}");
    let odd = dir.write("odd.spv", &all[..all.len() - 1]);
    let e = launch(&odd, &["--target", "skl"], "none").fails();
    assert!(e.contains("odd.spv"), "{e}");
}

#[test]
fn saxpy_and_vector_add_run() {
    if !oracle("ocloc") {
        return;
    }
    for simd in WIDTHS {
        let dir = Scratch::new();
        let zebin = compile(&dir, "skl", simd);
        // 1000 is no multiple of the group: the kernel's own guard ends it.
        let n = 1000;
        let x = dir.write("x", bytes((0..n).map(|i| i as f32)));
        let y = dir.write("y", bytes((0..n).map(|i| 0.5 * i as f32)));
        let stats = gantry([
            "run",
            &zebin,
            "--kernel",
            "saxpy",
            "--global",
            "1024",
            "--local",
            "64",
            "--device",
            "sim",
            "--stats",
            "--arg",
            &format!("in:{x}"),
            "--arg",
            &format!("inout:{y}:{}", dir.text("saxpy")),
            "--arg",
            "f32:2.0",
            "--arg",
            "i32:1000",
        ])
        .ok();
        let expected: Vec<f32> = (0..n).map(|i| 2.0 * i as f32 + 0.5 * i as f32).collect();
        assert_eq!(dir.floats("saxpy"), expected, "SIMD{simd}");
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
        assert_eq!(stats["threads"], 1024 / simd, "SIMD{simd}");
        assert!(stats["bytes_read"].as_u64().unwrap() >= 8 * 1000, "{stats}");
        assert!(
            stats["bytes_written"].as_u64().unwrap() >= 4 * 1000,
            "{stats}"
        );

        gantry([
            "run",
            &zebin,
            "--kernel",
            "add",
            "--global",
            "960",
            "--local",
            "96",
            "--device",
            "sim",
            "--arg",
            &format!("in:{x}"),
            "--arg",
            &format!("in:{y}"),
            "--arg",
            &format!("out:{}:4000", dir.text("add")),
        ])
        .ok();
        let expected: Vec<f32> = (0..n)
            .map(|i| if i < 960 { 1.5 * i as f32 } else { 0.0 })
            .collect();
        assert_eq!(dir.floats("add"), expected, "SIMD{simd}");
    }
}

/// Returns lines without comments.
fn bare(text: &str) -> Vec<&str> {
    text.lines()
        .map(|l| l.split("//").next().unwrap_or(l).trim_end())
        .filter(|l| !l.is_empty())
        .collect()
}

#[test]
fn disassembly_is_iga64s_on_every_device() {
    if !oracle("ocloc") || !oracle("iga64") {
        return;
    }
    for (device, simd) in DEVICES {
        let dir = Scratch::new();
        let path = compile(&dir, device, simd);
        // Intel's code breaks no rule either.
        gantry(["validate", &path]).ok();
        let file = std::fs::read(&path).unwrap();
        let zebin = Zebin::parse(&file).unwrap();
        assert_eq!(Some(zebin.platform), Platform::from_name(device));
        assert_eq!(zebin.kernels.len(), 2);
        for (i, kernel) in zebin.kernels.iter().enumerate() {
            let code = dir.write("k.krn", zebin.code(&file, i).unwrap());
            let p = format!("-p={}", zebin.platform.iga_name());
            let theirs = run(Command::new("iga64").args(["-d", &p, &code])).ok();
            // It has a line for each piece of the padding.
            let theirs =
                theirs.trim_end_matches(|c: char| c.is_whitespace() || "ilega".contains(c));
            let whole = gantry(["disasm", &path, "--kernel", &kernel.name]).ok();
            assert_eq!(bare(&whole), bare(theirs), "{device} {}", kernel.name);
            let raw = gantry(["disasm", &code, "--platform", device]).ok();
            let head = format!("// kernel {}, {}\n", kernel.name, zebin.platform.name());
            assert_eq!(head + &raw, whole);
        }
    }
}

/// Writes a PNG of a colour type.
fn write_png(path: &str, (width, height): (usize, usize), color: png::ColorType, data: &[u8]) {
    let file = std::fs::File::create(path).unwrap();
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
}

fn read_png(path: &str) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    data
}

#[test]
fn a_picture_goes_through_a_sampler() {
    if !oracle("ocloc") {
        return;
    }
    let (w, h) = (37usize, 29usize);
    let rgb: Vec<u8> = (0..w * h * 3).map(|i| (i * i / 7 + i * 31) as u8).collect();
    let rgba: Vec<u8> = rgb
        .chunks(3)
        .flat_map(|c| [c[0], c[1], c[2], 255])
        .collect();
    let want: Vec<u8> = (0..w * h * 4)
        .map(|i| {
            let (x, y, c) = (i / 4 % w, i / 4 / w, i % 4);
            let mut sum = 0;
            for dy in 0..3 {
                for dx in 0..3 {
                    let at = (y + dy).clamp(1, h) - 1;
                    let at = (at * w + (x + dx).clamp(1, w) - 1) * 4 + c;
                    sum += u32::from(rgba[at]);
                }
            }
            // Ninths have no ties.
            ((2 * sum + 9) / 18) as u8
        })
        .collect();
    // Ponte Vecchio has no sampler.
    for (device, simd) in DEVICES.into_iter().filter(|(d, _)| *d != "pvc") {
        let dir = Scratch::new();
        let zebin = compile_source(&dir, BLUR, device, simd);
        let (png, raw) = (dir.text("in.png"), dir.write("in.raw", &rgba));
        write_png(&png, (w, h), png::ColorType::Rgb, &rgb);
        let run = |input: &str, output: &str| {
            gantry([
                "run",
                &zebin,
                "--global",
                "37,29",
                "--local",
                "16,4",
                "--arg",
                input,
                "--arg",
                output,
                "--arg",
                "sampler:clamp_to_edge:nearest",
            ])
        };
        let out = dir.text("out.png");
        run(&format!("image2d:{png}"), &format!("image2d:{png}:{out}")).ok();
        assert!(read_png(&out) == want, "{device} SIMD{simd}");
        let out = dir.text("out.raw");
        let form = "image:37x29:RGBA:UNORM_INT8";
        run(&format!("{form}:{raw}"), &format!("{form}::{out}")).ok();
        assert!(
            std::fs::read(out).unwrap() == want,
            "{device} SIMD{simd}, raw"
        );
        let error = run(
            &format!("image:37x30:RGBA:UNORM_INT8:{raw}"),
            &format!("{form}:"),
        )
        .fails();
        assert!(
            error.contains("the file has 4292 bytes, a 2D image of 37x30 takes 4440"),
            "{error}"
        );
    }
}

/// The host of `examples/zebin.rs` runs a zebin of Intel's compiler.
#[test]
fn example_host() {
    if !oracle("ocloc") {
        return;
    }
    let dir = Scratch::new();
    let source = "
        kernel void add(global const float *x, global float *y) {
            size_t i = get_global_id(0);
            y[i] += x[i];
        }";
    let device = Device::open(DeviceKind::Auto).unwrap().info();
    let product = device.product.map_or("skl", |p| p.name());
    let zebin = compile_source(&dir, source, product, 16);
    assert_eq!(
        crate::examples::zebin::run(&std::fs::read(zebin).unwrap()).unwrap(),
        [2.5; 64]
    );
}
