#include "market_stream.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <utility>
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

MarketStream::MarketStream(const std::string &path, LookAtSizes look)
    : path_(path), checker_(path, [this, look = std::move(look)](const MarketHeader &header) { look_at(header, look); })
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

// CHOLMOD takes memory for what the size line promises: more than the file can hold is seen before.
void MarketStream::look_at(const MarketHeader &header, const LookAtSizes &look) const
{
  struct stat file;
  // Bytes of an entry and the end of its line.
  const std::int64_t least = (header.dense ? 0 : 4) + (header.field == Field::pattern ? 0 : header.field == Field::complex ? 4 : 2);
  constexpr std::int64_t most_compressed = 1032; // deflate cannot do more
  if (look) look(header);
  if (stat(path_.c_str(), &file) || !S_ISREG(file.st_mode)) return;
  const std::int64_t bytes = file.st_size * (gzdirect(compressed_.get()) ? 1 : most_compressed);
  if (header.entries > bytes / least + 1)
    throw InputError(path_ + " is cut off: its size line promises " + std::to_string(header.entries) + " entries, and " +
                     std::to_string(file.st_size) + " bytes cannot hold them; fetch it again");
}

// The next bytes that CHOLMOD may read, in checked_; none where the file ends.
void MarketStream::check_more()
{
  char buffer[1 << 16];
  while (read_ == checked_.size() && !ended_) {
    const std::size_t count = read_bytes(buffer, sizeof buffer);
    ended_                  = count == 0;
    if (ended_)
      checker_.finish();
    else
      checker_.feed(std::string_view(buffer, count));
    checked_ = checker_.take();
    read_    = 0;
  }
}

ssize_t MarketStream::read_and_check(void *stream, char *buffer, std::size_t size)
{
  MarketStream &self = *static_cast<MarketStream *>(stream);
  if (!self.error_.empty()) return -1;
  try {
    self.check_more();
  } catch (const std::exception &error) {
    self.error_ = error.what();
    return -1;
  }
  const std::size_t count = self.checked_.copy(buffer, size, self.read_);
  self.read_ += count;
  return static_cast<ssize_t>(count);
}

void MarketStream::finish()
{
  char rest[4096];
  while (std::fread(rest, 1, sizeof rest, file_.get()) > 0) {
  }
  if (!error_.empty()) throw InputError(error_);
}

} // namespace weft_mm
