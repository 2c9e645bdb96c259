//! Limits on what the bytes of a zebin may ask of the host.

use std::fmt;

/// Limits on reading. The defaults are far above what compilers write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Kernels of a module. 65,536.
    pub kernels: usize,
    /// Values in the `.ze_info` of a module: each scalar, list and map. 4 million.
    pub info_values: usize,
    /// Symbols and relocations in all tables of a module. 4 million.
    pub symbols: usize,
    /// Bytes of all names of sections and symbols of a module. 64 MiB.
    pub name_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            kernels: 1 << 16,
            info_values: 4 << 20,
            symbols: 4 << 20,
            name_bytes: 64 << 20,
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
///
/// # Errors
/// The amount is larger than the limit.
pub fn within(what: &str, asked: usize, limit: usize) -> Result<(), Excess> {
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
#[derive(Clone, Debug)]
pub struct Budget {
    what: &'static str,
    limit: usize,
    taken: usize,
}

impl Budget {
    /// Creates a budget of something, of which nothing is taken yet.
    pub fn new(what: &'static str, limit: usize) -> Budget {
        Budget {
            what,
            limit,
            taken: 0,
        }
    }

    /// Adds `n` to the total.
    ///
    /// # Errors
    /// The total passes the limit.
    pub fn take(&mut self, n: usize) -> Result<(), Excess> {
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
