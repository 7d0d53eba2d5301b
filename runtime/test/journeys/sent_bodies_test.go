package journeys_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// With POSTRIDER_BLOBS_SENT_AFTER the body of a delivered email moves out of the database, and no response
// changes, including those of a process that only accepts. While the store is unavailable, bodies return 503
// and everything else works. Erasing the person deletes the object.
func TestSentBodiesMoveToObjectStore(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	s := scenarioOf(t, harness.Start(t, func(settings setting.RawValues) {
		settings["POSTRIDER_BLOBS"], settings["POSTRIDER_BLOBS_SENT_AFTER"] = store.Setting(), "10s"
	}))
	s.MailDomain(t, "bob.test")
	id := s.sendMessage(t, []string{"bob@bob.test"}, `"html":"<p>Grüße &amp; mehr</p>"`, `"headers":{"X-Order":"17"}`,
		`"attachments":[{"name":"a.txt","data":"b25l"}]`)
	const query = `{ email(id: "ID") { id status snippet content { html text raw headers { name value } attachments { name size } } } emails(first: 5) { nodes { id snippet content { html text } } } }`
	path := "/api/emails/" + id
	ask := func(app *harness.App) string {
		rest, graph := app.Do(t, http.MethodGet, path, nil), app.Do(t, http.MethodPost, "/graphql",
			map[string]string{"query": strings.Replace(query, "ID", id, 1)})
		if rest.Status != http.StatusOK || graph.Status != http.StatusOK ||
			strings.Contains(string(graph.Body), `"errors"`) {
			t.Fatalf("REST %d %s\nGraphQL %d %s", rest.Status, rest.Body, graph.Status, graph.Body)
		}
		return string(rest.Body) + "\n" + string(graph.Body)
	}
	count := func(where string) (n int) {
		if err := s.db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	harness.Eventually(t, "it is delivered", func() bool { return count(`emails WHERE status = 'delivered'`) == 1 })
	before := ask(s.App)
	expect.Eventually(t, "its body is in the store alone", func() bool {
		return count(`emails WHERE body_key IS NOT NULL AND html IS NULL AND text IS NULL AND mime IS NULL`) == 1 && count("body_moves") == 0
	})
	if n := len(store.Objects(t)); n != 2 {
		t.Errorf("%d objects", n)
	}
	if after := ask(s.App); after != before {
		t.Errorf("before the move:\n%s\nafter it:\n%s", before, after)
	}
	accepting := s.StartPeer(t, func(settings setting.RawValues) {
		settings["POSTRIDER_DELIVERY_CONCURRENCY"], settings["POSTRIDER_NODE"] = "0", "accepting"
	}, nil)
	accepting.APIKey = s.APIKey
	if after := ask(accepting); after != before {
		t.Errorf("before the move:\n%s\na process that only accepts:\n%s", before, after)
	}

	store.Fault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
	if got := s.Do(t, http.MethodGet, path, nil); got.Status != http.StatusServiceUnavailable ||
		!strings.Contains(string(got.Body), "object store") || got.Header.Get("Retry-After") == "" {
		t.Errorf("with the store unavailable: %d %v %s", got.Status, got.Header, got.Body)
	}
	if got := s.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusOK ||
		!strings.Contains(string(got.Body), id) {
		t.Errorf("the list with the store unavailable: %d %s", got.Status, got.Body)
	}
	got := string(s.Do(t, http.MethodPost, "/graphql",
		map[string]string{"query": `{ email(id: "` + id + `") { status snippet content { html } } }`}).Body)
	for _, want := range []string{`"status":"DELIVERED"`, `"snippet":"Hello"`, `"html":null`, "object store",
		`"code":"body_unavailable"`, `"path":["email","content","html"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("GraphQL with the store unavailable lacks %s: %s", want, got)
		}
	}
	store.Fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })

	if got := s.Do(t, http.MethodDelete, "/api/contacts/bob@bob.test/data", nil); got.Status != http.StatusOK {
		t.Fatalf("erase: %d %s", got.Status, got.Body)
	}
	expect.Eventually(t, "the object is gone", func() bool {
		s.exec(t, `UPDATE body_moves SET due_at = now() WHERE due_at > now() AND attempts = 0`) // it waits a minute, for readers
		return len(store.Objects(t)) == 0 && count("body_moves") == 0
	})
}

// While a process of another version runs, which might not support moved bodies, none are moved.
func TestBodiesAreNotMovedWhileAnotherVersionRuns(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	first := scenarioOf(t, harness.Start(t,
		func(settings setting.RawValues) { settings["POSTRIDER_BLOBS"] = store.Setting() }))
	first.MailDomain(t, "bob.test")
	first.sendMessage(t, []string{"bob@bob.test"})
	count := func(where string) (n int) {
		if err := first.db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	harness.Eventually(t, "it is delivered", func() bool { return count(`emails WHERE status = 'delivered'`) == 1 })
	newer := first.StartPeer(t, func(settings setting.RawValues) {
		settings["POSTRIDER_BLOBS_SENT_AFTER"], settings["POSTRIDER_NODE"] = "10s", "newer"
	}, func(o *app.Options) { o.Version = "newer" })
	harness.Eventually(t, "it logs why nothing is moved", func() bool {
		return strings.Contains(newer.Log.String(), "moving bodies is paused while a process of another version runs")
	})
	if n := count(`schema_migrations WHERE oldest = version AND name LIKE '%_sent_bodies.sql'`); n != 0 {
		t.Error("older programs are rejected although nothing was moved")
	}
}

// silentLimit bounds a response while the object store is silent. The promise is five seconds. A loaded test
// machine may take longer, but far less than the minute after which a request to the store ends.
const silentLimit = 20 * time.Second

// Requests that need a body get 503 body_unavailable in time, over every API, when the store accepts requests and never
// responds. Requests that need no body succeed.
func TestSilentObjectStoreDelaysNoResponse(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	s := scenarioOf(t, harness.Start(t, func(settings setting.RawValues) {
		settings["POSTRIDER_BLOBS"], settings["POSTRIDER_BLOBS_SENT_AFTER"] = store.Setting(), "10s"
	}))
	s.MailDomain(t, "bob.test")
	sent := s.sendMessage(t, []string{"bob@bob.test"})
	receive(t, s.App, "support@dev.test", questionMessage)
	received := lastReceived(t, s.App)
	expect.Eventually(t, "both bodies are only in the store", func() bool {
		var n int
		err := s.db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM emails WHERE body_key IS NOT NULL AND html IS NULL AND text IS NULL AND mime IS NULL)
			+ (SELECT count(*) FROM received_contents WHERE data IS NULL AND object_key IS NOT NULL AND due_at IS NULL)`).Scan(&n)
		return err == nil && n == 2
	})
	store.Fault(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() })

	type request struct {
		method, path string
		body         any
		status       int
		want         string
	}
	const unavailable = `"code":"body_unavailable"`
	ask := func(t *testing.T, r request) {
		t.Helper()
		began := time.Now()
		got := s.Do(t, r.method, r.path, r.body)
		if took := time.Since(began); got.Status != r.status || !strings.Contains(string(got.Body), r.want) ||
			took > silentLimit {
			t.Errorf("%s %s returned %d after %s, want %d with %s: %.500s", r.method, r.path, got.Status, took,
				r.status, r.want, got.Body)
		}
		if retry := got.Header.Get("Retry-After"); r.status == http.StatusServiceUnavailable && retry == "" {
			t.Errorf("%s %s returned no Retry-After", r.method, r.path)
		}
	}
	var all sync.WaitGroup
	for _, r := range []request{
		{http.MethodGet, "/api/emails/" + sent, nil, http.StatusServiceUnavailable, unavailable},
		{http.MethodPost, "/api/emails/" + sent + "/resend", nil, http.StatusServiceUnavailable, unavailable},
		{http.MethodGet, "/api/received-emails/" + received, nil, http.StatusServiceUnavailable, unavailable},
		{http.MethodGet, "/api/received-emails/" + received + "/raw", nil, http.StatusServiceUnavailable, unavailable},
		{http.MethodPost, "/api/received-emails/" + received + "/reply", `{"text":"Soon"}`, http.StatusOK, `"id"`}, // needs only the record
		{http.MethodPost, "/api/received-emails/" + received + "/forward", `{"to":"bob@bob.test"}`, http.StatusServiceUnavailable, unavailable},
		{http.MethodGet, "/api/emails", nil, http.StatusOK, sent},
		{http.MethodGet, "/api/emails/export?format=csv", nil, http.StatusOK, sent},
		{http.MethodGet, "/api/received-emails", nil, http.StatusOK, received},
		{http.MethodPost, "/api/emails", anEmail, http.StatusOK, `"id"`},
	} {
		all.Go(func() { ask(t, r) })
	}
	all.Go(func() { // one at a time, because an account may run one query for bodies
		for _, q := range []string{`{ email(id: "` + sent + `") { status content { html } } }`,
			`{ emails(first: 5) { nodes { id content { text } } } }`,
			`{ receivedEmail(id: "` + received + `") { subject content { text } } }`} {
			ask(t, request{http.MethodPost, "/graphql", map[string]string{"query": q}, http.StatusOK, unavailable})
		}
	})
	all.Wait()

	store.Fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
	for _, path := range []string{"/api/emails/" + sent, "/api/received-emails/" + received + "/raw"} {
		expect.Eventually(t, "the content is available again",
			func() bool { return s.Do(t, http.MethodGet, path, nil).Status == http.StatusOK })
	}
}
