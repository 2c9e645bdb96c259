// What goes wrong.
#define WIDTH __attribute__((intel_reqd_sub_group_size(SIMD)))

kernel WIDTH void out_of_bounds(global int *p, ulong address) {
    ((global int *)address)[get_global_id(0)] = p[0];
}

kernel WIDTH void endless(global volatile int *p) {
    while (p[0] == 0) {}
    p[1] = 1;
}

kernel WIDTH void half_barrier(global int *p) {
    if (get_local_id(0) < SIMD) barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = 1;
}

// Leaves its own array, by so many elements.
kernel WIDTH void private_overflow(global const int *in, global int *out, int by) {
  int a[300];
  int i = get_global_id(0);
  for (int k = 0; k < 300; k++) a[k] = in[(k + i) & 63];
  for (int k = 0; k < 300; k++) a[(in[(k + i) & 63] & 63) + by] += a[k];
  out[i] = a[in[i & 63] & 63];
}

// A frame of its own in private memory for each call.
__attribute__((noinline)) int framed(int n, global int *p) {
  volatile int a[16];
  for (int k = 0; k < 16; k++) a[k] = p[k] + n;
  int r = n == 0 ? p[0] : framed(n - 1, p) + n;
  for (int k = 0; k < 16; k++) r += a[(k + n) & 15];
  return r;
}
kernel WIDTH void frames(global int *o, global int *p) {
  int i = get_global_id(0);
  o[i] = framed(o[i], p);
}

// Nothing but what a call saves: return addresses and registers, in scratch.
__attribute__((noinline)) int deep(int n, global int *p) { return n == 0 ? p[0] : deep(n - 1, p) + n; }
kernel WIDTH void descent(global int *o, global int *p) {
  int i = get_global_id(0);
  o[i] = deep(o[i], p);
}
