/// A message between ranks that each know of it, free of MPI (rank_messages.hpp sends it).
#pragma once
#include "line/line_layout.hpp"

namespace weft {

/// A message of so many elements to or from a rank; they begin at `first` of an array.
struct Message {
  int rank;
  Index first, count;
};

} // namespace weft
