"""What this processor's instructions reach by themselves, and the work of embedding a text: for the share that is used.

    python -m benchmarks.cpu.peaks

Products of a register with a register, nothing read from memory: float32 (FMA), bytes (dpbusd) and bfloat16 (dpbf16),
each only where the processor has it; one thread, by processor time, the best of five. Needs a C++ compiler. Beside them
what a library reaches, which reads its matrices: NumPy's product of two of 2,048 x 2,048 in float32. OpenBLAS may take
kernels for AVX2 where the processor has AVX-512, so those for AVX-512 are tried too; the best counts.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig

# 12 sums in flight hide an instruction's latency. The empty assembler keeps the compiler from seeing a constant, and
# from seeing that all sums are equal: it would compute one of them and give the rate of a latency.
SOURCE = r"""
#include <immintrin.h>
#include <cstdio>
#include <ctime>
static double now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
const long ROUNDS = 10000000;
template <class R, class Add>
void measure(const char* name, R start, R factor, double operations, Add add) {
    double best = 1e9;
    for (int repeat = 0; repeat < 5; repeat++) {
        R sums[12];
        for (auto& sum : sums) {
            sum = start;
            asm volatile("" : "+v"(sum));
        }
        double began = now();
        for (long i = 0; i < ROUNDS; i++) {
            asm volatile("" : "+v"(factor));
#pragma GCC unroll 12
            for (int j = 0; j < 12; j++) sums[j] = add(sums[j], factor);
        }
        double took = now() - began;
        for (auto& sum : sums) asm volatile("" : "+v"(sum));
        if (took < best) best = took;
    }
    std::printf("%s %.1f\n", name, ROUNDS * 12 * operations / best / 1e9);
}
int main() {
#if defined(__AVX512F__)
    measure("float32", _mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f), 32,
            [](__m512 s, __m512 f) { return _mm512_fmadd_ps(f, f, s); });
#elif defined(__FMA__)
    measure("float32", _mm256_set1_ps(0.5f), _mm256_set1_ps(0.5f), 16,
            [](__m256 s, __m256 f) { return _mm256_fmadd_ps(f, f, s); });
#endif
#if defined(__AVX512VNNI__)
    measure("int8", _mm512_set1_epi32(1), _mm512_set1_epi32(0x01010101), 128,
            [](__m512i s, __m512i f) { return _mm512_dpbusd_epi32(s, f, f); });
#elif defined(__AVXVNNI__)
    measure("int8", _mm256_set1_epi32(1), _mm256_set1_epi32(0x01010101), 64,
            [](__m256i s, __m256i f) { return _mm256_dpbusd_avx_epi32(s, f, f); });
#endif
#if defined(__AVX512BF16__)
    measure("bfloat16", _mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f), 64,
            [](__m512 s, __m512 f) { return _mm512_dpbf16_ps(s, (__m512bh)f, (__m512bh)f); });
#endif
}
"""


def peaks() -> dict[str, float]:
    """Billions of operations a second of one thread, by what is multiplied; empty where that cannot be measured."""
    compiler = os.environ.get("CXX") or shutil.which("c++")
    if compiler is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "peaks.cpp"), Path(folder, "peaks")
        source.write_text(SOURCE, encoding="ascii")
        command = [compiler, "-O3", "-std=c++17", "-march=native", str(source), "-o", str(program)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return {}
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    return {name: float(rate) for name, rate in map(str.split, done.stdout.splitlines())}


GEMM = """
import time
import numpy as np
n = 2048
a, b = (np.random.default_rng(seed).standard_normal((n, n), np.float32) for seed in (0, 1))
best = float("inf")
for _ in range(9):
    start = time.process_time()
    a @ b
    best = min(best, time.process_time() - start)
print(2 * n**3 / best / 1e9)
"""


def gemm_rate() -> float:
    """Billions of operations a second of one thread in NumPy's float32 product."""
    rates = []
    for kernels in ({}, {"OPENBLAS_CORETYPE": "SkylakeX"}):
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        command = [sys.executable, "-c", GEMM]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **threads, **kernels}
        )
        if done.returncode == 0:  # a processor without AVX-512 ends the second
            rates.append(float(done.stdout))
    return max(rates)


def operations(config: BiLMConfig, sentences: Sequence[Sequence[str]]) -> float:
    """Multiplications and additions of the products for these sentences: each distinct word once, no padding."""
    lstm, tokens = config.lstm, config.tokens
    assert isinstance(tokens, CharCNNConfig)
    H, P, R = lstm.cell_dim, lstm.output_dim, lstm.directions
    positions = sum(len(sentence) + 2 for sentence in sentences)
    recurrent = positions * R * lstm.layers * 2 * (2 * P * 4 * H + H * P)
    F, D = tokens.filter_count, tokens.output_dim
    widest = max(width for width, _ in tokens.filters)
    encoder = 0
    for word in {word for sentence in sentences for word in sentence}:
        columns = min(tokens.characters, len(word.encode()[: tokens.characters - 2]) + 2 + widest)
        encoder += sum((columns - width + 1) * width * tokens.embedding_dim * count for width, count in tokens.filters)
        encoder += tokens.highways * 2 * F * F + F * D
    return float(recurrent + 2 * encoder)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name, rate in peaks().items():
        print(f"{name}: {rate:.0f} billion operations a second, one thread")
    print(f"NumPy's product, float32: {gemm_rate():.0f} billion operations a second, one thread")


if __name__ == "__main__":
    main()
