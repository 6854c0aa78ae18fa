# What the tools and bench/run share. Sourced with the working folder at the root of the tree.

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

# install_locally TOOL: builds the package in $local/stage, a folder under $root, and puts it into
# $local/library, where R finds it from then on. Ends the tool that cannot do without it.
install_locally() {
  shown=${local#"$root/"}
  echo "== Building and installing joist into $shown/library (log: $shown/install.log)"
  if ! stage "$local/stage" || ! mkdir -p "$local/library" ||
    ! R CMD INSTALL --library="$local/library" "$local/stage" >"$local/install.log" 2>&1; then
    tail -n 40 "$local/install.log" >&2
    echo "$1: the package does not install" >&2
    exit 1
  fi
  R_LIBS=$local/library${R_LIBS:+:$R_LIBS}
  export R_LIBS
}
