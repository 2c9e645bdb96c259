//! Fake driver, which computes nothing and checks how it is used. Handles are alive. One command at
//! a time has a list, an event or a kernel. Memory is not freed while it is used. Nothing is left.
#![allow(unsafe_code, reason = "it has the signatures of a C library")]

mod checks;
mod images;

use super::api::{
    Code, ContextDesc, CopyRegion, DeviceMemDesc, EventDesc, EventPoolDesc, Functions, GroupCount,
    Handle, HostMemDesc, KernelDesc, KernelTimestamp, ModuleDesc, NOT_READY, QueueDesc,
    TimestampData,
};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Object of the driver.
struct Object {
    kind: &'static str,
    /// Object that it was made from; 0 for a context.
    parent: usize,
    context: usize,
    /// Event of the command that uses it.
    used: Option<usize>,
    /// Arguments of a kernel, with the image or sampler that each is, and the group size and offset
    /// that it has.
    arguments: HashMap<u32, Option<usize>>,
    group: Option<[u32; 3]>,
    offset: [u32; 3],
    /// Size of an image, with its layers, and the bytes of a texel.
    image: Option<([u32; 3], usize)>,
    /// An event that has happened.
    happened: bool,
    /// Waits that find an event not ready before it happens.
    waits: u32,
    memory: Vec<u8>,
}

/// Orders of a test to a context, and records of what was seen there.
#[derive(Default)]
pub(super) struct Behavior {
    /// Result of waits. `NOT_READY` is given until it is changed.
    pub(super) waits: Code,
    /// Result of submissions, but of barriers.
    pub(super) submits: Code,
    /// Number of waits that find a command not ready.
    pub(super) slow: u32,
    pub(super) mistakes: Vec<String>,
    /// Objects that were created, by kind.
    pub(super) created: HashMap<&'static str, usize>,
    /// Largest number of commands at once.
    pub(super) most_at_once: usize,
    /// Calls that destroy and free, in order.
    pub(super) destroyed: Vec<&'static str>,
    /// Launches: work-items of a group, groups, and offset of each.
    pub(super) launched: Vec<[[u32; 3]; 3]>,
}

#[derive(Default)]
struct World {
    objects: HashMap<usize, Object>,
    contexts: HashMap<usize, Behavior>,
}

static WORLD: LazyLock<Mutex<World>> = LazyLock::new(Mutex::default);
static NEXT: AtomicUsize = AtomicUsize::new(1);

fn world() -> MutexGuard<'static, World> {
    WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads or changes the behavior of a context.
pub(super) fn of<T>(context: Handle, f: impl FnOnce(&mut Behavior) -> T) -> T {
    f(world().contexts.entry(context as usize).or_default())
}

/// Lists the kinds of the objects of a context that are alive.
pub(super) fn alive(context: Handle) -> Vec<&'static str> {
    let world = world();
    let of = world
        .objects
        .values()
        .filter(|o| o.context == context as usize);
    let mut kinds: Vec<_> = of.map(|o| o.kind).collect();
    kinds.sort_unstable();
    kinds
}

impl World {
    fn mistake(&mut self, context: usize, what: String) -> Code {
        let behavior = self.contexts.entry(context).or_default();
        behavior.mistakes.push(what);
        0x7800_0004
    }

    fn create(&mut self, kind: &'static str, parent: Handle, out: *mut Handle) -> Code {
        let parent = parent as usize;
        let id = NEXT.fetch_add(1, Ordering::Relaxed) * 64;
        let context = match self.objects.get(&parent) {
            Some(o) => o.context,
            None if kind == "context" => id,
            None => return self.mistake(parent, format!("a {kind} of nothing")),
        };
        let behavior = self.contexts.entry(context).or_default();
        *behavior.created.entry(kind).or_default() += 1;
        self.objects.insert(
            id,
            Object {
                kind,
                parent,
                context,
                used: None,
                arguments: HashMap::new(),
                group: None,
                offset: [0; 3],
                image: None,
                happened: false,
                waits: 0,
                memory: Vec::new(),
            },
        );
        // SAFETY: callers of the driver pass a place for the handle.
        unsafe { *out = id as Handle };
        0
    }

