package track_test

import (
	"bytes"
	"context"
	"errors"
	"image/gif"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/rest/pages/track"
	"github.com/postrider/postrider/runtime/web/theme"
)

// tracker accepts one token of each kind.
type tracker struct{ visits []tracking.Visit }

func (*tracker) Read(_ context.Context, kind tracking.TokenKind, token, host string) (tracking.LinkToken, error) {
	switch token {
	case "genuine":
	case "withheld":
		return tracking.LinkToken{}, tracking.ErrWithheld
	case "unknown":
		return tracking.LinkToken{}, errors.New("pq: secret detail")
	default:
		return tracking.LinkToken{}, tracking.ErrForged
	}
	return tracking.LinkToken{Kind: kind, AccountID: host, Target: "https://example.com/a//b/../c?d=%2F#e"}, nil
}

func (*tracker) Move(_ context.Context, mark tracking.LinkToken) (to string, moving bool) {
	return map[string]string{"moved.test": "https://new.example/t/signed"}[mark.AccountID],
		strings.HasSuffix(mark.AccountID, "moved.test")
}

func (f *tracker) Record(v tracking.Visit) { f.visits = append(f.visits, v) }

func ask(t *testing.T, f *tracker, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	h := track.New(track.Options{Tracker: f, Logger: slog.New(slog.DiscardHandler),
		Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
	r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
	r.URL.Path = path
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestALinkLeadsToItsTargetAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		f := &tracker{}
		w := ask(t, f, method, "/t/c/genuine", nil)
		if w.Code != http.StatusFound || w.Header().Get("Location") != "https://example.com/a//b/../c?d=%2F#e" ||
			w.Body.Len() != 0 {
			t.Errorf("%s of a link got %d %v %q, want a redirect to the target as it was written", method, w.Code,
				w.Header(), w.Body)
		}
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store, no-cache, must-revalidate, private", "X-Robots-Tag": "noindex, nofollow"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if counted := len(f.visits) == 1; counted != (method == http.MethodGet) {
			t.Errorf("%s is counted %d times", method, len(f.visits))
		}
	}
}

// Links of an account that has moved lead to the installation that has it, and nothing is counted during a move.
func TestLinksOfMovedAccountLeadToItsInstallation(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/t/c/genuine", "/t/o/genuine.gif"} {
		for host, want := range map[string]string{"moved.test": "https://new.example/t/signed", "moving.moved.test": ""} {
			f := &tracker{}
			w := ask(t, f, http.MethodGet, path, func(r *http.Request) { r.Host = host })
			redirected := w.Header().Get("Location") == want
			if want != "" && (w.Code != http.StatusFound || !redirected) || want == "" && w.Code >= http.StatusBadRequest {
				t.Errorf("%s on %s got %d %v, want %q", path, host, w.Code, w.Header(), want)
			}
			if len(f.visits) > 0 {
				t.Errorf("%s on %s was counted", path, host)
			}
		}
	}
}

func TestThePixelIsAnImageOfOnePixel(t *testing.T) {
	t.Parallel()
	f := &tracker{}
	w := ask(t, f, http.MethodGet, "/t/o/genuine.gif", func(r *http.Request) { r.Header.Set("User-Agent", "Mail/1.0") })
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/gif" || w.Body.Len() != 43 ||
		!strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
		t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	image, err := gif.Decode(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, alpha := image.At(0, 0).RGBA(); image.Bounds().Dx() != 1 || image.Bounds().Dy() != 1 || alpha != 0 {
		t.Errorf("%v, alpha %d", image.Bounds(), alpha)
	}
	if len(f.visits) != 1 || f.visits[0].UserAgent != "Mail/1.0" || f.visits[0].Mark.Kind != tracking.Open {
		t.Errorf("the visits are %+v, want one open by Mail/1.0", f.visits)
	}
}

func TestWhatIsNotGenuineIsNotFound(t *testing.T) {
	t.Parallel()
	f := &tracker{}
	bodies := map[string]bool{}
	for _, path := range []string{"/t/", "/t/c/", "/t/c/forged", "/t/c/genuine/", "/t/c/genuine.gif",
		"/t/c/../c/genuine", "/t/c//genuine", "/t/o/genuine", "/t/o/.gif", "/t/o/forged.gif",
		"/t/x/genuine", "/t/c/\x00", "/t/c/https://evil.example"} {
		w := ask(t, f, http.MethodGet, path, nil)
		if w.Code != http.StatusNotFound || w.Header().Get("Location") != "" ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%q got %d %v, want 404 without a redirect", path, w.Code, w.Header())
		}
		bodies[w.Body.String()] = true
	}
	if len(bodies) != 1 || len(f.visits) != 0 {
		t.Errorf("%d different pages, %d visits", len(bodies), len(f.visits))
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "BREW"} {
		if w := ask(t, f, method, "/t/c/genuine", nil); w.Code != http.StatusMethodNotAllowed || w.Header().
			Get("Allow") != "GET, HEAD" || len(f.visits) != 0 {
			t.Errorf("%s of a link got %d %v, want 405 that allows GET and HEAD", method, w.Code, w.Header())
		}
	}
}

