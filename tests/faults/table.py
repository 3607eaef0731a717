# SPDX-License-Identifier: MIT
"""The faults that run.py injects, one change to one header each, and the tests that must notice it.

fault(NAME, HEADER, OLD, NEW, TESTS, survives=REASON). OLD stands exactly once in the header. TESTS are separated by spaces,
the cheapest first; they are tried in this order until one fails:

    unit/NAME, property/NAME      that file, compiled alone
    asan/NAME                     unit/NAME under AddressSanitizer
    builds/NAME                   that build of tests/builds/run.py
    fail/NAME                     that file of tests/fail, with clang
    detect/DETECTOR/COMPILER      that run of tests/detect/run.py

`survives` says why a fault changes nothing that anybody could see; a fault that has it must survive everything.
"""
FAULTS = {}


def fault(name, header, old, new, tests, survives=None):
    assert name not in FAULTS, name
    FAULTS[name] = (header, old, new, tests.split(), survives)


# ---- bump.hpp ------------------------------------------------------------------------------------------------------

fault("rounds_down_instead_of_up", "bump.hpp",
      "return static_cast<U>((n + (quantum - 1)) & ~(quantum - 1));",
      "return static_cast<U>(n & ~(quantum - 1));", "unit/bump_test")
fault("exact_fit_refused", "bump.hpp",
      "return count <= static_cast<U>(limit - cursor) / size;",
      "return count < static_cast<U>(limit - cursor) / size;", "unit/bump_test")
fault("check_multiplies_and_wraps", "bump.hpp",
      "return count <= static_cast<U>(limit - cursor) / size;",
      "return static_cast<U>(count * size) <= static_cast<U>(limit - cursor);", "unit/bump_test")
fault("size_not_rounded", "bump.hpp",
      "return round_up(static_cast<U>(count * size), quantum);",
      "return static_cast<U>(count * size);", "unit/bump_test")
fault("padding_from_the_offset", "bump.hpp",
      "const U pad = padding(static_cast<U>(base + cursor), alignment);",
      "const U pad = padding(cursor, alignment);", "unit/bump_test")
fault("padding_not_checked", "bump.hpp",
      "  if (pad > static_cast<U>(limit - cursor)) return {false, 0, 0};\n",
      "", "unit/bump_test unit/cases_alignment_test")
fault("padding_that_fills_the_pool_refused", "bump.hpp",
      "if (pad > static_cast<U>(limit - cursor))",
      "if (pad >= static_cast<U>(limit - cursor))", "property/bump_exhaustive_test")
fault("product_wraps", "bump.hpp",
      "  if (product / a != b) [[unlikely]]\n    return static_cast<U>(~U{0});\n",
      "", "unit/bump_test")
fault("sum_wraps", "bump.hpp",
      "return sum < a ? static_cast<U>(~U{0}) : sum;",
      "return sum;", "unit/bump_test")
fault("reported_size_wraps", "bump.hpp",
      "return rounded < n ? static_cast<U>(~U{0}) : rounded;",
      "return rounded;", "unit/bump_test")
fault("coarse_base_not_paid_for", "bump.hpp",
      "return static_cast<U>(peak + (alignment - quantum));",
      "return peak;", "unit/bump_test")
fault("safety_margin", "bump.hpp",
      "return static_cast<U>(peak + (alignment - quantum));",
      "return static_cast<U>(peak + alignment);", "unit/bump_test")
fault("zero_is_a_power_of_two", "bump.hpp",
      "return n != 0 && (n & (n - 1)) == 0;",
      "return (n & (n - 1)) == 0;", "unit/bump_test")

# ---- bump_cursor.hpp -----------------------------------------------------------------------------------------------

fault("capacity_not_rounded_down", "bump_cursor.hpp",
      "fast_limit_(bump::round_down(bytes, quantum))",
      "fast_limit_(bytes)", "unit/bump_allocator_test")
fault("peak_not_sampled", "bump_cursor.hpp",
      "        peak_ = cursor_;\n",
      "", "unit/bump_allocator_test")
fault("coarsest_not_noted", "bump_cursor.hpp",
      "if (measuring_) coarsest_ = larger(coarsest_, alignment);",
      "", "unit/bump_allocator_measuring_test")
