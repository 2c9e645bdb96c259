//! Notes of ELF, and those that say which devices a zebin is for.

#[cfg(feature = "read")]
use crate::error::ZebinError;
#[cfg(feature = "read")]
use crate::names::COMPAT;
use crate::names::{INTELGT, NoteType};
use gantry_isa_gen::{PRODUCTS, Platform};

/// Entry of a note section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note<'a> {
    /// Owner, up to its first zero.
    pub owner: &'a [u8],
    /// Type, of the owner's types.
    pub ty: u32,
    /// Contents.
    pub desc: &'a [u8],
}

impl Note<'_> {
    /// Appends the entry to a section.
    pub fn write(&self, out: &mut Vec<u8>) {
        // The owner ends in a zero.
        let owner = self.owner.len() + 1;
        for word in [owner as u32, self.desc.len() as u32, self.ty] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(self.owner);
        out.push(0);
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend_from_slice(self.desc);
        out.resize(out.len().next_multiple_of(4), 0);
    }
}

/// Iterates over the entries of a note section, up to the first that is damaged.
#[cfg(feature = "read")]
pub fn notes<'a>(
    section: &'a [u8],
    name: &'a str,
) -> impl Iterator<Item = Result<Note<'a>, ZebinError>> {
    let mut rest = section;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let note = note(&mut rest).ok_or_else(|| damaged(name));
        if note.is_err() {
            rest = &[];
        }
        Some(note)
    })
}

#[cfg(feature = "read")]
fn damaged(section: &str) -> ZebinError {
    ZebinError::new(format!("{section} is damaged"))
}

/// Takes an entry off the front: three words, the owner and the description, each padded to words.
#[cfg(feature = "read")]
fn note<'a>(rest: &mut &'a [u8]) -> Option<Note<'a>> {
    let mut word = || {
        let (word, behind) = rest.split_first_chunk::<4>()?;
        *rest = behind;
        Some(u32::from_le_bytes(*word))
    };
    let (owner, desc, ty) = (word()?, word()?, word()?);
    let mut bytes = |len: u32| {
        let bytes = rest.get(..len as usize)?;
        // The last entry may lack its padding.
        let padded = (len as usize).checked_next_multiple_of(4)?;
        *rest = rest.get(padded..).unwrap_or(&[]);
        Some(bytes)
    };
    let owner = bytes(owner)?.split(|&b| b == 0).next().unwrap_or(&[]);
    let desc = bytes(desc)?;
    Some(Note { owner, ty, desc })
}

/// Contents of `.note.intelgt.compat`, as far as loaders here need them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compat {
    /// Product family.
    pub product: Option<u32>,
    /// Core family. Compilers that know none write 0.
    pub core: Option<u32>,
    /// Version of the format.
    pub version: Option<String>,
}

impl Compat {
    /// Writes the section.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut add = |ty: NoteType, desc: &[u8]| {
            let owner = INTELGT.as_bytes();
            let ty = ty.number();
            Note { owner, ty, desc }.write(&mut out);
        };
        if let Some(product) = self.product {
            add(NoteType::ProductFamily, &product.to_le_bytes());
        }
        if let Some(core) = self.core {
            add(NoteType::CoreFamily, &core.to_le_bytes());
        }
        if let Some(version) = &self.version {
            add(NoteType::Version, format!("{version}\0").as_bytes());
        }
        out
    }

    /// Reads the section. Of several notes of one type the first product family and the last core
    /// family count. Damage behind the product family does not.
    ///
    /// # Errors
    /// An entry is damaged.
    #[cfg(feature = "read")]
    pub fn read(section: &[u8]) -> Result<Compat, ZebinError> {
        let mut out = Compat::default();
        for note in notes(section, COMPAT) {
            let result = note.and_then(|note| out.add(note));
            if out.product.is_none() {
                result?;
            }
        }
        Ok(out)
    }

    #[cfg(feature = "read")]
    fn add(&mut self, note: Note<'_>) -> Result<(), ZebinError> {
        if note.owner != INTELGT.as_bytes() {
            return Ok(());
        }
        let word = || {
            let word = note.desc.first_chunk::<4>();
            word.map(|w| u32::from_le_bytes(*w))
                .ok_or_else(|| damaged(COMPAT))
        };
        match NoteType::from_number(note.ty) {
            Some(NoteType::ProductFamily) if self.product.is_none() => self.product = Some(word()?),
            Some(NoteType::CoreFamily) => self.core = Some(word()?),
            Some(NoteType::Version) => {
                let text = note.desc.split(|&b| b == 0).next().unwrap_or(&[]);
                self.version = Some(String::from_utf8_lossy(text).into_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the product and its platform. The notes of libraries for several products have the
    /// core family alone, and those of Intel's vector compiler the product family 0. The product is
    /// then the first of the core family.
    ///
    /// # Errors
    /// The note names no product and no core family, or one of no platform.
    #[cfg(feature = "read")]
    pub fn platform(&self) -> Result<(u32, Platform), ZebinError> {
        if let Some(product) = self.product.filter(|product| *product != 0) {
            let platform = Platform::from_family(product).ok_or_else(|| {
                ZebinError::new(format!(
                    "product family {product} is of no platform known here"
                ))
            })?;
            return Ok((product, platform));
        }
        let Some(core) = self.core.filter(|core| *core != 0) else {
            return Err(ZebinError::new(format!(
                "{COMPAT} names no product family and no core family"
            )));
        };
        let platform = Platform::from_core(core).filter(|p| product(*p) != 0);
        platform.map(|p| (product(p), p)).ok_or_else(|| {
            ZebinError::new(format!(
                "core family {core:#x} is of no platform known here"
            ))
        })
    }
}

/// Returns the first product family number of a platform; 0 where there is none.
pub fn product(platform: Platform) -> u32 {
    PRODUCTS
        .iter()
        .filter(|p| p.platform == platform)
        .find_map(|p| p.families.first())
        .copied()
        .unwrap_or(0)
}

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;

    #[test]
    fn product_family_zero_is_none() {
        let note = |core| Compat {
            product: Some(0),
            core: Some(core),
            version: None,
        };
        let (product, platform) = note(12).platform().unwrap();
        assert_eq!(
            (product, platform),
            (super::product(Platform::Gen9), Platform::Gen9)
        );
        let error = note(0).platform().unwrap_err().to_string();
        assert!(
            error.contains("names no product family and no core family"),
            "{error}"
        );
    }

    #[test]
    fn notes_are_read_as_written() {
        let whole = Compat {
            product: Some(18),
            core: Some(12),
            version: Some("1.15".to_owned()),
        };
        let bytes = whole.write();
        assert_eq!(Compat::read(&bytes).unwrap(), whole);
        assert_eq!(whole.platform().unwrap(), (18, Platform::Gen9));
        // The product family is the first entry, of 24 bytes.
        for n in 1..bytes.len() {
            assert_eq!(Compat::read(&bytes[..n]).is_ok(), n >= 24, "{n}");
        }
        let damage = Compat::read(&bytes[..8]).unwrap_err().to_string();
        assert_eq!(
            damage,
            "not a usable zebin: .note.intelgt.compat is damaged"
        );
    }
}
