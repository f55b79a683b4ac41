#include "poisson_problem.hpp"

#include <map>

#include "base/native.hpp"

namespace weft::test {
namespace {

/// A u = f with random u: the largest error of the solution over the largest u.
template <class Scalar>
double error_of(const SeparableOperator &a, const DirectOptions &options, Memory memory, std::mt19937 &random, bool in_place = false)
{
  const auto u = random_values<double>(unknowns(a), random);
  return largest_difference(solved<Scalar>(a, reference::apply(a, u), options, memory, in_place), u) / largest(u);
}

template <class Scalar>
constexpr double epsilon = std::numeric_limits<Scalar>::epsilon();

DirectOptions method_of(const char *name)
{
  DirectOptions options;
  options.method = name;
  return options;
}

/// Every method on every pair of boundary conditions and sizes that it takes, against dense elimination.
TEST(Poisson, AgreesWithDenseElimination)
{
  std::mt19937 random(1);
  std::map<std::string, int> solves;
  for (const char *method : poisson_method_names()) {
    for (Boundary along_y : {Boundary::dirichlet, Boundary::dirichlet_neumann, Boundary::neumann_dirichlet, Boundary::neumann,
                             Boundary::periodic, Boundary::cells, Boundary::cells_dirichlet}) {
      for (Index n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17}) {
        for (Index m : {1, 2, 3, 4, 7, 8, 10}) {
          const Boundary along_x = constant_boundaries[(n + m) % 5];
          const auto a           = separable({laplacian(m, along_x, 0.7), laplacian(n, along_y)}, -0.3);
          if (poisson_method_refuses(method, a) || (std::string(method) == "plain" && n > 9)) continue; // digits drown, see ErrorGrowth
          SCOPED_TRACE(testing::Message() << method << " " << m << " x " << n << " boundaries " << int(along_x) << " " << int(along_y));
          solves[method]++;
          if (!sampled()) continue;
          const auto f        = random_values<double>(unknowns(a), random);
          const auto expected = reference::solve_dense(a, f);
          for_each_scalar([&](auto scalar, Memory memory) {
            using Scalar           = decltype(scalar);
            const auto got         = solved<Scalar>(a, f, method_of(method), memory, (n + m) % 2 == 0);
            const double tolerance = (std::string(method) == "plain" ? 3e5 : 300) * epsilon<Scalar> * (1 + largest(expected));
            ASSERT_LE(largest_difference(got, expected), tolerance);
          });
        }
      }
    }
  }
  for (const char *method : poisson_method_names()) EXPECT_GE(solves[method], 100) << method;
}

/// Coefficients and weights that vary in both directions, any number of rows, every radix.
TEST(Poisson, SolvesVaryingCoefficients)
{
  std::mt19937 random(2);
  for (Index n : {1, 2, 3, 4, 5, 6, 13, 16, 17, 31, 63, 64, 65, 77, 100, 127, 300}) {
    for (Index m : {1, 2, 9, 40}) {
      for (bool ring : {false, true}) {
        if (n == 300 && (m != 9 || ring)) continue; // longer than the strips whose eigenvectors are all found
        const auto a = separable({random_direction(m, random, (n + m) % 3 == 0), random_direction(n, random, ring)}, -0.1);
        for (const char *method : {"separable", "facr"}) {
          DirectOptions options = method_of(method);
          options.radix         = std::string(method) == "separable" ? static_cast<int>(2 + n % 4) : 0;
          SCOPED_TRACE(testing::Message() << method << " " << m << " x " << n << (ring ? " ring" : "") << " radix " << options.radix);
          if (!sampled()) continue;
          for_each_scalar([&](auto scalar, Memory memory) {
            using Scalar = decltype(scalar);
            ASSERT_LE(error_of<Scalar>(a, options, memory, random), 1e4 * epsilon<Scalar>);
          });
        }
      }
    }
  }
}

/// Constant coefficients at one more size of every form, on a grid whose directions differ, with every method's own options.
TEST(Poisson, TakesOptions)
{
  std::mt19937 random(3);
  for (Boundary along_y : constant_boundaries) {
    const Index n = along_y == Boundary::dirichlet ? 63 : along_y == Boundary::neumann ? 65 : 64;
    const auto a  = separable({random_direction(29, random), laplacian(n, along_y, 0.5)}, -0.01);
    std::vector<DirectOptions> all;
    for (const char *method : {"partial", "buneman1", "buneman2"}) {
      all.push_back(method_of(method));
      all.push_back(all.back());
      all.back().inverse = "leja";
    }
    for (int levels : {-1, 0, 1, 2, 3, 4}) {
      all.push_back(method_of("facr"));
      all.back().levels = levels;
    }
    for (int radix : {0, 2, 3, 4, 5}) {
      all.push_back(method_of("separable"));
      all.back().radix = radix;
    }
    for (const auto &options : all) {
      if (!sampled()) continue;
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        EXPECT_LE(error_of<Scalar>(a, options, memory, random), 5e3 * epsilon<Scalar>)
            << options.method << " " << options.inverse << " levels " << options.levels << " radix " << options.radix << " boundary "
            << int(along_y);
      });
    }
  }
}