    fn destroy(&mut self, kind: &'static str, handle: usize) -> Code {
        let Some(object) = self.objects.remove(&handle) else {
            return self.mistake(0, format!("a {kind} is destroyed twice"));
        };
        let context = object.context;
        let behavior = self.contexts.entry(context).or_default();
        behavior.destroyed.push(kind);
        if object.kind != kind {
            return self.mistake(context, format!("a {} destroyed as a {kind}", object.kind));
        }
        if object.used.is_some() {
            self.mistake(context, format!("a {kind} destroyed while it is used"));
        }
        if self.objects.values().any(|o| o.parent == handle) {
            self.mistake(
                context,
                format!("a {kind} destroyed before what is made of it"),
            );
        }
        0
    }

    /// Lets a command use objects until its event happens.
    fn submit(&mut self, list: Handle, event: Handle, more: &[usize], takes: bool) -> Code {
        let event = event as usize;
        let Some(context) = self.objects.get(&event).map(|o| o.context) else {
            return self.mistake(0, "a command without an event".to_owned());
        };
        let behavior = self.contexts.entry(context).or_default();
        let (code, slow) = (behavior.submits, behavior.slow);
        if takes && code != 0 {
            return code;
        }
        let own = [list as usize, event];
        for id in own.iter().chain(more) {
            let Some(object) = self.objects.get_mut(id) else {
                self.mistake(context, "a command uses what is destroyed".to_owned());
                continue;
            };
            if object.kind == "event" {
                object.waits = slow;
            }
            // Memory may be used by several, and images and samplers.
            let (kind, twice) = (object.kind, object.used.is_some() || object.happened);
            if object.used.is_none() {
                object.used = Some(event);
            }
            if twice && !["memory", "image", "sampler"].contains(&kind) {
                self.mistake(context, format!("two commands use a {kind}"));
            }
        }
        let used = |o: &&Object| o.context == context && o.kind == "event" && o.used.is_some();
        let now = self.objects.values().filter(used).count();
        let behavior = self.contexts.entry(context).or_default();
        behavior.most_at_once = behavior.most_at_once.max(now);
        0
    }

    /// Returns the memory that an address belongs to.
    fn memory_of(&self, address: *const c_void) -> Option<usize> {
        let inside = |o: &Object| {
            let at = (address as usize).wrapping_sub(o.memory.as_ptr() as usize);
            at < o.memory.len()
        };
        let found = self.objects.iter().find(|(_, o)| inside(o));
        found.map(|(id, _)| *id)
    }

    fn transfer(
        &mut self,
        list: Handle,
        to: *mut c_void,
        from: *const c_void,
        event: Handle,
    ) -> Code {
        let used: Vec<usize> = [to.cast_const(), from]
            .into_iter()
            .filter_map(|at| self.memory_of(at))
            .collect();
        self.submit(list, event, &used, true)
    }

    /// Changes a kernel that no command uses.
    fn kernel(&mut self, kernel: Handle, f: impl FnOnce(&mut Object)) -> Code {
        match self.objects.get_mut(&(kernel as usize)) {
            Some(o) if o.kind == "kernel" && o.used.is_none() => {
                f(o);
                0
            }
            Some(o) => {
                let context = o.context;
                self.mistake(context, "a kernel changed while it is used".to_owned())
            }
            None => self.mistake(0, "a kernel changed that is destroyed".to_owned()),
        }
    }

    fn alloc(&mut self, context: Handle, size: usize, out: *mut *mut c_void) -> Code {
        let mut id: Handle = std::ptr::null_mut();
        let code = self.create("memory", context, &mut id);
        if let Some(o) = self.objects.get_mut(&(id as usize)) {
            o.memory = vec![0; size];
            // SAFETY: callers of the driver pass a place for the address.
            unsafe { *out = o.memory.as_mut_ptr().cast() };
        }
        code
    }
}

