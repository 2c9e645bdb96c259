//! Comparison of one launch with its oracle.

use super::case::{Case, Oracle};
use super::simulated::{self, LaunchResults};
use super::{compare, reference};
use gantry_runtime::{LaunchStats, Module, Watch};

/// Launches a kernel on the simulator, and compares what it wrote and printed with the expectation.
/// Returns the statistics.
pub fn launch(case: &Case, module: &Module, width: u32) -> Result<LaunchStats, String> {
    watched(case, module, width, None)
}

/// Launches a kernel as [`launch`] does, with a watch.
#[allow(dead_code, reason = "not every user looks")]
pub fn watched(
    case: &Case,
    module: &Module,
    width: u32,
    watch: Option<&Watch>,
) -> Result<LaunchStats, String> {
    let want = match case.oracle {
        Oracle::Pocl => reference::results(case)?,
        Oracle::Here(f) => case.expected(f, width),
    };
    let LaunchResults {
        contents: got,
        text,
        stats,
    } = simulated::launch(case, module, watch).map_err(|e| e.to_string())?;
    let compared = case
        .args
        .iter()
        .enumerate()
        .filter_map(|(i, a)| Some((i, a.compared()?)));
    for (((i, (kind, _, tolerance)), got), want) in compared.zip(&got).zip(&want) {
        if let Some(difference) = compare::difference(kind, tolerance, got, want) {
            return Err(format!("argument {i}: {difference}"));
        }
    }
    if case.prints {
        // Work-items print in any order.
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let (got, want) = (lines(&text), lines(&reference::printed(case)?));
        if got.len() != want.len() {
            return Err(format!("{} lines printed, not {}", got.len(), want.len()));
        }
        if let Some((got, want)) = got.iter().zip(&want).find(|(g, w)| g != w) {
            return Err(format!("printed {got:?}, not {want:?}"));
        }
    } else if !text.is_empty() {
        return Err(format!("printed {text:?}"));
    }
    Ok(stats)
}
