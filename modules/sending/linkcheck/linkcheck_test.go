package linkcheck

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Pages that are missing or fail are reported. Redirects count as working and are not followed, even in a loop.
func TestReportsLinksThatDoNotWork(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/works", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/fails", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	guard := egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	client := egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: true})
	c := New(Config{Client: client, AnyPort: true})
	var links []lint.Link
	for i, path := range []string{"/works", "/missing", "/loop", "/fails"} {
		links = append(links, lint.Link{URL: server.URL + path, Line: i + 1})
	}
	want := map[string]int{"link_broken": 2, "link_server_error": 4} // lines
	found := c.Check(t.Context(), "account", links)
	if len(found) != len(want) {
		t.Errorf("Check returned %+v, want the codes and lines %v", found, want)
	}
	for _, f := range found {
		if f.Count != 1 || f.Places[0].Line != want[f.Code] {
			t.Errorf("Check returned %+v, want the codes and lines %v", f, want)
		}
	}
}

// In production, private addresses, other ports and links with credentials are not requested.
func TestRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the server received a request for %s", r.URL)
	}))
	t.Cleanup(server.Close)
	client := egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(nil)})
	links := []lint.Link{{URL: server.URL}, {URL: "https://user:secret@127.0.0.1/"}, {URL: "https://127.0.0.1/"}}
	for _, test := range []struct {
		config                Config
		refused, notRequested int
	}{
		{Config{Client: client}, 1, 2},
		{Config{Client: client, AnyPort: true}, 2, 1}, // the guard alone
	} {
		counts := map[string]int{}
		for _, f := range New(test.config).Check(t.Context(), "account", links) {
			counts[f.Code] = f.Count
		}
		if counts["link_unreachable"] != test.refused || counts["links_not_checked"] != test.notRequested {
			t.Errorf("Check returned %v, want %d refused and %d not requested", counts, test.refused, test.notRequested)
		}
	}
}
