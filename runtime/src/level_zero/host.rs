//! Names of driver libraries, by the host's triple.

use crate::error::Error;
use target_lexicon::{OperatingSystem, Triple};

/// Returns the file name of the Level Zero loader on a host.
///
/// # Errors
/// There is no Level Zero for the host's operating system.
pub(super) fn loader(host: &Triple) -> Result<&'static str, Error> {
    match host.operating_system {
        OperatingSystem::Linux => Ok("libze_loader.so.1"),
        OperatingSystem::Windows => Ok("ze_loader.dll"),
        _ => Err(Error::NoDevice(format!(
            "Level Zero exists on Linux and Windows, and the host is {host}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_their_loader_or_none() {
        let of = |triple: &str| loader(&triple.parse().unwrap());
        assert_eq!(of("x86_64-unknown-linux-gnu").unwrap(), "libze_loader.so.1");
        assert_eq!(of("x86_64-pc-windows-msvc").unwrap(), "ze_loader.dll");
        let error = of("aarch64-apple-darwin").unwrap_err().to_string();
        assert!(error.contains("aarch64-apple-darwin"), "{error}");
    }
}
