# Lockstep. `make help` explains every target.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

IMG ?= ghcr.io/lockstep-dev/lockstep:dev
# RocketMQ versions of the end-to-end tests.
LOCKSTEP_E2E_VERSIONS ?= 4.9.7 5.3.3 5.5.0
export LOCKSTEP_E2E_VERSIONS
# Go test flags of every layer, for instance GOTESTFLAGS='-run TestR02 -v'.
GOTESTFLAGS ?=

CONTROLLER_GEN = "$$(hack/tool.sh hack/tools sigs.k8s.io/controller-tools/cmd/controller-gen controller-gen)"
KUSTOMIZE = "$$(hack/tool.sh hack/tools sigs.k8s.io/kustomize/kustomize/v5 kustomize)"
GOLANGCI_LINT = "$$(hack/tool.sh hack/lint sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter golangci-lint)"

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z0-9_-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it

# A cluster is used only when it was named on the command line (make demo
# KUBECONFIG=FILE): the variable of the same name in the environment is not meant.
DEMO_CLUSTER = $(if $(findstring command,$(origin KUBECONFIG)),--kubeconfig "$(KUBECONFIG)")

.PHONY: demo
demo: ## Show the main job on this machine: a real RocketMQ shrinks a topic from 128 to 64 queues, losing nothing.
	hack/demo.sh run $(DEMO_CLUSTER)

.PHONY: demo-up
demo-up: ## Start the demo's parts and leave them running to play with.
	hack/demo.sh up $(DEMO_CLUSTER)

.PHONY: demo-down
demo-down: ## Stop what demo-up started.
	hack/demo.sh down

##@ Build

.PHONY: build
build: ## Build the operator into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/manager ./cmd/manager

.PHONY: docker-build
docker-build: ## Build the image IMG.
	docker build -t $(IMG) .

.PHONY: generate
generate: ## Regenerate deepcopy code, CRDs and RBAC from the Go sources.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=lockstep-manager paths=./controllers/... output:rbac:dir=config/rbac

##@ Install on a cluster

.PHONY: install
install: ## Install the CRDs into the current cluster.
	kubectl apply --server-side -k config/crd

.PHONY: deploy
deploy: ## Install CRDs and operator into the current cluster.
	kubectl apply --server-side -k config/default

.PHONY: undeploy
undeploy: ## Remove the operator; CRDs and objects stay.
	kubectl delete --ignore-not-found -k config/manager

##@ Test

.PHONY: test
test: test-unit test-envtest test-e2e ## Run every test, installing what it needs.

.PHONY: test-unit
test-unit: ## Run the tests that need nothing but Go: tables, properties, the model, the in-process broker.
	go test $(GOTESTFLAGS) ./...

.PHONY: test-envtest
test-envtest: ## Run the tests against a real kube-apiserver and etcd.
	KUBEBUILDER_ASSETS="$$(hack/control-plane.sh --only envtest | tail -1)" go test -tags envtest $(GOTESTFLAGS) ./api/... ./controllers/...

.PHONY: test-e2e
test-e2e: ## Run the tests against real RocketMQ servers and clients on a real control plane.
	hack/test-e2e.sh $(GOTESTFLAGS)

.PHONY: test-race
test-race: ## Run the unit tests under the race detector.
	go test -race $(GOTESTFLAGS) ./internal/... ./controllers/...

.PHONY: model
model: ## Explore the model of queue changes further than test-unit does: one event more, ten times the random runs.
	LOCKSTEP_EXPLORE_STATES=0 LOCKSTEP_EXPLORE_EVENTS=1 go test -timeout 0 -count 1 -run 'TestModel' -v ./internal/resize -rapid.checks=1000 | grep -v -e '^=== ' -e 'OK, passed'

.PHONY: soak
soak: ## Resize at random while everything is killed at random, and count every message: SOAK=10m, SOAK_SEED, SOAK_VERSION.
	hack/soak.sh

.PHONY: fuzz
fuzz: ## Fuzz every decoder for FUZZTIME each (default 30s).
	hack/fuzz.sh $${FUZZTIME:-30s}

.PHONY: bench
bench: ## Measure first convergence, calls per sweep, second pass, memory, sharing of queues; writes docs/benchmarks.md.
	hack/bench.sh

##@ Keep it clean

.PHONY: fmt
fmt: ## Format the Go code.
	gofmt -w $$(git ls-files '*.go')

.PHONY: lint
lint: ## Run golangci-lint with the Kubernetes API conventions linter.
	$(GOLANGCI_LINT) run ./...

.PHONY: verify
verify: ## Regenerate everything and fail on any difference; check formatting, lint, modules, citations and links.
	hack/verify.sh
