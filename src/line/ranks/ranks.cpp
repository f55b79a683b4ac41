#include "line/ranks/ranks.hpp"

#include <cstdint>

#include "base/real_of.hpp"

namespace weft {

LineOrder::LineOrder(const LineLayout &layout, int shares) : shares_(shares), places_(static_cast<std::size_t>(layout.count()))
{
  const Index count = layout.count();
  for (Index line = 0; line < count; line++) colours_[static_cast<std::size_t>(layout.colour(line))]++;
  std::array<Index, 2> seen{};
  std::array<int, 2> at{}; // the share that the next line of a colour belongs to
  for (Index line = 0; line < count; line++) {
    const auto colour = static_cast<std::size_t>(layout.colour(line));
    const int c       = static_cast<int>(colour);
    while (seen[colour] >= cut(c, at[colour] + 1)) at[colour]++;
    places_[static_cast<std::size_t>(line)] = share(at[colour], static_cast<Colour>(c)).begin + seen[colour] - cut(c, at[colour]);
    seen[colour]++;
  }
}

LineOrder::Range LineOrder::share(int number, Colour colour) const
{
  const Index begin = cut(0, number) + cut(1, number), odd = cut(0, number + 1) + cut(1, number),
              end = cut(0, number + 1) + cut(1, number + 1);
  return {colour == Colour::odd ? odd : begin, colour == Colour::even ? odd : end};
}

std::vector<Index> LineOrder::lines(int number) const
{
  const Range range = share(number, Colour::all);
  std::vector<Index> lines(static_cast<std::size_t>(range.size()));
  for (std::size_t line = 0; line < places_.size(); line++) {
    const Index place = places_[line];
    if (place >= range.begin && place < range.end) lines[static_cast<std::size_t>(place - range.begin)] = static_cast<Index>(line);
  }
  return lines;
}

Items::Items(MPI_Comm communicator, const std::vector<int> &sent, const std::vector<int> &received, bool on_device)
    : messages_(communicator, false, on_device)
{
  const auto in_order = [](const std::vector<int> &counts) {
    std::vector<Message> messages;
    Index first = 0;
    for (std::size_t r = 0; r < counts.size(); first += counts[r], r++) {
      if (counts[r] > 0) messages.push_back({static_cast<int>(r), first, counts[r]});
    }
    return messages;
  };
  sent_     = in_order(sent);
  received_ = in_order(received);
}

Index Items::smallest(Index value) const
{
  std::int64_t result = value;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT64_T, MPI_MIN, messages_.communicator());
  return result;
}

Ranks::Ranks(MPI_Comm communicator, Index length, bool ring, bool on_device) : messages_(communicator, false, on_device), ring_(ring)
{
  const auto size = static_cast<std::size_t>(messages_.size());
  std::vector<std::int64_t> lengths(size);
  const std::int64_t mine = length;
  MPI_Allgather(&mine, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, messages_.communicator());
  std::vector<int> holders;
  for (std::size_t r = 0; r < size; r++) {
    piece_of_.push_back(lengths[r] > 0 ? pieces() : -1);
    if (lengths[r] > 0) {
      starts_.push_back(length_);
      holders.push_back(static_cast<int>(r));
    }
    length_ += lengths[r];
  }
  for (auto *words : {&piece_words_, &piece_at_, &owner_words_, &owner_at_}) words->resize(size);
  if (is_empty()) return;
  const int n = pieces(), p = piece();
  if (ring || p > 0) before_ = holders[static_cast<std::size_t>((p + n - 1) % n)];
  if (ring || p + 1 < n) after_ = holders[static_cast<std::size_t>((p + 1) % n)];
}

double Ranks::largest(double value) const
{
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, messages_.communicator());
  return value;
}

Index Ranks::smallest(Index value) const
{
  std::int64_t result = value;
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT64_T, MPI_MIN, messages_.communicator());
  return result;
}