/// One and three directions, and grids of one row, one column, one plane.
TEST(Poisson, SolvesInOneAndThreeDirections)
{
  std::mt19937 random(4);
  const auto check = [&](const SeparableOperator &a, const std::string &what) {
    const auto f        = random_values<double>(unknowns(a), random);
    const auto expected = reference::solve_dense(a, f);
    int solves          = 0;
    for (const char *method : {"auto", "partial", "buneman1", "buneman2", "separable", "facr"}) {
      if (poisson_method_refuses(method, a)) continue;
      solves++;
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        EXPECT_LE(largest_difference(solved<Scalar>(a, f, method_of(method), memory), expected),
                  500 * epsilon<Scalar> * (1 + largest(expected)))
            << method << " " << what;
      });
    }
    EXPECT_GE(solves, 3) << what;
  };
  for (Index n : {1, 2, 5, 8}) {
    check(separable({laplacian(n, Boundary::dirichlet)}, -0.1), "1-D");
    check(separable({random_direction(n, random, true)}, -0.1), "1-D ring");
  }
  for (int one = 0; one < 3; one++) {
    Index n[3] = {5, 7, 6};
    n[one]     = 1;
    check(separable({laplacian(n[0], Boundary::dirichlet), laplacian(n[1], Boundary::dirichlet), laplacian(n[2], Boundary::neumann)}, -0.2),
          "one point along " + std::to_string(one));
  }
  for (Boundary b : constant_boundaries) {
    check(separable({random_direction(5, random), laplacian(8, Boundary::periodic), laplacian(6, b)}, -0.1), "lines vary");
    check(separable({laplacian(7, b), random_direction(4, random, b == Boundary::periodic), random_direction(5, random)}, -0.1),
          "rows and planes vary");
    check(separable({laplacian(6, b), laplacian(5, Boundary::cells), laplacian(7, Boundary::dirichlet)}, -0.1), "rows along z");
  }
}

/// Rows along x where only x has constant coefficients.
TEST(Poisson, TurnsTheGrid)
{
  std::mt19937 random(5);
  const auto a = separable({laplacian(15, Boundary::dirichlet), random_direction(20, random)});
  const Execution execution(Memory::host);
  const auto solver = DirectSolver<double>::make(execution, a, method_of("partial"));
  EXPECT_NE(solver->facts().description.find("lines along y, rows along x"), std::string::npos) << solver->facts().description;
  for (const char *method : {"partial", "buneman1", "buneman2"})
    EXPECT_LE(error_of<double>(a, method_of(method), Memory::host, random), 1e-13) << method;
}

/// Rows long enough for elimination to come to rest, and the ends that end it. 2998 and 2999 have no small factors: chirps round twice as
/// often.
TEST(Poisson, SolvesLongRows)
{
  std::mt19937 random(9);
  for (Boundary along_x : {Boundary::dirichlet, Boundary::neumann, Boundary::periodic, Boundary::cells_dirichlet}) {
    for (Index m : {500, 1024, 2999}) {
      auto a = separable({laplacian(m, along_x), laplacian(15, Boundary::dirichlet)});
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        for (const char *method : {"partial", "separable", "facr"})
          EXPECT_LE(error_of<Scalar>(a, method_of(method), memory, random),
                    static_cast<double>(m > 2000 ? 2 * m : 500 + m) * epsilon<Scalar>)
              << method << " " << m;
      });
      for (Index i = m / 3; i < m; i++) a.directions[0].diagonal[static_cast<std::size_t>(i)] -= 1; // a second medium
      EXPECT_LE(error_of<double>(a, method_of("partial"), Memory::host, random), 1e-13) << m;
    }
  }
}

