#include "market_checker.hpp"

#include "scalar.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace weft_mm {

namespace {

constexpr std::size_t longest_line = 1024; // the format's own limit; CHOLMOD would take the rest of a longer line for the next one

constexpr double largest_value = 1e308; // CHOLMOD takes this for what a printer made of infinity

bool is_blank(const std::string &line)
{
  return line.find_first_not_of(" \t\r\v\f") == std::string::npos;
}

std::vector<std::string> lower_case_words(const std::string &line)
{
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    for (char &letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    words.push_back(word);
  }
  return words;
}

// Reads one number and the white space after it; false where there is none, or something sticks to it.
bool take_integer(const char *&position, std::int64_t &value)
{
  char *end = nullptr;
  errno     = 0;
  value     = std::strtoll(position, &end, 10);
  if (end == position || errno == ERANGE || (*end && !std::isspace(static_cast<unsigned char>(*end)))) return false;
  position = end;
  return true;
}

// The same for a real number. Fortran writes 1.0D+00, 1.0Q+00, and 1.0+100 where an exponent has three digits: `written` becomes what C reads.
bool take_value(const char *&position, double &value, std::string &written)
{
  while (std::isspace(static_cast<unsigned char>(*position))) ++position;
  const char *const start = position;
  while (*position && !std::isspace(static_cast<unsigned char>(*position))) ++position;
  written.assign(start, position);
  const std::size_t mantissa = written.find_first_not_of("+-.0123456789"), sign = written.find_first_of("+-", 1);
  if (mantissa != std::string::npos && mantissa > 0 && std::strchr("dDqQ", written[mantissa]))
    written[mantissa] = 'e';
  else if (mantissa == std::string::npos && sign != std::string::npos)
    written.insert(sign, "e");
  char *end = nullptr;
  value     = std::strtod(written.c_str(), &end);
  return !written.empty() && *end == '\0';
}

bool at_end(const char *position)
{
  while (std::isspace(static_cast<unsigned char>(*position))) ++position;
  return *position == '\0';
}

// A line of a broken file can hold anything: show its beginning, printable, so that a message stays one line.
std::string quoted(const std::string &line)
{
  constexpr std::size_t shown = 60;
  std::string result          = "'";
  for (char letter : line.substr(0, line.find_last_not_of("\r \t") + 1).substr(0, shown))
    result += std::isprint(static_cast<unsigned char>(letter)) ? letter : '?';
  return result + (line.size() > shown ? "...'" : "'");
}

std::int64_t entries_of_array(Symmetry symmetry, std::int64_t rows, std::int64_t columns)
{
  switch (symmetry) {
  case Symmetry::symmetric:
  case Symmetry::hermitian:
    return rows * (rows + 1) / 2;
  case Symmetry::skew_symmetric:
    return rows * (rows - 1) / 2;
  case Symmetry::general:
    break;
  }
  return rows * columns;
}

} // namespace

const char *name_of(Field field)
{
  switch (field) {
  case Field::complex:
    return "complex";
  case Field::integer:
    return "integer";
  case Field::pattern:
    return "pattern";
  case Field::real:
    break;
  }
  return "real";
}

const char *name_of(Symmetry symmetry)
{
  switch (symmetry) {
  case Symmetry::symmetric:
    return "symmetric";
  case Symmetry::hermitian:
    return "hermitian";
  case Symmetry::skew_symmetric:
    return "skew-symmetric";
  case Symmetry::general:
    break;
  }
  return "general";
}

MarketChecker::MarketChecker(std::string file_name, LookAtSizes look) : file_name_(std::move(file_name)), look_(std::move(look)) {}

std::string MarketChecker::take()
{
  return std::exchange(checked_, {});
}

void MarketChecker::refuse(const std::string &line, const std::string &what) const
{
  throw InputError(file_name_ + ", line " + std::to_string(line_number_) + ": " + quoted(line) + " " + what);
}

void MarketChecker::feed(std::string_view bytes)
{
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    unfinished_line_.append(bytes.substr(0, end));
    if (unfinished_line_.size() > longest_line || end != std::string_view::npos) {
      ++line_number_;
      check_line(unfinished_line_);
      unfinished_line_.clear();
    }
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
  }
}

