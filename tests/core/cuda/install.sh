#!/bin/sh
# Installs joist with the stand-in of host/ for CUDA, so that R code for GPUs can be tried
# without one:
#
#   sh tests/core/cuda/install.sh SOURCE LIBRARY
#
# SOURCE is a copy of the tree that may be changed; "cuda:0" and "cuda:1" are then there, and
# are the CPU. CXX is the C++ compiler for the kernels.
source=$1
library=$2
[ -d "$source/src/cuda" ] && [ -n "$library" ] || {
  echo "usage: sh install.sh SOURCE LIBRARY" >&2
  exit 2
}
mkdir -p "$library" || exit 1
library=$(cd "$library" && pwd)
cd "$source" || exit 1
cp -R tests/core/cuda/host src/cuda_host || exit 1
rm src/cuda/host/loader.c || exit 1
sh configure --with-cuda=no || exit 1
(cd src && sh cuda/kernels/embed.sh >cuda/kernels/source_text.c) || exit 1
kernels=$(cd src && find cuda -name '*.cu' | LC_ALL=C sort)
objects=
for file in $(cd src && find cuda -name '*.c' | LC_ALL=C sort) $kernels; do
  objects="$objects ${file%.*}.o"
done
objects="$objects cuda_host/runtime.o cuda_host/launch.o"
# configure takes every C file it sees, but those in cuda; those of the stand-in are among
# them. Its cuBLAS is left out: products are joist's own.
sed -e 's/-DJOIST_CUDA_BUILT=0/-DJOIST_CUDA_BUILT=1 -Icuda_host -DJOIST_HOST_INCLUDES="\\"\\""/' \
  -e 's/-DJOIST_NVCC_FOUND=0/-DJOIST_NVCC_FOUND=1/' \
  -e 's| cuda_host/cublas.o||' -e 's| cuda_host/runtime.o||' \
  -e "s|^OBJECTS = |OBJECTS =$objects |" \
  -e 's/^PKG_LIBS = /PKG_LIBS = -lstdc++ -ldl /' src/Makevars >src/Makevars.host || exit 1
echo "CXX_HOST = ${CXX:-c++}" >>src/Makevars.host
cat >>src/Makevars.host <<'END'

all: $(SHLIB)

cuda_host/launch.o: cuda_host/launch.cpp
	$(CXX_HOST) -std=c++17 -O1 -fPIC -Icuda_host -I. -c cuda_host/launch.cpp -o $@
END
for file in $kernels; do
  printf '\n%s.o: %s\n\t%s -c %s -o $@\n' "${file%.cu}" "$file" \
    '$(CXX_HOST) -std=c++17 -O1 -fPIC -ffp-contract=off -fno-strict-aliasing -Icuda_host -I. -x c++' \
    "$file" >>src/Makevars.host || exit 1
done
mv src/Makevars.host src/Makevars || exit 1
R CMD INSTALL --no-configure --no-docs --library="$library" .
