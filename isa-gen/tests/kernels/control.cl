// Branches, loops, switches and calls.
#define SG __attribute__((intel_reqd_sub_group_size(SIMD)))

SG kernel void nested_ifs(global int *out, global const int *a, int k) {
    size_t i = get_global_id(0);
    int x = a[i], r = 0;
    if (x > k) {
        if (x & 1) r = out[x & 7];
        else if (x & 2) r = out[x & 15] * 3;
        else r = -out[3];
    } else if (x < -k) {
        r = out[1] + x;
    }
    out[i] = r;
}

SG kernel void switches(global int *out, global const int *a) {
    size_t i = get_global_id(0);
    int x = a[i], r;
    switch (x & 15) {
    case 0: r = out[0] + 1; break;
    case 1: r = x * 7; break;
    case 2: r = out[2] * out[3];
    case 3: r = x ^ 0x55; break;
    case 4: out[4] = x; r = 4; break;
    case 7: r = x / 3; break;
    case 9: r = out[x & 3]; break;
    case 12: r = -x; break;
    default: r = 99;
    }
    out[i] = r;
}

SG kernel void break_and_continue(global int *out, global const int *a, int n) {
    size_t i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        int x = a[i * n + k];
        if (x < 0) continue;
        if (x == 7) break;
        for (int j = 0; j < x; j++) {
            if ((j * x) % 11 == 3) break;
            s += j ^ k;
        }
    }
    out[i] = s;
}

SG kernel void gotos(global int *out, global const int *a, int n) {
    size_t i = get_global_id(0);
    int x = a[i], s = 0;
again:
    s += x;
    if (s > 1000) goto done;
    if (x & 1) {
        x = x * 3 + 1;
        goto again;
    }
    x >>= 1;
    if (x > 1) goto again;
    s = out[x];
done:
    out[i] = s;
}

SG kernel void collatz(global uint *out) {
    uint x = get_global_id(0) + 1, n = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        n++;
    }
    out[get_global_id(0)] = n;
}

// Each channel loops its own number of times.
SG kernel void collatz_up_to(global uint *out, global const uint *a, uint most) {
    size_t i = get_global_id(0);
    uint x = a[i], n = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        n++;
        if (n > most) break;
    }
    out[i] = n;
}

SG kernel void early_return(global float *out, global const float *a, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    if (a[i] < 0.0f) {
        out[i] = 0.0f;
        return;
    }
    do {
        out[i] += a[i];
        barrier(CLK_GLOBAL_MEM_FENCE);
    } while (--n > 0);
}

__attribute__((noinline)) float polynomial(float x, int n, global const float *c) {
    float s = 0.0f;
    for (int k = 0; k < n; k++) s = s * x + c[k];
    return s;
}

__attribute__((noinline)) float4 rotate_vector(float4 v, float a, global const float *k) {
    float s = native_sin(a), c = native_cos(a);
    return (float4)(v.x * c - v.y * s, v.x * s + v.y * c, v.z, polynomial(v.w, 3, k));
}

SG kernel void calls(global float *out, global const float *c, int n) {
    size_t i = get_global_id(0);
    float x = polynomial((float)i, n, c);
    if (x > 0.0f) x += polynomial(x, n / 2, c);
    out[i] = x;
}

SG kernel void calls_with_vectors(global float4 *out, global const float4 *in, global const float *k, float a) {
    size_t i = get_global_id(0);
    out[i] = rotate_vector(in[i], a, k) + rotate_vector(in[i + 1], -a, k + 1);
}

SG kernel void uniform_branches(global int *out, int mode, int n) {
    size_t i = get_global_id(0);
    int s = 0;
    if (mode == 1) s = out[i] + 1;
    else if (mode == 2) s = out[i] * 5;
    for (int k = 0; k < n; k++) s = s * 3 + mode;
    out[i] = s;
}

SG kernel void nested_loops(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int v = in[i];
    if (v < 0) { out[i] = -1; return; }
    int sum = 0;
    for (int a = 0; a < n; a++) {
        if (((v + a) & 3) == 1) continue;
        for (int b = 0; b < 20; b++) {
            if (b > (v & 15)) break;
            if ((b ^ a) & 1) continue;
            sum += a * b + (v >> (b & 7));
        }
        if (sum > 5000) break;
        switch ((v + a) % 5) {
            case 0: sum += 1; break;
            case 1: sum ^= 0x55;
            case 2: sum += 7; break;
            case 3: if (sum & 1) { sum -= 3; } else { sum += 11; } break;
            default: sum = sum * 3 & 0xffff;
        }
    }
    out[i] = sum;
}
