//! Compilers as processes, with their time and peak memory.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Resources that a process used.
#[derive(Clone, Copy, Default)]
pub struct Took {
    /// CPU time of the process and its children, independent of the load of the machine.
    pub time: Duration,
    /// Peak resident memory in KiB.
    pub peak: u64,
}

impl Took {
    /// Adds times, and takes the maximum of peaks.
    pub fn add(&mut self, other: Took) {
        self.time += other.time;
        self.peak = self.peak.max(other.peak);
    }
}

/// Interval of reading the memory of a process. Growth in its last interval is missed.
const EACH: Duration = Duration::from_millis(5);

/// Peak resident memory of a process so far, in KiB.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// CPU time of processes that have been waited for, with their children. These are fields 16 and 17
/// of `/proc/self/stat`, in hundredths of a second on every Linux.
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

/// Runs a process to its end. Returns its resources, and its output if it succeeded.
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

/// This test binary as a command, with a variable that selects the job.
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
