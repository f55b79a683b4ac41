// Compact differences, stencils alone and swept in one pass, against the serial twins: pieces of lines along each direction of a box, with
// and without neighbours.
#include <chrono>
#include <numeric>
#include <optional>
#include <sstream>
#include <thread>

#include "kernels/compact_stencil.hpp"
#include "kernels/compact_sweep.hpp"
#include "kernels/product_field.hpp"

#include "line_problem.hpp"
#include "reference/compact.hpp"

namespace {

using namespace weft;
using namespace weft::test;

template <class Scalar>
constexpr RealOf<Scalar> rounding = std::numeric_limits<RealOf<Scalar>>::epsilon();
template <class Scalar>
constexpr Scalar no_number = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();

CompactRows random_rows(int width, int ends, std::mt19937 &random)
{
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  CompactRows rows;
  rows.inner = random_values<double>(static_cast<std::size_t>(2 * width + 1), random);
  for (int i = 0; i < ends; i++) {
    rows.head.push_back(random_values<double>(static_cast<std::size_t>(between(1, most_end_weights)), random));
    rows.tail.push_back(random_values<double>(static_cast<std::size_t>(between(1, most_end_weights)), random));
  }
  return rows;
}

/// Lines along `direction` through a box whose other sides are given, of which a rank has `rows` from `first`.
template <class Scalar>
void check(const BoxPiece &piece, const CompactRows &rows, Memory memory, std::mt19937 &random)
{
  SCOPED_TRACE(testing::Message() << "box " << piece.n[0] << " x " << piece.n[1] << " x " << piece.n[2] << ", direction " << piece.direction
                                  << ", rows from " << piece.first << " of " << piece.length << ", ring " << piece.ring << ", width "
                                  << rows.width() << ", " << rows.head.size() << " rows of the ends, " << sizeof(Scalar) << " bytes");
  using Values    = std::vector<Scalar>;
  const auto size = static_cast<std::size_t>(piece.rows() * piece.lines()), count = static_cast<std::size_t>(piece.lines());
  const auto wide    = static_cast<std::size_t>(rows.width()) * count;
  const Index stride = piece.stride();
  Values f(size), expected(size), before(wide, no_number<Scalar>), after = before;
  for (Index line = 0; line < piece.lines(); line++) {
    const Values whole  = random_values<Scalar>(static_cast<std::size_t>(piece.length), random);
    const Values result = reference::apply_rows(rows, piece.ring, whole);
    const auto row_of   = [&](Index row) { return static_cast<std::size_t>((piece.first + row + piece.length) % piece.length); };
    const Index start   = line % stride + line / stride * stride * piece.rows();
    for (Index row = 0; row < piece.rows(); row++) {
      f[static_cast<std::size_t>(start + row * stride)]        = whole[row_of(row)];
      expected[static_cast<std::size_t>(start + row * stride)] = result[row_of(row)];
    }
    for (Index k = 0; k < rows.width(); k++) {
      const auto at = static_cast<std::size_t>(k * piece.lines() + line);
      before[at]    = whole[row_of(k - rows.width())];
      after[at]     = whole[row_of(piece.rows() + k)];
    }
  }
  const Execution execution(memory);
  const CompactStencil<Scalar> stencil(execution, piece, rows);
  const Buffer<Scalar> from(memory, f), left(memory, before), right(memory, after), to(memory, Values(size, no_number<Scalar>));
  stencil.apply_inside(from.data(), to.data());
  stencil.apply_ends(from.data(), stencil.needs_before() ? left.data() : nullptr, stencil.needs_after() ? right.data() : nullptr,
                     to.data());
  execution.wait();
  const Values got = to.values();
  for (std::size_t i = 0; i < size; i++) ASSERT_LE(modulus(got[i] - expected[i]), 40 * rounding<Scalar>) << "element " << i;
}

TEST(CompactStencil, AgreesWithTheSerialTwinInEveryPiece)
{
  std::mt19937 random(71);
  const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  for (int trial = 0; trial < 150; trial++) {
    BoxPiece piece;
    const int width = static_cast<int>(between(1, most_stencil_width)), ends = static_cast<int>(between(width, most_stencil_width + 1));
    piece.direction = static_cast<int>(between(0, 2));
    for (Index &n : piece.n) n = between(1, 9);
    piece.n[piece.direction] = between(std::max(2 * ends, most_end_weights), trial % 10 ? 40 : 1500);
    const bool whole         = between(0, 2) == 0;
    piece.first              = whole || between(0, 2) == 0 ? 0 : between(2 * most_end_weights, 60);
    piece.length             = piece.first + piece.rows() + (whole || between(0, 2) == 0 ? 0 : between(2 * most_end_weights, 60));
    piece.ring               = between(0, 1) == 1;
    const CompactRows rows   = random_rows(width, ends, random);
    for (Memory memory : memories()) {
      check<SingleScalar>(piece, rows, memory, random);
      check<KernelScalar>(piece, rows, memory, random);
    }
  }
}

/// Couplings that decay: an unknown is lost in rounding 40 rows away.
CompactMatrix random_matrix(int ends, std::mt19937 &random)
{
  const auto row = [&](double largest) {
    std::uniform_real_distribution<double> value(-largest, largest);
    return std::array<double, 3>{value(random), 1 + value(random), value(random)};
  };
  CompactMatrix matrix{row(0.2), {}, {}};
  for (int i = 0; i < ends; i++) {
    matrix.head.push_back(row(0.3));
    matrix.tail.push_back(row(0.3));
  }
  return matrix;
}

/// A^-1 B f on one whole line.
template <class Scalar>
std::vector<Scalar> differences(const CompactMatrix &matrix, const CompactRows &rows, bool ring, const std::vector<Scalar> &f)
{
  const std::size_t n = f.size();
  std::vector<Scalar> lower(n), diagonal(n), upper(n);
  for (std::size_t i = 0; i < n; i++) {
    const auto &row = !ring && i < matrix.head.size()           ? matrix.head[i]
                      : !ring && n - 1 - i < matrix.tail.size() ? matrix.tail[n - 1 - i]
                                                                : matrix.inner;
    lower[i] = row[0], diagonal[i] = row[1], upper[i] = row[2];
  }
  const std::vector<Scalar> right = reference::apply_rows(rows, ring, f);
  return ring ? reference::solve_periodic(lower, diagonal, upper, right) : reference::solve_tridiagonal(lower, diagonal, upper, right);
}

/// A rank's piece of lines that are cut in `sizes`, with what it has, makes and tells.
template <class Scalar>
struct Swept {
  BoxPiece piece;
  std::vector<Scalar> values;
  std::vector<InDouble<Scalar>> expected;
  std::unique_ptr<CompactSweep<Scalar>> sweep;
  std::optional<Buffer<Scalar>> f, g, to_before, to_after;
};

/// Pieces one after the other along `direction` through a box whose other sides are given; executions: where each is swept.
template <class Scalar>
std::vector<Swept<Scalar>> cut_lines(const BoxPiece &box, const std::vector<Index> &sizes, const CompactMatrix &matrix,
                                     const CompactRows &rows, const std::vector<const Execution *> &executions, bool slow,
                                     std::mt19937 &random)
{
  using Values = std::vector<Scalar>;
  using Wide   = std::vector<InDouble<Scalar>>;
  std::vector<Swept<Scalar>> pieces(sizes.size());
  Index first = 0;
  for (std::size_t k = 0; k < sizes.size(); k++) {
    Swept<Scalar> &p         = pieces[k];
    p.piece                  = box;
    p.piece.n[box.direction] = sizes[k];
    p.piece.first            = first;
    p.piece.length           = std::accumulate(sizes.begin(), sizes.end(), Index(0));
    p.sweep                  = std::make_unique<CompactSweep<Scalar>>(*executions[k], p.piece, matrix, rows, slow);
    const auto size          = static_cast<std::size_t>(p.piece.rows() * p.piece.lines());
    p.values                 = Values(size);
    p.expected               = Wide(size);
    first += sizes[k];
  }
  for (Index line = 0; line < box.lines(); line++) {
    const Values whole = random_values<Scalar>(static_cast<std::size_t>(first), random);
    const Wide result  = differences(matrix, rows, box.ring, Wide(whole.begin(), whole.end()));
    for (Swept<Scalar> &p : pieces) {
      const Index stride = p.piece.stride(), start = line % stride + line / stride * stride * p.piece.rows();
      for (Index row = 0; row < p.piece.rows(); row++) {
        const auto at = static_cast<std::size_t>(start + row * stride), from = static_cast<std::size_t>(p.piece.first + row);
        p.values[at]   = whole[from];
        p.expected[at] = result[from];
      }
    }
  }
  const Memory memory = executions[0]->memory();
  for (Swept<Scalar> &p : pieces) {
    p.f.emplace(memory, p.values);
    p.g.emplace(memory, Values(p.values.size(), no_number<Scalar>));
  }
  return pieces;
}

template <class Scalar>
void expect_derivative(const Swept<Scalar> &piece, std::size_t number)
{
  const std::vector<Scalar> got = piece.g->values();
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_LE(modulus(widened(got[i]) - piece.expected[i]), 100 * rounding<Scalar>) << "piece " << number << ", element " << i;
}

std::string describe(const BoxPiece &box, const std::vector<Index> &sizes, const CompactRows &rows, std::size_t bytes)
{
  std::ostringstream words;
  words << "box " << box.n[0] << " x " << box.n[1] << " x " << box.n[2] << ", direction " << box.direction << ", " << sizes.size()
        << " pieces, the first of " << sizes[0] << " rows, ring " << box.ring << ", width " << rows.width() << ", " << rows.head.size()
        << " rows of the ends, " << bytes << " bytes";
  return words.str();
}

/// Each piece is swept with what the others tell.
template <class Scalar>
void check_sweep(const BoxPiece &box, const std::vector<Index> &sizes, const CompactMatrix &matrix, const CompactRows &rows, Memory memory,
                 std::mt19937 &random)
{
  SCOPED_TRACE(describe(box, sizes, rows, sizeof(Scalar)));
  const Execution execution(memory);
  const std::size_t count = sizes.size();
  const bool slow         = random() % 2;
  auto pieces             = cut_lines<Scalar>(box, sizes, matrix, rows, std::vector<const Execution *>(count, &execution), slow, random);
  for (Swept<Scalar> &p : pieces) {
    const std::vector<Scalar> message(static_cast<std::size_t>(p.sweep->words() * p.piece.lines()), no_number<Scalar>);
    p.to_before.emplace(memory, message);
    p.to_after.emplace(memory, message);
    p.sweep->tell(p.f->data(), p.to_before->data(), p.to_after->data());
  }
  for (const Swept<Scalar> &p : pieces) {
    if (p.sweep->teller()) p.sweep->teller()->wait();
  }
  for (std::size_t k = 0; k < count; k++) {
    Swept<Scalar> &p = pieces[k];
    p.sweep->apply_inside(p.f->data(), p.g->data());
    p.sweep->apply_ends(p.f->data(), pieces[(k + count - 1) % count].to_after->data(), pieces[(k + 1) % count].to_before->data(),
                        p.g->data());
    execution.wait();
    expect_derivative(p, k);
  }
}

/// Whether sweeps can wait on the device, and it has room for all of a check together.
bool device_waits()
{
  constexpr int enough = 64 * 2048; // threads
  bool cuda            = false;
  for (Memory memory : memories()) cuda = cuda || Execution(memory).name() == "Cuda";
  return cuda && Kokkos::DefaultExecutionSpace().concurrency() >= enough;
}

/// All sweeps wait on the device, until the host says that what pieces tell is there. They are there together.
template <class Scalar>
void check_waiting(const BoxPiece &box, const std::vector<Index> &sizes, const CompactMatrix &matrix, const CompactRows &rows,
                   std::mt19937 &random)
{
  SCOPED_TRACE(describe(box, sizes, rows, sizeof(Scalar)));
  using Pinned = Kokkos::SharedHostPinnedSpace;
  const Execution execution(Memory::device);
  std::vector<std::unique_ptr<Execution>> executions;
  std::vector<const Execution *> there;
  for (std::size_t k = 0; k < sizes.size(); k++) {
    executions.push_back(Execution::beside(execution));
    there.push_back(executions.back().get());
  }
  auto pieces             = cut_lines<Scalar>(box, sizes, matrix, rows, there, false, random);
  const std::size_t count = sizes.size(), words = static_cast<std::size_t>(pieces[0].sweep->words() * box.lines());
  const Kokkos::View<Scalar *, Pinned> told("told", 2 * count * words), read("read", 2 * count * words);
  const Kokkos::View<unsigned, Pinned> flag("flag");
  const Kokkos::View<unsigned *, Pinned> said("said", 2); // by all of them
  const unsigned turn = 3;
  const auto of       = [&](const auto &messages, std::size_t piece, bool after) {
    return messages.data() + (2 * (piece % count) + after) * words;
  };
  for (std::size_t k = 0; k < count; k++) pieces[k].sweep->tell_in_order(pieces[k].f->data(), of(told, k, false), of(told, k, true));
  for (const auto &execution : executions) execution->wait();
  std::fill_n(read.data(), read.size(), no_number<Scalar>);
  for (std::size_t k = 0; k < count; k++)
    pieces[k].sweep->apply(
        pieces[k].f->data(),
        {of(read, k + count - 1, true), of(read, k + 1, false), flag.data(), flag.data(), said.data(), said.data() + 1, turn},
        pieces[k].g->data());
  std::this_thread::sleep_for(std::chrono::milliseconds(5)); // they have begun
  std::copy_n(told.data(), told.size(), read.data());
  Kokkos::atomic_store(flag.data(), turn);
  for (std::size_t k = 0; k < count; k++) {
    executions[k]->wait();
    expect_derivative(pieces[k], k);
  }
  EXPECT_TRUE(said[0] == turn && said[1] == turn);

  // As on devices of their own: each tells the others, and the kernel that waits for them comes at once.
  const Kokkos::View<unsigned *, Pinned> flags("flags", 2 * count);
  const auto flag_of = [&](std::size_t piece, bool after) { return &flags[2 * (piece % count) + after]; };
  std::fill_n(read.data(), read.size(), no_number<Scalar>);
  for (auto &piece : pieces) piece.g.emplace(Memory::device, std::vector<Scalar>(piece.expected.size(), no_number<Scalar>));
  for (std::size_t k = 0; k < count; k++) { // nothing waits for the device here
    pieces[k].sweep->tell_in_order(pieces[k].f->data(), of(read, k, false), of(read, k, true));
    pieces[k].sweep->apply(pieces[k].f->data(),
                           {of(read, k + count - 1, true), of(read, k + 1, false), flag_of(k, false), flag_of(k, true),
                            flag_of(k + count - 1, true), flag_of(k + 1, false), turn},
                           pieces[k].g->data());
  }
  for (std::size_t k = 0; k < count; k++) {
    executions[k]->wait();
    expect_derivative(pieces[k], k);
  }
}

/// So many lines that a device sweeps all but the early ones in whole waves of teams.
TEST(CompactSweep, AgreesOnManyLinesOfADevice)
{
  std::mt19937 random(75);
  const CompactMatrix matrix = random_matrix(1, random);
  const CompactRows rows     = random_rows(1, 1, random);
  bool device                = false;
  for (Memory memory : memories()) {
    if (memory != Memory::device) continue;
    device = true;
    for (int direction : {0, 2}) {
      BoxPiece box;
      box.direction = direction;
      for (Index &n : box.n) n = 300;
      box.n[direction] = 1;
      box.ring         = false;
      box.length       = 140;
      check_sweep<SingleScalar>(box, {71, 69}, matrix, rows, memory, random);
      check_sweep<KernelScalar>(box, {71, 69}, matrix, rows, memory, random);
    }
  }
  if (!device) GTEST_SKIP() << "no device";
}

/// Lines through a box, cut in pieces of `sizes`.
struct CutBox {
  BoxPiece box;
  std::vector<Index> sizes;
  CompactMatrix matrix;
  CompactRows rows;

