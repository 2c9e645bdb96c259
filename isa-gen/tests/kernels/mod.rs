//! Corpus: our OpenCL kernels as compiled by Intel's compiler. Tests of other crates may include
//! this file by its path; it depends on `std` only.
//!
//! The compiler is the `ocloc` on PATH. `GANTRY_ORACLES_2026=ROOT` selects that of an unpacked tree
//! of newer packages instead (`mmdebstrap --variant=extract --include=intel-ocloc sid ROOT`), run
//! through the tree's own loader. Devices that it does not know are skipped.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Requirement of a file of kernels, in a `// needs:` line.
pub type Need = &'static str;

/// Device that `ocloc` compiles for.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Name for `ocloc -device`.
    pub name: &'static str,
    /// Name for `iga64 -p=`.
    #[allow(dead_code, reason = "not every user runs Intel's assembler")]
    pub iga: &'static str,
    /// Sub-group sizes that its compiler supports.
    pub widths: &'static [u32],
    /// Requirements that it meets. Reasons for which a device does not, in the words of the
    /// compiler:
    /// - `fp64`: no double precision ("use of type 'double' requires cl_khr_fp64");
    /// - `atomic64`: no 64-bit atomics (Gen9LP);
    /// - `atomic16`: before Gen12 the compiler sends messages that the device does not have;
    /// - `local-blocks`: from Gen11 on ("BlockReadLocal not supported!");
    /// - `bfloat`: from DG2 on ("bf conversion instruction not supported!");
    /// - `dp4a`: from Gen12 on ("Unsupported call to llvm.genx.GenISA.dp4a");
    /// - `dpas8`, `dpas16`: systolic products of 8 lanes on DG2, of 16 on PVC. Elsewhere the
    ///   compiler emits an opcode that the device does not have, or rejects the sub-group size.
    pub has: &'static [Need],
}

/// Devices of the corpus.
///
/// Block reads (`narrow`) have 8 and 16 lanes: "Block reads not supported in SIMD32". PVC supports
/// 32 lanes too, but not for images of 8 rows and more (`at-most-16`).
pub const DEVICES: [Device; 7] = [
    Device {
        name: "bdw",
        iga: "8",
        widths: &[8, 16, 32],
        has: &["images", "fp64", "atomic64"],
    },
    Device {
        name: "skl",
        iga: "9",
        widths: &[8, 16, 32],
        has: &["images", "fp64", "atomic64"],
    },
    Device {
        name: "bxt",
        iga: "9",
        widths: &[8, 16, 32],
        has: &["images", "fp64"],
    },
    Device {
        name: "icllp",
        iga: "11",
        widths: &[8, 16, 32],
        has: &["images", "atomic64", "local-blocks"],
    },
    Device {
        name: "tgllp",
        iga: "12p1",
        widths: &[8, 16, 32],
        has: &["images", "atomic64", "atomic16", "local-blocks", "dp4a"],
    },
    Device {
        name: "dg2",
        iga: "xehpg",
        widths: &[8, 16, 32],
        has: &[
            "images",
            "atomic64",
            "atomic16",
            "local-blocks",
            "dp4a",
            "dpas8",
            "bfloat",
        ],
    },
    Device {
        name: "pvc",
        iga: "xehpc",
        widths: &[16, 32],
        has: &[
            "images",
            "fp64",
            "atomic64",
            "atomic16",
            "local-blocks",
            "dp4a",
            "dpas16",
            "bfloat",
            "wide-blocks",
        ],
    },
];

/// Kaby Lake. Its code is that of skl, in a container for another device.
pub const KBL: Device = Device {
    name: "kbl",
    ..DEVICES[1]
};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Files of kernels: name without suffix, and text.
        pub const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".cl")))),*];
    };
}

