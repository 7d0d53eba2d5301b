package probes_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/assembly/probes"
)

// answering is a database that answers, with so many standbys.
type answering struct{ replicated error }

func (answering) Ping(context.Context) error { return nil }

func (a answering) Replicated(context.Context) error { return a.replicated }

func TestReadyOnlyWithTheStandbysThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		db     answering
		stored time.Duration
		status int
		want   string
	}{
		{answering{}, 0, http.StatusOK, `"database":"ok"`},
		{answering{errors.New("0 standbys follow")}, 0, http.StatusServiceUnavailable, `"database":"without standbys"`},
		{answering{}, time.Minute, http.StatusServiceUnavailable, `"database":"not storing"`},
		{answering{errors.New("0 standbys follow")}, time.Minute, http.StatusServiceUnavailable, `"database":"without standbys"`}, // the reason of the other
	} {
		w := httptest.NewRecorder()
		probes.New(probes.Params{DB: c.db, Stored: func() time.Duration { return c.stored }, Draining: &atomic.Bool{}, Logger: slog.New(slog.DiscardHandler)}).
			Ready(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("/readyz with %+v, last write %s ago: %d %s, want %d and %s", c.db, c.stored, w.Code, w.Body, c.status, c.want)
		}
	}
}
