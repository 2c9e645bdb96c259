//! Prints every instruction row, math function and message: `cargo run -p gantry-meta`.

use gantry_meta::{instructions, messages};
use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

fn print(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for row in instructions::all()? {
        writeln!(out, "{row}")?;
    }
    for function in instructions::math_functions()? {
        writeln!(out, "{function}")?;
    }
    for form in messages::all()?.iter().flat_map(|m| &m.forms) {
        if form.has_codec() {
            writeln!(out, "{form}")?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match print(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
        Err(e)
            if e.downcast_ref::<io::Error>().map(io::Error::kind)
                == Some(ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
