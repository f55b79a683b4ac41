#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft_mm {

namespace {

using Row      = std::array<std::string, 8>;
using StudyRow = std::array<std::string, 5>;

template <class Value>
std::string format(const char *pattern, Value value)
{
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

Row row_of(const SolveResult &result)
{
  Row row{name_of_set(result), "-", "-", "-", "-", "-", "-", stop_reason(result)};
  if (!result.ran) return row;
  row[1] = std::to_string(result.iterations);
  row[2] = std::isnan(result.residual) ? "nan" : format("%.2e", result.residual); // and not "-nan"
  row[3] = format("%.4f", result.setup_seconds);
  row[4] = format("%.4f", result.solve_seconds);
  if (result.again_seconds >= 0) row[5] = format("%.4f", result.again_seconds);
  row[6] = format("%.1f", result.memory_bytes / (1 << 20));
  return row;
}

template <class Row>
std::string aligned(const std::vector<Row> &rows)
{
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row &row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (const Row &row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - row[column].size(), ' ');
      if (column == 0)
        text += row[column] + padding; // words to the left, numbers to the right
      else if (column + 1 == row.size())
        text += "  " + row[column];
      else
        text += "  " + padding + row[column];
    }
    text += '\n';
  }
  return text;
}

std::string notes_of(const std::vector<SolveResult> &results)
{
  std::string text;
  for (const SolveResult &result : results) {
    for (const std::string &option : result.unused_options)
      text += "note: " + name_of_set(result) + ": nothing has used the option " + option + "; is it mistyped?\n";
  }
  // The same advice to several sets is given once.
  std::vector<std::pair<std::string, std::string>> sets_by_advice;
  for (const SolveResult &result : results) {
    if (result.advice.empty()) continue;
    const auto known =
        std::find_if(sets_by_advice.begin(), sets_by_advice.end(), [&](const auto &entry) { return entry.first == result.advice; });
    if (known == sets_by_advice.end())
      sets_by_advice.emplace_back(result.advice, name_of_set(result));
    else
      known->second += " | " + name_of_set(result);
  }
  for (const auto &[advice, sets] : sets_by_advice) text += "note: " + sets + ": " + advice + "\n";
  return text;
}

} // namespace

std::string name_of_set(const SolveResult &result)
{
  return result.options.empty() ? "(command line)" : result.options;
}

std::string stop_reason(const SolveResult &result)
{
  if (!result.ran) return result.reason + ": " + result.detail;
  return result.detail.empty() ? result.reason : result.reason + " (" + result.detail + ")";
}

namespace {

// "; on the grid 30 x 30, of which it couples each node to its neighbours and diagonal ones", or nothing.
std::string grid_of(const Problem &problem)
{
  if (problem.grid.dimension == 0) return "";
  const Stencil &stencil = problem.stencil;
  const std::string name = "; on the grid " + problem.grid.name() + ": ";
  if (stencil.far > 0)
    return name + std::to_string(stencil.far) + " entries couple nodes further apart than neighbours; is it this matrix's grid?";
  return name + (stencil.diagonals > 0 ? "neighbours and diagonal ones are coupled" : "neighbours are coupled");
}

std::string title_of(const Problem &problem)
{
  const MarketHeader &header = problem.header;
  return problem.path + ": " + std::to_string(header.rows) + " x " + std::to_string(header.columns) + ", " +
         std::to_string(problem.nonzeros) + " non-zeros, " + name_of(header.field) + " " + name_of(header.symmetry) +
         "; right-hand side: " + problem.right_hand_side + "; ranks: " + std::to_string(problem.ranks) + grid_of(problem) + "\n\n";
}

nlohmann::ordered_json matrix_of(const Problem &problem)
{
  const MatrixGrid &grid          = problem.grid;
  nlohmann::ordered_json document = {{"file", problem.path},
                                     {"rows", problem.header.rows},
                                     {"columns", problem.header.columns},
                                     {"nonzeros", problem.nonzeros},
                                     {"field", name_of(problem.header.field)},
                                     {"symmetry", name_of(problem.header.symmetry)}};
  if (grid.dimension > 0)
    document["grid"] = {{"nodes", std::vector(grid.nodes, grid.nodes + grid.dimension)},
                        {"components", grid.components},
                        {"far_entries", problem.stencil.far},
                        {"diagonal_entries", problem.stencil.diagonals}};
  return document;
}

std::string petsc_version()
{
  return std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR) + "." + std::to_string(PETSC_VERSION_SUBMINOR);
}