/// Waits for an event, for a while at most.
fn wait(event: usize, nanoseconds: u64) -> Code {
    let mut w = world();
    let Some(context) = w.objects.get(&event).map(|o| o.context) else {
        return w.mistake(0, "a wait for an event that is destroyed".to_owned());
    };
    let code = w.contexts.entry(context).or_default().waits;
    let Some(o) = w.objects.get_mut(&event) else {
        return NOT_READY;
    };
    if o.happened {
        return 0;
    }
    let ready = code == 0 && o.used.is_some() && o.waits == 0;
    o.waits = o.waits.saturating_sub(1);
    if ready {
        o.happened = true;
        for o in w.objects.values_mut().filter(|o| o.used == Some(event)) {
            o.used = None;
        }
        return 0;
    }
    drop(w);
    std::thread::sleep(Duration::from_nanos(nanoseconds.min(50_000)));
    if code == 0 { NOT_READY } else { code }
}

unsafe extern "C" fn context_create(_: Handle, _: *const ContextDesc, out: *mut Handle) -> Code {
    world().create("context", std::ptr::null_mut(), out)
}

/// Defines functions that destroy objects of a kind.
macro_rules! destroy {
    ($($name:ident: $kind:literal,)*) => {
        $(unsafe extern "C" fn $name(h: Handle) -> Code {
            world().destroy($kind, h as usize)
        })*
    };
}

destroy! {
    context_destroy: "context",
    event_pool_destroy: "event pool",
    event_destroy: "event",
    list_destroy: "list",
    module_destroy: "module",
    kernel_destroy: "kernel",
    image_destroy: "image",
    sampler_destroy: "sampler",
}

unsafe extern "C" fn event_pool_create(
    c: Handle,
    _: *const EventPoolDesc,
    _: u32,
    _: *mut Handle,
    out: *mut Handle,
) -> Code {
    world().create("event pool", c, out)
}

unsafe extern "C" fn event_create(pool: Handle, _: *const EventDesc, out: *mut Handle) -> Code {
    world().create("event", pool, out)
}

unsafe extern "C" fn event_synchronize(h: Handle, nanoseconds: u64) -> Code {
    wait(h as usize, nanoseconds)
}

unsafe extern "C" fn event_reset(h: Handle) -> Code {
    let mut w = world();
    match w.objects.get_mut(&(h as usize)) {
        Some(o) if o.used.is_none() => {
            o.happened = false;
            0
        }
        _ => w.mistake(0, "an event is reset while it is used".to_owned()),
    }
}

unsafe extern "C" fn event_timestamp(_: Handle, out: *mut KernelTimestamp) -> Code {
    let at = NEXT.fetch_add(64, Ordering::Relaxed) as u64;
    let t = KernelTimestamp {
        global: TimestampData {
            start: at,
            end: at + 32,
        },
        ..KernelTimestamp::default()
    };
    // SAFETY: callers of the driver pass a place for the times.
    unsafe { *out = t };
    0
}

unsafe extern "C" fn list_create_immediate(
    c: Handle,
    _: Handle,
    _: *const QueueDesc,
    out: *mut Handle,
) -> Code {
    world().create("list", c, out)
}

unsafe extern "C" fn list_copy(
    list: Handle,
    to: *mut c_void,
    from: *const c_void,
    _: usize,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    world().transfer(list, to, from, event)
}

unsafe extern "C" fn list_copy_region(
    list: Handle,
    to: *mut c_void,
    _: *const CopyRegion,
    _: u32,
    _: u32,
    from: *const c_void,
    _: *const CopyRegion,
    _: u32,
    _: u32,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    world().transfer(list, to, from, event)
}

unsafe extern "C" fn list_fill(
    list: Handle,
    to: *mut c_void,
    from: *const c_void,
    _: usize,
    _: usize,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    world().transfer(list, to, from, event)
}

unsafe extern "C" fn list_launch(
    list: Handle,
    kernel: Handle,
    count: *const GroupCount,
    event: Handle,
    _: u32,
    _: *mut Handle,
) -> Code {
    // SAFETY: callers of the driver pass a whole count.
    let GroupCount { x, y, z } = unsafe { count.read() };
    let mut w = world();
    let mut used = vec![kernel as usize];
    if let Some(o) = w.objects.get(&(kernel as usize)) {
        let (context, offset) = (o.context, o.offset);
        let arguments = 0..o.arguments.len() as u32;
        let all = arguments.into_iter().all(|n| o.arguments.contains_key(&n));
        let group = o.group.filter(|_| all);
        used.extend(o.arguments.values().flatten());
        match group {
            Some(group) => {
                let behavior = w.contexts.entry(context).or_default();
                behavior.launched.push([group, [x, y, z], offset]);
            }
            None => {
                let what = "a launch without its group or arguments".to_owned();
                w.mistake(context, what);
            }
        }
    }
    w.submit(list, event, &used, true)
}

