package sms

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// gateway is a gateway that wants a key in its URL and a password in the body.
type gateway struct {
	*httptest.Server

	mu   sync.Mutex
	seen []string // URL and body of each request
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.seen = append(g.seen, r.URL.String()+" "+string(body))
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

const (
	urlSecret  = "urlS3cret"
	bodySecret = "bodyS3cret"
	plainBody  = `{"user": "ada", "password": "` + bodySecret + `", "to": "{{to}}"}`
	shownBody  = `{"user": "********", "password": "********", "to": "{{to}}"}`
	sentBody   = `{"password":"` + bodySecret + `","to":"` + german + `","user":"ada"}`
)

func (g *gateway) change(url, body string) settings.Change {
	return settings.Change{Provider: "http", Countries: []string{"DE"}, HTTP: &settings.HTTPChange{URL: g.URL + url, Body: body}}
}

// row returns the stored settings as text.
func (w *world) row(t *testing.T) string {
	t.Helper()
	text, err := db.One(t.Context(), w.db.SQL, db.Value[string], `SELECT config::text || coalesce(encode(credentials, 'escape'), '') FROM sms_settings WHERE id = $1`, ours)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func hasSecret(text string) bool {
	return strings.Contains(text, urlSecret) || strings.Contains(text, bodySecret)
}

func TestGatewaySecretsAreSealedAndMasked(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t), newGateway(t)
	w.set(t, ours, g.change("/send?key="+urlSecret, plainBody))
	if hasSecret(w.row(t)) {
		t.Errorf("the row is %s, want no secret in it", w.row(t))
	}
	masked := g.change("/send?key=********", shownBody)
	s, err := w.Settings(t.Context(), ours)
	if err != nil || s.Config.URL != masked.HTTP.URL || s.Config.Body != shownBody || !s.Usable {
		t.Errorf("the settings are %+v, %v; want them with masks", s.Config, err)
	}
	// What is shown is sent back, with another field changed.
	masked.HTTP.Idempotent = true
	if s, err = w.SetSettings(t.Context(), ours, masked); err != nil || !s.Config.Idempotent || hasSecret(s.Config.URL+s.Config.Body) {
		t.Errorf("the settings with masks become %+v, %v; want them stored, and shown with masks", s.Config, err)
	}
	w.send(t, ours, german)
	w.drain(t)
	if diff := cmp.Diff([]string{"/send?key=" + urlSecret + " " + sentBody}, g.requests()); diff != "" {
		t.Errorf("the gateway has got (-want +got):\n%s", diff)
	}
	if hasSecret(w.row(t)) || hasSecret(w.logged.String()) {
		t.Error("a secret is in the row or in the log after a change")
	}
	// New values replace the old ones, one at a time.
	w.set(t, ours, g.change("/send?key=new", shownBody))
	w.send(t, ours, german)
	w.drain(t)
	if got := g.requests()[1]; got != "/send?key=new "+sentBody {
		t.Errorf("after a change of the key the gateway has got %s", got)
	}
}

func TestMasksRequireSameAddress(t *testing.T) {
	t.Parallel()
	w, g, thief := newWorld(t), newGateway(t), newGateway(t)
	for name, c := range map[string]struct {
		change settings.Change
		want   []string
	}{
		"another host":      {thief.change("/send?key=********", shownBody), []string{"http.url", "http.body"}},
		"another path":      {g.change("/other?key=********", shownBody), []string{"http.url", "http.body"}},
		"another parameter": {g.change("/send?token=********", ""), []string{"http.url"}},
		"the body only":     {thief.change("/send?key=mine", shownBody), []string{"http.body"}},
		"another member":    {g.change("/send?key=********", `{"note": "********", "to": "{{to}}"}`), []string{"http.body"}},
		"a part of a text":  {g.change("/send?key=********", `{"user": "x ********", "to": "{{to}}"}`), []string{"http.body"}},
	} {
		w.set(t, ours, g.change("/send?key="+urlSecret, plainBody))
		_, err := w.SetSettings(t.Context(), ours, c.change)
		if diff := cmp.Diff(slices.Sorted(slices.Values(c.want)), slices.Sorted(maps.Keys(fault.From(err).Fields))); diff != "" {
			t.Errorf("%s: the wrong fields are (-want +got):\n%s", name, diff)
		}
	}
	w.exec(t, `DELETE FROM sms_settings`)
	if _, err := w.SetSettings(t.Context(), ours, g.change("/send?key=********", shownBody)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("masks of settings that are not there: %v, want them refused", err)
	}
}

// What an earlier version has stored plainly is masked from the start, and sealed when no process of that
// version is left. Programs of that version are refused then.
func TestSealsGatewaysOfEarlierVersion(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t), newGateway(t)
	w.exec(t, `INSERT INTO nodes (id, name, version, schema, roles, started_at, seen_at, claims_from) VALUES (7, 'old', 'v1', '20261126062013', '[]', now(), now(), now())`)
	w.set(t, ours, g.change("/send?key="+urlSecret, plainBody))
	look := func(when string, sealed bool) {
		t.Helper()
		if err := w.Seal(t.Context()); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if hasSecret(w.row(t)) == sealed {
			t.Errorf("%s the row is sealed: %t, want %t", when, !hasSecret(w.row(t)), sealed)
		}
		refuses, err := db.One(t.Context(), w.db.SQL, db.Value[bool], `SELECT EXISTS (SELECT FROM schema_migrations WHERE name LIKE '%sealed_sms_gateways%' AND oldest = version)`)
		if err != nil || refuses != sealed {
			t.Errorf("%s older programs are refused: %t, %v; want %t", when, refuses, err, sealed)
		}
		if s, err := w.Settings(t.Context(), ours); err != nil || hasSecret(s.Config.URL+s.Config.Body) || s.Config.Body != shownBody {
			t.Errorf("%s the settings are %+v, %v; want them with masks", when, s.Config, err)
		}
	}
	changed := func() string {
		s, err := w.Settings(t.Context(), ours)
		if err != nil {
			t.Fatal(err)
		}
		return s.UpdatedAt.String()
	}
	before := changed()
	look("while a process of that version lives,", false)
	w.exec(t, `DELETE FROM nodes WHERE id = 7`)
	look("when it has gone,", true)
	if after := changed(); after != before {
		t.Errorf("the settings were changed at %s, and %s before they were sealed", after, before)
	}
	w.send(t, ours, german)
	w.drain(t)
	if diff := cmp.Diff([]string{"/send?key=" + urlSecret + " " + sentBody}, g.requests()); diff != "" {
		t.Errorf("the gateway has got (-want +got):\n%s", diff)
	}
}

// A gateway without secrets in its URL and its body needs no program of this version.
func TestGatewayWithoutSecretsStaysReadable(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t), newGateway(t)
	w.set(t, ours, g.change("/send", `{"to": "{{to}}"}`))
	if err := w.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.rows(t, "schema_migrations WHERE name LIKE '%sealed_sms_gateways%' AND oldest = version"); n != 0 || strings.Contains(w.row(t), "sealed") {
		t.Errorf("older programs are refused by %d migrations, and the row is %s", n, w.row(t))
	}
}
