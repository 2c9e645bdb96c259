//! Bindings of pocl, an OpenCL of the host's processor, through the ICD loader. They are the
//! suite's only unsafe code: calls into C.
#![allow(
    unsafe_code,
    reason = "OpenCL is a C API, found at run time; every block says why its call is sound"
)]

use libloading::Library;
use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Status = i32;

/// Image, as OpenCL describes it.
#[derive(Clone, Debug)]
pub struct ImageDesc {
    /// `CL_MEM_OBJECT_IMAGE…`.
    pub kind: u32,
    /// `CL_R`, `CL_RGBA`, ….
    pub order: u32,
    /// `CL_UNORM_INT8`, ….
    pub channel: u32,
    /// Pixels in each dimension. An array's layers are in its last one.
    pub size: [usize; 3],
    /// Texels, in tightly packed rows.
    pub data: Vec<u8>,
}

/// Sampler, as OpenCL describes it.
#[derive(Clone, Copy, Debug)]
pub struct SamplerDesc {
    /// True if coordinates go from 0 to 1.
    pub normalized: bool,
    /// `CL_ADDRESS_…`.
    pub address: u32,
    /// `CL_FILTER_…`.
    pub filter: u32,
}

/// Argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Buffer of its own, with these bytes.
    Buffer(Vec<u8>),
    /// Value.
    Value(Vec<u8>),
    /// Local memory of so many bytes.
    Local(usize),
    /// Image of its own.
    Image(ImageDesc),
    /// Sampler.
    Sampler(SamplerDesc),
}

/// Grid of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Work-items in each dimension.
    pub global: [u32; 3],
    /// Work-items of a group.
    pub local: [u32; 3],
    /// First global id.
    pub offset: [u32; 3],
}

pub const IMAGE1D: u32 = 0x10f4;
pub const IMAGE1D_ARRAY: u32 = 0x10f5;
pub const IMAGE1D_BUFFER: u32 = 0x10f6;
pub const IMAGE2D: u32 = 0x10f1;
pub const IMAGE2D_ARRAY: u32 = 0x10f3;
pub const IMAGE3D: u32 = 0x10f2;

#[repr(C)]
struct ImageFormat {
    order: u32,
    channel: u32,
}

#[repr(C)]
struct RawImageDesc {
    kind: u32,
    width: usize,
    height: usize,
    depth: usize,
    array_size: usize,
    row_pitch: usize,
    slice_pitch: usize,
    mip_levels: u32,
    samples: u32,
    memory: Handle,
}

macro_rules! functions {
    ($($name:ident($($t:ty),*) -> $r:ty;)*) => {
       /// Entry points used, as the OpenCL headers declare them.
        #[allow(non_snake_case, reason = "the C names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($t),*) -> $r,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Functions, String> {
                Ok(Functions {$(
                    // SAFETY: the type is that of the function of this name in the OpenCL 1.2
                    // headers.
                    $name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                        .map_err(|e| e.to_string())?,
                )*})
            }
        }
    };
}

functions! {
    clGetPlatformIDs(u32, *mut Handle, *mut u32) -> Status;
    clGetPlatformInfo(Handle, u32, usize, *mut c_void, *mut usize) -> Status;
    clGetDeviceIDs(Handle, u64, u32, *mut Handle, *mut u32) -> Status;
    clCreateContext(*const isize, u32, *const Handle, *const c_void, *mut c_void, *mut Status) -> Handle;
    clCreateCommandQueue(Handle, Handle, u64, *mut Status) -> Handle;
    clCreateProgramWithSource(Handle, u32, *const *const c_char, *const usize, *mut Status) -> Handle;
    clBuildProgram(Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void) -> Status;
    clGetProgramBuildInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize) -> Status;
    clCreateKernel(Handle, *const c_char, *mut Status) -> Handle;
    clSetKernelArg(Handle, u32, usize, *const c_void) -> Status;
    clCreateBuffer(Handle, u64, usize, *mut c_void, *mut Status) -> Handle;
    clCreateImage(Handle, u64, *const ImageFormat, *const RawImageDesc, *mut c_void, *mut Status) -> Handle;
    clCreateSampler(Handle, u32, u32, u32, *mut Status) -> Handle;
    clEnqueueNDRangeKernel(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, *mut Handle) -> Status;
    clEnqueueReadBuffer(Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> Status;
    clEnqueueReadImage(Handle, Handle, u32, *const usize, *const usize, usize, usize, *mut c_void, u32, *const Handle, *mut Handle) -> Status;
    clFinish(Handle) -> Status;
    clReleaseMemObject(Handle) -> Status;
    clReleaseSampler(Handle) -> Status;
    clReleaseKernel(Handle) -> Status;
    clReleaseProgram(Handle) -> Status;
}

