// Built-in functions of extensions: bits, clocks, copies, 64-bit local atomics, pipes.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))
#define BUILTIN __attribute__((overloadable))
ulong BUILTIN intel_get_cycle_counter(void);
uint BUILTIN intel_get_eu_id(void);
uint BUILTIN intel_get_eu_thread_id(void);
uint BUILTIN intel_get_hw_thread_id(void);
uint BUILTIN intel_get_slice_id(void);
uint BUILTIN intel_get_subslice_id(void);
int BUILTIN intel_bfi(int, int, uint, uint);
int BUILTIN intel_sbfe(int, uint, uint);
uint BUILTIN intel_ubfe(uint, uint, uint);
uint BUILTIN intel_bfrev(uint);
int BUILTIN bit_reverse(int);
ulong BUILTIN bit_reverse(ulong);
ushort BUILTIN bit_reverse(ushort);

SG kernel void bit_functions(global int *out, global const int *in, global ulong *q) {
    size_t i = get_global_id(0);
    int x = in[i];
    int r = intel_bfi(x, ~x, 3, 9) + 3 * intel_sbfe(x, 5, 11) + 5 * (int)intel_ubfe(x, 7, 13) + 7 * (int)intel_bfrev(x);
    out[i] = r + 9 * bit_reverse(x ^ 0x1234) + bit_reverse((ushort)x);
    q[i] = bit_reverse(q[i]);
}

// Counts go on, and say nothing of how fast.
SG kernel void clocks(global int *out) {
    ulong before = intel_get_cycle_counter();
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong after = intel_get_cycle_counter();
    out[get_global_id(0)] = before < after && after - before < 1000000;
}

SG kernel void where_it_runs(global int *out) {
    uint t = intel_get_hw_thread_id();
    bool fine = intel_get_eu_id() < 16 && intel_get_eu_thread_id() < 8 && intel_get_slice_id() < 8 && intel_get_subslice_id() < 64;
    out[get_global_id(0)] = fine && t < 65536 && t == sub_group_broadcast(t, 0);
}

SG kernel void copies(global int *out, global int *in, local int *l) {
    size_t g = get_group_id(0) * 64;
    event_t e = async_work_group_copy(l, in + g, 64, 0);
    e = async_work_group_strided_copy(l + 64, in + g, 16, 3, e);
    prefetch(in + g, 64);
    wait_group_events(1, &e);
    uint i = get_local_id(0);
    out[get_global_id(0)] = l[63 - i] + l[64 + i % 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8) l[i] = i + 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_strided_copy(in + g, l, 8, 5, 0);
    wait_group_events(1, &e);
}
