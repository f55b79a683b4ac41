# ./weft package sources this file once everything is built in $build: it makes the packages there and tries each in a clean place.

packages_folder=$PWD/$build/packages
log=$packages_folder/package.log
mkdir -p "$packages_folder"; rm -f "$log" "$packages_folder"/*.whl "$packages_folder"/*.deb

# The wheel holds the library that was just built: scikit-build-core works in the same build folder.
make_wheel() {
  local tools=$packages_folder/tools tag=()
  # Wheels for real and for complex scalars have the same name but for this.
  [ "$(sh "$build/install/weft-config" --scalars)" = real ] || tag=(--config-settings=wheel.build-tag=1complex)
  say "making the wheel"
  [ -x "$tools/bin/scikit-build" ] || quietly "$log" "$python" -m venv "$tools" && quietly "$log" "$tools/bin/pip" install 'scikit-build-core>=0.10' ||
    die "scikit-build-core could not be installed (no network?): the whole log is $log"
  quietly "$log" "$tools/bin/pip" wheel . --no-deps --no-build-isolation -w "$packages_folder" \
    --config-settings=build-dir="$PWD/$build" --config-settings=cmake.define.WEFT_EXAMPLES=ON --config-settings=cmake.define.Python3_EXECUTABLE="$python" "${tag[@]}" ||
    die "the wheel was not built: the whole log is $log"
}

# From a copy of the tree, as Debian's tools want it: their compiler flags are others, so everything is built again; by a compiler's cache
# only what it has not met with these flags.
make_debian() {
  local version folder
  version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  folder=$packages_folder/weft-$version
  case " ${DEB_BUILD_PROFILES:-} " in
    *' pkg.weft.nocomplex '*) say "making the Debian packages (builds everything with Debian's flags), without the one for complex scalars" ;;
    *) say "making the Debian packages (builds everything with Debian's flags, once for real and once for complex scalars)" ;;
  esac
  rm -rf "$folder"; mkdir -p "$folder"
  tar --exclude=./build --exclude=./.git --exclude=__pycache__ -c . | tar x -C "$folder"
  ln -s packaging/debian "$folder/debian"
  ( cd "$folder" && DEB_BUILD_OPTIONS="parallel=$jobs ${DEB_BUILD_OPTIONS:-}" quietly "$log" dpkg-buildpackage -b -us -uc ) ||
    die "the Debian packages were not built: the whole log is $log"
  if command -v lintian > /dev/null; then lintian --allow-root --fail-on error "$packages_folder"/*.changes; else say "no lintian here: the packages were not checked by it"; fi
}

make_wheel
[ "$stack" != debian ] || make_debian
say "trying them" # the other tests of that folder are of the build, and ./weft check runs them
WEFT_PACKAGES=$packages_folder WEFT_BUILD=$PWD/$build WEFT_SOURCE=$PWD WEFT_PYTHON=$python WEFT_PETSC_VERSION=$petsc \
  WEFT_PETSC_PKGCONFIG=$(sed -n 's/^WEFT_PETSC_FOUND_IN:STRING=//p' "$build/CMakeCache.txt") PYTHONPATH=$PWD/tests PYTHONDONTWRITEBYTECODE=1 \
  "$python" -m pytest -q -p no:cacheprovider tests/package/test_{debian,spack,wheel}.py || die "a package does not work: see above"
say "made $(cd "$packages_folder" && ls ./*.whl ./*.deb 2> /dev/null | tr '\n' ' ')in $build/packages"
