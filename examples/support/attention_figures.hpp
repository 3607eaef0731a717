// SPDX-License-Identifier: MIT
/// \file
/// What the scratch of an attention sweep must come to, in bytes, at head_dim 128 and a quantum of 16. Worked out from
/// the list of buffers by an independent model, and written down here; nothing in it is computed by this library.
#pragma once

#include <cstddef>

namespace attention {

struct Figures {
  std::size_t queries;      ///< M
  std::size_t keys;         ///< N
  std::size_t temporaries;  ///< of one tile
  std::size_t state;        ///< m, l, O
  std::size_t staged;       ///< Q + 2 K + 2 V
  std::size_t peak;         ///< with a scope per tile, at every context length
  std::size_t whole_tiles;  ///< that fit into 1 MiB without one
};
inline constexpr std::size_t figures_budget = 1'048'576;
inline constexpr Figures figures[] = {
    {16, 16, 28'608, 8'320, 20'480, 57'408, 35},      {8, 128, 26'848, 4'160, 133'120, 164'128, 33},
    {64, 128, 214'784, 33'280, 147'456, 395'520, 4},  {128, 32, 257'536, 66'560, 65'536, 389'632, 3},
    {128, 64, 314'880, 66'560, 98'304, 479'744, 2},   {128, 128, 429'568, 66'560, 163'840, 659'968, 1},
    {128, 176, 515'584, 66'560, 212'992, 795'136, 1},
};

/// 128 x 64 without a scope per tile.
struct UnscopedFigure {
  std::size_t tokens;
  std::size_t bytes;
};
inline constexpr UnscopedFigure unscoped_figures[] = {
    {1'024, 5'202'944}, {4'096, 20'317'184}, {8'192, 40'469'504}, {32'768, 161'383'424}, {131'072, 645'039'104},
};

}  // namespace attention
