// Inference on a CPU: what `kernels.py` and `ops/rowproducts` call. One library from this file and the headers beside it.
//
// Plain C++ with GCC's and Clang's vector extensions, so that one source serves AVX2, AVX-512 and NEON.

#include <cmath>
#include <memory>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "products.h"
#include "team.h"
#include "lstmp.h"
#include "encoder.h"
#include "rowproducts.h"

extern "C" {

int64_t elmo_panel_width() { return PW; }

// Bytes of a packed matrix.
int64_t elmo_packed_size(int64_t K, int64_t columns, int64_t numbers) {
    if (numbers == PAIRS) return up(K, 2) * columns * 2;
    return numbers == BYTES ? up(K, 4) * columns + 2 * columns * 4 : K * columns * 4;
}

// Whether products of bfloat16 are instructions here, and so worth something.
int elmo_multiplies_bfloat16() {
#if defined(__AVX512BF16__)
    return 1;
#else
    return 0;
#endif
}

// Column n of the packed matrix is column order[n] of w [K, stride], zeros where that is negative.
int elmo_pack(const float* w, int64_t K, int64_t stride, const int64_t* order, int64_t columns, int64_t numbers, void* out,
              int64_t threads) {
#if defined(__linux__)
    // Fewer, larger pages for what is read from end to end at every step.
    const uintptr_t huge = 1 << 21, begin = up(long(uintptr_t(out)), huge);
    const uintptr_t end = (uintptr_t(out) + elmo_packed_size(K, columns, numbers)) / huge * huge;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
    try {
        const long panels = columns / PW;
        run(int(threads), [&](int n) {
            pack_columns(w, K, stride, order, columns, numbers, out, share(panels, n, int(threads)),
                         share(panels, n + 1, int(threads)));
        });
        return 0;
    } catch (...) {
        return 1;
    }
}

// x: [R, T, B, D] -> y: [R, T, B, P], zeros given; h: [R, B, P] and c: [R, B, H] become the state after.
int elmo_lstmp(const Layer* layers, const Sizes* sizes, int64_t R, const int64_t* alive, const float* x, float* h, float* c,
               float* y, int64_t threads) {
    try {
        const Sizes& s = *sizes;
        const long panels = up(s.H, PW) / PW;
        const int groups = int(std::max<int64_t>(1, std::min(threads, R)));  // directions at the same time
        const int size = int(std::max<int64_t>(1, threads / groups));
        struct Space {
            Team team;
            std::vector<float> gates, cells, outputs;
            Space(int n, long g, long k) : team(n), gates(g), cells(k), outputs(k) {}
        };
        std::vector<std::unique_ptr<Space>> spaces;
        for (int g = 0; g < groups; g++)
            spaces.emplace_back(new Space(size, gate_positions(s.T, s.B) * panels * GATES, s.B * (panels * PW + PW)));
        run(groups * size, [&](int n) {
            Space& space = *spaces[n / size];
            for (long r = n / size; r < R; r += groups) {
                lstmp(layers[r], s, alive, x + r * s.T * s.B * s.D, h + r * s.B * s.P, c + r * s.B * s.H,
                      y + r * s.T * s.B * s.P, space.team, n % size, space.gates, space.cells, space.outputs);
                space.team.wait();
            }
        }, [&] { for (auto& space : spaces) space->team.broken = true; });
        return 0;
    } catch (...) {
        return 1;
    }
}

// ids: [W, C] -> out: [W, D].
int elmo_encode(const Encoder* encoder, const int64_t* ids, int64_t W, float* out, int64_t threads) {
    try {
        const long ld = up(encoder->F, PW) + PW;
        const int size = int(std::max<int64_t>(1, std::min<int64_t>(threads, W)));
        // Many words: each thread takes some of them and waits for nobody. Few: all read every weight only once.
        const int groups = W >= WORDS_ALONE * size ? size : 1;
        struct Space {
            Team team;
            EncoderSpace buffers;
            Space(int n, long k) : team(n), buffers{std::vector<float>(k), std::vector<float>(k)} {}
        };
        std::vector<std::unique_ptr<Space>> spaces;
        for (int g = 0; g < groups; g++) {
            const long words = std::min<long>(share(W, g + 1, groups) - share(W, g, groups), WORDS_AT_ONCE);
            spaces.emplace_back(new Space(size / groups, words * ld));
        }
        run(size, [&](int n) {
            const int g = n * groups / size;
            const long first = share(W, g, groups), last = share(W, g + 1, groups);
            Space& space = *spaces[g];
            encode(*encoder, ids + first * encoder->C, last - first, out + first * encoder->D, space.team,
                   groups == 1 ? n : 0, space.buffers);
        }, [&] { for (auto& space : spaces) space->team.broken = true; });
        return 0;
    } catch (...) {
        return 1;
    }
}

// The width of a vector for elmo_row_products, whose end holds zeros.
int64_t elmo_row_width(int64_t D) { return up(D, VW); }

// rows: [N, D] of float16, or of int8; vectors: [Q, width] -> out: [Q, N].
int elmo_row_products(const void* rows, int64_t int8, int64_t N, int64_t D, const float* vectors, int64_t Q, float* out,
                      int64_t threads) {
    try {
        const long width = elmo_row_width(D);
        run(int(threads), [&](int n) {
            const long first = share(N, n, int(threads)), last = share(N, n + 1, int(threads));
            if (int8)
                all_row_products<int8_t, load_byte>(static_cast<const int8_t*>(rows), first, last, D, vectors, width, Q,
                                                    out, N);
            else
                all_row_products<uint16_t, load_half>(static_cast<const uint16_t*>(rows), first, last, D, vectors, width,
                                                      Q, out, N);
        });
        return 0;
    } catch (...) {
        return 1;
    }
}

// Products against plain loops, floats and bytes, and the functions against the library's: 0 where all agree.
int elmo_self_test() {
    for (float x = -20; x < 20; x += 0.0173f) {
        if (std::fabs(sigmoid(splat(x)).value()[0] - 1 / (1 + std::exp(-double(x)))) > 5e-7) return 1;
        if (std::fabs(tanh(splat(x)).value()[VW - 1] - std::tanh(double(x))) > 5e-7) return 2;
    }
    const long K = 37, N = 3 * PW - 5, columns = up(N, PW);
    std::vector<float> w(K * N), a(25 * K);
    uint32_t seed = 1;
    auto chance = [&] { return float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1 << 24) - 0.5f; };
    for (auto& v : w) v = chance();
    for (auto& v : a) v = chance();
    std::vector<int64_t> order(columns, -1);
    for (long n = 0; n < N; n++) order[n] = n;
    for (int64_t numbers : {FLOATS, BYTES, PAIRS}) {
        const double off[] = {1e-5, 0.05, 0.02};
        std::vector<char> packed(elmo_packed_size(K, columns, numbers));
        elmo_pack(w.data(), K, N, order.data(), columns, numbers, packed.data(), 2);
        Matrix matrix{packed.data(), K, N, numbers};
        for (long M = 1; M <= 25; M++) {
            Rows rows;
            rows.add(a.data(), M, K);
            rows.prepare(numbers, K);
            std::vector<float> c(M * columns, 1.0f);
            multiply(rows, matrix, 0, columns / PW, onto(c.data(), columns));
            for (long m = 0; m < M; m++)
                for (long n = 0; n < N; n++) {
                    double sum = 1;
                    for (long k = 0; k < K; k++) sum += double(a[m * K + k]) * w[k * N + n];
                    if (!(std::fabs(c[m * columns + n] - sum) < off[numbers])) return 3 + int(numbers);
                }
        }
    }
    // Rows of float16 (1, -2, 0.5, the smallest, zero) and of bytes, of every length up to some vectors and a rest.
    const uint16_t halves[] = {0x3c00, 0xc000, 0x3800, 0x0001, 0x8000};
    const float values[] = {1, -2, 0.5f, 0x1p-24f, 0};
    for (long D = 1; D <= 5 * VW; D++) {
        const long R = 7, Q = 3, width = elmo_row_width(D);
        std::vector<uint16_t> half(R * D);
        std::vector<int8_t> byte(R * D);
        std::vector<float> vectors(Q * width), out(Q * R);
        for (long i = 0; i < R * D; i++) half[i] = halves[i % 5], byte[i] = int8_t(i % 255 - 127);
        for (long q = 0; q < Q; q++)
            for (long d = 0; d < D; d++) vectors[q * width + d] = chance();
        for (int int8 = 0; int8 < 2; int8++) {
            const void* rows_of = int8 ? static_cast<const void*>(byte.data()) : half.data();
            elmo_row_products(rows_of, int8, R, D, vectors.data(), Q, out.data(), 2);
            for (long q = 0; q < Q; q++)
                for (long n = 0; n < R; n++) {
                    double sum = 0;
                    for (long d = 0; d < D; d++)
                        sum += double(vectors[q * width + d]) * (int8 ? byte[n * D + d] : values[(n * D + d) % 5]);
                    if (!(std::fabs(out[q * R + n] - sum) < (int8 ? 1e-2 : 1e-4))) return 6 + int8;
                }
        }
    }
    return 0;
}
}
