# Parallax. `make test` is what CI runs; it installs what it lacks or says what to install.
GO      ?= go
export CGO_ENABLED = 0
# The same flags everywhere, so that nothing is compiled twice.
export GOFLAGS := $(strip -trimpath $(filter-out -trimpath,$(GOFLAGS)))
# Not ./...: npm packages hold Go files too.
PKGS     = . ./cmd/... ./internal/... ./web $(patsubst %/,./%/...,$(wildcard recorder/))

.PHONY: help build test test-quick skipped lint bench golden web test-go test-race test-web test-dist cross tools gallery clean

.DEFAULT_GOAL = build
help:
	@echo 'make build         bin/parallax'
	@echo 'make test-quick    what most changes need: vet, structure, kernels, store, readers; no browser'
	@echo 'make test          everything, as CI does it'
	@echo 'make skipped       which Go tests do not run here, and why'
	@echo 'make gallery       the pictures of docs/gallery, each by its command'
	@echo 'make golden        rewrite expected outputs; review the difference like code'
	@echo 'make web           the page, from web/src into web/dist'
	@echo 'make test-web      the tests of the page, in Chromium'
	@echo 'make test-cluster  two ClickHouse servers on loopback: the store in a cluster answers as the local one'
	@echo 'make bench         figures; SIZES=1e6 for short ones'
	@echo 'make test-engine   every statement for a cluster on a current ClickHouse (chDB), files of a lake on DuckDB; by npm'
	@echo 'make bench-lake    times of questions over NIGHTS=500 runs, in files and in ClickHouse'
	@echo 'make bench-cluster figures of the store in a cluster; CLUSTER_SIZES=1e7,1e8'
	@echo 'make soak          random requests over all views for SOAK=10m: is memory flat and within the budget?'
	@echo 'make soak-receive  50,000 spans a second for SOAK=10m, killed in the middle: is anything lost?'
	@echo 'make fuzz          every reader and decoder, each for FUZZTIME=20s; finds are kept by name'
	@echo 'make docs          the documentation as HTML, in bin/site'
	@echo 'make release       archives and packages for all systems, in bin/release; VERSION=1.2.3, CHECK=yes to try it'
	@echo 'make cross         are types right on other systems, in the tests too?'
	@echo 'make clean'

# Without tables for debuggers, 23 of 82 MB; names in panics and profiles stay.
build:
	$(GO) build -ldflags='-s -w' -o bin/parallax ./cmd/parallax

test: lint test-go test-tools test-race cross test-dist test-web

# The compiler and the tests allocate much and keep little: collecting less often takes a fifth off.
# Not for figures, which are of the program as it is.
lint test-go test-tools test-race cross test-dist build: export GOGC = 400

# Who imports whom is asked of `go list`, whose reads the test cache does not see: -count=1.
# What did not run, and why, stands at the end. Lint has vetted it all; test programs are
# linked without tables for debuggers, which takes half the time.
TEST = $(GO) test -vet=off -ldflags='-s -w'
test-go: bin/testlog
	@{ .ci/in-memory $(TEST) -timeout 20m -json $(PKGS); echo "{\"Action\":\"status\",\"Output\":\"$$?\"}"; } | bin/testlog
	$(GO) test -count=1 ./internal

bin/testlog: tools/testlog/main.go
	cd tools/testlog && $(GO) build -o ../../bin/testlog .

# Vet, who imports whom, and the packages that most changes touch.
QUICK = ./internal/trace/... ./internal/spool ./internal/parallel ./internal/scene/... ./internal/store/... ./internal/analysis/... ./internal/importer ./internal/site ./internal/anonymise ./internal/table ./internal/query ./internal/view
test-quick: lint bin/testlog
	$(GO) test -count=1 ./internal
	@{ $(TEST) -short -json $(QUICK); echo "{\"Action\":\"status\",\"Output\":\"$$?\"}"; } | bin/testlog

# The same without failures: which tests do not run here, and why.
skipped: bin/testlog
	@$(GO) test -short -json $(PKGS) | bin/testlog | sed -n '/did not run here/,$$p'

# The race detector in the packages that start goroutines or are asked by many; it needs cgo and a C compiler.
RACE = ./recorder ./internal/parallel ./internal/derived ./internal/spool ./internal/store ./internal/store/local \
  ./internal/store/local/disk ./internal/store/local/rows ./internal/store/local/write ./internal/importer \
  ./internal/importer/paje ./internal/server
