// SPDX-License-Identifier: MIT
/// \file
/// A block of threads on the host: runs the templates that a kernel runs, under schedules that a GPU need not show.
///
/// Every thread calls the same kernel with an EmulatedGroup and the same bytes as shared memory. The schedule decides who is
/// `late`: after each barrier, and at the start, a late thread stands still until no other thread can go on, because all
/// of them have ended, wait at a barrier, or are late themselves. Where a barrier is missing the others have by then gone
/// as far ahead as the kernel allows, so that what a race may do happens every time; where it is there nothing changes.
/// Several late threads go one after another. It cannot deadlock: when all have stopped, one late thread goes on.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace test {

class EmulatedBlock;

/// What a thread of a kernel knows of its block; a scratchpad::ThreadGroup.
class EmulatedGroup {
 public:
  EmulatedGroup(EmulatedBlock& block, std::size_t rank) : block_(&block), rank_(rank) {}
  std::size_t thread_rank() const { return rank_; }
  std::size_t size() const;
  void sync() const;

 private:
  EmulatedBlock* block_;
  std::size_t rank_;
};

/// Who is late. A vector of ranks; empty: nobody, the operating system decides.
using Late = std::vector<std::size_t>;

inline Late all_but(std::size_t rank, std::size_t threads) {
  Late late;
  for (std::size_t r = 0; r < threads; ++r) {
    if (r != rank) late.push_back(r);
  }
  return late;
}

/// One thread runs at a time, and goes on to the next barrier: what a kernel without its barriers does wrong then is wrong
/// every time, and still no data race.
inline Late everybody(std::size_t threads) { return all_but(threads, threads); }

/// Nobody late, everybody, everybody but one, and everybody once.
inline std::vector<Late> schedules(std::size_t threads) {
  std::vector<Late> result{{}, everybody(threads), all_but(0, threads), all_but(threads - 1, threads)};
  for (std::size_t r = 0; r < threads; ++r) result.push_back({r});
  return result;
}

class EmulatedBlock {
 public:
  static constexpr std::size_t alignment = 1024;

  /// \param shared_bytes of shared memory, at a multiple of `alignment`
  explicit EmulatedBlock(std::size_t threads, std::size_t shared_bytes = 0, const Late& late = {})
      : late_(threads, false),
        syncs_(threads),
        errors_(threads),
        memory_(shared_bytes / alignment + 1),
        shared_bytes_(shared_bytes) {
    for (std::size_t rank : late) late_[rank] = true;
  }
  EmulatedBlock(const EmulatedBlock&) = delete;
  EmulatedBlock& operator=(const EmulatedBlock&) = delete;

  /// Calls `kernel(group, shared)` in every thread, and returns when all have ended. Shared memory begins as garbage that
  /// every IEEE format reads as NaN. A thread that throws has left the block, as on a device one that returns has.
  template <class Kernel>
  void run(const Kernel& kernel) {
    std::memset(memory_.data(), 0xFF, memory_.size() * sizeof(Chunk));
    std::fill(syncs_.begin(), syncs_.end(), 0);
    std::fill(errors_.begin(), errors_.end(), nullptr);
    running_ = size();
    ended_ = 0;
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      threads.emplace_back([this, rank, &kernel] {
        begin(rank);
        try {
          kernel(EmulatedGroup(*this, rank), shared());
        } catch (...) {
          errors_[rank] = std::current_exception();
        }
        end();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::size_t size() const { return late_.size(); }
  std::span<std::byte> shared() { return {memory_.data()->bytes, shared_bytes_}; }

  /// Of the last run. Barriers that this thread has come to.
  int syncs(std::size_t rank) const { return syncs_[rank]; }
  /// What left the kernel; null: nothing.
  std::exception_ptr error(std::size_t rank) const { return errors_[rank]; }
  bool any_error() const {
    return std::any_of(errors_.begin(), errors_.end(), [](const auto& error) { return error != nullptr; });
  }

 private:
  friend class EmulatedGroup;
  struct alignas(alignment) Chunk {
    std::byte bytes[alignment];
  };

  void begin(std::size_t rank) {
    std::unique_lock lock(mutex_);
    stand_still_if_late(rank, lock);
  }

  void sync(std::size_t rank) {
    std::unique_lock lock(mutex_);
    ++syncs_[rank];
    --running_;
    ++waiting_;
    const std::size_t barrier = barriers_;
    open_if_all_are_there();
    changed_.notify_all();
    changed_.wait(lock, [&] { return barriers_ != barrier; });
    stand_still_if_late(rank, lock);
  }

  void end() {
    const std::lock_guard lock(mutex_);
    --running_;
    ++ended_;
    open_if_all_are_there();
    changed_.notify_all();
  }

  void open_if_all_are_there() {
    if (waiting_ == 0 || waiting_ + ended_ != size()) return;
    ++barriers_;
    running_ += std::exchange(waiting_, 0);
  }

  void stand_still_if_late(std::size_t rank, std::unique_lock<std::mutex>& lock) {
    if (!late_[rank]) return;
    --running_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return running_ == 0; });
    ++running_;
  }

  std::vector<bool> late_;
  std::vector<int> syncs_;
  std::vector<std::exception_ptr> errors_;
  std::vector<Chunk> memory_;
  std::size_t shared_bytes_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;  // neither waiting, nor ended, nor late and standing still
  std::size_t waiting_ = 0;
  std::size_t ended_ = 0;
  std::size_t barriers_ = 0;
};

inline std::size_t EmulatedGroup::size() const { return block_->size(); }
inline void EmulatedGroup::sync() const { block_->sync(rank_); }

}  // namespace test
