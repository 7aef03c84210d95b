#!/bin/sh
# Builds sweep-limit with the core's own draws, as R compiles a package for users. Prints what
# could not be had.
set -eu
cd "$(dirname "$0")"
mkdir -p .cache
core=../src/core
[ -d $core ] || { echo "The source of the core is needed."; exit 1; }
eigen=$(Rscript --vanilla -e 'cat(system.file("include", package = "RcppEigen"))')
parts="$core/base/params.cpp $core/likelihood/*.cpp $core/random/*.cpp $core/special/*.cpp
  $core/linalg/kernels.cpp $core/integral/*.cpp $core/integral/*/*.cpp"
newest=$(ls -t sweep-limit.cpp $parts $core/*/*.hpp $core/*/*/*.hpp | head -n 1)
[ .cache/sweep-limit -nt "$newest" ] ||
  "${CXX:-g++}" -std=c++17 -O2 -w -I$core -isystem "$eigen" sweep-limit.cpp $parts \
    -o .cache/sweep-limit >.cache/sweep-limit.log 2>&1 ||
  { echo "sweep-limit.cpp did not compile: see bench/.cache/sweep-limit.log."; exit 1; }
