//! Relocations: addresses that a loader writes into code and data.
//!
//! The values of the names that the loader knows are those of compute-runtime, `linker.cpp`.

use super::launch::IMPLICIT_ARGS_BYTES;
use crate::zebin::{KernelInfo, ModulePart, Relocation, Zebin};
use gantry_zebin::names::{
    CROSS_THREAD_OFFSET, PER_THREAD_OFFSET, RelocationType, SURFACE_STATE_SIZE,
};

/// Virtual address of code. Instruction pointers and call targets are its low 32 bits, as offsets
/// from here.
const CODE_BASE: u64 = 0x8001_0000_0000;
/// Alignment of the code of a part, in bytes.
const CODE_ALIGN: u32 = 64;
/// Bytes of a surface state.
const SURFACE_STATE_BYTES: u64 = 64;

/// Addresses of the parts of a module.
pub(super) struct Addresses {
    /// Virtual address of each data section.
    pub(super) data: Vec<u64>,
    /// Offset of each function section in the code space of every kernel. Kernels begin at 0 there,
    /// so a function has one address whichever kernel calls it.
    pub(super) functions: Vec<u32>,
}

impl Addresses {
    /// Places functions after the longest kernel. Fails if code does not fit 32 bits.
    pub(super) fn new(zebin: &Zebin, data: Vec<u64>) -> Result<Addresses, String> {
        let longest = zebin.code.iter().map(|r| r.len()).max().unwrap_or(0);
        let mut next = longest;
        let mut functions = Vec::new();
        for f in &zebin.functions {
            next = next.next_multiple_of(CODE_ALIGN as usize);
            let at = u32::try_from(next).map_err(|_| "more than 4 GB of code".to_owned())?;
            functions.push(at);
            next = next.saturating_add(f.range.len());
        }
        Ok(Addresses { data, functions })
    }

    /// Returns the value that a relocation writes. `kernel` is the kernel whose code it is in, if
    /// any.
    fn value(&self, r: &Relocation, kernel: Option<(usize, &KernelInfo)>) -> Result<u64, String> {
        let per_thread = kernel.map(|(_, k)| {
            let cross = k.cross_thread_bytes();
            u64::from(cross - k.env.inline_data_payload_size.min(cross))
        });
        let address = match (r.symbol.as_str(), r.target) {
            (PER_THREAD_OFFSET, None) => per_thread,
            _ if r.ty == RelocationType::PerThreadPayloadOffset.number() => per_thread,
            (CROSS_THREAD_OFFSET, _) => Some(u64::from(IMPLICIT_ARGS_BYTES)),
            (SURFACE_STATE_SIZE, _) => Some(SURFACE_STATE_BYTES),
            ("", None) => return Ok(0),
            (_, Some((ModulePart::Data(i), at))) => {
                self.data.get(i).map(|base| base.wrapping_add(at))
            }
            (_, Some((ModulePart::Function(i), at))) => self
                .functions
                .get(i)
                .map(|base| (CODE_BASE + u64::from(*base)).wrapping_add(at)),
            (_, Some((ModulePart::Kernel(i), at))) => kernel
                .filter(|(own, _)| *own == i)
                .map(|_| CODE_BASE.wrapping_add(at)),
            (_, None) => None,
        };
        match address {
            Some(a) => Ok(a.wrapping_add(r.addend as u64)),
            None => Err(format!("the symbol `{}` of elsewhere", r.symbol)),
        }
    }

    /// Relocates code.
    pub(super) fn patch_code(
        &self,
        code: &mut [u8],
        list: &[Relocation],
        kernel: Option<(usize, &KernelInfo)>,
    ) -> Result<(), String> {
        for r in list
            .iter()
            .filter(|r| r.ty != RelocationType::None.number())
        {
            let value = self.value(r, kernel)?;
            let part = part_of(r, value)?;
            place(code, r, part.len())?.copy_from_slice(&part);
        }
        Ok(())
    }

