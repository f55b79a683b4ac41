/// Set-up of cuda/fraction_cuda.hpp, on the host and without Kokkos: a step of partial fractions on lines of equal rows as sums of powers.
///
/// Divided by its coupling o, a line B - pole I has the rows (1, delta, 1), |delta| > 2. With r + 1/r = -delta, |r| < 1, its inverse is
///   u_i = F_i + H_i - phi_i,   F_i = phi_i + r F_{i-1},   H_i = phi_i + r H_{i+1},   phi = -r / (1 - r^2) f / o,
/// where the conditions at both ends give what enters there, F_{-1} and H_n, as sums of H_0, F_{n-1}, phi_0 and phi_{n-1} of an F and H into
/// which nothing enters.
///
/// Rows are taken in chunks of E. What a chunk gives to its own rows is the sum over all poles of sum_p w_p r_p^|i-j|, one matrix of E x E.
/// What it gives to others, and they to it, goes pole by pole through two numbers, sum_e r^(E-1-e) phi_e and sum_e r^e phi_e. As both are
/// mirror images, sums and differences of rows e and E-1-e halve the work.
#pragma once
#include <optional>
#include <vector>

#include "bcr/modes/mode_tables.hpp"
#include "bcr/reduction/schedule.hpp"

namespace weft::poisson {

/// Rows of a chunk, chunks of a warp.
inline constexpr int chunk_rows = 16, half_chunk = chunk_rows / 2, warp_chunks = 32;

/// Where the numbers of a pole lie in its record.
struct PoleRecord {
  static constexpr int sums        = 0;                        ///< r^e + r^(E-1-e), e < E/2
  static constexpr int differences = half_chunk;               ///< r^(E-1-e) - r^e
  static constexpr int powers      = chunk_rows;               ///< r^(E k), k = 0 .. 32
  static constexpr int weights     = powers + warp_chunks + 1; ///< of both sources: phi r = weight f
  static constexpr int first       = weights + 2;              ///< F_{-1} r of H_0, F_last, phi_0, phi_{n-1}
  static constexpr int last        = first + 4;                ///< H_n r of the same
  static constexpr int steps       = last + 4;                 ///< doublings of a scan over the chunks of a warp that matter
  static constexpr int far         = steps + 1;                ///< 1 where a warp reaches further than the next one
  static constexpr int along_last  = far + 1;                  ///< r to the number of rows of the last chunk
  static constexpr int size        = 64;
};
static_assert(PoleRecord::along_last < PoleRecord::size);

/// Elements of a matrix of chunks: that of sums of mirrored rows, then that of differences, each half_chunk^2.
inline constexpr int chunk_matrix = 2 * half_chunk * half_chunk;

struct FractionTables {
  std::vector<double> poles;    ///< records
  std::vector<double> matrices; ///< a chunk's own part: for every set of poles and every source
  std::vector<int> matrix_of;   ///< set of poles of a group
  /// The last chunk has few rows: its sums by powers would cancel, and are made row by row. Else the numbers of the end count on from
  /// the chunk's end, at most two rows beyond.
  bool tail = false;
};

/// Nothing where the step is another one, or a pole's line does not decay enough (mode_tables.hpp). `smallest`: the least normal
/// number of the precision that will use them.
std::optional<FractionTables> fraction_tables(const LineMatrix &line, const LineStep &step, double smallest);

} // namespace weft::poisson
