//! Declarations of `level_zero/ze_api.h` that are used here: structures, functions, result codes.
//!
//! The facts are those of the oneAPI Level Zero loader, version 1.
#![allow(unsafe_code, reason = "the driver is a C library, found at run time")]

use super::host::loader;
use crate::error::Error;
use libloading::Library;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

pub(super) type Handle = *mut c_void;
pub(super) type Code = u32;

#[repr(C)]
pub(super) struct ContextDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
}

#[repr(C)]
pub(super) struct ModuleDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) format: u32,
    pub(super) size: usize,
    pub(super) input: *const u8,
    pub(super) flags: *const c_char,
    pub(super) constants: *const c_void,
}

#[repr(C)]
pub(super) struct KernelDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
    pub(super) name: *const c_char,
}

#[repr(C)]
pub(super) struct EventPoolDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
    pub(super) count: u32,
}

#[repr(C)]
pub(super) struct EventDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) index: u32,
    pub(super) signal: u32,
    pub(super) wait: u32,
}

/// Readings of a timer.
#[repr(C)]
#[derive(Default)]
pub(super) struct TimestampData {
    pub(super) start: u64,
    pub(super) end: u64,
}

#[repr(C)]
#[derive(Default)]
pub(super) struct KernelTimestamp {
    pub(super) global: TimestampData,
    /// Those of the context, whose timer stands still while others run.
    pub(super) context: TimestampData,
}

/// Box of bytes, or of an image's texels.
#[repr(C)]
pub(super) struct CopyRegion {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) z: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) depth: u32,
}

/// Layout of an image's texels: components, their type, and what kernels see of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct FormatDesc {
    pub(super) layout: u32,
    pub(super) ty: u32,
    pub(super) swizzle: [u32; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ImageDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
    pub(super) ty: u32,
    pub(super) format: FormatDesc,
    pub(super) width: u64,
    pub(super) height: u32,
    pub(super) depth: u32,
    pub(super) layers: u32,
    pub(super) levels: u32,
}

#[repr(C)]
pub(super) struct SamplerDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) address: u32,
    pub(super) filter: u32,
    pub(super) normalized: u8,
}

#[repr(C)]
pub(super) struct QueueDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) ordinal: u32,
    pub(super) index: u32,
    pub(super) flags: u32,
    pub(super) mode: u32,
    pub(super) priority: u32,
}

#[repr(C)]
pub(super) struct DeviceMemDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
    pub(super) ordinal: u32,
}

#[repr(C)]
pub(super) struct HostMemDesc {
    pub(super) stype: u32,
    pub(super) next: *const c_void,
    pub(super) flags: u32,
}

#[repr(C)]
pub(super) struct GroupCount {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) z: u32,
}

#[repr(C)]
pub(super) struct DeviceProperties {
    pub(super) stype: u32,
    pub(super) next: *mut c_void,
    pub(super) ty: u32,
    pub(super) vendor: u32,
    pub(super) device: u32,
    pub(super) flags: u32,
    pub(super) subdevice: u32,
    pub(super) core_clock: u32,
    pub(super) max_alloc: u64,
    pub(super) max_contexts: u32,
    pub(super) max_priority: u32,
    pub(super) threads_per_eu: u32,
    pub(super) simd_width: u32,
    pub(super) eus_per_subslice: u32,
    pub(super) subslices_per_slice: u32,
    pub(super) slices: u32,
    pub(super) timer_resolution: u64,
    pub(super) timestamp_bits: u32,
    pub(super) kernel_timestamp_bits: u32,
    pub(super) uuid: [u8; 16],
    pub(super) name: [u8; 256],
}

impl DeviceProperties {
    /// Type of the structure as the first version of Level Zero has it.
    pub(super) const V1: u32 = 3;
    /// Type of the structure of version 1.2, whose timer resolution is in ticks of a second.
    pub(super) const V1_2: u32 = 0x2_0006;

    /// Returns a structure for the driver to fill in.
    pub(super) fn empty(stype: u32) -> DeviceProperties {
        DeviceProperties {
            stype,
            next: null_mut(),
            ty: 0,
            vendor: 0,
            device: 0,
            flags: 0,
            subdevice: 0,
            core_clock: 0,
            max_alloc: 0,
            max_contexts: 0,
            max_priority: 0,
            threads_per_eu: 0,
            simd_width: 0,
            eus_per_subslice: 0,
            subslices_per_slice: 0,
            slices: 0,
            timer_resolution: 0,
            timestamp_bits: 0,
            kernel_timestamp_bits: 0,
            uuid: [0; 16],
            name: [0; 256],
        }
    }
}

/// Function that creates a view of an image.
pub(super) type ViewCreate =
    unsafe extern "C" fn(Handle, Handle, *const ImageDesc, Handle, *mut Handle) -> Code;