void MarketChecker::finish()
{
  if (!unfinished_line_.empty()) feed("\n");
  if (line_number_ == 0) throw InputError(file_name_ + " is an empty file");
  if (expecting_ != Expecting::entries)
    throw InputError(file_name_ + " is cut off: it ends before the line with the matrix's sizes; fetch it again");
  if (entries_seen_ < header_.entries) {
    throw InputError(file_name_ + " is cut off: its size line promises " + std::to_string(header_.entries) +
                     " entries, the file ends after " + std::to_string(entries_seen_) + "; fetch it again");
  }
}

void MarketChecker::check_line(const std::string &line)
{
  if (expecting_ == Expecting::banner)
    return check_banner(line); // before the length: a binary file is no Matrix Market file, not a long line
  if (line.size() > longest_line) refuse(line, "is longer than the 1024 characters that Matrix Market allows");
  if ((!line.empty() && line[0] == '%') || is_blank(line)) return;
  if (line.find('\0') != std::string::npos)
    refuse(line, "holds a zero byte: the file is damaged; fetch it again"); // the C library would end there
  if (expecting_ == Expecting::sizes)
    check_sizes(line);
  else
    check_entry(line);
}

void MarketChecker::check_banner(const std::string &line)
{
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // editors of some systems put it in front
  const std::vector<std::string> words = lower_case_words(line.starts_with(byte_order_mark) ? line.substr(byte_order_mark.size()) : line);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix") {
    refuse(line, "is no Matrix Market header; it should read like '%%MatrixMarket matrix coordinate real general'");
  }
  if (words[2] == "array")
    header_.dense = true;
  else if (words[2] != "coordinate")
    refuse(line, "has the unknown format '" + words[2] + "'; known are coordinate and array");

  if (words[3] == "complex" && !complex_scalars)
    refuse(line, "is complex; only real, integer and pattern matrices can be solved here: use the weft_mm of a build for complex scalars "
                 "(./weft build --stack debian-complex, or PETSC_DIR at a PETSc with complex scalars)");
  if (words[3] == "complex")
    header_.field = Field::complex;
  else if (words[3] == "integer" || words[3] == "unsigned-integer")
    header_.field = Field::integer;
  else if (words[3] == "pattern")
    header_.field = Field::pattern;
  else if (words[3] != "real" && words[3] != "double")
    refuse(line,
           "has the unknown field '" + words[3] + "'; known are real, " + (complex_scalars ? "complex, " : "") + "integer and pattern");
  if (header_.dense && header_.field == Field::pattern) refuse(line, "cannot be: an array has values, so it is no pattern");

  if (words[4] == "hermitian" && header_.field == Field::complex)
    header_.symmetry = Symmetry::hermitian;
  else if (words[4] == "symmetric" || words[4] == "hermitian") // of real values the same
    header_.symmetry = Symmetry::symmetric;
  else if (words[4] == "skew-symmetric")
    header_.symmetry = Symmetry::skew_symmetric;
  else if (words[4] != "general")
    refuse(line, "has the unknown symmetry '" + words[4] + "'; known are general, symmetric, " + (complex_scalars ? "hermitian " : "") +
                     "and skew-symmetric");
  if (header_.field == Field::pattern && header_.symmetry == Symmetry::skew_symmetric) {
    refuse(line, "cannot be: a pattern has no signs, so it is not skew-symmetric");
  }
  expecting_ = Expecting::sizes;
  checked_   = std::string("%%MatrixMarket matrix ") + (header_.dense ? "array " : "coordinate ") + name_of(header_.field) + " " +
             name_of(header_.symmetry) + "\n";
}

