//! Launches of the run filetests, compiled in other variants than the corpus has.

use gantry_codegen::{Target, text};
use gantry_filetests::command::run::launches;
use gantry_filetests::runner::{CompileVariant, RUNNERS};
use gantry_filetests::{TestFile, files};
use rayon::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Returns true if spilling cannot help a refused kernel. One of its instructions needs more
/// registers than there are, or its own scratch leaves none for spilling.
fn alone(error: &str) -> bool {
    let by_itself = error.contains("out of registers: ") && error.contains(" alone (`");
    by_itself || error.contains("bytes of scratch for a thread")
}

/// Share of the launches that a run makes: one of so many, by the seed.
#[derive(Clone, Copy)]
pub struct OneOf(pub u64);

impl OneOf {
    /// Returns true if this run takes a file for a target. `GANTRY_SEED` draws; `GANTRY_ALL=1`
    /// takes all.
    fn takes(self, what: &str, file: &str, target: &str) -> bool {
        let seed = std::env::var("GANTRY_SEED").unwrap_or_default();
        let all = std::env::var_os("GANTRY_ALL").is_some_and(|v| v == "1");
        let mut hash = DefaultHasher::new();
        (seed, what, file, target).hash(&mut hash);
        all || hash.finish().is_multiple_of(self.0)
    }
}

/// Compiles and launches a part of the run filetests' kernels, in each variant as changed by `with`
/// or left out. Returns the number of failed launches.
pub fn failures(
    part: OneOf,
    targets: &[&str],
    what: &str,
    with: impl Fn(CompileVariant) -> Option<CompileVariant> + Sync,
) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let simulator = RUNNERS.into_iter().find(|r| r.compiles()).unwrap();
    let only = std::env::var("GANTRY_FILE").unwrap_or_default();
    let of_file = |path: &PathBuf| {
        let (mut done, mut refused, mut failures) = (0, 0, Vec::new());
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        if !name.contains(&only) {
            return (done, refused, failures);
        }
        let source = std::fs::read_to_string(path).unwrap();
        let file = TestFile::parse(&name, &source).unwrap();
        let module = text::parse(&file.body).unwrap().module;
        for target in targets.iter().map(|t| Target::lookup(t).unwrap()) {
            if !file.is_for(&target) || !part.takes(what, &name, target.name()) {
                continue;
            }
            for variant in CompileVariant::all(&module).into_iter().filter_map(&with) {
                done += 1;
                match launches(&file, &module, simulator, &target, variant) {
                    Ok(f) => failures.extend(f.into_iter().map(|f| format!("{name}: {f}"))),
                    Err(e) if alone(&e) => refused += 1,
                    Err(e) => failures.push(format!("{name}: {e}")),
                }
            }
        }
        (done, refused, failures)
    };
    let sum = |mut a: (u32, u32, Vec<String>), b: (u32, u32, Vec<String>)| {
        a.2.extend(b.2);
        (a.0 + b.0, a.1 + b.1, a.2)
    };
    let all = files(&root).unwrap();
    let all = all.par_iter().map(of_file);
    let (done, refused, failures) = all.reduce(|| (0, 0, Vec::new()), sum);
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
