package explorer

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

// doorOf accepts requests with a cookie.
type doorOf struct{}

func (doorOf) Authenticate(r *http.Request) (accounts.Caller, error) {
	if r.Header.Get("Cookie") == "" {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	return accounts.Caller{AccountID: "acc_1"}, nil
}

func get(t *testing.T, open bool, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := New(doorOf{}, open)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestThePageRequiresASessionOutsideOfDevelopment(t *testing.T) {
	t.Parallel()
	if w := get(t, false, Path); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/sign-in?next=%2Fexplorer" {
		t.Errorf("without a session the page got %d to %q, want a redirect to the sign-in", w.Code, w.Header().Get("Location"))
	}
	if w := get(t, false, Path, "Cookie", "x"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-open="false"`) {
		t.Errorf("with a session the page got %d %s, want it without open queries", w.Code, w.Body)
	}
	if w := get(t, true, Path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `data-open="true"`) {
		t.Errorf("in development the page got %d %s, want it with open queries", w.Code, w.Body)
	}
}

// The page loads nothing but its own files, and runs no inline script.
func TestThePageLoadsItsOwnFiles(t *testing.T) {
	t.Parallel()
	page := get(t, true, Path)
	if got := page.Header().Get("Content-Security-Policy"); !strings.Contains(got, "script-src 'self';") {
		t.Errorf("the page has the policy %q, want scripts of this origin only", got)
	}
	if regexp.MustCompile(`(?i)<script>|<style|https?://|\son\w+=`).MatchString(page.Body.String()) {
		t.Errorf("the page has inline parts or foreign addresses: %s", page.Body)
	}
	size := 0
	for _, found := range regexp.MustCompile(`(?:src|href)="(/explorer/[^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1) {
		w := get(t, true, found[1], "Accept-Encoding", "gzip")
		if w.Code != http.StatusOK || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("ETag") == "" {
			t.Errorf("%s got %d with %v, want 200 with an ETag", found[1], w.Code, w.Header())
		}
		size += w.Body.Len()
	}
	const most = 512 << 10
	if size < 100<<10 || size > most {
		t.Errorf("the files have %d bytes, want at most %d", size, most)
	}
}