files![
    "atomic",
    "atomic64",
    "atomic_c11",
    "atomic_double",
    "atomic_half",
    "ballot",
    "bfloat",
    "block",
    "block_2d",
    "block_local",
    "block_types",
    "builtins",
    "classics",
    "control",
    "dot",
    "double",
    "exact",
    "globals",
    "half",
    "image",
    "image_blocks",
    "image_kinds",
    "image_levels",
    "image_msaa",
    "int",
    "library",
    "library64",
    "local",
    "local64",
    "math",
    "matrix16",
    "matrix8",
    "matrix_kinds",
    "matrix_kinds16",
    "matrix_split",
    "named",
    "numeric",
    "picture",
    "printf",
    "private",
    "restrict",
    "sampler",
    "subgroup",
    "tf32",
    "vector",
];

/// Kernel, or section of functions that kernels call, as compiled.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "not every user asks where a kernel is from")]
pub struct Kernel {
    /// Name of the device.
    pub device: &'static str,
    /// Name of its file.
    pub file: &'static str,
    /// Sub-group size that the file was compiled for.
    pub width: u32,
    /// Name.
    pub name: String,
    /// Contents of its section, with the zeros after its last instruction.
    pub code: Vec<u8>,
}

impl Device {
    /// Returns the device with a name.
    #[allow(dead_code, reason = "not every user asks for devices by name")]
    pub fn named(name: &str) -> Option<&'static Device> {
        DEVICES.iter().chain([&KBL]).find(|d| d.name == name)
    }

    /// Returns true if the device supports a file of kernels at a width.
    pub fn takes(&self, text: &str, width: u32) -> bool {
        let needs = text
            .lines()
            .filter_map(|l| l.strip_prefix("// needs:"))
            .flat_map(str::split_whitespace);
        let mut needs = needs.map(|need| match need {
            "at-most-16" => width <= 16,
            "narrow" => width < 32 || self.has.contains(&"wide-blocks"),
            need => self.has.contains(&need),
        });
        // A file with a fixed width is compiled once.
        let fixed = !text.contains("intel_reqd_sub_group_size(SIMD)");
        needs.all(|met| met) && !(fixed && width != 16)
    }
}

/// Environment variable with the tree of the newer compiler.
const NEWER: &str = "GANTRY_ORACLES_2026";

/// Devices that the newer compiler knows.
const NEWER_DEVICES: [&str; 3] = ["tgllp", "dg2", "pvc"];

/// Command of Intel's compiler.
struct Compiler {
    /// Path of the compiler.
    file: PathBuf,
    /// Tree of the newer compiler, which has its own loader and libraries.
    root: Option<PathBuf>,
}

impl Compiler {
    /// Returns the compiler that tests use, if there is one.
    fn get() -> Option<&'static Compiler> {
        static FOUND: OnceLock<Option<Compiler>> = OnceLock::new();
        FOUND.get_or_init(Compiler::find).as_ref()
    }

    fn find() -> Option<Compiler> {
        if let Some(root) = std::env::var_os(NEWER).map(PathBuf::from) {
            let programs = fs::read_dir(root.join("usr/bin")).unwrap();
            let mut programs = programs.map(|e| e.unwrap().path());
            let is_ocloc = |p: &PathBuf| {
                p.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("ocloc"))
            };
            let file = programs.find(is_ocloc);
            assert!(file.is_some(), "{NEWER}: no ocloc in {}", root.display());
            return Some(Compiler {
                file: file?,
                root: Some(root),
            });
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = std::env::split_paths(&path).map(|d| d.join("ocloc"));
        let file = files.find(|p| p.is_file())?;
        Some(Compiler { file, root: None })
    }

    fn command(&self) -> Command {
        let Some(root) = &self.root else {
            return Command::new(&self.file);
        };
        let libraries = root.join("usr/lib/x86_64-linux-gnu");
        let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
        command.arg("--library-path").arg(libraries).arg(&self.file);
        command
    }

    fn knows(&self, device: &str) -> bool {
        self.root.is_none() || NEWER_DEVICES.contains(&device)
    }

    /// Returns size and time of the file, which identify the version.
    fn version(&self) -> Option<(u64, std::time::SystemTime)> {
        let data = fs::metadata(&self.file).ok()?;
        Some((data.len(), data.modified().ok()?))
    }
}

