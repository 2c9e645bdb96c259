// What a thread is given: ids, sizes, arguments of every kind. SIMD is the width, where one is asked for.
#ifdef SIMD
#define WIDTH __attribute__((intel_reqd_sub_group_size(SIMD)))
#else
#define WIDTH
#endif

// Eighteen numbers of every work-item.
kernel WIDTH void ids(global int *out) {
  size_t g = (get_global_id(0) - get_global_offset(0)) +
             get_global_size(0) * ((get_global_id(1) - get_global_offset(1)) +
                                   get_global_size(1) * (get_global_id(2) - get_global_offset(2)));
  global int *o = out + g * 20;
  for (uint d = 0; d < 3; d++) {
    o[d] = get_local_id(d);
    o[3 + d] = get_group_id(d);
    o[6 + d] = get_global_id(d);
    o[9 + d] = get_local_size(d);
    o[12 + d] = get_enqueued_local_size(d);
    o[15 + d] = get_num_groups(d);
  }
  o[18] = get_work_dim();
  o[19] = get_global_linear_id();
}

struct Mixed { char c; short s; int i; long l; float f[3]; };

// By-value arguments of all sizes.
kernel WIDTH void values(global long *out, char c, uchar uc, short s, int i, long l, float f, int3 v, struct Mixed m, float16 w) {
  size_t g = get_global_id(0);
  global long *o = out + g * 24;
  o[0] = c; o[1] = uc; o[2] = s; o[3] = i; o[4] = l; o[5] = as_int(f);
  o[6] = v.x; o[7] = v.y; o[8] = v.z;
  o[9] = m.c; o[10] = m.s; o[11] = m.i; o[12] = m.l; o[13] = as_int(m.f[0]); o[14] = as_int(m.f[2]);
  o[15] = as_int(w.s0); o[16] = as_int(w.sf); o[17] = as_int(w.s7);
}

// Static and dynamic SLM, with barriers between.
kernel WIDTH void shared_memory(global const int *in, global int *out, local int *a, local short *b) {
  local int own[256];
  uint i = get_local_id(0), n = get_local_size(0);
  own[i] = in[get_global_id(0)];
  a[i] = own[i] * 3;
  b[i] = (short)i;
  barrier(CLK_LOCAL_MEM_FENCE);
  int s = own[(i + 1) % n] + a[n - 1 - i] + b[(i + 2) % n];
  barrier(CLK_LOCAL_MEM_FENCE);
  own[i] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = own[n - 1 - i];
}

// An array of each work-item, indexed by data.
kernel WIDTH void private_array(global const int *in, global int *out, int n) {
  int a[67];
  int i = get_global_id(0);
  for (int k = 0; k < 67; k++) a[k] = in[(i + k) % n];
  int s = 0;
  for (int k = 0; k < 67; k++) {
    a[(uint)(a[k] + k) % 67] += k;
    s += a[(uint)(k * 7 + i) % 67];
  }
  out[i] = s;
}
