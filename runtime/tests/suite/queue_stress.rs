//! Random graphs of commands over several queues and threads, against a sequential model.
//!
//! A graph is a list of commands. Each is on a queue, uses some cells of memory, and waits for
//! earlier commands. Some of the cells are layers of an image. Every pair of commands that use a
//! cell is ordered, so there is one result. Intel's driver without a GPU runs the same, which ends
//! as the model says but computes nothing. `GANTRY_CASES` sets the number of graphs and
//! `GANTRY_SEED` the first seed.

use crate::common::text;
use crate::rng::Rng;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{AddrModel, Dir, Message, MsgOp, Rgba, Simd, Surface};
use gantry_runtime::{
    Buffer, ChannelOrder, ChannelType, Device, Error, Event, EventState, Grid, HostEvent, Image,
    ImageDesc, ImageFormat, ImagePlace, ImageType, ImageView, Kernel, OnDrop, Order, Pending,
    Pitch, Queue, QueueOptions, SimOptions,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

const P: Platform = Platform::Gen9;

/// Dwords of a cell: one for each channel of a thread.
const LANES: usize = 8;
/// Bytes of a cell.
const BYTES: usize = LANES * 4;
/// Cells of a graph's memory.
const CELLS: usize = BUFFERS + LAYERS;
/// Those that are parts of a buffer.
const BUFFERS: usize = 6;
/// Those that are layers of an image.
const LAYERS: usize = 3;
/// Number that makes the kernel read outside of its surface.
const FAULT: u32 = 0xdead;
/// Time after which a graph is said to hang.
const HANG: Duration = Duration::from_secs(60);

/// Arguments: a cell to read, a cell to change, and a number.
const INFO: &str = "\
kernels:
  - name: t
    execution_env:
      simd_size: 8
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global}
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 1, addrmode: stateful, addrspace: global}
      - {arg_type: arg_byvalue, offset: 8, size: 4, arg_index: 2}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
      - {bti_value: 1, arg_index: 1}
";

type Cell = [u32; LANES];
/// Memory of the model. `None` is what a launch has left that was stopped, maybe at its end.
type Cells = [Option<Cell>; CELLS];

/// Loads the kernel that [`step`] models.
pub fn kernel(device: &Device) -> Kernel {
    let untyped = |dir: Dir, bti: u8| {
        let op = MsgOp::Untyped {
            dir,
            addr: AddrModel::A32(Surface::from_bits(bti)),
            rgba: Rgba::first(1).unwrap(),
            simd: Simd::S8,
        };
        let is_read = dir == Dir::Read;
        Message {
            op,
            header: false,
            src0_grfs: 1,
            src1_grfs: u32::from(!is_read) as _,
            response_grfs: u32::from(is_read) as _,
            eot: false,
        }
    };
    let send = |m: &Message, dst: &str, src: [&str; 2]| text::send(P, m, 8, "", dst, src);
    let mut body = format!(
        "(W) mov (8|M0) r9.0<1>:w 0x76543210:v\n\
         (W) shl (8|M0) r11.0<1>:ud r9.0<8;8,1>:w 2:w\n\
         (W) cmp (1|M0) (eq)f0.0 null<1>:ud r2.2<0;1,0>:ud {FAULT:#x}:ud\n\
         (W&f0.0) mov (1|M0) r11.3<1>:ud 0x100000:ud\n"
    );
    body += &send(&untyped(Dir::Read, 0), "r20", ["r11", "null"]);
    body += &send(&untyped(Dir::Read, 1), "r21", ["r11", "null"]);
    body += "(W) mul (8|M0) r21.0<1>:d r21.0<8;8,1>:d 3:w\n\
         (W) add (8|M0) r21.0<1>:d r21.0<8;8,1>:d r20.0<8;8,1>:d\n\
         (W) add (8|M0) r21.0<1>:d r21.0<8;8,1>:d r2.2<0;1,0>:d\n";
    body += &send(&untyped(Dir::Write, 1), "null", ["r11", "r21"]);
    let module = device.load(&text::zebin(P, INFO, &text::whole(&body)));
    module.unwrap().kernel("t").unwrap()
}

/// Model of the kernel.
fn step(from: &Cell, to: &mut Cell, number: u32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.wrapping_mul(3).wrapping_add(*from).wrapping_add(number);
    }
}