unsafe extern "C" fn list_barrier(list: Handle, event: Handle, _: u32, _: *mut Handle) -> Code {
    world().submit(list, event, &[], false)
}

unsafe extern "C" fn mem_alloc(
    c: Handle,
    _: *const DeviceMemDesc,
    size: usize,
    _: usize,
    _: Handle,
    out: *mut *mut c_void,
) -> Code {
    world().alloc(c, size, out)
}

unsafe extern "C" fn mem_alloc_host(
    c: Handle,
    _: *const HostMemDesc,
    size: usize,
    _: usize,
    out: *mut *mut c_void,
) -> Code {
    world().alloc(c, size, out)
}

unsafe extern "C" fn mem_alloc_shared(
    c: Handle,
    _: *const DeviceMemDesc,
    _: *const HostMemDesc,
    size: usize,
    _: usize,
    _: Handle,
    out: *mut *mut c_void,
) -> Code {
    world().alloc(c, size, out)
}

unsafe extern "C" fn mem_free(_: Handle, at: *mut c_void) -> Code {
    let mut w = world();
    let id = w.memory_of(at).unwrap_or(0);
    w.destroy("memory", id)
}

unsafe extern "C" fn module_create(
    c: Handle,
    _: Handle,
    _: *const ModuleDesc,
    out: *mut Handle,
    _: *mut Handle,
) -> Code {
    world().create("module", c, out)
}

unsafe extern "C" fn kernel_create(module: Handle, _: *const KernelDesc, out: *mut Handle) -> Code {
    world().create("kernel", module, out)
}

unsafe extern "C" fn kernel_argument(
    kernel: Handle,
    index: u32,
    size: usize,
    value: *const c_void,
) -> Code {
    let mut w = world();
    let mut object = None;
    if size == size_of::<usize>() && !value.is_null() {
        // SAFETY: callers of the driver pass as many bytes as they say.
        let id = unsafe { value.cast::<usize>().read_unaligned() };
        let found = w.objects.get(&id).map(|o| o.kind);
        object = found
            .filter(|kind| ["image", "sampler"].contains(kind))
            .map(|_| id);
    }
    w.kernel(kernel, |o| {
        o.arguments.insert(index, object);
    })
}

unsafe extern "C" fn kernel_group_size(kernel: Handle, x: u32, y: u32, z: u32) -> Code {
    world().kernel(kernel, |o| o.group = Some([x, y, z]))
}

unsafe extern "C" fn kernel_offset(kernel: Handle, x: u32, y: u32, z: u32) -> Code {
    world().kernel(kernel, |o| o.offset = [x, y, z])
}

/// Returns the functions of the driver.
pub(super) fn functions() -> Functions {
    Functions {
        context_create,
        context_destroy,
        event_pool_create,
        event_pool_destroy,
        event_create,
        event_destroy,
        event_synchronize,
        event_reset,
        event_timestamp,
        list_create_immediate,
        list_destroy,
        list_copy,
        list_copy_region,
        list_fill,
        list_launch,
        list_barrier,
        mem_alloc,
        mem_alloc_host,
        mem_alloc_shared,
        mem_free,
        module_create,
        module_destroy,
        kernel_create,
        kernel_destroy,
        kernel_argument,
        kernel_group_size,
        kernel_offset,
        image_create: images::image_create,
        image_destroy,
        list_image_copy: images::list_image_copy,
        list_image_read: images::list_image_read,
        list_image_write: images::list_image_write,
        sampler_create: images::sampler_create,
        sampler_destroy,
        views: vec![
            ("zeImageViewCreateExt", images::no_view_create),
            ("zeImageViewCreateExp", images::view_create),
        ],
        ..Functions::that_do_nothing()
    }
}
