# The newcomer's door: each of these starts from R and g++ and installs what else is missing.
#
#   make demo      the first analysis of the README: a fit, its picture, a comparison
#   make test      tests of every kind, in a quarter of an hour; the last line is
#                  "N passed, N failed, N skipped"
#   make test-long       those that take longer, and the core's tests under sanitizers
#   make test-extended   coverage, calibration, a million rows: an hour or two
#   make test-bare       the tests in R without any suggested package
#   make mutants   are planted faults noticed? About an hour; tools/mutants.R
#   make check     R CMD check --as-cran on the built package
#   make bench     time and accuracy beside other packages
#   make document  writes man/, NAMESPACE and the Rcpp glue anew
#   make site      the web site of help pages and articles, in _build/site
#   make install   the package with its vignettes into your own R library

VERSION := $(shell sed -n 's/^Version: *//p' DESCRIPTION)
TARBALL := _build/bsvm_$(VERSION).tar.gz
CODE := DESCRIPTION NAMESPACE $(shell find R src man inst -type f ! -name '*.o' ! -name '*.so' ! -name 'unit_*')
SOURCES := $(CODE) .Rbuildignore $(shell find demo vignettes tests/testthat tests/testthat.R -type f)
CHECKED := _build/check/bsvm_$(VERSION).tar.gz
UNPACKED := _build/bsvm
VIGNETTES := $(wildcard vignettes/*.Rmd vignettes/*.rds) tools/vignettes.R
OWN_LIBRARY := R_LIBS="$(CURDIR)/_build/library:$$(Rscript -e 'cat(.libPaths(), sep = ":")')"
PICTURE := toenail.png

export R_MAKEVARS_USER := $(CURDIR)/tools/Makevars
QUIETLY := MAKEFLAGS="-s -j$(shell nproc)"

.NOTPARALLEL:
.PHONY: help demo test test-long test-extended test-bare mutants check bench document site install

help:
	@sed -n '3,14s/^# //p' Makefile

demo: setup-demo install
	@Rscript demo/toenail.R $(PICTURE)

test: setup-test _build/library/bsvm/DESCRIPTION
	@BSVM_TESTS=short sh tools/test.sh

test-long: setup-test _build/library/bsvm/DESCRIPTION
	@BSVM_TESTS=long sh tools/test.sh

test-extended: setup-test _build/library/bsvm/DESCRIPTION
	@BSVM_TESTS=extended BSVM_EXTENDED_TESTS=true sh tools/test.sh

test-bare: setup-test _build/library/bsvm/DESCRIPTION
	@BSVM_BARE=true sh tools/test.sh

mutants: setup-test
	@Rscript tools/mutants.R

# With R's own flags, as CRAN does. Their debug information names the folder, which would make ccache
# compile for the vignettes and for the check.
check: export R_MAKEVARS_USER := $(CURDIR)/tools/Makevars.check
check: export CCACHE_NOHASHDIR := true
check: setup-test $(CHECKED)
	@Rscript tools/check.R $(CHECKED)

bench: setup-bench install
	@Rscript bench/run.R

document: setup-document
	@Rscript tools/document.R

# Its help pages run their examples, its articles their code: with what the tests need.
site: setup-test setup-site _build/library/bsvm/DESCRIPTION
	@$(OWN_LIBRARY) Rscript tools/site.R _build/site

# R puts it into the first library of .libPaths(): yours. With every vignette, so that vignette() opens.
install: setup-install $(UNPACKED)/inst/doc/bsvm.html
	@$(QUIETLY) R CMD INSTALL $(UNPACKED)

$(UNPACKED)/inst/doc/bsvm.html: _build/library/bsvm/DESCRIPTION $(VIGNETTES)
	@$(OWN_LIBRARY) Rscript tools/vignettes.R $(UNPACKED)

setup-%:
	@Rscript tools/setup.R $*

$(TARBALL): $(SOURCES)
	@mkdir -p _build
	@cd _build && R CMD build --no-build-vignettes ..

# With its vignettes, for which it is installed once more.
$(CHECKED): $(SOURCES)
	@mkdir -p _build/check
	@cd _build/check && $(QUIETLY) R CMD build ../..

# Unpacked anew whenever the code changes, so objects are compiled once and never stale.
$(UNPACKED)/DESCRIPTION: $(CODE) | $(TARBALL)
	@rm -rf $(UNPACKED)
	@tar -C _build -xzmf $(TARBALL)

# The tests' own library, so that they never meet another copy of the package.
_build/library/bsvm/DESCRIPTION: $(UNPACKED)/DESCRIPTION
	@mkdir -p _build/library
	@$(QUIETLY) R CMD INSTALL --library=_build/library $(UNPACKED)