#[derive(Clone, Copy, Debug)]
enum Does {
    Launch {
        from: usize,
        to: usize,
        number: u32,
    },
    Copy {
        from: usize,
        to: usize,
    },
    Fill {
        to: usize,
        pattern: u32,
    },
    Write {
        to: usize,
        first: u32,
    },
    Read {
        from: usize,
    },
    /// A call of the host that maps a cell and adds to it.
    Map {
        to: usize,
        number: u32,
    },
    Call {
        fails: bool,
    },
    Barrier,
}

impl Does {
    fn random(r: &mut Rng) -> Does {
        let [from, to] = [0; 2].map(|_| r.below(CELLS as u64) as usize);
        let number = r.below(1000) as u32;
        let kind = r.below(16);
        // Layers of an image are copied and filled.
        if from.max(to) >= BUFFERS {
            return match kind {
                _ if from == to => Does::Barrier,
                0..12 => Does::Copy { from, to },
                _ => Does::Fill {
                    to,
                    pattern: number,
                },
            };
        }
        match kind {
            0..5 if from != to => Does::Launch { from, to, number },
            5 if from != to => Does::Launch {
                from,
                to,
                number: FAULT,
            },
            6..8 if from != to => Does::Copy { from, to },
            8..10 => Does::Fill {
                to,
                pattern: number,
            },
            10 => Does::Map { to, number },
            11 => Does::Call {
                fails: r.below(4) == 0,
            },
            12 => Does::Barrier,
            13 => Does::Read { from },
            _ => Does::Write { to, first: number },
        }
    }

    /// Returns the cell that is read and the cell that is written.
    fn cells(self) -> [Option<usize>; 2] {
        match self {
            Does::Launch { from, to, .. } | Does::Copy { from, to } => [Some(from), Some(to)],
            Does::Fill { to, .. } | Does::Write { to, .. } | Does::Map { to, .. } => {
                [None, Some(to)]
            }
            Does::Read { from } => [Some(from), None],
            Does::Call { .. } | Does::Barrier => [None, None],
        }
    }

    fn fails(self) -> bool {
        matches!(
            self,
            Does::Launch { number: FAULT, .. } | Does::Call { fails: true }
        )
    }
}

/// Command of a graph.
#[derive(Clone, Debug)]
struct Command {
    queue: usize,
    does: Does,
    /// Earlier commands that it waits for.
    after: Vec<usize>,
    /// Event of the host that it waits for.
    host: Option<usize>,
    /// True if the queue is restarted before it.
    restarts: bool,
}