fault("watched_pool_hits_after_a_rewind", "bump_cursor.hpp",
      "if constexpr (Slow) fast_limit_ = offset;",
      "", "unit/pool_observer_test")
fault("watched_pool_hits_after_a_block", "bump_cursor.hpp",
      "if (slow_) fast_limit_ = cursor_;",
      "", "unit/pool_observer_test")
fault("measuring_pointers_null", "bump_cursor.hpp",
      "base_ = reinterpret_cast<std::byte*>(measuring_base);",
      "base_ = nullptr;", "unit/bump_allocator_measuring_test")
fault("peak_survives_a_reset", "bump_cursor.hpp",
      "    peak_ = 0;\n    coarsest_",
      "    coarsest_", "unit/bump_allocator_measuring_test")
fault("coarsest_survives_a_reset", "bump_cursor.hpp",
      "    coarsest_ = quantum();\n",
      "", "unit/bump_allocator_measuring_test")
fault("over_aligned_type_takes_the_fast_path", "bump_cursor.hpp",
      "} else if constexpr (alignof(T) > Space::quantum) {",
      "} else if constexpr (false) {", "unit/bump_cursor_test")
fault("over_aligned_type_takes_the_fast_path_of_a_dynamic_quantum", "bump_cursor.hpp",
      "if (alignof(T) > quantum()) return false;",
      "", "unit/bump_allocator_quantum_test")
fault("zero_elements_are_placed", "bump_cursor.hpp",
      "if (n == 0) return {true, cursor_, cursor_};",
      "", "unit/bump_allocator_test unit/bump_allocator_measuring_test unit/cases_alignment_test")
fault("unchecked_pool_measures_unchecked", "bump_cursor.hpp",
      "if (!measuring_) return {true, start, start",
      "return {true, start, start", "unit/bump_allocator_measuring_test unit/memory_space_test unit/bump_allocator_quantum_test")
fault("origin_not_forgotten_by_the_pool", "bump_cursor.hpp",
      "if (!std::is_constant_evaluated()) base_ = forget_origin(base_);",
      "", "detect/asan/g++ detect/asan/clang++-19",
      survives="a watched pool's blocks come out of its slow path, a call behind which g++ 12 and clang 14 to 19 do not look; "
               "this stands there for a compiler that does")

# ---- bump_allocator.hpp --------------------------------------------------------------------------------------------

fault("base_not_checked", "bump_allocator.hpp",
      "if (!std::is_constant_evaluated()) detail::check_memory(memory, bytes, quantum, Space::name);",
      "", "unit/bump_allocator_test")
fault("quantum_not_checked", "bump_allocator.hpp",
      "if constexpr (has_dynamic_quantum) detail::check_quantum(quantum);",
      "", "unit/bump_allocator_quantum_test")
fault("advances_before_the_check", "bump_allocator.hpp",
      "    if (!at.fits) overflow(n, sizeof(T), alignment, label);\n    take(at, n, sizeof(T), alignment, label);\n",
      "    take({true, used(), used() + bump::saturating_product(n, sizeof(T))}, n, sizeof(T), alignment, label);\n"
      "    if (!at.fits) overflow(n, sizeof(T), alignment, label);\n    cursor_.take(at, alignment);\n",
      "unit/bump_allocator_test")
fault("alignment_not_checked", "bump_allocator.hpp",
      "if (!bump::is_power_of_two(asked.bytes)) detail::refuse_alignment(asked.bytes, label.text);",
      "", "unit/cases_alignment_test")
fault("alignment_ignored", "bump_allocator.hpp",
      "detail::larger(detail::larger(alignof(T), asked.bytes), quantum())",
      "detail::larger(alignof(T), quantum())", "unit/cases_alignment_test")
fault("zero_elements_are_told_to_observers", "bump_allocator.hpp",
      "    if (n == 0) return;\n",
      "", "unit/pool_observer_test unit/bump_allocator_measuring_test")
fault("try_allocate_throws", "bump_allocator.hpp",
      "if (!fits<T>(n)) return std::nullopt;", "", "unit/bump_allocator_test")
