// Threads that share one piece of work.

#pragma once

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

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

}  // namespace
