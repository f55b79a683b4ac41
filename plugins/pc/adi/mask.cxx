// Masks from files: PGM images and raw bytes.
#include <cctype>
#include <new>

#include "pc/adi/adi_impl.h"
#include "read_file.h"

namespace weft {

namespace {

// A PGM image: "P2" (text) or "P5" (bytes), width, height, largest grey; # starts a comment that ends with its line. What a head promises need
// not fit into memory: the pixels are read once it is known how many there must be.
class Pgm {
public:
  explicit Pgm(const std::string &bytes) : bytes_(bytes) {}

  Index width = 0, height = 0, largest = 0;
  std::vector<Index> greys; ///< row by row from the top

  // Why the bytes begin with no head of such an image, or nothing.
  const char *read_head()
  {
    at_ = 2;
    if (!number(&width) || !number(&height) || !number(&largest)) return "its head is not width, height, largest grey";
    if (width < 1 || height < 1 || largest < 1 || largest > 65535) return "its head has impossible numbers";
    return nullptr;
  }

  // Why these pixels do not follow, or nothing.
  const char *read_greys(std::size_t count)
  {
    const std::size_t wide = largest > 255 ? 2 : 1;
    if (bytes_[1] == '2') {
      greys.resize(count);
      for (Index &grey : greys) {
        if (!number(&grey)) return "it has fewer pixels than its head says";
      }
      return nullptr;
    }
    at_++; // the one blank after the head
    if (at_ > bytes_.size() || bytes_.size() - at_ < count * wide) return "it has fewer pixels than its head says";
    for (std::size_t i = 0; i < count; i++) {
      Index grey = 0;
      for (std::size_t byte = 0; byte < wide; byte++) grey = 256 * grey + static_cast<unsigned char>(bytes_[at_ + wide * i + byte]);
      greys.push_back(grey);
    }
    return nullptr;
  }

private:
  bool number(Index *value)
  {
    const std::string &bytes = bytes_;
    while (at_ < bytes.size() && (std::isspace(static_cast<unsigned char>(bytes[at_])) || bytes[at_] == '#')) {
      if (bytes[at_] == '#') {
        while (at_ < bytes.size() && bytes[at_] != '\n') at_++;
      } else {
        at_++;
      }
    }
    const std::size_t first = at_;
    *value                  = 0;
    while (at_ < bytes.size() && std::isdigit(static_cast<unsigned char>(bytes[at_])) && *value < (Index(1) << 40))
      *value = 10 * *value + (bytes[at_++] - '0');
    return at_ > first;
  }

  const std::string &bytes_;
  std::size_t at_ = 0;
};

// The mask, or why there is none.
std::string mask_of(const std::string &bytes, const AdiBox &box, std::vector<std::uint8_t> *mask)
{
  const Index *n   = box.global;
  const auto nodes = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  if (bytes.size() >= 2 && bytes[0] == 'P' && (bytes[1] == '2' || bytes[1] == '5')) {
    Pgm image(bytes);
    if (const char *why = image.read_head()) return std::string("is no PGM image: ") + why;
    if (image.width != n[0] || image.height != n[1] * n[2])
      return "is an image of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels and the grid has " +
             std::to_string(n[0]) + " x " + std::to_string(n[1] * n[2]) + " nodes";
    if (const char *why = image.read_greys(nodes)) return std::string("is no PGM image: ") + why;
    mask->resize(nodes);
    for (Index y = 0; y < image.height; y++) {
      for (Index x = 0; x < n[0]; x++)
        (*mask)[static_cast<std::size_t>(x + n[0] * (image.height - 1 - y))] =
            4 * image.greys[static_cast<std::size_t>(x + n[0] * y)] > 3 * image.largest;
    }
  } else {
    if (bytes.size() != nodes)
      return "has " + std::to_string(bytes.size()) + " bytes and the grid has " + std::to_string(nodes) +
             " nodes: a raw mask has a byte for each node, and other masks are PGM images (P2 or P5)";
    mask->resize(nodes);
    for (std::size_t i = 0; i < nodes; i++) (*mask)[i] = bytes[i] != 0;
  }
  for (std::uint8_t inner : *mask) {
    if (inner) return "";
  }
  return "has no inner node";
}

} // namespace

PetscErrorCode AdiReadMask(MPI_Comm comm, const char file[], const AdiBox &box, std::vector<std::uint8_t> *mask)
{
  PetscMPIInt rank, length = 0;
  std::string why;
  const auto nodes = static_cast<std::size_t>(box.global[0] * box.global[1] * box.global[2]);

  PetscFunctionBegin;
  PetscCheck(nodes <= PETSC_MPI_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_adi_mask: a grid of more than 2^31 nodes takes no mask");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    try {
      const std::optional<std::string> bytes = ReadFile(file);
      why                                    = bytes ? mask_of(*bytes, box, mask) : "cannot be opened";
    } catch (const std::bad_alloc &) { // an error on all ranks, not on this one alone
      why = "does not fit into memory";
    }
    length = static_cast<PetscMPIInt>(why.size());
  }
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  why.resize(static_cast<std::size_t>(length));
  PetscCallMPI(MPI_Bcast(why.data(), length, MPI_CHAR, 0, comm));
  PetscCheck(why.empty(), comm, PETSC_ERR_FILE_UNEXPECTED, "-pc_adi_mask: %s %s", file, why.c_str());
  mask->resize(nodes);
  PetscCallMPI(MPI_Bcast(mask->data(), static_cast<PetscMPIInt>(nodes), MPI_UNSIGNED_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<std::uint8_t> AdiLocalMask(const AdiBox &box, const std::vector<std::uint8_t> &mask)
{
  std::vector<std::uint8_t> mine;
  if (mask.empty()) return mine;
  for (Index z = 0; z < box.n[2]; z++) {
    for (Index y = 0; y < box.n[1]; y++) {
      for (Index x = 0; x < box.n[0]; x++)
        mine.push_back(
            mask[static_cast<std::size_t>(box.first[0] + x + box.global[0] * (box.first[1] + y + box.global[1] * (box.first[2] + z)))]);
    }
  }
  return mine;
}

} // namespace weft