/// Columns without a fast transform, of which one or two are left over; not where modes do not decay along their lines, and on a device not
/// where there are few, nor in portable forms, which have no lines of modes with a border.
TEST(Poisson, LeavesColumnsOver)
{
#if defined(WEFT_NATIVE_CUDA)
  constexpr bool native = true;
#else
  constexpr bool native = false;
#endif
  std::mt19937 random(10);
  struct Shape {
    Index columns, rows;
    int left_over, on_device;
  };
  for (const Shape &shape : {Shape{64, 60, 1, 0},
                             {64, 5, 0, 0},
                             {127, 60, 0, 0},
                             {128, 97, 1, 0},
                             {129, 97, 2, 0},
                             {1024, 300, 1, 1},
                             {513, 200, 2, 0},
                             {1025, 320, 2, 2},
                             {2049, 530, 2, 2},
                             {2048, 1100, 1, 1}}) {
    for (Boundary along_y : constant_boundaries) {
      if (shape.columns > 1000 && along_y != constant_boundaries[shape.columns % 5]) continue;
      for (double helmholtz : {0.0, -0.1, 0.003}) {
        const auto a = separable({laplacian(shape.columns, Boundary::dirichlet, 0.7), laplacian(shape.rows, along_y)}, helmholtz);
        SCOPED_TRACE(testing::Message() << shape.columns << " x " << shape.rows << " boundary " << int(along_y) << " shift " << helmholtz);
        const auto u = random_values<double>(unknowns(a), random);
        const auto f = reference::apply(a, u);
        for_each_scalar([&](auto scalar, Memory memory) {
          using Scalar = decltype(scalar);
          const Execution execution(memory);
          const int left_over = helmholtz > 0 ? 0 : memory == Memory::host ? shape.left_over : native ? shape.on_device : 0;
          const auto text     = DirectSolver<Scalar>::make(execution, a, method_of("facr"))->facts().description;
          EXPECT_EQ(text.find("left over: " + std::to_string(left_over)) != std::string::npos, left_over > 0) << text;
          if (helmholtz > 0) return; // indefinite
          const auto got = solved<Scalar>(a, f, method_of("facr"), memory, shape.rows % 2 == 0);
          EXPECT_LE(largest_difference(got, u), static_cast<double>(500 + shape.columns) * epsilon<Scalar>);
        });
      }
    }
  }
}

TEST(Poisson, SolvesManyAtOnce)
{
  std::mt19937 random(6);
  const auto a   = separable({random_direction(11, random), laplacian(15, Boundary::dirichlet)});
  const Index ld = 11 * 15 + 3;
  const int nrhs = 4;
  for (const char *method : {"partial", "buneman1", "buneman2", "separable", "facr"}) {
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      const auto f = random_values<Scalar>(static_cast<std::size_t>(ld * nrhs), random);
      const Execution execution(memory);
      const auto solver = DirectSolver<Scalar>::make(execution, a, method_of(method));
      const Buffer<Scalar> rhs(memory, f), solution(memory, std::vector<Scalar>(f.size(), 7));
      solver->solve(rhs.data(), solution.data(), nrhs, ld);
      execution.wait();
      const auto got = solution.values();
      for (int k = 0; k < nrhs; k++) {
        const auto begin = static_cast<std::size_t>(k * ld), end = begin + 11 * 15;
        const std::vector<double> b(f.begin() + begin, f.begin() + end), x(got.begin() + begin, got.begin() + end);
        EXPECT_LE(largest_difference(x, reference::solve_dense(a, b)), 1e4 * epsilon<Scalar> * largest(x)) << method << " " << k;
        for (std::size_t i = end; i < begin + ld && i < got.size(); i++) EXPECT_EQ(got[i], 7) << "between the arrays";
      }
    });
  }
}