#[derive(Debug)]
struct Graph {
    queues: Vec<QueueOptions>,
    threads: usize,
    commands: Vec<Command>,
    /// True if the device computes. Otherwise nothing faults and contents are not compared.
    computes: bool,
    /// Events of the host: what becomes of each.
    host: Vec<HostEnd>,
    /// Queue that is cancelled when so many commands have been submitted.
    cancels: Option<(usize, usize)>,
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let orders: Vec<Order> = self.queues.iter().map(|q| q.order).collect();
        let (host, cancels) = (&self.host, self.cancels);
        writeln!(
            f,
            "{orders:?} on {} threads, {host:?}, {cancels:?}",
            self.threads
        )?;
        for (n, command) in self.commands.iter().enumerate() {
            writeln!(f, "{n}: {command:?}")?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum HostEnd {
    Set,
    Fail,
    Drop,
}

impl Graph {
    fn random(r: &mut Rng, computes: bool) -> Graph {
        let queues: Vec<QueueOptions> = (0..1 + r.below(8))
            .map(|_| QueueOptions {
                order: match r.below(2) {
                    0 => Order::InOrder,
                    _ => Order::OutOfOrder,
                },
                on_drop: match r.below(3) {
                    0 => OnDrop::Wait,
                    1 => OnDrop::Cancel,
                    _ => OnDrop::Detach,
                },
                ..QueueOptions::default()
            })
            .collect();
        let host: Vec<HostEnd> = (0..r.below(3))
            .map(|_| match r.below(8) {
                0 => HostEnd::Fail,
                1 => HostEnd::Drop,
                _ => HostEnd::Set,
            })
            .collect();
        let count = 1 + r.below(24) as usize;
        let mut commands: Vec<Command> = Vec::new();
        // The last that wrote each cell, and those that have read it since.
        let mut writer: [Option<usize>; CELLS] = [None; CELLS];
        let mut readers: [Vec<usize>; CELLS] = Default::default();
        for n in 0..count {
            let mut does = Does::random(r);
            if let (Does::Launch { number, .. }, false) = (&mut does, computes) {
                *number %= 1000;
            }
            let queue = r.below(queues.len() as u64) as usize;
            let mut after: Vec<usize> = Vec::new();
            let [read, written] = does.cells();
            for cell in [read, written].into_iter().flatten() {
                after.extend(writer[cell]);
            }
            if let Some(cell) = written {
                after.append(&mut readers[cell]);
                writer[cell] = Some(n);
            }
            if let Some(cell) = read {
                readers[cell].push(n);
            }
            if n > 0 && r.below(4) == 0 {
                after.push(r.below(n as u64) as usize);
            }
            after.sort_unstable();
            after.dedup();
            // Order within an in-order queue needs no event, but may have one.
            let in_order = queues[queue].order == Order::InOrder;
            let explicit = r.below(2) == 0;
            after.retain(|a| *a != n && (!in_order || explicit || commands[*a].queue != queue));
            let some = !host.is_empty() && r.below(6) == 0;
            commands.push(Command {
                queue,
                does,
                after,
                host: some.then(|| r.below(host.len() as u64) as usize),
                restarts: r.below(8) == 0,
            });
        }
        let cancels = (r.below(6) == 0).then(|| {
            let queue = r.below(queues.len() as u64) as usize;
            (queue, r.below(count as u64 + 1) as usize)
        });
        Graph {
            threads: 1 + r.below(8) as usize,
            queues,
            commands,
            computes,
            host,
            cancels,
        }
    }
}

/// Command as it was submitted.
enum Submitted {
    Event(Event),
    Read(Pending<Vec<u32>>),
    /// The queue was cancelled. What the command would have waited for.
    Refused(Vec<Event>),
}

impl Submitted {
    fn event(&self) -> Option<&Event> {
        match self {
            Submitted::Event(e) => Some(e),
            Submitted::Read(p) => Some(p.event()),
            Submitted::Refused(_) => None,
        }
    }
}

/// Graph while it is submitted, shared by its threads.
struct Run<'g> {
    graph: &'g Graph,
    kernel: &'g Kernel,
    cells: Vec<Buffer>,
    image: Image,
    queues: Vec<Queue>,
    submitted: Vec<OnceLock<Submitted>>,
    host: Vec<Event>,
}

impl Run<'_> {
    fn submit(&self, n: usize) {
        let command = &self.graph.commands[n];
        let queue = &self.queues[command.queue];
        if let Some((cancelled, at)) = self.graph.cancels
            && at == n
        {
            self.queues[cancelled].cancel();
        }
        if command.restarts {
            queue.restart();
        }
        let host = command.host.map(|h| self.host[h].clone());
        let mut after: Vec<Event> = host.into_iter().collect();
        let mut does = command.does;
        for a in &command.after {
            match self.submitted[*a].wait() {
                Submitted::Event(e) => after.push(e.clone()),
                Submitted::Read(values) => after.push(values.event().clone()),
                // What it would have done did not happen, so this fails too, in its turn.
                Submitted::Refused(before) => {
                    after.extend(before.iter().cloned());
                    does = Does::Call { fails: true };
                }
            }
        }
        let mut done = self.command(&queue.after(&after), does);
        // What stands in for a barrier must be one.
        if let (Does::Barrier, Does::Call { .. }, Ok(Submitted::Event(call))) =
            (command.does, does, &done)
        {
            done = self.command(&queue.after([call]), Does::Barrier);
        }
        let done = done.unwrap_or_else(|e| match e {
            Error::Cancelled { .. } => {
                let same = |n: &usize| self.graph.commands[*n].queue == command.queue;
                let before = (0..n)
                    .filter(same)
                    .filter_map(|n| self.submitted[n].get()?.event());
                after.extend(before.cloned());
                Submitted::Refused(after.clone())
            }
            e => panic!("{command:?}: {e}"),
        });
        assert!(self.submitted[n].set(done).is_ok());
    }