fault("missing_a_quantum_too_high", "bump_allocator.hpp",
      "o.missing = bump::saturating_sum(o.reserved, o.padding) - (o.capacity - o.used);",
      "o.missing = bump::saturating_sum(o.reserved, o.padding) - (o.capacity - o.used) + quantum();",
      "unit/bump_allocator_test")
fault("missing_without_the_rounding", "bump_allocator.hpp",
      "o.missing = bump::saturating_sum(o.reserved, o.padding) - (o.capacity - o.used);",
      "o.missing = bump::saturating_sum(o.bytes, o.padding) - (o.capacity - o.used);", "unit/bump_allocator_test")
fault("missing_without_the_padding", "bump_allocator.hpp",
      "o.missing = bump::saturating_sum(o.reserved, o.padding) - (o.capacity - o.used);",
      "o.missing = o.reserved - (o.capacity - o.used);", "unit/bump_allocator_test unit/cases_alignment_test")
fault("observers_told_after_the_move", "bump_allocator.hpp",
      "    if (n == 0) return;\n",
      "    if (n == 0) return;\n    cursor_.take(at, alignment);\n", "unit/pool_observer_test")
fault("observers_told_of_an_empty_rewind", "bump_allocator.hpp",
      "observers_.rewind(view(), {offset, used(), depth, StaysOpen});",
      "observers_.rewind(view(), {offset, offset, depth, StaysOpen});", "unit/pool_observer_test")
fault("observers_miss_saves", "bump_allocator.hpp",
      "save_limit_ = observers_.empty() ? Space::max_depth : 0;",
      "save_limit_ = Space::max_depth;", "unit/pool_observer_test")
fault("observers_miss_the_end", "bump_allocator.hpp",
      "if (!observers_.empty()) observers_.detach(view());",
      "", "unit/pool_observer_test")
fault("watched_while_not_empty", "bump_allocator.hpp",
      "if (used() != 0 || depth() != 0) detail::refuse_watch(\"the pool is not empty\", used(), depth());",
      "", "unit/pool_observer_test")
fault("one_observer_too_many", "bump_allocator.hpp",
      "if (observers_.full()) {",
      "if (false) {", "unit/pool_observer_test")
fault("one_save_point_too_many", "bump_allocator.hpp",
      "std::uint32_t save_limit_ = Space::max_depth;",
      "std::uint32_t save_limit_ = Space::max_depth + 1;", "unit/bump_allocator_test")
fault("one_save_point_too_few", "bump_allocator.hpp",
      "if (depth() == Space::max_depth) detail::refuse_save",
      "if (depth() + 1 == Space::max_depth) detail::refuse_save", "unit/bump_allocator_test unit/pool_observer_test")
fault("last_save_point_takes_the_slow_path", "bump_allocator.hpp",
      "std::uint32_t save_limit_ = Space::max_depth;",
      "std::uint32_t save_limit_ = Space::max_depth - 1;", "unit/bump_allocator_test unit/pool_observer_test",
      survives="the slow path asks for the depth itself; with nobody watching it does nothing else")
fault("rewinds_in_any_order", "bump_allocator.hpp",
      "if (at.depth == 0 || at.depth != save_points_.depth() || !is_live(at))",
      "if (at.depth == 0 || !is_live(at))", "unit/bump_allocator_test")
fault("rewinds_to_a_stale_save_point", "bump_allocator.hpp",
      "if (at.depth == 0 || at.depth != save_points_.depth() || !is_live(at))",
      "if (at.depth == 0 || at.depth != save_points_.depth())", "unit/bump_allocator_test")
fault("rewinds_the_pool_itself", "bump_allocator.hpp",
      "if (at.depth == 0 || at.depth != save_points_.depth() || !is_live(at))",
      "if (at.depth != save_points_.depth() || !is_live(at))", "unit/bump_allocator_test unit/cases_rewind_test")
fault("reset_inside_a_scope", "bump_allocator.hpp",
      "if (save_points_.depth() != 0) detail::refuse_reset(Space::name, depth());",
      "", "unit/bump_allocator_test")
fault("handles_survive_a_reset", "bump_allocator.hpp",
      "    save_points_.renew(here());\n",
      "", "unit/bump_allocator_test")
