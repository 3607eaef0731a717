// SPDX-License-Identifier: MIT
/// \file
/// MemorySpace: what a pool must know of the memory it bumps. HostSpace: the answers for ordinary memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// `Space::quantum == dynamic_quantum`: the quantum is an argument of the pool's constructor, for a device whose
/// alignment is only known at run time.
inline constexpr std::size_t dynamic_quantum = static_cast<std::size_t>(-1);

/// A memory space is a type without objects; it names a kind of memory and says how a pool treats it.
///
/// | member | meaning |
/// |---|---|
/// | `name` | for messages |
/// | `quantum` | bytes; a power of two, or `dynamic_quantum`. The alignment of every block, size and offset |
/// | `max_depth` | how many save-points a pool can hold at once, 1 to 65,535 |
/// | `host_accessible` | the host may read and write the bytes (observers that fill them look at this) |
/// | `bounds_checked` | false: blocks are handed out without a check, for a pool that has exactly the measured size of the layout it serves; an overflow is then undefined behaviour |
/// | `copy(dst, src, bytes)` | copies within the space; the ranges do not overlap |
///
/// Optional: `shared_by_threads`, true where several threads use the bytes together (false where it is missing).
///
/// Two spaces with the same members are still two spaces: a tensor of one is not accepted for the other.
template <class Space>
concept MemorySpace = requires(void* dst, const void* src, std::size_t bytes) {
  { Space::name } -> std::convertible_to<std::string_view>;
  { Space::quantum } -> std::convertible_to<std::size_t>;
  { Space::max_depth } -> std::convertible_to<std::uint32_t>;
  { Space::host_accessible } -> std::convertible_to<bool>;
  { Space::bounds_checked } -> std::convertible_to<bool>;
  Space::copy(dst, src, bytes);
  requires Space::quantum == dynamic_quantum || bump::is_power_of_two<std::size_t>(Space::quantum);
  requires Space::max_depth >= 1 && Space::max_depth <= 65'535;
};

/// Whether several threads use the bytes of this space together, so that a scope in it needs a fence.
template <class Space>
inline constexpr bool shared_by_threads = false;
template <class Space>
  requires requires { requires Space::shared_by_threads; }
inline constexpr bool shared_by_threads<Space> = true;

namespace detail {

/// A quantum known at compile time takes no storage.
template <std::size_t Static>
class Quantum {
 public:
  constexpr explicit Quantum(std::size_t) {}
  static constexpr std::size_t bytes() { return Static; }
};
template <>
class Quantum<dynamic_quantum> {
 public:
  constexpr explicit Quantum(std::size_t quantum) : bytes_(quantum) {}
  constexpr std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

}  // namespace detail

/// Ordinary memory of the thread that runs. Derive from it to name a space of your own and to change single members:
/// `struct Tcm : sp::HostSpace { static constexpr std::string_view name = "tcm"; };`
struct HostSpace {
  static constexpr std::string_view name = "host";
  static constexpr std::size_t quantum = 16;
  static constexpr std::uint32_t max_depth = 32;
  static constexpr bool host_accessible = true;
  static constexpr bool bounds_checked = true;
  SCRATCHPAD_HD static void copy(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }
};
static_assert(MemorySpace<HostSpace>);

}  // namespace SCRATCHPAD_NAMESPACE
