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

# What MySQL may do otherwise than MariaDB: tests of the store and of its backups, and engine tests that run on both
# kinds of stores.
MYSQL_TESTS   = TestMySQL|TestTheHotPath|TestALongQueue|TestBeats|TestANodesID|TestTheSessions|TestMoves|$\
	TestSessions|TestAnIdle|TestABackup|TestARestore|TestAStoreOfAnother
MYSQL_ENGINE  = ./infrastructure/persistence/migrate \
	$(addprefix ./application/manager/engine/, detached dispatch firing running)

# Each make target may be narrowed: make test PACKAGES=./domain/...
TEST_TIMEOUT ?= 25m
# mysql: each target that starts a store starts MySQL itself in the stead of MariaDB.
SERVER       ?= mariadb
export SERVER
STORE        = $(if $(filter mysql,$(SERVER)),MySQL,MariaDB)
CRASH_ROUNDS ?= 100
CRASH_SEED   ?= 0
FAULT_MINUTES ?= 10
FAULT_SEED   ?= 0
DELIVERIES_FOR ?= 4m
FAULT_ARGS   ?=
FAULT_TESTS  ?= TestFault|TestDeliveries
KAFKA_AWAY   ?= 30s
MATRIX_ROUNDS ?= 200
SEED         ?=
SEEDS        ?= 1
HOURS        ?= 1
EACH         ?= 0
# 1: the seeds that found a fault once, too.
SIMULATE_FOUND ?=
BENCHES      ?= throughput lateness stampede
BENCH_ARGS   ?=
# run NAME FLAGS…: a bench on the servers that PS_TEST_… names.
CLUSTER_BENCH = run() { printf "\n== %s\n" "$$*"; \
	PS_STORE_DRIVER=mysql PS_STORE_DSN="$$PS_TEST_MYSQL_DSN" $(BINARY) bench "$$@" --redis "$$PS_TEST_REDIS_ADDR" $(BENCH_ARGS); };

GO_SOURCES = api application cmd domain examples infrastructure internal sdk sql test web

# `make prove crash fault` names steps: what follows `prove` is no target.
ifeq ($(firstword $(MAKECMDGOALS)),prove)
PROVE_STEPS = $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(MAKECMDGOALS)
prove: ## the long proofs, or those that are named: make prove crash fault; two hours and more
	@$(SERVICES)/prove $(PROVE_STEPS)
$(PROVE_STEPS): prove
	@:
else

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

.PHONY: console
console: ## build the console into web/dist where its sources changed; needs Node 20
	@tools/console

.PHONY: check-console
check-console: ## types, lint and unit tests of the console; needs Node 20
	@tools/console packages
	@cd web && npm run --silent check

# BROWSER_TESTS=nodes runs one file of web/e2e.
BROWSER_TESTS ?=
.PHONY: browser
browser: ## each page of the console in a real browser; needs Node 20
	@tools/console
	@$(MAKE) build
	@$(SERVICES)/install browser
	@cd web && npm run --silent e2e -- $(BROWSER_TESTS)

.PHONY: newcomer
newcomer: ## the path of a newcomer through the console, in a real browser, in one language
	@PS_LANGUAGES=en $(MAKE) browser BROWSER_TESTS=newcomer

# Its server tells a fixed time, so that pictures stay alike. GUIDE_ONLY=jobs,overview makes these alone.
.PHONY: guide
guide: ## write the pictures of the user guide, docs/guide/images; needs Node 20
	@tools/console
	@$(SERVICES)/install browser
	CGO_ENABLED=0 go build -tags failpoints -o bin/guide ./cmd/platform-scheduler
	@cd web && PS_BINARY=$(CURDIR)/bin/guide npm run --silent guide

.PHONY: sdk-test-python
sdk-test-python: ## the tests of the SDK for Python; needs Python 3.9
	cd sdk/python && python3 -m unittest discover -s tests -t .

.PHONY: sdk-test-java
sdk-test-java: ## the tests of the SDK for Java; needs a JDK from 17 on and Maven
	mvn -q -B -f sdk/java/pom.xml verify
	@for boot in boot3 boot4; do mvn -q -B -f sdk/java/pom.xml verify -P$$boot -Dtest=StarterTest \
		-Dsurefire.failIfNoSpecifiedTests=false || exit; done

