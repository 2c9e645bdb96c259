//! Formulas of payload lengths, over the arguments of a message.

/// Condition on an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cond {
    /// A `bool` is set.
    Flag(&'static str),
    /// An argument has a value, in Rust.
    Is(&'static str, &'static str),
    /// A compression control operation takes a page.
    Page(&'static str),
    /// Addresses have 64 bits.
    A64,
}

/// Formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// Number.
    Num(u32),
    /// Unsigned argument.
    Arg(&'static str),
    /// 1 if a `bool` is set, else 0.
    Flag(&'static str),
    /// Number of enabled components.
    Count(&'static str),
    /// Number of sources of an atomic operation.
    Sources(&'static str),
    /// Number of channels of the argument `simd`.
    Channels,
    /// Number of channels whose registers an atomic of one channel has (a hand-written rule).
    AtomicChannels,
    /// Number of channels of the instruction.
    Exec,
    /// GRFs that hold a number of bytes.
    Grfs(Box<Expr>),
    /// Product.
    Times(Box<Expr>, Box<Expr>),
    /// Sum.
    Plus(Box<Expr>, Box<Expr>),
    /// Larger one.
    Max(Box<Expr>, Box<Expr>),
    /// One of two, by a condition.
    If(Cond, Box<Expr>, Box<Expr>),
    /// The formula if the argument `dir` is `Dir::Write`, else 0.
    Writes(Box<Expr>),
    /// The formula if the argument `dir` is `Dir::Read`, else 0.
    Reads(Box<Expr>),
}

impl Expr {
    /// Multiplies two formulas.
    #[must_use]
    pub fn times(self, o: Expr) -> Expr {
        Expr::Times(Box::new(self), Box::new(o))
    }

    /// Adds two formulas.
    #[must_use]
    pub fn plus(self, o: Expr) -> Expr {
        Expr::Plus(Box::new(self), Box::new(o))
    }

    /// Returns the larger of two formulas.
    #[must_use]
    pub fn max(self, o: Expr) -> Expr {
        Expr::Max(Box::new(self), Box::new(o))
    }

    /// Returns the GRFs that hold this number of bytes.
    #[must_use]
    pub fn grfs(self) -> Expr {
        Expr::Grfs(Box::new(self))
    }

    /// Returns the names of the arguments that the formula reads.
    pub fn args(&self) -> Vec<&'static str> {
        match self {
            Expr::Num(_) | Expr::Exec => vec![],
            Expr::Arg(a) | Expr::Flag(a) | Expr::Count(a) | Expr::Sources(a) => vec![a],
            Expr::Channels | Expr::AtomicChannels => vec!["simd"],
            Expr::Grfs(e) => e.args(),
            Expr::Writes(e) | Expr::Reads(e) => [vec!["dir"], e.args()].concat(),
            Expr::Times(a, b) | Expr::Plus(a, b) | Expr::Max(a, b) => [a.args(), b.args()].concat(),
            Expr::If(c, a, b) => {
                let on = match c {
                    Cond::Flag(a) | Cond::Is(a, _) | Cond::Page(a) => a,
                    Cond::A64 => "addr",
                };
                [vec![on], a.args(), b.args()].concat()
            }
        }
    }
}

/// Chooses between two numbers.
pub fn either(cond: Cond, yes: u32, no: u32) -> Expr {
    Expr::If(cond, Box::new(Expr::Num(yes)), Box::new(Expr::Num(no)))
}

/// Number of GRFs of an element of this many bytes for each channel.
pub fn row(bytes: Expr) -> Expr {
    Expr::Channels.times(bytes).grfs()
}

/// Number of GRFs of an address for each channel.
pub fn addresses() -> Expr {
    row(either(Cond::A64, 8, 4))
}