fault("serial_survives_a_reset", "bump_allocator.hpp",
      "    serial_ = 0;\n",
      "", "unit/pool_observer_test")
fault("scope_ends_twice", "bump_allocator.hpp",
      "    if (!is_live(at)) return false;\n    give_back<false>(at);\n",
      "    give_back<false>(at);\n", "unit/scratch_scope_test")
fault("rewinds_an_ended_scope", "bump_allocator.hpp",
      "    if (!is_live(at)) return false;\n    give_back<true>(at);\n",
      "    give_back<true>(at);\n", "unit/scratch_scope_test")
fault("serving_pool_tells_a_requirement", "bump_allocator.hpp",
      "if (!is_measuring()) detail::refuse_figure(\"required_bytes()\", is_measuring(), used());",
      "", "unit/bump_allocator_measuring_test unit/bump_allocator_test")
fault("measuring_pool_tells_what_remains", "bump_allocator.hpp",
      "if (is_measuring()) detail::refuse_figure(\"remaining()\", is_measuring(), used());",
      "", "unit/bump_allocator_measuring_test unit/bump_allocator_test")
fault("every_handle_is_of_this_pool", "bump_allocator.hpp",
      "return handle.owner == here().owner;",
      "return true;", "unit/bump_allocator_test unit/copy_to_test")

# ---- save_points.hpp -----------------------------------------------------------------------------------------------

fault("stamp_reused", "save_points.hpp",
      "stamps_[depth] = ++last_stamp_;",
      "stamps_[depth] = last_stamp_;", "unit/save_points_test")
fault("stamp_not_renewed", "save_points.hpp",
      "    stamps_[at.depth] = ++last_stamp_;\n    return {this, last_stamp_, at.depth};",
      "    return at;", "unit/save_points_test")
fault("stamp_of_32_bits", "save_points.hpp",
      "std::uint64_t last_stamp_;",
      "std::uint32_t last_stamp_;", "unit/save_points_test")
fault("pop_leaves_the_level_open", "save_points.hpp",
      "{ levels_ = depth; }",
      "{ levels_ = depth + 1; }", "unit/save_points_test")
fault("renewal_leaves_inner_levels_open", "save_points.hpp",
      "    levels_ = at.depth + 1;\n",
      "", "unit/save_points_test")
fault("rewinds_to_the_wrong_depth", "save_points.hpp",
      "return offsets_[at.depth];",
      "return offsets_[at.depth == 0 ? 0 : at.depth - 1];", "unit/save_points_test unit/scratch_scope_test")
fault("live_in_any_pool", "save_points.hpp",
      "return at.owner == this && at.depth < levels_ && stamps_[at.depth] == at.stamp;",
      "return at.depth < levels_ && stamps_[at.depth] == at.stamp;", "unit/save_points_test")
fault("live_after_its_level_closed", "save_points.hpp",
      "return at.owner == this && at.depth < levels_ && stamps_[at.depth] == at.stamp;",
      "return at.owner == this && stamps_[at.depth] == at.stamp;", "unit/save_points_test")
fault("live_by_depth_alone", "save_points.hpp",
      "return at.owner == this && at.depth < levels_ && stamps_[at.depth] == at.stamp;",
      "return at.owner == this && at.depth < levels_;", "unit/save_points_test")

# ---- scratch_scope.hpp ---------------------------------------------------------------------------------------------

fault("no_fence_at_the_end", "scratch_scope.hpp",
      "if (!run_fence() || !pool_.unwind(at_))",
      "if (!pool_.unwind(at_))", "unit/scratch_scope_test")
fault("no_fence_at_a_rewind", "scratch_scope.hpp",
      "if (!run_fence() || !pool_.renew(at_))",
      "if (!pool_.renew(at_))", "unit/scratch_scope_test")
fault("fence_after_the_rewind", "scratch_scope.hpp",
      "if (!run_fence() || !pool_.renew(at_))",
      "if (!pool_.renew(at_) || !run_fence())", "unit/scratch_scope_test")
fault("fence_while_measuring", "scratch_scope.hpp",
      "      if (pool_.is_measuring()) [[unlikely]]\n        return true;\n",
      "", "unit/scratch_scope_test")
