/// Shifts of alternating directions: from bounds of the spectra of the parts to the best cycle of shifts, and what a cycle is worth. Small
/// and serial; no Kokkos. docs/kernels/adi.md has the formulas.
///
/// Functions of a Number have shifts of that type: double, or std::complex<double> (complex_shifts.cpp), which only a library for complex
/// scalars has.
#pragma once
#include <array>
#include <complex>
#include <vector>

namespace weft {

/// The schemes, for A = H_1 + .. + H_d + R, a shift p_k for each direction and S_k = H_k + p_k. From x to x + M^-1 (b - A x), with
///   peaceman_rachford  two half-sweeps, S_1 then S_2, each with a residual of its own. M = S_1 S_2 / (p_1 + p_2) where R = 0. In three
///                      dimensions half-sweeps do not converge for all shifts: Douglas's extension (1962) is taken, that is douglas_gunn
///   douglas_rachford   M = S_1 .. S_d / p^(d-1):  backward Euler in the pseudo-time 1 / p
///   douglas_gunn       M = S_1 S_2 / (p_1 + p_2) or S_1 S_2 S_3 / (2 p^2):  Crank and Nicolson; one residual a sweep
enum class AdiType { peaceman_rachford, douglas_rachford, douglas_gunn };

/// A part's spectrum: the ellipse about [low, high] + i offset with half of the height `skew`, an interval where that is 0. singular: and 0, but
/// for not all parts at once, whose sum is singular and is solved without its null space. Parts of complex matrices may have an offset, and may
/// reach into the corners of the box about the ellipse.
struct SpectralInterval {
  double low = 0, high = 0, skew = 0;
  bool singular = false;
  double offset = 0;
  bool box      = false;
};

/// The shifts of one sweep, for each direction in turn.
template <class Number>
using AdiShiftOf = std::array<Number, 3>;
using AdiShift   = AdiShiftOf<double>;

/// Bounds of the parts along the directions that there are, 2 or 3 of them.
using AdiBounds = std::vector<SpectralInterval>;

inline double sum_of_lows(const AdiBounds &bounds)
{
  double sum = 0;
  for (const SpectralInterval &i : bounds) sum += i.low;
  return sum;
}

/// Whether 0 lies outside of all sums of one point from each part, so that some shifts may reduce all errors: for intervals of the real axis,
/// whether their lower ends add up to more than 0.
bool adi_apart_from_zero(const AdiBounds &bounds);

/// The best `length` shifts for two commuting parts with spectra in [a, b] and [c, d], a + c > 0: those of Wachspress and Jordan, zeros and
/// poles of Zolotarev's function. Largest first. With three parts, or for douglas_rachford, all directions share a shift: the shifts for
/// [mean of low, largest high] twice. Throws std::invalid_argument unless length >= 1, low <= high and the sum of low is positive.
/// E. Wachspress, "The ADI Model Problem" (1995), chapter 1; formulas as in D. Fortunato and A. Townsend, "Fast Poisson solvers for spectral
/// methods" (2020), section 3.
///
/// Ellipses: real shifts that are the best ones of intervals whose ends are searched for the least reduction. Where the ellipses are higher
/// than they are wide real shifts reduce slowly (complex ones would not: G. Starke, "Optimal alternating direction implicit parameters for
/// nonsymmetric systems of linear equations", 1991), and a longer cycle of them is no better than a single shift.
///
/// Complex shifts, which also regions off the real axis have: the best of several candidates, polished (complex_shifts.cpp). On the real axis
/// they are the real ones.
template <class Number = double>
std::vector<AdiShiftOf<Number>> adi_shifts(AdiType type, const AdiBounds &bounds, int length);

/// What a cycle leaves of the error at most, if the parts commute and nothing is left over: the largest |1 - M^-1 A| over the bounds, from
/// samples on the edges of the ellipses. 1 or more: nothing is promised.
template <class Number = double>
double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<AdiShiftOf<Number>> &shifts);

/// Sweeps for eight digits where the reduction holds in a norm with such a condition: infinite where nothing is promised.
template <class Number = double>
double adi_sweeps_for(AdiType type, const AdiBounds &bounds, double log_condition);

/// The symmetric form: a sum of products that is positive definite whenever the parts are, whether they commute or not,
///     M^-1 = scale sum_j w_j p_j^(2d) (S_1^-1 .. S_d^-1)(S_d^-1 .. S_1^-1),   S_k = H_k + p_j,   w_j = 2 (step of ln p) / p_j.
/// It is the trapezoidal rule in ln t, t = 2 / p, for the integral of (1 + t h / 2)^-2 (1 + t v / 2)^-2 over t > 0, which lies between 4/3
/// and 2 times 1 / (h + v) (6/5 and 2 in three dimensions).
/// Off the real axis it is the same sum, complex: the integral may be taken along any ray on which no part has a pole.
template <class Number>
struct AdiSumOf {
  std::vector<AdiShiftOf<Number>> shifts; ///< largest first, in equal ratios
  double scale     = 1;                   ///< puts the eigenvalues of M^-1 A on both sides of 1, if the parts commute
  double condition = 1;                   ///< their largest quotient, in modulus
};
using AdiSum = AdiSumOf<double>;

/// The sum of `length` terms whose ends suit the bounds best; 0: the shortest one with a condition of 2.5 at most, up to 24. Throws as
/// adi_shifts does.
template <class Number = double>
AdiSumOf<Number> adi_sum(const AdiBounds &bounds, int length);

/// The steps of ln |p| for any shifts, in any order.
template <class Number = double>
std::vector<double> adi_sum_steps(const std::vector<AdiShiftOf<Number>> &shifts);
/// w_j p_j^(2d).
std::vector<double> adi_sum_scales(const std::vector<AdiShift> &shifts, int directions);

/// The default: the shortest cycle that leaves a tenth of the error at most, 1 to 32 shifts; where none does, the shortest one that is nearly
/// the best by sweep. For real spectra it grows with the logarithm of the condition.
template <class Number = double>
int adi_cycle_length(const AdiBounds &bounds, AdiType type = AdiType::peaceman_rachford);

template <>
std::vector<AdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length);
template <>
double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts);
template <>
AdiSum adi_sum(const AdiBounds &bounds, int length);

using ComplexAdiShift = AdiShiftOf<std::complex<double>>;
template <>
std::vector<ComplexAdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length);
template <>
double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<ComplexAdiShift> &shifts);
template <>
AdiSumOf<std::complex<double>> adi_sum(const AdiBounds &bounds, int length);

} // namespace weft
