//! `gantry targets`.

use crate::{Failure, print};
use gantry::codegen::Target;
use serde_json::json;

/// List the products that can be compiled for
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    for t in Target::all() {
        let (grf, features) = (t.grf(), t.features());
        let line = if args.json {
            json!({
                "target": t.name(),
                "platform": t.platform().name(),
                "grf_bytes": grf.bytes,
                "doubles": features.native_f64,
            })
            .to_string()
        } else {
            let doubles = if features.native_f64 { "yes" } else { "no" };
            format!(
                "{:<8} {:<8} {}-byte GRFs, doubles: {doubles}",
                t.name(),
                t.platform().name(),
                grf.bytes
            )
        };
        print(&format!("{line}\n"))?;
    }
    Ok(())
}
