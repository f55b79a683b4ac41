/// BlockLineSolver: factors and solves block-tridiagonal lines, on the host or on a device, by any method of block_select.hpp. The sibling
/// of LineSolver for nodes whose unknowns are solved for together. Needs no Kokkos header.
#pragma once
#include "line/blocks/block_lines.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Names of the methods, in the order of block_select.hpp.
std::vector<const char *> block_tridiagonal_method_names();

/// Why a method of that name cannot solve such lines with such parameters (or that there is none of that name), or nothing.
std::optional<std::string> block_tridiagonal_method_refuses(const std::string &method, const BlockLines &lines,
                                                            const MethodParameters &parameters = {});

/// True where a matrix, whose row i is element i of the layout, couples different unknowns of a node, or of neighbours along a line. Waits for
/// the answer.
template <class Scalar, class Int>
bool components_couple(const Execution &execution, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix);

/// The layout's components are the unknowns of a node, 1 to 8. use(): coefficient_size() elements each, as block_lines.hpp says. bad_pivot():
/// the first block row whose pivot block cannot be inverted, its line of nodes and its row along it.
template <class Scalar>
using BlockLineSolver = FactoredLines<BlockLines, Scalar>;

} // namespace weft
