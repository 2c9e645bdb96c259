//! What one module and one launch may ask of the host: inputs come from anywhere, so whatever their bytes say is bounded here.
//! Below the limits, time and memory grow as the input does; beyond one, an error says what was asked for, how much, and the
//! limit.

use std::fmt;

/// Limits of a device. The defaults are far above what compilers write; a host that knows better sets its own in
/// [`SimOptions::limits`](crate::SimOptions::limits).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of a module: kernels. 65,536.
    pub kernels: usize,
    /// Of a module: values in `.ze_info`, each scalar, list and map. 4 million.
    pub info_values: usize,
    /// Of a module: arguments of all its kernels together. A kernel has as many as its highest index says. 1 million.
    pub arguments: usize,
    /// Of a module: symbols and relocations, in all tables together. 4 million.
    pub symbols: usize,
    /// Of a module: names of sections, symbols and source files together, in bytes. 64 MiB.
    pub name_bytes: usize,
    /// Of a module: code of all kernels and functions together, in bytes; sections that share bytes of the file count each.
    /// 256 MiB.
    pub code_bytes: usize,
    /// Of a module: constants and globals together, what is zero at first among them, in bytes. 1 GiB.
    pub data_bytes: usize,
    /// Of a kernel that is launched: its own code and the module's functions, in bytes. Decoded code takes some 30 times as much.
    /// 16 MiB.
    pub kernel_code_bytes: usize,
    /// Of a thread: private memory, in bytes. 64 MiB.
    pub private_bytes: usize,
    /// Of a launch: memory of the threads that run at once (scratch, private memory, SLM) and of its own buffers, in bytes. Where
    /// it does not last for a group on every core, fewer groups run at once. 2 GiB.
    pub launch_bytes: usize,
    /// Of a launch: text that it prints, in bytes; reading its formats and strings may take as many again. 16 MiB.
    pub printf_bytes: usize,
    /// Of a `printf` conversion: its width and its precision, in characters. 4,096.
    pub printf_width: u16,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            kernels: 1 << 16,
            info_values: 4 << 20,
            arguments: 1 << 20,
            symbols: 4 << 20,
            name_bytes: 64 << 20,
            code_bytes: 256 << 20,
            data_bytes: 1 << 30,
            kernel_code_bytes: 16 << 20,
            private_bytes: 64 << 20,
            launch_bytes: 2 << 30,
            printf_bytes: 16 << 20,
            printf_width: 4096,
        }
    }
}

/// More of something than a limit allows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excess {
    /// What there is too much of, with its unit: "kernels", "bytes of private memory a thread".
    pub what: String,
    /// How much was asked for: at least so much, where counting stopped at the limit.
    pub asked: u64,
    /// How much there may be.
    pub limit: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { what, asked, limit } = self;
        write!(f, "{asked} {what}; the limit is {limit}")
    }
}

/// That there are no more of something than a limit allows.
pub(crate) fn within(what: &str, asked: usize, limit: usize) -> Result<(), Excess> {
    if asked <= limit {
        return Ok(());
    }
    Err(Excess {
        what: what.to_owned(),
        asked: asked as u64,
        limit: limit as u64,
    })
}

/// What is left of a limit.
pub(crate) struct Budget {
    what: &'static str,
    limit: usize,
    taken: usize,
}

impl Budget {
    pub(crate) fn new(what: &'static str, limit: usize) -> Budget {
        Budget {
            what,
            limit,
            taken: 0,
        }
    }

    /// Takes so much, or says what that comes to.
    pub(crate) fn take(&mut self, n: usize) -> Result<(), Excess> {
        self.taken = self.taken.saturating_add(n);
        within(self.what, self.taken, self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let mut b = Budget::new("crumbs", 10);
        b.take(4).unwrap();
        b.take(6).unwrap();
        b.take(0).unwrap();
        assert_eq!(
            b.take(1).unwrap_err().to_string(),
            "11 crumbs; the limit is 10"
        );
        assert!(b.take(usize::MAX).is_err());
        assert!(b.take(1).is_err());
    }
}
