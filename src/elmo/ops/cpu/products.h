// Products of rows with a packed matrix, in floats, in bytes or in bfloat16, and packing itself.
//
// A weight matrix [K, N] is packed into panels of PW columns, each [K][PW] (bfloat16: [K / 2][PW][2]; int8: [K / 4][PW][4],
// then scales and sums of the columns). Every number of a product is summed over k in one order, whatever rows stand
// beside it and whatever thread computes it: float results do not depend on the batch or on the number of threads, to
// the last bit.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "vectors.h"

namespace {

constexpr long K_BLOCK = 512;  // a block of a panel and the rows that meet it stay in the caches
constexpr long LINE = 64;  // bytes of a cache line
constexpr long ROW_BLOCK = 96;  // rows of one product at a time, for the same reason
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr int ACT_MAX = 255;
#else
constexpr int ACT_MAX = 127;  // 7 bits: two products of u8 and s8 must fit 16 bits [vpmaddubsw]
#endif

enum Numbers : int64_t { FLOATS, BYTES, PAIRS };  // as in kernels.py; pairs of bfloat16

struct Matrix {  // as in kernels.py
    const void* data;
    int64_t inputs, outputs;
    int64_t numbers;
};

inline uint16_t to_bfloat16(float x) {  // to the nearest, to the even one of two
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// What stands in 32 bits of a row and of a panel, and how it is multiplied.
struct Singles {
    static V spread(const float* a) { return splat(*a); }
    static V add(V sum, V x, V w) { return sum + x * w; }
};
struct Paired {
    static V spread(const float* a) {
        int32_t bits;
        std::memcpy(&bits, a, 4);
        VI all = bits - VI{};
        return (V)all;
    }
    static V add(V sum, V x, V w) {
#if defined(__AVX512BF16__)
        return (V)_mm512_dpbf16_ps((__m512)sum, (__m512bh)x, (__m512bh)w);
#else
        const VI a = (VI)x, b = (VI)w;  // for the test alone
        return sum + (V)(a << 16) * (V)(b << 16) + (V)(a & VI{} - 65536) * (V)(b & VI{} - 65536);
#endif
    }
};

// Where sums go: to[m][n] = from[m][n] + sum. A stride of 0: all rows begin with the same numbers.
struct Sums {
    float* to;
    long stride;
    const float* from;
    long from_stride;
    Sums at(long row, long column) const {
        return {to + row * stride + column, stride, from + row * from_stride + column, from_stride};
    }
    Sums again() const { return {to, stride, to, stride}; }  // onto what is there
};
inline Sums onto(float* c, long stride) { return {c, stride, c, stride}; }

// c[MR][NP * PW] + a[MR][K] b; each k asks for a further piece of what is needed next.
template <class Term, int MR, int NP>
void tile(const float* const* rows, long K, const float* b, long panel, const Sums& c, const char* next, long step) {
    V acc[MR][NP * 2] = {};
    const float* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) a[i] = rows[i];
    for (long k = 0; k < K; k++) {
        V w[NP * 2];
#pragma GCC unroll 8
        for (int j = 0; j < NP * 2; j++) w[j] = load(b + (j / 2) * panel + k * PW + (j % 2) * VW);
        __builtin_prefetch(next + k * step, 0, 2);
        if (step > LINE) __builtin_prefetch(next + k * step + LINE, 0, 2);
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
            V x = Term::spread(a[i] + k);
#pragma GCC unroll 8
            for (int j = 0; j < NP * 2; j++) acc[i][j] = Term::add(acc[i][j], x, w[j]);
        }
    }
    float* to = c.to;
    const float* from = c.from;
    const long stride = c.stride, from_stride = c.from_stride;
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++, to += stride, from += from_stride) {
#pragma GCC unroll 8
        for (int j = 0; j < NP * 2; j++) store(to + j * VW, load(from + j * VW) + acc[i][j]);
    }
}

typedef void (*Tile)(const float* const*, long, const float*, long, const Sums&, const char*, long);
template <class Term>
constexpr Tile TILES[] = {nullptr,          tile<Term, 1, 1>, tile<Term, 2, 1>, tile<Term, 3, 1>, tile<Term, 4, 1>,
                          tile<Term, 5, 1>, tile<Term, 6, 1>,
#if defined(__AVX512F__)
                          tile<Term, 7, 1>, tile<Term, 8, 1>
#endif
};

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

// The bytes of NP panels, `panel` apart, and what belongs to their columns.
struct BytePanels {
    const int8_t* bytes;
    long panel;
    const float *scales, *sums;
};

