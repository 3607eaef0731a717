// SPDX-License-Identifier: MIT
/// \file
/// What can go wrong, and how it leaves: as an exception; without exceptions through a failure handler; on a device
/// through a trap. In every case nothing has been changed when it does.
///
/// | type | is a | when |
/// |---|---|---|
/// | `ScratchOverflow` | `std::bad_alloc` | a request does not fit; carries an `Overflow` |
/// | `ApiMisuse` | `std::logic_error` | a call that no pool in this state can serve; the message names the numbers and the cure |
/// | `LayoutDivergence` | `std::logic_error` | a run differs from the plan it is checked against |
/// | `ShapeMismatch` | `std::invalid_argument` | two tensors whose extents must agree do not |
///
/// The exceptions hold their text in a buffer of their own. Nothing is allocated to make one beyond what the standard
/// base class and the throw itself take (libstdc++: nothing for the base).
#pragma once

#include <atomic>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Everything that is known about a request that did not fit. Sizes are in bytes; what would not fit into a size_t is
/// given as its largest value, never wrapped.
struct Overflow {
  std::string_view space;         ///< name of the pool's memory space
  const char* label = "";         ///< of the block asked for; "" where it has none
  std::size_t elements = 0;       ///< asked for
  std::size_t element_bytes = 0;  ///< of one element
  std::size_t bytes = 0;          ///< asked for: elements * element_bytes
  std::size_t reserved = 0;       ///< bytes rounded up to the quantum
  std::size_t padding = 0;        ///< in front of the block, where its alignment is above the quantum
  std::size_t used = 0;           ///< in the pool, before the request
  std::size_t capacity = 0;       ///< of the pool; while measuring, of the region it measures over
  std::size_t missing = 0;        ///< how much larger the pool must be for this request
  std::size_t peak = 0;           ///< most bytes used at once so far
  std::uint32_t depth = 0;        ///< open save-points
  bool measuring = false;         ///< the pool only measures: the request is larger than any memory

  /// The bytes that the whole layout needs, where an observer knows it (else 0): raise the budget once, to this.
  std::size_t layout_bytes = 0;

  /// A block that was in use.
  struct LiveBlock {
    const char* label = "";  ///< "" where it has none
    std::size_t bytes = 0;   ///< rounded up to the quantum
  };
  static constexpr std::size_t max_largest = 3;  ///< blocks
  LiveBlock largest[max_largest] = {};  ///< largest live blocks, where an observer knows them; unused ones have 0 bytes
};

namespace detail {

/// An address, printed as one.
struct Address {
  const void* value;
};

/// Text in a fixed buffer: no allocation, no locale, cut off at the end. Numbers go through std::to_chars.
class Message {
 public:
  template <class... Parts>
  explicit Message(const Parts&... parts) {
    (append(parts), ...);
  }
  Message& append(std::string_view text) {
    for (char c : text) {
      if (size_ + 1 == sizeof text_) return *this;
      text_[size_++] = c;
    }
    text_[size_] = '\0';
    return *this;
  }
  Message& append(const char* text) { return append(std::string_view(text)); }
  template <std::integral Number>
    requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
  Message& append(Number number) { return digits(number, 10); }
  /// Anything that knows how to write itself.
  template <class Part>
    requires requires(const Part& part, Message& sink) { part.append_to(sink); }
  Message& append(const Part& part) {
    part.append_to(*this);
    return *this;
  }
  Message& append(Address address) {
    append("0x");
    return digits(reinterpret_cast<std::uintptr_t>(address.value), 16);
  }
  const char* c_str() const { return text_; }

 private:
  template <class Number>
  Message& digits(Number number, int base) {
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, base).ptr;
    return append(std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
  }