/// First device of pocl.
pub struct Pocl {
    f: Functions,
    device: Handle,
    context: Handle,
    queue: Handle,
    /// Library of the functions.
    _library: Library,
}

// SAFETY: OpenCL's objects may be used from any thread. Calls on one kernel object are not made
// from two.
unsafe impl Send for Pocl {}

/// Program that was built.
pub struct Program(Handle);

// SAFETY: as for `Pocl`.
unsafe impl Send for Program {}

fn ok(status: Status, what: &str) -> Result<(), String> {
    match status {
        0 => Ok(()),
        code => Err(format!("{what}: OpenCL error {code}")),
    }
}

fn made(handle: Handle, status: Status, what: &str) -> Result<Handle, String> {
    ok(status, what)?;
    if handle.is_null() {
        return Err(format!("{what}: nothing made"));
    }
    Ok(handle)
}

impl Pocl {
    /// Finds pocl among the platforms of the ICD loader.
    pub fn open() -> Result<Pocl, String> {
        // SAFETY: the loader's initialization requires nothing of its caller.
        let library = unsafe { Library::new("libOpenCL.so.1") }.map_err(|e| e.to_string())?;
        let f = Functions::load(&library)?;
        let mut platforms = [null_mut(); 16];
        let mut count = 0;
        // SAFETY: the array has room for 16.
        let status = unsafe { (f.clGetPlatformIDs)(16, platforms.as_mut_ptr(), &raw mut count) };
        ok(status, "clGetPlatformIDs")?;
        let mut found = platforms.iter().take(count as usize).filter(|p| {
            let mut name = [0u8; 256];
            // SAFETY: the platform is one of those given; CL_PLATFORM_NAME goes into 256 bytes or
            // fails.
            let status = unsafe {
                (f.clGetPlatformInfo)(**p, 0x902, 256, name.as_mut_ptr().cast(), null_mut())
            };
            status == 0 && name.starts_with(b"Portable Computing Language\0")
        });
        let platform = *found.next().ok_or("pocl is not among OpenCL's platforms")?;
        let mut device = null_mut();
        // SAFETY: room for one device of any kind.
        let status =
            unsafe { (f.clGetDeviceIDs)(platform, 0xffff_ffff, 1, &raw mut device, null_mut()) };
        ok(status, "clGetDeviceIDs")?;
        let mut status = 0;
        // SAFETY: one device, no properties, no callback.
        let context = unsafe {
            (f.clCreateContext)(
                null(),
                1,
                &raw const device,
                null(),
                null_mut(),
                &raw mut status,
            )
        };
        let context = made(context, status, "clCreateContext")?;
        // SAFETY: the context has this device.
        let queue = unsafe { (f.clCreateCommandQueue)(context, device, 0, &raw mut status) };
        let queue = made(queue, status, "clCreateCommandQueue")?;
        Ok(Pocl {
            f,
            device,
            context,
            queue,
            _library: library,
        })
    }

    /// Compiles OpenCL C. An error is the compiler's log.
    pub fn build(&self, source: &str, options: &str) -> Result<Program, String> {
        let options = CString::new(options).map_err(|e| e.to_string())?;
        let (text, length) = (source.as_ptr().cast::<c_char>(), source.len());
        let mut status = 0;
        // SAFETY: one string of that length.
        let program = unsafe {
            (self.f.clCreateProgramWithSource)(
                self.context,
                1,
                &raw const text,
                &raw const length,
                &raw mut status,
            )
        };
        let program = Program(made(program, status, "clCreateProgramWithSource")?);
        // SAFETY: the program is of this context; no callback.
        let status = unsafe {
            (self.f.clBuildProgram)(
                program.0,
                1,
                &raw const self.device,
                options.as_ptr(),
                null(),
                null_mut(),
            )
        };
        if status == 0 {
            return Ok(program);
        }
        let mut log = vec![0u8; 1 << 16];
        let mut length = 0;
        // SAFETY: CL_PROGRAM_BUILD_LOG goes into that many bytes or fails.
        unsafe {
            (self.f.clGetProgramBuildInfo)(
                program.0,
                self.device,
                0x1183,
                log.len(),
                log.as_mut_ptr().cast(),
                &raw mut length,
            );
            (self.f.clReleaseProgram)(program.0);
        }
        log.truncate(length);
        Err(String::from_utf8_lossy(&log).into_owned())
    }

