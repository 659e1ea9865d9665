# Everything that a developer or CI runs. `make help` lists it.

GO ?= go
TEST_TIMEOUT ?= 40m

.PHONY: help build test sim kills conformance short check cross demo bench fuzz

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

build: ## build bin/flowtui
	$(GO) build -o bin/flowtui ./cmd/flowtui

# -count=1: the end-to-end tests build the program, which the cache does not see.
# With the race detector a process sleeps for a second before it exits, unless it is told not to; the tests start thousands.
test: ## install what the tests need, then run all of them with the race detector
	@sh scripts/test-needs.sh
	FLOWTUI_TEST_ALL=1 GORACE=atexit_sleep_ms=0 $(GO) test -race -count=1 -timeout $(TEST_TIMEOUT) ./...

# Without the race detector, which makes it ten times slower; make test runs fewer seeds with it.
sim: ## the crash simulation: 20,000 seeds in memory, or what fits into three minutes, and some on every other store
	@sh scripts/test-needs.sh
	FLOWTUI_TEST_ALL=1 $(GO) test ./engine/sim -count=1 -v -run '^(TestSimulation(OnStores)?|TestSameSeedSameTrace)$$' -timeout 10m -sim.seeds 20000 -sim.for 3m

# Without the race detector, as the simulation; make test kills fewer with it.
kills: ## 500 killed workers on SQLite, 60 on each other store, at every store operation and at random, zombies and full disks
	@sh scripts/test-needs.sh
	FLOWTUI_TEST_ALL=1 $(GO) test ./internal/crash -count=1 -v -timeout 10m

conformance: ## the conformance suite on all five stores, case by case
	@sh scripts/test-needs.sh
	FLOWTUI_TEST_ALL=1 $(GO) test -count=1 -v -run '^TestConformance$$' ./stores/memory ./stores/sqlite ./stores/jsonfile ./stores/redis ./stores/postgres

short: ## the inner loop: without the long simulations, without the race detector
	$(GO) test -short ./...

check: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

cross: ## build for every system that is supported
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "build $$os/$$arch"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -o /dev/null ./cmd/flowtui || exit 1; \
	done; done

demo: ## make a demo store and open the viewer on it
	$(GO) run ./cmd/flowtui demo

# One package at a time, as go test does by itself when it measures.
bench: ## benchmarks, each with its floor, see docs/speed.md; about half an hour
	@sh scripts/test-needs.sh
	$(GO) test -run '^$$' -bench . -benchtime 2s -timeout $(TEST_TIMEOUT) ./...

fuzz: ## every fuzz test for ten seconds
	@sh scripts/fuzz.sh
