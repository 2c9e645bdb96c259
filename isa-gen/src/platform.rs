//! Platforms: which generations there are and what each can do.

use std::fmt;

/// A generation of the Gen ISA; a column of the tables. A product (`skl`, `kbl`, ...) names one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Platform {
    /// Gen9: Skylake, Kaby Lake, Broxton, Gemini Lake.
    Gen9,
}

impl Platform {
    /// Every platform that has a column in the tables.
    pub const ALL: [Platform; 1] = [Platform::Gen9];

    /// The platform of a product's short name (`skl`) or of a generation name (`gen9`, `9`).
    ///
    /// ```
    /// use gantry_isa_gen::Platform;
    /// assert_eq!(Platform::from_name("skl"), Some(Platform::Gen9));
    /// assert_eq!(Platform::from_name("m1"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Platform> {
        match name {
            "skl" | "kbl" | "bxt" | "glk" | "cfl" | "gen9" | "9" => Some(Platform::Gen9),
            _ => None,
        }
    }

    /// The name that `iga64 -p=` takes.
    pub const fn iga_name(self) -> &'static str {
        match self {
            Platform::Gen9 => "9",
        }
    }

    /// What the platform can do.
    pub const fn features(self) -> &'static Features {
        match self {
            Platform::Gen9 => &GEN9,
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Platform::Gen9 => f.write_str("gen9"),
        }
    }
}

/// Facts about a platform that code asks for by name, never by generation number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// Bytes in a GRF.
    pub grf_bytes: u32,
    /// GRFs of a thread in the normal mode.
    pub grf_count: u32,
    /// Flag registers of 32 bits.
    pub flag_regs: u32,
    /// Whether the hardware tracks register dependencies (if not, instructions carry SWSB).
    pub hw_scoreboard: bool,
    /// Whether branch targets are relative to the instruction itself, in bytes.
    pub relative_branches: bool,
    /// Whether there is a native 64-bit integer and double float.
    pub native_64bit: bool,
    /// Whether three-source instructions are in the Align16 form.
    pub ternary_align16: bool,
    /// Whether there is a split send (`sends`).
    pub split_send: bool,
}

const GEN9: Features = Features {
    grf_bytes: 32,
    grf_count: 128,
    flag_regs: 2,
    hw_scoreboard: true,
    relative_branches: true,
    native_64bit: true,
    ternary_align16: true,
    split_send: true,
};
