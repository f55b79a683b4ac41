/// What a spread solve asks for between its steps, sent by RankMessages.
#pragma once
#include "base/rank_messages.hpp"
#include "bcr/spread/spread_solver.hpp"

namespace weft {

/// From an exchange to the end of the solve, or of meet(). Collective.
inline void send_to_the_end(SpreadSolver &solver, const RankMessages &messages, const SpreadSolver::Exchange *exchange)
{
  const Execution &execution = solver.execution();
  void *const stream         = execution.memory() == Memory::device ? execution.stream() : nullptr;
  for (; exchange; exchange = solver.go_on()) {
    if (!messages.in_order_of(stream)) execution.wait();
    messages.exchange(exchange->sent, exchange->from, exchange->received, exchange->to, exchange->bytes, stream);
  }
}

} // namespace weft