    /// Returns the layer of the image that is a cell: its place in the image, or in a view of it.
    fn layer(&self, cell: usize, by_view: bool) -> Option<(Image, ImagePlace)> {
        let layer = cell.checked_sub(BUFFERS)? as u32;
        let place = ImagePlace::level(self.image.desc().levels() - 1);
        // Drivers have no views of some layers.
        if !by_view || !self.graph.computes {
            return Some((self.image.clone(), place.at([0, 0, layer])));
        }
        let view = ImageView::new().ty(ImageType::D2).levels(1..);
        let view = self.image.view(&view.layers(layer..=layer)).unwrap();
        Some((view, ImagePlace::default()))
    }

    fn copy(&self, queue: &Queue, from: usize, to: usize) -> Result<Event, Error> {
        let row = Pitch::default();
        let size = [LANES as u32, 1, 1];
        let [a, b] = [from, to].map(|n| self.layer(n, n % 2 == 0));
        match (a, b) {
            (None, None) => queue.copy(&self.cells[from], &self.cells[to]),
            (None, Some((image, place))) => {
                queue.copy_to_image((&self.cells[from], row), (&image, place), size)
            }
            (Some((image, place)), None) => {
                queue.copy_from_image((&image, place), (&self.cells[to], row), size)
            }
            (Some((a, p)), Some((b, q))) => queue.copy_image((&a, p), (&b, q), size),
        }
    }

    fn command(&self, queue: &Queue, does: Does) -> Result<Submitted, Error> {
        let cell = |n: usize| &self.cells[n];
        Ok(match does {
            Does::Launch { from, to, number } => {
                let grid = Grid::new([8, 1, 1]);
                let launch = self.kernel.launch(grid).arg(cell(from)).arg(cell(to));
                Submitted::Event(queue.launch(launch.arg(number))?)
            }
            Does::Copy { from, to } => Submitted::Event(self.copy(queue, from, to)?),
            Does::Fill { to, pattern } => {
                Submitted::Event(match self.layer(to, pattern % 2 == 0) {
                    None => queue.fill(cell(to), &[pattern])?,
                    Some((image, place)) => {
                        queue.fill_image((&image, place), [LANES as u32, 1, 1], &[pattern])?
                    }
                })
            }
            Does::Write { to, first } => {
                let elements: Cell = std::array::from_fn(|i| first + i as u32);
                Submitted::Event(queue.write(cell(to), &elements)?)
            }
            Does::Read { from } => Submitted::Read(queue.read(cell(from))?),
            Does::Map { to, number } => {
                let cell = cell(to).clone();
                let work = move || {
                    let mapping = cell.map()?;
                    let mut elements: Cell = [0; LANES];
                    cell.read_into(0, &mut elements)?;
                    cell.write(&elements.map(|e| e.wrapping_add(number)))?;
                    mapping.unmap()
                };
                Submitted::Event(queue.call(work)?.event().clone())
            }
            Does::Call { fails } => {
                let work = move || {
                    if fails {
                        return Err(Error::Queue("the callback fails".to_owned()));
                    }
                    Ok(())
                };
                Submitted::Event(queue.call(work)?.event().clone())
            }
            Does::Barrier => Submitted::Event(queue.barrier()?),
        })
    }
}

/// Totals of all graphs.
#[derive(Default, Debug)]
struct Totals {
    graphs: u64,
    commands: u64,
    done: u64,
    faults: u64,
    dependents: u64,
    cancelled: u64,
    by_queues: BTreeMap<usize, u64>,
}

/// Creates an image whose layers are cells, at the second level where there are levels. Its texels
/// are in the buffer, if they are in any.
fn image(device: &Device) -> (Image, Buffer) {
    let format = ImageFormat::new(ChannelOrder::R, ChannelType::UnsignedInt32).unwrap();
    let layers = |width: usize| ImageDesc::d2_array(width as u32, 1, LAYERS as u32);
    if !device.is_simulator() {
        let image = device.image(format, layers(LANES)).unwrap();
        return (image, device.buffer(4).unwrap());
    }
    let desc = layers(2 * LANES).with_levels(2);
    let texels = device.buffer(desc.texels() as usize * 4).unwrap();
    (device.image_of(&texels, format, desc).unwrap(), texels)
}

