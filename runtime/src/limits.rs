//! Limits on what one module and one launch may ask of the host.
//!
//! Inputs come from anywhere, so everything that their bytes ask for is bounded here. Below the
//! limits, time and memory grow with the input. Beyond one, an error says what was asked for, how
//! much, and the limit.

use std::fmt;

/// Limits of a device. The defaults are far above what compilers write. A host that needs others
/// sets them in [`SimOptions::limits`](crate::SimOptions::limits).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Kernels of a module. 65,536.
    pub kernels: usize,
    /// Values in the `.ze_info` of a module: each scalar, list and map. 4 million.
    pub info_values: usize,
    /// Arguments of all kernels of a module. A kernel has as many as its highest index says. 1
    /// million.
    pub arguments: usize,
    /// Symbols and relocations in all tables of a module. 4 million.
    pub symbols: usize,
    /// Bytes of all names of sections, symbols and source files of a module. 64 MiB.
    pub name_bytes: usize,
    /// Bytes of code of all kernels and functions of a module. Sections that share bytes of the
    /// file count separately. 256 MiB.
    pub code_bytes: usize,
    /// Bytes of constants and globals of a module, zero-initialized ones included. 1 GiB.
    pub data_bytes: usize,
    /// Bytes of a launched kernel's own code and the module's functions. Decoded code takes some 30
    /// times as much. 16 MiB.
    pub kernel_code_bytes: usize,
    /// Bytes of private memory of a thread. 64 MiB.
    pub private_bytes: usize,
    /// Bytes of a launch for the threads that run at once (scratch, private memory, SLM) and for
    /// its own buffers. Fewer groups run at once where it does not suffice for a group on every
    /// core. 2 GiB.
    pub launch_bytes: usize,
    /// Bytes of text that a launch prints. Reading its formats and strings may take as many again.
    /// 16 MiB.
    pub printf_bytes: usize,
    /// Width and precision of a `printf` conversion, in characters. 4,096.
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

/// Amount of something that passes a limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excess {
    /// Quantity with its unit: "kernels", "bytes of private memory a thread".
    pub what: String,
    /// Amount asked for, or a lower bound of it where counting stopped at the limit.
    pub asked: u64,
    /// Amount allowed.
    pub limit: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { what, asked, limit } = self;
        write!(f, "{asked} {what}; the limit is {limit}")
    }
}

/// Checks an amount against a limit.
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

/// Running total that is checked against a limit.
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

    /// Adds `n` to the total, and fails if that passes the limit.
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
