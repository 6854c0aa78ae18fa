# Everything that must pass, one target per step. `sh tools/test` runs all of them from scratch.
#
#   make -f tools/test.mk core        run one step, after building what it needs
#   make -f tools/test.mk -j2 -k      run the steps of `sh tools/test`
#   make -f tools/test.mk names       print their names (with GOALS="all long", of all steps)
#   make -f tools/test.mk long        run the steps that take minutes to hours each
#
# tests/README.md says what each step tests. tools/step runs its command, which leaves a log in
# FOLDER/logs and its counts in FOLDER/results. Everything built is in FOLDER, local/test by default.

# Steps are started in this order as soon as what they depend on is built, long ones first.
steps := build sanitizers install testthat packages cuda check lint gradients core toolkit zarr \
  array-api serial tidy cuda-r configure living explorer control traced traced-gradients base layout arrow files narrow \
  numpy measured versions docs pages warnings rooms scripts verbs groups dlpack neighbours
long_steps := gradients-long tidy-long accuracy functions fuzz valgrind numbers loops trixie sid \
  large kills plans slurm calls faults interrupts races threads hours coverage verbs-long \
  neighbours-long groups-long batches-long ways traced-long traced-gradients-long signals
quick_steps := install-quick core-quick changed-quick testthat-quick
environments := $(addprefix local/python/,numpy-1.26.4 numpy-2.2.6 living array-api files zarr2 \
  zarr3 zarr3-newer buckets tensorstore arrow signals living-newer)
# A Python of 3.12 or later, by its name or of pyenv: NumPy 2.5, JAX 0.12 and zarr 3.4 need one.
newer := $(firstword $(foreach p,python3.14 python3.13 python3.12 \
  $(wildcard $(HOME)/.pyenv/versions/3.1[2-9].*/bin/python3),$(if $(shell $p -c '' 2>&1 || \
  echo fails),,$p)))

all: $(steps)
long: $(long_steps)
quick: $(quick_steps)
GOALS := all
names:
	@echo $(if $(filter all,$(GOALS)),$(steps)) $(if $(filter long,$(GOALS)),$(long_steps)) \
	  $(if $(filter quick,$(GOALS)),$(quick_steps))
.PHONY: all long quick names $(steps) $(long_steps) $(quick_steps) $(environments)

root := $(CURDIR)
FOLDER := local/test
work := $(root)/$(FOLDER)
library := $(work)/library
source := $(work)/source
archive := $(work)/joist_$(shell sed -n 's/^Version: *//p' DESCRIPTION).tar.gz
cores := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
# With ccache, the compilations that several steps share happen once.
cached := $(if $(shell command -v ccache),ccache )
nvcc := $(shell PATH=$$PATH:/usr/local/cuda/bin command -v nvcc)
# Without a GPU, nothing runs what nvcc compiles. From version 13 on, it can skip most optimizations,
# which take minutes.
nvcc_option := $(if $(wildcard /dev/nvidia0),,$(if $(nvcc),$(shell $(nvcc) --help | \
  grep -q Ofast-compile && echo --Ofast-compile=max)))
export root work library source archive cores cached
ifneq ($(cached),)
ifeq ($(R_MAKEVARS_USER),)
export R_MAKEVARS_USER := $(work)/Makevars
export CCACHE_NOHASHDIR := 1
endif
endif
# The steps share the processors: threads that wait must not spin.
export OMP_WAIT_POLICY := passive

# $(call step,NEEDS) COMMAND runs a step, or skips it if a program in NEEDS is missing.
step = sh tools/step $@ "$1 $(filter $(environments),$^)"
r := env R_LIBS=$(library)$(R_LIBS:%=:%) R --vanilla --no-echo
python = $(root)/local/python/$1/bin/python
# How the package is compiled, as far as it matters for the objects of the core.
shown_warnings := -Wall -Wextra
as_installed = $(cached)$(shell R CMD config CC) -I. -DNDEBUG -fopenmp -fvisibility=hidden \
  $(shell R CMD config CPICFLAGS) $(shell R CMD config CFLAGS) $(shown_warnings)
core = make -C tests/core CC="$(cached)cc" AS_INSTALLED="$(as_installed)" BUILD=$(work)/core
cuda = make -C tests/core/cuda CC="$(cached)cc" CXX="$(cached)c++" AS_INSTALLED="$(as_installed)" \
  BUILD=$(work)/cuda

# tools/test sets FIRST to what builds: other steps wait for it, because make goes through the list
# once and would start all of them before it came back to the steps that need the package.
$(filter-out build install sanitizers,$(steps) $(long_steps)): | $(FIRST)
$(filter-out install-quick core-quick,$(quick_steps)): | $(FIRST)