/// Arrays of padded lengths, as on a device: the solution of the caller's own arrays, whatever directions lines and matrices have.
TEST(Poisson, SolvesInPaddedArrays)
{
  std::mt19937 random(14);
  const auto varying = [&](Index n, bool ring = false, double shift = 0.01) { return random_direction(n, random, ring, shift); };
  const auto wind    = [&](Index n, double by) { // eigenvectors that are nearly parallel: lines go along it where it blows hard
    Direction d = varying(n);
    for (Index i = 0; i < n; i++) {
         const auto k = static_cast<std::size_t>(i);
         d.lower[k] *= by;
         d.diagonal[k] *= 1 + by;
    }
    return d;
  };
  Direction bare = laplacian(8, Boundary::dirichlet); // with eigenvalue -1 and first rows 0: shifted by 1, lines have a pivot that is 0
  for (std::size_t k = 0; k < 8; k++) {
    bare.diagonal[k] = 0;
    if (k + 1 < 8) bare.lower[k + 1] = 1 / (bare.upper[k] = k % 2 == 0 ? 2 : 1.25);
  }
  const struct {
    const char *what; ///< facr says of it
    SeparableOperator a;
  } problems[] = {
      {"lines along x", separable({varying(17), varying(20)}, -0.1)},
      {"lines along y", separable({varying(17), wind(20, 10)}, -0.1)},
      {"lines along x, rows along y", separable({wind(33, 1.3), wind(20, 1.2)}, -0.1)},
      {"lines along x, rows along y", separable({varying(9, true), varying(20, true)}, -0.1)},
      {"lines along y, 1 line", separable({varying(1), varying(20)}, -0.1)},
      {"lines along x, rows along y", separable({varying(32), varying(20)}, -0.1)},
      {"lines along x, rows along y, modes of z", separable({varying(17), varying(8), varying(11)}, -0.1)},
      {"lines along y, rows along x, modes of z", separable({varying(17), wind(12, 10), varying(11)}, -0.1)},
      {"lines along z, rows along x, modes of y", separable({varying(19), varying(8), wind(12, 10)}, -0.1)},
      {"lines along z, rows along x, modes of y, 136 line solves in 1 steps, 4 transforms (some fast)",
       separable({laplacian(17, Boundary::dirichlet), varying(8), wind(12, 10)}, -0.1)},
      {"4 transforms (some fast)", separable({varying(19), laplacian(15, Boundary::dirichlet), varying(7)}, -0.1)},
      {"modes of lines along", separable({bare, bare}, 1)},
      // Chirps, whose products are by parity: even modes first, odd ones first, and neither where there is an odd number of each.
      {"lines along z, rows along x, modes of y, 4836 line solves in 1 steps, 4 transforms, even and odd modes apart",
       separable({laplacian(93, Boundary::dirichlet), laplacian(52, Boundary::dirichlet), wind(12, 10)}, -0.1)},
      {"4 transforms, even and odd modes apart",
       separable({laplacian(48, Boundary::neumann), laplacian(58, Boundary::dirichlet), wind(12, 10)}, -0.1)},
      {"rows along x, 58 line solves in 1 steps, 2 transforms, products",
       separable({laplacian(58, Boundary::dirichlet), wind(20, 10)}, -0.1)},
      {"singular", separable({varying(17, false, 0), varying(20, false, 0)})},
      {"4 transforms, singular", separable({varying(9, true, 0), varying(6, false, 0), varying(8, false, 0)})}};
  const std::string apart = ", even and odd modes apart";
  for (const auto &[what, a] : problems) {
    for (const char *method : {"facr", "separable", "partial"}) {
      if (poisson_method_refuses(method, a)) continue;
      const auto f = random_values<double>(unknowns(a), random);
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        SCOPED_TRACE(testing::Message() << what << ", " << method << ", " << sizeof(Scalar) << " bytes");
        DirectOptions plain = method_of(method), padded = plain;
        plain.pads  = 0;
        padded.pads = 1;
        const Execution execution(memory);
        const auto solver = DirectSolver<Scalar>::make(execution, a, padded), other = DirectSolver<Scalar>::make(execution, a, plain);
        std::string said    = solver->facts().description;
        const auto of_modes = said.find(apart);
        if (of_modes != std::string::npos) said.erase(of_modes, apart.size());
        EXPECT_EQ(said, other->facts().description);
        EXPECT_EQ(of_modes != std::string::npos, std::string(method) == "facr" && std::string(what).find(apart) != std::string::npos);
        for (bool in_place : {false, true}) {
          const auto wanted = solved<Scalar>(a, f, plain, memory, in_place), got = solved<Scalar>(a, f, padded, memory, in_place);
          EXPECT_LE(largest_difference(got, wanted), 1e4 * epsilon<Scalar> * largest(wanted)) << solver->facts().description;
        }
        if (std::string(method) == "facr") {
          const std::string &text = solver->facts().description;
          EXPECT_NE(text.find(what), std::string::npos) << text;
          if (text.find("fast)") == std::string::npos) {
            EXPECT_GT(solver->work_bytes(), other->work_bytes()) << "it has arrays of its own";
          }
        }
        // What one solve leaves behind the ends of lines enters no other.
        std::vector<Scalar> spoiled(f.size(), std::numeric_limits<Scalar>::quiet_NaN());
        const auto wanted = random_values<Scalar>(f.size(), random);
        const Buffer<Scalar> bad(memory, spoiled), good(memory, wanted), before(memory, spoiled), after(memory, spoiled);
        solver->solve(good.data(), before.data());
        solver->solve(bad.data(), after.data());
        solver->solve(good.data(), after.data());
        execution.wait();
        EXPECT_EQ(before.values(), after.values());
        // Several times, for several right-hand sides: what is between lines enters nothing.
        const auto size = static_cast<Index>(f.size()), ld = size + 3;
        const auto g = random_values<Scalar>(static_cast<std::size_t>(2 * ld), random);
        const Buffer<Scalar> rhs(memory, g), first(memory, std::vector<Scalar>(g.size(), 7)),
            second(memory, std::vector<Scalar>(g.size(), 7));
        solver->solve(rhs.data(), first.data(), 2, ld);
        for (int k = 0; k < 3; k++) solver->solve(rhs.data(), second.data(), 2, ld);
        execution.wait();
        EXPECT_EQ(first.values(), second.values());
        EXPECT_EQ(second.values()[static_cast<std::size_t>(size)], 7) << "between the arrays";
        EXPECT_EQ(rhs.values(), g);
      });
    }
  }
}