/// Runs a graph and compares it with the model.
fn run(device: &Device, kernel: &Kernel, seed: u64, totals: &mut Totals) {
    let mut r = Rng(seed);
    let graph = Graph::random(&mut r, device.is_simulator());
    let memory = device.buffer(BUFFERS * BYTES).unwrap();
    let (image, texels) = image(device);
    let addresses = [&memory, &texels].map(Buffer::device_address);
    let cells = (0..BUFFERS).map(|n| memory.slice(n * BYTES..(n + 1) * BYTES).unwrap());
    let host: Vec<HostEvent> = graph.host.iter().map(|_| HostEvent::new()).collect();
    let run = Run {
        graph: &graph,
        kernel,
        cells: cells.collect(),
        image,
        queues: graph.queues.iter().map(|o| device.queue(*o)).collect(),
        submitted: graph.commands.iter().map(|_| OnceLock::new()).collect(),
        host: host.iter().map(HostEvent::event).collect(),
    };
    std::thread::scope(|s| {
        for thread in 1..graph.threads {
            let run = &run;
            s.spawn(move || submit_part(run, thread));
        }
        submit_part(&run, 0);
    });
    for (event, end) in host.into_iter().zip(&graph.host) {
        match end {
            HostEnd::Set => event.set(),
            HostEnd::Fail => event.fail(Error::Queue("the host fails it".to_owned())),
            HostEnd::Drop => drop(event),
        }
    }
    for (n, s) in run.submitted.iter().enumerate() {
        if let Some(e) = s.get().and_then(Submitted::event) {
            assert!(
                e.wait_timeout(HANG).is_some(),
                "seed {seed}: command {n} hangs: {graph}"
            );
        }
    }
    let model = check(&run, seed, totals);
    let layers: Vec<u32> = run.image.read().unwrap();
    let layers = layers[layers.len() - LAYERS * LANES..].chunks(LANES);
    let cells = run.cells.iter().map(|cell| cell.read().unwrap());
    for (n, got) in cells.chain(layers.map(<[u32]>::to_vec)).enumerate() {
        if let (Some(cell), true) = (model[n], graph.computes) {
            assert_eq!(got, cell, "seed {seed}: cell {n}: {graph}");
        }
    }
    // Nothing keeps the memory when all have ended.
    for queue in &run.queues {
        queue.finish();
        assert!(queue.is_empty());
    }
    drop(run);
    drop((memory, texels));
    for address in addresses {
        assert!(
            device.memory_at(address).is_none(),
            "seed {seed}: memory leaks"
        );
    }
    totals.graphs += 1;
    totals.commands += graph.commands.len() as u64;
    *totals.by_queues.entry(graph.queues.len()).or_default() += 1;
}

/// Submits the commands of every so-many-th queue, in order.
fn submit_part(run: &Run<'_>, thread: usize) {
    for (n, command) in run.graph.commands.iter().enumerate() {
        if command.queue % run.graph.threads == thread {
            run.submit(n);
        }
    }
}

/// Compares the outcome of each command with a sequential model's. Returns the model's memory.
fn check(run: &Run<'_>, seed: u64, totals: &mut Totals) -> Cells {
    let graph = run.graph;
    let mut cells: Cells = [Some([0; LANES]); CELLS];
    let mut failed: Vec<bool> = Vec::new();
    // The last command of each queue that later ones fail with, if it failed.
    let mut last: Vec<Option<bool>> = vec![None; graph.queues.len()];
    // Those of an out-of-order queue since its last barrier.
    let mut since: Vec<Vec<usize>> = vec![Vec::new(); graph.queues.len()];
    for (n, command) in graph.commands.iter().enumerate() {
        let what = || format!("seed {seed}: command {n} of {graph}");
        let queue = command.queue;
        if command.restarts {
            last[queue] = None;
            since[queue].clear();
        }
        let host = command.host.is_some_and(|h| graph.host[h] != HostEnd::Set);
        let mut depends =
            host || command.after.iter().any(|a| failed[*a]) || last[queue] == Some(true);
        let in_order = graph.queues[queue].order == Order::InOrder;
        if !in_order && matches!(command.does, Does::Barrier) {
            depends |= since[queue].iter().any(|a| failed[*a]);
        }
        let may_be_cancelled = graph.cancels.is_some_and(|(q, _)| q == queue);
        let submitted = run.submitted[n].get().unwrap();
        let state = submitted.event().map(Event::state);
        let error = submitted.event().and_then(Event::error);
        let fails = match (state, error) {
            (None, _) => {
                assert!(may_be_cancelled, "{}", what());
                totals.cancelled += 1;
                true
            }
            (Some(EventState::Complete), None) => {
                assert!(!depends && !command.does.fails(), "{}", what());
                totals.done += 1;
                false
            }
            (Some(EventState::Failed), Some(error)) => {
                match error {
                    Error::Dependency { .. } => {
                        assert!(depends, "{}: {error}", what());
                        totals.dependents += 1;
                    }
                    Error::Cancelled { .. } | Error::Stopped { .. } => {
                        assert!(may_be_cancelled, "{}: {error}", what());
                        let stopped = matches!(error, Error::Stopped { .. });
                        if let (true, Does::Launch { to, .. }) = (stopped, command.does) {
                            cells[to] = None;
                        }
                        totals.cancelled += 1;
                    }
                    Error::Fault(_) | Error::Queue(_) => {
                        let after = |a: &usize| run.submitted[*a].get().unwrap().event().is_none();
                        let stands_in = command.after.iter().any(after);
                        let own = command.does.fails() && !depends;
                        assert!(own || stands_in, "{}: {error}", what());
                        totals.faults += 1;
                    }
                    error => panic!("{}: {error}", what()),
                }
                true
            }
            other => panic!("{}: {other:?}", what()),
        };
        failed.push(fails);
        let is_refused = state.is_none();
        if (in_order || matches!(command.does, Does::Barrier)) && !is_refused {
            last[queue] = Some(fails);
            since[queue].clear();
        } else if !is_refused {
            since[queue].push(n);
        }
        if !fails {
            effect(command.does, &mut cells, submitted, graph.computes, &what);
        }
    }
    cells
}