// A file's name need not be UTF-8.
std::string text_of(const nlohmann::ordered_json &document)
{
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

std::string json_of(const Problem &problem, const Structure &structure)
{
  nlohmann::ordered_json document = {{"matrix", matrix_of(problem)}, {"petsc", petsc_version()}};
  document["structure"]           = {
                {"symmetric", structure.symmetric},           {"symmetric_pattern", structure.symmetric_pattern}, {"definite", structure.definite},
                {"zero_diagonals", structure.zero_diagonals}, {"dominant_rows", structure.dominant_rows},         {"bandwidth", structure.bandwidth},
                {"factor_entries", structure.factor_entries}};
  if (complex_scalars) document["structure"]["hermitian"] = structure.hermitian;
  return text_of(document);
}

std::string description_of(const Problem &problem, const Structure &structure)
{
  const auto count  = [](std::int64_t number) { return std::to_string(number); };
  const auto values = [&structure]() -> std::string { // Hermitian is said where it is not said of all symmetric ones
    if (structure.symmetric) return complex_scalars && structure.hermitian ? "symmetric and Hermitian" : "symmetric";
    if (structure.hermitian) return "Hermitian";
    return structure.symmetric_pattern ? "symmetric in its pattern" : "unsymmetric";
  };
  return problem.path + ": " + count(problem.header.rows) + " x " + count(problem.header.columns) + ", " + count(problem.nonzeros) +
         " non-zeros, " + values() + ", definite: " + structure.definite + ", zeros on the diagonal: " + count(structure.zero_diagonals) +
         ", dominant rows: " + count(structure.dominant_rows) + ", bandwidth: " + count(structure.bandwidth) + grid_of(problem) + "\n";
}

std::string table_of(const Problem &problem, const std::vector<SolveResult> &results)
{
  std::vector<Row> rows{{"option set", "iterations", "residual", "set-up s", "solve s", "again s", "memory MiB", "why it stopped"}};
  for (const SolveResult &result : results) rows.push_back(row_of(result));
  return title_of(problem) + aligned(rows) + notes_of(results);
}

std::string study_table_of(const Problem &problem, const std::vector<int> &sweeps, const std::vector<SolveResult> &results)
{
  std::vector<StudyRow> rows{{"sweeps", "residual of the factors", "iterations", "residual", "why it stopped"}};
  // A residual is known before each sweep: that after the last one is found in a longer run.
  std::vector<double> history;
  for (const SolveResult &result : results) {
    if (result.history.size() > history.size()) history = result.history;
  }
  for (std::size_t index = 0; index < results.size(); ++index) {
    const SolveResult &result = results[index];
    const bool swept          = index < sweeps.size();
    const auto count          = swept ? static_cast<std::size_t>(sweeps[index]) : 0;
    const Row row             = row_of(result);
    rows.push_back({swept ? std::to_string(count) : "exact", swept && count < history.size() ? format("%.3e", history[count]) : "-", row[1],
                    row[2], row[7]});
  }
  return title_of(problem) + aligned(rows) + notes_of(results);
}

std::string json_of(const Problem &problem, const std::vector<SolveResult> &results)
{
  nlohmann::ordered_json document = {
      {"matrix", matrix_of(problem)}, {"right_hand_side", problem.right_hand_side}, {"ranks", problem.ranks},
      {"petsc", petsc_version()},     {"results", nlohmann::ordered_json::array()},
  };
  for (const SolveResult &result : results) {
    nlohmann::ordered_json row = {
        {"options", result.options}, {"solved", result.solved}, {"reason", result.reason}, {"detail", result.detail}};
    // A number that there is not is null, and so is one that is not finite: JSON has no other word for it.
    const auto number          = [&](double value) { return result.ran ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
    row["iterations"]          = result.ran ? nlohmann::ordered_json(result.iterations) : nlohmann::ordered_json();
    row["residual"]            = number(result.residual);
    row["setup_seconds"]       = number(result.setup_seconds);
    row["solve_seconds"]       = number(result.solve_seconds);
    row["again_seconds"]       = result.again_seconds >= 0 ? number(result.again_seconds) : nlohmann::ordered_json();
    row["memory_bytes"]        = number(result.memory_bytes);
    row["repeats"]             = result.repeats;
    row["least_setup_seconds"] = number(result.least_setup);
    row["least_solve_seconds"] = number(result.least_solve);
    row["unused_options"]      = result.unused_options;
    if (!result.history.empty()) row["history"] = result.history;
    row["advice"] = result.advice;
    document["results"].push_back(row);
  }
  return text_of(document);
}

} // namespace weft_mm