  /// whole: there is one piece.
  CutBox(int trial, bool whole, std::mt19937 &random)
  {
    const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
    const int width = static_cast<int>(between(1, 2)), ends = static_cast<int>(between(width, 2));
    box.direction = static_cast<int>(between(0, 2));
    for (Index &n : box.n) n = trial % 7 ? between(1, 9) : between(30, 70);
    box.n[box.direction] = 1;
    box.ring             = between(0, 1) == 1;
    const Index pieces   = whole ? 1 : between(2, 4); // beside neighbours a piece has least_rows()
    for (Index k = 0; k < pieces; k++) sizes.push_back(whole ? between(12, trial % 10 ? 200 : 1500) : between(60, trial % 10 ? 200 : 900));
    box.length = std::accumulate(sizes.begin(), sizes.end(), Index(0));
    matrix     = random_matrix(ends, random);
    rows       = random_rows(width, ends, random);
  }
};

TEST(CompactSweep, AgreesWithStencilAndEliminationInEveryPiece)
{
  std::mt19937 random(73);
  for (int trial = 0; trial < 150; trial++) {
    const CutBox cut(trial, trial % 3 == 0, random);
    for (Memory memory : memories()) {
      check_sweep<SingleScalar>(cut.box, cut.sizes, cut.matrix, cut.rows, memory, random);
      check_sweep<KernelScalar>(cut.box, cut.sizes, cut.matrix, cut.rows, memory, random);
    }
  }
}

TEST(CompactSweep, WaitsForNeighboursInItsKernel)
{
  if (!device_waits()) GTEST_SKIP() << "no kernel waits for another device";
  std::mt19937 random(77);
  for (int trial = 0; trial < 60; trial++) {
    const CutBox cut(trial, false, random);
    check_waiting<SingleScalar>(cut.box, cut.sizes, cut.matrix, cut.rows, random);
    check_waiting<KernelScalar>(cut.box, cut.sizes, cut.matrix, cut.rows, random);
  }
}

TEST(CompactSweep, BoxesMayBeAsShortAsNeighboursNeed)
{
  std::mt19937 random(75);
  const std::array<double, 3> weak{1e-3, 1, 1e-3}; // boxes shorter than a tile
  for (const bool ring : {false, true}) {
    for (const int width : {1, 2}) {
      for (const CompactMatrix &matrix : {random_matrix(2, random), CompactMatrix{weak, {weak, weak}, {weak, weak}}}) {
        const CompactRows rows = random_rows(width, 2, random);
        BoxPiece box;
        box.n[0] = box.n[1] = 13;
        box.direction = 2, box.ring = ring, box.n[2] = box.length = 1000;
        const Execution host(Memory::host);
        const Index least = CompactSweep<KernelScalar>(host, box, matrix, rows).least_rows();
        for (Memory memory : memories()) check_sweep<KernelScalar>(box, {least, least, least}, matrix, rows, memory, random);
        if (device_waits()) check_waiting<KernelScalar>(box, {least, least, least}, matrix, rows, random);
        box.n[2]   = least - 1;
        box.length = 3 * box.n[2];
        EXPECT_THROW(CompactSweep<KernelScalar>(host, box, matrix, rows), std::invalid_argument);
      }
    }
  }
}

TEST(ProductField, FillsAndMeasures)
{
  const auto aside = []<class Scalar>(Scalar size) { // products are real
    if constexpr (is_complex<Scalar>)
      return size * Scalar(0, 1);
    else
      return size;
  };
  const ProductFactors factors{std::vector<double>{1, 2, 3}, {5, 7}, {11, 13, 17, 19}};
  for (Memory memory : memories()) {
    const Execution execution(memory);
    const Buffer<KernelScalar> u(memory, std::vector<KernelScalar>(24, no_number<KernelScalar>));
    EXPECT_EQ(distance_to_product(execution, factors, 0, 0, 1, u.data()).most, std::numeric_limits<double>::infinity());
    fill_product(execution, factors, u.data());
    std::vector<KernelScalar> values = u.values();
    EXPECT_EQ(values[0], KernelScalar(1 * 5 * 11));
    EXPECT_EQ(values[23], KernelScalar(3 * 7 * 19));
    EXPECT_EQ(values[7], KernelScalar(2 * 5 * 13));
    EXPECT_EQ(distance_to_product(execution, factors, 2, 0, 4, u.data()).most, 0);
    values[7] += aside(KernelScalar(3));  // row 1 along z
    values[20] -= aside(KernelScalar(4)); // row 3
    const Buffer<KernelScalar> changed(memory, values);
    const Distance distance = distance_to_product(execution, factors, 2, 1, 3, changed.data());
    EXPECT_EQ(distance.most, 4);
    EXPECT_EQ(distance.inside, 3);
    EXPECT_EQ(distance.squares, 25);
  }
}

TEST(CompactSweep, SaysWhyItCannot)
{
  std::mt19937 random(74);
  const Execution execution(Memory::host);
  const auto why = [&](Index rows, double coupling, int width, int ends) -> std::string {
    BoxPiece piece;
    piece.n[0] = piece.length = rows;
    CompactMatrix matrix{{coupling, 1, coupling}, {}, {}};
    for (int i = 0; i < ends; i++) {
      matrix.head.push_back({coupling, 1, coupling});
      matrix.tail.push_back({coupling, 1, coupling});
    }
    try {
      CompactSweep<KernelScalar>(execution, piece, matrix, random_rows(width, ends, random));
    } catch (const std::invalid_argument &refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(why(100, 0.25, 1, 1), "");
  EXPECT_NE(why(100, 0.45, 1, 1).find("is felt over"), std::string::npos); // the filter's couplings
  EXPECT_NE(why(100, 0.5, 1, 1).find("is felt over"), std::string::npos);  // does not decay
  EXPECT_NE(why(100, 1, 1, 1).find("breaks down"), std::string::npos);
  EXPECT_NE(why(100, 0.25, 3, 3).find("one or two rows"), std::string::npos);
  EXPECT_NE(why(100, 0.25, 1, 3).find("rows with weights of their own"), std::string::npos);
  EXPECT_NE(why(11, 0.25, 1, 1).find("at least 12 rows"), std::string::npos);
  BoxPiece cut;
  cut.n[0] = 100, cut.length = 200;
  const CompactMatrix diagonal{{0, 1, 0}, {{0, 1, 0}}, {{0, 1, 0}}};
  EXPECT_THROW(CompactSweep<KernelScalar>(execution, cut, diagonal, random_rows(1, 1, random)), std::invalid_argument);
}

TEST(CompactStencil, RefusesPiecesThatAreTooShort)
{
  std::mt19937 random(72);
  const Execution execution(Memory::host);
  const auto made = [&](Index first, Index rows, Index length, bool ring, int width, int ends) {
    BoxPiece piece;
    piece.n[0]   = rows;
    piece.first  = first;
    piece.length = length;
    piece.ring   = ring;
    CompactStencil<KernelScalar>(execution, piece, random_rows(width, ends, random));
  };
  EXPECT_THROW(made(0, 1, 20, false, 2, 2), std::invalid_argument);  // both special rows must be here
  EXPECT_THROW(made(5, 3, 20, false, 2, 2), std::invalid_argument);  // rows that reach both neighbours
  EXPECT_THROW(made(0, 3, 3, true, 2, 2), std::invalid_argument);    // a ring on which the stencil meets itself
  EXPECT_THROW(made(0, 20, 20, false, 2, 1), std::invalid_argument); // the second row would reach out of the line
  EXPECT_THROW(made(0, 20, 20, false, 4, 4), std::invalid_argument); // wider than there is room for
  EXPECT_NO_THROW(made(5, 4, 20, false, 2, 2));
  EXPECT_NO_THROW(made(0, 4, 4, true, 2, 0));
}

} // namespace
