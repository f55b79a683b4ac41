/// Every option of a type, told once: -help, -ksp_view, the manual's table, and what an option says that does nothing, come from its row.
#pragma once
#include <petscksp.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "petsc/agreed.h"
#include "petsc/number_text.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// One option of a solver (PC or KSP), whose choices and findings `Data` holds.
template <class Data, class Solver = PC>
struct Option {
  // What an option holds: how it stands, read from the data, and the function that sets it.
  struct Whole {
    PetscInt (*now)(const Data &);
    PetscErrorCode (*set)(Solver, PetscInt);
  };
  struct Real {
    PetscReal (*now)(const Data &);
    PetscErrorCode (*set)(Solver, PetscReal);
  };
  struct Flag {
    bool (*now)(const Data &);
    PetscErrorCode (*set)(Solver, PetscBool);
  };
  struct Choice { ///< of an enumeration, whose names stand in PETSc's form: its own name, its prefix and NULL behind them
    const char *const *names;
    int (*now)(const Data &);
    PetscErrorCode (*set)(Solver, int);
  };
  struct Name { ///< of a list that the library makes, as that of the kernels
    std::vector<const char *> (*names)();
    std::string (*now)(const Data &);
    PetscErrorCode (*set)(Solver, const char *);
  };
  struct Text { ///< a file, or a type of PETSc
    std::string (*now)(const Data &);
    PetscErrorCode (*set)(Solver, const char *);
  };
  template <class Number>
  struct List { ///< with a comma between; at most `most`
    PetscInt most;
    std::vector<Number> (*now)(const Data &);
    PetscErrorCode (*set)(Solver, PetscInt, const Number[]);
  };
  using Numbers = List<PetscReal>;
  using Scalars = List<PetscScalar>; ///< the same where scalars are real

  /// Of an enumeration that is a member of the data.
  template <auto member, auto setter>
  static Choice ChoiceOf(const char *const *names)
  {
    using Value = std::remove_cvref_t<decltype(std::declval<const Data &>().*member)>;
    return {names, [](const Data &data) { return static_cast<int>(data.*member); },
            [](Solver solver, int value) { return setter(solver, static_cast<Value>(value)); }};
  }

  const char *name;   ///< without its "-" and the solver's prefix
  const char *text;   ///< what it sets, for -help and the manual
  const char *setter; ///< the public function
  std::conditional_t<std::is_same_v<PetscScalar, PetscReal>, std::variant<Whole, Real, Flag, Choice, Name, Text, Numbers>,
                     std::variant<Whole, Real, Flag, Choice, Name, Text, Numbers, Scalars>>
      value;
  const char *used_by        = NULL; ///< what uses it, a sentence: "it is for the method facr"; NULL for all
  bool (*acts)(const Data &) = NULL; ///< whether what set-up has made uses it; NULL for always
  bool (*told)(const Data &) = NULL; ///< whether a user has set it, where its value does not say so

  /// Whether it stands otherwise than in a new solver.
  bool given(const Data &data) const
  {
    if (told) return told(data);
    static const Data untouched;
    return std::visit([&](const auto &kind) { return kind.now(data) != kind.now(untouched); }, value);
  }
};