void MarketChecker::check_sizes(const std::string &line)
{
  const char *position = line.c_str();
  const bool complete  = take_integer(position, header_.rows) && take_integer(position, header_.columns) &&
                        (header_.dense || take_integer(position, header_.entries));
  if (!complete || !at_end(position))
    refuse(line, header_.dense ? "is no size line: expected 'rows columns'" : "is no size line: expected 'rows columns entries'");
  // The product of two sizes below this limit, and twice the entries, still fit 64 bits.
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  if (header_.rows < 0 || header_.columns < 0 || header_.entries < 0) refuse(line, "is no size line: a size is negative");
  if (header_.rows > limit || header_.columns > limit || header_.entries / limit > limit)
    refuse(line, "asks for a matrix too large to read here");
  if (header_.symmetry != Symmetry::general && header_.rows != header_.columns)
    refuse(line, "is rectangular, but the header says " + std::string(name_of(header_.symmetry)));
  if (header_.dense) header_.entries = entries_of_array(header_.symmetry, header_.rows, header_.columns);
  array_row_ = first_row_of_array(array_column_);
  if (look_) look_(header_);
  expecting_ = Expecting::entries;
  checked_ += line + "\n";
}

void MarketChecker::check_entry(const std::string &line)
{
  if (entries_seen_ == header_.entries)
    refuse(line, "is one entry more than the " + std::to_string(header_.entries) + " that the size line promises");
  const char *position = line.c_str();
  std::int64_t row = array_row_, column = array_column_;
  std::array<double, 2> value{1, 0}; // the real and the imaginary part
  std::string written, values;
  const std::size_t parts = header_.field == Field::pattern ? 0 : header_.field == Field::complex ? 2 : 1;
  bool complete           = header_.dense || (take_integer(position, row) && take_integer(position, column));
  const std::size_t place = static_cast<std::size_t>(position - line.c_str());
  for (std::size_t part = 0; part < parts && complete; ++part) {
    complete = take_value(position, value[part], written);
    values.append(" ").append(written);
  }
  if (!complete || !at_end(position)) {
    constexpr std::array<const char *, 3> of_array{"", "one 'value'", "'real imaginary'"};
    constexpr std::array<const char *, 3> of_places{"'row column'", "'row column value'", "'row column real imaginary'"};
    refuse(line, std::string("is no entry: expected ") + (header_.dense ? of_array : of_places)[parts]);
  }
  for (const double part : value) {
    if (!std::isfinite(part)) refuse(line, "holds a value that is not a finite number");
    if (!(std::abs(part) < largest_value))
      refuse(line, "holds a value beyond 1e308, which CHOLMOD reads as infinite: divide the matrix and the right-hand side by 1e10, say");
  }
  if (!header_.dense) check_position(line, row, column);
  if (header_.symmetry != Symmetry::general) check_symmetry(line, row, column, {value[0], value[1]});
  if (++array_row_ > header_.rows) array_row_ = first_row_of_array(++array_column_);
  ++entries_seen_;
  checked_.append(line, 0, place).append(values).append("\n");
}

// Arrays are written column by column, of symmetric ones what is on the diagonal and below it, of skew-symmetric ones what is below it.
std::int64_t MarketChecker::first_row_of_array(std::int64_t column) const
{
  if (header_.symmetry == Symmetry::general) return 1;
  return header_.symmetry == Symmetry::skew_symmetric ? column + 1 : column;
}

void MarketChecker::check_position(const std::string &line, std::int64_t row, std::int64_t column) const
{
  if (row < 1 || row > header_.rows)
    refuse(line, "names row " + std::to_string(row) + "; the rows go from 1 to " + std::to_string(header_.rows));
  if (column < 1 || column > header_.columns)
    refuse(line, "names column " + std::to_string(column) + "; the columns go from 1 to " + std::to_string(header_.columns));
}

void MarketChecker::check_symmetry(const std::string &line, std::int64_t row, std::int64_t column, std::complex<double> value)
{
  if (row == column && value != 0.0 && header_.symmetry == Symmetry::skew_symmetric)
    refuse(line, "is on the diagonal, which is zero in a skew-symmetric matrix");
  if (row == column && value.imag() != 0 && header_.symmetry == Symmetry::hermitian)
    refuse(line, "is on the diagonal, whose imaginary part is zero in a Hermitian matrix");
  // Which triangle is stored does not matter, but both would be counted twice.
  (row > column ? seen_lower_ : seen_upper_) |= row != column;
  if (seen_lower_ && seen_upper_)
    refuse(line,
           "is above the diagonal and others are below: a " + std::string(name_of(header_.symmetry)) + " file stores one triangle only");
}

} // namespace weft_mm