fault("fence_of_a_scope_out_of_order", "scratch_scope.hpp",
      "      if (!pool_.is_live(at_)) return false;\n",
      "", "unit/scratch_scope_test")
fault("wrong_order_of_scopes_unnoticed", "scratch_scope.hpp",
      "      ended_in_wrong_order(at_.depth, pool_.depth());\n",
      "      return;\n", "unit/scratch_scope_test")

# ---- tensor.hpp, copy_to.hpp ---------------------------------------------------------------------------------------

fault("negative_extent_accepted", "tensor.hpp",
      "if (extent < 0) refuse_extent(label, dimension, extent);",
      "", "unit/tensor_test")
fault("product_of_extents_wraps", "tensor.hpp",
      "    elements = detail::saturating_elements(static_cast<std::size_t>(extents)...);\n",
      "", "unit/tensor_test")
fault("unchecked_space_measures_unchecked_extents", "tensor.hpp",
      "if (Space::bounds_checked || (!detail::in_device_code && pool.is_measuring())) {",
      "if (Space::bounds_checked) {", "unit/tensor_test")
fault("first_extent_as_every_stride", "tensor.hpp",
      "at = at * extents_[Dimension] + ",
      "at = at * extents_[0] + ", "unit/tensor_test")
fault("tensor_without_a_birth", "tensor.hpp",
      "shape, pool.here()};",
      "shape, SavePoint{}};", "unit/tensor_test")
fault("bytes_are_elements", "tensor.hpp",
      "return size() * sizeof(T);",
      "return size();", "unit/tensor_test")
fault("only_first_extents_compared", "copy_to.hpp",
      "if (!same_extents(dst.extents(), src.extents(), std::make_index_sequence<Rank>())) {",
      "if (!same_extents(dst.extents(), src.extents(), std::make_index_sequence<1>())) {", "unit/copy_to_test")
fault("overlap_copied", "copy_to.hpp",
      "if (overlap_in_part(dst.data(), src.data(), src.size_bytes())) {",
      "if (false) {", "unit/copy_to_test")
fault("neighbours_taken_for_overlap", "copy_to.hpp",
      "return x != y && (x < y ? y - x : x - y) < bytes;",
      "return x != y && (x < y ? y - x : x - y) <= bytes;", "unit/copy_to_test")
fault("copies_to_a_dead_tensor", "copy_to.hpp",
      "check_live(pool, dst.birth(), \"dst\");",
      "", "unit/copy_to_test")
fault("copies_from_a_dead_tensor", "copy_to.hpp",
      "check_live(pool, src.birth(), \"src\");",
      "", "unit/copy_to_test")
fault("copies_from_another_pool", "copy_to.hpp",
      "if (src.birth().owner != nullptr && !pool.is_origin_of(src.birth())) {",
      "if (false) {", "unit/copy_to_test")
fault("copy_onto_itself_is_a_copy", "copy_to.hpp",
      "if (static_cast<const void*>(dst.data()) == src.data()) return false;",
      "", "unit/copy_to_test")
fault("copies_while_measuring", "copy_to.hpp",
      "if (!pool.is_measuring() && !src.empty()) Space::copy",
      "if (!src.empty()) Space::copy", "unit/copy_to_test")
fault("copies_elements_as_bytes", "copy_to.hpp",
      "Space::copy(dst.data(), src.data(), src.size_bytes());",
      "Space::copy(dst.data(), src.data(), src.size());", "unit/copy_to_test")
fault("copy_untold", "copy_to.hpp",
      "  pool.note_copy({dst.data(), src.data(), src.size(), src.size_bytes()});\n  if (!pool",
      "  if (!pool", "unit/copy_to_test")
fault("group_copy_does_not_wait", "copy_to.hpp",
      "dst.data()[i] = src.data()[i];\n  group.sync();",
      "dst.data()[i] = src.data()[i];", "unit/thread_group_test")
fault("group_fence_waits_once", "thread_group.hpp",
      "        given_back[i] = std::byte{0xFF};\n      group_.sync();",
      "        given_back[i] = std::byte{0xFF};", "unit/thread_group_test")

# ---- sizing --------------------------------------------------------------------------------------------------------

