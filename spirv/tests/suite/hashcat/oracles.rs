//! Oracles of machine code: the legality rules, Intel's assembler, and Intel's driver without a
//! GPU.

use crate::driven;
use crate::hashcat::process;
use crate::iga::Iga;
use gantry_codegen::Target;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::Oracle;
use gantry_isa_gen::text::list;
use gantry_isa_gen::{Platform, Src, Target as Place, legal};
use std::collections::HashSet;
use std::path::Path;

/// Bytes of an uncompacted instruction.
const INST_BYTES: usize = 16;
/// Maximum number of instructions remembered as checked.
const MAX_CHECKED: usize = 4_000_000;
pub const DRIVER: &str = "GANTRY_HASHCAT_DRIVER";

/// Checker of instructions of a platform.
pub struct CodeChecker {
    platform: Platform,
    iga: Option<Iga>,
    seen: HashSet<u128>,
    /// Instructions that the legality rules accept.
    pub legal: u64,
    /// Instructions that Intel's assembler reads and reproduces, and number of distinct ones.
    pub assembled: u64,
    pub distinct: u64,
}

impl CodeChecker {
    pub fn new(platform: Platform) -> CodeChecker {
        let mut iga = Iga::open(platform);
        if let Some(iga) = &mut iga {
            iga.numeric_labels = true;
        }
        CodeChecker {
            platform,
            iga,
            seen: HashSet::new(),
            legal: 0,
            assembled: 0,
            distinct: 0,
        }
    }

    /// Checks the code of a kernel by the legality rules, and, if `ask` is set, by Intel's
    /// assembler. Each distinct instruction is assembled once, with branches to itself.
    pub fn code(&mut self, bytes: &[u8], ask: bool) -> Result<(), String> {
        let mut fresh = Vec::new();
        for l in list(self.platform, bytes) {
            let mut inst = l.inst.map_err(|e| format!("at {:#x}: {e}", l.offset))?;
            if let Some(what) = legal::check(self.platform, &inst).first() {
                return Err(format!("illegal code at {:#x}: {what}", l.offset));
            }
            self.legal += 1;
            if !ask || self.iga.is_none() {
                continue;
            }
            self.assembled += 1;
            let mut word = bytes[l.offset..l.offset + l.len].to_vec();
            let targets = inst.srcs.iter_mut();
            let targets = targets.filter(|s| matches!(s, Src::Target(_)));
            if targets.map(|s| *s = Src::Target(Place::Rel(0))).count() > 0 {
                word = encode(self.platform, &inst).unwrap().as_slice().to_vec();
            }
            let mut key = [0; INST_BYTES];
            key[..word.len()].copy_from_slice(&word);
            let key = u128::from_le_bytes(key);
            let new = if self.seen.len() < MAX_CHECKED {
                self.seen.insert(key)
            } else {
                !self.seen.contains(&key)
            };
            if new {
                fresh.extend(word);
                self.distinct += 1;
            }
        }
        let Some(iga) = self.iga.as_mut().filter(|_| !fresh.is_empty()) else {
            return Ok(());
        };
        let text = iga.disassemble(&fresh)?;
        let again = iga.assemble(&text)?;
        if fresh == again {
            Ok(())
        } else {
            Err("other bytes come back from Intel's assembler".to_owned())
        }
    }
}

/// In a process of its own: loads every zebin of a folder, and looks up its kernels by name.
pub fn drive(folder: &str) {
    let Some(device) = driven::open() else {
        return;
    };
    let mut kernels = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "zebin") {
            continue;
        }
        let zebin = std::fs::read(&path).unwrap();
        let module = device.load(&zebin);
        let module = module.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let names = std::fs::read_to_string(path.with_extension("names")).unwrap();
        for name in names.lines() {
            if let Err(e) = module.kernel(name) {
                panic!("{}, {name}: {e}", path.display());
            }
            kernels += 1;
        }
    }
    println!("the driver takes {kernels} kernels");
}

/// Runs Intel's driver on the zebins of a folder.
pub fn driver(folder: &Path, target: &Target) -> Result<String, String> {
    if !driven::DRIVEN.contains(&target.name()) {
        return Ok(format!("the driver is for none of {}", target.name()));
    }
    let dir = folder.join("driver");
    std::fs::create_dir_all(&dir).unwrap();
    let mut command = process::again(DRIVER, &folder.display().to_string());
    driven::as_if(&mut command, target.name());
    let (_, said) = process::run(&mut command, &dir);
    let said = said?;
    let line = said
        .lines()
        .find(|l| l.contains("the driver takes") || l.contains("skipped"));
    line.map(str::to_owned).ok_or(said)
}