# A copy of the tree, without the objects of earlier builds.
$(work)/staged: $(shell find $(root)/* -path $(root)/local -prune -o -name build -prune -o \
  -name '*.o' -o -name '*.so' -o -print)
	@mkdir -p $(work)
	@rm -f $(work)/Makevars
	@printf '%s\n' "CC = $(cached)$$(R CMD config CC)" "CFLAGS += $(shown_warnings)" \
	  >$(work)/Makevars.new
	@mv $(work)/Makevars.new $(work)/Makevars
	@. tools/common.sh && stage $(source) && touch $@

# ---- the package ----

build: $(work)/built
$(work)/built: $(work)/staged
	@sh tools/step build "" sh tools/steps/build && touch $@

install: $(work)/installed
$(work)/installed: $(work)/built
	@sh tools/step install "" sh tools/steps/install $(if $(nvcc_option),$(nvcc) $(nvcc_option)) && touch $@

check: install
	@$(step) sh tools/steps/check

# Test files that load many other packages have a process of their own, so that collections of
# garbage in the others stay cheap.
package_files := (tensor-as_tensor|with-.*|tensor-base_r|chunked-delayed_array|promotion-explorer)
testthat_files = env NOT_CRAN=true $(r) -f tools/testthat.R --args $(source)/tests/testthat
testthat: install
	@$(step) $(testthat_files) '^(?!$(package_files)$$)'

packages: install
	@$(step) $(testthat_files) '^$(package_files)$$'

cuda-r: $(work)/staged
	@$(call step,c++) sh tools/steps/cuda-r

docs: install
	@$(step) sh tools/steps/docs

pages:
	@$(call step,R) $(r) -f tools/pages.R

lint: install
	@$(step) $(r) -f tools/lint.R

# ---- a minute ----

# Installed without help pages and vignettes.
install-quick: $(work)/installed-quick
	@test -f $(work)/results/install-quick || echo 1 0 0 >$(work)/results/install-quick
$(work)/installed-quick: $(work)/staged
	@mkdir -p $(library)
	@sh tools/step install-quick "" env JOIST_CUDA=no R CMD INSTALL --no-docs --no-test-load \
	  --library=$(library) $(source) && touch $@

# One file for each subject, which CRAN runs, too.
testthat-quick: install-quick
	@$(step) $(testthat_files) "^($$(paste -s -d '|' tests/testthat/quick.txt))$$"

changed-quick: install-quick
	@$(step) sh tools/steps/changed $(r)

# As without tools/test, where make knows what to compile again.
core_quick = make -C tests/core CC="$(cached)cc" BUILD=$(work)/core LDFLAGS=-Wl,-S
core-quick-built:
	@mkdir -p $(work) && $(core_quick) >$(work)/core.log 2>&1

core-quick: | core-quick-built
	@COUNTS="core tests" $(step) env JOIST_TEST_WIDEST=1 $(core_quick) check
.PHONY: core-quick-built

# ---- the C code ----

# Without the debugging information of R's flags, which takes longer to link than the rest.
core:
	@COUNTS="core tests" $(step) $(core)-plain LDFLAGS=-Wl,-S check

sanitizers:
	@$(step) env UBSAN_OPTIONS=print_stacktrace=1 $(core)-sanitize SANITIZE=1 check

# As a compiler without OpenMP builds it, where everything still runs, on one thread.
serial:
	@$(step) $(core)-serial OPENMP=0 LDFLAGS=-Wl,-S check

# The CUDA device on the CPU, against a stand-in for the runtime.
cuda:
	@COUNTS="core tests" $(call step,c++) $(cuda) check

# Without a GPU everything compiles and links, and NVRTC compiles the source generated, unless it has
# compiled the same before. What is compiled for the GPU of this machine is not cached.
toolkit:
	@NOTE="cuda: skipped" $(call step,$(or $(nvcc),nvcc)) env PATH="$$PATH:$(dir $(nvcc))" \
	  $(cuda)-toolkit QUICK=$(nvcc_option) NVCC_LAUNCHER="$(if $(wildcard /dev/nvidia0),,$(cached))" \
	  NVRTC_KEPT=$(root)/local/nvrtc/$(if $(nvcc),$(shell $(nvcc) --version | cksum | tr ' ' -)) gpu nvrtc

configure:
	@$(step) sh -c '. tools/common.sh && stage $$0 && sh tests/configure.sh $$0' $(work)/configured

# The core's warnings are errors in its own tests, with more of them; these are those of all files.
warnings: install
	@$(step) sh -c '! grep -A 5 -i "warning:" $(work)/install.log'

tidy:
	@$(step) sh tools/steps/tidy 20000

tidy-long:
	@$(step) sh tools/steps/tidy 225000

layout:
	@$(step) sh tools/steps/layout

rooms:
	@$(step) sh tools/rooms

scripts:
	@$(step) sh tools/steps/scripts

# ---- beside base R, and other libraries ----

local/python/numpy-1.26.4: requires := numpy==1.26.4
local/python/numpy-2.2.6: requires := numpy==2.2.6
# After changing the version of JAX, record its answers again: see tests/gradients/programs.R.
local/python/living: requires := numpy==2.4.6 jax==0.10.2 ml_dtypes==0.6.0 array-api-strict==2.6.1
local/python/living-newer: requires := numpy==2.5.5 jax==0.12.0.1 ml_dtypes==0.6.0 \
  array-api-strict==2.6.1
local/python/array-api: requires := pytest==9.2.0 pytest-json-report==1.5.0 \
  hypothesis==6.170.15 ndindex==1.10.1
local/python/signals: requires := numpy==2.4.6 scipy==1.17.1 ml_dtypes==0.6.0
local/python/files: requires := numpy==2.4.6 ml_dtypes==0.6.0 safetensors==0.8.0
local/python/zarr2: requires := zarr==2.18.7 numcodecs==0.15.1 numpy==1.26.4
local/python/zarr3: requires := zarr==3.1.6 numpy==2.4.6 dask==2026.8.0 xarray==2026.9.0
local/python/zarr3-newer: requires := zarr==3.4.2 numpy==2.5.5 dask==2026.8.0 xarray==2026.9.0
local/python/buckets: requires := moto[s3,server]==5.2.5 zarr==3.1.6 obstore==0.12.1
local/python/tensorstore: requires := numpy==2.4.6 ml_dtypes==0.6.0 tensorstore==0.1.84
local/python/arrow: requires := numpy==2.4.6 pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0
$(environments):
	@PYTHON=$(if $(filter %-newer,$@),$(newer)) sh tools/steps/environment $@ $(requires)

base: install
	@$(step) $(r) -f tests/base/random_calls.R --args 3000

control: install
	@$(step) $(r) -f tests/base/random_control_flow.R --args 120 1001

traced: install
	@$(step) $(r) -f tests/traced/programs.R --args 1500 1 3

# With seeds that no earlier run had.
traced-long: install
	@$(step) $(r) -f tests/traced/programs.R --args 0 1 10 20000

traced-gradients: install
	@$(step) $(r) -f tests/traced/gradients.R --args 300 1 3

traced-gradients-long: install
	@$(step) $(r) -f tests/traced/gradients.R --args 0 1 10 5000

numpy: install
	@$(step) $(r) -f tests/numpy/programs.R --args 2000

versions: install local/python/numpy-1.26.4 local/python/numpy-2.2.6
	@$(step) $(r) -f tests/numpy/versions.R --args $(call python,numpy-1.26.4) \
	  $(call python,numpy-2.2.6) 300

# Tables of systems that were asked once, which need nothing but Python.
measured: install
	@$(call step,python3) sh -c 'python3 tests/living/measured.py --check && \
	  $(r) -f tests/living/measured.R --args python3 && $(r) -f tests/living/octave.R'

# PyTorch takes 3 GB, so it is compared only where JOIST_TORCH_PYTHON names a Python that has it.
# Once more with the releases of this year, where a Python has them.
living: install local/python/living local/python/numpy-1.26.4 $(if $(newer),local/python/living-newer)
	@$(step) sh -c 'for python; do $(r) -f tests/living/tables.R --args "$$python" \
	  $(call python,numpy-1.26.4) $(or $(JOIST_TORCH_PYTHON),$(call python,living)) || exit 1; done' \
	  living $(call python,living) $(if $(newer),$(call python,living-newer))

dlpack: install local/python/living
	@$(call step,R:reticulate) $(r) -f tests/living/dlpack.R --args $(call python,living)

# JAX is only needed for programs without a recorded answer, so the environment may be missing.
gradients: install | local/python/living
	@$(step) $(r) -f tests/gradients/programs.R --args $(call python,living) 100 15 2

array_api := $(wildcard $(JOIST_ARRAY_API_TESTS)/array_api_tests)
array-api: install $(if $(array_api),local/python/array-api)
	@$(step) sh tools/steps/array-api

files: install local/python/files
	@$(step) sh -c '$(r) -f tests/files/round_trips.R --args $(call python,files) && \
	  $(r) -f tests/files/narrow.R --args $(call python,files)'

narrow: install local/python/files
	@$(step) $(r) -f tests/narrow/compare.R --args $(call python,files) 200000

# Processes that are killed; random programs; stores of other libraries.
zarr_3 = $(call python,zarr3) $(if $(newer),$(call python,zarr3-newer))
zarr: install local/python/zarr2 local/python/zarr3 local/python/tensorstore local/python/buckets \
  $(if $(newer),local/python/zarr3-newer)
	@$(step) sh -c '$(r) -f tests/zarr/kills.R --args 3 && $(r) -f tests/zarr/random.R --args 200 && \
	  for python in $(zarr_3); do $(r) -f tests/zarr/neighbours.R --args $$python || exit 1; done && \
	  $(r) -f tests/zarr/buckets.R --args $(call python,buckets) && \
	  $(r) -f tests/zarr/extensions.R --args $(call python,tensorstore) && \
	  $(r) -f tests/zarr/shards.R --args 40 $(zarr_3) $(call python,tensorstore) && \
	  $(r) -f tests/zarr/round_trips.R --args $(lastword $(zarr_3)) $(call python,zarr2)'

explorer: install
	@$(call step,chromium python3) timeout 600 $(r) -f tests/explorer/explorer.R --args $(work)/explorer

arrow: install local/python/arrow
	@$(call step,R:reticulate) $(r) -f tests/arrow/round_trips.R --args $(call python,arrow)

verbs: install
	@$(call step,R:dplyr R:data.table) $(r) -f tests/verbs/random_verbs.R --args 1000

groups: install
	@$(call step,R:data.table R:vctrs) $(r) -f tests/verbs/random_groups.R --args 1000

neighbours: install
	@$(step) $(r) -f tests/neighbours/sweep.R --args 2

# ---- minutes to hours each ----

ways: install
	@NOTE=. $(call step,R:dplyr R:bit64) $(r) -f tests/silence/ways.R --args 100000

groups-long: install
	@NOTE=. $(call step,R:data.table R:vctrs) $(r) -f tests/verbs/random_groups.R --args 10000

neighbours-long: install
	@NOTE=. $(step) $(r) -f tests/neighbours/sweep.R

verbs-long: install
	@NOTE=. $(call step,R:dplyr R:data.table) $(r) -f tests/verbs/random_verbs.R --args 100000

functions: install
	@NOTE=. $(step) $(r) -f tests/promotion/random_functions.R --args 10000 1 $(cores)

numbers: install
	@NOTE=. $(step) $(r) -f tests/promotion/random_numbers.R --args 10000 1 $(cores)

loops: install
	@NOTE=. $(step) $(r) -f tests/gradients/random.R --args 10000 1 $(cores)

signals: install local/python/signals
	@$(call step,R:reticulate) $(r) -f tests/signals/compare.R --args $(call python,signals)

batches-long: install
	@$(step) $(r) -f tests/batches/sweep.R --args 40 1

hours: install
	@NOTE=. $(step) $(r) -f tests/faults/hours.R --args 7200

# JAX compiles each operation for each shape, and finds what it has compiled in earlier runs.
gradients-long: export JAX_COMPILATION_CACHE_DIR = $(root)/local/jax
gradients-long: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
gradients-long: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
gradients-long: install local/python/living
	@$(step) sh tools/steps/gradients-long $(call python,living)

accuracy:
	@COUNTS=accuracy $(step) $(core)-accuracy accuracy

valgrind:
	@$(call step,valgrind) $(core)-valgrind valgrind

# Races, of the tests that use threads.
races:
	@COUNTS="core tests" $(call step,openmp:clang) $(core)-tsan TSAN=1 CC="$(cached)clang" check

fuzz:
	@$(call step,clang) make -C tests/fuzz run SECONDS=3600 BUILD=$(work)/fuzz

large: install
	@$(step) $(r) -f tests/zarr/large.R --args 40

kills: install
	@$(step) $(r) -f tests/zarr/kills.R --args 200

plans: install
	@$(step) $(r) -f tests/zarr/plans.R

slurm: install
	@$(step) env R_LIBS=$(library)$(R_LIBS:%=:%) sh tests/zarr/slurm.sh R --vanilla --no-echo \
	  -f tests/zarr/plans.R --args slurm srun

# The tests of R with the R of newer Debian releases.
trixie sid:
	@NOTE="R version" $(call step,root apt-get) sh tools/other-r $@

calls:
	@$(step) sh -c 'sh tests/fuzz/calls $$0 100000 && sh tests/fuzz/calls $$0 valid && \
	  sh tests/fuzz/calls $$0 flips' $(work)/calls

faults:
	@$(step) sh tests/faults/run $(work)/faults

interrupts:
	@$(step) sh tests/faults/interrupts $(work)/interrupts 10000

threads: install
	@NOTE="threads:" $(step) env R_LIBS=$(library)$(R_LIBS:%=:%) sh tests/threads/run

coverage:
	@$(step) sh tools/coverage
