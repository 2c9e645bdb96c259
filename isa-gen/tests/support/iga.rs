//! Intel's assembler as a library, through the C interface of libiga64 (`iga.h`). Tests of other
//! crates may include this file by its path.

use gantry_isa_gen::Platform;
use gantry_isa_gen::fuzz::Oracle;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};

/// Status of a call; 0 is success.
type Status = i32;

#[repr(C)]
struct ContextOptions {
    cb: usize,
    generation: i32,
}

#[repr(C)]
struct AssembleOptions {
    cb: u32,
    enabled_warnings: u32,
    encoder_opts: u32,
    syntax_opts: u32,
    reserved: [u32; 2],
    sbid_count: u32,
    swsb_encode_mode: u32,
}

#[repr(C)]
struct DisassembleOptions {
    cb: u32,
    formatting_opts: u32,
    reserved: [u32; 2],
    decoder_opts: u32,
    base_pc_offset: u32,
}

#[repr(C)]
struct IgaDiagnostic {
    line: u32,
    column: u32,
    offset: u32,
    extent: u32,
    message: *const c_char,
}

type Context = *mut c_void;
type Create = unsafe extern "C" fn(*const ContextOptions, *mut Context) -> Status;
type Release = unsafe extern "C" fn(Context) -> Status;
type Assemble = unsafe extern "C" fn(
    Context,
    *const AssembleOptions,
    *const c_char,
    *mut *mut u8,
    *mut u32,
) -> Status;
type LabelName = unsafe extern "C" fn(i32, *mut c_void) -> *const c_char;
type Disassemble = unsafe extern "C" fn(
    Context,
    *const DisassembleOptions,
    *const u8,
    u32,
    Option<LabelName>,
    *mut c_void,
    *mut *mut c_char,
) -> Status;
type Errors = unsafe extern "C" fn(Context, *mut *const IgaDiagnostic, *mut u32) -> Status;

/// `iga_gen_t` of a platform.
fn generation(p: Platform) -> i32 {
    let gen_version = |major: i32, minor: i32| major << 16 | minor;
    let xe_version = |major: i32, minor: i32| major << 24 | minor;
    match p {
        Platform::Gen7p5 => gen_version(7, 5),
        Platform::Gen8 | Platform::Gen8Lp => gen_version(8, 0),
        Platform::Gen9 | Platform::Gen9Lp => gen_version(9, 0),
        Platform::Gen10 => gen_version(10, 0),
        Platform::Gen11 => gen_version(11, 0),
        Platform::XeLp => xe_version(1, 0),
        Platform::XeHp => xe_version(1, 1),
        Platform::XeHpg => xe_version(1, 2),
        Platform::XeHpc => xe_version(1, 4),
    }
}

/// Context of libiga64.
pub struct Iga {
    context: Context,
    assemble: Assemble,
    disassemble: Disassemble,
    errors: Errors,
    release: Release,
    /// True if assembly compacts instructions that have a compact form.
    pub auto_compact: bool,
    /// True if assembly sets annotations (SWSB) and inserts `sync` instructions as needed.
    pub auto_dependencies: bool,
    /// True if disassembly writes branch targets as distances.
    pub numeric_labels: bool,
    // The functions above are valid as long as the library is loaded.
    _library: Library,
}

impl Iga {
    /// Loads the library for a platform. If there is none, prints a line to standard error and
    /// returns `None`, or fails if `GANTRY_REQUIRE_ORACLES` is 1.
    pub fn open(platform: Platform) -> Option<Iga> {
        match Self::load(generation(platform)) {
            Ok(iga) => Some(iga),
            Err(e) if std::env::var_os("GANTRY_REQUIRE_ORACLES").is_some_and(|v| v == "1") => {
                panic!("libiga64.so.1 is required: {e}")
            }
            Err(e) => {
                eprintln!("skipped: libiga64.so.1 cannot be loaded: {e}");
                None
            }
        }
    }

