// SPDX-License-Identifier: MIT
/// \file
/// An upstream that refuses what is too large, and keeps a record.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

class LimitedUpstream : public std::pmr::memory_resource {
 public:
  explicit LimitedUpstream(std::size_t most = std::numeric_limits<std::size_t>::max()) : largest(most) {}
  LimitedUpstream(const LimitedUpstream&) = delete;
  LimitedUpstream& operator=(const LimitedUpstream&) = delete;

  std::size_t largest;              // bytes of one allocation
  std::vector<std::size_t> asked;   // bytes, also of what was refused
  std::size_t given = 0;            // allocations
  std::size_t returned = 0;         // allocations
  std::size_t held = 0;             // bytes
  std::function<void()> on_return;  // called before memory is freed

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    asked.push_back(bytes);
    if (bytes > largest) throw std::bad_alloc();
    void* const data = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    ++given;
    held += bytes;
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    if (on_return) on_return();
    ++returned;
    held -= bytes;
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};
