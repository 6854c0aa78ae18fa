# What tools/demo and tools/test share. Sourced with the working folder at the root of the tree.

# The same results whatever the caller's locale and time zone are.
LC_ALL=C.UTF-8
TZ=${TZ:-UTC}
export LC_ALL TZ
unset R_TESTS

cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
MAKEFLAGS=-j$cores
export MAKEFLAGS

# stage FOLDER: a copy of the source tree without anything built, so that building
# leaves no object files among the sources.
stage() {
  rm -rf "$1"
  mkdir -p "$1" || return 1
  tar -cf - --exclude=./.git --exclude=./local --exclude=./tests/core/build \
    --exclude='*.o' --exclude='*.so' --exclude=./src/Makevars --exclude='*.Rcheck' . |
    tar -xf - -C "$1"
}

# install_package SOURCE LIBRARY: SOURCE is a folder or an archive.
install_package() {
  mkdir -p "$2" || return 1
  R CMD INSTALL --library="$2" "$1"
}
