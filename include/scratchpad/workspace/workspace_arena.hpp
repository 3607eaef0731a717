// SPDX-License-Identifier: MIT
/// \file
/// WorkspaceArena<Queue>: grows, and lends its bytes to work on one queue.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>

#include <scratchpad/config.hpp>
#include <scratchpad/pool_observer.hpp>
#include <scratchpad/requirement.hpp>
#include <scratchpad/workspace/loan_ledger.hpp>
#include <scratchpad/workspace/queue.hpp>
#include <scratchpad/workspace/workspace_lease.hpp>
#include <scratchpad/workspace/workspace_statistics.hpp>

namespace SCRATCHPAD_NAMESPACE {

/// Owns blocks of an upstream and lends them to work on `queue`, over and over. Not movable; one thread, the one that made
/// it, uses it and its leases.
///
/// | task | call |
/// |---|---|
/// | borrow | `lease(bytes)`, `lease(bytes, align(a))`, `lease(workspace_requirement(layout))`, each with a label |
/// | have the memory beforehand | `reserve(bytes)` |
/// | never allocate again | `freeze()`: for graphs that have captured addresses |
/// | look | `statistics() stranded_bytes() quantum() queue()` |
///
/// **Growth.** A block never moves while it exists. A new one has the largest of the request, twice the last block, and
/// 64 KiB; the request alone if the upstream refuses that. If nothing is lent when the arena has to grow, one block of the
/// peak (or of the request, if that is more) takes the place of all. A lease that did not fit into the tail of a block gives
/// the tail back when it ends.
///
/// **Waits.** See WorkspaceLease for releases. An in-order queue is waited for only before memory goes back to the
/// upstream, which knows nothing of queues: at such a merge, and at the arena's end.
///
/// **The end.** The arena waits for its queue, once, if there can be work on its bytes. Live leases are reported, and their
/// memory stays until they have ended; by then the queue may be gone, so nothing waits for it any more.
template <Queue Q>
class WorkspaceArena {
 public:
  using queue_type = Q;

  /// \param queue outlives the arena, and stays where it is
  /// \param upstream where the blocks come from: host memory, device memory, shared memory; outlives arena and leases
  /// \param checked whether the thread is checked and stranded bytes are reported
  /// *On failure*: `ApiMisuse` if there is no upstream, or the queue's device_alignment is no power of two.
  explicit WorkspaceArena(Q& queue SCRATCHPAD_LIFETIMEBOUND,
                          std::pmr::memory_resource* upstream = std::pmr::get_default_resource(),
                          bool checked = SCRATCHPAD_CHECKS != 0)
      : ledger_(std::make_shared<Ledger>(queue, upstream, checked)) {}
  WorkspaceArena(const WorkspaceArena&) = delete;
  WorkspaceArena& operator=(const WorkspaceArena&) = delete;
  ~WorkspaceArena() { ledger_->close(); }

  /// Borrows `bytes` bytes at a multiple of `quantum()`. 0 bytes: a lease of nothing, and no block is opened.
  ///
  /// *On failure*: `ScratchOverflow` if the upstream has no more or the arena is frozen; `std::bad_alloc` if the host has
  /// none for its own books; `QueueFailure` if an earlier release could not wait for the queue (once for each time);
  /// `ApiMisuse` for an alignment that is no power of two, and, where `checked`, from another thread. Nothing changes.
  WorkspaceLease lease(std::size_t bytes, Label label = {}) { return lease(bytes, Alignment{1}, label); }
  WorkspaceLease lease(std::size_t bytes, Alignment alignment, Label label = {}) {
    return WorkspaceLease(ledger_, bytes, alignment, label);
  }
  WorkspaceLease lease(Requirement requirement, Label label = {}) {
    return lease(requirement.bytes, Alignment{requirement.alignment}, label);
  }

  /// Sees to it that `bytes` more bytes can be lent, in one lease or nested ones, without growing.
  /// *On failure*: as for `lease`.
  void reserve(std::size_t bytes, Label label = {}) { ledger_->reserve(bytes, label); }

  /// From now on the blocks stay as they are: what they cannot serve is a `ScratchOverflow` that names who asked.
  void freeze() { ledger_->freeze(); }
  bool is_frozen() const { return ledger_->is_frozen(); }

  WorkspaceStatistics statistics() const { return ledger_->statistics(); }

  /// Bytes of leases that have ended and cannot be lent before a later one has ended too.
  std::size_t stranded_bytes() const { return ledger_->stranded_bytes(); }

  /// What every lease's address is a multiple of, in bytes: `device_alignment(queue)`, at least that of HostSpace.
  std::size_t quantum() const { return ledger_->quantum(); }

  Q& queue() const { return ledger_->queue(); }

 private:
  class Ledger final : public detail::LoanLedger {
   public:
    Ledger(Q& queue, std::pmr::memory_resource* upstream, bool checked)
        : LoanLedger(upstream, device_alignment(queue), queue.is_in_order(), checked), queue_(&queue) {}
    Q& queue() const { return *queue_; }

   protected:
    void wait_for_queue() override { queue_->wait(); }

   private:
    Q* queue_;  // not used once the ledger is closed
  };

  std::shared_ptr<Ledger> ledger_;
};

}  // namespace SCRATCHPAD_NAMESPACE
