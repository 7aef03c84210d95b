#!/bin/sh
# Builds sweep-limit with the core's own draws, as R compiles a package for users. Prints what
# could not be had.
set -eu
cd "$(dirname "$0")"
mkdir -p .cache
core=../src/core
[ -d $core ] || { echo "The source of the core is needed."; exit 1; }
eigen=$(Rscript --vanilla -e 'cat(system.file("include", package = "RcppEigen"))')
newest=$(ls -t sweep-limit.cpp $core/*.?pp $core/likelihood/* $core/random/* | head -n 1)
[ .cache/sweep-limit -nt "$newest" ] ||
  "${CXX:-g++}" -std=c++17 -O2 -w -I$core -isystem "$eigen" sweep-limit.cpp $core/params.cpp \
    $core/likelihood/*.cpp $core/random/*.cpp $core/special/*.cpp -o .cache/sweep-limit
