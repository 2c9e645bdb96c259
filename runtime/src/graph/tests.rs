//! The graph in many orders of its threads, by `shuttle`.

use super::node::Outcome;
use super::sync::{Mutex, lock, thread};
use super::*;
use crate::control::Cancel;
use crate::error::Error;
use gantry_isa_gen::fuzz::Rng;
use std::sync::Arc;

/// Queue that counts the ends of its commands.
struct Ends {
    ended: Mutex<Vec<u64>>,
    cancel: Cancel,
    workers: Arc<Workers>,
}

impl Ends {
    fn on(workers: &WorkersHandle) -> Arc<Ends> {
        Arc::new(Ends {
            ended: Mutex::default(),
            cancel: Cancel::default(),
            workers: workers.get().clone(),
        })
    }

    /// Waits until so many ends were told, which may be after others have seen them. Returns whose
    /// they are.
    fn all(&self, count: usize) -> Vec<u64> {
        while lock(&self.ended).len() < count {
            thread::yield_now();
        }
        let mut ended = lock(&self.ended).clone();
        ended.sort_unstable();
        ended
    }
}

impl Home for Ends {
    fn ended(&self, id: u64) {
        lock(&self.ended).push(id);
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }
}

fn orders() -> usize {
    let given = std::env::var("GANTRY_CASES").ok();
    given.map_or(300, |n| n.parse().unwrap())
}

fn seed() -> u64 {
    std::env::var("GANTRY_SEED").map_or(1, |s| s.parse().unwrap())
}

/// Effect of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Does {
    Succeeds,
    Fails,
    Panics,
}

/// Commands of a random graph: what each does, and the earlier ones that it waits for, with true
/// where it fails with them.
fn random_graph(r: &mut Rng) -> Vec<(Does, Vec<(usize, bool)>)> {
    let count = 2 + r.below(5) as usize;
    (0..count)
        .map(|n| {
            let does = match r.below(8) {
                0 => Does::Fails,
                1 => Does::Panics,
                _ => Does::Succeeds,
            };
            let after = (0..n).filter(|_| r.below(3) == 0);
            let after: Vec<usize> = after.collect();
            (
                does,
                after.into_iter().map(|n| (n, r.below(4) != 0)).collect(),
            )
        })
        .collect()
}

/// Runs a graph with some workers, and submits it from one thread or two. Compares each outcome
/// with that of a model, and the order of what ran with the edges.
fn run_graph(graph: &[(Does, Vec<(usize, bool)>)], threads: usize) {
    let workers = Workers::open(threads);
    let home = Ends::on(&workers);
    let order = Arc::new(Mutex::new(Vec::new()));
    let nodes: Vec<Arc<Node>> = graph
        .iter()
        .enumerate()
        .map(|(n, (does, _))| {
            let (does, order) = (*does, order.clone());
            let work: Work = Box::new(move |_| {
                lock(&order).push(n);
                match does {
                    Does::Succeeds => Ok(Done {
                        stats: None,
                        nanoseconds: 10,
                        measured: None,
                    }),
                    Does::Fails => Err(Error::Queue(format!("{n} fails"))),
                    Does::Panics => panic!("{n} panics"),
                }
            });
            let label = Label::Of(Box::new(format!("command {n}")));
            Node::command(label, (home.clone(), n as u64), work)
        })
        .collect();
    // Two threads submit every other command.
    let submitter = |first: usize| {
        let (graph, nodes) = (graph.to_vec(), nodes.clone());
        move || {
            for (n, (_, after)) in graph.iter().enumerate().skip(first).step_by(2) {
                let after: Vec<_> = after.iter().map(|(a, f)| (nodes[*a].clone(), *f)).collect();
                nodes[n].submit(&after);
            }
        }
    };
    let other = thread::spawn(submitter(1));
    submitter(0)();
    let outcomes: Vec<Outcome> = nodes.iter().map(|n| n.wait()).collect();
    other.join().unwrap();
    // The model goes through the commands in their own order.
    let mut roots: Vec<Option<usize>> = Vec::new();
    for (n, (does, after)) in graph.iter().enumerate() {
        let failed = after.iter().filter(|(_, fails)| *fails);
        let root = failed
            .map(|(a, _)| roots[*a])
            .find(Option::is_some)
            .flatten();
        let own = (*does != Does::Succeeds).then_some(n);
        roots.push(root.or(own));
        match (&outcomes[n], root, own) {
            (Outcome::Done(_), None, None) | (Outcome::Failed(_), None, Some(_)) => {}
            (Outcome::DependsOn(f), Some(root), _) => {
                assert_eq!(f.label, format!("command {root}"));
            }
            (got, ..) => panic!("command {n} of {graph:?}: {got:?}"),
        }
        let times = nodes[n].times();
        for (a, _) in after {
            assert!(times.start >= nodes[*a].times().end);
        }
    }
    let order = lock(&order).clone();
    for (at, n) in order.iter().enumerate() {
        for (a, _) in &graph[*n].1 {
            assert!(!order[at..].contains(a), "{n} before {a}");
        }
    }
    let ran = roots
        .iter()
        .enumerate()
        .filter(|(n, r)| r.is_none() || **r == Some(*n));
    assert_eq!(order.len(), ran.count(), "each ran once");
    assert_eq!(
        home.all(graph.len()),
        (0..graph.len() as u64).collect::<Vec<_>>()
    );
}

