//! Scoreboard pass, with the simulator's hazard check as the oracle. The two share only the
//! definitions of pipes and annotations.
//!
//! Every run filetest must have no hazard. Then each annotation is removed or weakened, one at a
//! time. The check must find it, or it is counted as one that no launch needs. Intel's assembler,
//! which can set annotations by itself, must need no fewer `sync` instructions.
//!
//! `GANTRY_MUTATIONS=1` tries all of them, not some; `GANTRY_TARGETS=tgl,dg2` selects products.

use crate::iga;
use gantry_codegen::ir::Function;
use gantry_codegen::{CompileOptions, Compiled, Pass, Target, compile, text};
use gantry_filetests::launch::Run;
use gantry_filetests::runner::platforms;
use gantry_filetests::{TestFile, files, runner};
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::fuzz::Oracle;
use gantry_isa_gen::swsb::{Distance, Pipe, Token, TokenKind};
use gantry_isa_gen::{Arf, Dst, Inst, Op, Platform, Reg, Src, Subfn, Swsb, SyncFn};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes of a native instruction.
const NATIVE: usize = 16;
/// Share of the mutations that are tried by default: one in so many.
const ONE_IN: usize = 17;
/// Work-items of the largest launch that is repeated.
const MOST_ITEMS: u32 = 512;

/// Returns weaker annotations of an instruction, each with a name.
fn weaker(inst: &Inst<Reg>) -> Vec<(&'static str, Inst<Reg>)> {
    let mut out = Vec::new();
    let mut push = |name, swsb: Swsb| {
        let mut i = *inst;
        i.swsb = swsb;
        out.push((name, i));
    };
    let s = inst.swsb;
    if let Some(d) = s.distance {
        push(
            "no distance",
            Swsb {
                distance: None,
                ..s
            },
        );
        if d.n < 7 {
            let distance = Some(Distance { n: d.n + 1, ..d });
            push("a farther distance", Swsb { distance, ..s });
        }
        if d.pipe == Pipe::All {
            for pipe in [Pipe::Float, Pipe::Int, Pipe::Long] {
                let distance = Some(Distance { pipe, ..d });
                push("one pipe of all", Swsb { distance, ..s });
            }
        }
    }
    if let Some(t) = s.token {
        let kind = TokenKind::Src;
        match t.kind {
            // Others wait for the token that is set.
            TokenKind::Set => push("no token set", Swsb { token: None, ..s }),
            TokenKind::Src => push("no wait for reads", Swsb { token: None, ..s }),
            TokenKind::Dst => {
                push("no wait for results", Swsb { token: None, ..s });
                let token = Some(Token { kind, ..t });
                push("reads, not results", Swsb { token, ..s });
            }
        }
    }
    if let (Subfn::Sync(f @ (SyncFn::Allrd | SyncFn::Allwr)), Src::Imm { bits, ty }) =
        (inst.subfn, inst.srcs[0])
    {
        for token in (0..32).filter(|t| bits >> t & 1 == 1) {
            let mut i = *inst;
            i.srcs[0] = Src::Imm {
                bits: bits & !(1 << token),
                ty,
            };
            out.push(("one token less", i));
            if f == SyncFn::Allwr {
                continue;
            }
        }
    }
    out
}

/// Returns true if an instruction waits for thread state, which the check does not track.
fn is_serial(inst: &Inst<Reg>) -> bool {
    let state = |r: Reg| matches!(r, Reg::Arf(Arf::Control | Arf::State | Arf::Timestamp, _));
    let reads = |s: &Src<Reg>| matches!(s, Src::Direct { at, .. } if state(at.reg));
    matches!(inst.dst, Dst::Direct { at, .. } if state(at.reg)) || inst.srcs.iter().any(reads)
}

/// Run filetest, compiled without compact instructions.
struct Case {
    name: String,
    runs: Vec<Run>,
    compiled: Compiled,
}