    /// Runs a kernel to its end. Returns the contents of each buffer and image afterwards, in the
    /// arguments' order.
    pub fn run(
        &self,
        program: &Program,
        kernel: &str,
        args: &[Arg],
        range: Range,
    ) -> Result<Vec<Vec<u8>>, String> {
        self.run_often(program, kernel, args, range, 1)
    }

    /// Runs a kernel so many times, each after the other, and waits for the last.
    pub fn run_often(
        &self,
        program: &Program,
        kernel: &str,
        args: &[Arg],
        range: Range,
        times: usize,
    ) -> Result<Vec<Vec<u8>>, String> {
        let name = CString::new(kernel).map_err(|e| e.to_string())?;
        let mut status = 0;
        // SAFETY: the program is built, the name a C string.
        let kernel = unsafe { (self.f.clCreateKernel)(program.0, name.as_ptr(), &raw mut status) };
        let kernel = made(kernel, status, "clCreateKernel")?;
        let mut objects = Vec::new();
        let result = self.run_kernel(kernel, args, (range, times), &mut objects);
        for o in objects {
            // SAFETY: each was made by the call that its variant names, and is released once.
            unsafe {
                match o {
                    Object::Memory(m) => (self.f.clReleaseMemObject)(m),
                    Object::Sampler(s) => (self.f.clReleaseSampler)(s),
                };
            }
        }
        // SAFETY: made above, and used no more.
        unsafe { (self.f.clReleaseKernel)(kernel) };
        result
    }

    fn run_kernel(
        &self,
        kernel: Handle,
        args: &[Arg],
        (range, times): (Range, usize),
        objects: &mut Vec<Object>,
    ) -> Result<Vec<Vec<u8>>, String> {
        for (i, arg) in args.iter().enumerate() {
            let set = |size: usize, value: *const c_void| {
                // SAFETY: `value` has `size` bytes, or is null for local memory.
                let status = unsafe { (self.f.clSetKernelArg)(kernel, i as u32, size, value) };
                ok(status, &format!("clSetKernelArg({i})"))
            };
            let mut object = match arg {
                Arg::Value(bytes) => {
                    set(bytes.len(), bytes.as_ptr().cast())?;
                    continue;
                }
                Arg::Local(bytes) => {
                    set(*bytes, null())?;
                    continue;
                }
                Arg::Buffer(bytes) => Object::Memory(self.buffer(bytes)?),
                Arg::Image(image) => self.image(image, objects)?,
                Arg::Sampler(s) => {
                    let mut status = 0;
                    // SAFETY: plain numbers.
                    let sampler = unsafe {
                        (self.f.clCreateSampler)(
                            self.context,
                            u32::from(s.normalized),
                            s.address,
                            s.filter,
                            &raw mut status,
                        )
                    };
                    Object::Sampler(made(sampler, status, "clCreateSampler")?)
                }
            };
            let handle: *const Handle = object.handle();
            let result = set(size_of::<Handle>(), handle.cast());
            objects.push(object);
            result?;
        }
        let sizes = |a: [u32; 3]| a.map(|n| n as usize);
        let (global, local, offset) =
            (sizes(range.global), sizes(range.local), sizes(range.offset));
        let several = |d: usize| global[d] > 1 || local[d] > 1;
        let dimensions = match (several(1), several(2)) {
            (_, true) => 3,
            (true, false) => 2,
            (false, false) => 1,
        };
        for _ in 0..times {
            // SAFETY: three sizes each; every argument was set; nothing to wait for.
            let status = unsafe {
                (self.f.clEnqueueNDRangeKernel)(
                    self.queue,
                    kernel,
                    dimensions,
                    offset.as_ptr(),
                    global.as_ptr(),
                    local.as_ptr(),
                    0,
                    null(),
                    null_mut(),
                )
            };
            ok(status, "clEnqueueNDRangeKernel")?;
        }
        // SAFETY: the queue is alive.
        ok(unsafe { (self.f.clFinish)(self.queue) }, "clFinish")?;
        let memories = objects.iter().filter_map(|o| match o {
            Object::Memory(m) => Some(*m),
            Object::Sampler(_) => None,
        });
        let mut memories = memories;
        let mut results = Vec::new();
        for arg in args {
            match arg {
                Arg::Buffer(bytes) => {
                    let memory = memories.next().ok_or("a buffer is missing")?;
                    results.push(self.read_buffer(memory, bytes.len())?);
                }
                Arg::Image(image) if image.kind == IMAGE1D_BUFFER => {
                    // The buffer itself comes first.
                    let memory = memories.next().ok_or("a buffer is missing")?;
                    memories.next();
                    results.push(self.read_buffer(memory, image.data.len())?);
                }
                Arg::Image(image) => {
                    let memory = memories.next().ok_or("an image is missing")?;
                    results.push(self.read_image(memory, image)?);
                }
                _ => {}
            }
        }
        Ok(results)
    }

