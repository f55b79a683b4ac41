#include "base/device_places.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weft {

DevicePlaces device_places(MPI_Comm communicator)
{
  struct Place {
    char host[MPI_MAX_PROCESSOR_NAME], device[32];
  } here   = {};
  int size = 1, length = 0, number = 0;
  MPI_Comm_size(communicator, &size);
  MPI_Get_processor_name(here.host, &length);
  if (cudaGetDevice(&number) != cudaSuccess || cudaDeviceGetPCIBusId(here.device, sizeof here.device, number) != cudaSuccess)
    here.device[0] = 0;
  std::vector<Place> all(static_cast<std::size_t>(size));
  MPI_Allgather(&here, sizeof(Place), MPI_BYTE, all.data(), sizeof(Place), MPI_BYTE, communicator);
  DevicePlaces places{true, true};
  std::vector<std::string> names;
  for (const Place &place : all) {
    places.apart    = places.apart && place.device[0] != 0;
    places.one_host = places.one_host && std::string(place.host) == all.front().host;
    names.push_back(std::string(place.host) + " " + place.device);
  }
  std::sort(names.begin(), names.end());
  places.apart = places.apart && std::adjacent_find(names.begin(), names.end()) == names.end();
  return places;
}

} // namespace weft
