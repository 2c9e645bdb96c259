// A function that asks for what only kernels are told: compiled so that it finds out by implicit arguments.
__attribute__((noinline)) int asks(int n, global int *p) {
  if (n <= 0)
    return (int)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2) + 1000 * get_group_id(0) +
                 10000 * get_num_groups(0) + 100000 * get_global_size(1) + 1000000 * get_global_offset(0));
  return asks(n - 1, p) + p[n] + get_work_dim() + (int)get_local_size(0) * 7;
}
kernel void implicit(global int *o, global int *p) {
  int i = get_global_linear_id();
  o[i] = asks(i & 3, p);
}