/// Neumann and periodic problems: solutions up to a constant, for right-hand sides that have none.
TEST(Poisson, SolvesSingularProblems)
{
  std::mt19937 random(7);
  const auto symmetric = [&](Index n, bool ring) { return random_direction(n, random, ring, 0); };
  std::vector<SeparableOperator> all;
  for (Boundary x : {Boundary::neumann, Boundary::periodic, Boundary::cells}) {
    all.push_back(separable({laplacian(12, x), laplacian(17, Boundary::neumann)}));
    all.push_back(separable({laplacian(1, Boundary::cells), laplacian(17, Boundary::neumann)}));
    all.push_back(separable({laplacian(2, Boundary::cells), laplacian(17, Boundary::neumann)}));
    all.push_back(separable({laplacian(9, x), laplacian(16, Boundary::periodic)}));
    all.push_back(separable({laplacian(2, Boundary::neumann), laplacian(2, Boundary::neumann)}));
    all.push_back(separable({symmetric(14, true), laplacian(33, Boundary::neumann)}));
    all.push_back(separable({laplacian(14, x), symmetric(31, false)}));
    all.push_back(separable({symmetric(5, false), symmetric(22, true)}));
    all.push_back(separable({laplacian(6, x), laplacian(8, Boundary::periodic), laplacian(5, Boundary::neumann)}));
    all.push_back(separable({laplacian(17, Boundary::neumann)}));
  }
  // The shift may be what makes it singular.
  all.push_back(separable({laplacian(9, Boundary::neumann), laplacian(9, Boundary::neumann)}, 0.25));
  for (double &d : all.back().directions[0].diagonal) d -= 0.25;
  for (const auto &a : all) {
    for (const char *method : poisson_method_names()) {
      if (poisson_method_refuses(method, a) || std::string(method) == "plain") continue;
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        const Execution execution(memory);
        const auto solver = DirectSolver<Scalar>::make(execution, a, method_of(method));
        SCOPED_TRACE(testing::Message() << solver->facts().description << ", " << sizeof(Scalar) << " bytes");
        ASSERT_TRUE(solver->facts().singular);
        ASSERT_FALSE(solver->facts().bad_pivot);
        const auto f = random_values<Scalar>(unknowns(a), random, 0, 1);
        const Buffer<Scalar> rhs(memory, f), solution(memory, f);
        solver->solve(rhs.data(), solution.data());
        execution.wait();
        // A u = f - perturbation W, and no smaller change of f has a solution: f - perturbation W is what A can give.
        const auto u        = widened(solution.values());
        auto residual       = reference::apply(a, u);
        const double change = solver->perturbation();
        double mean         = 0;
        EXPECT_GT(std::abs(change), 0.01);
        for (std::size_t i = 0; i < f.size(); i++) {
          const Index nx = a.directions[0].n, ny = a.dimension > 1 ? a.directions[1].n : 1;
          const Index at[3] = {static_cast<Index>(i) % nx, static_cast<Index>(i) / nx % ny, static_cast<Index>(i) / nx / ny};
          double weight = 1, null = 1;
          for (int k = 0; k < a.dimension; k++) {
            const Direction &d = a.directions[k];
            const auto j       = static_cast<std::size_t>(at[k]);
            if (!d.weight.empty()) weight *= d.weight[j];
            null *= !d.weight.empty()                                                       ? d.weight[j]
                    : j == 0 && d.n > 1 && d.upper[0] > 1.5 && !d.periodic                  ? 0.5
                    : j + 1 == d.lower.size() && d.n > 1 && d.lower[j] > 1.5 && !d.periodic ? 0.5
                                                                                            : 1;
          }
          residual[i] -= static_cast<double>(f[i]) - change * weight;
          mean += null * u[i];
        }
        EXPECT_LE(largest(residual), 1e3 * epsilon<Scalar> * (1 + largest(u)));
        EXPECT_LE(std::abs(mean), 100 * epsilon<Scalar> * static_cast<double>(f.size()) * largest(u)) << "the mean";
      });
    }
  }
}