fault("workspace_bytes_for_an_aligned_base_only", "workspace_bytes.hpp",
      "return {pool.required_bytes(), pool.requirement()};",
      "return {pool.requirement().bytes, pool.requirement()};", "unit/workspace_bytes_test")
fault("largest_fit_bisects", "largest_fit.hpp",
      "  for (N n = hi; n >= lo; n = static_cast<N>(n - step)) {\n",
      "  std::optional<N> best;\n"
      "  for (N low = lo, high = hi; low <= high;) {\n"
      "    const N middle = static_cast<N>(low + (high - low) / 2);\n"
      "    const bool enough = [&] {\n"
      "      SCRATCHPAD_TRY { return workspace_bytes<Pool>(layout_of(middle), quantum...) <= budget; }\n"
      "      SCRATCHPAD_CATCH(const ScratchOverflow&) { return false; }\n"
      "    }();\n"
      "    if (enough) { best = middle; low = static_cast<N>(middle + 1); } else { high = static_cast<N>(middle - 1); }\n"
      "  }\n"
      "  return best;\n"
      "  for (N n = hi; n >= lo; n = static_cast<N>(n - step)) {\n", "unit/largest_fit_test")
fault("largest_fit_skips_lo", "largest_fit.hpp",
      "n >= lo;",
      "n > lo;", "unit/largest_fit_test")
fault("largest_fit_stops_a_step_early", "largest_fit.hpp",
      "static_cast<Distance>(lo)) < static_cast<Distance>(step))",
      "static_cast<Distance>(lo)) <= static_cast<Distance>(step))", "unit/largest_fit_test")
fault("largest_fit_throws_what_cannot_be_measured", "largest_fit.hpp",
      "SCRATCHPAD_CATCH(const ScratchOverflow&) { return false; }",
      "SCRATCHPAD_CATCH(const ScratchOverflow&) { throw; }", "unit/largest_fit_test")

# ---- errors and configuration --------------------------------------------------------------------------------------

fault("message_without_an_end", "error.hpp",
      "if (size_ + 1 == sizeof text_) return *this;",
      "if (size_ == sizeof text_) return *this;", "unit/error_test")
fault("handler_not_called", "error.hpp",
      "if (const FailureHandler handler = failure_handler.load()) handler(failure);",
      "", "unit/error_test")
fault("overflow_is_no_bad_alloc", "error.hpp",
      "class ScratchOverflow : public std::bad_alloc {",
      "class ScratchOverflow : public std::exception {", "unit/error_test")
fault("no_exceptions_in_the_same_namespace", "config.hpp",
      "#define SCRATCHPAD_NAMESPACE scratchpad::inline no_exceptions",
      "#define SCRATCHPAD_NAMESPACE scratchpad", "builds/two_units_without_exceptions.g++")
fault("watched_and_unwatched_in_the_same_namespace", "config.hpp",
      "#define SCRATCHPAD_WATCHED_BY watched_by_nobody",
      "#define SCRATCHPAD_WATCHED_BY watched_by_poison", "builds/two_units.g++")
fault("pool_larger_with_checks", "bump_allocator.hpp",
      "  ObserverChain observers_;\n",
      "  ObserverChain observers_;\n#if SCRATCHPAD_CHECKS\n  std::uint64_t checked_ = 1;\n#endif\n",
      "builds/two_units.g++")
fault("origin_not_forgotten", "config.hpp",
      "asm volatile(\"\" : \"+r\"(address));",
      "", "detect/asan/clang++-19")
fault("blocks_not_bound_to_their_pool", "config.hpp",
      "#define SCRATCHPAD_LIFETIMEBOUND [[clang::lifetimebound]]",
      "#define SCRATCHPAD_LIFETIMEBOUND", "fail/block_of_local_pool")

# ---- observers -----------------------------------------------------------------------------------------------------

fault("observers_told_of_a_refused_block", "pool_observer.hpp",
      "each([&](PoolObserver& observer) { observer.before_allocate(pool, block); });\n"
      "    each([&](PoolObserver& observer) { observer.on_allocate(pool, block); });",
      "each([&](PoolObserver& observer) {\n"
      "      observer.before_allocate(pool, block);\n"
      "      observer.on_allocate(pool, block);\n"
      "    });", "unit/pool_observer_test unit/observe_plan_check_test")
