# The software stacks that ./weft builds on; ./weft sources this file. What has no Debian package is built once into $cache,
# in a folder named by what is in it, and found there ever after. Each function ends with its part of the stack in place or dies.

cache=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}

# Releases on the Python package index are files of fixed content: NAME VERSION SHA256.
kokkos_source='pycompadre 1.7.6 c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c' # carries Kokkos 4.5.01 and Kokkos Kernels 4.5.01, unchanged
petsc_source='petsc 3.26.1 a4dc46c1b4403545ac2274741ce10801366c4a9a7b2683b678d18f6663b93496'
nvml_header='nvidia-nvml-dev 13.5.37 7394fcbefa9ba537e8238cbb1caa4cd2db6bbfbff208d217a8a884947113ae6d' # nvml.h, which PETSc's configure asks for

# One set-up at a time: a second one waits, and finds what the first has made.
lock_cache() {
  mkdir -p "$cache"
  exec 9> "$cache/lock"
  ! command -v flock > /dev/null || flock 9
}

die() { printf 'weft: %s\n' "$*" >&2; exit 1; }
say() { printf 'weft: %s\n' "$*"; }

# quietly LOG COMMAND…: runs it with its output at the end of LOG; on failure shows the errors in it, which others that ran beside it may have
# written over, and the log's end.
quietly() {
  local log=$1; shift
  "$@" >> "$log" 2>&1 || { grep -E -m 10 '^FAILED:|error:' "$log" >&2; tail -n 25 "$log" >&2; return 1; }
}

# telling LOG COMMAND…: the same for a build by ninja, which can take minutes, and says meanwhile how far it is and about how long it still takes.
telling() {
  local code=0 teller
  tell_progress "$1" & teller=$!
  NINJA_STATUS='[%f/%t] ' quietly "$@" || code=$?
  kill $teller 2> /dev/null || true
  wait $teller 2> /dev/null || true
  [ ! -t 1 ] || printf '\r\e[K'
  return $code
}

# On a terminal one line that changes, else a line every half a minute; until it is stopped, or the shell is.
tell_progress() {
  local start=$SECONDS every=30 begin= end='\n' finished all gone words
  if [ -t 1 ]; then every=1 begin='\r\e[K' end=; fi
  while sleep $every && kill -0 $$ 2> /dev/null; do
    read -r finished all <<< "$(tail -n 400 "$1" 2> /dev/null | sed -nE 's#^\[([0-9]+)/([0-9]+)\].*#\1 \2#p' | tail -n 1)"
    [ "${finished:-0}" -gt 0 ] || continue
    gone=$((SECONDS - start)) words=
    [ $gone -lt 10 ] || words=", about $(minutes $((gone * (all - finished) / finished))) left"
    printf "$begin%s$end" "weft: $finished of $all steps after $(minutes $gone)$words"
  done
}

minutes() { printf '%d:%02d min' $(($1 / 60)) $(($1 % 60)); }

