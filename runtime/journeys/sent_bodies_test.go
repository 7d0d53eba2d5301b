package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/blob/blobtest"
	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/runtimetest"
	"github.com/postrider/postrider/runtime/setting"
)

// With POSTRIDER_BLOBS_SENT_AFTER the body of a delivered email leaves the database, and no answer changes, also of
// a process that only accepts. While the store is away bodies are 503 and all else works. When the person is
// erased the object goes.
func TestBodiesOfSentMailLiveInTheObjectStore(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	s := scenarioOf(t, runtimetest.Start(t, func(settings setting.Texts) {
		settings["POSTRIDER_BLOBS"], settings["POSTRIDER_BLOBS_SENT_AFTER"] = store.Setting(), "10s"
	}))
	s.MailDomain(t, "bob.test")
	id := s.message(t, []string{"bob@bob.test"}, `"html":"<p>Grüße &amp; mehr</p>"`, `"headers":{"X-Order":"17"}`, `"attachments":[{"name":"a.txt","data":"b25l"}]`)
	const query = `{ email(id: "ID") { id status snippet content { html text raw headers { name value } attachments { name size } } } emails(first: 5) { nodes { id snippet content { html text } } } }`
	path := "/api/emails/" + id
	ask := func(app *runtimetest.App) string {
		rest, graph := app.Do(t, http.MethodGet, path, nil), app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": strings.Replace(query, "ID", id, 1)})
		if rest.Status != http.StatusOK || graph.Status != http.StatusOK || strings.Contains(string(graph.Body), `"errors"`) {
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
	runtimetest.Eventually(t, "it is delivered", func() bool { return count(`emails WHERE status = 'delivered'`) == 1 })
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
	accepting := s.Beside(t, func(settings setting.Texts) {
		settings["POSTRIDER_DELIVERY_CONCURRENCY"], settings["POSTRIDER_NODE"] = "0", "accepting"
	}, nil)
	accepting.APIKey = s.APIKey
	if after := ask(accepting); after != before {
		t.Errorf("before the move:\n%s\na process that only accepts:\n%s", before, after)
	}

	store.Fault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadGateway) })
	if got := s.Do(t, http.MethodGet, path, nil); got.Status != http.StatusServiceUnavailable || !strings.Contains(string(got.Body), "object store") || got.Header.Get("Retry-After") == "" {
		t.Errorf("with the store away: %d %v %s", got.Status, got.Header, got.Body)
	}
	if got := s.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusOK || !strings.Contains(string(got.Body), id) {
		t.Errorf("the list with the store away: %d %s", got.Status, got.Body)
	}
	got := string(s.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{ email(id: "` + id + `") { status snippet content { html } } }`}).Body)
	for _, want := range []string{`"status":"DELIVERED"`, `"snippet":"Hello"`, `"html":null`, "object store", `"code":"body_unavailable"`, `"path":["email","content","html"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("GraphQL with the store away lacks %s: %s", want, got)
		}
	}
	store.Fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })

	if got := s.Do(t, http.MethodDelete, "/api/contacts/bob@bob.test/data", nil); got.Status != http.StatusOK {
		t.Fatalf("erase: %d %s", got.Status, got.Body)
	}
	expect.Eventually(t, "the object is gone", func() bool {
		s.exec(t, `UPDATE body_moves SET due_at = now() WHERE due_at > now() AND attempts = 0`) // it waits a minute, for who reads
		return len(store.Objects(t)) == 0 && count("body_moves") == 0
	})
}

// While a process of another version runs, which might not know of moved bodies, none are moved.
func TestBodiesStayWhileAnotherVersionRuns(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	first := scenarioOf(t, runtimetest.Start(t, func(settings setting.Texts) { settings["POSTRIDER_BLOBS"] = store.Setting() }))
	first.MailDomain(t, "bob.test")
	first.message(t, []string{"bob@bob.test"})
	count := func(where string) (n int) {
		if err := first.db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	runtimetest.Eventually(t, "it is delivered", func() bool { return count(`emails WHERE status = 'delivered'`) == 1 })
	newer := first.Beside(t, func(settings setting.Texts) {
		settings["POSTRIDER_BLOBS_SENT_AFTER"], settings["POSTRIDER_NODE"] = "10s", "newer"
	}, func(o *assembly.Options) { o.Version = "newer" })
	runtimetest.Eventually(t, "it says why nothing is moved", func() bool {
		return strings.Contains(newer.Log.String(), "no bodies are moved while a process of another version runs")
	})
	if n := count(`schema_migrations WHERE oldest = version AND name LIKE '%_sent_bodies.sql'`); n != 0 {
		t.Error("older programs are refused although nothing was moved")
	}
}