fault("plan_ignores_alignment", "observe/plan.hpp",
      "a.alignment == b.alignment && ",
      "", "unit/observe_plan_check_test")
fault("plan_ignores_size", "observe/plan.hpp",
      "return a.bytes == b.bytes && a.alignment",
      "return a.alignment", "unit/observe_plan_check_test")
fault("plan_ignores_labels", "observe/plan.hpp",
      " &&\n           std::string_view(a.label) == std::string_view(b.label);",
      ";", "unit/observe_plan_check_test")
fault("turns_of_a_loop_are_many_scopes", "observe/plan.hpp",
      "if (std::find(here.begin(), here.end(), scope) == here.end()) here.push_back(std::move(scope));",
      "here.push_back(std::move(scope));", "unit/observe_recorder_test unit/observe_plan_check_test")
fault("plan_check_forgets_that_a_scope_stays_open", "observe/plan_check.hpp",
      "if (event.stays_open) on_save(pool, event);",
      "", "unit/observe_plan_check_test")
fault("plan_check_takes_any_quantum", "observe/plan_check.hpp",
      "if (pool.quantum != plan_.quantum) {",
      "if (false) {", "unit/observe_plan_check_test")
fault("plan_check_does_not_advance", "observe/plan_check.hpp",
      "for (Place& place : levels_.back()) ++place.carved;",
      "", "unit/observe_plan_check_test")
fault("recorder_forgets_a_rewind", "observe/recorder.hpp",
      "while (!live_.empty() && live_.back().offset >= event.offset) live_.pop_back();",
      "", "unit/observe_recorder_test")
fault("recorder_watches_two_pools", "observe/recorder.hpp",
      "if (attached_) {",
      "if (false) {", "unit/observe_recorder_test")
fault("recorded_peak_not_rounded", "observe/recorder.hpp",
      "peak_ = (std::max)(peak_, block.offset + block.reserved);",
      "peak_ = (std::max)(peak_, block.offset + block.bytes);", "unit/observe_recorder_test unit/observe_plan_check_test")
fault("smallest_live_blocks_reported", "observe/recorder.hpp",
      "return a.reserved > b.reserved;",
      "return a.reserved < b.reserved;", "unit/observe_recorder_test")
fault("no_poison_at_a_rewind", "observe/poison.hpp",
      "fill(pool, event.offset, event.used_before);",
      "", "unit/observe_poison_test")
fault("no_poison_at_the_start", "observe/poison.hpp",
      "{ fill(pool, 0, pool.capacity); }",
      "{}", "unit/observe_poison_test")
fault("poison_is_no_nan", "observe/poison.hpp",
      "static constexpr int byte = 0xFF;",
      "static constexpr int byte = 0x7F;", "unit/observe_poison_test")
fault("poison_while_measuring", "observe/poison.hpp",
      "if (pool.measuring || !pool.host_accessible || from == to) return;",
      "if (!pool.host_accessible || from == to) return;", "unit/observe_poison_test")
fault("sanitizer_skips_a_rewind", "observe/sanitizer.hpp",
      "if (watches(pool)) forbid(pool.base + event.offset, event.used_before - event.offset);",
      "", "asan/observe_sanitizer_test")
fault("sanitizer_skips_the_start", "observe/sanitizer.hpp",
      "if (watches(pool)) forbid(pool.base, pool.capacity);",
      "", "asan/observe_sanitizer_test")
fault("sanitizer_skips_the_end", "observe/sanitizer.hpp",
      "if (watches(pool)) release(pool.base, pool.capacity);",
      "", "asan/observe_sanitizer_test detect/asan/g++")
fault("sanitizer_hands_out_the_padding", "observe/sanitizer.hpp",
      "hand_out(pool.base + block.offset, block.bytes);",
      "hand_out(pool.base + block.offset, block.reserved);", "asan/observe_sanitizer_test")

# ---- memory and containers -----------------------------------------------------------------------------------------

