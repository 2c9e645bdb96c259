//! The examples run.

#[path = "../../examples/builder.rs"]
mod builder;
#[path = "../../examples/embed.rs"]
mod embed;

#[test]
fn the_builder() {
    builder::main().unwrap();
}

#[test]
fn the_least() {
    embed::main().unwrap();
}