    fn load(generation: i32) -> Result<Iga, libloading::Error> {
        // SAFETY: the library's initialisers do nothing but set up its own data, and the signatures
        // are those of iga.h.
        unsafe {
            let library = Library::new("libiga64.so.1")?;
            let create: Create = *library.get(b"iga_context_create\0")?;
            let iga = Iga {
                context: std::ptr::null_mut(),
                assemble: *library.get(b"iga_context_assemble\0")?,
                disassemble: *library.get(b"iga_context_disassemble\0")?,
                errors: *library.get(b"iga_context_get_errors\0")?,
                release: *library.get(b"iga_context_release\0")?,
                auto_compact: false,
                auto_dependencies: false,
                numeric_labels: false,
                _library: library,
            };
            let mut iga = iga;
            let options = ContextOptions {
                cb: size_of::<ContextOptions>(),
                generation,
            };
            let status = create(&options, &mut iga.context);
            assert_eq!(status, 0, "iga_context_create");
            Ok(iga)
        }
    }

    /// Returns line and message of every error of the last call.
    fn diagnostics(&self) -> Vec<(u32, String)> {
        let mut list = std::ptr::null();
        let mut n = 0;
        // SAFETY: the context is alive; the list that it gives holds `n` diagnostics until its next
        // call.
        unsafe {
            if (self.errors)(self.context, &mut list, &mut n) != 0 || list.is_null() {
                Vec::new()
            } else {
                std::slice::from_raw_parts(list, n as usize)
                    .iter()
                    .map(|d| {
                        let message = CStr::from_ptr(d.message).to_string_lossy().into_owned();
                        (d.line, message)
                    })
                    .collect()
            }
        }
    }

    fn message(&self, status: Status) -> String {
        let messages: Vec<String> = self.diagnostics().into_iter().map(|d| d.1).collect();
        format!("status {status}: {}", messages.join("; "))
    }
}

impl Drop for Iga {
    fn drop(&mut self) {
        // SAFETY: the context is this value's own and is not used again.
        unsafe {
            (self.release)(self.context);
        }
    }
}

impl Oracle for Iga {
    fn assemble_lines(&mut self, text: &str) -> Result<Vec<u8>, Vec<(u32, String)>> {
        self.assemble(text).map_err(|e| match self.diagnostics() {
            known if known.is_empty() => vec![(0, e)],
            known => known,
        })
    }

    fn assemble(&mut self, text: &str) -> Result<Vec<u8>, String> {
        let text = CString::new(text).map_err(|e| e.to_string())?;
        let options = AssembleOptions {
            cb: size_of::<AssembleOptions>() as u32,
            enabled_warnings: 0,
            // Failed compaction is an error.
            encoder_opts: 4 | u32::from(self.auto_dependencies) << 1 | u32::from(self.auto_compact),
            syntax_opts: 0,
            reserved: [0; 2],
            sbid_count: 16,
            swsb_encode_mode: 0,
        };
        let mut out = std::ptr::null_mut();
        let mut size = 0;
        // SAFETY: every pointer is to a live value; the output belongs to the context until its
        // next call and is copied at once.
        unsafe {
            let status =
                (self.assemble)(self.context, &options, text.as_ptr(), &mut out, &mut size);
            if status != 0 || out.is_null() {
                return Err(self.message(status));
            }
            Ok(std::slice::from_raw_parts(out, size as usize).to_vec())
        }
    }

    fn disassemble(&mut self, bytes: &[u8]) -> Result<String, String> {
        let options = DisassembleOptions {
            cb: size_of::<DisassembleOptions>() as u32,
            // As `iga64 -d` prints: the function of a `bfn` as an expression.
            formatting_opts: 0x80 | u32::from(self.numeric_labels),
            reserved: [0; 2],
            decoder_opts: 0,
            base_pc_offset: 0,
        };
        let mut out = std::ptr::null_mut();
        // SAFETY: as for assembly; without a label function the library names labels itself.
        unsafe {
            let status = (self.disassemble)(
                self.context,
                &options,
                bytes.as_ptr(),
                bytes.len() as u32,
                None,
                std::ptr::null_mut(),
                &mut out,
            );
            if status != 0 || out.is_null() {
                return Err(self.message(status));
            }
            Ok(CStr::from_ptr(out).to_string_lossy().into_owned())
        }
    }
}
