#!/bin/sh
# Unpacks Debian's OpenBLAS into bench/.cache without installing it, so that the BLAS that R
# uses stays what it is, and builds the program that times it. Prints what could not be had.
set -eu
cd "$(dirname "$0")"
mkdir -p .cache && cd .cache

library() { find . -name 'libopenblasp-*.so' -type f 2>/dev/null | head -n 1; }

if [ -z "$(library)" ]; then
  command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
    { echo "OpenBLAS needs apt-get and dpkg (Debian or Ubuntu)."; exit 1; }
  apt-get download libopenblas0-pthread >download.log 2>&1 ||
    { echo "OpenBLAS could not be downloaded (apt-get download libopenblas0-pthread)."; exit 1; }
  dpkg -x libopenblas0-pthread_*.deb openblas
fi
ln -sf "$(library)" libopenblas-bench.so
[ blas-limit -nt ../blas-limit.cpp ] ||
  "${CXX:-g++}" -std=c++17 -O2 ../blas-limit.cpp -o blas-limit -ldl