fault("buffer_not_aligned", "scratch_buffer.hpp",
      "upstream_->allocate(size_, alignment_)",
      "upstream_->allocate(size_, 1)", "unit/scratch_buffer_test")
fault("buffer_given_back_with_another_alignment", "scratch_buffer.hpp",
      "upstream_->deallocate(data_, size_, alignment_);",
      "upstream_->deallocate(data_, size_, HostSpace::quantum);", "unit/scratch_buffer_test")
fault("container_grows_in_an_inner_scope", "pmr.hpp",
      "if (pool_.here() != made_) [[unlikely]] {",
      "if (false) {", "unit/pmr_test")

# ---- leases --------------------------------------------------------------------------------------------------------

fault("release_does_not_wait", "workspace/loan_ledger.hpp",
      "waited = wait(top.taken);",
      "waited = true;", "unit/workspace_wait_test")
fault("merge_does_not_wait", "workspace/loan_ledger.hpp",
      "        unfinished_ = true;\n",
      "", "unit/workspace_wait_test")
fault("event_not_waited_for", "workspace/loan_ledger.hpp",
      "mark(loan, LoanState::pending, Cause::release);",
      "mark(loan, LoanState::ended, Cause::release);", "unit/workspace_wait_test")
fault("failed_wait_hands_bytes_back", "workspace/loan_ledger.hpp",
      "        if (!waited) {\n          top.state = LoanState::quarantined;\n          return;\n        }\n",
      "", "unit/workspace_wait_test")
fault("live_loan_handed_back", "workspace/loan_ledger.hpp",
      "if (top.state == LoanState::live) return;",
      "if (top.state == LoanState::live && loans_.size() == 1) return;", "unit/workspace_lease_test unit/workspace_arena_test")
fault("skipped_tail_kept", "workspace/loan_ledger.hpp",
      "cursor_ = top.before;",
      "cursor_.offset -= top.taken;", "unit/workspace_arena_test")
fault("frozen_arena_grows", "workspace/loan_ledger.hpp",
      "if (!spot && !frozen_) {",
      "if (!spot) {", "unit/workspace_arena_test")
fault("thread_not_checked", "workspace/loan_ledger.hpp",
      "if (checked_ && std::this_thread::get_id() != owner_) {",
      "if (false) {", "unit/workspace_threads_test")
fault("stranding_by_assignment_reported", "workspace/loan_ledger.hpp",
      "if (!checked_ || closed_ || cause == Cause::move_assignment) return;",
      "if (!checked_ || closed_) return;", "unit/workspace_lease_test")
fault("arena_does_not_double", "workspace/block_list.hpp",
      "bump::saturating_product<std::size_t>(2, last)",
      "last", "unit/workspace_arena_test")
fault("refused_growth_is_final", "workspace/block_list.hpp",
      "return take(wanted, alignment) || (wanted != needed && take(needed, alignment));",
      "return take(wanted, alignment);", "unit/workspace_arena_test")
fault("padding_of_the_first_block_for_all", "workspace/block_list.hpp",
      "bump::place<std::size_t>(address(block), at.offset,",
      "bump::place<std::size_t>(address(blocks_[0]), at.offset,", "unit/workspace_arena_test builds/g++")
fault("moved_lease_keeps_its_bytes", "workspace/workspace_lease.hpp",
      "    other.forget();\n",
      "", "unit/workspace_lease_test")
fault("replace_borrows_first", "workspace/workspace_lease.hpp",
      "    end(detail::LoanLedger::Cause::release);\n    acquire(bytes, alignment, label);",
      "    const auto old = loan_;\n    acquire(bytes, alignment, label);\n"
      "    if (old != detail::LoanLedger::no_loan) ledger_->end(old, detail::LoanLedger::Cause::release);",
      "unit/workspace_lease_test")
fault("drain_waits_for_in_order_queues_too", "workspace/queue.hpp",
      "if (!queue_->is_in_order()) queue_->wait();",
      "queue_->wait();", "unit/workspace_queue_test")

# A few that are quick, for every build; run.py --sample.
SAMPLE = ["rounds_down_instead_of_up", "padding_from_the_offset", "stamp_reused", "live_after_its_level_closed",
          "peak_not_sampled", "no_fence_at_the_end"]
