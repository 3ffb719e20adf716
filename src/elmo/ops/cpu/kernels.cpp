// Inference on a CPU: products with packed weights, the projected LSTM and the character encoder. See cpu_kernels.py.
//
// Plain C++ with GCC's and Clang's vector extensions, so that one source serves AVX2, AVX-512 and NEON. A weight matrix
// [K, N] is packed into panels of PW columns, each [K][PW] (int8: [K / 4][PW][4], then scales and sums of the columns).
// Every number of a product is summed over k in one order, whatever rows stand beside it and whatever thread computes
// it: float results do not depend on the batch or on the number of threads, to the last bit.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int VW = 16, MOST_ROWS = 12;
#else
constexpr int VW = 8, MOST_ROWS = 6;
#endif
constexpr int PW = 2 * VW;         // columns of a panel
constexpr long K_BLOCK = 512;      // a block of a panel and the rows that meet it stay in the caches
constexpr long ROW_BLOCK = 96;     // rows of one product at a time, for the same reason
constexpr long HOISTED = 128;      // positions whose input products are held at once, where a step has fewer
constexpr long WORDS_AT_ONCE = 192, WORDS_ALONE = 48;
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr int ACT_MAX = 255;
#else
constexpr int ACT_MAX = 127;  // 7 bits: two products of u8 and s8 must fit 16 bits [vpmaddubsw]
#endif

typedef float V __attribute__((vector_size(VW * 4), aligned(4), may_alias));
typedef uint8_t VB __attribute__((vector_size(VW)));
typedef int32_t VI __attribute__((vector_size(VW * 4), aligned(4), may_alias));

struct Matrix {  // as in cpu_kernels.py
    const void* data;
    int64_t inputs, outputs;
    int64_t int8;
};

inline long up(long n, long to) { return (n + to - 1) / to * to; }
inline V load(const float* p) { return *reinterpret_cast<const V*>(p); }
inline void store(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
inline V splat(float x) { return x - V{}; }
inline V choose(VI mask, V a, V b) { return mask ? a : b; }
inline V smaller(V a, V b) { return choose(a < b, a, b); }
inline V larger(V a, V b) { return choose(a > b, a, b); }

// A function as a quotient, so that products of functions cost one division.
struct Quotient {
    V over, under;
    V value() const { return over / under; }
};
inline Quotient operator*(Quotient a, Quotient b) { return {a.over * b.over, a.under * b.under}; }

// A rational approximation, off by a few units in the last place; beyond 7.905 a float's tanh is 1. [Eigen, ptanh_float]
inline Quotient tanh(V x) {
    x = larger(smaller(x, splat(7.90531110763549805f)), splat(-7.90531110763549805f));
    V z = x * x;
    V p = splat(-2.76076847742355e-16f);
    p = p * z + 2.00018790482477e-13f;
    p = p * z - 8.60467152213735e-11f;
    p = p * z + 5.12229709037114e-08f;
    p = p * z + 1.48572235717979e-05f;
    p = p * z + 6.37261928875436e-04f;
    p = p * z + 4.89352455891786e-03f;
    V q = splat(1.19825839466702e-06f);
    q = q * z + 1.18534705686654e-04f;
    q = q * z + 2.26843463243900e-03f;
    q = q * z + 4.89352518554385e-03f;
    return {p * x, q};
}

inline Quotient sigmoid(V x) {  // (1 + tanh(x / 2)) / 2
    Quotient t = tanh(0.5f * x);
    return {0.5f * (t.under + t.over), t.under};
}

// c[MR][NP * PW] += a[MR][K] b; each k asks for a further piece of what is needed next.
template <int MR, int NP>
void tile(const float* const* rows, long K, const float* b, long panel, float* c, long ldc, const char* next, long step) {
    V acc[MR][NP * 2] = {};
    const float* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) a[i] = rows[i];
    for (long k = 0; k < K; k++) {
        V w[NP * 2];
#pragma GCC unroll 8
        for (int j = 0; j < NP * 2; j++) w[j] = load(b + (j / 2) * panel + k * PW + (j % 2) * VW);
        __builtin_prefetch(next + k * step, 0, 2);
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
            V x = splat(a[i][k]);
#pragma GCC unroll 8
            for (int j = 0; j < NP * 2; j++) acc[i][j] += x * w[j];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) {
#pragma GCC unroll 8
        for (int j = 0; j < NP * 2; j++) {
            float* to = c + i * ldc + j * VW;
            store(to, load(to) + acc[i][j]);
        }
    }
}

