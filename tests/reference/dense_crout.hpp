/// The serial twins of the dense factorization: Crout's elimination, and the same fixed point by synchronous sweeps of diagonal sections.
/// Column- major; sums upwards in k, every product and sum rounded by itself (icm_reference.py of the design does the same in Python).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace weft::reference {

/// Z with L on and below the diagonal, U (its diagonal 1) above; entry (i, j) at i + j n.
template <class Scalar>
std::vector<Scalar> crout(std::size_t n, const std::vector<Scalar> &a)
{
  std::vector<Scalar> z(n * n), sums(n * n);
  for (std::size_t k = 0; k < n; k++) {
    for (std::size_t i = k; i < n; i++) z[i + k * n] = a[i + k * n] - sums[i + k * n];
    for (std::size_t j = k + 1; j < n; j++) z[k + j * n] = (a[k + j * n] - sums[k + j * n]) / z[k + k * n];
    for (std::size_t j = k + 1; j < n; j++) {
      for (std::size_t i = k + 1; i < n; i++) {
        const Scalar product = z[i + k * n] * z[k + j * n];
        sums[i + j * n] += product;
      }
    }
  }
  return z;
}

struct CroutSweeps {
  double tolerance  = 0;
  bool of_residual  = false;
  bool scaled_start = true;
};

/// The same by sections of `section` rows; `sweeps` gets the number of each diagonal section, with the last one, which only verifies.
template <class Scalar>
std::vector<Scalar> crout_by_sections(std::size_t n, const std::vector<Scalar> &a, std::size_t section, const CroutSweeps &options,
                                      std::vector<int> &sweeps)
{
  std::vector<Scalar> z(n * n);
  const auto sum = [&](const std::vector<Scalar> &from, std::size_t i, std::size_t j) {
    Scalar total = 0;
    for (std::size_t k = 0; k < std::min(i, j); k++) {
      const Scalar product = from[i + k * n] * from[k + j * n];
      total += product;
    }
    return total;
  };
  for (std::size_t first = 0; first < n; first += section) {
    const std::size_t last = std::min(first + section, n);
    // P is the sum over finished sections: that with everything of this section at 0.
    for (std::size_t j = first; j < last; j++) {
      for (std::size_t i = first; i < last; i++) z[i + j * n] = 0;
    }
    const auto p              = [&](std::size_t i, std::size_t j) { return sum(z, i, j); };
    std::vector<Scalar> start = z;
    for (std::size_t j = first; j < last; j++) {
      for (std::size_t i = first; i < last; i++) {
        const Scalar left = a[i + j * n] - p(i, j), pivot = a[i + i * n] - p(i, i);
        start[i + j * n] = i < j && options.scaled_start && pivot != 0 ? left / pivot : left;
      }
    }
    z        = start;
    int done = 0;
    for (bool settled = false; !settled && done < static_cast<int>(2 * (last - first)); done++) {
      std::vector<Scalar> next = z;
      settled                  = true;
      for (std::size_t j = first; j < last; j++) {
        for (std::size_t i = first; i < last; i++) {
          const Scalar difference = a[i + j * n] - sum(z, i, j);
          next[i + j * n]         = i < j ? difference / z[i + i * n] : difference;
          Scalar change           = std::abs(next[i + j * n] - z[i + j * n]);
          if (options.of_residual && i < j) change *= std::abs(z[i + i * n]);
          settled = settled && change <= static_cast<Scalar>(options.tolerance);
        }
      }
      z = next;
    }
    sweeps.push_back(done);
    for (std::size_t j = last; j < n; j++) {
      for (std::size_t i = first; i < last; i++) z[i + j * n] = (a[i + j * n] - sum(z, i, j)) / z[i + i * n];
    }
    for (std::size_t j = first; j < last; j++) {
      for (std::size_t i = last; i < n; i++) z[i + j * n] = a[i + j * n] - sum(z, i, j);
    }
  }
  return z;
}

} // namespace weft::reference
