# `make` lists the targets. Needed: Go, make and git; what the tests need beyond
# that is installed by test/services/install, or run as containers.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BINARY   := bin/platform-scheduler
PACKAGES ?= ./...
SERVICES := test/services
LINTER   := go tool -modfile=tools/go.mod golangci-lint

# Go refuses to stamp a build where git refuses the work tree (another owner, no git at all).
STAMP := $(shell git status --porcelain >/dev/null 2>&1 || echo -buildvcs=false)
export GOFLAGS := $(strip $(GOFLAGS) $(STAMP))

# Each make target may be narrowed: make test PACKAGES=./domain/...
TEST_TIMEOUT ?= 15m
CRASH_ROUNDS ?= 100
CRASH_SEED   ?= 0
FAULT_MINUTES ?= 10
FAULT_SEED   ?= 0
FAULT_ARGS   ?=
MATRIX_ROUNDS ?= 200
BENCHES      ?= throughput lateness stampede
BENCH_ARGS   ?=
# run NAME FLAGS…: a bench on the servers that PS_TEST_… names.
CLUSTER_BENCH = run() { printf "\n== %s\n" "$$*"; \
	PS_STORE_DRIVER=mysql PS_STORE_DSN="$$PS_TEST_MYSQL_DSN" $(BINARY) bench "$$@" --redis "$$PS_TEST_REDIS_ADDR" $(BENCH_ARGS); };

GO_SOURCES = api application cmd domain infrastructure internal sdk sql test

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Root runs the example command as another user, or the server would run none.
COMMAND_USER = $(shell [ "$$(id -u)" != 0 ] || ! id nobody >/dev/null 2>&1 || echo PS_EXECUTOR_COMMAND_USER=nobody)
.PHONY: run
run: build ## build, then run the standalone server with the example jobs
	exec env $(COMMAND_USER) $(BINARY) server --apply configs/examples

# CLUSTER_SECONDS=n stops by itself, CLUSTER_PORT=n fixes the ports; see test/services/cluster.
.PHONY: cluster
cluster: build ## three nodes with the example jobs, beside a private MariaDB and Redis
	@$(SERVICES)/install mysql redis
	@SMALL=1 FAST=1 BINARY=$(CURDIR)/$(BINARY) $(SERVICES)/with mysql redis -- $(SERVICES)/cluster

.PHONY: build
build: ## build bin/platform-scheduler, static and stripped
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BINARY) ./cmd/platform-scheduler

# VERSION=… names a release; a dirty work tree is told by its version.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
.PHONY: image
image: ## build the container image platform-scheduler, with its version and commit
	docker build -f deploy/Dockerfile -t platform-scheduler --build-arg VERSION='$(VERSION)' \
		--build-arg COMMIT="$$(git rev-parse HEAD)" --build-arg BUILD_TIME="$$(date -u +%Y-%m-%dT%H:%M:%SZ)" .

# A release is named, never guessed: RELEASING.md.
.PHONY: release
release: ## static binaries of VERSION=v1.2.3 for Linux and macOS, with SBOMs and SHA256SUMS, in dist
	@tools/release '$(if $(filter file,$(origin VERSION)),,$(VERSION))'

.PHONY: check
check: ## format, vet and short tests, no servers: up to 2 minutes on 2 cores
	@unformatted=$$(gofmt -l $(GO_SOURCES)); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	go vet $(PACKAGES)
	go test -short $(PACKAGES)

.PHONY: test
test: ## vet and all tests with the race detector, beside private servers: up to 15 minutes
	@$(SERVICES)/install mysql redis race shell || $(SERVICES)/install mysql redis
	@SMALL=1 FAST=1 TEST_TIMEOUT=$(TEST_TIMEOUT) $(SERVICES)/with mysql redis sentinel rediscluster -- test/services/gotest $(PACKAGES)

# Their sizes and seeds are those of .ci/run, which runs them, too.
.PHONY: test-all
test-all: ## test, then shorter crash, matrix, upgrade and fault tests: up to 60 minutes
	@.ci/run test crash matrix upgrade fault

.PHONY: soak
soak: ## the long forms of crash, matrix, lease, fault (an hour) and bench: about four hours
	@$(MAKE) crash
	@$(MAKE) matrix
	@$(MAKE) lease
	@$(MAKE) fault FAULT_MINUTES=60
	@$(MAKE) bench bench-cluster

# CRASH_SEED repeats the choices of a run.
.PHONY: crash
crash: build ## kill nodes and servers under load for CRASH_ROUNDS rounds (100)
	@$(SERVICES)/install mysql redis
	CRASH_ROUNDS=$(CRASH_ROUNDS) $(SERVICES)/with mysql redis -- \
		go test -count=1 -timeout 60m -v ./test/crash -run TestCrash -crash.long -crash.seed=$(CRASH_SEED)