.PHONY: build
build: ## build bin/platform-scheduler, static and stripped, with the console where Node 20 is
	@tools/console optional
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
	@tools/console
	@tools/release '$(if $(filter file,$(origin VERSION)),,$(VERSION))'

.PHONY: check
check: ## format, vet and short tests, no servers: up to 2 minutes on 2 cores
	@unformatted=$$(gofmt -l $(GO_SOURCES)); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	go vet $(PACKAGES)
	go test -short $(PACKAGES)

.PHONY: test
test: ## the tests of the gate with the race detector, beside private servers, and newcomer: up to 12 minutes
	@$(SERVICES)/install mysql redis kafka race shell prometheus browser || $(SERVICES)/install mysql redis kafka
	@SMALL=1 FAST=1 TEST_TIMEOUT=$(TEST_TIMEOUT) $(SERVICES)/with mysql redis kafka sentinel rediscluster -- test/services/gotest $(PACKAGES)

# SDK="python3 sdk/python/conformance.py" tests a worker of another language.
SDK ?=
.PHONY: sdk-test
sdk-test: ## the conformance suite of workers for the Go SDK, or for the command SDK=…
	go test -count=1 -timeout 10m ./test/conformance $(if $(SDK),-sdk '$(SDK)')

# MariaDB is beside `make test`. A failure of one of the three does not hide the others.
.PHONY: mysql
mysql: ## the store's contract, backups, the engine and a short crash run on MySQL itself: up to 4 minutes
	@SERVER=mysql $(SERVICES)/install mysql redis
	@SERVER=mysql SMALL=1 FAST=1 $(SERVICES)/with mysql redis -- bash -uc 'status=0; \
		go test -count=1 -timeout $(TEST_TIMEOUT) -run "$(MYSQL_TESTS)" ./infrastructure/persistence || status=1; \
		go test -count=1 -timeout $(TEST_TIMEOUT) -skip "/sqlite$$" $(MYSQL_ENGINE) || status=1; \
		go test -count=1 -timeout $(TEST_TIMEOUT) -run TestCrash/MySQL ./test/crash || status=1; \
		exit $$status'

.PHONY: degrade
degrade: ## what works while the store or Redis is slow, away or of another version
	@$(SERVICES)/install mysql redis
	@SMALL=1 FAST=1 $(SERVICES)/with mysql redis -- go test -count=1 -timeout $(TEST_TIMEOUT) ./test/degrade

# CRASH_SEED repeats the choices of a run.
.PHONY: crash
crash: build ## kill nodes and servers under load for CRASH_ROUNDS rounds (100)
	@$(SERVICES)/install mysql redis
	CRASH_ROUNDS=$(CRASH_ROUNDS) $(SERVICES)/with mysql redis -- \
		go test -count=1 -timeout 60m -v ./test/crash -run TestCrash -crash.long -crash.seed=$(CRASH_SEED)

# It starts servers of its own, because it kills them. FAULT_SEED repeats the plan of a run.
.PHONY: fault
fault: ## disturb a cluster of three nodes in every way for FAULT_MINUTES (10), and deliveries of alerts for DELIVERIES_FOR (4m)
	@$(SERVICES)/install mysql redis clock
	FAULT_MINUTES=$(FAULT_MINUTES) FAULT_SEED=$(FAULT_SEED) go test -count=1 -timeout $$(($(FAULT_MINUTES) + 20))m -v ./test/fault \
		-run '$(FAULT_TESTS)' -fault.long -fault.redis -deliveries.for $(DELIVERIES_FOR) $(FAULT_ARGS)

KILLS ?= 200
RUNS  ?= 5000
.PHONY: worker-kills
worker-kills: ## kill nodes and workers KILLS (200) times beside RUNS (5000) runs of workers: ten minutes
	@$(SERVICES)/install mysql redis
	go test -count=1 -timeout 40m -v ./test/fault -run TestKillsWhileRuns -fault.kills $(KILLS) -fault.under $(RUNS)

