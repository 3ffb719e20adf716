// The projected LSTM, one direction of one layer.

#pragma once

#include <algorithm>
#include <vector>

#include "products.h"
#include "team.h"

namespace {

constexpr long HOISTED = 128;  // positions whose input products are held at once, where a step has fewer
constexpr long GATES = 4 * PW;  // the gates of a panel's units, which stand together

// How many positions' gates are held at most: [panels][positions][GATES], so that what a panel writes stays in the caches.
inline long gate_positions(long T, long B) { return std::min(std::max(HOISTED, B), T * B); }

struct Layer {  // one direction; as in kernels.py
    Matrix x, h, projection;
    const float* bias;  // in the columns' order, the forget gate's 1 added
};

struct Sizes {
    int64_t T, B, D, H, P;
    float cell_clip, projection_clip;  // infinity for none
};

void lstmp(const Layer& w, const Sizes& s, const int64_t* alive, const float* x, float* h, float* c, float* y, Team& team,
           int member, std::vector<float>& gates, std::vector<float>& cells, std::vector<float>& outputs) {
    const long panels = up(s.H, PW) / PW, ld = panels * PW + PW, room = gate_positions(s.T, s.B) * GATES;
    const long p0 = share(panels, member, team.size), p1 = share(panels, member + 1, team.size);
    const bool projected = w.projection.data != nullptr;
    const long out_panels = up(s.P, PW) / PW;
    const long q0 = share(out_panels, member, team.size), q1 = share(out_panels, member + 1, team.size);
    std::vector<float> projections((q1 - q0) * PW * s.B), zeros((q1 - q0) * PW);
    Rows rows;
    if (member == 0) {
        std::fill(cells.begin(), cells.end(), 0.0f);
        for (long b = 0; b < s.B; b++) std::copy(c + b * s.H, c + (b + 1) * s.H, &cells[b * ld]);
    }
    const V most = splat(s.cell_clip);
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
            rows.prepare(w.x.numbers, s.D);
            for (long p = p0; p < p1; p++)
                multiply(rows, w.x, p * 4, p * 4 + 4, Sums{&gates[p * room], GATES, w.bias + p * GATES, 0});
        }
        rows.clear();
        rows.add(t == 0 ? h : y + (t - 1) * s.B * s.P, n, s.P);
        rows.prepare(w.h.numbers, s.P);
        team.wait();  // all of the step before is there
        for (long p = p0; p < p1; p++) {
            float* step = &gates[p * room + at * GATES];
            multiply(rows, w.h, p * 4, p * 4 + 4, onto(step, GATES));
            for (long m = 0; m < n; m++) {
                const float* g = step + m * GATES;
                float* cell = &cells[m * ld + p * PW];
                float* out = &outputs[m * ld + p * PW];
                for (int j = 0; j < PW; j += VW) {
                    V v = joined(sigmoid(load(g + 2 * PW + j)).value(), load(cell + j),
                                 (sigmoid(load(g + j)) * tanh(load(g + PW + j))).value());
                    v = larger(smaller(v, most), -most);
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
            rows.prepare(w.projection.numbers, s.H);
            const long width = (q1 - q0) * PW;
            multiply(rows, w.projection, q0, q1, Sums{projections.data(), width, zeros.data(), 0});
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

}  // namespace