/// FISHPACK's sample problems, whose discretization errors its documentation prints.
struct Sample {
  SeparableOperator a;
  std::vector<double> f, exact;
  double printed;
};

Direction rows(std::vector<double> lower, std::vector<double> diagonal, std::vector<double> upper, bool periodic = false)
{
  Direction d;
  d.n        = static_cast<Index>(diagonal.size());
  d.periodic = periodic;
  d.lower    = std::move(lower);
  d.diagonal = std::move(diagonal);
  d.upper    = std::move(upper);
  return d;
}

/// u_xx + u_yy - 4 u = f on (0, 2) x (-1, 3), u = x^2 cos((y + 1) pi / 2): Dirichlet and Neumann along x, periodic along y.
Sample hwscrt()
{
  const double pi = std::acos(-1.0);
  const int m = 40, n = 80;
  const double dx = 2.0 / m, dy = 4.0 / n;
  Sample s{separable({laplacian(m, Boundary::dirichlet_neumann, dx), laplacian(n, Boundary::periodic, dy)}, -4), {}, {}, 5.36508e-4};
  for (int j = 0; j < n; j++) {
    for (int i = 1; i <= m; i++) {
      const double x = i * dx, c = std::cos(j * dy * pi / 2);
      s.exact.push_back(x * x * c);
      s.f.push_back((2 - (4 + pi * pi / 4) * x * x) * c - (i == m ? 2 / dx * 4 * c : 0));
    }
  }
  return s;
}

