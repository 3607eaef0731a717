// SPDX-License-Identifier: MIT
/// \file
/// LoanLedger: which bytes of an arena are lent, and when they may be lent again. The rules of leases are here; the arena
/// and the lease are its two handles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <memory_resource>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <scratchpad/bump.hpp>
#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/memory_space.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/workspace/block_list.hpp>
#include <scratchpad/workspace/lease_report.hpp>
#include <scratchpad/workspace/pending_event.hpp>
#include <scratchpad/workspace/queue_failure.hpp>
#include <scratchpad/workspace/workspace_statistics.hpp>

namespace SCRATCHPAD_NAMESPACE {
namespace detail {

/// The loans of one arena: a stack over its blocks. An ended loan that is not on top stays in it until what lies above has
/// gone, so nothing live is ever rewound over.
///
/// Shared by the arena and its leases, so that a lease that outlives its arena still has its bytes. One thread uses it.
class LoanLedger {
 public:
  static constexpr std::size_t no_loan = static_cast<std::size_t>(-1);
  enum class Cause : std::uint8_t { release, move_assignment };
  struct Lent {
    std::byte* data = nullptr;
    std::size_t loan = no_loan;  ///< its level in the stack, which does not change while it is live
  };

  LoanLedger(std::pmr::memory_resource* upstream, std::size_t device_alignment, bool in_order, bool checked)
      : quantum_((std::max)(device_alignment, HostSpace::quantum)),
        blocks_(upstream, quantum_),
        owner_(std::this_thread::get_id()),
        in_order_(in_order),
        checked_(checked) {
    if (upstream == nullptr) raise<ApiMisuse>("WorkspaceArena: no upstream");
    if (!bump::is_power_of_two(quantum_)) {
      raise<ApiMisuse>("WorkspaceArena: the queue asks for an alignment of ", quantum_, " bytes, no power of two");
    }
  }
  LoanLedger(const LoanLedger&) = delete;
  LoanLedger& operator=(const LoanLedger&) = delete;
  virtual ~LoanLedger() = default;

  /// Lends `bytes` bytes: nothing changes if it fails, but for loans that had ended and are now handed back.
  Lent lend(std::size_t bytes, Alignment asked, Label label) {
    prepare("lease");
    if (!bump::is_power_of_two(asked.bytes)) {
      raise<ApiMisuse>("WorkspaceArena::lease: an alignment of ", asked.bytes, " bytes for '", label.text,
                       "' is no power of two");
    }
    if (bytes == 0) return {};
    // First of all, so that nothing can fail once the bytes are there.
    if (loans_.size() == loans_.capacity()) loans_.reserve(2 * loans_.size() + 16);
    const std::size_t alignment = (std::max)(asked.bytes, quantum_);
    const auto spot = find_or_grow(bytes, alignment, label);
    loans_.push_back({LoanState::live, cursor_, spot.taken, nullptr});
    cursor_ = spot.end;
    used_ += spot.taken;
    peak_ = (std::max)(peak_, used_);
    ++live_;
    return {spot.data, loans_.size() - 1};
  }

  void reserve(std::size_t bytes, Label label) {
    prepare("reserve");
    if (bytes != 0) find_or_grow(bytes, quantum_, label);
  }

  void freeze() { frozen_ = true; }
  bool is_frozen() const { return frozen_; }
  std::size_t quantum() const { return quantum_; }

  /// Ends a live loan, and hands back what can be.
  void end(std::size_t loan, Cause cause) noexcept {
    mark(loan, LoanState::ended, cause);
    if (!closed_) {
      settle(Retry::yes);
    } else if (live_ == 0) {
      blocks_.clear();
    }
  }

  /// Ends a live loan; its bytes are handed back at the first look at the event that finds it complete.
  void end_after(std::size_t loan, std::unique_ptr<PendingEvent> event) noexcept {
    if (closed_) {
      if (!attempt([&] { event->wait(); }, loans_[loan].taken)) blocks_.abandon();
      return end(loan, Cause::release);
    }
    loans_[loan].event = std::move(event);
    mark(loan, LoanState::pending, Cause::release);
  }

  /// The arena ends. All work is waited for now, because the queue may be gone when the last lease ends.
  void close() noexcept {
    settle(Retry::yes);
    bool finished = (loans_.empty() && !unfinished_) || wait(used_);
    for (Loan& loan : loans_) {
      if (loan.event) finished = attempt([&] { loan.event->wait(); }, loan.taken) && finished;
    }
    closed_ = true;
    if (live_ != 0) {
      const std::size_t bytes = bytes_in(LoanState::live);
      report(LeaseReportKind::arena_destroyed, bytes, "a WorkspaceArena was destroyed while ", live_, " leases of ",
             bytes, " bytes were live; their memory stays until they end, and no queue is waited for any more");
    }
    if (!finished) blocks_.abandon();
    if (live_ == 0) blocks_.clear();
  }

  void check_usable(const char* call) const {
    if (checked_ && std::this_thread::get_id() != owner_) {
      raise<ApiMisuse>("WorkspaceArena::", call, ": called from another thread than the one that made the arena; each ",
                       "thread needs a queue and an arena of its own");
    }
    if (closed_) raise<ApiMisuse>("WorkspaceLease::", call, ": the arena was destroyed");
  }

  WorkspaceStatistics statistics() const {
    return {.live = live_,
            .used = used_,
            .stranded = bytes_in(LoanState::ended),
            .pending = bytes_in(LoanState::pending),
            .quarantined = bytes_in(LoanState::quarantined),
            .capacity = blocks_.capacity(),
            .peak = peak_,
            .blocks = blocks_.size(),
            .drains = drains_,
            .refused = refused_};
  }
  std::size_t stranded_bytes() const { return bytes_in(LoanState::ended); }

