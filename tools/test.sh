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

# A program that fails without saying how many, or without a closing line, is one failure.
count() {
  awk '
    /^\[doctest\] test cases:|^\[testthat\]/ {
      closed = 1
      for (i = 2; i <= NF; i++) {
        if ($i == "passed") passed += $(i - 1)
        if ($i == "failed") here += $(i - 1)
        if ($i == "skipped") skipped += $(i - 1)
      }
    }
    /^exit status / {
      if (here == 0 && ($3 != 0 || !closed)) here = 1
      failed += here; here = 0; closed = 0
    }
    END {
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

plain_core() {
  core_data
  $core build/package/run PACKAGE="$PWD/_build/bsvm" </dev/null
  ended tests/core/build/package/run </dev/null >$logs/core-plain.log &
}

sanitized_core() {
  core_data
  $core build/sanitized/run </dev/null
  ended $core sanitized </dev/null >$logs/core-sanitized.log &
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
cat $logs/core-*.log 2>/dev/null
[ "$BSVM_EXTENDED_TESTS" = true ] && Rscript tools/extended.R
echo
count $(ls $logs/core-*.log 2>/dev/null) $logs/testthat-*.log