  std::size_t size_ = 0;
  char text_[512] = "";
};

inline Message describe(const Overflow& o) {
  Message m("scratch overflow: ");
  m.append(*o.label != '\0' ? o.label : "a block").append(" asks for ").append(o.bytes).append(" bytes (");
  m.append(o.elements).append(" x ").append(o.element_bytes).append(", ").append(o.reserved).append(" rounded up");
  if (o.padding != 0) m.append(", after ").append(o.padding).append(" of padding");
  m.append("); pool '").append(o.space).append("' has used ").append(o.used).append(" of ").append(o.capacity);
  m.append(o.measuring ? " that can be measured" : "").append(", ").append(o.missing).append(" are missing (depth ");
  m.append(o.depth).append(", peak ").append(o.peak).append(")");
  if (o.layout_bytes != 0) m.append("; the whole layout needs ").append(o.layout_bytes);
  for (const Overflow::LiveBlock& block : o.largest) {
    if (block.bytes == 0) break;
    m.append(&block == o.largest ? "; largest live blocks: " : ", ");
    m.append(*block.label != '\0' ? block.label : "(no label)").append(" ").append(block.bytes);
  }
  return m;
}

}  // namespace detail

/// Which of the four errors.
enum class FailureKind : std::uint8_t { overflow, misuse, divergence, shape };
/// What a failure handler is told.
struct Failure {
  FailureKind kind;                    ///< which error
  const char* message;                 ///< what the exception's what() would be; valid during the call only
  const Overflow* overflow = nullptr;  ///< of FailureKind::overflow
};

/// A request does not fit into its pool. The pool is as it was.
class ScratchOverflow : public std::bad_alloc {
 public:
  static constexpr FailureKind kind = FailureKind::overflow;
  explicit ScratchOverflow(const Overflow& overflow) : overflow_(overflow), message_(detail::describe(overflow)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const Overflow& overflow() const noexcept { return overflow_; }
  Failure failure() const noexcept { return {kind, what(), &overflow_}; }

 private:
  Overflow overflow_;
  detail::Message message_;
};

namespace detail {

/// The other three: a standard category and a text.
template <class Base, FailureKind Kind>
class TextError : public Base {
 public:
  static constexpr FailureKind kind = Kind;
  template <class... Parts>
  explicit TextError(const Parts&... parts) : Base(""), message_(parts...) {}
  const char* what() const noexcept override { return message_.c_str(); }
  Failure failure() const noexcept { return {kind, what()}; }

 private:
  Message message_;
};

}  // namespace detail

/// The caller's programming error: no pool in this state can do what was asked. Everything is as it was.
class ApiMisuse : public detail::TextError<std::logic_error, FailureKind::misuse> {
  using TextError::TextError;
};

/// A run differs from the plan it is checked against; the message names the first difference and both sides.
class LayoutDivergence : public detail::TextError<std::logic_error, FailureKind::divergence> {
  using TextError::TextError;
};

/// Two tensors whose extents must agree do not; the message names both. No byte was moved.
class ShapeMismatch : public detail::TextError<std::invalid_argument, FailureKind::shape> {
  using TextError::TextError;
};

/// Called before the program stops: for every failure where exceptions are off, and in every build for the ones that
/// are found in a destructor, which cannot throw. It may end the program in its own way; if it returns, `std::abort`
/// follows.
using FailureHandler = void (*)(const Failure&);

namespace detail {
inline std::atomic<FailureHandler> failure_handler{nullptr};
}

/// Installs `handler` (nullptr: none) and returns the one before it. Thread-safe.
inline FailureHandler set_failure_handler(FailureHandler handler) { return detail::failure_handler.exchange(handler); }

namespace detail {

[[noreturn]] SCRATCHPAD_COLD inline void stop(const Failure& failure) {
  if (const FailureHandler handler = failure_handler.load()) handler(failure);
  std::abort();
}

/// Ends the call with an Exception made of `parts`. Reached from functions that also run on a device; there only a trap
/// is left of it, because a thread of a kernel has neither exceptions nor anybody to read a message.
template <class Exception, class... Parts>
[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD void raise([[maybe_unused]] const Parts&... parts) {
  if constexpr (in_device_code) {
    trap();
  } else {
    SCRATCHPAD_THROW(Exception(parts...));
    stop(Exception(parts...).failure());
  }
}

/// The same where nothing may be thrown: a destructor has found a programming error.
template <class Exception, class... Parts>
[[noreturn]] SCRATCHPAD_COLD SCRATCHPAD_HD void stop_with([[maybe_unused]] const Parts&... parts) {
  if constexpr (in_device_code) {
    trap();
  } else {
    stop(Exception(parts...).failure());
  }
}

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
