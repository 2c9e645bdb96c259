//! Launches of the run filetests, compiled in other ways than the corpus has.

use gantry_codegen::{Target, text};
use gantry_filetests::command::run::launches;
use gantry_filetests::runner::{RUNNERS, Way};
use gantry_filetests::{TestFile, files};
use std::path::Path;

/// Whether a kernel was refused since one of its instructions takes more than there is by itself, which spilling does not help, or since the kernel's own
/// scratch leaves none for spilling.
fn alone(error: &str) -> bool {
    let by_itself = error.contains("out of registers: ") && error.contains(" alone (`");
    by_itself || error.contains("bytes of scratch for a thread")
}

/// Compiles and launches the kernels of the run filetests, each way changed by `with` or left out; how many launches failed.
pub fn failures(targets: &[&str], what: &str, with: impl Fn(Way) -> Option<Way>) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let simulator = RUNNERS.into_iter().find(|r| r.compiles()).unwrap();
    let only = std::env::var("GANTRY_FILE").unwrap_or_default();
    let (mut done, mut refused, mut failures) = (0, 0, Vec::new());
    for path in files(&root).unwrap() {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        if !name.contains(&only) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let file = TestFile::parse(&name, &source).unwrap();
        let module = text::parse(&file.body).unwrap().module;
        for target in targets.iter().map(|t| Target::from_name(t).unwrap()) {
            if !file.is_for(&target) {
                continue;
            }
            for way in Way::all(&module).into_iter().filter_map(&with) {
                done += 1;
                match launches(&file, &module, simulator, &target, way) {
                    Ok(f) => failures.extend(f.into_iter().map(|f| format!("{name}: {f}"))),
                    Err(e) if alone(&e) => refused += 1,
                    Err(e) => failures.push(format!("{name}: {e}")),
                }
            }
        }
    }
    println!(
        "{what}: {done} compiled, {refused} refused for one instruction, {} failed",
        failures.len()
    );
    for f in failures.iter().take(30) {
        println!("{}", f.chars().take(300).collect::<String>());
    }
    assert!(refused * 20 < done, "{refused} of {done} refused");
    failures.len()
}
