// What a loader has a part in: constants, globals, strings, functions.
#ifdef SIMD
#define WIDTH __attribute__((intel_reqd_sub_group_size(SIMD)))
#else
#define WIDTH
#endif

constant int tab[8] = {1, 2, 3, 5, 8, 13, 21, 34};
constant int *constant ptrs[2] = {&tab[2], &tab[4]};
global int counter = 7;
global int zeros[300];
global int words[3] = {10, 20, 30};
global int *global where = &words[1];

// Constants, pointers in constants, and globals that keep what launches write.
kernel WIDTH void data(global int *o) {
  int i = get_global_id(0);
  o[i] = tab[i & 7] * 1000 + ptrs[i & 1][(i >> 1) & 1] + zeros[i] + words[i % 3] + *where;
  zeros[i] += i;
  atomic_add(&counter, 1);
}
kernel WIDTH void total(global int *o) {
  if (get_global_id(0) == 0) {
    o[0] = counter;
    where = &words[2];
  }
}

kernel WIDTH void print(global int *o, int who) {
  int i = get_global_id(0);
  if (i == who) {
    printf("plain %% \\n\n");
    printf("%c %hd %hhd %u %x %5.2f|%-8d|%+d|%e|%g|%a\n", 'z', (short)-3, (char)-4, 4000000000u, 255, 3.25f, 42, 7, 1.5f, 0.0001f, 1.0f);
    printf("%v4d %v3f %v2hhd %v2hld %v8hx %v2ld\n", (int4)(1, 2, 3, -4), (float3)(1, 2, 3.5f), (char2)(-1, 1),
           (int2)(3, -4), (short8)(1, 2, 3, 4, 5, 6, 7, -8), (long2)(5, -6));
    printf("%s|%10s|%s|%-6s|\n", "literal", "padded", o[0] ? "yes" : "no", "left");
    printf("%lx %ld %lu %5d\n", 0x123456789abcdefL, -5L, 5UL, 12);
  }
}
kernel WIDTH void print_all(global int *o) { printf("item %d\n", (int)get_global_id(0)); }

__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
kernel WIDTH void recursion(global int *o) {
  int i = get_global_id(0);
  o[i] = fib(o[i]);
}

__attribute__((noinline)) int leaf(int n, global int *p) { return n * 3 + p[n & 7]; }
kernel WIDTH void calls(global int *o, global int *p) {
  int i = get_global_id(0);
  o[i] = (i & 1) ? leaf(i, p) : leaf(i * 2, p + 1);
}
