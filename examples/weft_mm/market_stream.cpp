#include "market_stream.hpp"

#include <cerrno>
#include <cstring>
#include <zlib.h>

namespace weft_mm {

void MarketStream::Close::operator()(gzFile_s *file) const
{
  gzclose(file);
}

void MarketStream::Close::operator()(std::FILE *file) const
{
  std::fclose(file);
}

MarketStream::MarketStream(const std::string &path) : path_(path), checker_(path)
{
  errno = 0;
  compressed_.reset(gzopen(path.c_str(), "rb")); // reads plain files too, as they are
  if (!compressed_) throw InputError("cannot open " + path + ": " + std::strerror(errno ? errno : ENOMEM));
  gzbuffer(compressed_.get(), 1 << 18);

  cookie_io_functions_t functions{};
  functions.read = read_and_check;
  file_.reset(fopencookie(this, "r", functions));
  if (!file_) throw InputError("cannot open " + path + ": " + std::strerror(errno));
}

std::size_t MarketStream::read_bytes(char *buffer, std::size_t size)
{
  errno           = 0;
  const int count = gzread(compressed_.get(), buffer, static_cast<unsigned>(size));
  int code        = Z_OK;
  const char *why = gzerror(compressed_.get(), &code);
  if (code == Z_ERRNO) throw InputError("cannot read " + path_ + ": " + std::strerror(errno));
  // Z_BUF_ERROR: the file ended within the compressed data. What came before it is of no use.
  if (count < 0 || code == Z_BUF_ERROR)
    throw InputError(path_ + " is cut off or damaged (" + (code == Z_BUF_ERROR ? "it ends too early" : why) + "); fetch it again");
  return static_cast<std::size_t>(count);
}

ssize_t MarketStream::read_and_check(void *stream, char *buffer, std::size_t size)
{
  MarketStream &self = *static_cast<MarketStream *>(stream);
  if (!self.error_.empty()) return -1;
  if (self.ended_) return 0;
  try {
    const std::size_t count = self.read_bytes(buffer, size);
    if (count > 0)
      self.checker_.feed(std::string_view(buffer, count));
    else {
      self.ended_ = true;
      self.checker_.finish();
    }
    return static_cast<ssize_t>(count);
  } catch (const std::exception &error) {
    self.error_ = error.what();
    return -1;
  }
}

void MarketStream::finish()
{
  char rest[4096];
  while (std::fread(rest, 1, sizeof rest, file_.get()) > 0) {
  }
  if (!error_.empty()) throw InputError(error_);
}

} // namespace weft_mm