/// Returns true if the newer compiler is used.
#[allow(dead_code, reason = "not every user asks")]
pub fn is_newer() -> bool {
    Compiler::get().is_some_and(|c| c.root.is_some())
}

/// Returns true if `ocloc` is installed. If not, prints a line, or fails if
/// `GANTRY_REQUIRE_ORACLES` is 1.
pub fn have_ocloc() -> bool {
    let have = Compiler::get().is_some();
    if !have {
        assert!(
            std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
            "ocloc is required"
        );
        eprintln!("skipped: ocloc is not on PATH");
    }
    have
}

/// Returns true if `ocloc` is installed and knows a device.
#[allow(dead_code, reason = "not every user looks at several devices")]
pub fn have_ocloc_for(device: &Device) -> bool {
    let knows = |c: &Compiler| c.knows(device.name);
    if have_ocloc() && !Compiler::get().is_some_and(knows) {
        eprintln!("skipped: the newer ocloc does not know {}", device.name);
        return false;
    }
    have_ocloc()
}

/// Compiled file of kernels.
#[derive(Clone, Debug)]
pub struct Zebin {
    /// Name of the device.
    pub device: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Sub-group size that it was compiled for.
    pub width: u32,
    /// Output of the compiler.
    pub bytes: Vec<u8>,
}

impl Zebin {
    /// Iterates over its kernels and functions.
    fn kernels(&self) -> impl Iterator<Item = Kernel> {
        sections(&self.bytes)
            .into_iter()
            .filter_map(|(name, code)| {
                let name = name.strip_prefix(".text.")?.to_string();
                Some(Kernel {
                    device: self.device,
                    file: self.file,
                    width: self.width,
                    name,
                    code,
                })
            })
    }
}

/// Compiles every kernel that a device supports at the given widths, in the order of the files.
#[allow(dead_code, reason = "not every user looks into zebins")]
pub fn compile(device: &'static Device, widths: &[u32]) -> Vec<Kernel> {
    let zebins = zebins(device, widths, |_| true);
    zebins.iter().flat_map(Zebin::kernels).collect()
}

/// Compiles the selected files that a device supports at the given widths, with two processes at a
/// time, in the order of the files.
pub fn zebins(device: &'static Device, widths: &[u32], asked: impl Fn(&str) -> bool) -> Vec<Zebin> {
    let jobs: Vec<Job> = FILES
        .iter()
        .filter(|(file, _)| asked(file))
        .flat_map(|(file, text)| widths.iter().map(move |w| (*file, *text, *w)))
        .filter(|(_, text, w)| device.widths.contains(w) && device.takes(text, *w))
        .collect();
    compile_all(device, &jobs)
}

/// Compiles the OpenCL C files of a folder for a device, at widths that the compiler chooses. Files
/// that it rejects are reported and skipped.
#[allow(dead_code, reason = "not every user looks into folders")]
pub fn folder(device: &'static Device, folder: &Path) -> Vec<Kernel> {
    let mut jobs: Vec<Job> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "cl") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            jobs.push((name.leak(), text.leak(), 0));
        }
    }
    jobs.sort_unstable();
    let zebins = compile_all(device, &jobs);
    zebins.iter().flat_map(Zebin::kernels).collect()
}

/// File, text and width, 0 if the compiler chooses it.
type Job = (&'static str, &'static str, u32);

fn compile_all(device: &'static Device, jobs: &[Job]) -> Vec<Zebin> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Zebin)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(file, text, width)) = jobs.get(at) else {
                break;
            };
            let Some(bytes) = compile_file(device.name, file, text, width) else {
                continue;
            };
            let zebin = Zebin {
                device: device.name,
                file,
                width,
                bytes,
            };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((at, zebin));
        }
    };
    std::thread::scope(|s| {
        s.spawn(work);
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, zebin)| zebin).collect()
}

