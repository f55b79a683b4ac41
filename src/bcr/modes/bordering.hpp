/// Set-up of bordered_lines.hpp, on the host and without Kokkos: columns between Dirichlet ends whose number has no fast transform, as
/// fewer columns that have one, and one or two that are left over.
///
/// A = T (x) I + I (x) B, T of n columns with N = n + 1 intervals, equal couplings t, eigenvalues lambda_q. Without the last column, or
/// without both outer ones, there are M = N - 1, or N - 2, intervals, modes sin(pi q j / M), eigenvalues mu_q. The inner equations in modes
/// are
///   (B + mu_q) v_q = f_q - t (2 / M) s_q w,      s_q = sin(pi q / M), w = (-1)^(q+1) u_last, or u_first + (-1)^(q+1) u_last,
/// and what they leave for the columns left over is solved by partial fractions, as the outer elements of T's eigenvectors are known:
///   u_last = sum_q (2 / N) sin^2(pi q / N) (B + lambda_q)^-1 (f_last - t sum_q (-1)^(q+1) s_q (B + mu_q)^-1 f_q);
/// for two columns the same for u_first + u_last with odd q only, and for u_first - u_last with even q, all factors doubled. (Schur
/// complements: B. Buzbee, F. Dorr, J. George, G. Golub, SIAM J. Numer. Anal. 8 (1971) 722.) Where A is definite the complement is a
/// function of B between the coupling and the diagonal of A: no digits are lost.
#pragma once
#include <optional>
#include <vector>

#include "bcr/reduction/schedule.hpp"

namespace weft::poisson {

/// Of columns with eigenvalues `values` and lines B; nothing where columns have a fast transform themselves, where there is no such split,
/// or where modes do not decay along their lines (mode_tables.hpp).
std::optional<Bordering> bordering(const LineMatrix &columns, const std::vector<double> &values, const LineMatrix &line);

} // namespace weft::poisson
