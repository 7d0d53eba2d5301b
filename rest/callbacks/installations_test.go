package callbacks_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/rest/callbacks"
	"github.com/postrider/postrider/runtime/base/fault"
)

// reports stores the body "good" with the signature "genuine".
type reports struct{ stored int }

func (r *reports) ReceiveForwarded(_ context.Context, body []byte, signature string) error {
	switch {
	case signature != "genuine":
		return fault.Invalidf("forged")
	case string(body) != "good":
		return fault.NoSuch("email", "msg_1")
	}
	r.stored++
	return nil
}

func TestForwardedReportsAreStoredOrRefused(t *testing.T) {
	t.Parallel()
	stored := &reports{}
	handler := callbacks.NewReports(stored, slog.New(slog.DiscardHandler))
	for name, c := range map[string]struct {
		method, path, body, signature string
		status                        int
	}{
		"genuine": {http.MethodPost, bounces.ForwardPath, "good", "genuine", http.StatusNoContent},
		"forged":  {http.MethodPost, bounces.ForwardPath, "good", "", http.StatusBadRequest},
		"unknown": {http.MethodPost, bounces.ForwardPath, "other", "genuine", http.StatusNotFound},
		"too large": {http.MethodPost, bounces.ForwardPath, strings.Repeat("x", bounces.MaxForwarded+1), "genuine",
			http.StatusRequestEntityTooLarge},
		"GET":          {http.MethodGet, bounces.ForwardPath, "", "genuine", http.StatusMethodNotAllowed},
		"another path": {http.MethodPost, bounces.ForwardPath + "/x", "good", "genuine", http.StatusNotFound},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		r.Header.Set(origins.SignatureHeader, c.signature)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", name, w.Code, c.status, w.Body)
		}
	}
	if stored.stored != 1 {
		t.Errorf("%d reports were stored, want 1", stored.stored)
	}
}