template <int MR, int NP>
void tile8(const uint8_t* const* rows, const float* scales, const float* lows, long K4, const BytePanels& b, const Sums& c,
           const char* next, long step) {
    VI acc[MR][NP * 2] = {};
    const uint8_t* a[MR];
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++) a[i] = rows[i];
    const int8_t* bytes = b.bytes;
    const long panel = b.panel;
    for (long k = 0; k < K4; k++) {
        const int8_t* w = bytes + k * PW * 4;
        __builtin_prefetch(next + k * step, 0, 2);
        if (step > LINE) __builtin_prefetch(next + k * step + LINE, 0, 2);
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++) {
            int32_t x;
            std::memcpy(&x, a[i] + k * 4, 4);
#pragma GCC unroll 8
            for (int j = 0; j < NP * 2; j++) acc[i][j] = dot(acc[i][j], x, w + (j / 2) * panel + (j % 2) * VW * 4);
        }
    }
    V column_scales[NP * 2], column_sums[NP * 2];  // read before anything is written: they could be what is written
#pragma GCC unroll 8
    for (int j = 0; j < NP * 2; j++) column_scales[j] = load(b.scales + j * VW), column_sums[j] = load(b.sums + j * VW);
    float* to = c.to;
    const float* from = c.from;
    const long stride = c.stride, from_stride = c.from_stride;
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++, to += stride, from += from_stride) {
        const float scale = scales[i], low = lows[i];
#pragma GCC unroll 8
        for (int j = 0; j < NP * 2; j++) {
            V product = __builtin_convertvector(acc[i][j], V) * column_scales[j] * scale + column_sums[j] * low;
            store(to + j * VW, load(from + j * VW) + product);
        }
    }
}

typedef void (*Tile8)(const uint8_t* const*, const float*, const float*, long, const BytePanels&, const Sums&, const char*,
                      long);
const Tile8 TILES8[] = {nullptr,     tile8<1, 1>, tile8<2, 1>,  tile8<3, 1>,  tile8<4, 1>, tile8<5, 1>, tile8<6, 1>,
#if defined(__AVX512F__)
                        tile8<7, 1>, tile8<8, 1>, tile8<9, 1>, tile8<10, 1>, tile8<11, 1>, tile8<12, 1>
#endif
};

// Rows of a product's left side, as floats, as pairs of bfloat16, or as bytes with a scale and a lowest number each:
// x = low + scale * byte.
struct Rows {
    std::vector<const float*> floats, pairs, shifted;
    std::vector<float> paired;  // two numbers in each
    std::vector<uint8_t> bytes;
    std::vector<const uint8_t*> starts;
    std::vector<float> scales, lows;