typedef void (*Tile)(const float* const*, long, const float*, long, float*, long, const char*, long);
#if defined(__AVX512F__)
const Tile TILES[] = {nullptr,    tile<1, 1>, tile<2, 1>, tile<3, 1>,  tile<4, 1>,  tile<5, 1>, tile<6, 1>,
                      tile<7, 1>, tile<8, 1>, tile<9, 1>, tile<10, 1>, tile<11, 1>, tile<12, 1>};
#else
const Tile TILES[] = {nullptr, tile<1, 1>, tile<2, 1>, tile<3, 1>, tile<4, 1>, tile<5, 1>, tile<6, 1>};
#endif

// Four products of bytes, added to 32 bits: u8 activations, s8 weights.
inline VI dot(VI acc, int32_t activations, const int8_t* weights) {
#if defined(__AVX512VNNI__)
    return (VI)_mm512_dpbusd_epi32((__m512i)acc, _mm512_set1_epi32(activations), _mm512_loadu_si512(weights));
#elif defined(__AVX512BW__)
    __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi32(activations), _mm512_loadu_si512(weights));
    return (VI)_mm512_add_epi32((__m512i)acc, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif defined(__AVX2__) && !defined(__AVX512F__)
    __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
#if defined(__AVXVNNI__)
    return (VI)_mm256_dpbusd_avx_epi32((__m256i)acc, _mm256_set1_epi32(activations), w);
#else
    __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi32(activations), w);
    return (VI)_mm256_add_epi32((__m256i)acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
#else
    uint8_t a[4];
    std::memcpy(a, &activations, 4);
    for (int l = 0; l < VW; l++)
        for (int q = 0; q < 4; q++) acc[l] += int32_t(a[q]) * weights[l * 4 + q];
    return acc;
#endif
}

template <int MR>
void tile8(const uint8_t* const* rows, const float* scales, const float* lows, long K4, const int8_t* b,
           const float* column_scales, const float* column_sums, float* c, long ldc, const char* next, long step) {
    VI acc[MR][2] = {};
    for (long k = 0; k < K4; k++) {
        const int8_t* w = b + k * PW * 4;
        __builtin_prefetch(next + k * step, 0, 2);
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
            int32_t x;
            std::memcpy(&x, rows[i] + k * 4, 4);
            acc[i][0] = dot(acc[i][0], x, w);
            acc[i][1] = dot(acc[i][1], x, w + VW * 4);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++)
        for (int j = 0; j < 2; j++) {
            V sum = __builtin_convertvector(acc[i][j], V);
            V product = sum * load(column_scales + j * VW) * scales[i] + load(column_sums + j * VW) * lows[i];
            store(c + i * ldc + j * VW, load(c + i * ldc + j * VW) + product);
        }
}

typedef void (*Tile8)(const uint8_t* const*, const float*, const float*, long, const int8_t*, const float*, const float*,
                      float*, long, const char*, long);
#if defined(__AVX512F__)
const Tile8 TILES8[] = {nullptr,  tile8<1>, tile8<2>, tile8<3>,  tile8<4>,  tile8<5>, tile8<6>,
                        tile8<7>, tile8<8>, tile8<9>, tile8<10>, tile8<11>, tile8<12>};
#else
const Tile8 TILES8[] = {nullptr, tile8<1>, tile8<2>, tile8<3>, tile8<4>, tile8<5>, tile8<6>};
#endif

// Rows of a product's left side, as floats, or as bytes with a scale and a lowest number each: x = low + scale * byte.
struct Rows {
    std::vector<const float*> floats, shifted;
    std::vector<uint8_t> bytes;
    std::vector<const uint8_t*> starts;
    std::vector<float> scales, lows;