fn cases(target: &Target) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let mut out = Vec::new();
    for path in files(&root).unwrap() {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let source = std::fs::read_to_string(&path).unwrap();
        let file = TestFile::parse(&name, &source).unwrap();
        if !file.is_for(target) {
            continue;
        }
        let module = text::parse(&file.body).unwrap().module;
        // Images by plain memory accesses have code for every format, and a run has one of them:
        // annotations of the others cannot be missed.
        let has_images = |f: &Function| f.images().next().is_some();
        if !target.features().sampler && module.functions.values().any(has_images) {
            continue;
        }
        let options = CompileOptions {
            without: [Pass::Compact].into_iter().collect(),
            ..CompileOptions::new(target.clone())
        };
        let compiled = compile(&module, &options).unwrap();
        let mut runs = Vec::new();
        for d in file.named("run") {
            let run = Run::parse(&d.text).unwrap();
            let small = run.global.iter().product::<u32>() <= MOST_ITEMS;
            let fine = matches!(run.expect, gantry_filetests::launch::Expect::Args(_));
            if small && fine {
                runs.push(run);
            }
        }
        out.push(Case {
            name,
            runs,
            compiled,
        });
    }
    out
}

/// Returns the zebin with an instruction of a kernel replaced.
fn patched(c: &Case, kernel: usize, n: usize, inst: &Inst<Reg>, p: Platform) -> Option<Vec<u8>> {
    let code = &c.compiled.kernels[kernel].code.bytes;
    let mut zebin = c.compiled.zebin.clone();
    let at = zebin.windows(code.len()).position(|w| w == code)?;
    let at = at + n * NATIVE;
    let bytes = encode(p, inst).ok()?;
    zebin[at..at + NATIVE].copy_from_slice(&bytes);
    Some(zebin)
}

#[test]
fn no_annotation_can_be_spared() {
    let all = std::env::var_os("GANTRY_MUTATIONS").is_some();
    for target in platforms() {
        let platform = target.platform();
        if !platform.features().swsb {
            continue;
        }
        let (mut tried, mut found) = (0, 0);
        // Numbers of mutations tried and found, by kind.
        let mut kinds: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
        let mut spared: Vec<String> = Vec::new();
        let mut number = 0;
        for c in cases(&target) {
            for (k, kernel) in c.compiled.kernels.iter().enumerate() {
                let runs: Vec<&Run> = c.runs.iter().filter(|r| r.kernel == kernel.name).collect();
                if runs.is_empty() {
                    continue;
                }
                for r in &runs {
                    let hazards = runner::hazards(&c.compiled.zebin, r).unwrap();
                    let name = &c.name;
                    assert!(hazards.is_empty(), "{name}, {target:?}: {}", hazards[0]);
                }
                let insts = &kernel.code.insts;
                for (n, inst) in insts.iter().enumerate() {
                    // An instruction after a change of the thread's state waits for that.
                    let before = n.checked_sub(1).map(|b| &insts[b]);
                    let skips = is_serial(inst) || before.is_some_and(is_serial);
                    if skips
                        || inst.op == Op::Sync
                            && inst.swsb.is_empty()
                            && inst.subfn == Subfn::Sync(SyncFn::Bar)
                    {
                        continue;
                    }
                    for (what, weak) in weaker(inst) {
                        number += 1;
                        if !all && number % ONE_IN != 0 {
                            continue;
                        }
                        let Some(zebin) = patched(&c, k, n, &weak, platform) else {
                            continue;
                        };
                        // A fault counts as found too.
                        let seen = runs
                            .iter()
                            .any(|r| runner::hazards(&zebin, r).map_or(true, |h| !h.is_empty()));
                        tried += 1;
                        found += u32::from(seen);
                        let kind = kinds.entry(what).or_default();
                        kind[0] += 1;
                        kind[1] += u32::from(seen);
                        if !seen {
                            spared.push(format!("{}, %{}, {n}: {what}", c.name, kernel.name));
                        }
                    }
                }
            }
        }
        let name = target.name();
        let share = 100.0 * f64::from(tried - found) / f64::from(tried.max(1));
        println!(
            "{name}: {found} of {tried} weaker annotations are hazards, {share:.1}% are spared"
        );
        for (what, [tried, found]) in kinds {
            println!("    {what}: {found} of {tried}");
        }
        for s in spared.iter().take(if all { usize::MAX } else { 40 }) {
            println!("    spared: {s}");
        }
        assert!(tried > 100 && share < 10.0, "{name}");
    }
}