#[test]
fn commands_end_as_a_model_does_in_any_order() {
    println!("seed {}", seed());
    let mut r = Rng::new(seed());
    for _ in 0..orders() / 10 {
        let graph = random_graph(&mut r);
        let threads = 1 + r.below(3) as usize;
        shuttle::check_random(move || run_graph(&graph, threads), 10);
    }
}

/// Cancels commands while others run and a third sets the event that the first waits for.
#[test]
fn cancelled_commands_end_once() {
    shuttle::check_random(
        || {
            let workers = Workers::open(2);
            let home = Ends::on(&workers);
            let gate = HostEvent::new();
            let nodes: Vec<Arc<Node>> = (0..3)
                .map(|n| {
                    let work: Work = Box::new(|_| Ok(Done::default()));
                    let home = (home.clone() as Arc<dyn Home>, n);
                    Node::command(Label::Name("command"), home, work)
                })
                .collect();
            let opened = gate.event();
            nodes[0].submit(&[(opened.node().clone(), true)]);
            nodes[1].submit(&[(nodes[0].clone(), true)]);
            nodes[2].submit(&[(nodes[1].clone(), false)]);
            let cancels = {
                let nodes = nodes.clone();
                thread::spawn(move || nodes[1].cancel())
            };
            gate.set();
            let ends: Vec<Outcome> = nodes.iter().map(|n| n.wait()).collect();
            cancels.join().unwrap();
            assert!(matches!(ends[0], Outcome::Done(_)));
            match &ends[1] {
                Outcome::Done(_) => {}
                Outcome::Failed(f) => assert!(matches!(f.error, Error::Cancelled { .. })),
                end => panic!("{end:?}"),
            }
            // The last waits for the order alone.
            assert!(matches!(ends[2], Outcome::Done(_)));
            assert_eq!(home.all(3), [0, 1, 2]);
        },
        orders(),
    );
}

#[test]
fn events_that_nobody_sets_fail_what_waits() {
    shuttle::check_random(
        || {
            let workers = Workers::open(1);
            let home: Arc<dyn Home> = Ends::on(&workers);
            let gate = HostEvent::new();
            let event = gate.event();
            let dropped = thread::spawn(move || drop(gate));
            let work: Work = Box::new(|_| Ok(Done::default()));
            let node = Node::command(Label::Name("command"), (home, 0), work);
            node.submit(&[(event.node().clone(), true)]);
            let error = Event::of(node).wait().unwrap_err().to_string();
            assert!(error.contains("dropped without being set"), "{error}");
            dropped.join().unwrap();
        },
        orders(),
    );
}

/// Ends a long chain of commands without recursion.
#[test]
fn long_chains_end() {
    let work = || {
        let workers = Workers::open(1);
        let home: Arc<dyn Home> = Ends::on(&workers);
        let gate = HostEvent::new();
        let mut last = gate.event().node().clone();
        for n in 0..LONG {
            let work: Work = Box::new(|_| Ok(Done::default()));
            let home = (home.clone(), n);
            let node = Node::command(Label::Name("c"), home, work);
            node.submit(&[(last, true)]);
            last = node;
        }
        // All of them fail, one after the other.
        gate.fail(Error::Queue("the gate is shut".to_owned()));
        let error = Event::of(last).wait().unwrap_err().to_string();
        assert!(error.contains("the gate is shut"), "{error}");
    };
    shuttle::check_random(work, 1);
}

/// Length of a chain. `shuttle` makes each step slow.
const LONG: u64 = 20_000;