    void clear() { floats.clear(); }
    void add(const float* row) { floats.push_back(row); }
    void add(const float* first, long count, long stride) {
        for (long n = 0; n < count; n++) add(first + n * stride);
    }
    void quantize(long K) {
        const long K4 = up(K, 4), M = long(floats.size()), whole = K / VW * VW;
        bytes.resize(M * K4);
        starts.resize(M);
        scales.resize(M);
        lows.resize(M);
        for (long m = 0; m < M; m++) {
            const float* row = floats[m];
            V highs = splat(row[0]), least = highs;
            for (long k = 0; k < whole; k += VW) {
                highs = larger(highs, load(row + k));
                least = smaller(least, load(row + k));
            }
            float high = row[0], low = row[0];
            for (int l = 0; l < VW; l++) high = std::max(high, highs[l]), low = std::min(low, least[l]);
            for (long k = whole; k < K; k++) high = std::max(high, row[k]), low = std::min(low, row[k]);
            const float inverse = high > low ? ACT_MAX / (high - low) : 0;
            uint8_t* out = &bytes[m * K4];
            for (long k = 0; k < whole; k += VW) {
                VI q = __builtin_convertvector((load(row + k) - low) * inverse + 0.5f, VI);
                VB narrow = __builtin_convertvector(q, VB);
                std::memcpy(out + k, &narrow, VW);
            }
            for (long k = whole; k < K; k++) out[k] = uint8_t(int((row[k] - low) * inverse + 0.5f));
            for (long k = K; k < K4; k++) out[k] = 0;
            starts[m] = out;
            scales[m] = (high - low) / ACT_MAX;
            lows[m] = low;
        }
    }
};

// c[M][.] += rows x the panels first..last of a matrix. The first panel's columns stand at c.
void multiply(Rows& rows, const Matrix& w, long first, long last, float* c, long ldc) {
    long M = long(rows.floats.size()), K = w.inputs;
    if (M == 0 || first >= last) return;
    if (w.int8) {
        long K4 = up(K, 4) / 4, columns = up(w.outputs, PW);
        const int8_t* data = static_cast<const int8_t*>(w.data);
        const float* column_scales = reinterpret_cast<const float*>(data + K4 * 4 * columns);
        const float* column_sums = column_scales + columns;
        long tiles = (M + MOST_ROWS - 1) / MOST_ROWS, step = std::max(1L, PW * 4 / tiles);
        for (long p = first; p < last; p++) {
            const int8_t* panel = data + p * K4 * 4 * PW;
            const char* next = reinterpret_cast<const char*>(panel + K4 * 4 * PW);
            for (long t = 0, m = 0; t < tiles; t++) {
                long n = (M - m + tiles - t - 1) / (tiles - t);
                TILES8[n](&rows.starts[m], &rows.scales[m], &rows.lows[m], K4, panel, column_scales + p * PW,
                          column_sums + p * PW, c + m * ldc + (p - first) * PW, ldc, next + t * K4 * step, step);
                m += n;
            }
        }
        return;
    }
    const float* data = static_cast<const float*>(w.data);
    auto& shifted = rows.shifted;
    for (long from = 0; from < M; from += ROW_BLOCK) {
        long count = std::min(ROW_BLOCK, M - from);
        long tiles = (count + MOST_ROWS - 1) / MOST_ROWS, step = std::max(4L, PW * 4 / tiles);
        for (long k = 0; k < K; k += K_BLOCK) {
            long depth = std::min(K_BLOCK, K - k);
            shifted.assign(rows.floats.begin() + from, rows.floats.begin() + from + count);
            for (auto& row : shifted) row += k;
            long p = first;
            // Few rows: several panels at once, or the additions wait for each other.
            for (; count == 1 && p + 4 <= last; p += 4)
                tile<1, 4>(shifted.data(), depth, data + (p * K + k) * PW, K * PW, c + from * ldc + (p - first) * PW, ldc,
                           reinterpret_cast<const char*>(data + ((p + 4) * K + k) * PW), PW * 4);
            for (; count == 2 && p + 2 <= last; p += 2)
                tile<2, 2>(shifted.data(), depth, data + (p * K + k) * PW, K * PW, c + from * ldc + (p - first) * PW, ldc,
                           reinterpret_cast<const char*>(data + ((p + 2) * K + k) * PW), PW * 4);
            for (; count == 3 && p + 2 <= last; p += 2)
                tile<3, 2>(shifted.data(), depth, data + (p * K + k) * PW, K * PW, c + from * ldc + (p - first) * PW, ldc,
                           reinterpret_cast<const char*>(data + ((p + 2) * K + k) * PW), PW * 4);
            for (; p < last; p++) {
                const float* panel = data + (p * K + k) * PW;
                const char* next = reinterpret_cast<const char*>(panel + K * PW);
                for (long t = 0, m = 0; t < tiles; t++) {
                    long n = (count - m + tiles - t - 1) / (tiles - t);
                    TILES[n](&shifted[m], depth, panel, K * PW, c + (from + m) * ldc + (p - first) * PW, ldc,
                             next + t * depth * step, step);
                    m += n;
                }
            }
        }
    }
}