/// (1 + x)^2 u_xx - 2 (1 + x) u_x + u_yy = 3 (1 + x)^4 sin y, u = (1 + x)^4 sin y.
Sample genbun()
{
  const double pi = std::acos(-1.0);
  const int m = 20, n = 40;
  const double dx = 1.0 / m, dy = 2 * pi / n, s = dy * dy / (dx * dx);
  std::vector<double> a, b, c;
  for (int i = 0; i < m; i++) {
    const double t = 1 + i * dx;
    a.push_back((t * t + t * dx) * s);
    b.push_back(-2 * t * t * s);
    c.push_back((t * t - t * dx) * s);
  }
  b[0] = -2 * s;
  c[0] = 2 * s;
  Sample p{{}, {}, {}, 9.6406e-3};
  for (int j = 0; j < n; j++) {
    const double sine = std::sin(-pi + j * dy);
    for (int i = 0; i < m; i++) {
      const double t4 = std::pow(1 + i * dx, 4);
      p.exact.push_back(t4 * sine);
      p.f.push_back(i == 0 ? (11 + 8 / dx) * dy * dy * sine : 3 * t4 * dy * dy * sine - (i == m - 1 ? 16 * c.back() * sine : 0));
    }
  }
  p.a = separable({rows(a, b, c), laplacian(n, Boundary::periodic)});
  return p;
}

/// (1/2s) d/ds (1/2s du/ds) + the same in t = 15/4 s t (s^4 + t^4), u = (s t)^5.
Sample blktri()
{
  const auto direction = [](int n) {
    const double h = 1.0 / (n + 1);
    std::vector<double> a, b, c;
    for (int i = 1; i <= n; i++) {
      const double s = i * h, lo = 1 / (4 * h * h * s * (s - h / 2)), hi = 1 / (4 * h * h * s * (s + h / 2));
      a.push_back(lo);
      b.push_back(-lo - hi);
      c.push_back(hi);
    }
    return rows(a, b, c);
  };
  const int m = 50, n = 63;
  Sample p{separable({direction(m), direction(n)}), {}, {}, 1.6478e-5};
  for (int j = 1; j <= n; j++) {
    for (int i = 1; i <= m; i++) {
      const double s = i / (m + 1.0), t = j / (n + 1.0);
      p.exact.push_back(std::pow(s * t, 5));
      p.f.push_back(3.75 * s * t * (std::pow(s, 4) + std::pow(t, 4)) - (i == m ? p.a.directions[0].upper.back() * std::pow(t, 5) : 0) -
                    (j == n ? p.a.directions[1].upper.back() * std::pow(s, 5) : 0));
    }
  }
  return p;
}

/// u_xx + u_yy + u_zz - 3 u = f on (0, 1) x (0, 2 pi) x (0, pi / 2), u = x^4 sin y cos z: Dirichlet along x, periodic along y, Neumann and
/// Dirichlet along z.
Sample hw3crt()
{
  const double pi = std::acos(-1.0);
  const int l = 10, m = 40, n = 15;
  const double dx = 1.0 / l, dy = 2 * pi / m, dz = pi / 2 / n;
  Sample p{separable({laplacian(l - 1, Boundary::dirichlet, dx), laplacian(m, Boundary::periodic, dy),
                      laplacian(n, Boundary::dirichlet_neumann, dz)},
                     -3),
           {},
           {},
           9.6480e-3};
  for (int k = 1; k <= n; k++) {
    const double z = k * dz;
    for (int j = 0; j < m; j++) {
      for (int i = 1; i < l; i++) {
        const double x = i * dx, s = std::sin(j * dy), x4 = std::pow(x, 4);
        p.exact.push_back(x4 * s * std::cos(z));
        p.f.push_back(4 * x * x * (3 - x * x) * s * std::cos(z) - (i == l - 1 ? s * std::cos(z) / (dx * dx) : 0) -
                      (k == 1 ? x4 * s / (dz * dz) : 0) - (k == n ? 2 / dz * -x4 * s : 0));
      }
    }
  }
  return p;
}

TEST(Poisson, PrintsWhatFishpackPrints)
{
  const std::pair<const char *, Sample> samples[] = {
      {"HWSCRT", hwscrt()}, {"GENBUN", genbun()}, {"BLKTRI", blktri()}, {"HW3CRT", hw3crt()}};
  for (const auto &[name, sample] : samples) {
    int solves = 0;
    for (const char *method : poisson_method_names()) {
      if (poisson_method_refuses(method, sample.a) || std::string(method) == "plain") continue;
      for (Memory memory : memories()) {
        const double error = largest_difference(solved<double>(sample.a, sample.f, method_of(method), memory), sample.exact);
        EXPECT_NEAR(error, sample.printed, 1e-4 * sample.printed) << name << " by " << method;
      }
      solves++;
    }
    EXPECT_GE(solves, 2) << name;
  }
}

