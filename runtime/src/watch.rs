//! Observation of launches on the simulator: instruction traces, counts per instruction, scoreboard
//! hazards of Xe code, and modelled time.
//!
//! ```no_run
//! use gantry_runtime::{Device, Grid, SimOptions, Watch, TraceFilter};
//!
//! # fn main() -> Result<(), gantry_runtime::Error> {
//! # let zebin = Vec::new();
//! let device = Device::simulator(SimOptions::default());
//! let watch = Watch::new()
//!     .counts()
//!     .hazards()
//!     .trace(TraceFilter { thread: Some(0), ..TraceFilter::default() }, |e| println!("{e}"));
//! let module = device.load(&zebin)?;
//! module.kernel("k")?.launch(Grid::new([16, 1, 1])).watch(&watch).run()?;
//! for total in watch.report().by_opcode() {
//!     println!("{:>10} {}", total.amount.executed, total.name);
//! }
//! # Ok(())
//! # }
//! ```

use crate::zebin::SourceLine;
use gantry_isa_gen::perf::Cycles;
use gantry_isa_gen::{Arf, Reg, Type};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// Callback that takes the events of a trace.
type Sink = Box<dyn FnMut(&TraceEvent<'_>) + Send>;

/// Selection of what to observe in launches, and the report of it. One watch may serve several
/// launches, one after the other or at once; the report adds up. It is a handle: clones share the
/// callback and the report.
#[derive(Clone, Default)]
pub struct Watch {
    pub(crate) counts: bool,
    pub(crate) hazards: bool,
    pub(crate) cycles: bool,
    pub(crate) filter: Option<TraceFilter>,
    sink: Option<Arc<Mutex<Sink>>>,
    seen: Arc<Mutex<Report>>,
}

impl Watch {
    /// Creates a watch that observes nothing yet.
    pub fn new() -> Watch {
        Watch::default()
    }

    /// Counts what each instruction does.
    pub fn counts(mut self) -> Watch {
        self.counts = true;
        self
    }

    /// Checks that the software scoreboard annotations (SWSB) of Xe code cover every read and write
    /// of a register. Code of platforms without annotations has no hazards.
    pub fn hazards(mut self) -> Watch {
        self.hazards = true;
        self
    }

    /// Models the time of threads, each as if it had an EU for itself, along the path that it
    /// takes.
    pub fn cycles(mut self) -> Watch {
        self.cycles = true;
        self
    }

    /// Gives every executed instruction that passes the filter to `sink`. The groups of a traced
    /// launch run one after the other, in order.
    pub fn trace(
        mut self,
        filter: TraceFilter,
        sink: impl FnMut(&TraceEvent<'_>) + Send + 'static,
    ) -> Watch {
        self.filter = Some(filter);
        self.sink = Some(Arc::new(Mutex::new(Box::new(sink))));
        self
    }

    /// Returns the report so far.
    pub fn report(&self) -> Report {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn emit(&self, event: &TraceEvent<'_>) {
        if let Some(sink) = &self.sink {
            sink.lock().unwrap_or_else(PoisonError::into_inner)(event);
        }
    }

    pub(crate) fn add(&self, more: Report) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.add(more);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("counts", &self.counts)
            .field("hazards", &self.hazards)
            .field("cycles", &self.cycles)
            .field("trace", &self.filter)
            .finish()
    }
}

/// Filter of the instructions in a trace. The default passes all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceFilter {
    /// Kernel that the instructions must be of.
    pub kernel: Option<String>,
    /// Id of the group that the thread must be of.
    pub group: Option<[u32; 3]>,
    /// Number that the thread must have in its group.
    pub thread: Option<u32>,
    /// Range of instruction offsets in the kernel, in bytes.
    pub ip: Option<RangeInclusive<u32>>,
}

impl TraceFilter {
    /// Returns true if the filter passes anything of a thread.
    pub(crate) fn takes_thread(&self, kernel: &str, group: [u32; 3], thread: u32) -> bool {
        self.kernel.as_ref().is_none_or(|k| k == kernel)
            && self.group.is_none_or(|g| g == group)
            && self.thread.is_none_or(|t| t == thread)
    }

    /// Returns true if the filter passes the instruction at an offset.
    pub(crate) fn takes_ip(&self, ip: u32) -> bool {
        self.ip.as_ref().is_none_or(|r| r.contains(&ip))
    }
}

/// Executed instruction of a trace.
#[derive(Clone, Debug)]
pub struct TraceEvent<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Group id of the thread.
    pub group: [u32; 3],
    /// Number of the thread in its group.
    pub thread: u32,
    /// Byte offset of the instruction in the kernel.
    pub ip: u32,
    /// Instruction, disassembled.
    pub instruction: &'a str,
    /// Source line of the instruction, where there is debug information.
    pub source: Option<SourceLine>,
    /// Channels of the instruction that ran; bit 0 is its first channel.
    pub mask: u32,
    /// Sources before the instruction, then what it wrote.
    pub operands: &'a [TraceOperand],
}