# Debian packages, asked for by name. Only what is missing is installed, and only root can do that.
need_packages() {
  command -v dpkg-query > /dev/null || { say "no dpkg here, so nothing is installed: what is missing shows at configure time ($*)"; return; }
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2> /dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "missing packages can only be installed by root; run: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "installing ${#missing[@]} packages: ${missing[*]}"
  mkdir -p "$cache"
  export DEBIAN_FRONTEND=noninteractive
  quietly "$cache/apt.log" apt-get install -y --no-install-recommends "${missing[@]}" ||
    { quietly "$cache/apt.log" apt-get update && quietly "$cache/apt.log" apt-get install -y --no-install-recommends "${missing[@]}"; } ||
    die "apt-get could not install ${missing[*]} (no network, or no such package in this release): make apt-get work and run this command again"
}

# fetch "NAME VERSION SHA256" [binary]: prints the path of the checked file.
fetch() {
  local name version sha folder=$cache/downloads file
  read -r name version sha <<< "$1"
  mkdir -p "$folder"
  file=$(grep -ls . "$folder/$sha"/* 2> /dev/null | head -n 1 || true)
  if [ -z "$file" ]; then
    local kind=(--no-binary "$name"); [ "${2:-}" = binary ] && kind=()
    local part=$folder/part.$$; mkdir -p "$part"
    quietly "$folder/$name.log" python3 -m pip download -q --no-deps "${kind[@]}" -d "$part" "$name==$version" ||
      { rm -rf "$part"; die "could not download $name $version (no network?): put its release file from the Python package index, SHA256 $sha, into $folder/$sha/ and run this command again"; }
    file=$(find "$part" -type f | head -n 1)
    echo "$sha  $file" | sha256sum -c --status || { rm -rf "$part"; die "$name $version was downloaded with another SHA256 than $sha: not used"; }
    mv "$part" "$folder/$sha"; file=$folder/$sha/$(basename "$file")
  fi
  echo "$sha  $file" | sha256sum -c --status || die "$file has another SHA256 than $sha: delete it and run this command again"
  echo "$file"
}

# unpack "NAME VERSION SHA256": the source folder, unpacked once.
unpack() {
  local name version sha archive
  read -r name version sha <<< "$1"
  local folder=$cache/sources/$name-$version
  if [ ! -d "$folder" ]; then # it gets its name when it is complete
    archive=$(fetch "$1")
    rm -rf "$cache/sources/part"; mkdir -p "$cache/sources/part"
    tar xzf "$archive" -C "$cache/sources/part" || die "$archive could not be unpacked into $cache/sources (disk full?): make room and run this command again"
    mv "$cache/sources/part/$name-$version" "$folder"
  fi
  echo "$folder"
}

# A private Kokkos for a PETSc that has none: static and hidden, because Debian's PETSc pulls a Kokkos 3.4 into every process.
kokkos_static() {
  local prefix=$cache/kokkos-4.5.01-static
  if [ ! -f "$prefix/.done" ]; then
    local source; source=$(unpack "$kokkos_source")/kokkos
    say "building Kokkos 4.5.01 (Serial, OpenMP; about 15 s)"
    rm -rf "$prefix" "$cache/build-kokkos"; mkdir -p "$prefix"
    # Flags of the environment are for Weft: whatever they are, this is the Kokkos of this folder.
    quietly "$prefix/build.log" env -u CFLAGS -u CXXFLAGS cmake -S "$source" -B "$cache/build-kokkos" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_CXX_STANDARD=20 \
      -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib ||
      die "Kokkos did not configure: the whole log is $prefix/build.log"
    quietly "$prefix/build.log" ninja -C "$cache/build-kokkos" install || die "Kokkos did not build: the whole log is $prefix/build.log"
    rm -rf "$cache/build-kokkos"; touch "$prefix/.done"
  fi
  export Kokkos_ROOT=$prefix
}

# petsc_build PREFIX CONFIGURE-OPTION…: the PETSc release, with its tutorials.
petsc_build() {
  local prefix=$1; shift
  [ -f "$prefix/.done" ] && return
  local source; source=$(unpack "$petsc_source")
  rm -rf "$prefix"; mkdir -p "$prefix"
  local arch; arch=$(basename "$prefix")
  : > "$prefix.log"
  ( unset PETSC_DIR PETSC_ARCH
    cd "$source" && rm -rf "$arch" &&
      quietly "$prefix.log" ./configure PETSC_ARCH="$arch" --prefix="$prefix" --with-fc=0 --with-x=0 "$@" &&
      quietly "$prefix.log" make PETSC_DIR="$source" PETSC_ARCH="$arch" all &&
      quietly "$prefix.log" make PETSC_DIR="$source" PETSC_ARCH="$arch" install ) || die "PETSc did not build: the whole log is $prefix.log"
  rm -rf "${source:?}/$arch"; touch "$prefix/.done"
}

stack_debian() {
  local packages=(petsc-dev libpetsc3.18-dev-examples) kokkos=
  case $command in
    check) packages+=(python3-petsc4py python3-petsc4py-real3.18 python3-slepc4py python3-scipy valgrind python3-petsc4py-complex3.18 libpetsc-complex3.18-dev) ;; # the complex ones must be refused
    package) packages+=(python3-petsc4py python3-petsc4py-real3.18 python3-petsc4py-complex3.18 libpetsc-complex-dev debhelper dpkg-dev fakeroot debootstrap) ;;
  esac
  # Kokkos compiles while packages unpack; what that may spoil is tried again by itself.
  if [ -z "${Kokkos_ROOT:-}" ]; then (kokkos_static) 9>&- & kokkos=$!; fi
  (need_packages "${packages[@]}") || { wait; exit 1; }
  [ -z "$kokkos" ] || wait "$kokkos" || true
  own_petsc
}

# Debian's PETSc with 64-bit indices stands beside its default one, which stays the default.
stack_debian64() {
  need_packages libpetsc64-real3.18-dev libpetsc3.18-dev-examples
  export PETSC_ARCH= PETSC_DIR
  PETSC_DIR=$(ls -d /usr/lib/petscdir/petsc64-3.18/*-real)
  own_petsc
}

# So does the one with complex scalars.
stack_debian_complex() {
  local packages=(libpetsc-complex3.18-dev libpetsc3.18-dev-examples)
  case $command in
    check) packages+=(python3-petsc4py-complex3.18 python3-slepc4py-complex3.18 python3-scipy) ;;
    package) packages+=(python3-petsc4py-complex3.18 python3-petsc4py-real3.18) ;;
  esac
  need_packages "${packages[@]}"
  export PETSC_ARCH= PETSC_DIR
  PETSC_DIR=$(ls -d /usr/lib/petscdir/petsc3.18/*-complex)
  own_petsc
}

# What PETSc's configure calls real, complex or single scalars.
scalars_option() { if [ "$1" = single ]; then echo --with-precision=single; else echo "--with-scalar-type=$1"; fi; }

# stack_petsc real|complex|single: PETSc's newest release, built with debugging so that PETSc checks our calls.
stack_petsc() {
  local prefix=$cache/petsc-3.26.1-debug
  [ "$1" = real ] || prefix+=-$1
  need_packages libopenmpi-dev openmpi-bin libopenblas-dev
  [ -f "$prefix/.done" ] || say "building PETSc 3.26.1 with debugging and $1 scalars (3 to 5 minutes on two cores)"
  petsc_build "$prefix" --with-debugging=1 "$(scalars_option "$1")" --with-blaslapack-lib=-lopenblas
  export PETSC_DIR=$prefix PETSC_ARCH=
  kokkos_static
}

# The name that Kokkos 4.5.01 has for a CUDA architecture.
kokkos_cuda_arch() {
  case $1 in
    70) echo VOLTA70 ;; 75) echo TURING75 ;; 80) echo AMPERE80 ;; 86) echo AMPERE86 ;; 89) echo ADA89 ;; 90) echo HOPPER90 ;;
    *) die "Kokkos 4.5.01 knows no CUDA architecture '$1': --arch takes 70, 75, 80, 86, 89 or 90; for a newer one build Kokkos and PETSc yourself and set PETSC_DIR" ;;
  esac
}

# kokkos_shared PREFIX LOG COMPILER FLAGS KOKKOS-OPTION…: Kokkos and Kokkos Kernels as shared libraries, for PETSc and Weft to have in common.
# COMPILER may be nvcc_wrapper, Kokkos' own.
kokkos_shared() {
  local prefix=$1 log=$2 compiler=$3 of_kernels=$3 flags=$4 source; shift 4
  [ ! -f "$prefix/.done" ] || return 0
  source=$(unpack "$kokkos_source")
  [ "$compiler" != nvcc_wrapper ] || compiler=$source/kokkos/bin/nvcc_wrapper of_kernels=$prefix/bin/nvcc_wrapper
  local common=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON "-DCMAKE_CXX_FLAGS=$flags" -DCMAKE_CXX_STANDARD=20
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib) without=() library
  for library in CUBLAS CUSPARSE CUSOLVER ROCBLAS ROCSPARSE ROCSOLVER; do without+=("-DKokkosKernels_ENABLE_TPL_$library=OFF"); done
  rm -rf "$prefix.build"
  quietly "$log" cmake -S "$source/kokkos" -B "$prefix.build/kokkos" "${common[@]}" -DCMAKE_CXX_COMPILER="$compiler" -DKokkos_ENABLE_SERIAL=ON \
    -DKokkos_ENABLE_COMPLEX_ALIGN=OFF "$@" && # PETSc's complex numbers are std::complex, aligned as one real number
    quietly "$log" ninja -C "$prefix.build/kokkos" install &&
    quietly "$log" cmake -S "$source/kokkos-kernels" -B "$prefix.build/kernels" "${common[@]}" -DCMAKE_CXX_COMPILER="$of_kernels" \
      -DKokkos_ROOT="$prefix" -DKokkosKernels_ADD_DEFAULT_ETI=OFF -DKokkosKernels_ENABLE_TESTS=OFF -DKokkosKernels_ENABLE_PERFTESTS=OFF \
      -DKokkosKernels_ENABLE_EXAMPLES=OFF "${without[@]}" &&
    quietly "$log" ninja -C "$prefix.build/kernels" install || die "Kokkos did not build: the whole log is $log"
  rm -rf "$prefix.build"; touch "$prefix/.done"
}

# stack_cuda real|complex|single: PETSc with CUDA and Kokkos, one shared Kokkos for both, and for PETSc of all scalars.
# $arch is the CUDA architecture, 90 for Hopper.
stack_cuda() {
  need_packages libopenmpi-dev openmpi-bin libopenblas-dev
  command -v nvcc > /dev/null || die "no nvcc on the PATH: install the CUDA toolkit (12.2 or newer), or take another stack with --stack"
  local cuda; cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
  local prefix=$cache/cuda-sm_$arch
  local petsc=$prefix; [ "$1" = real ] || petsc+=-$1
  local header=$prefix.parts/include/kokkos_cuda13.h
  export PETSC_DIR=$petsc PETSC_ARCH= Kokkos_ROOT=$prefix.kokkos
  [ ! -f "$petsc/.done" ] || return 0
  say "building Kokkos, Kokkos Kernels and PETSc with CUDA for sm_$arch and $1 scalars (about 10 minutes on two cores)"
  rm -rf "$prefix.parts"; mkdir -p "$prefix.parts/include" "$prefix.parts/lib/stubs" "$prefix.parts/wheel"
  cp cmake/kokkos_cuda13.h "$header"
  # PETSc's configure asks for NVML: its header, and something to link where no driver is installed. The driver's own is found at run time.
  local nvml=() flags="-arch=sm_$arch -include $header"
  if [ ! -f "$cuda/include/nvml.h" ]; then
    ( cd "$prefix.parts/wheel"; unzip -qo "$(fetch "$nvml_header" binary)"; cp nvidia/cu13/include/nvml.h ../include/ )
    nvml=(CPPFLAGS="-I$prefix.parts/include" CUDAPPFLAGS="-I$prefix.parts/include")
  fi
  printf '%s\n' 'int nvmlInit_v2(void){return 999;} int nvmlShutdown(void){return 999;} int nvmlDeviceGetHandleByIndex_v2(unsigned i,void*d){return 999;}' \
    'int nvmlDeviceGetTotalEnergyConsumption(void*d,unsigned long long*e){return 999;} const char*nvmlErrorString(int e){return "no driver";}' |
    gcc -x c -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$prefix.parts/lib/stubs/libnvidia-ml.so" -
  kokkos_shared "$prefix.kokkos" "$prefix.log" nvcc_wrapper "$flags" -DKokkos_ENABLE_CUDA=ON "-DKokkos_ARCH_$(kokkos_cuda_arch "$arch")=ON"
  [ -z "$kernels_only" ] || return 0
  petsc_build "$petsc" --with-debugging=0 "$(scalars_option "$1")" COPTFLAGS=-O3 CXXOPTFLAGS=-O3 CUDAOPTFLAGS=-O3 --with-blaslapack-lib=-lopenblas \
    --with-cuda=1 --with-cuda-dir="$cuda" --with-cuda-arch="$arch" --with-cxx-dialect=20 --with-cuda-dialect=20 \
    --with-kokkos-dir="$prefix.kokkos" --with-kokkos-kernels-dir="$prefix.kokkos" \
    "CUDAFLAGS+=-include $header -I$prefix.parts/include" "${nvml[@]}" "LDFLAGS=-L$prefix.parts/lib/stubs -L$cuda/lib64/stubs"
}

# The name that Kokkos 4.5.01 has for an AMD architecture.
kokkos_hip_arch() {
  case $1 in
    gfx90a | gfx942 | gfx1100) echo "AMD_${1^^}" ;;
    *) die "--stack hip takes --arch gfx90a, gfx942 or gfx1100, not '$1'; for another one build Kokkos and PETSc yourself and set PETSC_DIR" ;;
  esac
}

# Whether a hipcc is here that knows every --arch: of ROCm 5.7 or newer.
has_hipcc() {
  local version
  version=$(hipcc --version 2> /dev/null | sed -n 's/^HIP version: *\([0-9]*\.[0-9]*\).*/\1/p')
  [ -n "$version" ] && [ "$(printf '%s\n' 5.7 "$version" | sort -V | head -n 1)" = 5.7 ]
}

# Whether this system has a package of such a hipcc.
offers_hipcc() {
  local version
  version=$(apt-cache policy hipcc 2> /dev/null | sed -n 's/^ *Candidate: *//p')
  [[ $version == [0-9]* ]] && dpkg --compare-versions "$version" ge 5.7
}

# PETSc with HIP and Kokkos, one shared Kokkos for both, by the ROCm on the PATH, else by Debian 13's. $arch is the AMD architecture.
stack_hip() {
  need_packages libopenmpi-dev openmpi-bin libopenblas-dev
  local packages=(hipcc libamdhip64-dev librocthrust-dev) # kernels need none of AMD's libraries, which are several gigabytes
  [ -n "$kernels_only" ] || packages+=(libhipblas-dev libhipsparse-dev libhipsolver-dev librocblas-dev librocsparse-dev librocsolver-dev librocrand-dev)
  # A ROCm on the PATH has its own.
  if ! has_hipcc || [ "$(readlink -f "$(command -v hipcc)")" = /usr/bin/hipcc ]; then need_packages "${packages[@]}"; fi
  has_hipcc || die "no hipcc of ROCm 5.7 or newer is on the PATH, and this system has no package of one: install ROCm, or take another stack with --stack"
  local prefix=$cache/hip-$arch
  export PETSC_DIR=$prefix PETSC_ARCH= Kokkos_ROOT=$prefix.kokkos
  if [ ! -f "$prefix.kokkos/.done" ]; then say "building Kokkos and Kokkos Kernels with HIP for $arch (about 2 minutes on two cores)"; fi
  kokkos_shared "$prefix.kokkos" "$prefix.log" "$(command -v hipcc)" "" -DKokkos_ENABLE_HIP=ON "-DKokkos_ARCH_$(kokkos_hip_arch "$arch")=ON"
  if [ -n "$kernels_only" ] || [ -f "$prefix/.done" ]; then return 0; fi
  say "building PETSc with HIP for $arch (about 12 minutes on two cores)"
  # PETSc's configure reads ROCm's version in a header that Debian's packages lack.
  local rocm version include=()
  rocm=$(dirname "$(dirname "$(command -v hipcc)")")
  if [ ! -f "$rocm/include/rocm-core/rocm_version.h" ]; then
    version=$(hipcc --version | sed -n 's/^HIP version: *\([0-9.]*\).*/\1/p')
    mkdir -p "$prefix.parts/rocm-core"
    printf '#define ROCM_VERSION_%s\n' "MAJOR ${version%%.*}" "MINOR $(cut -d. -f2 <<< "$version")" 'PATCH 0' > "$prefix.parts/rocm-core/rocm_version.h"
    include=("HIPPPFLAGS=-I$prefix.parts" "CPPFLAGS=-I$prefix.parts" "CXXPPFLAGS=-I$prefix.parts")
  fi
  petsc_build "$prefix" --with-debugging=0 COPTFLAGS=-O3 CXXOPTFLAGS=-O3 HIPOPTFLAGS=-O3 --with-blaslapack-lib=-lopenblas \
    --with-hip=1 --with-hip-arch="$arch" --with-cxx-dialect=20 --with-hip-dialect=20 \
    --with-kokkos-dir="$prefix.kokkos" --with-kokkos-kernels-dir="$prefix.kokkos" "${include[@]}"
}

# in_debian_13 COMMAND…: runs it in a Debian 13 in a folder of the cache, made once, in which this folder and the cache are where they are here.
# For what this system has no package of. Needs root; ends this script with the command's exit status.
in_debian_13() {
  local root=$cache/debian-13 mirror
  need_packages debootstrap
  if [ ! -f "$root/.done" ]; then
    say "making a Debian 13 in $root (about a minute)"
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/debian* 2> /dev/null | head -n 1 || true)
    rm -rf --one-file-system "$root"
    quietly "$cache/debian-13.log" debootstrap --variant=minbase --include=ca-certificates trixie "$root" "${mirror:-http://deb.debian.org/debian}" ||
      die "debootstrap could not make a Debian 13 (no network?): the whole log is $cache/debian-13.log"
    touch "$root/.done"
  fi
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  ! [ -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  mkdir -p "$root$PWD" "$root$cache"
  exec 9>&- # its own run takes the lock
  # Mounts of a name space of their own end with it. A compiler's launcher (ccache) of this system is not in that one.
  exec unshare --mount bash -c 'root=$1 cache=$2; shift 2
    mount --bind "$PWD" "$root$PWD" && mount --bind "$cache" "$root$cache" && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit
    exec chroot "$root" env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER -C "$PWD" WEFT_CACHE="$cache" PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' mounts "$root" "$cache" "$@"
}

# The PETSc that the user points at, by PETSC_DIR (and PETSC_ARCH) or else by pkg-config: CMake reads the same variables.
# Sets conf, its petscconf.h.
own_petsc() {
  if [ -n "${PETSC_DIR:-}" ]; then
    conf=$PETSC_DIR/${PETSC_ARCH:+$PETSC_ARCH/}include/petscconf.h
    [ -f "$conf" ] || die "PETSC_DIR=$PETSC_DIR${PETSC_ARCH:+ with PETSC_ARCH=$PETSC_ARCH} holds no include/petscconf.h: point both at a built PETSc, or unset them"
  else
    conf=$(pkg-config --variable=includedir PETSc 2> /dev/null || true)/petscconf.h
    [ -f "$conf" ] || die "no PETSc was found: set PETSC_DIR (and PETSC_ARCH) to one, or let pkg-config find it, or take one that is built for you with --stack petsc-3.26"
  fi
  # Whose Kokkos: PETSc's own if it has one, else the one the user names, else a private one.
  grep -q 'define PETSC_HAVE_KOKKOS 1' "$conf" || [ -n "${Kokkos_ROOT:-}" ] || kokkos_static
}
