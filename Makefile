# One static binary, no cgo. `make check` is what must pass before a commit.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# Tests build without the profile of `make pgo`: it would have every dependency compiled a second time. And without DWARF, which
# takes a quarter of linking them, and there are some eighty. The stories of cmd/txarchive take minutes on a machine that does other
# things, too. What is drawn at random is drawn again each time.
GOTEST  ?= $(GO) test -pgo=off -ldflags=-w -timeout 30m$(if $(filter random,$(TEST_SEED)), -count 1)
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Room for the fuzzers of `make fuzz`, each.
FUZZTIME ?= 20s

# The corpus of `make bench`: the generator's source, the format (or mix), MiB, seed, and files to cut texts from.
MKCORPUS ?= ../shared/tools/mkcorpus
FORMAT   ?= claude
SEED     ?= 11
TEXT     ?= $(shell $(GO) env GOROOT)/src
BENCH     = $(GO) run ./internal/bench -binary ./txarchive -mkcorpus $(MKCORPUS) -format $(FORMAT) -seed $(SEED) -text '$(TEXT)'

export CGO_ENABLED = 0

.PHONY: all build demo test race poison fuzz golden lint bench bench-large bench-hot bench-search pgo soak check clean

all: build

build: ## the binary, ./txarchive
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o txarchive ./cmd/txarchive