/// Counts waits: `sync` instructions that only wait, and annotations that wait for a token. Also
/// how many of the former wait for all tokens or for several, and the tokens that all of them wait
/// for. A wait for all tokens counts as one.
fn waits<'a>(insts: impl Iterator<Item = &'a Inst<Reg>>) -> [usize; 4] {
    let mut out = [0; 4];
    for i in insts {
        let sync = i.op == Op::Sync && i.subfn != Subfn::Sync(SyncFn::Bar);
        let several = matches!(i.subfn, Subfn::Sync(SyncFn::Allrd | SyncFn::Allwr));
        let token = i.swsb.token.is_some_and(|t| t.kind != TokenKind::Set);
        let tokens = match i.srcs[0] {
            Src::Imm { bits, .. } if sync && several => bits.count_ones() as usize,
            _ => usize::from(sync && several),
        };
        let [sync, token, several] = [sync, token, sync && several].map(usize::from);
        let more = [sync, token, several, tokens + token];
        out.iter_mut().zip(more).for_each(|(n, more)| *n += more);
    }
    out
}

/// Removes annotations, and the instructions that have no other effect, from a text.
fn without_waits(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        if code.contains("sync.") && !code.contains("sync.bar") {
            continue;
        }
        let Some((head, options)) = code.rsplit_once('{') else {
            out.push_str(code);
            out.push('\n');
            continue;
        };
        let options = options.trim_end().trim_end_matches('}').split(',');
        let kept: Vec<&str> = options.filter(|o| !o.contains(['@', '$'])).collect();
        out.push_str(head);
        if !kept.is_empty() {
            out.push_str(&format!("{{{}}}", kept.join(",")));
        }
        out.push('\n');
    }
    out
}

#[test]
fn intels_assembler_needs_no_fewer_syncs() {
    for target in platforms() {
        let platform = target.platform();
        if !platform.features().swsb {
            continue;
        }
        let Some(mut iga) = iga::Iga::open(platform) else {
            return;
        };
        let (mut ours, mut theirs, mut kernels) = ([0; 4], [0; 4], 0);
        for c in cases(&target) {
            for kernel in &c.compiled.kernels {
                let code = &kernel.code;
                iga.auto_dependencies = false;
                let Ok(text) = iga.disassemble(&code.bytes) else {
                    continue;
                };
                iga.auto_dependencies = true;
                let Ok(bytes) = iga.assemble(&without_waits(&text)) else {
                    continue;
                };
                let mut all = Vec::new();
                let mut at = 0;
                while at < bytes.len() {
                    let d = decode(platform, &bytes[at..]).unwrap();
                    at += d.len;
                    all.push(d.inst);
                }
                kernels += 1;
                let both = [
                    (&mut ours, waits(code.insts.iter())),
                    (&mut theirs, waits(all.iter())),
                ];
                for (sum, more) in both {
                    sum.iter_mut().zip(more).for_each(|(s, m)| *s += m);
                }
            }
        }
        let name = target.name();
        println!(
            "{name}: {kernels} kernels, `sync` instructions {} and Intel's {}, of them for several tokens {} and {}; annotations that wait for a token {} and {}; tokens waited for {} and {}",
            ours[0], theirs[0], ours[2], theirs[2], ours[1], theirs[1], ours[3], theirs[3]
        );
        assert!(kernels > 500 && ours[0] <= theirs[0], "{name}");
        assert!(ours[0] + ours[1] <= theirs[0] + theirs[1], "{name}");
        assert!(ours[3] <= theirs[3], "{name}");
    }
}