macro_rules! api {
    ($($field:ident = $name:literal : fn($($arg:ty),*);)*) => {
        /// Functions of the loader, looked up once. The library stays loaded as long as they are
        /// used.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($arg),*) -> Code,)*
            /// Functions that create views of images, which not every loader has.
            pub(super) views: Vec<(&'static str, ViewCreate)>,
            pub(super) _library: Option<Library>,
        }

        impl Functions {
            pub(super) fn load() -> Result<Functions, Error> {
                let loader = loader(&target_lexicon::HOST)?;
                // SAFETY: loading the Level Zero loader runs its initialisers, which are made to
                // run in any process.
                let library = unsafe { Library::new(loader) }
                    .map_err(|e| Error::NoDevice(format!("looked for {loader}: {e}")))?;
                $(
                    // SAFETY: the signature is the one that ze_api.h declares for this name.
                    let $field = *unsafe {
                        library.get::<unsafe extern "C" fn($($arg),*) -> Code>($name)
                    }
                    .map_err(|e| Error::NoDevice(format!("{loader}: {e}")))?;
                )*
                let mut views = Vec::new();
                for (call, name) in [
                    ("zeImageViewCreateExt", b"zeImageViewCreateExt\0"),
                    ("zeImageViewCreateExp", b"zeImageViewCreateExp\0"),
                ] {
                    // SAFETY: the signature is the one that ze_api.h declares for both names.
                    if let Ok(f) = unsafe { library.get::<ViewCreate>(name) } {
                        views.push((call, *f));
                    }
                }
                Ok(Functions { $($field,)* views, _library: Some(library) })
            }

            /// Returns functions that do nothing and succeed.
            #[cfg(test)]
            pub(super) fn that_do_nothing() -> Functions {
                $(
                    unsafe extern "C" fn $field($(_: $arg),*) -> Code {
                        0
                    }
                )*
                Functions { $($field,)* views: Vec::new(), _library: None }
            }
        }
    };
}

api! {
    init = b"zeInit\0": fn(u32);
    driver_get = b"zeDriverGet\0": fn(*mut u32, *mut Handle);
    device_get = b"zeDeviceGet\0": fn(Handle, *mut u32, *mut Handle);
    device_properties = b"zeDeviceGetProperties\0": fn(Handle, *mut DeviceProperties);
    context_create = b"zeContextCreate\0": fn(Handle, *const ContextDesc, *mut Handle);
    context_destroy = b"zeContextDestroy\0": fn(Handle);
    event_pool_create = b"zeEventPoolCreate\0":
        fn(Handle, *const EventPoolDesc, u32, *mut Handle, *mut Handle);
    event_pool_destroy = b"zeEventPoolDestroy\0": fn(Handle);
    event_create = b"zeEventCreate\0": fn(Handle, *const EventDesc, *mut Handle);
    event_destroy = b"zeEventDestroy\0": fn(Handle);
    event_synchronize = b"zeEventHostSynchronize\0": fn(Handle, u64);
    event_reset = b"zeEventHostReset\0": fn(Handle);
    event_timestamp = b"zeEventQueryKernelTimestamp\0": fn(Handle, *mut KernelTimestamp);
    list_create_immediate = b"zeCommandListCreateImmediate\0":
        fn(Handle, Handle, *const QueueDesc, *mut Handle);
    list_destroy = b"zeCommandListDestroy\0": fn(Handle);
    list_copy = b"zeCommandListAppendMemoryCopy\0":
        fn(Handle, *mut c_void, *const c_void, usize, Handle, u32, *mut Handle);
    list_copy_region = b"zeCommandListAppendMemoryCopyRegion\0":
        fn(Handle, *mut c_void, *const CopyRegion, u32, u32, *const c_void, *const CopyRegion, u32,
           u32, Handle, u32, *mut Handle);
    list_fill = b"zeCommandListAppendMemoryFill\0":
        fn(Handle, *mut c_void, *const c_void, usize, usize, Handle, u32, *mut Handle);
    list_launch = b"zeCommandListAppendLaunchKernel\0":
        fn(Handle, Handle, *const GroupCount, Handle, u32, *mut Handle);
    list_barrier = b"zeCommandListAppendBarrier\0": fn(Handle, Handle, u32, *mut Handle);
    image_create = b"zeImageCreate\0": fn(Handle, Handle, *const ImageDesc, *mut Handle);
    image_destroy = b"zeImageDestroy\0": fn(Handle);
    list_image_copy = b"zeCommandListAppendImageCopyRegion\0":
        fn(Handle, Handle, Handle, *const CopyRegion, *const CopyRegion, Handle, u32, *mut Handle);
    list_image_read = b"zeCommandListAppendImageCopyToMemory\0":
        fn(Handle, *mut c_void, Handle, *const CopyRegion, Handle, u32, *mut Handle);
    list_image_write = b"zeCommandListAppendImageCopyFromMemory\0":
        fn(Handle, Handle, *const c_void, *const CopyRegion, Handle, u32, *mut Handle);
    sampler_create = b"zeSamplerCreate\0": fn(Handle, Handle, *const SamplerDesc, *mut Handle);
    sampler_destroy = b"zeSamplerDestroy\0": fn(Handle);
    mem_alloc = b"zeMemAllocDevice\0":
        fn(Handle, *const DeviceMemDesc, usize, usize, Handle, *mut *mut c_void);
    mem_alloc_host = b"zeMemAllocHost\0":
        fn(Handle, *const HostMemDesc, usize, usize, *mut *mut c_void);
    mem_alloc_shared = b"zeMemAllocShared\0":
        fn(Handle, *const DeviceMemDesc, *const HostMemDesc, usize, usize, Handle,
           *mut *mut c_void);
    mem_free = b"zeMemFree\0": fn(Handle, *mut c_void);
    module_create = b"zeModuleCreate\0":
        fn(Handle, Handle, *const ModuleDesc, *mut Handle, *mut Handle);
    module_destroy = b"zeModuleDestroy\0": fn(Handle);
    log_string = b"zeModuleBuildLogGetString\0": fn(Handle, *mut usize, *mut c_char);
    log_destroy = b"zeModuleBuildLogDestroy\0": fn(Handle);
    kernel_create = b"zeKernelCreate\0": fn(Handle, *const KernelDesc, *mut Handle);
    kernel_destroy = b"zeKernelDestroy\0": fn(Handle);
    kernel_argument = b"zeKernelSetArgumentValue\0": fn(Handle, u32, usize, *const c_void);
    kernel_group_size = b"zeKernelSetGroupSize\0": fn(Handle, u32, u32, u32);
    kernel_indirect = b"zeKernelSetIndirectAccess\0": fn(Handle, u32);
    kernel_offset = b"zeKernelSetGlobalOffsetExp\0": fn(Handle, u32, u32, u32);
}

