// cr, pcr and their hybrids: what the parameters do, and the kernel in the shape that a device gives it (many threads a line, several lines a
// team, rows in registers), run by host threads.
#include <barrier>
#include <thread>

#include "line/select.hpp"
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;
using Host = Kokkos::DefaultHostExecutionSpace;

/// A team as the kernel sees it.
struct TeamOfThreads {
  struct Scratch {
    void *memory;
    KOKKOS_FUNCTION void *get_shmem_aligned(std::size_t, std::size_t) const { return memory; }
  };
  int rank, league;
  std::barrier<> *barrier;
  void *memory;

  KOKKOS_FUNCTION int team_rank() const { return rank; }
  KOKKOS_FUNCTION int league_rank() const { return league; }
  KOKKOS_FUNCTION void team_barrier() const { KOKKOS_IF_ON_HOST((barrier->arrive_and_wait();)) }
  KOKKOS_FUNCTION Scratch team_scratch(int) const { return {memory}; }
};

template <class Kernel>
void run_teams(const Kernel &kernel, int teams)
{
  const int size = kernel.shape.team_size();
  // Every word beyond what the kernel asked for, and all it did not write, is seen.
  const std::size_t bytes = Kernel::scratch_bytes(kernel.shape), guard = 64;
  std::vector<unsigned char> memory(bytes + guard);
  std::barrier<> barrier(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; rank++) {
    threads.emplace_back([&, rank] {
      for (int team = 0; team < teams; team++) {
        if (rank == 0) std::fill(memory.begin(), memory.end(), 0xff); // NaN
        barrier.arrive_and_wait();
        kernel(TeamOfThreads{rank, team, &barrier, memory.data()});
        barrier.arrive_and_wait();
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (std::size_t i = bytes; i < memory.size(); i++) ASSERT_EQ(memory[i], 0xff) << "written beyond the scratch memory";
}

template <class Method, class Scalar>
void check_device_shape(const LineLayout &layout, const MethodParameters &parameters, std::mt19937 &random)
{
  const ReductionShape shape = Method::template shape<Scalar>(layout, parameters, false);
  SCOPED_TRACE(testing::Message() << Method::name << ", " << sizeof(Scalar) << " bytes, length " << layout.length << ", stride "
                                  << layout.stride << ", threads " << shape.threads << ", lines " << shape.lines << ", levels "
                                  << shape.levels << ", steps " << shape.steps << ", far " << shape.far);
  const Lines<Scalar> lines(layout, random);
  const Buffer<Scalar> lower(Memory::host, lines.lower), diagonal(Memory::host, lines.diagonal), upper(Memory::host, lines.upper),
      rhs(Memory::host, lines.rhs), solution(Memory::host, lines.start);
  const auto span = static_cast<std::size_t>(layout.span());
  const Tridiagonal<Scalar, Host> matrix{lines.problem, Array<const Scalar, Host>(lower.data(), span),
                                         Array<const Scalar, Host>(diagonal.data(), span), Array<const Scalar, Host>(upper.data(), span)};
  const PivotFlag<Host::memory_space> flag(layout);
  flag.clear(Host());
  const Array<Scalar, Host> b(rhs.data(), span), x(solution.data(), span);
  RowSource<Host, Scalar> from(matrix, b, true);
  std::vector<ReducedRows<Host, Scalar>> reduced;
  if (Method::Pieces::cyclic) {
    ASSERT_EQ(shape.far, 0) << "lines of this test must fit on chip";
  } else {
    for (int step = 0; step < shape.far; step++) {
      reduced.emplace_back(layout);
      far_step(Host(), FarStep<Host, Scalar>{from, reduced.back(), step, Colour::odd, true, flag});
      Host().fence();
      from = RowSource<Host, Scalar>(reduced.back());
    }
  }
  const Index teams = (layout.count() * shape.parts + shape.lines - 1) / shape.lines;
  using Kernel      = ReductionKernel<typename Method::Pieces, reduction_rows_per_thread, Host, Scalar>;
  EXPECT_LE(Kernel::scratch_bytes(shape) + sizeof(double) * static_cast<std::size_t>(shape.team_size() + 4), 48u * 1024);
  EXPECT_LE(shape.team_size(), reduction_most_threads);
  EXPECT_LE(shape.rows, shape.threads * reduction_rows_per_thread);
  run_teams(Kernel{from, x, {-0.5, true}, Colour::odd, shape, flag, true, true}, static_cast<int>(teams));
  EXPECT_FALSE(flag.read(Host()));
  const std::vector<Scalar> got = solution.values(), expected = lines.expected({{-0.5, true}, Colour::odd}, lines.start);
  for (std::size_t i = 0; i < got.size(); i++) {
    ASSERT_NEAR(got[i], expected[i], 400 * std::numeric_limits<Scalar>::epsilon() * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

template <class Method>
void check_device_shapes(const std::vector<MethodParameters> &choices)
{
  std::mt19937 random(12);
  for (const MethodParameters &parameters : choices) {
    for (Index length : {1, 2, 7, 32, 65, 100, 500, 1024, 1501}) {
      const Index count = length < 50 ? 150 / length : 3;
      check_device_shape<Method, double>(contiguous(length, count), parameters, random);
      check_device_shape<Method, float>(strided(length, count + 2), parameters, random);
    }
  }
  if (!Method::Pieces::cyclic) check_device_shape<Method, double>(contiguous(4001, 2), {}, random); // four parts a line
  if (!Method::Pieces::cyclic) check_device_shape<Method, float>(strided(2049, 4), {}, random);
}

TEST(Reduction, CrInTheShapeOfADevice)
{
  check_device_shapes<Cr>({{}});
}
TEST(Reduction, PcrInTheShapeOfADevice)
{
  check_device_shapes<Pcr>({{}});
}
TEST(Reduction, CrPcrInTheShapeOfADevice)
{
  check_device_shapes<CrPcr>({{}, {.switch_rows = 7}});
}
TEST(Reduction, PcrThomasInTheShapeOfADevice)
{
  check_device_shapes<PcrThomas>({{}, {.steps = 2}});
}
TEST(Reduction, CrPcrThomasInTheShapeOfADevice)
{
  check_device_shapes<CrPcrThomas>({{}, {.steps = 1, .slice = 50}});
}

TEST(Reduction, TeamsAreNeitherSmallNorTooLarge)
{
  for (Index length : {1, 32, 100, 256, 1000, 100000}) {
    for (const LineLayout &layout : {contiguous(length, 100000), strided(length, 100000)}) {
      const ReductionShape shape = Cr::shape<double>(layout, {}, false);
      EXPECT_GE(shape.team_size(), 128) << "length " << length;
      EXPECT_LE(shape.team_size(), reduction_most_threads) << "length " << length;
    }
  }
  EXPECT_GE(Pcr::shape<double>(strided(200, 100000), {}, false).lines, 8) << "neighbouring lines share cache lines";
}

TEST(Reduction, ParametersSetTheSwitchPoints)
{
  const auto shape = [](auto method, Index length, const MethodParameters &parameters) {
    return decltype(method)::template shape<double>(one_line(length), parameters, false);
  };
  EXPECT_EQ(shape(Cr(), 1000, {}).levels, 9);
  EXPECT_EQ(shape(Pcr(), 1000, {}).steps, 10);
  EXPECT_EQ(shape(CrPcr(), 1000, {}).levels, 4); // 62 rows
  EXPECT_EQ(shape(CrPcr(), 1000, {}).steps, 6);
  EXPECT_EQ(shape(CrPcr(), 1000, {.switch_rows = 1}).levels, 9);
  EXPECT_EQ(shape(CrPcr(), 1000, {.switch_rows = 500}).levels, 1);
  EXPECT_EQ(shape(CrPcr(), 1000, {.switch_rows = 1000}).levels, 0);
  EXPECT_EQ(shape(PcrThomas(), 1000, {}).steps, 6); // 16 rows
  EXPECT_EQ(shape(PcrThomas(), 1000, {.steps = 3}).steps, 3);
  EXPECT_EQ(shape(PcrThomas(), 1000, {.steps = 99}).steps, 10);
  EXPECT_EQ(shape(CrPcrThomas(), 2048, {}).far, 1);
  EXPECT_EQ(shape(CrPcrThomas(), 2048, {}).levels, 1); // the thesis' 2 levels, one of them through device memory,
  EXPECT_EQ(shape(CrPcrThomas(), 2048, {}).steps, 6);  // and 64 systems of 8
  EXPECT_EQ(shape(CrPcrThomas(), 1000, {.steps = 99}).levels, 9);
  EXPECT_EQ(shape(CrPcrThomas(), 1000, {.steps = 1, .slice = 500}).steps, 0);
}

TEST(Reduction, AgreesAtEverySwitchPoint)
{
  std::mt19937 random(13);
  const auto check_all = [&](const char *method, const MethodParameters &parameters) {
    for (Index length : {1, 2, 3, 17, 100, 1023, 1025, 6007}) {
      for (Memory memory : memories()) {
        for (const LineLayout &layout : {contiguous(length, 5), strided(length, 5)}) {
          check(Lines<double>(layout, random), method, memory, {}, Call::solve, parameters);
          check(Lines<float>(layout, random), method, memory, {}, Call::once, parameters);
        }
      }
    }
  };
  for (Index rows : {1, 2, 5, 100, 700, 1000000}) check_all("cr-pcr", {.switch_rows = rows});
  for (int steps : {1, 2, 5, 40}) check_all("pcr-thomas", {.steps = steps});
  for (int steps : {1, 3, 40}) {
    for (int rows : {1, 3, 100, 1000000}) check_all("cr-pcr-thomas", {.steps = steps, .slice = rows});
  }
}

TEST(Reduction, RefusesNegativeParameters)
{
  const LineProblem lines(one_line(100));
  EXPECT_TRUE(tridiagonal_method_refuses("cr-pcr", lines, {.switch_rows = -1}));
  EXPECT_TRUE(tridiagonal_method_refuses("pcr-thomas", lines, {.steps = -1}));
  EXPECT_TRUE(tridiagonal_method_refuses("cr-pcr-thomas", lines, {.steps = -1}));
  EXPECT_TRUE(tridiagonal_method_refuses("cr-pcr-thomas", lines, {.slice = -1}));
  EXPECT_FALSE(tridiagonal_method_refuses("cr", lines, {.steps = -1}));
}

} // namespace