// A withheld link shows a page in the client's language without a link, and counts nothing.
func TestAWithheldLinkShowsANeutralPageInEveryLanguage(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, language := range theme.Languages() {
		f := &tracker{}
		w := ask(t, f, http.MethodGet, "/t/c/withheld",
			func(r *http.Request) { r.Header.Set("Accept-Language", language) })
		body := w.Body.String()
		if w.Code != http.StatusForbidden || w.Header().Get("Location") != "" ||
			strings.Contains(body, "example.com") || strings.Contains(body, "href") ||
			strings.Contains(body, "http-equiv") || !strings.Contains(w.Header().Get("Content-Security-Policy"),
			"default-src 'none'") {
			t.Errorf("a withheld link in %s got %d %v\n%s\nwant a page that leads nowhere", language, w.Code,
				w.Header(), body)
		}
		if !strings.Contains(body, `<html lang="`+language+`">`) || w.Header().Get("Content-Language") != language ||
			w.Header().Get("Vary") != "Accept-Language" {
			t.Errorf("a withheld link in %s got the headers %v and the page\n%s", language, w.Header(), body)
		}
		if other, found := seen[body]; found {
			t.Errorf("the page in %s equals that in %s", language, other)
		}
		if seen[body] = language; len(f.visits) != 0 {
			t.Errorf("a withheld click is counted: %+v", f.visits)
		}
	}
}

func TestALinkWhoseHostCannotBeCheckedIsRetriedLater(t *testing.T) {
	t.Parallel()
	f := &tracker{}
	w := ask(t, f, http.MethodGet, "/t/c/unknown", nil)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		strings.Contains(w.Body.String(), "secret") || len(f.visits) != 0 {
		t.Errorf("a link whose host could not be checked got %d %v\n%s\nwant 503 with Retry-After and no details",
			w.Code, w.Header(), w.Body)
	}
}

func TestOnlyProxiesThatAreTrustedSayForWhomTheyAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:1234", "", "192.0.2.1"},
		{"192.0.2.1:1234", "203.0.113.9", "192.0.2.1"},
		{"10.1.2.3:1234", "203.0.113.9", "203.0.113.9"},
		{"10.1.2.3:1234", "", "10.1.2.3"},
		{"10.1.2.3:1234", "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		{"10.1.2.3:1234", "198.51.100.1, 203.0.113.9, 10.9.9.9", "203.0.113.9"},
		{"[::1]:1234", "2001:db8::7", "2001:db8::7"},
		{"10.1.2.3:1234", "[2001:db8::7]:443", "2001:db8::7"},
		{"10.1.2.3:1234", "203.0.113.9:555", "203.0.113.9"},
		{"10.1.2.3:1234", "203.0.113.9, nonsense", "10.1.2.3"},
		{"10.1.2.3:1234", "10.1.2.4", "10.1.2.4"},
		{"nonsense", "203.0.113.9", "invalid IP"},
	} {
		f := &tracker{}
		ask(t, f, http.MethodGet, "/t/o/genuine.gif", func(r *http.Request) {
			r.RemoteAddr = c.peer
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
		})
		if len(f.visits) != 1 || f.visits[0].IP.String() != c.want {
			t.Errorf("the case %+v has the visits %+v, want one from %s", c, f.visits, c.want)
		}
	}
}
