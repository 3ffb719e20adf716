// Threads that share one piece of work.

#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct Broken {};  // thrown to those who would wait for one that will not come

struct Team {  // threads that work on one thing and wait for each other
    int size;
    std::atomic<int> arrived{0}, round{0};
    std::atomic<bool> broken{false};
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
        for (int spins = 0; round.load(std::memory_order_acquire) == now; spins++) {
            if (broken.load(std::memory_order_relaxed)) throw Broken{};
            if (spins > 4000) std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    }
};

// work(0) .. work(threads - 1) at the same time. Where one throws, or cannot be started, `give_up` breaks the teams, all
// others come to their end, and the first exception is thrown here: one that left a thread would end the process.
template <class Work, class GiveUp>
void run(int threads, Work work, GiveUp give_up) {
    std::mutex lock;
    std::exception_ptr first;
    auto failed = [&] {
        std::lock_guard<std::mutex> held(lock);
        if (!first) first = std::current_exception();
        give_up();
    };
    auto guarded = [&](int n) {
        try {
            work(n);
        } catch (const Broken&) {
        } catch (...) {
            failed();
        }
    };
    std::vector<std::thread> others;
    bool all = true;
    try {
        for (int n = 1; n < threads; n++) others.emplace_back(guarded, n);
    } catch (...) {
        all = false;
        failed();
    }
    if (all) guarded(0);
    for (auto& other : others) other.join();
    if (first) std::rethrow_exception(first);
}

template <class Work>
void run(int threads, Work work) {
    run(threads, work, [] {});
}

inline long share(long count, int part, int parts) { return count * part / parts; }

}  // namespace
