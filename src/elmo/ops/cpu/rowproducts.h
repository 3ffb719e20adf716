// Products of stored rows, float16 or int8, with a few vectors.

#pragma once

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
