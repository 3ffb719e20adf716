// Products of stored rows, float16 or int8, with a few vectors.

#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "vectors.h"

namespace {

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
#if defined(__AVX512F__)  // GCC takes the vector apart where it is not told which instruction is meant
    return (V)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
    return (V)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
    typedef int8_t VS __attribute__((vector_size(VW)));
    VS bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(__builtin_convertvector(bytes, VI), V);
#endif
}

// R rows times Q vectors, all floats of `width`, zeros behind their ends. A sum's order is the same for any R and Q.
template <int R, int Q>
inline void row_tile(const float* rows, const float* vectors, long width, float* out, long ld) {
    V sums[R][Q] = {};
    for (long d = 0; d < width; d += VW) {
        V v[Q];
        for (int q = 0; q < Q; q++) v[q] = load(vectors + q * width + d);
        for (int r = 0; r < R; r++) {
            V x = load(rows + r * width + d);
            for (int q = 0; q < Q; q++) sums[r][q] += x * v[q];
        }
    }
    for (int r = 0; r < R; r++)
        for (int q = 0; q < Q; q++) {
            float total = 0;
            for (int l = 0; l < VW; l++) total += sums[r][q][l];
            out[q * ld + r] = total;
        }
}

template <int R>
inline void row_products(const float* rows, const float* vectors, long width, long Q, float* out, long ld) {
    long q = 0;
    for (; q + 2 <= Q; q += 2) row_tile<R, 2>(rows, vectors + q * width, width, out + q * ld, ld);
    if (q < Q) row_tile<R, 1>(rows, vectors + q * width, width, out + q * ld, ld);
}

constexpr long ROWS_TOGETHER = 4;

template <class Number, V (*Load)(const Number*)>
void all_row_products(const Number* rows, long first, long last, long D, const float* vectors, long width, long Q,
                      float* out, long ld) {
    std::vector<float> floats(ROWS_TOGETHER * width);
    std::vector<Number> end(VW);
    for (long n = first; n < last; n += ROWS_TOGETHER) {
        const long count = std::min(ROWS_TOGETHER, last - n);
        for (long r = 0; r < count; r++) {
            const Number* from = rows + (n + r) * D;
            float* to = floats.data() + r * width;
            long d = 0;
            for (; d + VW <= D; d += VW) store(to + d, Load(from + d));
            if (d < D) {
                std::memcpy(end.data(), from + d, (D - d) * sizeof(Number));
                store(to + d, Load(end.data()));
            }
        }
        if (count == ROWS_TOGETHER) {
            row_products<ROWS_TOGETHER>(floats.data(), vectors, width, Q, out + n, ld);
        } else {
            for (long r = 0; r < count; r++)
                row_products<1>(floats.data() + r * width, vectors, width, Q, out + n + r, ld);
        }
    }
}

}  // namespace
