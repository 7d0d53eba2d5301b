package webhooks

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	adaDomain, otherDomain = "dom_01kf0m4w7he6x8q2v5b3n9c1ta", "dom_01kf0m4w7he6x8q2v5b3n9c1tb"
	adaTemplate            = "tpl_01kf0m4w7he6x8q2v5b3n9c1ta"
	adaAutomation          = "aut_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// insertRow inserts a row with the given columns. The other required columns get a value of their type.
func (w *world) insertRow(t testing.TB, table string, row map[string]any) {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	// Foreign keys and checks belong to other modules.
	w.exec(t, `DO $$ DECLARE r record; given jsonb := '`+strings.ReplaceAll(string(text), "'", "''")+`'; BEGIN
		SET LOCAL session_replication_role = replica;
		FOR r IN SELECT column_name AS c, data_type AS d FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = '`+table+`' AND is_nullable = 'NO' AND column_default IS NULL LOOP
			IF NOT given ? r.c THEN
				given := given || jsonb_build_object(r.c, CASE WHEN r.d LIKE 'timestamp%' THEN to_jsonb(now()) WHEN r.d IN ('integer', 'bigint') THEN to_jsonb(0)
					WHEN r.d = 'boolean' THEN to_jsonb(false) WHEN r.d = 'jsonb' THEN '[]'::jsonb ELSE to_jsonb('x'::text) END);
			END IF;
		END LOOP;
		EXECUTE (SELECT format('INSERT INTO `+table+` (%s) SELECT %1$s FROM jsonb_populate_record(NULL::`+table+`, $1)',
			string_agg(quote_ident(k), ', ')) FROM jsonb_object_keys(given) k) USING given;
	END $$`)
}

func (w *world) insertEmail(t testing.TB, accountID, domainID string, more map[string]any) string {
	t.Helper()
	row := map[string]any{"id": id.New(id.Email), "account_id": accountID, "domain_id": domainID, "status": "sent"}
	maps.Copy(row, more)
	w.insertRow(t, "emails", row)
	return row["id"].(string)
}

