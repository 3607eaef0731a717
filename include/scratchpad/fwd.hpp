// SPDX-License-Identifier: MIT
/// \file
/// Forward declarations. Declare the library's names by including this header, never by hand: where they live depends on
/// the build (config.hpp).
#pragma once

#include <cstddef>

#include <scratchpad/config.hpp>

namespace SCRATCHPAD_NAMESPACE {

class ApiMisuse;
class LayoutDivergence;
class ScratchOverflow;
class ShapeMismatch;
struct Failure;
struct Overflow;

class PlanCheck;
class Poison;
class PoolObserver;
class Recorder;
struct Block;
struct Label;

struct Alignment;
struct HostSpace;
struct Requirement;
struct SavePoint;

template <class Space>
class BumpAllocator;

struct NoFence;
template <class Space, class Fence>
class ScratchScope;

template <class T, std::size_t Rank, class Space>
class Tensor;

struct NoWork;

template <class Space>
class PoolResource;

class ScratchBuffer;

class WorkspaceLease;

}  // namespace SCRATCHPAD_NAMESPACE
