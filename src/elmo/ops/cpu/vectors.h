// Vectors of a CPU's registers: loading, comparing, and the functions of the gates.

#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int VW = 16, MOST_ROWS = 8, MOST_ROWS8 = 12;  // with more rows of floats GCC spills pointers
#else
constexpr int VW = 8, MOST_ROWS = 6, MOST_ROWS8 = 6;
#endif
constexpr int PW = 2 * VW;  // columns of a panel

typedef float V __attribute__((vector_size(VW * 4), aligned(4), may_alias));
typedef uint8_t VB __attribute__((vector_size(VW)));
typedef int32_t VI __attribute__((vector_size(VW * 4), aligned(4), may_alias));

inline long up(long n, long to) { return (n + to - 1) / to * to; }
inline V load(const float* p) { return *reinterpret_cast<const V*>(p); }
inline void store(float* p, V v) { *reinterpret_cast<V*>(p) = v; }
inline V splat(float x) { return x - V{}; }
inline V choose(VI mask, V a, V b) { return mask ? a : b; }
// One instruction each. GCC makes two of a choice, and where a minimum follows, no longer joins a product and a sum.
#if defined(__AVX512F__)
inline V smaller(V a, V b) { return (V)_mm512_min_ps((__m512)a, (__m512)b); }
inline V larger(V a, V b) { return (V)_mm512_max_ps((__m512)a, (__m512)b); }
inline V joined(V a, V b, V c) { return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__AVX2__)
inline V smaller(V a, V b) { return (V)_mm256_min_ps((__m256)a, (__m256)b); }
inline V larger(V a, V b) { return (V)_mm256_max_ps((__m256)a, (__m256)b); }
inline V joined(V a, V b, V c) { return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#else
inline V smaller(V a, V b) { return choose(a < b, a, b); }
inline V larger(V a, V b) { return choose(a > b, a, b); }
inline V joined(V a, V b, V c) { return a * b + c; }
#endif

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

}  // namespace
