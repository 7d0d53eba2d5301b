package journeys_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/test/harness"
)

// For every operation with an id and every list: a test key of the same account reads only what both modes share,
// changes nothing of live mode, and gets the response of an unknown id for everything else.
func TestTestKeysSeeNothingOfLiveMode(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	ids := map[string]string{}
	for resource, kind := range owned {
		ids[resource] = kind.add(t, app)
	}
	waitForStatus(t, app, ids["/emails"], "delivered")
	before := app.MX.Stats().Messages
	checked := 0
	for _, o := range listsFirst(operations(t, app)) {
		kind, covered := owned[o.resource()]
		switch {
		case !o.keys || o.isTestOnly() || o.endless:
		case o.isList():
			checked++
			checkListOfOtherMode(t, o, test, ids)
		case strings.Contains(o.path, "{") && covered:
			checked++
			checkIDOfOtherMode(t, o, app, test, ids[o.resource()], kind.unknown)
		}
	}
	if checked < 50 {
		t.Errorf("checked %d operations, want those of all resources", checked)
	}
	if after := app.MX.Stats().Messages; after != before {
		t.Errorf("requests of a test key sent %d messages", after-before)
	}
}

func (o operation) isList() bool {
	return o.hasParameter("query", "cursor") && !strings.Contains(o.path, "{")
}

// listsFirst sorts lists to the beginning, those of shared records last, because the API log shows later what a request
// was about.
func listsFirst(all []operation) []operation {
	rank := func(o operation) int {
		switch {
		case !o.isList():
			return 2
		case o.isShared():
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func checkListOfOtherMode(t *testing.T, o operation, client *harness.App, ids map[string]string) {
	t.Helper()
	got := client.Do(t, o.method, o.pathFor(""), nil)
	if got.Status != http.StatusOK && got.Status != http.StatusForbidden {
		t.Errorf("%s in the other mode got %d %s, want 200 or 403", o, got.Status, got.Body)
	}
	for resource, id := range ids {
		if strings.Contains(string(got.Body), id) && !(o.isShared() && strings.HasPrefix(o.path, resource)) {
			t.Errorf("%s shows %s of the other mode: %s", o, id, got.Body)
		}
	}
}

func checkIDOfOtherMode(t *testing.T, o operation, owner, client *harness.App, id, unknown string) {
	t.Helper()
	record := "/api" + o.resource() + "/" + id
	if o.resource() == "/template-images" {
		record = "/api/template-images" // an image is only listed
	}
	before := owner.Do(t, http.MethodGet, record, nil)
	foreign, none := client.Do(t, o.method, o.pathFor(id), o.body), client.Do(t, o.method, o.pathFor(unknown), o.body)
	// Both modes see a shared record, so an operation on it can also reject its body.
	shared := o.isShared() && (foreign.Status < http.StatusMultipleChoices || foreign.Status == http.StatusNotFound ||
		foreign.Status == http.StatusBadRequest)
	if diff := gocmp.Diff(normalizeAnswer(none, unknown), normalizeAnswer(foreign, id)); diff != "" && !shared {
		t.Errorf("%s distinguishes an id of the other mode from an unknown one (-unknown +other):\n%s", o, diff)
	}
	if foreign.Status != http.StatusNotFound && foreign.Status != http.StatusForbidden && !shared {
		t.Errorf("%s of the other mode got %d %s, want 403 or 404", o, foreign.Status, foreign.Body)
	}
	if after := owner.Do(t, http.MethodGet, record, nil); before.Status != http.StatusOK ||
		string(after.Body) != string(before.Body) {
		t.Errorf("%s changed the record of the other mode: %d %s, before %s", o, after.Status, after.Body, before.Body)
	}
}

// A live key, and a test key of another account, see nothing of test mode.
func TestLiveKeysSeeNothingOfTestMode(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	stranger := app.Stranger(t, "stranger")
	other := withKey(stranger, keyFor(t, stranger.Do, asked{"name": "tests", "mode": "test"}))
	ids := map[string]string{}
	for _, resource := range []string{"/emails", "/suppressions", "/webhooks", "/webhook-deliveries", "/requests"} {
		ids[resource] = owned[resource].add(t, test)
	}
	waitForStatus(t, test, ids["/emails"], "delivered")
	captured := latest(t, test, "bob@example.net").CapturedEmail.ID
	for _, o := range listsFirst(operations(t, app)) {
		for name, client := range map[string]*harness.App{"a live key": app, "another account's test key": other} {
			id := ids[o.resource()]
			switch {
			case !o.keys || o.endless:
			case o.isList():
				checkListOfOtherMode(t, o, client, ids)
			case o.isTestOnly() && strings.Contains(o.path, "{"):
				if got := client.Do(t, o.method, o.pathFor(captured), nil); got.Status != http.StatusForbidden &&
					got.Status != http.StatusNotFound {
					t.Errorf("%s by %s got %d %s, want 403 or 404", o, name, got.Status, got.Body)
				}
			case strings.Contains(o.path, "{") && id != "":
				checkIDOfOtherMode(t, o, test, client, id, owned[o.resource()].unknown)
			}
		}
	}
	var fields struct {
		Schema struct{ QueryType struct{ Fields []rootField } } `json:"__schema"`
	}
	app.Query(t, `{__schema{queryType{fields{name args{name}}}}}`, &fields)
	for _, f := range fields.Schema.QueryType.Fields {
		id := ids["/"+f.Name+"s"]
		if !f.hasArgument("id") || id == "" {
			continue
		}
		query := asked{"query": `{` + f.Name + `(id:"` + id + `"){id}}`}
		if got := string(app.Do(t, http.MethodPost, "/graphql", query).Body); got != `{"data":{"`+f.Name+`":null}}` {
			t.Errorf("a live key reading %s of test mode over GraphQL got %s", f.Name, got)
		}
		if got := string(test.Do(t, http.MethodPost, "/graphql", query).Body); !strings.Contains(got, id) {
			t.Errorf("a test key reading its own %s over GraphQL got %s", f.Name, got)
		}
		if access, decided := rights.TestAccessOfField("Query." + f.Name); !decided || access == rights.LiveOnly {
			t.Errorf("Query.%s is not for test mode", f.Name)
		}
	}
}