template <class Scalar>
void Ranks::swap(const Scalar *to_before, const Scalar *to_after, Scalar *from_before, Scalar *from_after, Index values, void *stream) const
{
  const std::size_t bytes = sizeof(Scalar) * static_cast<std::size_t>(values);
  const RankMessages::Batch batch(messages_, stream);
  // A rank can be both neighbours of another, or its own: what goes forwards is named first.
  if (has_before()) batch.receive(from_before, bytes, before_);
  if (has_after()) batch.receive(from_after, bytes, after_);
  if (has_after()) batch.send(to_after, bytes, after_);
  if (has_before()) batch.send(to_before, bytes, before_);
  batch.end();
}

template <class Scalar>
void Ranks::exchange(const Scalar *from, const std::vector<int> &sent, const std::vector<int> &sent_at, Scalar *to,
                     const std::vector<int> &received, const std::vector<int> &received_at, void *stream) const
{
  const auto bytes = [](int words) { return sizeof(Scalar) * static_cast<std::size_t>(words); };
  const RankMessages::Batch batch(messages_, stream);
  for (int r = 0; r < size(); r++) {
    const auto k = static_cast<std::size_t>(r);
    if (received[k] > 0) batch.receive(to + received_at[k], bytes(received[k]), r);
    if (sent[k] > 0) batch.send(from + sent_at[k], bytes(sent[k]), r);
  }
  batch.end();
}

void Ranks::count_words(int words, const LineOrder &order, Colour colour) const
{
  const LineOrder::Range all = order.share(rank(), Colour::all), own = order.share(rank(), colour);
  for (int r = 0; r < size(); r++) {
    const auto k                  = static_cast<std::size_t>(r);
    const LineOrder::Range theirs = order.share(r, colour);
    const Index piece             = piece_of_[k];
    piece_words_[k]               = is_empty() ? 0 : static_cast<int>(words * theirs.size());
    piece_at_[k]                  = static_cast<int>(words * theirs.begin);
    owner_words_[k]               = piece < 0 ? 0 : static_cast<int>(words * own.size());
    owner_at_[k]                  = piece < 0 ? 0 : static_cast<int>(words * (piece * all.size() + own.begin - all.begin));
  }
}

template <class Scalar>
void Ranks::to_owners(const Scalar *mine, Scalar *owned, int words, const LineOrder &order, Colour colour, void *stream) const
{
  count_words(words, order, colour);
  exchange(mine, piece_words_, piece_at_, owned, owner_words_, owner_at_, stream);
}

template <class Scalar>
void Ranks::to_pieces(const Scalar *owned, Scalar *mine, int words, const LineOrder &order, Colour colour, void *stream) const
{
  count_words(words, order, colour);
  exchange(owned, owner_words_, owner_at_, mine, piece_words_, piece_at_, stream);
}

template <class Scalar>
void Ranks::to_all(const Scalar *mine, Scalar *all, int words, void *stream) const
{
  for (std::size_t r = 0; r < piece_of_.size(); r++) {
    piece_words_[r] = is_empty() ? 0 : words;
    piece_at_[r]    = 0;
    owner_words_[r] = piece_of_[r] < 0 ? 0 : words;
    owner_at_[r]    = piece_of_[r] < 0 ? 0 : words * piece_of_[r];
  }
  exchange(mine, piece_words_, piece_at_, all, owner_words_, owner_at_, stream);
}

template void Ranks::swap(const double *, const double *, double *, double *, Index, void *) const;
template void Ranks::swap(const float *, const float *, float *, float *, Index, void *) const;
template void Ranks::swap(const Complex<double> *, const Complex<double> *, Complex<double> *, Complex<double> *, Index, void *) const;
template void Ranks::swap(const Complex<float> *, const Complex<float> *, Complex<float> *, Complex<float> *, Index, void *) const;
template void Ranks::to_owners(const double *, double *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_owners(const float *, float *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_owners(const Complex<double> *, Complex<double> *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_owners(const Complex<float> *, Complex<float> *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_pieces(const double *, double *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_pieces(const float *, float *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_pieces(const Complex<double> *, Complex<double> *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_pieces(const Complex<float> *, Complex<float> *, int, const LineOrder &, Colour, void *) const;
template void Ranks::to_all(const double *, double *, int, void *) const;
template void Ranks::to_all(const float *, float *, int, void *) const;
template void Ranks::to_all(const Complex<double> *, Complex<double> *, int, void *) const;
template void Ranks::to_all(const Complex<float> *, Complex<float> *, int, void *) const;

} // namespace weft
