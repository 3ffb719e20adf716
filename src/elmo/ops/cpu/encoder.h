// The character encoder: convolutions, highways, projection.

#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "products.h"
#include "team.h"

namespace {

constexpr long WORDS_AT_ONCE = 192, WORDS_ALONE = 48;

struct Encoder {  // as in kernels.py
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
    const float zeros[PW] = {};
    long offset = 0;
    for (long f = 0; f < e.widths; f++) {
        const Matrix& w = e.filters[f];
        const float* data = static_cast<const float*>(w.data);
        long K = w.inputs, panels = up(w.outputs, PW) / PW;
        for (long p = 0; p < panels; p++)
            for (long word = first; word < last; word++) {
                long V_ = columns[word - first] - e.width[f] + 1;
                for (long v = 0; v < V_; v++) windows[v] = &embedded[start[word - first] + v * e.E];
                long tiles = (V_ + MOST_ROWS - 1) / MOST_ROWS;
                const char* here = reinterpret_cast<const char*>(data + p * K * PW);
                for (long t = 0, m = 0; t < tiles; t++) {
                    long n = (V_ - m + tiles - t - 1) / (tiles - t);
                    TILES<Singles>[n](&windows[m], K, data + p * K * PW, 0, Sums{&scores[m * PW], PW, zeros, 0}, here, 0);
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
            rows.prepare(e.carry[k].numbers, e.F);
            for (long p = p0; p < p1; p++) {
                const long bias = (k * panels + p) * PW;
                multiply(rows, e.carry[k], p, p + 1, Sums{carry.data(), PW, e.carry_bias + bias, 0});
                multiply(rows, e.transform[k], p, p + 1, Sums{transform.data(), PW, e.transform_bias + bias, 0});
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
            rows.prepare(e.projection.numbers, e.F);
            for (long q = q0; q < q1; q++) {
                multiply(rows, e.projection, q, q + 1, Sums{carry.data(), PW, e.projection_bias + q * PW, 0});
                for (long m = 0; m < n; m++)
                    std::copy(&carry[m * PW], &carry[m * PW] + std::min(long(PW), long(e.D) - q * PW),
                              out + (from + m) * e.D + q * PW);
            }
        }
        team.wait();
    }
}

}  // namespace
