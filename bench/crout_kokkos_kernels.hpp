/// ILU(0) of Kokkos Kernels: SPILUK and SPTRSV. Compiled in a source of its own, since its headers take long.
#pragma once
#include <memory>
#include <string>

#include "crout_problem.hpp"

namespace weft::bench {

/// SPILUK without fill and SPTRSV, both by levels (SEQLVLSCHD_TP1, as in PETSc's aijkokkos), which call no other library.
template <class Space>
class KokkosKernelsIlu {
public:
  explicit KokkosKernelsIlu(const Space &space);
  ~KokkosKernelsIlu();

  /// Symbolic and numeric SPILUK, symbolic SPTRSV of both triangles.
  void set_up(const CroutProblem<Space> &problem);
  /// New values of the same pattern: factors, of whose values SPTRSV keeps nothing.
  void refactor(const DeviceArray<double, Space> &values);
  void factor_only(const DeviceArray<double, Space> &values) { refactor(values); }
  void forget();
  void forward(const double *rhs, double *x);
  void backward(const double *rhs, double *x);
  void apply(const double *rhs, double *x);
  /// How far the factors of the problem that was set up and their solves are from exact ones, in words. Throws where they are no ILU(0).
  std::string checked(const CroutProblem<Space> &problem);

private:
  struct Parts;
  Space space_;
  std::unique_ptr<Parts> parts_;
};

} // namespace weft::bench