// Events reach exactly the endpoints whose filter they match, on each of the ways on which deliveries are created.
func TestFilteredEndpointsReceiveMatchingEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, one := range []string{adaDomain, otherDomain} {
		w.insertRow(t, "domains", map[string]any{"id": one, "account_id": ada, "name": one + ".test"})
	}
	w.insertRow(t, "templates", map[string]any{"id": adaTemplate, "account_id": ada})
	w.insertRow(t, "automations", map[string]any{"id": adaAutomation, "account_id": ada})
	run, received := id.New(id.Run), id.New(id.ReceivedEmail)
	w.insertRow(t, "automation_runs", map[string]any{"id": run, "account_id": ada, "automation_id": adaAutomation})
	w.insertRow(t, "received_emails", map[string]any{"id": received, "account_id": ada, "domain_id": adaDomain})

	receipt := shape.TagFilter{Name: "kind", Value: "receipt"}
	filters := map[string]*shape.WebhookFilter{
		"all": nil, "empty": {},
		"domain": {DomainIDs: []string{adaDomain}}, "template": {TemplateIDs: []string{adaTemplate}},
		"automation": {AutomationIDs: []string{adaAutomation}}, "tag": {Tags: []shape.TagFilter{receipt}},
		"tag name": {Tags: []shape.TagFilter{{Name: "kind"}}},
		"both":     {DomainIDs: []string{adaDomain, otherDomain}, Tags: []shape.TagFilter{receipt, {Name: "env"}}},
	}
	endpoints := map[string]string{} // by id
	for name, filter := range filters {
		made, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: "https://hooks.example.com", Filter: filter})
		if err != nil {
			t.Fatalf("creating the endpoint %s failed: %v", name, err)
		}
		endpoints[made.ID] = name
	}
	kind := func(value string) map[string]any {
		return map[string]any{"tags": []shape.Tag{{Name: "x", Value: "y"}, {Name: "kind", Value: value}}}
	}
	for name, c := range map[string]struct {
		subject string
		typ     event.Type
		want    []string
	}{
		"plain":       {w.insertEmail(t, ada, adaDomain, nil), event.EmailSent, []string{"domain"}},
		"other":       {w.insertEmail(t, ada, otherDomain, nil), event.EmailSent, nil},
		"receipt":     {w.insertEmail(t, ada, otherDomain, kind("receipt")), event.EmailSent, []string{"both", "tag", "tag name"}},
		"welcome":     {w.insertEmail(t, ada, adaDomain, kind("welcome")), event.EmailSent, []string{"domain", "tag name"}},
		"template":    {w.insertEmail(t, ada, otherDomain, map[string]any{"template_id": adaTemplate}), event.EmailSent, []string{"template"}},
		"automation":  {w.insertEmail(t, ada, otherDomain, map[string]any{"automation_id": adaAutomation}), event.EmailSent, []string{"automation"}},
		"foreign":     {w.insertEmail(t, eve, adaDomain, kind("receipt")), event.EmailSent, nil},
		"run":         {run, event.AutomationStarted, []string{"automation"}},
		"received":    {received, event.EmailReceived, []string{"domain"}},
		"domain":      {adaDomain, event.DomainUpdated, []string{"domain"}},
		"suppression": {id.New(id.Suppression), event.SuppressionAdded, nil},
	} {
		want := append([]string{"all", "empty"}, c.want...)
		slices.Sort(want)
		entry, _ := event.Lookup(c.typ)
		fact := event.New(ada, c.typ, time.Now(), entry.Sample)
		fact.SubjectID = c.subject
		got := func() (names []string) {
			ids, err := db.All(t.Context(), w.db.SQL, db.Value[string],
				`SELECT webhook_id FROM webhook_deliveries WHERE event_id = $1`, fact.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range ids {
				names = append(names, endpoints[one])
			}
			slices.Sort(names)
			return names
		}
		w.exec(t, `INSERT INTO facts (id, account_id, type, subject_id, data, created_at) VALUES ($1, $2, $3, $4, $5, now())`,
			fact.ID, ada, fact.Type, fact.SubjectID, string(fact.Data))
		create := map[string]func() error{
			"claimed": func() error {
				w.handed.open.Store(true)
				defer w.handed.open.Store(false)
				_, err := w.fanOutFresh(t.Context(), w.db.SQL, []queuedEvent{{fact: fact}})
				w.dropHandedOver()
				return err
			},
			"queued": func() error {
				_, err := fanOut(t.Context(), w.db.SQL, fanOutSQL, []queuedEvent{{fact: fact}})
				return err
			},
			"late": func() error {
				_, err := fanOut(t.Context(), w.db.SQL, fanOutLateSQL, []queuedEvent{{fact: fact}})
				return err
			},
			"recovered": func() error {
				for webhookID := range endpoints {
					if _, err := w.Recover(t.Context(), ada, webhookID, Recovery{Since: time.Now().Add(-time.Hour)}); err != nil {
						return err
					}
				}
				return nil
			},
		}
		for way, run := range create {
			w.exec(t, `TRUNCATE webhook_deliveries, webhook_works, webhook_claims`)
			if err := run(); err != nil {
				t.Fatalf("creating the %s delivery of %s failed: %v", way, name, err)
			}
			if names := got(); !slices.Equal(names, want) {
				t.Errorf("%s, %s: the event reached %q; want %q", name, way, names, want)
			}
		}
		w.exec(t, `DELETE FROM facts`)
	}
}

func TestFilterNamesOwnObjectsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insertRow(t, "domains", map[string]any{"id": adaDomain, "account_id": eve, "name": "eve.test"})
	w.insertRow(t, "domains", map[string]any{"id": otherDomain, "account_id": ada, "name": "ada.test"})
	for field, filter := range map[string]*shape.WebhookFilter{
		"filter.domain_ids[1]":     {DomainIDs: []string{otherDomain, adaDomain}},
		"filter.domain_ids[0]":     {DomainIDs: []string{"example.com"}},
		"filter.template_ids[0]":   {TemplateIDs: []string{otherDomain}},
		"filter.automation_ids[0]": {AutomationIDs: []string{adaAutomation}},
		"filter.tags[0].name":      {Tags: []shape.TagFilter{{Value: "x"}}},
		"filter.tags[0]":           {Tags: []shape.TagFilter{{Name: strings.Repeat("x", MaxTagFilter+1)}}},
		"filter.tags":              {Tags: make([]shape.TagFilter, MaxFilterEntries+1)},
	} {
		_, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: "https://hooks.example.com", Filter: filter})
		if wrong := fieldsOf(err); len(wrong) != 1 || wrong[field] == "" {
			t.Errorf("%+v: %v; want an error of %s", filter, err, field)
		}
	}
	made, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	change := EndpointChange{Filter: &shape.WebhookFilter{DomainIDs: []string{otherDomain}}}
	if got, err := w.Update(t.Context(), ada, made.ID, change); err != nil || got.Filter == nil ||
		!slices.Equal(got.Filter.DomainIDs, []string{otherDomain}) {
		t.Fatalf("a filter was set to %+v, %v", got, err)
	}
	if got, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Filter: &shape.WebhookFilter{}}); err != nil || got.Filter != nil {
		t.Fatalf("a filter was cleared to %+v, %v", got, err)
	}
}

func fieldsOf(err error) map[string]string {
	if err == nil {
		return nil
	}
	return fault.Classify(err).Fields
}

