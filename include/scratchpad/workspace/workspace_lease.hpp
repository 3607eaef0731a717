// SPDX-License-Identifier: MIT
/// \file
/// WorkspaceLease: bytes borrowed from an arena.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <scratchpad/config.hpp>
#include <scratchpad/error.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/workspace/loan_ledger.hpp>
#include <scratchpad/workspace/pending_event.hpp>
#include <scratchpad/workspace/queue.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Borrows `size()` bytes of a WorkspaceArena and hands them back at its end. Move-only; used by the arena's thread.
///
/// | task | call |
/// |---|---|
/// | carve it | `Pool pool(lease)` |
/// | look at it | `data()`, `span()`, `size()` |
/// | hand it back | its end, or `release()` |
/// | hand it back when work is done, without stopping | `release_after(event)` |
/// | get another one in its place | `replace(bytes)` |
///
/// Leases nest. The one made last, ended first, returns its bytes at once; one that ends before a later one leaves them
/// stranded until that has ended too: safe, but larger. `lease = arena.lease(n)` makes the new one first, so it strands the
/// old one every time: `lease.replace(n)` does not.
///
/// An end that hands bytes back first waits for an out-of-order queue, because whoever gets them next may run at once; one
/// that hands nothing back does not wait; on an in-order queue none does. If the wait fails the bytes stay quarantined, and
/// the next `lease()` throws QueueFailure.
class [[nodiscard]] WorkspaceLease {
 public:
  /// Holds nothing, of no arena.
  WorkspaceLease() = default;

  /// What `WorkspaceArena::lease` calls.
  WorkspaceLease(std::shared_ptr<detail::LoanLedger> ledger, std::size_t bytes, Alignment alignment, Label label)
      : ledger_(std::move(ledger)) {
    acquire(bytes, alignment, label);
  }

  WorkspaceLease(WorkspaceLease&& other) noexcept { take(other); }
  /// Hands back what it held: after `other` was made, so that bytes may strand, which is not reported here.
  WorkspaceLease& operator=(WorkspaceLease&& other) noexcept {
    if (this != &other) {
      end(detail::LoanLedger::Cause::move_assignment);
      take(other);
    }
    return *this;
  }
  ~WorkspaceLease() { release(); }

  std::size_t size() const { return bytes_; }  ///< bytes, as asked for
  bool empty() const { return bytes_ == 0; }

  /// A multiple of the arena's quantum and of the alignment asked for; null where `size()` is 0.
  std::byte* data() const& SCRATCHPAD_LIFETIMEBOUND { return data_; }
  std::span<std::byte> span() const& SCRATCHPAD_LIFETIMEBOUND { return {data_, bytes_}; }
  operator std::span<std::byte>() const& SCRATCHPAD_LIFETIMEBOUND { return span(); }

  // A temporary lease ends with the line: what it hands out would be another's by the next.
  std::byte* data() const&& = delete;
  std::span<std::byte> span() const&& = delete;
  operator std::span<std::byte>() const&& = delete;

  /// Ends the lease now. Once is enough; again does nothing.
  void release() noexcept {
    end(detail::LoanLedger::Cause::release);
    ledger_.reset();
  }

  /// Ends the lease, and leaves its bytes to `event`: they are handed back by the first later lease or release of the arena
  /// that finds it complete. Nothing waits. The event must cover all work that uses the bytes.
  /// *On failure*: `std::bad_alloc` if the event cannot be kept; the lease is as it was.
  template <Event E>
  void release_after(E event) {
    if (loan_ != detail::LoanLedger::no_loan) {
      ledger_->end_after(loan_, std::make_unique<detail::PendingEventOf<E>>(std::move(event)));
      forget();
    }
    ledger_.reset();
  }

  /// Hands its bytes back and *then* borrows `bytes` of the same arena.
  /// *On failure*: as for `WorkspaceArena::lease`; the old bytes are gone, and the lease is one of 0 bytes. `ApiMisuse`,
  /// with nothing changed, if it has no arena: made empty, moved from or released. *Invalidates*: its bytes.
  void replace(std::size_t bytes, Alignment alignment, Label label = {}) {
    if (ledger_ == nullptr) detail::raise<ApiMisuse>("WorkspaceLease::replace: ", bytes, " bytes of no arena");
    ledger_->check_usable("replace");
    end(detail::LoanLedger::Cause::release);
    acquire(bytes, alignment, label);
  }
  void replace(std::size_t bytes, Label label = {}) { replace(bytes, Alignment{1}, label); }
  void replace(Requirement requirement, Label label = {}) {
    replace(requirement.bytes, Alignment{requirement.alignment}, label);
  }

 private:
  void acquire(std::size_t bytes, Alignment alignment, Label label) {
    const auto lent = ledger_->lend(bytes, alignment, label);
    data_ = lent.data;
    bytes_ = bytes;
    loan_ = lent.loan;
  }
  void end(detail::LoanLedger::Cause cause) noexcept {
    if (loan_ != detail::LoanLedger::no_loan) ledger_->end(loan_, cause);
    forget();
  }
  void take(WorkspaceLease& other) noexcept {
    ledger_ = std::move(other.ledger_);
    data_ = other.data_;
    bytes_ = other.bytes_;
    loan_ = other.loan_;
    other.forget();
  }
  void forget() noexcept {
    data_ = nullptr;
    bytes_ = 0;
    loan_ = detail::LoanLedger::no_loan;
  }

  // Null: of no arena. A lease of 0 bytes has one, but no loan.
  std::shared_ptr<detail::LoanLedger> ledger_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t loan_ = detail::LoanLedger::no_loan;
};

static_assert(!std::is_copy_constructible_v<WorkspaceLease> && !std::is_copy_assignable_v<WorkspaceLease> &&
                  std::is_nothrow_move_constructible_v<WorkspaceLease> &&
                  std::is_nothrow_move_assignable_v<WorkspaceLease>,
              "a lease has one owner, who can pass it on");

}  // namespace SCRATCHPAD_NAMESPACE
