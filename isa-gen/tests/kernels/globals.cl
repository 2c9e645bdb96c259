// Variables of the program, and initializers that hold addresses. They keep what is written from launch to launch: no two kernels write to
// one but the last two, to two places, and what a kernel writes, it writes once.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

typedef struct {
    int key;
    global int *cell;
    char tag;
    constant int *row;
} Entry;

constant int rows[3][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}};
constant char *constant names[] = {"zero", "one", "two", "three", "four", "five and more"};

global int cells[64] = {5, 6, 7};
global uint zeros[40];

// Each work-item has its own cell: what it stores it reads.
SG kernel void write_cells(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int before = cells[i] + (int)zeros[i % 40];
    cells[i] = in[i] * 3;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    out[i] = cells[i] + before;
}

global int counter = 1000;
global int bins[8];

// All count, and no two get one number.
SG kernel void count(global int *out, global const int *in, local int *order) {
    size_t i = get_local_id(0);
    int mine = atomic_add(&counter, 1 + (in[i] & 1));
    order[i] = mine;
    int early = bins[i & 7] & 1024;
    atomic_add(&bins[in[i] & 7], 1024);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    int same = 0;
    for (size_t k = 0; k < get_local_size(0); k++) same += order[k] == mine;
    out[i] = counter + bins[i & 7] + (same << 24) + (early & 1);
}

SG kernel void spell(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    constant char *name = names[(uint)in[i] % 6];
    int sum = 0;
    for (int k = 0; name[k]; k++) sum = (sum ^ name[k]) * 31;
    out[i] = sum;
}

global int targets[4] = {11, 22, 33, 44};
constant Entry entries[] = {{3, targets + 1, 'a', rows[2]}, {-4, &targets[3], 'b', &rows[1][2]}, {9, 0, 'c', rows[0]}};

SG kernel void follow(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    constant Entry *e = &entries[(uint)in[i] % 3];
    int v = e->key + e->tag + e->row[1];
    if (e->cell) v += *e->cell;
    out[i] = v;
}

global int places[8] = {50, 51, 52, 53};
global int *global cursor = places + 3;
global Entry changing[2] = {{1, places + 2, 'x', rows[1]}, {2, places, 'y', 0}};
global float4 vectors[8] = {(float4)(1, 2, 3, 4), (float4)(5)};
global long wide = 1L << 40;
global char bytes[16] = "program scope";
// A generic pointer.
int *global either = &places[2];

SG kernel void move_cursor(global int *out) {
    int l = get_local_id(0);
    if (l == 0) {
        *cursor = 77;
        cursor += 2;
        *cursor = 78;
        either[2] = 79;
        changing[1].row = rows[2] + 1;
        changing[0].cell = cursor + 1;
        *changing[0].cell = 80;
        wide += 5;
        vectors[1].y = 9;
        bytes[3] = 'G';
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[l] = places[l % 8] + (int)(cursor - places) + changing[1].row[l & 1] + changing[0].tag + bytes[l % 13];
    out[l] += (int)(wide >> 38) + (int)wide + (int)vectors[l % 3][l & 3] + *either;
}

global int others[64] = {1, 2, 3, 4, 5};

// Pointers to one of several memories, and tables of a work-item's own that hold addresses.
SG kernel void one_of_several(global int *out, global const int *in, local int *here) {
    size_t i = get_local_id(0);
    int mine[2] = {in[i], in[i] + 1};
    here[i] = in[i] * 5;
    int *p = &others[i % 64];
    if ((in[i] & 3) == 0) p = &here[i];
    if ((in[i] & 3) == 1) p = &mine[in[i] < 0];
    if ((in[i] & 3) < 2) *p += 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    constant char *own[4] = {"ab", "cd", names[3], names[i % 6]};
    out[i] = *p + own[i & 3][1];
}

global int factors[3] = {2, 3, 4};

int called(int x, int n) __attribute__((noinline));
int called(int x, int n) {
    factors[2] = 9;
    return x * rows[x & 1][3] + factors[n] + *entries[0].cell;
}

SG kernel void by_function(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    out[i] = called(in[i], 1) + called(in[i] + 1, 2);
}

global uint launches[3] = {40};

// Two kernels that share a variable; one work-item.
SG kernel void count_launches(global uint *out, uint n) {
    launches[n] += 2;
    out[0] = launches[n];
}

SG kernel void add_launches(global uint *out, uint n) {
    atomic_add((global int *)&launches[n], 10);
    out[0] = launches[n];
}