TEST(Poisson, ReportsSingularLines)
{
  const Execution execution(Memory::host);
  // tridiag(1, 0, 1) of odd length is singular, of even length it is not; neither is definite.
  for (const char *method : {"partial", "separable", "facr"}) {
    for (Index n : {3, 7}) {
      const auto column = separable({laplacian(1, Boundary::dirichlet), laplacian(n, Boundary::dirichlet)}, 4);
      EXPECT_TRUE(DirectSolver<double>::make(execution, column, method_of(method))->facts().bad_pivot) << method;
      const auto near = separable({laplacian(1, Boundary::dirichlet), laplacian(n, Boundary::dirichlet)}, 4.01);
      EXPECT_FALSE(DirectSolver<double>::make(execution, near, method_of(method))->facts().bad_pivot) << method;
      const auto square = separable({laplacian(n, Boundary::dirichlet), laplacian(n, Boundary::dirichlet)}, 4);
      EXPECT_TRUE(DirectSolver<double>::make(execution, square, method_of(method))->facts().bad_pivot) << method;
      const auto ring = separable({laplacian(n + 1, Boundary::periodic), laplacian(n, Boundary::dirichlet)}, 4);
      EXPECT_TRUE(DirectSolver<double>::make(execution, ring, method_of(method))->facts().bad_pivot) << method;
    }
  }
}

TEST(Poisson, RefusesWhatItCannotSolve)
{
  std::mt19937 random(10);
  const auto says = [](const char *method, const SeparableOperator &a, const char *what, DirectOptions options = {}) {
    const auto why = poisson_method_refuses(method, a, options);
    ASSERT_TRUE(why) << method << " should say: " << what;
    EXPECT_NE(why->find(what), std::string::npos) << *why;
    options.method = method;
    const Execution execution(Memory::host);
    EXPECT_THROW(DirectSolver<double>::make(execution, a, options), std::invalid_argument);
  };
  const auto square = separable({laplacian(10, Boundary::dirichlet), laplacian(10, Boundary::dirichlet)});
  says("pcr", square, "called 'pcr'");
  for (const char *method : {"partial", "buneman1", "buneman2", "plain"}) {
    says(method, square, "2^m intervals");
    says(method, separable({random_direction(15, random), random_direction(15, random)}), "constant coefficients");
  }
  DirectOptions options;
  options.radix = 9;
  says("separable", square, "radix", options);
  options.levels = 3;
  says("facr", square, "levels", options);
  options         = {};
  options.inverse = "dense";
  says("buneman1", separable({laplacian(15, Boundary::dirichlet), laplacian(15, Boundary::dirichlet)}), "'leja'", options);
  auto bad                   = square;
  bad.directions[1].lower[3] = -bad.directions[1].lower[3];
  bad.directions[0].weight   = {1, 1};
  says("separable", bad, "weights");
  bad.directions[0].weight.assign(10, 1.0);
  bad.directions[0].lower[3] = -1;
  says("separable", bad, "same sign");
  says("auto", bad, "couplings");
  bad.directions[0].diagonal[2] = std::numeric_limits<double>::infinity();
  says("auto", bad, "finite");
  bad.directions[0].n = 0;
  says("auto", bad, "at least one point");
  bad.dimension = 4;
  says("auto", bad, "one to three");
}

/// The error of plain cyclic reduction grows until nothing is left, that of the others does not.
TEST(Poisson, ErrorGrowth)
{
  std::mt19937 random(8);
  for (Index n : {31, 63, 255, 1023}) {
    const auto a = separable({laplacian(n > 255 ? 63 : n, Boundary::dirichlet), laplacian(n, Boundary::dirichlet)});
    for (const char *method : poisson_method_names()) {
      const double error = error_of<double>(a, method_of(method), Memory::host, random);
      RecordProperty(method + std::to_string(n), std::to_string(error));
      if (std::string(method) != "plain") {
        EXPECT_LE(error, 1e-12) << method << " " << n;
      } else if (n == 63) {
        EXPECT_GT(error, 1);
      }
    }
  }
}

} // namespace
} // namespace weft::test
