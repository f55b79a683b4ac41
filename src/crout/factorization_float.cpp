#include "crout/factorization_impl.hpp"

template class weft::CroutFactorization<weft::OtherScalar>;