/// Result of a wait that timed out.
pub(super) const NOT_READY: Code = 1;

/// Result of a call that the driver does not have.
pub(super) const UNSUPPORTED_FEATURE: Code = 0x7800_0003;

/// Result of a call on a device that no longer works.
pub(super) const DEVICE_LOST: Code = 0x7000_0001;

/// Formats a result code by its name.
pub(super) fn code_name(code: Code) -> String {
    let name = match code {
        NOT_READY => "ZE_RESULT_NOT_READY",
        DEVICE_LOST => "ZE_RESULT_ERROR_DEVICE_LOST",
        0x7000_0002 => "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
        0x7000_0003 => "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
        0x7000_0004 => "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        0x7000_0005 => "ZE_RESULT_ERROR_MODULE_LINK_FAILURE",
        0x7802_0000 | 0x7002_0000 => "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE",
        0x7800_0001 => "ZE_RESULT_ERROR_UNINITIALIZED",
        0x7800_0002 => "ZE_RESULT_ERROR_UNSUPPORTED_VERSION",
        UNSUPPORTED_FEATURE => "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        0x7800_0004 => "ZE_RESULT_ERROR_INVALID_ARGUMENT",
        0x7800_0005 => "ZE_RESULT_ERROR_INVALID_NULL_HANDLE",
        0x7800_0007 => "ZE_RESULT_ERROR_INVALID_NULL_POINTER",
        0x7800_0008 => "ZE_RESULT_ERROR_INVALID_SIZE",
        0x7800_0009 => "ZE_RESULT_ERROR_UNSUPPORTED_SIZE",
        0x7800_000c => "ZE_RESULT_ERROR_INVALID_ENUMERATION",
        0x7800_000e => "ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT",
        0x7800_000f => "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY",
        0x7800_0011 => "ZE_RESULT_ERROR_INVALID_KERNEL_NAME",
        0x7800_0013 => "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION",
        0x7800_0014 => "ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION",
        0x7800_0015 => "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX",
        0x7800_0016 => "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE",
        0x7800_0018 => "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED",
        0x7fff_fffe => "ZE_RESULT_ERROR_UNKNOWN",
        _ => return format!("{code:#010x}"),
    };
    format!("{name} ({code:#010x})")
}

pub(super) fn check(call: &'static str, code: Code) -> Result<(), Error> {
    if code == 0 {
        return Ok(());
    }
    Err(Error::Driver {
        call,
        code: code_name(code),
        log: String::new(),
    })
}