    /// Relocates data, which holds addends.
    pub(super) fn patch_data(&self, data: &mut [u8], list: &[Relocation]) -> Result<(), String> {
        for r in list
            .iter()
            .filter(|r| r.ty != RelocationType::None.number())
        {
            let value = self.value(r, None)?;
            let part = part_of(r, value)?;
            let place = place(data, r, part.len())?;
            let mut carry = 0;
            for (d, p) in place.iter_mut().zip(&part) {
                let sum = u32::from(*d) + u32::from(*p) + carry;
                *d = sum as u8;
                carry = sum >> 8;
            }
        }
        Ok(())
    }
}

/// Returns the bytes of a value that a relocation writes.
fn part_of(r: &Relocation, value: u64) -> Result<Vec<u8>, String> {
    RelocationType::from_number(r.ty)
        .and_then(|ty| ty.part_of(value))
        .ok_or_else(|| format!("relocation type {} of `{}`", r.ty, r.symbol))
}

/// Returns the bytes that a relocation changes.
fn place<'a>(section: &'a mut [u8], r: &Relocation, n: usize) -> Result<&'a mut [u8], String> {
    let at = usize::try_from(r.offset).unwrap_or(usize::MAX);
    at.checked_add(n)
        .and_then(|end| section.get_mut(at..end))
        .ok_or_else(|| {
            format!(
                "a relocation of `{}` at {:#x}, outside its section",
                r.symbol, r.offset
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relocation(
        offset: u64,
        ty: u32,
        addend: i64,
        target: Option<(ModulePart, u64)>,
    ) -> Relocation {
        Relocation {
            offset,
            ty,
            addend,
            symbol: "s".to_owned(),
            target,
        }
    }

    #[test]
    fn each_type_writes_its_part() {
        let a = Addresses {
            data: vec![0x5500_1234_0000],
            functions: vec![0x40],
        };
        let target = Some((ModulePart::Data(0), 0x10));
        let mut code = vec![0xaa; 32];
        let list = [
            relocation(0, 1, 4, target),
            relocation(8, 2, 0, target),
            relocation(12, 3, 0, target),
            relocation(16, 7, 0, target),
            relocation(18, 0, 0, target),
            relocation(20, 2, 0, Some((ModulePart::Function(0), 8))),
        ];
        a.patch_code(&mut code, &list, None).unwrap();
        assert_eq!(code[..8], 0x5500_1234_0014u64.to_le_bytes());
        assert_eq!(code[8..12], 0x1234_0010u32.to_le_bytes());
        assert_eq!(code[12..16], 0x5500u32.to_le_bytes());
        assert_eq!(code[16..20], [0x10, 0, 0xaa, 0xaa]);
        assert_eq!(code[20..24], 0x48u32.to_le_bytes());
        let mut data = vec![0; 16];
        data[8..16].copy_from_slice(&0xffffu64.to_le_bytes());
        a.patch_data(&mut data, &[relocation(8, 1, 0, target)])
            .unwrap();
        assert_eq!(data[8..16], 0x5500_1235_000fu64.to_le_bytes());
    }

    #[test]
    fn what_cannot_be_filled_in_is_named() {
        let a = Addresses {
            data: vec![0],
            functions: Vec::new(),
        };
        let target = Some((ModulePart::Data(0), 0));
        let mut code = vec![0; 8];
        let mut error = |r: Relocation| a.patch_code(&mut code, &[r], None).unwrap_err();
        assert!(error(relocation(4, 1, 0, target)).contains("outside its section"));
        assert!(error(relocation(u64::MAX, 1, 0, target)).contains("outside"));
        assert!(error(relocation(0, 6, 0, target)).contains("relocation type 6"));
        assert!(error(relocation(0, 1, 0, None)).contains("`s` of elsewhere"));
        assert!(error(relocation(0, 4, 0, target)).contains("`s` of elsewhere"));
    }
}
