package graph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/graph/schema"
)

// mutations are all mutations of the queue, each with the same selection.
func mutations(t *testing.T, selection, more string) map[string]string {
	t.Helper()
	served, err := schema.ParseServed(allModules)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range served.Mutation.Fields {
		if f.Arguments.ForName("selection") == nil {
			continue // carried out by the REST API
		}
		arguments := "selection: " + selection + more
		if f.Arguments.ForName("reason") != nil {
			arguments += `, reason: "No such customer"`
		}
		out[f.Name] = fmt.Sprintf(`mutation { %s(%s) { matched changed } }`, f.Name, arguments)
	}
	if len(out) == 0 {
		t.Fatal("there are no mutations")
	}
	return out
}

func TestMutationsTellHowManyTheyMatchedAndChanged(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for more, want := range map[string]string{"": `{"matched":3,"changed":2}`,
		", dryRun: true": `{"matched":3,"changed":0}`} {
		for name, query := range mutations(t, `{all: true}`, more) {
			if a := s.ask(t, query, nil); a.status != 200 || a.body != `{"data":{"`+name+`":`+want+`}}` {
				t.Errorf("%s got status %d and %s, want 200 and %s", query, a.status, a.body, want)
			}
		}
	}
	same(t, "calls", map[string]int{"ChangeQueueOf retry ": 2, "ChangeQueueOf hold ": 2, "ChangeQueueOf release ": 2,
		"ChangeQueueOf drop No such customer": 2}, s.calls.counted())
}

// Every mutation that changes something is in the audit log; refused ones and dry runs are not.
func TestMutationsAreAudited(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	var want []string
	for name, query := range mutations(t, `{all: true}`, "") {
		s.ask(t, query, nil)
		s.askAs(t, "svc_read", query, nil)
		want = append(want, ada+" "+name+" from 127.0.0.1")
	}
	for _, query := range mutations(t, `{all: true}`, ", dryRun: true") {
		s.ask(t, query, nil)
	}
	s.ask(t, `mutation($dry: Boolean!) { __typename retryDelivery(selection: {all: true}, dryRun: $dry) { changed } }`,
		map[string]any{"dry": true})
	s.ask(t,
		`mutation { ...both } fragment both on Mutation { retryDelivery(selection: {all: true}) { changed } again: holdDelivery(selection: {all: true}) { changed } }`, nil)
	want = append(want, ada+" retryDelivery from 127.0.0.1", ada+" holdDelivery from 127.0.0.1")
	slices.Sort(want)
	slices.Sort(s.done.entries)
	same(t, "the audit log", want, s.done.entries)
}

// The audit log says which email or recipient a mutation of the queue changed, and how.
func TestAuditLogNamesWhatAQueueMutationChanged(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]noted{
		`mutation { holdDelivery(selection: {email: "msg_001"}) { changed } }`: {"msg_001",
			map[string]any{"name": "Your receipt", "state": map[string]any{"from": "queued", "to": "held"}, "recipients": 0}},
		`mutation { releaseDelivery(selection: {recipients: ["9"]}) { changed } }`: {"msg_002",
			map[string]any{"name": "dan@example.org", "state": map[string]any{"from": "held", "to": "queued"}, "recipients": 0}},
		`mutation { x: dropDelivery(selection: {destination: "example.net"}, reason: "Spam") { changed } }`: {"",
			map[string]any{"destination": "example.net", "reason": "Spam",
				"state": map[string]any{"from": "queued", "to": "failed"}, "recipients": 0}},
		`mutation { retryDelivery(selection: {all: true}) { matched } }`: {"", map[string]any{"due": "now", "recipients": 2}},
	} {
		s := newServer(t, setup{emails: 1})
		if a := s.ask(t, query, nil); a.status != http.StatusOK || len(a.Errors) > 0 {
			t.Fatalf("%s returned status %d and %s", query, a.status, a.body)
		}
		same(t, query, []noted{want}, s.done.notes)
	}
}

