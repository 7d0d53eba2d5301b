package graph

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

type fakeStatistics struct{}

func (fakeStatistics) Query(context.Context, string, statistics.Question) (statistics.QueryResult, error) {
	return statistics.QueryResult{}, nil
}

func (fakeStatistics) QueryRuns(_ context.Context, accountID string,
	q statistics.RunQuestion) (out statistics.RunAnswer, err error) {
	if accountID != ada || q.AutomationID != "aut_001" || !q.ByStart || q.Interval != statistics.Hour ||
		q.Timezone != "Europe/Vienna" {
		return out, err
	}
	out.Totals = statistics.RunFigures{Started: 9, WithGoal: 8, Completed: 4, Failed: 2, Cancelled: 1, Converted: 3}
	out.Buckets = []statistics.RunBucket{{Start: day, Figures: out.Totals}}
	return out, err
}

func (fakeStatistics) AskReceived(_ context.Context, accountID string,
	q statistics.ReceivedQuestion) (out statistics.ReceivedAnswer, err error) {
	if accountID != ada || q.GroupBy == "" || q.Top != 20 || q.Interval != statistics.Day || q.Timezone != "UTC" {
		return out, err
	}
	figures := statistics.ReceivedFigures{Received: 3, Ham: 2, Spam: 1, Octets: 5_000_000_000}
	buckets := []statistics.ReceivedBucket{{Start: day, Figures: figures}}
	group := statistics.ReceivedGroup{Key: string(q.GroupBy), Label: "a label", Totals: figures, Buckets: buckets}
	answer := timeseries.Result[statistics.ReceivedFigures]{Totals: figures, Buckets: buckets,
		Groups: []statistics.ReceivedGroup{group}, Other: &statistics.ReceivedGroup{Totals: figures}}
	return statistics.ReceivedAnswer{Result: answer, AsOf: day}, nil
}

func TestReceivedMailIsCounted(t *testing.T) {
	t.Parallel()
	a := newServer(t, setup{}).ask(t, `{ receivedStatistics(range: {gte: "2026-01-01T00:00:00Z", lt: "2026-02-01T00:00:00Z"}, groupBy: SPAM_STATUS) {
		totals { received ham spam unknown octets } buckets { start figures { received } } groups { key label totals { spam } buckets { start } } other { label totals { ham } } asOf } }`, nil)
	at := "2026-01-15T09:30:00.007Z"
	same(t, "received mail", map[string]any{"totals": map[string]any{"received": 3.0, "ham": 2.0, "spam": 1.0,
		"unknown": 0.0, "octets": 5e9},
		"buckets": []any{map[string]any{"start": at, "figures": map[string]any{"received": 3.0}}},
		"groups": []any{map[string]any{"key": "spam_status", "label": "a label", "totals": map[string]any{"spam": 1.0},
			"buckets": []any{map[string]any{"start": at}}}},
		"other": map[string]any{"label": "other", "totals": map[string]any{"ham": 2.0}}, "asOf": at}, a.Data["receivedStatistics"])
}

func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	a := newServer(t, setup{}).ask(t, `{ automationStatistics(range: {gte: "2026-01-01T00:00:00Z", lt: "2026-02-01T00:00:00Z"}, interval: HOUR, timezone: "Europe/Vienna",
		automationId: "aut_001", placedBy: START) { totals { started withGoal completed failed cancelled converted conversionRate { numerator denominator } } buckets { start figures { converted } } } }`, nil)
	same(t, "runs", map[string]any{"totals": map[string]any{"started": 9.0, "withGoal": 8.0, "completed": 4.0,
		"failed": 2.0, "cancelled": 1.0, "converted": 3.0,
		"conversionRate": map[string]any{"numerator": 3.0, "denominator": 8.0}},
		"buckets": []any{map[string]any{"start": "2026-01-15T09:30:00.007Z", "figures": map[string]any{"converted": 3.0}}}},
		a.Data["automationStatistics"])
}

func (fakeStatistics) Reasons(context.Context, string, statistics.Range, statistics.Filter,
	int) ([]statistics.Reason, error) {
	return nil, nil
}

type fakeSeeds struct{}

func (fakeSeeds) SeedData() *SeedData {
	return &SeedData{APIKey: "svc_seeded", Domain: "dev.test", Failures: []string{"bounce"}}
}

type fakeDoctor struct{}

func (fakeDoctor) Problems() []InstallationFinding {
	return []InstallationFinding{{Check: "clock", Level: "warning", Found: "2 s", Expected: "0 s", Do: "Start chrony."},
		{Check: "dns.spf", Level: "error", Found: "nothing"}}
}

func TestNodesAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	const query = `{ node(id: "msg_001") { __typename id ... on Email { subject } }
		nodes(ids: ["dom_001", "msg_999", "nothing", "evt_1", "` + ada + `", "msg_001"]) { __typename id ... on Domain { name } } }`
	got := s.ask(t, query, nil)
	want := map[string]any{
		"node": map[string]any{"__typename": "Email", "id": "msg_001", "subject": "Your receipt"},
		"nodes": []any{map[string]any{"__typename": "Domain", "id": "dom_001", "name": "example.com"}, nil, nil, nil,
			map[string]any{"__typename": "Account", "id": ada}, map[string]any{"__typename": "Email", "id": "msg_001"}},
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("nodes (-want +got):\n%s\n%s", diff, got.body)
	}
	if got := s.askAs(t, "svc_sending", `{ node(id: "dom_001") { id } }`, nil); got.codes() != "insufficient_scope" {
		t.Errorf("a sending key finds a domain by its id: %s", got.body)
	}
	if got := s.ask(t, `{ nodes(ids: ["`+strings.Repeat(`x","`, maxNodes)+`x"]) { id } }`,
		nil); got.codes() != "validation_error" {
		t.Errorf("%d ids got %s, want a refusal", maxNodes+1, got.body)
	}
	few := newServer(t, setup{on: []string{"accounts"}})
	if got := few.ask(t, `{ node(id: "msg_001") { id } }`, nil); got.body != `{"data":{"node":null}}` {
		t.Errorf("an email, without the module sending: %s", got.body)
	}
}

func TestSearchFindsWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	kinds := func(a answer) (all []string) {
		for _, one := range a.Data["search"].([]any) {
			r := one.(map[string]any)
			all = append(all, r["type"].(string)+" "+r["id"].(string))
		}
		return all
	}
	const query = `query($q: String!) { search(query: $q) { type id title detail createdAt } }`
	for text, want := range map[string]string{"msg_001": "", "EXAMPLE.c": "DOMAIN dom_001",
		"key_001": "API_KEY key_001"} {
		got := s.ask(t, query, map[string]any{"q": text})
		if len(got.Errors) != 0 || want != "" && !strings.Contains(strings.Join(kinds(got), ", "), want) {
			t.Errorf("search for %s found %s, want %s", text, got.body, want)
		}
	}
	if got := s.askAs(t, "svc_read", query, map[string]any{"q": "key_001"}); strings.Contains(got.body, "API_KEY") {
		t.Errorf("a read key finds keys: %s", got.body)
	}
	if got := s.ask(t, `{ search(query: "example.com", types: [WEBHOOK]) { type } }`, nil); strings.Contains(got.body,
		"DOMAIN") {
		t.Errorf("endpoints only: %s", got.body)
	}
	for _, bad := range []string{`query: "x"`, `query: "` + strings.Repeat("x", 201) + `"`, `query: "xx", first: 0`,
		`query: "xx", first: 21`} {
		if got := s.ask(t, `{ search(`+bad+`) { id } }`, nil); got.codes() != "validation_error" {
			t.Errorf("search(%.40s) got %s, want a refusal", bad, got.body)
		}
	}
}

func TestHealthOfAccountAndInstallation(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	const query = `{ health { findings { code level found do subjectId } installation { code level } } }`
	got := s.ask(t, query, nil)
	if len(got.Errors) != 0 || !strings.Contains(got.body, `"installation":null`) {
		t.Errorf("the health of an account: %s", got.body)
	}
}

func TestPeopleRunTrustedDocuments(t *testing.T) {
	t.Parallel()
	const role = `{ viewer { role } }`
	s := newServer(t, setup{trusted: trusted.Documents{"abc": role}})
	ask := func(body string) answer {
		r := request(t, s.url, "", body)
		r.Header.Del("Authorization")
		r.Header.Set("Cookie", "postrider=owner")
		r.Header.Set("Origin", ownOrigin)
		return s.send(t, r)
	}
	if got := ask(`{"documentId": "sha256:abc"}`); got.body != `{"data":{"viewer":{"role":"OWNER"}}}` {
		t.Errorf("a trusted document: %s", got.body)
	}
	if got := ask(`{"documentId": "sha256:abc", "query": "{ __schema { types { name } } }"}`); got.body != `{"data":{"viewer":{"role":"OWNER"}}}` {
		t.Errorf("a trusted document along with a query: %s", got.body)
	}
	for body, code := range map[string]string{
		`{"query": "{ viewer { role } }"}`:                             refusal.CodeUntrusted,
		`{"query": "{ __schema { types { name } } }"}`:                 refusal.CodeUntrusted,
		`{"documentId": "sha256:abd"}`:                                 refusal.CodeUnknownDocument,
		`{"documentId": "abc"}`:                                        refusal.CodeUnknownDocument,
		`{"documentId": "sha256:abd", "query": "{ viewer { role } }"}`: refusal.CodeUnknownDocument,
	} {
		if got := ask(body); got.status != http.StatusBadRequest || got.codes() != code {
			t.Errorf("%s got %d %s, want %s", body, got.status, got.body, code)
		}
	}
	if got := s.ask(t, `{ viewer { role } }`, nil); got.body != `{"data":{"viewer":{"role":null}}}` {
		t.Errorf("a key runs any query: %s", got.body)
	}
}