/// Values of an operand.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceOperand {
    /// Name: `src0`, `src1`, `src2`, `dst` or `flag`.
    pub name: &'static str,
    /// Element type.
    pub ty: Type,
    /// Bits of each channel's element, zero-extended, or `None` where the channel is off. For a
    /// send, the dwords of its payloads and response.
    pub values: Vec<Option<u64>>,
}

impl fmt::Display for TraceEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        write!(
            f,
            "{} ({x},{y},{z}) t{} {:#06x} [{:08x}] {}",
            self.kernel, self.thread, self.ip, self.mask, self.instruction
        )?;
        if let Some(line) = &self.source {
            write!(f, " // {line}")?;
        }
        for o in self.operands {
            write!(f, "\n    {o}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TraceOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<4} :{}", self.name, self.ty)?;
        let mut rest = self.values.as_slice();
        // Equal neighbours are written once, with their number.
        while let Some((first, _)) = rest.split_first() {
            let same = rest.iter().take_while(|v| *v == first).count();
            match first {
                None => f.write_str(" -")?,
                Some(bits) => write!(f, " {}", element(self.ty, *bits))?,
            }
            if same > 1 {
                write!(f, "*{same}")?;
            }
            rest = rest.get(same..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Formats an element.
fn element(ty: Type, bits: u64) -> String {
    match ty {
        Type::F => f32::from_bits(bits as u32).to_string(),
        Type::Df => f64::from_bits(bits).to_string(),
        Type::Hf => half::f16::from_bits(bits as u16).to_string(),
        Type::Bf => half::bf16::from_bits(bits as u16).to_string(),
        Type::B => (bits as i8).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::D => (bits as i32).to_string(),
        Type::Q => (bits as i64).to_string(),
        Type::Ud | Type::Uq => format!("{bits:#x}"),
        _ => bits.to_string(),
    }
}

/// Observations of all launches of a watch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Counts of each instruction that ran, by kernel and offset.
    pub instructions: Vec<InstructionCount>,
    /// Reads and writes that no annotation orders, by kernel and offset. There is one for each
    /// instruction, earlier instruction and kind.
    pub hazards: Vec<Hazard>,
    /// Cycles of all threads by the model of [`gantry_isa_gen::perf`], added up.
    pub cycles: Cycles,
}

/// Kind of a hazard: the accesses of two instructions to a register that happen in the wrong order
/// if nothing waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum HazardKind {
    /// RAW: the later instruction reads what the earlier one writes.
    ReadAfterWrite,
    /// WAW: both write.
    WriteAfterWrite,
    /// WAR: the later instruction writes what the earlier one reads.
    WriteAfterRead,
}

/// Hazard: read or write of a register that no annotation (SWSB) orders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// Name of the kernel.
    pub kernel: String,
    /// Group id of a thread that had the hazard.
    pub group: [u32; 3],
    /// Number of that thread in its group.
    pub thread: u32,
    /// Byte offset of the later instruction in the kernel.
    pub ip: u32,
    /// Later instruction, disassembled.
    pub instruction: String,
    /// Kind of the hazard.
    pub kind: HazardKind,
    /// Register: a GRF, an accumulator or a flag.
    pub register: Reg,
    /// Mask of the register's bytes, or of a flag's bits, that both instructions touch.
    pub part: u64,
    /// Byte offset of the earlier instruction in the kernel.
    pub earlier_ip: u32,
    /// Earlier instruction, disassembled.
    pub earlier: String,
    /// Annotation that would order the two.
    pub cover: String,
    /// Source line of the later instruction, where there is debug information.
    pub source: Option<SourceLine>,
    /// Number of times that the hazard occurred, in all threads.
    pub count: u64,
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.group;
        let (first, last) = (
            self.part.trailing_zeros(),
            63 - self.part.leading_zeros().min(63),
        );
        let parts = match self.register {
            Reg::Arf(Arf::Flag, _) => "bits",
            _ => "bytes",
        };
        let (does, done) = match self.kind {
            HazardKind::ReadAfterWrite => ("reads", "written"),
            HazardKind::WriteAfterWrite => ("writes", "written"),
            HazardKind::WriteAfterRead => ("writes", "read"),
        };
        write!(
            f,
            "kernel `{}`, group ({x}, {y}, {z}), thread {}, at {:#x}: {does} {} ({parts} {first} to {last}) before it is surely {done} at {:#x}; {} would wait",
            self.kernel, self.thread, self.ip, self.register, self.earlier_ip, self.cover
        )?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        write!(f, "\n  {}\n  {}", self.earlier, self.instruction)?;
        match &self.source {
            Some(line) => write!(f, "\n  {line}"),
            None => Ok(()),
        }
    }
}