/// Does what a command that succeeded did.
fn effect(
    does: Does,
    cells: &mut Cells,
    submitted: &Submitted,
    computes: bool,
    what: &dyn Fn() -> String,
) {
    match does {
        Does::Launch { from, to, number } => {
            cells[to] = cells[from].zip(cells[to]).map(|(from, mut to)| {
                step(&from, &mut to, number);
                to
            });
        }
        Does::Copy { from, to } => cells[to] = cells[from],
        Does::Fill { to, pattern } => cells[to] = Some([pattern; LANES]),
        Does::Write { to, first } => cells[to] = Some(std::array::from_fn(|i| first + i as u32)),
        Does::Map { to, number } => {
            cells[to] = cells[to].map(|c| c.map(|e| e.wrapping_add(number)));
        }
        Does::Read { from } => {
            let Submitted::Read(values) = submitted else {
                panic!("{}", what());
            };
            if let (Some(cell), true) = (cells[from], computes) {
                assert_eq!(values.wait().unwrap(), &cell, "{}", what());
            }
        }
        Does::Call { .. } | Does::Barrier => {}
    }
}

/// Runs random graphs on devices in turn, as the environment says.
fn run_all(devices: &[(Device, Kernel)], default: u64) -> Totals {
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap());
    let first = number("GANTRY_SEED").unwrap_or(1);
    let graphs = number("GANTRY_CASES").unwrap_or(default);
    println!("GANTRY_SEED={first}");
    let mut totals = Totals::default();
    for seed in first..first + graphs {
        let (device, kernel) = &devices[seed as usize % devices.len()];
        run(device, kernel, seed.wrapping_mul(0x9e37_79b9), &mut totals);
    }
    println!("{totals:?}");
    totals
}

#[test]
fn random_graphs_end_as_a_sequential_model_does() {
    let devices: Vec<(Device, Kernel)> = (1..=4)
        .map(|threads| {
            let device = Device::simulator(SimOptions {
                threads,
                ..SimOptions::default()
            });
            let kernel = kernel(&device);
            (device, kernel)
        })
        .collect();
    let totals = run_all(&devices, 600);
    let counts = [
        totals.done,
        totals.faults,
        totals.dependents,
        totals.cancelled,
    ];
    assert!(
        totals.graphs < 300 || counts.iter().all(|n| *n > 20),
        "{totals:?}"
    );
}

/// Runs random graphs on a device that checks its commands and computes nothing.
pub fn on_driver(device: &Device, kernel: &Kernel) {
    let totals = run_all(&[(device.clone(), kernel.clone())], 50);
    let counts = [totals.done, totals.dependents, totals.cancelled];
    assert!(
        totals.graphs < 50 || counts.iter().all(|n| *n > 5),
        "{totals:?}"
    );
}