# Tests of these packages that try one thing after the other many times: slow here, and nothing meets in them.
ALONE = FuzzStore TestAContainerTakesLittleMemory TestAPartMayBeMadeAgain TestARunWithoutRowsIsJoined TestCallsInBatchesAreCallsOneByOne \
  TestCoverHoldsEachRowAndInstantOnce TestDamageIsAnErrorNeverACrash TestDigestsAreKeptRebuiltAndSaved \
  TestForgedStoresAreRefused TestFormat TestGroupsKeptAreThoseOfTheRows TestJoinedPartsAreTheWholeImport \
  TestManyForgedStoresAreAnsweredOrRefused TestMemoryOfAnImportDoesNotGrowWithItsLinks \
  TestNoFlipChangesAnAnswerInSilence TestDamagedStoresReturnNoNumbersOutOfRange TestPartsThatAreNotOfOneRunAreRefused \
  TestRoleTimeFromKeptBinsEqualsThatFromRows TestRoleTimesAreThoseOfEachLocationAlone \
  TestRemoteStorePassesTheSuite TestSumsOfLinksAreThoseOfTheLinks TestTimeFromPrefixSumsIsThatOfTheRows \
  TestUnpackedSizesAreEstimatedFromTheBeginning TestValuesWithoutEndBecomeOneRegion \
  TestRowsPackedEarlyAreTheSame TestSumsOfAllLanesAreStoredWithTheRun TestWorkIsExactlyTheTimeWithoutCalls \
  TestWorkIsInferredFromRecordsThatDoNotMatch TestRegionBinsEqualTimes
empty =
test-race:
	@if command -v cc >/dev/null || command -v gcc >/dev/null; then \
	  CGO_ENABLED=1 .ci/in-memory $(TEST) -race -short -timeout 20m -skip '^($(subst $(empty) $(empty),|,$(strip $(ALONE))))$$' $(RACE); \
	else echo "no C compiler: the race detector is left out (install gcc)"; fi

