// Checks a Matrix Market file line by line before somebody else (CHOLMOD) reads it, and hands it on in words that CHOLMOD knows.
//
// CHOLMOD's reader is fast but trusting: it takes "1.0D+00" as 1.0, 1.2e308 as infinite, cuts "2.5" to row 2, reads a file with one index 0 as
// zero-based, ignores what follows the last promised entry, takes memory for whatever the size line promises, and says only "invalid matrix
// file". This checker sees the bytes first and names the first line that is wrong; what other programs write and CHOLMOD does not know is
// translated: fields unsigned-integer and double, the symmetry hermitian of real values, Fortran's exponents. CHOLMOD also keeps the imaginary
// parts that a Hermitian file gives to its diagonal, and the values that a skew-symmetric one has there: no such matrix is what it says.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft_mm {

// Something is wrong with what the user handed in; what() is one sentence for the user.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Field { real, complex, integer, pattern };
enum class Symmetry { general, symmetric, hermitian, skew_symmetric };

struct MarketHeader {
  bool dense           = false; // 'array' and not 'coordinate'
  Field field          = Field::real;
  Symmetry symmetry    = Symmetry::general;
  std::int64_t rows    = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0; // lines of entries in the file, before symmetric storage is expanded
};

const char *name_of(Field field);
const char *name_of(Symmetry symmetry);

// Sees the sizes before memory is taken for them; throws InputError where they cannot be.
using LookAtSizes = std::function<void(const MarketHeader &)>;

class MarketChecker {
public:
  explicit MarketChecker(std::string file_name, LookAtSizes look = {});

  void feed(std::string_view bytes); // the next bytes of the file; throws InputError
  void finish();                     // the file has ended; throws InputError where it ended too early
  std::string take();                // what CHOLMOD is to read of the bytes so far, each once

  const MarketHeader &header() const { return header_; }

private:
  enum class Expecting { banner, sizes, entries };

  void check_line(const std::string &line);
  void check_banner(const std::string &line);
  void check_sizes(const std::string &line);
  void check_entry(const std::string &line);
  void check_position(const std::string &line, std::int64_t row, std::int64_t column) const;
  void check_symmetry(const std::string &line, std::int64_t row, std::int64_t column, std::complex<double> value);
  std::int64_t first_row_of_array(std::int64_t column) const;

  [[noreturn]] void refuse(const std::string &line, const std::string &what) const;

  std::string file_name_;
  LookAtSizes look_;
  std::string checked_; // whole lines
  MarketHeader header_;
  Expecting expecting_ = Expecting::banner;
  std::string unfinished_line_;
  std::int64_t line_number_  = 0;
  std::int64_t entries_seen_ = 0;
  bool seen_lower_           = false;
  bool seen_upper_           = false;
  std::int64_t array_row_    = 0; // where the next entry of an array is, from 1
  std::int64_t array_column_ = 1;
};

} // namespace weft_mm
