//! How fast the simulator runs.
fn main() {}