 protected:
  virtual void wait_for_queue() = 0;

 private:
  enum class LoanState : std::uint8_t {
    live,
    ended,        // released; handed back as soon as it is on top
    pending,      // released; handed back when it is on top and its event is complete
    quarantined,  // released, and the queue could not be waited for
  };
  enum class Retry : bool { no, yes };

  struct Loan {
    LoanState state;
    BlockList::Cursor before;  // where the arena stood: going back to it also gives back a skipped tail
    std::size_t taken;         // bytes, padding and rounding included
    std::unique_ptr<PendingEvent> event;
  };

  /// What comes before anything is acquired.
  void prepare(const char* call) {
    check_usable(call);
    settle(Retry::no);
    tell_failure(call);
  }

  void tell_failure(const char* call) {
    const auto failure = std::exchange(failure_, std::nullopt);
    if (failure) raise<QueueFailure>(call, *failure, used_ - bytes_in(LoanState::live));
  }

  BlockList::Spot find_or_grow(std::size_t bytes, std::size_t alignment, Label label) {
    auto spot = blocks_.find(cursor_, bytes, alignment);
    if (!spot && !frozen_) {
      const bool grown = loans_.empty() && !blocks_.empty() ? merge(bytes, alignment) : blocks_.grow(bytes, alignment);
      if (grown) spot = blocks_.find(cursor_, bytes, alignment);
    }
    if (!spot) refuse(bytes, alignment, label);
    return *spot;
  }

  bool merge(std::size_t bytes, std::size_t alignment) {
    // In-order releases did not wait, but memory must not be freed under work.
    if (unfinished_ && !wait(blocks_.capacity())) tell_failure("growth");
    return blocks_.merge(bytes, alignment, peak_);
  }

  void mark(std::size_t index, LoanState state, Cause cause) noexcept {
    loans_[index].state = state;
    --live_;
    if (!checked_ || closed_ || cause == Cause::move_assignment) return;
    std::size_t later = 0;
    for (std::size_t i = index + 1; i < loans_.size(); ++i) later += loans_[i].state == LoanState::live ? 1U : 0U;
    if (later == 0) return;
    report(LeaseReportKind::stranded, loans_[index].taken, "a WorkspaceLease of ", loans_[index].taken,
           " bytes ended before ", later, " that were made after it; its bytes are stranded until those have ended");
  }

  /// Hands back ended loans from the top of the stack down to the first one that must stay. At most one wait, and none if
  /// nothing is handed back.
  void settle(Retry retry) noexcept {
    for (bool waited = false; !loans_.empty(); loans_.pop_back()) {
      Loan& top = loans_.back();
      if (top.state == LoanState::live) return;
      if (top.state == LoanState::pending) {
        bool complete = false;
        if (!attempt([&] { complete = top.event->is_complete(); }, top.taken) || !complete) return;
      } else if (in_order_) {
        unfinished_ = true;
      } else if (!waited) {
        if (top.state == LoanState::quarantined && retry == Retry::no) return;
        waited = wait(top.taken);
        if (!waited) {
          top.state = LoanState::quarantined;
          return;
        }
      }
      used_ -= top.taken;
      cursor_ = top.before;
    }
  }

  bool wait(std::size_t bytes) noexcept {
    ++drains_;
    if (!attempt([&] { wait_for_queue(); }, bytes)) return false;
    unfinished_ = false;
    return true;
  }

  /// Calls something of the queue's that may fail. `bytes` depend on it.
  template <class Call>
  bool attempt(Call call, std::size_t bytes) noexcept {
    SCRATCHPAD_TRY {
      call();
      return true;
    }
    SCRATCHPAD_CATCH(...) {
      failure_.emplace();  // takes what is being handled
      report(LeaseReportKind::queue_failed, bytes, "a queue or an event failed while ", bytes,
             " bytes of a WorkspaceArena waited for it; they stay quarantined");
      return false;
    }
  }

  [[noreturn]] SCRATCHPAD_COLD void refuse(std::size_t bytes, std::size_t alignment, Label label) {
    ++refused_;
    Overflow o;
    o.space = frozen_ ? "frozen workspace arena" : "workspace arena";
    o.label = label.text;
    o.elements = bytes;
    o.element_bytes = 1;
    o.bytes = bytes;
    o.reserved = bump::saturating_round_up(bytes, quantum_);
    o.used = used_;
    o.capacity = blocks_.capacity();
    o.missing = blocks_.missing(cursor_, bytes, alignment);
    o.peak = peak_;
    o.depth = static_cast<std::uint32_t>(live_);
    raise<ScratchOverflow>(o);
  }

  std::size_t bytes_in(LoanState state) const {
    std::size_t bytes = 0;
    for (const Loan& loan : loans_) bytes += loan.state == state ? loan.taken : 0;
    return bytes;
  }

  std::size_t quantum_;
  BlockList blocks_;
  BlockList::Cursor cursor_;
  std::vector<Loan> loans_;  // the innermost last
  std::thread::id owner_;
  std::optional<std::nested_exception> failure_;  // what the next acquisition is to be told
  std::size_t live_ = 0;                          // loans
  std::size_t used_ = 0;                          // bytes taken by all loans in the stack
  std::size_t peak_ = 0;
  std::size_t drains_ = 0;
  std::size_t refused_ = 0;
  bool in_order_;
  bool checked_;
  bool frozen_ = false;
  bool closed_ = false;
  bool unfinished_ = false;  // bytes were handed back while work may still use them
};

}  // namespace detail
}  // namespace SCRATCHPAD_NAMESPACE
