//! A progress bar on standard error, for work that takes long.

use gantry::runtime::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Time between two drawings; what takes less shows no bar.
const STEP: Duration = Duration::from_millis(250);

/// Runs work that counts hardware threads in `progress`, with a bar beside it where standard error
/// is a terminal.
pub(crate) fn with_bar<R>(progress: &Progress, work: impl FnOnce() -> R) -> R {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} threads, {eta} left");
    let bar = ProgressBar::hidden();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let draw = |seen: &Progress| {
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_length(seen.total());
        bar.set_position(seen.done());
    };
    let out = progress.watch(STEP, draw, work);
    bar.finish_and_clear();
    out
}

/// A bar that counts files; hidden where standard error is no terminal.
pub(crate) fn of_files() -> ProgressBar {
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} files, {eta} left");
    let bar =
        ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar
}
