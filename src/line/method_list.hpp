/// MethodList: the methods that there are for lines, and what callers ask of a list of them. Included by the .cpp file of each list, and by
/// factored_lines_impl.hpp.
#pragma once
#include "base/type_list.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Lines that one method solves. Defined in factored_lines_impl.hpp and instantiated in METHOD.cpp, one file per method, so that methods compile
/// side by side.
template <class Method, class Problem, class Scalar>
struct LinesBy {
  static std::unique_ptr<FactoredLines<Problem, Scalar>> make(const Execution &execution, const Problem &problem,
                                                              const MethodParameters &parameters);
};

/// For lines of a Problem:
///   Methods                                the list
///   adjective                              what users call such a method
///   choose(problem, device, parameters)    the one that `auto` stands for
///   shape_refused(problem)                 why no method can solve such lines, or nothing
template <class Problem>
struct MethodList;

template <class Problem>
std::vector<const char *> names_of_methods()
{
  std::vector<const char *> names;
  for_each_type<typename MethodList<Problem>::Methods>([&](auto method) { names.push_back(method.name); });
  return names;
}

template <class Problem>
std::optional<std::string> method_refuses(const std::string &method, const Problem &problem, const MethodParameters &parameters)
{
  using List = MethodList<Problem>;
  if (const auto why = List::shape_refused(problem)) return why;
  std::optional<std::string> why = std::string("no ") + List::adjective + " method is called '" + method + "'";
  for_each_type<typename List::Methods>([&](auto known) {
    if (method == known.name) why = known.refuses(problem, parameters);
  });
  return why;
}

template <class Problem, class Scalar>
std::unique_ptr<FactoredLines<Problem, Scalar>> FactoredLines<Problem, Scalar>::make(const Execution &execution, const Problem &problem,
                                                                                     const std::string &method,
                                                                                     const MethodParameters &parameters)
{
  using List             = MethodList<Problem>;
  const bool device      = execution.memory() == Memory::device;
  const std::string name = method == "auto" ? List::choose(problem, device, parameters) : method;
  if (const auto why = method_refuses(name, problem, parameters)) throw std::invalid_argument(*why);
  std::unique_ptr<FactoredLines> lines;
  for_each_type<typename List::Methods>([&](auto known) {
    if (name == known.name) lines = LinesBy<decltype(known), Problem, Scalar>::make(execution, problem, parameters);
  });
  return lines;
}

} // namespace weft