    void clear() { floats.clear(); }
    void add(const float* row) { floats.push_back(row); }
    void add(const float* first, long count, long stride) {
        for (long n = 0; n < count; n++) add(first + n * stride);
    }
    // What a matrix of such numbers is multiplied with.
    void prepare(int64_t numbers, long K) {
        if (numbers == BYTES) quantize(K);
        if (numbers == PAIRS) pair(K);
    }
    void pair(long K) {
        const long K2 = up(K, 2) / 2, M = long(floats.size()), whole = K / VW * VW;
        paired.resize(M * K2);
        pairs.resize(M);
        for (long m = 0; m < M; m++) {
            const float* row = floats[m];
            char* out = reinterpret_cast<char*>(&paired[m * K2]);
            long k = 0;
#if defined(__AVX512BF16__)
            for (; k < whole; k += VW) {
                __m256bh narrow = _mm512_cvtneps_pbh((__m512)load(row + k));
                std::memcpy(out + k * 2, &narrow, VW * 2);
            }
#endif
            (void)whole;
            for (; k < 2 * K2; k++) {
                const uint16_t narrow = k < K ? to_bfloat16(row[k]) : 0;
                std::memcpy(out + k * 2, &narrow, 2);
            }
            pairs[m] = &paired[m * K2];
        }
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

template <class Term>
void multiply(const std::vector<const float*>& left, std::vector<const float*>& shifted, long K, const float* data,
              long first, long last, const Sums& c) {
    const long M = long(left.size());
    for (long from = 0; from < M; from += ROW_BLOCK) {
        long count = std::min(ROW_BLOCK, M - from);
        long tiles = (count + MOST_ROWS - 1) / MOST_ROWS, step = std::max(4L, PW * 4 / tiles);
        for (long k = 0; k < K; k += K_BLOCK) {
            long depth = std::min(K_BLOCK, K - k);
            shifted.assign(left.begin() + from, left.begin() + from + count);
            for (auto& row : shifted) row += k;
            const Sums sums = k == 0 ? c : c.again();
            long p = first;
            // Few rows: several panels at once, or the additions wait for each other.
            const auto several = [&](Tile few, long panels) {
                for (; p + panels <= last; p += panels)
                    few(shifted.data(), depth, data + (p * K + k) * PW, K * PW, sums.at(from, (p - first) * PW),
                        reinterpret_cast<const char*>(data + ((p + panels) * K + k) * PW), PW * 4);
            };
            if (count == 1) several(tile<Term, 1, 4>, 4);
            if (count == 2) several(tile<Term, 2, 2>, 2);
            if (count == 3) several(tile<Term, 3, 2>, 2);
            for (; p < last; p++) {
                const float* panel = data + (p * K + k) * PW;
                const char* next = reinterpret_cast<const char*>(panel + K * PW);
                for (long t = 0, m = 0; t < tiles; t++) {
                    long n = (count - m + tiles - t - 1) / (tiles - t);
                    TILES<Term>[n](&shifted[m], depth, panel, K * PW, sums.at(from + m, (p - first) * PW),
                                   next + t * depth * step, step);
                    m += n;
                }
            }
        }
    }
}

void multiply_bytes(Rows& rows, const Matrix& w, long first, long last, const Sums& c) {
    const long M = long(rows.floats.size()), K4 = up(w.inputs, 4) / 4, columns = up(w.outputs, PW), panel = K4 * 4 * PW;
    const int8_t* data = static_cast<const int8_t*>(w.data);
    const float* column_scales = reinterpret_cast<const float*>(data + K4 * 4 * columns);
    const float* column_sums = column_scales + columns;
    long tiles = (M + MOST_ROWS8 - 1) / MOST_ROWS8, step = std::max(1L, PW * 4 / tiles);
    long p = first;
    const auto at = [&] { return BytePanels{data + p * panel, panel, column_scales + p * PW, column_sums + p * PW}; };
    const auto several = [&](Tile8 few, long panels) {  // as above
        for (; p + panels <= last; p += panels)
            few(rows.starts.data(), rows.scales.data(), rows.lows.data(), K4, at(), c.at(0, (p - first) * PW),
                reinterpret_cast<const char*>(data + (p + panels) * panel), PW * 4);
    };
    if (M == 1) several(tile8<1, 4>, 4);
    if (M == 2) several(tile8<2, 2>, 2);
    if (M == 3) several(tile8<3, 2>, 2);
    for (; p < last; p++) {
        const char* next = reinterpret_cast<const char*>(data + (p + 1) * panel);
        for (long t = 0, m = 0; t < tiles; t++) {
            long n = (M - m + tiles - t - 1) / (tiles - t);
            TILES8[n](&rows.starts[m], &rows.scales[m], &rows.lows[m], K4, at(), c.at(m, (p - first) * PW),
                      next + t * K4 * step, step);
            m += n;
        }
    }
}

// Rows x the panels first..last of a matrix, whose first panel's columns stand at c. `rows` are prepared for it.
void multiply(Rows& rows, const Matrix& w, long first, long last, const Sums& c) {
    if (rows.floats.empty() || first >= last) return;
    const float* data = static_cast<const float*>(w.data);
    if (w.numbers == BYTES)
        multiply_bytes(rows, w, first, last, c);
    else if (w.numbers == PAIRS)
        multiply<Paired>(rows.pairs, rows.shifted, up(w.inputs, 2) / 2, data, first, last, c);
    else
        multiply<Singles>(rows.floats, rows.shifted, w.inputs, data, first, last, c);
}

// Column n of the result is column order[n] of w, zeros where that is negative.
void pack_columns(const float* w, long K, long stride, const int64_t* order, long columns, int64_t numbers, void* out,
                  long first, long last) {
    const long K4 = up(K, 4);
    float* floats = static_cast<float*>(out);
    int8_t* bytes = static_cast<int8_t*>(out);
    float* scales = reinterpret_cast<float*>(bytes + K4 * columns);
    for (long p = first; p < last; p++) {
        const int64_t* from = order + p * PW;
        if (numbers == PAIRS) {
            uint16_t* halves = static_cast<uint16_t*>(out) + p * up(K, 2) * PW;
            for (long k = 0; k < up(K, 2); k++)
                for (int l = 0; l < PW; l++)
                    halves[(k / 2 * PW + l) * 2 + k % 2] =
                        from[l] < 0 || k >= K ? 0 : to_bfloat16(w[k * stride + from[l]]);
            continue;
        }
        if (numbers == FLOATS) {
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

}  // namespace
