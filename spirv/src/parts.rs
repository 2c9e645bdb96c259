//! A kernel and the functions that it calls, each as far as emission wants it, callers first.

use crate::arrays::{self, Arrays};
use crate::body::Body;
use crate::calls::Plan;
use crate::cfg::Graph;
use crate::cfg::script::Script;
use crate::error::Error;
use crate::module::{Func, Module};
use crate::uniform::{self, Uniformity};
use crate::{branches, cfg, flatten, globals, inputs, promote, tables, thread, wholes};
use cranelift_entity::SecondaryMap;
use gantry_codegen::Inline;
use std::collections::BTreeSet;

/// A kernel, or a function that it calls.
pub(crate) struct Part {
    pub func: Func,
    pub is_kernel: bool,
    pub body: Body,
    pub graph: Graph,
    pub script: Script,
    pub uniform: Uniformity,
    pub arrays: Arrays,
    /// The numbers of the parameters that have a lane for each channel, from low to high.
    pub divergent: Vec<u32>,
}

impl Part {
    /// Whether channels leave some loop one after the other.
    pub fn parts_channels(&self) -> bool {
        self.graph.loops.keys().any(|l| self.uniform.loops[l])
    }
}

/// The parts of a kernel: it comes first. `file`: bytes of registers that a thread is known to have.
///
/// # Errors
/// What is no valid SPIR-V, or larger than the limits.
pub(crate) fn parts(
    m: &Module<'_>,
    kernel: Func,
    inline: Inline,
    file: u32,
) -> Result<Vec<Part>, Error> {
    let plan = Plan::new(m, kernel, inline)?;
    let mut insts = 0;
    let mut passed: SecondaryMap<Func, BTreeSet<u32>> = SecondaryMap::new();
    let mut out = Vec::new();
    for func in [kernel].iter().chain(plan.order()).copied() {
        let divergent: Vec<u32> = passed[func].iter().copied().collect();

        let mut body = flatten::flatten(m, &plan, func, &mut insts)?;
        wholes::copy(m, &mut body);
        globals::own(m, &mut body);
        inputs::load(m, &mut body);
        cfg::reduce::reduce(m, &mut body)?;
        promote::promote(m, &mut body);
        tables::make(m, &mut body);
        let mut graph = Graph::new(&mut body)?;
        cfg::uses::check(m, &body, &graph)?;
        for _ in 0..thread::ROUNDS {
            if !thread::thread(m, &mut body, &graph) {
                break;
            }
            graph = Graph::new(&mut body)?;
        }
        let mut script = Script::new(&body, &graph);
        let shapes =
            |body: &Body, graph: &Graph| arrays::find(m, body, graph, &Uniformity::default(), file);
        let mut shape = shapes(&body, &graph);
        let mut uniform = uniform::analyse(m, &body, &graph, &script, &shape, &divergent);
        if branches::shorten(m, &mut body, &uniform.divergent) {
            graph = Graph::new(&mut body)?;
            script = Script::new(&body, &graph);
            shape = shapes(&body, &graph);
            uniform = uniform::analyse(m, &body, &graph, &script, &shape, &divergent);
        }
        // No more of them can be held than by their uses alone.
        let arrays = match shape.all.is_empty() {
            true => shape,
            false => arrays::find(m, &body, &graph, &uniform, file),
        };

        for (callee, n) in &uniform.passed {
            passed[*callee].insert(*n);
        }
        out.push(Part {
            func,
            is_kernel: func == kernel,
            body,
            graph,
            script,
            uniform,
            arrays,
            divergent,
        });
    }
    Ok(out)
}