/// Compiles a file. The output is cached in the target directory, so that all tests get the same
/// bytes. A change of the text, the options or the compiler compiles anew. Files that the newer
/// compiler rejects are reported and skipped: the requirements above are those of the older one.
fn compile_file(device: &str, file: &str, text: &str, width: u32) -> Option<Vec<u8>> {
    let options = match width {
        0 => "-cl-std=CL2.0".to_owned(),
        _ => format!("-cl-std=CL2.0 -DSIMD={width}"),
    };
    // Extensions that the driver enables for a device and the compiler alone does not.
    let extensions = text.lines().filter_map(|l| l.strip_prefix("// extension:"));
    let extensions: String = extensions
        .map(|e| format!(" -cl-ext=+{}", e.trim()))
        .collect();
    let mut hash = DefaultHasher::new();
    let compiler = Compiler::get()?;
    (compiler.version(), device, file, text, &options).hash(&mut hash);
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ocloc");
    let kept = store.join(format!("{file}-{device}-{width}-{:016x}", hash.finish()));
    if let Ok(bytes) = fs::read(&kept) {
        return Some(bytes);
    }
    let dir = Scratch::new();
    let source = dir.0.join(format!("{file}.cl"));
    fs::write(&source, text).unwrap();
    let out = compiler
        .command()
        .args(["compile", "-device", device, "-file"])
        .arg(&source)
        .arg("-out_dir")
        .arg(&dir.0)
        .args(["-options", &options])
        .arg("-internal_options")
        .arg("-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin".to_owned() + &extensions)
        .current_dir(&dir.0)
        .output()
        .unwrap();
    if !out.status.success() {
        let what = format!(
            "ocloc does not compile {file}.cl for {device} at {width}:\n{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(compiler.root.is_some() || width == 0, "{what}");
        let error = what.lines().find(|l| l.contains("error"));
        println!(
            "ocloc does not compile {file}.cl for {device} at {width}: {}",
            error.unwrap_or("it does not say why")
        );
        return None;
    }
    let bytes = read_zebin(&dir.0);
    // Renamed into place, so that no reader sees a partial file.
    fs::create_dir_all(&store).unwrap();
    let half = store.join(dir.0.file_name().unwrap_or_default());
    fs::write(&half, &bytes).unwrap();
    fs::rename(&half, &kept).unwrap();
    Some(bytes)
}

fn read_zebin(dir: &Path) -> Vec<u8> {
    let is_bin = |p: &PathBuf| p.extension().is_some_and(|e| e == "bin");
    let mut entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    fs::read(entries.find(is_bin).unwrap()).unwrap()
}

/// Returns name and contents of every section of a little-endian ELF64 file.
pub fn sections(elf: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number = |at: usize, bytes: usize| {
        let le = elf[at..at + bytes].iter().rev();
        le.fold(0usize, |n, b| n << 8 | usize::from(*b))
    };
    assert_eq!(&elf[..5], b"\x7fELF\x02");
    let (table, count, names) = (number(0x28, 8), number(0x3c, 2), number(0x3e, 2));
    let header = |i: usize| table + i * 64;
    let strings = number(header(names) + 24, 8);
    (0..count)
        .map(|i| {
            let h = header(i);
            let name = elf[strings + number(h, 4)..].split(|b| *b == 0).next();
            let (at, size) = (number(h + 24, 8), number(h + 32, 8));
            let has_bits = number(h + 4, 4) != 8;
            let data = if has_bits { &elf[at..at + size] } else { &[] };
            let name = String::from_utf8_lossy(name.unwrap_or_default());
            (name.into_owned(), data.to_vec())
        })
        .collect()
}

/// Directory that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gantry-corpus-{}-{n}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
