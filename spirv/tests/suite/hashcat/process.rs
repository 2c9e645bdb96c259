//! Compilers as processes, with the time that they take and the most memory that they have.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a process took.
#[derive(Clone, Copy, Default)]
pub struct Took {
    /// Of processors, its own and its children's, so that what else runs on the machine does not matter.
    pub time: Duration,
    /// The most memory that it had resident, in KiB.
    pub peak: u64,
}

impl Took {
    /// The sum of times, the most memory.
    pub fn add(&mut self, other: Took) {
        self.time += other.time;
        self.peak = self.peak.max(other.peak);
    }
}

/// How often a process is asked for its memory. What it grows by in its last moments is not seen.
const EACH: Duration = Duration::from_millis(5);

/// The most memory that a process has had so far, in KiB.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The time of processors of the processes that have been waited for, theirs included: fields 16 and 17 of `stat` (man page `proc`), in hundredths of a
/// second on every Linux.
fn spent() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks: u64 = fields[13..15]
        .iter()
        .map(|f| f.parse::<u64>().unwrap())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// Runs a process to its end; what it took, and what it printed if it succeeded.
pub fn run(command: &mut Command, dir: &Path) -> (Took, Result<String, String>) {
    let log = dir.join("log");
    let file = std::fs::File::create(&log).unwrap();
    let before = spent();
    let mut child: Child = command
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    let mut most = 0;
    let status = loop {
        most = most.max(peak(child.id()).unwrap_or(0));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(EACH),
        }
    };
    let took = Took {
        time: spent() - before,
        peak: most,
    };
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    if status.success() {
        (took, Ok(text))
    } else {
        (took, Err(text))
    }
}

/// This test binary, run again with a variable that says for what.
pub fn again(variable: &str, value: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "hashcat::hashcats_kernels_compile",
            "--nocapture",
        ])
        .env(variable, value);
    command
}
