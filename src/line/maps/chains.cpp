#include "line/maps/chains.hpp"

#include <algorithm>
#include <unordered_map>

namespace weft {

namespace {

constexpr std::size_t words_of_piece = 5;

std::vector<Chains::Piece> pieces_of_all(const GhostRows &ranks, const std::vector<OpenLine> &own)
{
  std::vector<std::int64_t> words;
  std::vector<Index> places;
  for (const OpenLine &line : own)
    for (const Index word : {line.first, line.last, line.before, line.after, line.rows}) words.push_back(word);
  words = ranks.gather(words, places);
  std::vector<Chains::Piece> pieces;
  for (std::size_t k = 0; k + words_of_piece <= words.size(); k += words_of_piece) {
    const auto rank   = std::upper_bound(places.begin(), places.end(), static_cast<Index>(k)) - places.begin() - 1;
    const Index place = (static_cast<Index>(k) - places[static_cast<std::size_t>(rank)]) / static_cast<Index>(words_of_piece);
    pieces.push_back({static_cast<int>(rank), place, false, {0, words[k], words[k + 1], words[k + 2], words[k + 3], words[k + 4]}});
  }
  return pieces;
}

/// From a piece on, out through its end, until the line ends or comes back. Takes the pieces that it passes.
Chains::Line walk(std::vector<Chains::Piece> &pieces, const std::unordered_map<Index, std::size_t> &piece_at, std::size_t start,
                  bool reversed, std::vector<bool> &taken)
{
  Chains::Line line;
  pieces[start].reversed = reversed;
  for (std::size_t at = start; !taken[at];) {
    taken[at] = true;
    line.push_back(pieces[at]);
    const Index here = pieces[at].last(), next = pieces[at].after();
    if (next < 0) break;
    at = piece_at.at(next);
    if (!taken[at]) pieces[at].reversed = pieces[at].line.first != next || pieces[at].line.before != here;
  }
  return line;
}

void turn_round(Chains::Line &line)
{
  std::reverse(line.begin(), line.end());
  for (Chains::Piece &piece : line) piece.reversed = !piece.reversed;
}

} // namespace

Chains chains_of(const GhostRows &ranks, const std::vector<OpenLine> &own)
{
  std::vector<Chains::Piece> pieces = pieces_of_all(ranks, own);
  std::unordered_map<Index, std::size_t> piece_at; // of the rows at either end
  for (std::size_t k = 0; k < pieces.size(); k++) piece_at[pieces[k].line.first] = piece_at[pieces[k].line.last] = k;
  std::vector<bool> taken(pieces.size(), false);
  Chains chains;
  for (std::size_t k = 0; k < pieces.size(); k++) {
    const OpenLine &line = pieces[k].line;
    if (taken[k] || (line.before >= 0 && line.after >= 0)) continue;
    chains.lines.push_back(walk(pieces, piece_at, k, line.before >= 0, taken));
    if (chains.lines.back().back().last() < chains.lines.back().front().first()) turn_round(chains.lines.back());
  }
  for (std::size_t k = 0; k < pieces.size(); k++)
    if (!taken[k]) chains.cycles.push_back(walk(pieces, piece_at, k, false, taken));
  std::sort(chains.lines.begin(), chains.lines.end(),
            [](const Chains::Line &x, const Chains::Line &y) { return x.front().first() < y.front().first(); });
  return chains;
}

JoinedPieces join_lines(const GhostRows &ranks, LineMap &map)
{
  const std::vector<OpenLine> &own = map.open_lines();
  const Chains chains              = chains_of(ranks, own);
  std::vector<Index> wrong;
  for (const Chains::Line &line : chains.lines)
    for (const Chains::Piece &piece : line)
      if (piece.rank == ranks.rank && piece.reversed) wrong.push_back(own[static_cast<std::size_t>(piece.place)].line);
  map.turn_round(wrong);

  JoinedPieces joined;
  const HostLines host = chains.lines.empty() ? HostLines() : map.host_lines();
  for (const Chains::Line &line : chains.lines) {
    Index rows = 0;
    for (const Chains::Piece &piece : line) {
      joined.ranks.push_back(piece.rank);
      rows += piece.line.rows;
      if (piece.rank != ranks.rank) continue;
      const auto l = static_cast<std::size_t>(own[static_cast<std::size_t>(piece.place)].line);
      joined.add_own(host.rows.begin() + host.starts[l], host.rows.begin() + host.starts[l + 1], piece.before(), piece.after());
    }
    joined.starts.push_back(static_cast<Index>(joined.ranks.size()));
    joined.longest = std::max(joined.longest, rows);
  }
  return joined;
}

std::vector<JoinedPieces> split_by_colour(const JoinedPieces &joined, const std::vector<int> &colour, int colours, int rank)
{
  std::vector<JoinedPieces> parts(static_cast<std::size_t>(colours));
  std::size_t own = 0; // pieces of this rank that have been passed
  for (std::size_t line = 0; line < colour.size(); line++) {
    JoinedPieces &part = parts[static_cast<std::size_t>(colour[line])];
    part.longest       = joined.longest; // at most
    for (auto k = static_cast<std::size_t>(joined.starts[line]); k < static_cast<std::size_t>(joined.starts[line + 1]); k++) {
      part.ranks.push_back(joined.ranks[k]);
      if (joined.ranks[k] != rank) continue;
      const auto rows = joined.own.rows.begin();
      part.add_own(rows + joined.own.starts[own], rows + joined.own.starts[own + 1], joined.before[own], joined.after[own]);
      own++;
    }
    part.starts.push_back(static_cast<Index>(part.ranks.size()));
  }
  return parts;
}

} // namespace weft