// Requests carry the header fields of their endpoint, which are stored encrypted and shown masked.
func TestRequestsCarryHeaders(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t).run(t), newReceiver(t)
	made, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: r.URL, Description: "orders",
		Headers: map[string]string{"Authorization": "Bearer s3cret-value", "X-Team": "a b"}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(made.Headers), "s3cret") || made.Description != "orders" {
		t.Errorf("the endpoint was stored as %+v", made)
	}
	if got := MaskedHeaders(made); len(got) != 2 || got["Authorization"] != secret.Mask {
		t.Errorf("the header fields are shown as %v", got)
	}
	w.publishSample(t, ada, event.EmailSent) // claimed by the transaction that creates it
	received := func(n int) http.Header {
		eventually(t, "the request arrives", func() bool { return len(r.received()) >= n })
		return r.received()[n-1].header
	}
	if h := received(1); h.Get("Authorization") != "Bearer s3cret-value" || h.Get("X-Team") != "a b" ||
		h.Get("Content-Type") != "application/json" {
		t.Errorf("the request had the header %v", h)
	}
	// A mask keeps a value; a field that is absent is removed.
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Headers: &map[string]string{
		"Authorization": secret.Mask, "X-New": "1"}}); err != nil {
		t.Fatal(err)
	}
	w.handed.open.Store(false) // claimed by the worker
	w.publishSample(t, ada, event.EmailSent)
	if h := received(2); h.Get("Authorization") != "Bearer s3cret-value" || h.Get("X-Team") != "" || h.Get("X-New") != "1" {
		t.Errorf("the request after a change had the header %v", h)
	}
	if got, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Headers: &map[string]string{}}); err != nil ||
		got.Headers != nil || got.HeaderNames != nil {
		t.Errorf("header fields were cleared to %+v, %v", got, err)
	}
}

func TestHeadersAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := map[string]string{}
	for i := range MaxHeaders + 1 {
		many["X-"+string(rune('a'+i))] = "1"
	}
	for field, headers := range map[string]map[string]string{
		"headers.X-Break":         {"X-Break": "a\r\nX-Injected: 1"},
		"headers.X-Nul":           {"X-Nul": "a\x00"},
		"headers.X-Umlaut":        {"X-Umlaut": "ä"},
		"headers.X-Empty":         {"X-Empty": ""},
		"headers.X-Mask":          {"X-Mask": secret.Mask},
		"headers.Host":            {"Host": "internal"},
		"headers.content-length":  {"content-length": "1"},
		"headers.Webhook-Id":      {"Webhook-Id": "1"},
		"headers.service-event":   {"service-event": "1"},
		"headers.x-twice":         {"X-Twice": "1", "x-twice": "2"},
		"headers":                 many,
		"headers.Accept-Encoding": {"Accept-Encoding": "br"},
	} {
		_, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: "https://hooks.example.com", Headers: headers})
		if wrong := fieldsOf(err); len(wrong) != 1 || wrong[field] == "" {
			t.Errorf("%q: %v; want an error of %s", headers, err, field)
		}
	}
	for _, headers := range []map[string]string{{"X\r\nY": "1"}, {"": "1"}, {"X:": "1"},
		{"X-Long": strings.Repeat("x", MaxHeaderBytes)}} {
		if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: "https://hooks.example.com",
			Headers: headers}); fieldsOf(err)["headers"] == "" {
			t.Errorf("%q: %v; want an error of headers", headers, err)
		}
	}
}

// A member who changes the URL cannot direct the secrets of the header to another server.
func TestHeadersStayWithTheirHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: "https://hooks.example.com/a",
		Headers: map[string]string{"Authorization": "Bearer x"}})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, sameHost := "https://evil.example.net/a", "https://HOOKS.example.com/b"
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{URL: &elsewhere}); fieldsOf(err)["headers"] == "" {
		t.Errorf("another host without header fields: %v", err)
	}
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{URL: &elsewhere,
		Headers: &map[string]string{"Authorization": secret.Mask}}); fieldsOf(err)["headers.Authorization"] == "" {
		t.Errorf("another host with a mask: %v", err)
	}
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{URL: &sameHost}); err != nil {
		t.Errorf("another path of the host: %v", err)
	}
	if got, err := w.Update(t.Context(), ada, made.ID, EndpointChange{URL: &elsewhere,
		Headers: &map[string]string{"Authorization": "Bearer y"}}); err != nil || got.URL != elsewhere {
		t.Errorf("another host with new values: %+v, %v", got, err)
	}
	plain, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	if _, err := w.Update(t.Context(), ada, plain.ID, EndpointChange{URL: &elsewhere}); err != nil {
		t.Errorf("another host of an endpoint without header fields: %v", err)
	}
}