struct Team {  // threads that work on one thing and wait for each other
    int size;
    std::atomic<int> arrived{0}, round{0};
    explicit Team(int n) : size(n) {}
    void wait() {
        if (size == 1) return;
        int now = round.load(std::memory_order_acquire);
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
            arrived.store(0, std::memory_order_relaxed);
            round.store(now + 1, std::memory_order_release);
            return;
        }
        // Mostly the others are nearly done; where the machine has other work, they may not even be running.
        for (int spins = 0; round.load(std::memory_order_acquire) == now; spins++)
            if (spins > 4000) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
};

template <class Work>
void run(int threads, Work work) {
    std::vector<std::thread> others;
    for (int n = 1; n < threads; n++) others.emplace_back(work, n);
    work(0);
    for (auto& other : others) other.join();
}

inline long share(long count, int part, int parts) { return count * part / parts; }

struct Layer {  // one direction; as in cpu_kernels.py
    Matrix x, h, projection;
    const float* bias;  // in the columns' order, the forget gate's 1 added
};

struct Sizes {
    int64_t T, B, D, H, P;
    float cell_clip, projection_clip;  // infinity for none
};

void lstmp(const Layer& w, const Sizes& s, const int64_t* alive, const float* x, float* h, float* c, float* y, Team& team,
           int member, std::vector<float>& gates, std::vector<float>& cells, std::vector<float>& outputs) {
    const long panels = up(s.H, PW) / PW, ld = panels * PW + PW, ldg = panels * 4 * PW + PW;
    const long p0 = share(panels, member, team.size), p1 = share(panels, member + 1, team.size);
    const bool projected = w.projection.data != nullptr;
    const long out_panels = up(s.P, PW) / PW;
    const long q0 = share(out_panels, member, team.size), q1 = share(out_panels, member + 1, team.size);
    std::vector<float> projections((q1 - q0) * PW * s.B);
    Rows rows;
    if (member == 0) {
        std::fill(cells.begin(), cells.end(), 0.0f);
        for (long b = 0; b < s.B; b++) std::copy(c + b * s.H, c + (b + 1) * s.H, &cells[b * ld]);
    }
    long held = 0, at = 0;  // positions whose input products stand in `gates`, and the first of the step
    for (long t = 0; t < s.T && alive[t] > 0; t++) {
        const long n = alive[t];
        if (at == held) {
            rows.clear();
            held = at = 0;
            for (long u = t; u < s.T && alive[u] > 0 && (held == 0 || held + alive[u] <= HOISTED); u++) {
                rows.add(x + u * s.B * s.D, alive[u], s.D);
                held += alive[u];
            }
            for (long m = 0; m < held; m++)
                std::copy(w.bias + p0 * 4 * PW, w.bias + p1 * 4 * PW, &gates[m * ldg + p0 * 4 * PW]);
            if (w.x.int8) rows.quantize(s.D);
            multiply(rows, w.x, p0 * 4, p1 * 4, &gates[p0 * 4 * PW], ldg);
        }
        rows.clear();
        rows.add(t == 0 ? h : y + (t - 1) * s.B * s.P, n, s.P);
        if (w.h.int8) rows.quantize(s.P);
        team.wait();  // all of the step before is there
        float* step = &gates[at * ldg];
        for (long p = p0; p < p1; p++) {
            multiply(rows, w.h, p * 4, p * 4 + 4, step + p * 4 * PW, ldg);
            for (long m = 0; m < n; m++) {
                const float* g = step + m * ldg + p * 4 * PW;
                float* cell = &cells[m * ld + p * PW];
                float* out = &outputs[m * ld + p * PW];
                for (int j = 0; j < PW; j += VW) {
                    V v = sigmoid(load(g + 2 * PW + j)).value() * load(cell + j) +
                          (sigmoid(load(g + j)) * tanh(load(g + PW + j))).value();
                    v = larger(smaller(v, splat(s.cell_clip)), splat(-s.cell_clip));
                    store(cell + j, v);
                    store(out + j, (sigmoid(load(g + 3 * PW + j)) * tanh(v)).value());
                }
            }
        }
        at += n;
        team.wait();
        float* now = y + t * s.B * s.P;
        if (projected) {
            rows.clear();
            rows.add(outputs.data(), n, ld);
            if (w.projection.int8) rows.quantize(s.H);
            const long width = (q1 - q0) * PW;
            std::fill(projections.begin(), projections.end(), 0.0f);
            multiply(rows, w.projection, q0, q1, projections.data(), width);
            const long columns = std::min(q1 * PW, long(s.P)) - q0 * PW;
            for (long m = 0; m < n; m++)
                for (long k = 0; k < columns; k++)
                    now[m * s.P + q0 * PW + k] =
                        std::min(std::max(projections[m * width + k], -s.projection_clip), s.projection_clip);
        } else if (member == 0) {
            for (long m = 0; m < n; m++) std::copy(&outputs[m * ld], &outputs[m * ld] + s.H, now + m * s.P);
        }
        team.wait();
    }
    if (member != 0) return;
    for (long b = 0; b < s.B; b++) std::copy(&cells[b * ld], &cells[b * ld] + s.H, c + b * s.H);
    for (long t = 0; t < s.T; t++) {
        long next = t + 1 < s.T ? alive[t + 1] : 0;
        for (long b = next; b < alive[t]; b++)
            std::copy(y + (t * s.B + b) * s.P, y + (t * s.B + b + 1) * s.P, h + b * s.P);
    }
}