    fn buffer(&self, bytes: &[u8]) -> Result<Handle, String> {
        let mut status = 0;
        // SAFETY: CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR: the bytes are copied before the call
        // returns.
        let buffer = unsafe {
            (self.f.clCreateBuffer)(
                self.context,
                1 | 1 << 5,
                bytes.len(),
                bytes.as_ptr().cast_mut().cast(),
                &raw mut status,
            )
        };
        made(buffer, status, "clCreateBuffer")
    }

    /// Creates an image. The buffer of an image over a buffer goes to `objects` before it.
    fn image(&self, image: &ImageDesc, objects: &mut Vec<Object>) -> Result<Object, String> {
        let format = ImageFormat {
            order: image.order,
            channel: image.channel,
        };
        // pocl reads sizes that the type does not have.
        let [width, y, z] = image.size;
        let (height, depth, array_size) = match image.kind {
            IMAGE1D_ARRAY => (0, 0, y),
            IMAGE2D => (y, 0, 0),
            IMAGE2D_ARRAY => (y, 0, z),
            IMAGE3D => (y, z, 0),
            _ => (0, 0, 0),
        };
        let mut raw = RawImageDesc {
            kind: image.kind,
            width,
            height,
            depth,
            array_size,
            row_pitch: 0,
            slice_pitch: 0,
            mip_levels: 0,
            samples: 0,
            memory: null_mut(),
        };
        let mut data = image.data.as_ptr().cast_mut().cast::<c_void>();
        let mut flags = 1 | 1 << 5;
        if image.kind == IMAGE1D_BUFFER {
            raw.memory = self.buffer(&image.data)?;
            objects.push(Object::Memory(raw.memory));
            data = null_mut();
            flags = 1;
        }
        let mut status = 0;
        // SAFETY: the data has as many bytes as format and size imply (the spec ensures it), and is
        // copied.
        let handle = unsafe {
            (self.f.clCreateImage)(
                self.context,
                flags,
                &raw const format,
                &raw const raw,
                data,
                &raw mut status,
            )
        };
        Ok(Object::Memory(made(handle, status, "clCreateImage")?))
    }

    fn read_buffer(&self, memory: Handle, bytes: usize) -> Result<Vec<u8>, String> {
        let mut out = vec![0u8; bytes];
        // SAFETY: a blocking read into as many bytes.
        let status = unsafe {
            (self.f.clEnqueueReadBuffer)(
                self.queue,
                memory,
                1,
                0,
                bytes,
                out.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        ok(status, "clEnqueueReadBuffer")?;
        Ok(out)
    }

    fn read_image(&self, memory: Handle, image: &ImageDesc) -> Result<Vec<u8>, String> {
        let mut out = vec![0u8; image.data.len()];
        let origin = [0usize; 3];
        // SAFETY: a blocking read of the whole image, tightly packed, into as many bytes.
        let status = unsafe {
            (self.f.clEnqueueReadImage)(
                self.queue,
                memory,
                1,
                origin.as_ptr(),
                image.size.as_ptr(),
                0,
                0,
                out.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        ok(status, "clEnqueueReadImage")?;
        Ok(out)
    }
}

enum Object {
    Memory(Handle),
    Sampler(Handle),
}

impl Object {
    fn handle(&mut self) -> *const Handle {
        match self {
            Object::Memory(h) | Object::Sampler(h) => h,
        }
    }
}

/// Sets the directory of pocl's compiled code before pocl is loaded, so that tests leave the home
/// directory alone.
pub fn keep_compiled_in(dir: &std::path::Path) {
    // SAFETY: called once, before OpenCL is loaded. No C code of this process reads the environment
    // yet, and Rust's own reads share the lock of `set_var`.
    unsafe { std::env::set_var("POCL_CACHE_DIR", dir) };
}