namespace option_table {

/// Reads one option and gives it to its setter.
template <class Data, class Solver, class Kind>
PetscErrorCode Read(Solver solver, const Data &data, const Option<Data, Solver> &row, const Kind &kind, OptionItems PetscOptionsObject)
{
  using Row = Option<Data, Solver>;
  PetscBool set;
  std::string option, text;

  PetscFunctionBegin;
  PetscCallCXX(option = std::string("-") + row.name);
  PetscCallCXX(text = std::string(row.text) + (row.used_by ? std::string("; ") + row.used_by : ""));
  if constexpr (std::is_same_v<Kind, typename Row::Whole>) {
    PetscInt value = kind.now(data);
    PetscCall(PetscOptionsInt(option.c_str(), text.c_str(), row.setter, value, &value, &set));
    if (set) PetscCall(kind.set(solver, value));
  } else if constexpr (std::is_same_v<Kind, typename Row::Real>) {
    PetscReal value = kind.now(data);
    PetscCall(PetscOptionsReal(option.c_str(), text.c_str(), row.setter, value, &value, &set));
    if (set) PetscCall(kind.set(solver, value));
  } else if constexpr (std::is_same_v<Kind, typename Row::Flag>) {
    PetscBool value = kind.now(data) ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(PetscOptionsBool(option.c_str(), text.c_str(), row.setter, value, &value, &set));
    if (set) PetscCall(kind.set(solver, value));
  } else if constexpr (std::is_same_v<Kind, typename Row::Choice>) {
    PetscInt count = 0, value;
    while (kind.names[count]) count++;
    count -= 2; // the enumeration's name and its prefix
    PetscCall(PetscOptionsEList(option.c_str(), text.c_str(), row.setter, kind.names, count, kind.names[kind.now(data)], &value, &set));
    if (set) PetscCall(kind.set(solver, (int)value));
  } else if constexpr (std::is_same_v<Kind, typename Row::Name>) {
    std::vector<const char *> names;
    PetscInt value;
    PetscCallCXX(names = kind.names());
    PetscCall(PetscOptionsEList(option.c_str(), text.c_str(), row.setter, names.data(), (PetscInt)names.size(), kind.now(data).c_str(),
                                &value, &set));
    if (set) PetscCall(kind.set(solver, names[value]));
  } else if constexpr (std::is_same_v<Kind, typename Row::Text>) {
    char value[PETSC_MAX_PATH_LEN];
    PetscCall(PetscOptionsString(option.c_str(), text.c_str(), row.setter, kind.now(data).c_str(), value, sizeof(value), &set));
    if (set) PetscCall(kind.set(solver, value));
  } else {
    decltype(kind.now(data)) values;
    PetscInt count = kind.most;
    PetscCallCXX(values.resize((std::size_t)kind.most));
    if constexpr (std::is_same_v<Kind, typename Row::Numbers>)
      PetscCall(PetscOptionsRealArray(option.c_str(), text.c_str(), row.setter, values.data(), &count, &set));
    else
      PetscCall(PetscOptionsScalarArray(option.c_str(), text.c_str(), row.setter, values.data(), &count, &set));
    if (set) PetscCall(kind.set(solver, count, values.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An option's value as a user would type it.
template <class Data, class Solver>
std::string Typed(const Data &data, const Option<Data, Solver> &row)
{
  using Row = Option<Data, Solver>;
  return std::visit(
      [&](const auto &kind) -> std::string {
        using Kind = std::decay_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, typename Row::Flag>) {
          return kind.now(data) ? "true" : "false";
        } else if constexpr (std::is_same_v<Kind, typename Row::Whole>) {
          return std::to_string(kind.now(data));
        } else if constexpr (std::is_same_v<Kind, typename Row::Real>) {
          return NumberText(kind.now(data));
        } else if constexpr (std::is_same_v<Kind, typename Row::Choice>) {
          return kind.names[kind.now(data)];
        } else if constexpr (std::is_same_v<Kind, typename Row::Numbers> || std::is_same_v<Kind, typename Row::Scalars>) {
          std::string text;
          for (const auto &value : kind.now(data)) text.append(text.empty() ? "" : ",").append(NumberText(value));
          return text;
        } else {
          return kind.now(data);
        }
      },
      row.value);
}

} // namespace option_table

/// Reads all options of a table, under a heading in -help.
template <class Data, class Solver, std::size_t count>
PetscErrorCode OptionsFromTable(Solver solver, const Data &data, const char heading[], const Option<Data, Solver> (&table)[count],
                                OptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, heading);
  for (const auto &row : table)
    PetscCall(std::visit([&](const auto &kind) { return option_table::Read(solver, data, row, kind, PetscOptionsObject); }, row.value));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A line for each option that stands otherwise than by default, to the viewer; which of them do nothing, and why, to the viewer or, where
/// that is NULL, to -info. One acts that does on some rank. After a set-up; collective.
template <class Data, class Solver, std::size_t count>
PetscErrorCode TellOptions(Solver solver, const Data &data, const Option<Data, Solver> (&table)[count], PetscViewer viewer)
{
  const char *prefix;
  int given[count], acts[count];
  bool ask = false;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)solver, &prefix));
  for (std::size_t k = 0; k < count; k++) {
    given[k] = table[k].given(data);
    acts[k]  = given[k] && (!table[k].acts || table[k].acts(data));
    ask      = ask || (given[k] && table[k].acts);
  }
  if (ask) {
    PetscCall(RanksAgree(PetscObjectComm((PetscObject)solver)));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, acts, (PetscMPIInt)count, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)solver)));
  }
  for (std::size_t k = 0; k < count; k++) {
    if (!given[k]) continue;
    const auto &row = table[k];
    const bool idle = !acts[k];
    std::string line;
    PetscCallCXX(line =
                     std::string("-") + (prefix ? prefix : "") + row.name +
                     (idle ? std::string(" does nothing here: ") + row.used_by : std::string(" ").append(option_table::Typed(data, row))));
    if (viewer)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s%s\n", idle ? "" : "given: ", line.c_str()));
    else if (idle)
      PetscCall(PetscInfo(solver, "%s\n", line.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