// Column n of the result is column order[n] of w, zeros where that is negative.
void pack_columns(const float* w, long K, long stride, const int64_t* order, long columns, bool int8, void* out, long first,
                  long last) {
    const long K4 = up(K, 4);
    float* floats = static_cast<float*>(out);
    int8_t* bytes = static_cast<int8_t*>(out);
    float* scales = reinterpret_cast<float*>(bytes + K4 * columns);
    for (long p = first; p < last; p++) {
        const int64_t* from = order + p * PW;
        if (!int8) {
            for (long k = 0; k < K; k++)
                for (int l = 0; l < PW; l++)
                    floats[(p * K + k) * PW + l] = from[l] < 0 ? 0.0f : w[k * stride + from[l]];
            continue;
        }
        float most[PW] = {};
        for (long k = 0; k < K; k++)
            for (int l = 0; l < PW; l++)
                if (from[l] >= 0) most[l] = std::max(most[l], std::fabs(w[k * stride + from[l]]));
        long sums[PW] = {};
        for (long k = 0; k < K4; k++)
            for (int l = 0; l < PW; l++) {
                bool there = from[l] >= 0 && k < K && most[l] > 0;
                int q = there ? int(std::nearbyint(w[k * stride + from[l]] * (127 / most[l]))) : 0;
                sums[l] += q;
                bytes[((p * (K4 / 4) + k / 4) * PW + l) * 4 + k % 4] = int8_t(q);
            }
        for (int l = 0; l < PW; l++) {
            scales[p * PW + l] = most[l] / 127;
            scales[columns + p * PW + l] = float(sums[l]) * (most[l] / 127);
        }
    }
}

struct Encoder {  // as in cpu_kernels.py
    const float* table;  // [characters, E]
    int64_t E, C, padding;
    int64_t widths, F;
    const int64_t* width;  // of each convolution
    const Matrix* filters;
    const float* bias;  // [F]
    int64_t tanh_activation, highways;
    const Matrix* carry;
    const Matrix* transform;
    const float* carry_bias;      // [highways, columns of F]
    const float* transform_bias;  // likewise
    Matrix projection;
    const float* projection_bias;  // [columns of D]
    int64_t D;
};