/// Counts of all executions of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstructionCount {
    /// Name of the kernel.
    pub kernel: String,
    /// Byte offset of the instruction in the kernel.
    pub ip: u32,
    /// Instruction, disassembled.
    pub text: String,
    /// Source line of the instruction, where there is debug information.
    pub source: Option<SourceLine>,
    /// Operation of the message, for a send.
    pub message: Option<String>,
    /// Executions, channels and bytes.
    pub amount: Amount,
}

impl InstructionCount {
    /// Returns the opcode with its function, as in `math.sqt` or `send.dc1`.
    pub fn opcode(&self) -> &str {
        let mut words = self.text.split_ascii_whitespace();
        words.find(|w| !w.starts_with('(')).unwrap_or("illegal")
    }
}

/// Amount of work: executions, channels and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Executions, each by one hardware thread.
    pub executed: u64,
    /// Executions times enabled channels.
    pub channels: u64,
    /// Bytes read from memory.
    pub bytes_read: u64,
    /// Bytes written to memory.
    pub bytes_written: u64,
}

impl Amount {
    pub(crate) fn add(&mut self, o: &Amount) {
        self.executed += o.executed;
        self.channels += o.channels;
        self.bytes_read += o.bytes_read;
        self.bytes_written += o.bytes_written;
    }
}

/// Sum of the counts of several instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Total {
    /// Common property of the instructions: an opcode, a message or a source line.
    pub name: String,
    /// Executions, channels and bytes.
    pub amount: Amount,
}

impl Report {
    /// Returns the counts by opcode, the most executed first.
    pub fn by_opcode(&self) -> Vec<Total> {
        self.totals(|i| Some(i.opcode().to_owned()))
    }

    /// Returns the counts of sends by their message's operation, the most executed first.
    pub fn by_message(&self) -> Vec<Total> {
        self.totals(|i| i.message.clone())
    }

