// A Matrix Market file, plain or gzip, as the FILE * that CHOLMOD reads from: what a MarketChecker has let through.
#pragma once

#include "market_checker.hpp"

#include <cstdio>
#include <memory>
#include <string>

struct gzFile_s; // zlib's

namespace weft_mm {

class MarketStream {
public:
  explicit MarketStream(const std::string &path, LookAtSizes look = {}); // throws InputError where the file cannot be opened

  std::FILE *file() { return file_.get(); }

  // Reads what CHOLMOD left over (only there does a cut .gz show, or an entry too many), then throws the first InputError met anywhere in
  // the file.
  void finish();

  const MarketHeader &header() const { return checker_.header(); }

private:
  static ssize_t read_and_check(void *stream, char *buffer, std::size_t size);

  std::size_t read_bytes(char *buffer, std::size_t size);
  void check_more();
  void look_at(const MarketHeader &header, const LookAtSizes &look) const;

  struct Close {
    void operator()(gzFile_s *file) const;
    void operator()(std::FILE *file) const;
  };

  std::string path_;
  MarketChecker checker_;
  std::string error_; // an exception must not cross the C library's frames: it waits here
  bool ended_ = false;
  std::string checked_; // and not yet read
  std::size_t read_ = 0;
  std::unique_ptr<gzFile_s, Close> compressed_;
  std::unique_ptr<std::FILE, Close> file_;
};

} // namespace weft_mm