func TestMutationsWantAFullKeyAndKeepToItsAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for name, query := range mutations(t, `{recipients: ["7", "8"]}`, "") {
		for _, key := range []string{"svc_read", "svc_sending"} {
			if a := s.askAs(t, key, query, nil); a.codes() != "insufficient_scope" || a.Data[name] != nil {
				t.Errorf("the key %s got %[3]s for the mutation %[2]s, want insufficient_scope and no data", key,
					name, a.body)
			}
		}
		if n := len(s.calls.counted()); n != 0 {
			t.Errorf("%s was done for a key that may not", name)
		}
		if a := s.askAs(t, "svc_bob", query, nil); a.body != `{"data":{"`+name+`":{"matched":0,"changed":0}}}` {
			t.Errorf("another account's: %s: %s", name, a.body)
		}
		clear(s.calls.counted())
	}
}

// A selection is never widened.
func TestASelectionThatNamesNothingIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	many := `["` + strings.Repeat(`1","`, maxRecipients) + `1"]`
	for selection, field := range map[string]string{
		`{}`:                                  "selection",
		`{all: false}`:                        "selection",
		`{email: null}`:                       "selection",
		`{all: true, destination: "a.test"}`:  "selection",
		`{recipients: []}`:                    "selection.recipients",
		`{all: true, recipients: []}`:         "selection.recipients",
		`{email: "", destination: "a.test"}`:  "selection.email",
		`{email: "msg_001", destination: ""}`: "selection.destination",
	} {
		for name, query := range mutations(t, selection, "") {
			if a := s.ask(t, query, nil); a.codes() != "validation_error" ||
				a.Errors[0].Extensions.Details[field] == "" {
				t.Errorf("%s with the selection %s got %s, want a validation_error of %s", name, selection,
					a.body, field)
			}
		}
	}
	var ids []string
	if err := json.Unmarshal([]byte(many), &ids); err != nil {
		t.Fatal(err)
	}
	const retry = `mutation($of: QueueSelection!) { retryDelivery(selection: $of) { matched } }`
	if a := s.ask(t, retry, map[string]any{"of": map[string]any{"recipients": ids}}); a.codes() != "validation_error" {
		t.Errorf("%d ids: %s", len(ids), a.body)
	}
	if a := s.ask(t, `mutation { dropDelivery(selection: {all: true}, reason: "") { matched } }`,
		nil); a.codes() != "validation_error" || a.Errors[0].Extensions.Details["reason"] == "" {
		t.Errorf("no reason: %s", a.body)
	}
	if n := len(s.calls.counted()); n != 0 {
		t.Errorf("something was done: %v", s.calls.counted())
	}
	// An ID with an unknown format matches nothing.
	if a := s.ask(t, `mutation { dropDelivery(selection: {recipients: ["7x"]}, reason: "x") { matched } }`,
		nil); a.body != `{"data":{"dropDelivery":{"matched":0}}}` {
		t.Errorf("unknown id: %s", a.body)
	}
}

// Links and forms of other sites cannot change anything.
func TestMutationsAreRefusedOverGETAndAsForms(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for name, query := range mutations(t, `{all: true}`, "") {
		get := request(t, s.url+"?query="+url.QueryEscape(query), "svc_full", "")
		get.Method = http.MethodGet
		if a := s.send(t, get); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d %s", name, a.status, a.body)
		}
		for _, media := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
			"text/plain"} {
			form := request(t, s.url, "svc_full", "query="+url.QueryEscape(query))
			form.Header.Set("Content-Type", media)
			if a := s.send(t, form); a.status != http.StatusUnsupportedMediaType {
				t.Errorf("%s as %s: %d %s", name, media, a.status, a.body)
			}
		}
	}
	if n := len(s.calls.counted()); n != 0 {
		t.Errorf("something was done: %v", s.calls.counted())
	}
}

func TestOneRequestAsksForAboutTenChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	ask := func(n int) answer {
		var fields strings.Builder
		for i := range n {
			fmt.Fprintf(&fields, "c%d: retryDelivery(selection: {all: true}, dryRun: true) { matched changed } ", i)
		}
		return s.ask(t, "mutation { "+fields.String()+"}", nil)
	}
	if a := ask(10); a.status != 200 || len(a.Errors) != 0 {
		t.Errorf("ten: %d %s", a.status, a.body)
	}
	if a := ask(13); a.codes() != refusal.CodeTooComplex {
		t.Errorf("thirteen: %d %s", a.status, a.body)
	}
}