    /// Returns the counts by source line, in the order of files and lines. Empty without debug
    /// information.
    pub fn by_line(&self) -> Vec<Total> {
        let mut by: BTreeMap<(&str, u32), Amount> = BTreeMap::new();
        for i in &self.instructions {
            if let Some(s) = &i.source {
                by.entry((&s.file, s.line)).or_default().add(&i.amount);
            }
        }
        by.into_iter()
            .map(|((file, line), amount)| Total {
                name: format!("{file}:{line}"),
                amount,
            })
            .collect()
    }

    fn totals(&self, name: impl Fn(&InstructionCount) -> Option<String>) -> Vec<Total> {
        let mut by: BTreeMap<String, Amount> = BTreeMap::new();
        for i in &self.instructions {
            if let Some(name) = name(i) {
                by.entry(name).or_default().add(&i.amount);
            }
        }
        let mut out: Vec<Total> = by
            .into_iter()
            .map(|(name, amount)| Total { name, amount })
            .collect();
        out.sort_by_key(|t| std::cmp::Reverse(t.amount.executed));
        out
    }

    fn add(&mut self, more: Report) {
        self.cycles.alone = self.cycles.alone.saturating_add(more.cycles.alone);
        self.cycles.busy = self.cycles.busy.saturating_add(more.cycles.busy);
        for h in more.hazards {
            let same = |o: &Hazard| {
                (&o.kernel, o.ip, o.earlier_ip, o.kind) == (&h.kernel, h.ip, h.earlier_ip, h.kind)
            };
            match self.hazards.iter_mut().find(|o| same(o)) {
                Some(o) => o.count += h.count,
                None => self.hazards.push(h),
            }
        }
        self.hazards
            .sort_by(|a, b| (&a.kernel, a.ip).cmp(&(&b.kernel, b.ip)));
        let key = |i: &InstructionCount| (i.kernel.clone(), i.ip, i.message.clone());
        let mut by: BTreeMap<_, InstructionCount> = std::mem::take(&mut self.instructions)
            .into_iter()
            .map(|i| (key(&i), i))
            .collect();
        for i in more.instructions {
            match by.entry(key(&i)) {
                std::collections::btree_map::Entry::Vacant(v) => {
                    v.insert(i);
                }
                std::collections::btree_map::Entry::Occupied(mut o) => {
                    o.get_mut().amount.add(&i.amount);
                }
            }
        }
        self.instructions = by.into_values().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_written_short() {
        let o = TraceOperand {
            name: "src0",
            ty: Type::F,
            values: vec![
                Some(0x3f80_0000),
                Some(0x3f80_0000),
                None,
                Some(0xbf00_0000),
            ],
        };
        assert_eq!(o.to_string(), "src0 :f 1*2 - -0.5");
    }

    #[test]
    fn reports_add_up() {
        let count = |ip, executed| InstructionCount {
            kernel: "k".to_owned(),
            ip,
            text: "(W) mov (8|M0) r1.0<1>:d 0:d".to_owned(),
            source: None,
            message: None,
            amount: Amount {
                executed,
                ..Amount::default()
            },
        };
        let w = Watch::new();
        for n in [1, 2] {
            w.add(Report {
                instructions: vec![count(0, n), count(16, n)],
                ..Report::default()
            });
        }
        let r = w.report();
        assert_eq!(r.instructions, [count(0, 3), count(16, 3)]);
        let totals = r.by_opcode();
        assert_eq!(totals.len(), 1);
        assert_eq!(
            (totals[0].name.as_str(), totals[0].amount.executed),
            ("mov", 6)
        );
        assert!(r.by_message().is_empty());
    }

    #[test]
    fn filters() {
        let f = TraceFilter {
            thread: Some(1),
            ip: Some(16..=32),
            ..TraceFilter::default()
        };
        assert!(f.takes_thread("k", [0; 3], 1) && !f.takes_thread("k", [0; 3], 0));
        assert!(f.takes_ip(16) && f.takes_ip(32) && !f.takes_ip(48));
    }
}