struct EncoderSpace {
    std::vector<float> x, next;  // [words, ld]
};

void convolve(const Encoder& e, const int64_t* ids, long first, long last, float* x, long ld) {
    long widest = *std::max_element(e.width, e.width + e.widths);
    std::vector<float> embedded, scores(e.C * PW);
    std::vector<long> start, columns;
    for (long word = first; word < last; word++) {
        const int64_t* row = ids + word * e.C;
        long length = e.C;
        while (length > 0 && row[length - 1] == e.padding) length--;
        columns.push_back(std::min(long(e.C), length + widest));
        start.push_back(long(embedded.size()));
        for (long k = 0; k < columns.back(); k++)
            embedded.insert(embedded.end(), e.table + row[k] * e.E, e.table + (row[k] + 1) * e.E);
    }
    std::vector<const float*> windows(e.C);
    long offset = 0;
    for (long f = 0; f < e.widths; f++) {
        const Matrix& w = e.filters[f];
        const float* data = static_cast<const float*>(w.data);
        long K = w.inputs, panels = up(w.outputs, PW) / PW;
        for (long p = 0; p < panels; p++)
            for (long word = first; word < last; word++) {
                long V_ = columns[word - first] - e.width[f] + 1;
                for (long v = 0; v < V_; v++) windows[v] = &embedded[start[word - first] + v * e.E];
                std::fill(scores.begin(), scores.begin() + V_ * PW, 0.0f);
                long tiles = (V_ + MOST_ROWS - 1) / MOST_ROWS;
                const char* here = reinterpret_cast<const char*>(data + p * K * PW);
                for (long t = 0, m = 0; t < tiles; t++) {
                    long n = (V_ - m + tiles - t - 1) / (tiles - t);
                    TILES[n](&windows[m], K, data + p * K * PW, 0, &scores[m * PW], PW, here, 0);
                    m += n;
                }
                V best[2] = {load(&scores[0]), load(&scores[VW])};
                for (long v = 1; v < V_; v++)
                    for (int j = 0; j < 2; j++) best[j] = larger(best[j], load(&scores[v * PW + j * VW]));
                float pooled[PW];
                for (int j = 0; j < 2; j++) store(pooled + j * VW, best[j]);
                float* out = x + word * ld + offset + p * PW;
                const float* bias = e.bias + offset + p * PW;
                for (long l = 0; l < std::min(long(PW), long(w.outputs) - p * PW); l++)
                    out[l] = e.tanh_activation ? std::tanh(pooled[l] + bias[l]) : std::max(pooled[l] + bias[l], 0.0f);
            }
        offset += w.outputs;
    }
}