# BACKUP_MB is the size of the store.
BACKUP_MB ?= 1000
.PHONY: backup-cost
backup-cost: ## what a backup of a large store costs the runs beside it, on SQLite and on MariaDB: ten minutes
	@$(SERVICES)/install mysql
	$(SERVICES)/with mysql -- go test -count=1 -timeout 40m -v ./test/restore -run TestTheCostOfABackup \
		-restore.megabytes $(BACKUP_MB)

.PHONY: lease
lease: ## outages of the store and cuts of a node, each many times, for the leases of nodes
	@$(SERVICES)/install mysql redis
	go test -count=1 -timeout 90m -v ./test/fault -run 'TestAnOutageOfTheStore|TestANodeThatIsCutOff|TestLossesOfNodes' -lease.long

.PHONY: upgrade
upgrade: ## replace nodes of the former release by new ones under load; needs a clone with its history
	@$(SERVICES)/install mysql redis
	go test -count=1 -timeout 15m -v ./test/fault -run TestARollingUpgrade -fault.upgrade

.PHONY: kafka-faults
kafka-faults: ## kill, freeze, restart and start brokers late while events are published: three minutes; KAFKA_AWAY=5m
	@$(SERVICES)/install kafka
	go test -count=1 -timeout 20m -v ./test/kafka -run TestBrokersThatFail -kafka.faults -kafka.away $(KAFKA_AWAY)

.PHONY: prometheus-live
prometheus-live: ## ask a real Prometheus each expression of rules and dashboards, with faults: four minutes
	@$(SERVICES)/install mysql redis kafka prometheus
	@SMALL=1 FAST=1 $(SERVICES)/with mysql redis kafka -- go test -count=1 -timeout 10m -v ./test/prometheus \
		-run TestEachExpressionReturnsData -prometheus.live

.PHONY: grafana-schema
grafana-schema: ## check the dashboards against Grafana's own types; needs node and npm
	go test -count=1 -timeout 5m -v ./test/grafana -run TestTheDashboardsKeepGrafanasSchema -grafana.schema

.PHONY: matrix
matrix: ## kill and freeze nodes and helpers for MATRIX_ROUNDS rounds (200) while nasty commands run
	PS_MATRIX_ROUNDS=$(MATRIX_ROUNDS) go test -count=1 -timeout 30m -v -run TestMatrix ./test/commands

# SEED repeats one; without it there are SEEDS new ones.
.PHONY: simulate
simulate: ## three nodes in virtual time, disturbed for HOURS (1) by SEED, or by SEEDS (1) new ones: half a minute an hour
	go test -count=1 -timeout 24h -v ./test/simulate -run 'TestASeedOfTheSimulation$(if $(SIMULATE_FOUND),|TestSeedsThatFoundAFault)' \
		-simulate.seed='$(SEED)' -simulate.seeds='$(SEEDS)' -simulate.hours='$(HOURS)' -simulate.each='$(EACH)' \
		$(if $(SIMULATE_FOUND),-simulate.found)

.PHONY: compare
compare: build ## measure this build and the binary OLD in turns: COMPARE_ARGS
	go run ./test/compare -old $(OLD) -new $(BINARY) $(COMPARE_ARGS)

# Durable on both sides: SQLite with its default, the server with fsync per commit and binlog (BINLOG=0: without).
.PHONY: bench
bench: build ## throughput, lateness and stampede, on SQLite and on a durable private MariaDB (SERVER=mysql: MySQL)
	@$(SERVICES)/install mysql
	@for bench in $(BENCHES); do \
		printf '\n== %s, SQLite\n' "$$bench"; \
		PS_STORE_DRIVER=sqlite $(BINARY) bench "$$bench" $(BENCH_ARGS); \
	done
	@$(SERVICES)/with mysql -- bash -euc 'for bench in $(BENCHES); do \
		printf "\n== %s, $(STORE)\n" "$$bench"; \
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
docs: ## write api/openapi, dashboards, and the references in docs and configs from the code; types of the console
	go generate ./api/openapi ./infrastructure/config ./test/grafana
	UPDATE_DOCS=1 go test -count=1 ./api -run '^TestTheDocsShowWhatBadInputIsAnsweredWith$$'
	UPDATE_DOCS=1 go test -count=1 ./infrastructure/notify -run '^TestTheFormOfTheConsole'
	@if [ -d web/node_modules ]; then cd web && npm run --silent types; fi

endif