lint:
	@bad=$$(gofmt -l *.go cmd internal recorder web/*.go tools 2>/dev/null); if [ -n "$$bad" ]; then echo "not gofmt-ed: $$bad"; exit 1; fi
	$(GO) vet $(PKGS)

# Are types right on other systems, in the program and in its tests? A release builds for all six; this takes a twentieth of a build.
SYSTEMS = windows/amd64 darwin/arm64 linux/arm64
cross: bin/cross
	bin/cross $(SYSTEMS) -- $(PKGS)

bin/cross: tools/cross/main.go
	cd tools/cross && $(GO) build -o ../../bin/cross .

# The store in a cluster, on two servers with ports and directories of their own, which the tests start and end. In `make test` these
# tests run where the server is installed, on less data.
test-cluster: clickhouse
	PARALLAX_CLUSTER=full $(TEST) -short -count=1 ./internal/store/clickhouse/... ./internal/warehouse
	PARALLAX_CLUSTER=full $(TEST) -count=1 -run Cluster ./cmd/parallax
	@echo "two servers gave the same answers as the local store"

# Every statement on a current ClickHouse, chDB, and questions to files on DuckDB: both, 0.6 GB, go into bin/chdb.
test-engine:
	@mkdir -p bin/chdb && cd bin/chdb && { [ -d node_modules/chdb ] && [ -d node_modules/@duckdb ] || \
	  npm install --ignore-scripts --no-audit --no-fund --prefix . chdb@3.4.0 @duckdb/node-api@1.5.6-r.1; }
	PARALLAX_CHDB=$(CURDIR)/bin/chdb PARALLAX_DUCKDB=$(CURDIR)/bin/chdb $(GO) test -count=1 -v -run 'Engine|Published|DuckDB' \
	  ./internal/store/clickhouse ./internal/warehouse ./cmd/parallax
.PHONY: test-engine

# Eleven questions over NIGHTS made-up nightly runs: a lake in a directory, DuckDB over it, and ClickHouse (test-engine installs both).
NIGHTS ?= 500
bench-lake:
	PARALLAX_NIGHTS=$(NIGHTS) PARALLAX_CHDB=$(CURDIR)/bin/chdb PARALLAX_DUCKDB=$(CURDIR)/bin/chdb \
	  $(GO) test -v -run '^$$' -bench Nights -benchtime 1x -timeout 90m ./cmd/parallax
.PHONY: bench-lake

# Import rates, bytes a row and latencies of six views on one and two servers, against the local store.
bench-cluster: clickhouse
	PARALLAX_BENCH_SIZES=$(or $(CLUSTER_SIZES),1e7) PARALLAX_BENCH_STORE=$(CLUSTER_STORE) $(GO) test -v -run '^$$' -bench ClusterScale -benchtime 1x -timeout 60m ./cmd/parallax
	PARALLAX_BENCH_SIZES=1e6 $(GO) test -v -run '^$$' -bench ClusterLatency -benchtime 1x ./cmd/parallax
.PHONY: bench-cluster

# Debian's package would start a service of its own: policy-rc.d says no, where there is none yet.
clickhouse:
	@command -v clickhouse-server >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  own=; [ -e /usr/sbin/policy-rc.d ] || { own=yes; printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; }; \
	  apt-get update -qq; apt-get install -y -qq --no-install-recommends clickhouse-server >/dev/null; done=$$?; \
	  [ -z "$$own" ] || rm /usr/sbin/policy-rc.d; exit $$done; \
	else echo "clickhouse-server is missing: install it (Debian: apt-get install clickhouse-server) for the tests of the cluster"; exit 1; fi
.PHONY: test-cluster clickhouse

# The page: bundled from web/src into web/dist, which is committed.
web: web/node_modules/.package-lock.json
	cd tools/bundle && $(GO) run .

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer with npm"; exit 1; }
	cd web && npm ci --no-audit --no-fund
	@touch $@

# The committed page must be what its source gives.
test-dist: web
	@git diff --exit-code --stat -- web/dist || { echo "web/dist is not what web/src gives: run make web and commit"; exit 1; }

test-web: build web/node_modules/.package-lock.json chromium
	cd web && ../.ci/in-memory npm test

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium; \
	else echo "Chromium is missing: install it (Debian: apt-get install chromium) for the browser tests"; exit 1; fi
.PHONY: chromium

# What is given away: binaries, archives, packages, recipes, checksums, in bin/release. The
# same commit gives the same bytes. VERSION=1.2.3 names the version; the last tag does else.
# CHECK=yes builds everything twice and compares, and installs and runs the packages.
release:
	cd tools/release && $(GO) run . $(if $(VERSION),-version $(VERSION)) $(if $(PLATFORMS),-platforms $(PLATFORMS)) $(if $(CHECK),-check)

# The tools are modules of their own.
test-tools:
	cd tools/bundle && $(GO) vet . && $(TEST) ./...
	cd tools/testlog && $(GO) vet . && $(TEST) ./...
	cd tools/cross && $(GO) vet . && $(TEST) ./...
	cd tools/release && $(GO) vet . && $(TEST) ./...
.PHONY: release test-tools

# The documentation as static pages; the same that `parallax docs --serve` shows.
docs: build
	bin/parallax docs -o bin/site
.PHONY: docs

# Rewrite the expected outputs; review the diff like code.
golden:
	$(GO) test $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' $(PKGS) | xargs grep -l --include='*_test.go' -r -e 'viewtest\.' -e 'importertest\.' -e '"update"' | xargs -n1 dirname | sort -u) -update

# Takes the pictures of docs/gallery anew, each by its command.
gallery: build web/node_modules/.package-lock.json chromium
	cd web && node test/gallery.mjs ../bin/parallax

# Figures with ratios. Latencies are printed at three lengths of a trace; the longest takes
# some minutes, and 6 GB in the directory for temporary files. SIZES=1e6 leaves it out.
SIZES ?= 1e6,1e7,1e8
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x $(PKGS)
	PARALLAX_BENCH_SIZES=$(SIZES) $(GO) test -run '^$$' -bench Scale -benchtime 1x -timeout 60m ./internal/view/timeline ./internal/view/moments ./internal/view/all
	PARALLAX_BENCH_SIZES=$(SIZES) $(GO) test -v -run '^$$' -bench 'ScaleImport|ScaleViews|ScaleLocations' -benchtime 1x -timeout 60m ./cmd/parallax
	PARALLAX_BENCH_SIZES=1e6,1e7 $(GO) test -run '^$$' -bench JobOfGPUs -benchtime 1x -timeout 60m ./internal/view/all

# Every fuzz test in turn, for FUZZTIME each. Inputs are made smaller by few tries: readers on several cores cover other
# lines each time, and Go would spend its minute on the first one. What breaks one lies in testdata/fuzz of its package, where every
# later run of the tests tries it: give the file a name that says what it holds, mend the cause, and commit both.
FUZZTIME ?= 20s
FUZZ     ?= .
fuzz:
	@failed=; for f in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd internal recorder | sort); do \
	  for n in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$f); do \
	    d=$$(dirname $$f); echo "$$d $$n" | grep -q '$(FUZZ)' || continue; \
	    echo "== $$d $$n"; fuzz="$(GO) test -run ^$$ -fuzz ^$$n\$$ -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./$$d"; \
	    $$fuzz || { echo "once more: a find fails again, a round that was cut off does not"; $$fuzz; } || failed="$$failed $$d/testdata/fuzz/$$n"; \
	  done; done; \
	if [ -n "$$failed" ]; then echo "finds, to be named and mended:$$failed"; exit 1; fi
.PHONY: fuzz

# Random requests over all views of three runs; memory must stay flat and within the budget.
SOAK ?= 10m
soak:
	SOAK=$(SOAK) SOAK_MEMORY=$(SOAK_MEMORY) $(GO) test -count=1 -timeout 0 -v -run TestMemoryStaysWithinTheBudgetWhateverIsAsked ./cmd/parallax
.PHONY: soak

soak-receive:
	SOAK=$(SOAK) $(GO) test -count=1 -timeout 0 -v -run TestNothingIsLostAtFiftyThousandSpansASecond ./internal/receive
.PHONY: soak-receive

clean:
	rm -rf bin