void encode(const Encoder& e, const int64_t* ids, long W, float* out, Team& team, int member, EncoderSpace& space) {
    const long panels = up(e.F, PW) / PW, ld = panels * PW + PW;
    const long p0 = share(panels, member, team.size), p1 = share(panels, member + 1, team.size);
    const long out_panels = up(e.D, PW) / PW;
    const long q0 = share(out_panels, member, team.size), q1 = share(out_panels, member + 1, team.size);
    std::vector<float> carry(WORDS_AT_ONCE * PW), transform(WORDS_AT_ONCE * PW);
    Rows rows;
    for (long from = 0; from < W; from += WORDS_AT_ONCE) {
        const long n = std::min(WORDS_AT_ONCE, W - from);
        float *x = space.x.data(), *next = space.next.data();
        convolve(e, ids + from * e.C, share(n, member, team.size), share(n, member + 1, team.size), x, ld);
        team.wait();
        for (long k = 0; k < e.highways; k++) {
            rows.clear();
            rows.add(x, n, ld);
            if (e.carry[k].int8) rows.quantize(e.F);
            for (long p = p0; p < p1; p++) {
                for (long m = 0; m < n; m++) {
                    const float* bias = e.carry_bias + (k * panels + p) * PW;
                    std::copy(bias, bias + PW, &carry[m * PW]);
                    bias = e.transform_bias + (k * panels + p) * PW;
                    std::copy(bias, bias + PW, &transform[m * PW]);
                }
                multiply(rows, e.carry[k], p, p + 1, carry.data(), PW);
                multiply(rows, e.transform[k], p, p + 1, transform.data(), PW);
                for (long m = 0; m < n; m++)
                    for (int j = 0; j < PW; j += VW) {
                        V gate = sigmoid(load(&carry[m * PW + j])).value(), old = load(x + m * ld + p * PW + j);
                        V fresh = larger(load(&transform[m * PW + j]), V{});
                        store(next + m * ld + p * PW + j, gate * fresh + (1.0f - gate) * old);
                    }
            }
            team.wait();
            std::swap(x, next);
        }
        if (e.projection.data == nullptr) {
            for (long m = share(n, member, team.size); m < share(n, member + 1, team.size); m++)
                std::copy(x + m * ld, x + m * ld + e.D, out + (from + m) * e.D);
        } else {
            rows.clear();
            rows.add(x, n, ld);
            if (e.projection.int8) rows.quantize(e.F);
            for (long q = q0; q < q1; q++) {
                for (long m = 0; m < n; m++)
                    std::copy(e.projection_bias + q * PW, e.projection_bias + (q + 1) * PW, &carry[m * PW]);
                multiply(rows, e.projection, q, q + 1, carry.data(), PW);
                for (long m = 0; m < n; m++)
                    std::copy(&carry[m * PW], &carry[m * PW] + std::min(long(PW), long(e.D) - q * PW),
                              out + (from + m) * e.D + q * PW);
            }
        }
        team.wait();
    }
}

// Stored rows as floats: VW numbers of float16 or int8.
inline V load_half(const uint16_t* p) {
#if defined(__AVX512F__)
    return (V)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__F16C__)
    return (V)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
    typedef uint16_t VH __attribute__((vector_size(VW * 2)));
    VH half;
    std::memcpy(&half, p, sizeof half);
    VI bits = __builtin_convertvector(half, VI);
    VI magnitude = (bits & 0x7fff) << 13;  // exponents are 112 apart, which a product puts right, also for subnormals
    V value = (V)magnitude * 0x1p112f;
    VI special = magnitude >= 0x0f800000;  // infinity and NaN
    VI result = special ? (magnitude | 0x7f800000) : (VI)value;
    return (V)(result | ((bits & 0x8000) << 16));
#endif
}

inline V load_byte(const int8_t* p) {
    typedef int8_t VS __attribute__((vector_size(VW)));
    VS bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(__builtin_convertvector(bytes, VI), V);
}

// out[q] = row . vectors[q], the row as floats of `width`, zeros behind its end.
inline void row_products(const float* row, const float* vectors, long width, long Q, float* out, long ld) {
    for (long q = 0; q < Q; q++) {
        const float* v = vectors + q * width;
        V sums[4] = {};
        for (long d = 0; d < width; d += 4 * VW)
            for (int j = 0; j < 4; j++) sums[j] += load(row + d + j * VW) * load(v + d + j * VW);
        V sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        float total = 0;
        for (int l = 0; l < VW; l++) total += sum[l];
        out[q * ld] = total;
    }
}

template <class Number, V (*Load)(const Number*)>
void all_row_products(const Number* rows, long first, long last, long D, const float* vectors, long width, long Q,
                      float* out, long ld) {
    std::vector<float> row(width);
    std::vector<Number> end(VW);
    for (long n = first; n < last; n++) {
        const Number* from = rows + n * D;
        long d = 0;
        for (; d + VW <= D; d += VW) store(row.data() + d, Load(from + d));
        if (d < D) {
            std::memcpy(end.data(), from + d, (D - d) * sizeof(Number));
            store(row.data() + d, Load(end.data()));
        }
        row_products(row.data(), vectors, width, Q, out + n, ld);
    }
}

}  // namespace