# It starts servers of its own, because it kills them. FAULT_SEED repeats the plan of a run.
.PHONY: fault
fault: ## disturb a cluster of three nodes in every way for FAULT_MINUTES (10)
	@$(SERVICES)/install mysql redis
	FAULT_MINUTES=$(FAULT_MINUTES) FAULT_SEED=$(FAULT_SEED) go test -count=1 -timeout $$(($(FAULT_MINUTES) + 20))m -v ./test/fault \
		-run TestFault -fault.long -fault.redis $(FAULT_ARGS)

.PHONY: lease
lease: ## outages of the store and cuts of a node, each many times, for the leases of nodes
	@$(SERVICES)/install mysql redis
	go test -count=1 -timeout 90m -v ./test/fault -run 'TestAnOutageOfTheStore|TestANodeThatIsCutOff|TestLossesOfNodes' -lease.long

.PHONY: upgrade
upgrade: ## replace nodes of the former release by new ones under load; needs a clone with its history
	@$(SERVICES)/install mysql redis
	go test -count=1 -timeout 15m -v ./test/fault -run TestARollingUpgrade -fault.upgrade

.PHONY: matrix
matrix: ## kill and freeze nodes and helpers for MATRIX_ROUNDS rounds (200) while nasty commands run
	PS_MATRIX_ROUNDS=$(MATRIX_ROUNDS) go test -count=1 -timeout 30m -v -run TestMatrix ./test/commands

.PHONY: compare
compare: build ## measure this build and the binary OLD in turns: COMPARE_ARGS
	go run ./test/compare -old $(OLD) -new $(BINARY) $(COMPARE_ARGS)

# Durable on both sides: SQLite with its default, MariaDB with fsync per commit and binlog (BINLOG=0: without).
.PHONY: bench
bench: build ## throughput, lateness and stampede, on SQLite and on a durable private MariaDB
	@$(SERVICES)/install mysql
	@for bench in $(BENCHES); do \
		printf '\n== %s, SQLite\n' "$$bench"; \
		PS_STORE_DRIVER=sqlite $(BINARY) bench "$$bench" $(BENCH_ARGS); \
	done
	@$(SERVICES)/with mysql -- bash -euc 'for bench in $(BENCHES); do \
		printf "\n== %s, MariaDB\n" "$$bench"; \
		PS_STORE_DRIVER=mysql PS_STORE_DSN="$$PS_TEST_MYSQL_DSN" $(BINARY) bench "$$bench" $(BENCH_ARGS); \
	done'

# The store of the last bench is another one, because it is killed.
.PHONY: bench-cluster
bench-cluster: build ## the benches of three nodes, on a durable private MariaDB and Redis
	@$(SERVICES)/install mysql redis
	@$(SERVICES)/with mysql redis -- bash -euc '$(CLUSTER_BENCH) \
		run throughput --nodes 3 --coordinated=false; run lateness --nodes 3 --rate 300; run lateness --nodes 3 --rate 1000; \
		run stampede --nodes 1 --jobs 100000; run stampede --nodes 3 --jobs 100000; run idle --nodes 3 --jobs 1000000; \
		run failover; run failover --freeze; run rolling'
	@folder=$$(mktemp -d "$$PWD/.cache/bench.XXXXXX"); services="env -u MYSQL_DSN $(SERVICES)/services"; \
	trap '$$services down "$$folder"; rm -rf "$$folder"' EXIT; \
	eval "$$($$services up "$$folder" mysql redis)"; export PS_TEST_MYSQL_DSN="$$MYSQL_DSN" PS_TEST_REDIS_ADDR="$$REDIS_ADDR"; \
	$(CLUSTER_BENCH) run restart-store --restart-command "$$services kill $$folder mysql; until $$services up $$folder mysql >/dev/null; do sleep 0.1; done"

.PHONY: lint
lint: ## golangci-lint with the house's rules; its first build takes a minute or two
	$(LINTER) run $(PACKAGES)

.PHONY: vulnerabilities
vulnerabilities: ## known vulnerabilities that this code reaches; asks vuln.go.dev
	go tool -modfile=tools/go.mod govulncheck ./...

.PHONY: fmt
fmt: ## format the Go code as the linter wants it
	$(LINTER) fmt

.PHONY: generate
generate: ## write generated code and documents anew
	go generate $(PACKAGES)

.PHONY: docs
docs: ## write api/openapi and the references in docs and configs from the code
	go generate ./api/openapi ./infrastructure/config
	UPDATE_DOCS=1 go test -count=1 ./api -run '^TestTheDocsShowWhatBadInputIsAnsweredWith$$'