demo: build ## archive the example runs in ./demo-archive, and look at them
	@rm -rf demo-archive demo-restored
	./txarchive --archive demo-archive ingest testdata/runs/*
	./txarchive --archive demo-archive --utc search 'Cannot read property'
	./txarchive --archive demo-archive --utc tree r4tga7f3ymvx3
	./txarchive --archive demo-archive restore --all --to demo-restored
	@diff -r testdata/runs demo-restored && echo 'demo-restored is testdata/runs, byte for byte'

# Tests make thousands of small archives, and making their files on a disk is a fifth to a third of what the tests take, without the
# waiting. So they are in memory where there is plenty of it. `make test TESTTMP=` has them where temporary files usually are.
TESTTMP ?= $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4e6 && $$6 == "/dev/shm" { print $$6 }')

test: ## all tests
	$(if $(TESTTMP),TMPDIR=$(TESTTMP)) $(GOTEST) ./...

race: ## all tests under the race detector, which needs cgo
	CGO_ENABLED=1 $(GOTEST) -race ./...

poison: ## the tests of parsers, packs and ingest, with buffers that are overwritten when they are given back
	$(GOTEST) -tags poison ./internal/ingest/... ./internal/blob/pack ./internal/search

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GOTEST) -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; $(GOTEST) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

golden: ## write the goldens again; read the difference before committing it
	@set -e; for pkg in $$($(GO) list ./...); do \
		dir=$$($(GO) list -f '{{.Dir}}' $$pkg); \
		if grep -qs 'flag.Bool("update"' $$dir/*_test.go || grep -qs 'formattest\.' $$dir/*_test.go; then $(GOTEST) $$pkg -update; fi; \
	done
	git diff --stat

lint: ## gofmt, vet, for other systems and 32 bits too, and staticcheck where it can be fetched
	@files=$$(gofmt -l cmd internal migrations); if [ -n "$$files" ]; then echo "gofmt: $$files"; exit 1; fi
	$(GO) vet -pgo=off ./...
	GOOS=windows $(GO) vet -pgo=off ./...
	GOOS=darwin $(GO) vet -pgo=off ./...
	GOARCH=386 $(GO) vet -pgo=off ./...
	@if $(GO) run $(STATICCHECK) -version >/dev/null 2>&1; then $(GO) run $(STATICCHECK) ./...; else echo 'staticcheck cannot be fetched: left out'; fi

bench: build ## the program on 100 MiB, beside tar|gzip and find, and each stage by itself (MKCORPUS, FORMAT, MB, SEED, TEXT, BENCHFLAGS)
	$(BENCH) -mb $(or $(MB),100) $(BENCHFLAGS)

bench-large: build ## the same on 1 GiB, each load once; no stages, for their rows are held in memory
	$(BENCH) -mb $(or $(MB),1024) -runs 1 $(BENCHFLAGS)

bench-hot: ## hot functions, with what they allocate
	$(GOTEST) -run '^$$' -bench . -benchmem ./internal/term ./internal/blob/pack ./internal/ingest/jsontext ./internal/ingest/format/... ./internal/index/sqlite/fts5

bench-search: ## latencies of search, p50 and p95, at EVENTS events; with ARCHIVE=DIR also with snippets from its packs
	$(GOTEST) -run '^$$' -bench 'Find|Terms' -benchtime 0.2s ./internal/index/sqlite/ask -bench-events $(or $(EVENTS),1000000)
	$(if $(ARCHIVE),$(GOTEST) -timeout 0 -run '^$$' -bench Search -benchtime 1x ./internal/search -bench-archive $(abspath $(ARCHIVE)))

pgo: build ## the profile by which `go build` inlines, from the stages of an ingest; write it anew when hot code has changed much
	@dir=$$(mktemp -d) && for format in claude codex mix; do \
		$(GO) run -trimpath ./internal/bench -binary ./txarchive -mkcorpus $(MKCORPUS) -format $$format -mb $(or $(MB),64) -seed $(SEED) -text '$(TEXT)' \
			-only stages -runs 2 -store $$dir/figures.json -profile $$dir/$$format.prof >/dev/null || exit 1; \
	done && $(GO) tool pprof -proto $$dir/*.prof > $$dir/all.pgo && cp $$dir/all.pgo cmd/txarchive/default.pgo && rm -r $$dir

soak: export TEST_SEED = random
soak: ## what `make test` draws some of, all of it or for a long time: crashes, faults, models, recall (KILLS, FAULTS, DAMAGES, QUERIES; CORPUS: more transcripts to search)
	$(GOTEST) -timeout 0 -run 'Killed|TestFirstLoad$$' ./cmd/txarchive -kills $(or $(KILLS),500) -faults $(or $(FAULTS),20)
	$(GOTEST) -timeout 0 -run 'TestFaults$$' ./cmd/txarchive -faults $(or $(FAULTS),20)
	$(GOTEST) -timeout 0 -run 'TestRepair$$' ./cmd/txarchive -damages $(or $(DAMAGES),10000)
	$(GOTEST) -timeout 0 -run 'TestFreed$$|TestPruneAmong|TestPlanTellsBytes' ./cmd/txarchive -draws 100
	$(GOTEST) -timeout 0 -run 'TestWalk' ./cmd/txarchive -walks 300
	$(GOTEST) -timeout 0 -run 'Apart$$' ./cmd/txarchive -aparts 100
	$(GOTEST) -timeout 0 -count 10 -run 'TestThin' ./cmd/txarchive
	$(GOTEST) -timeout 0 -count 20 -run 'TestMonth' ./cmd/txarchive -nights 31
	$(GOTEST) -timeout 0 -count 10 -run 'TestTogether' ./cmd/txarchive -crowded 60s
	$(GOTEST) -timeout 0 -count 5 -run 'TestFullDisk|TestRestoreAtAfterGC' ./cmd/txarchive -fulls 30
	$(GOTEST) -timeout 0 ./internal/ingest -cases 0
	$(GOTEST) -timeout 0 -run 'TestGCModel' ./internal/prune/gc -rounds 100
	$(GOTEST) -timeout 0 -run Golden $$(ls -d ./internal/ingest/format/*/testdata | sed 's,/testdata$$,,') -mutations 3000
	$(GOTEST) -timeout 0 -count 50 -run 'Model|Fault|AnyOrder|CasesChanged|FindsEverything|OrdersAndPages|TestIndex|Stretches|Rollup|Vocabulary|TestPrefixes|RowsEqual|PlansAgree|AnyFlip|TestRandom' ./internal/...
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; corpora="$(CORPUS)"; \
	if [ -d $(MKCORPUS) ]; then (cd $(MKCORPUS) && $(GO) run . -format mix -mb 12 -text $$($(GO) env GOROOT)/src/net -out $$dir/mix >/dev/null) && corpora="$$corpora,$$dir/mix"; fi; \
	for s in $(wildcard ../shared/samples ../shared/samples/agents); do corpora="$$corpora,$$(realpath $$s)"; done; \
	$(GOTEST) -timeout 0 -run 'FindsEverything' ./internal/search -recall-queries $(or $(QUERIES),3000) -corpus "$$corpora"
	$(GOTEST) -timeout 0 -run 'DeepVerify' ./cmd/txarchive -alterations 300
	$(GOTEST) -timeout 0 -run 'TestDamage' ./internal/archive -damages $(or $(DAMAGES),10000)
	$(MAKE) poison

check: lint test build ## what must pass before a commit

clean:
	rm -rf txarchive bin demo-archive demo-restored