extern "C" {

int64_t elmo_panel_width() { return PW; }

// Bytes of a packed matrix.
int64_t elmo_packed_size(int64_t K, int64_t columns, int64_t int8) {
    return int8 ? up(K, 4) * columns + 2 * columns * 4 : K * columns * 4;
}

// Column n of the packed matrix is column order[n] of w [K, stride], zeros where that is negative.
void elmo_pack(const float* w, int64_t K, int64_t stride, const int64_t* order, int64_t columns, int64_t int8, void* out,
               int64_t threads) {
#if defined(__linux__)
    // Fewer, larger pages for what is read from end to end at every step.
    const uintptr_t huge = 1 << 21, begin = up(long(uintptr_t(out)), huge);
    const uintptr_t end = (uintptr_t(out) + elmo_packed_size(K, columns, int8)) / huge * huge;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
    const long panels = columns / PW;
    run(int(threads), [&](int n) {
        pack_columns(w, K, stride, order, columns, int8 != 0, out, share(panels, n, int(threads)),
                     share(panels, n + 1, int(threads)));
    });
}

// x: [R, T, B, D] -> y: [R, T, B, P], zeros given; h: [R, B, P] and c: [R, B, H] become the state after.
int elmo_lstmp(const Layer* layers, const Sizes* sizes, int64_t R, const int64_t* alive, const float* x, float* h, float* c,
               float* y, int64_t threads) {
    try {
        const Sizes& s = *sizes;
        const long panels = up(s.H, PW) / PW;
        const long held = std::max(HOISTED, long(s.B));
        const int groups = int(std::max<int64_t>(1, std::min(threads, R)));  // directions at the same time
        const int size = int(std::max<int64_t>(1, threads / groups));
        struct Space {
            Team team;
            std::vector<float> gates, cells, outputs;
            Space(int n, long g, long k) : team(n), gates(g), cells(k), outputs(k) {}
        };
        std::vector<std::unique_ptr<Space>> spaces;
        for (int g = 0; g < groups; g++)
            spaces.emplace_back(new Space(size, std::min(held, long(s.T * s.B)) * (panels * 4 * PW + PW),
                                          s.B * (panels * PW + PW)));
        run(groups * size, [&](int n) {
            Space& space = *spaces[n / size];
            for (long r = n / size; r < R; r += groups) {
                lstmp(layers[r], s, alive, x + r * s.T * s.B * s.D, h + r * s.B * s.P, c + r * s.B * s.H,
                      y + r * s.T * s.B * s.P, space.team, n % size, space.gates, space.cells, space.outputs);
                space.team.wait();
            }
        });
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
        });
        return 0;
    } catch (...) {
        return 1;
    }
}

// The width of a vector for elmo_row_products, whose end holds zeros.
int64_t elmo_row_width(int64_t D) { return up(D, 4 * VW); }

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
    for (int int8 = 0; int8 < 2; int8++) {
        std::vector<char> packed(elmo_packed_size(K, columns, int8));
        elmo_pack(w.data(), K, N, order.data(), columns, int8, packed.data(), 2);
        Matrix matrix{packed.data(), K, N, int8};
        for (long M = 1; M <= 25; M++) {
            Rows rows;
            rows.add(a.data(), M, K);
            if (int8) rows.quantize(K);
            std::vector<float> c(M * columns, 1.0f);
            multiply(rows, matrix, 0, columns / PW, c.data(), columns);
            for (long m = 0; m < M; m++)
                for (long n = 0; n < N; n++) {
                    double sum = 1;
                    for (long k = 0; k < K; k++) sum += double(a[m * K + k]) * w[k * N + n];
                    if (!(std::fabs(c[m * columns + n] - sum) < (int8 ? 0.05 : 1e-5))) return 3 + int8;
                }
        }
    }
    // Rows of float16 (1, -2, 0.5, the smallest, zero) and of bytes, of every length up to some vectors and a rest.
    const uint16_t halves[] = {0x3c00, 0xc000, 0x3800, 0x0001, 0x8000};
    const float values[] = {1, -2, 0.5f, 0x1p-24f, 0};
    for (long D = 1; D <= 5 * VW; D++) {
        const long R = 3, Q = 2, width = elmo_row_width(D);
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
                    if (!(std::fabs(out[q * R + n] - sum) < (int8 ? 1e-2 : 1e-4))) return 5 + int8;
                }
        }
    }
    return 0;
}
}
