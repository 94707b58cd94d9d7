# Everything a contributor does has a target here; `make help` lists them.
# Needed: Go, make, git and a shell. Every tool is built from its Go module into bin/,
# under a name that bears its version; nothing is installed by hand.

SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
IMAGE ?= rollcall:dev

# How long the tests of one package may take.
TEST_FLAGS ?= -timeout 40m

# Packages whose tests start a cluster: one after the other, each has the machine to itself.
ALL_PACKAGES = $(shell go list ./...)
CLUSTER_PACKAGES = $(shell go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | awk '/\/test\/cluster[] ]/ { print $$1 }')

# The version of a tool stands in one place: its go.mod under hack/tools.
tool_version = $(shell awk '$$1 == "$(2)" || $$2 == "$(2)" { print $$(NF > 1 && $$1 == "require" ? 3 : 2) }' hack/tools/$(1)/go.mod)
CONTROLLER_GEN := $(BIN)/controller-gen-$(call tool_version,controller-gen,sigs.k8s.io/controller-tools)
GOLANGCI_LINT := $(BIN)/golangci-lint-$(call tool_version,golangci-lint,github.com/golangci/golangci-lint/v2)
LOCALCLUSTER := $(BIN)/localcluster

# Go modules of their own under hack/, the tools' aside: tested and linted like the main one.
HACK_MODULES := $(filter-out hack/tools/%,$(patsubst %/go.mod,%,$(sort $(wildcard hack/*/go.mod hack/*/*/go.mod))))

##@ General

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: clean
clean: ## Remove what was built (the local cluster's binaries stay in their cache).
	rm -rf $(BIN) cover.out

##@ Build

.PHONY: build
build: ## Build the manager into bin/manager.
	CGO_ENABLED=0 go build -o $(BIN)/manager ./cmd/manager

.PHONY: docker-build
docker-build: ## Build the manager's image; IMAGE names it.
	docker build --tag $(IMAGE) .

##@ Code

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies and apply configurations of the API.
	rm -rf api/v1alpha1/applyconfiguration
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) applyconfiguration paths=./api/...

.PHONY: manifests
manifests: $(CONTROLLER_GEN) ## Generate the CRDs and the manager's role.
	rm -rf config/crd/bases
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=manager paths=./controllers/... output:rbac:dir=config/rbac

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format all Go code.
	for module in . $(HACK_MODULES); do (cd $$module && $(GOLANGCI_LINT) fmt); done

.PHONY: lint
lint: $(GOLANGCI_LINT) $(CONTROLLER_GEN) ## Run the linters, and check that generated files are fresh.
	for module in . $(HACK_MODULES); do (cd $$module && $(GOLANGCI_LINT) run); done
	hack/verify-generated.sh

##@ Test

# Tests start their clusters with the launcher that is built here.
test test-e2e scenarios-live bench profile demo: export ROLLCALL_LOCALCLUSTER := $(LOCALCLUSTER)

.PHONY: test
test: cluster-build ## Run everything that a change must pass.
	for module in $(filter-out %/controlplane,$(HACK_MODULES)); do (cd $$module && go test $(TEST_FLAGS) ./...); done
	go test -count=1 $(TEST_FLAGS) ./test/scenarios -args -faults
	go test -count=1 $(TEST_FLAGS) -p 2 $(filter-out $(CLUSTER_PACKAGES),$(ALL_PACKAGES))
	go test -count=1 $(TEST_FLAGS) -p 1 $(CLUSTER_PACKAGES)
	go test -count=1 $(TEST_FLAGS) ./test/scenarios -args -world live -longest 2m

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster (fast).
	go test -short ./...

.PHONY: test-e2e
test-e2e: cluster-build ## Run the end-to-end tests on the local cluster.
	go test -count=1 -timeout 40m -v ./test/e2e/...

.PHONY: scenarios
scenarios: ## Run every scenario file, also with a fault after each write.
	go test -count=1 ./test/scenarios -args -faults

.PHONY: scenarios-live
scenarios-live: cluster-build ## Run the scenario files that fit a real control plane, in real time, with the real manager.
	go test -count=1 -timeout 60m -v ./test/scenarios -run TestScenarios -parallel 8 -args -world live

.PHONY: explore
explore: ## Walk the whole state space of small groups (hours).
	GOGC=600 go test -count=1 -timeout 24h -v ./test/explore -args -whole -record explored.log

# Each has a cluster and a manager to itself; they take an hour on two idle cores, most of it to make ten thousand pods.
BENCHMARKS ?= Roll ScaleDown Failover Group ManyGroups
run_bench = go test -count=1 -timeout 3h -run '^$$' -benchtime 1x ./test/e2e

.PHONY: bench
bench: cluster-build ## Measure; figures go to bin/bench.json, one a line, and their tables into docs/performance.md. BENCHMARKS names some.
	@mkdir -p $(BIN)
	@(for name in $(BENCHMARKS); do $(run_bench) -bench "^Benchmark$$name\$$" || exit 1; done; \
		go test -run '^$$' -bench . -benchtime 300x -benchmem ./coordinator) | awk -f hack/benchjson.awk | tee $(BIN)/bench.json
	@go run ./hack/benchtable -figures $(BIN)/bench.json -page docs/performance.md

.PHONY: profile
profile: cluster-build ## Keep profiles of the manager under the loads of the benchmarks, in bin/profiles.
	@for name in $(BENCHMARKS); do $(run_bench) -bench "^Benchmark$$name\$$" -args -profiles $(BIN)/profiles || exit 1; done

.PHONY: bench-assignors
bench-assignors: ## Measure the assignors beside franz-go's and sarama's; writes docs/assignor-benchmarks.md.
	@cd hack/assignorbench && go build -o $(BIN)/assignorbench .
	@$(BIN)/assignorbench -table docs/assignor-benchmarks.md

##@ Local cluster

.PHONY: demo
demo: cluster-build ## Tell the whole story on a local cluster; KEEP=1 leaves it running.
	@go build -o $(BIN)/demo ./hack/demo
	@$(BIN)/demo

.PHONY: cluster
cluster: cluster-build ## Start a local cluster and say how to reach it.
	$(LOCALCLUSTER) up

.PHONY: run
run: build cluster-build ## Run the manager here, against the local cluster, until Ctrl-C.
	$(LOCALCLUSTER) exec kubectl apply -k config/default
	$(BIN)/manager --leader-elect-namespace=rollcall-system --metrics-bind-address=0 \
		--kubeconfig=$$($(LOCALCLUSTER) kubeconfig --user system:serviceaccount:rollcall-system:rollcall-manager)

.PHONY: cluster-down
cluster-down: $(LOCALCLUSTER) ## Stop the local cluster.
	$(LOCALCLUSTER) down

# The control plane itself is built once, into a cache (about ten minutes on two cores).
.PHONY: cluster-build
cluster-build: $(LOCALCLUSTER)
	$(LOCALCLUSTER) build

# Always asked; Go's build cache makes it quick when nothing changed.
.PHONY: $(LOCALCLUSTER)
$(LOCALCLUSTER):
	cd hack/localcluster && go build -o $@ .

$(CONTROLLER_GEN):
	cd hack/tools/controller-gen && go build -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOLANGCI_LINT):
	cd hack/tools/golangci-lint && nice go build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
