//! The demo host.
fn main() {}
