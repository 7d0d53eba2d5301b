package theme

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheIconIsAnswered(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		contentType string
		begins      []byte
	}{
		Path:    {"image/svg+xml", []byte("<svg ")},
		PathICO: {"image/x-icon", []byte{0, 0, 1, 0, 1, 0, 32, 32}},
	} {
		w := httptest.NewRecorder()
		New().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != want.contentType ||
			!bytes.HasPrefix(w.Body.Bytes(), want.begins) ||
			!strings.HasPrefix(w.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s is answered %d with %v and %.40q, want 200 and %s", path, w.Code, w.Header(), w.Body.Bytes(),
				want.contentType)
		}
	}
}
