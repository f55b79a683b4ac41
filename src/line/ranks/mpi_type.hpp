/// MPI's name of a scalar.
#pragma once
#include <mpi.h>

#include <type_traits>

#include "base/real_of.hpp"

namespace weft {

template <class Scalar>
MPI_Datatype mpi_type()
{
  if constexpr (is_complex<Scalar>)
    return std::is_same_v<RealOf<Scalar>, double> ? MPI_C_DOUBLE_COMPLEX : MPI_C_FLOAT_COMPLEX;
  else
    return std::is_same_v<Scalar, double> ? MPI_DOUBLE : MPI_FLOAT;
}

} // namespace weft
