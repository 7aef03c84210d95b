#!/bin/sh
# Runs tests and closes with one line: N passed, N failed, N skipped.
# Counted are the test cases of the core's programs and the expectations of testthat.
#
# BSVM_TESTS=short: the core's program, and the test files that are not long
# BSVM_TESTS=long: the core's program under sanitizers, and the test files that are
# BSVM_TESTS=extended: only test files that have extended tests; without it all there is

logs=_build/logs${BSVM_TESTS:+/$BSVM_TESTS}
rm -rf $logs
mkdir -p $logs

ended() {  # ended <command ...>: with a last line that says how
  "$@" 2>&1
  printf '\nexit status %s\n' $?
}

run() {  # run <log> <command ...>: shows the output and keeps it
  log=$logs/$1.log
  shift
  ended "$@" </dev/null | tee "$log"
}

# A program that fails without saying how many, or without a closing line, is one failure. A run of
# one file of the core calls all other cases skipped: those are that no run in the log had.
count() {
  awk '
    FNR == 1 { skipped += cases - had; cases = had = 0 }
    /^\[doctest\] test cases:|^\[testthat\]/ {
      closed = 1
      for (i = 2; i <= NF; i++) {
        if ($i == "passed") passed += $(i - 1)
        if ($i == "failed") here += $(i - 1)
        if ($i == "skipped") skips = $(i - 1)
      }
      if ($1 == "[testthat]") skipped += skips
      else { cases = $4 + skips; had += $4 }
    }
    /^exit status / {
      if (here == 0 && ($3 != 0 || !closed)) here = 1
      failed += here; here = 0; closed = 0
    }
    END {
      skipped += cases - had
      printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
      exit failed > 0
    }' "$@"
}

jobs=$(nproc)
R_LIBS="$PWD/_build/library:$(Rscript -e 'cat(.libPaths(), sep = ":")')"
export R_LIBS

# The core's programs run beside what follows, each on one processor.
core="make --no-print-directory -j$jobs -C tests/core"

# One of their tests is on real data, which R has and C++ reads.
export BSVM_TOENAIL="$PWD/_build/toenail.csv"
core_data() {
  Rscript -e 'with(HSAUR3::toenail, write.csv(
    data.frame(patient = patientID, month = time, terbinafine = as.integer(treatment) - 1L,
               y = as.integer(outcome) - 1L),
    Sys.getenv("BSVM_TOENAIL"), row.names = FALSE, quote = FALSE))'
}

build_core() {  # build_core <program> ...: an older one must not pass for what cannot be built
  core_data
  $core "$@" </dev/null || rm -f "tests/core/$1"
}

plain_core() {
  build_core build/package/run PACKAGE="$PWD/_build/bsvm"
  ended tests/core/build/package/run </dev/null >$logs/core-plain.log &
}

# A process a processor, which takes the next file, large ones first: it is the last to end.
sanitized_core() {
  build_core build/sanitized/run
  mkdir $logs/sanitized
  for process in $(seq "$jobs"); do
    sanitized_files >"$logs/sanitized-$process.log" &
  done
}

sanitized_files() {
  for file in $(cd tests/core && ls -S test_*.cpp); do
    mkdir "$logs/sanitized/$file" 2>/dev/null || continue
    ended env BSVM_SANITIZED=true tests/core/build/sanitized/run --no-intro --source-file="*$file" </dev/null
  done
}

# Suggested packages are nothing to the core.
case "$BSVM_TESTS$BSVM_BARE" in
  short) plain_core ;;
  long) sanitized_core ;;
  "") plain_core; sanitized_core ;;
esac

# The test that adds a prior compiles it next to the objects of the unpacked package. Each process
# takes the next file; the first one's output is shown as it comes.
export NOT_CRAN=true BSVM_SOURCE="$PWD/_build/bsvm" MAKEFLAGS="-j$jobs"
mkdir $logs/taken
others=$(seq 2 "$jobs")
for process in $others; do
  ended Rscript tools/testthat.R $logs/taken </dev/null >"$logs/testthat-$process.log" &
done
run testthat-1 Rscript tools/testthat.R $logs/taken

wait
for process in $others; do cat "$logs/testthat-$process.log"; done
[ -d $logs/sanitized ] && cat $logs/sanitized-*.log >$logs/core-sanitized.log
cat $logs/core-*.log 2>/dev/null
[ "$BSVM_EXTENDED_TESTS" = true ] && Rscript tools/extended.R
echo
count $(ls $logs/core-*.log 2>/dev/null) $logs/testthat-*.log
