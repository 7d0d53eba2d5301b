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

// gateway is a test gateway with a key in its URL and a password in its body.
type gateway struct {
	*httptest.Server

	mu   sync.Mutex
	seen []string // URL and body of each received request
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

func (g *gateway) newChange(url, body string) settings.Change {
	return settings.Change{Provider: "http", Countries: []string{"DE"},
		HTTP: &settings.HTTPChange{URL: g.URL + url, Body: body}}
}

// readRow returns the stored settings as text.
func (w *world) readRow(t *testing.T) string {
	t.Helper()
	text, err := db.One(t.Context(), w.db.SQL, db.Value[string],
		`SELECT config::text || coalesce(encode(credentials, 'escape'), '') FROM sms_settings WHERE id = $1`, ours)
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
	w.saveSettings(t, ours, g.newChange("/send?key="+urlSecret, plainBody))
	if hasSecret(w.readRow(t)) {
		t.Errorf("stored row is %s, want no plain secret", w.readRow(t))
	}
	masked := g.newChange("/send?key=********", shownBody)
	s, err := w.Settings(t.Context(), ours)
	if err != nil || s.Config.URL != masked.HTTP.URL || s.Config.Body != shownBody || !s.Usable {
		t.Errorf("the settings are %+v, %v; want them with masks", s.Config, err)
	}
	// The client sends the masked settings back with another field changed.
	masked.HTTP.Idempotent = true
	if s, err = w.SetSettings(t.Context(), ours, masked); err != nil || !s.Config.Idempotent ||
		hasSecret(s.Config.URL+s.Config.Body) {
		t.Errorf("settings after sending masks back are %+v, %v; want them stored and masked", s.Config, err)
	}
	w.send(t, ours, german)
	w.drain(t)
	if diff := cmp.Diff([]string{"/send?key=" + urlSecret + " " + sentBody}, g.requests()); diff != "" {
		t.Errorf("requests to the gateway (-want +got):\n%s", diff)
	}
	if hasSecret(w.readRow(t)) || hasSecret(w.logged.String()) {
		t.Error("the row or the log contains a secret after a change")
	}
	// New values replace the old ones, one field at a time.
	w.saveSettings(t, ours, g.newChange("/send?key=new", shownBody))
	w.send(t, ours, german)
	w.drain(t)
	if got := g.requests()[1]; got != "/send?key=new "+sentBody {
		t.Errorf("after the key changed, the gateway received %s", got)
	}
}

func TestMasksRequireSameAddress(t *testing.T) {
	t.Parallel()
	w, g, thief := newWorld(t), newGateway(t), newGateway(t)
	for name, c := range map[string]struct {
		change settings.Change
		want   []string
	}{
		"another host":      {thief.newChange("/send?key=********", shownBody), []string{"http.url", "http.body"}},
		"another path":      {g.newChange("/other?key=********", shownBody), []string{"http.url", "http.body"}},
		"another parameter": {g.newChange("/send?token=********", ""), []string{"http.url"}},
		"the body only":     {thief.newChange("/send?key=mine", shownBody), []string{"http.body"}},
		"another field":     {g.newChange("/send?key=********", `{"note": "********", "to": "{{to}}"}`), []string{"http.body"}},
		"part of a text":    {g.newChange("/send?key=********", `{"user": "x ********", "to": "{{to}}"}`), []string{"http.body"}},
	} {
		w.saveSettings(t, ours, g.newChange("/send?key="+urlSecret, plainBody))
		_, err := w.SetSettings(t.Context(), ours, c.change)
		if diff := cmp.Diff(slices.Sorted(slices.Values(c.want)),
			slices.Sorted(maps.Keys(fault.Classify(err).Fields))); diff != "" {
			t.Errorf("%s: error fields (-want +got):\n%s", name, diff)
		}
	}
	w.exec(t, `DELETE FROM sms_settings`)
	if _, err := w.SetSettings(t.Context(), ours,
		g.newChange("/send?key=********", shownBody)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("masks without stored settings returned %v, want an error", err)
	}
}

// Settings stored in plain text by an earlier version are masked immediately, and sealed once no process of
// that version is running. From then on, processes of that version cannot start.
func TestSealsGatewaysOfEarlierVersion(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t), newGateway(t)
	w.exec(t,
		`INSERT INTO nodes (id, name, version, schema, roles, started_at, seen_at, claims_from) VALUES (7, 'old', 'v1', '20261126062013', '[]', now(), now(), now())`)
	w.saveSettings(t, ours, g.newChange("/send?key="+urlSecret, plainBody))
	look := func(when string, sealed bool) {
		t.Helper()
		if err := w.Seal(t.Context()); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if hasSecret(w.readRow(t)) == sealed {
			t.Errorf("%s: row is sealed: %t, want %t", when, !hasSecret(w.readRow(t)), sealed)
		}
		refuses, err := db.One(t.Context(), w.db.SQL, db.Value[bool],
			`SELECT EXISTS (SELECT FROM schema_migrations WHERE name LIKE '%sealed_sms_gateways%' AND oldest = version)`)
		if err != nil || refuses != sealed {
			t.Errorf("%s: older versions are rejected: %t, %v; want %t", when, refuses, err, sealed)
		}
		if s, err := w.Settings(t.Context(), ours); err != nil || hasSecret(s.Config.URL+s.Config.Body) ||
			s.Config.Body != shownBody {
			t.Errorf("%s: settings are %+v, %v; want them masked", when, s.Config, err)
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
	look("while a process of that version is running", false)
	w.exec(t, `DELETE FROM nodes WHERE id = 7`)
	look("after it has ended", true)
	if after := changed(); after != before {
		t.Errorf("sealing changed the update time to %s, want %s", after, before)
	}
	w.send(t, ours, german)
	w.drain(t)
	if diff := cmp.Diff([]string{"/send?key=" + urlSecret + " " + sentBody}, g.requests()); diff != "" {
		t.Errorf("requests to the gateway (-want +got):\n%s", diff)
	}
}

// A gateway without secrets in its URL and body stays readable for older versions.
func TestGatewayWithoutSecretsStaysReadable(t *testing.T) {
	t.Parallel()
	w, g := newWorld(t), newGateway(t)
	w.saveSettings(t, ours, g.newChange("/send", `{"to": "{{to}}"}`))
	if err := w.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.countRows(t, "schema_migrations WHERE name LIKE '%sealed_sms_gateways%' AND oldest = version"); n != 0 ||
		strings.Contains(w.readRow(t), "sealed") {
		t.Errorf("%d migrations reject older versions, and the row is %s", n, w.readRow(t))
	}
}
