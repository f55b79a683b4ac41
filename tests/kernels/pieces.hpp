/// Lines in pieces on the ranks of a test: how they are cut, and how a rank's part is compared.
#pragma once
#include <gtest/gtest.h>
#include <mpi.h>

#include "line_problem.hpp"

namespace weft::test {

inline int ranks()
{
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline int rank()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline Index between(std::mt19937 &random, Index low, Index high)
{
  return std::uniform_int_distribution<Index>(low, high)(random);
}

/// Lengths of the pieces: of up to `most` rows, or one, or none; one row at least in all.
inline std::vector<Index> random_cuts(std::mt19937 &random, Index most)
{
  std::vector<Index> lengths;
  Index sum = 0;
  for (int r = 0; r < ranks(); r++) {
    const Index kind = between(random, 0, 4);
    lengths.push_back(kind == 0 ? 0 : kind == 1 ? 1 : between(random, 1, most));
    sum += lengths.back();
  }
  if (sum == 0) lengths[static_cast<std::size_t>(between(random, 0, ranks() - 1))] = between(random, 1, most);
  return lengths;
}

inline Index sum(const std::vector<Index> &lengths, int end)
{
  Index rows = 0;
  for (int r = 0; r < end; r++) rows += lengths[static_cast<std::size_t>(r)];
  return rows;
}

template <class Scalar>
void compare(const std::vector<Scalar> &got, const std::vector<Scalar> &expected, Scalar tolerance)
{
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i << " of rank " << rank();
}

/// Which way the ends of pieces are to meet: by all ranks' exact reduced system, or by neighbours alone.
enum class Way { exact, neighbours, either };

/// Calls body(scalar, memory) for each precision and backend.
template <class Body>
void for_each_precision(Body &&body)
{
  for (Memory memory : memories()) {
    body(float(), memory);
    body(double(), memory);
  }
}

inline Index my_length(const std::vector<Index> &lengths)
{
  return lengths[static_cast<std::size_t>(rank())];
}

inline Index my_first(const std::vector<Index> &lengths)
{
  return sum(lengths, rank());
}

} // namespace weft::test
