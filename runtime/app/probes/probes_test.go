package probes_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/app/probes"
	"github.com/postrider/postrider/runtime/storage/db/failover"
)

// answering is a database that responds to a ping and reports on its standbys.
type answering struct{ ping, replicated error }

func (a answering) Ping(context.Context) error { return a.ping }

func (a answering) CheckReplication(context.Context) error { return a.replicated }

func TestReadyRequiresStandbys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		db     answering
		stored time.Duration
		status int
		want   string
	}{
		{answering{}, 0, http.StatusOK, `"database":"ok"`},
		{answering{nil, errors.New("0 standbys follow")}, 0, http.StatusServiceUnavailable, `"database":"without standbys"`},
		{answering{ping: errors.New("connection refused")}, 0, http.StatusServiceUnavailable, `"database":"away"`},
		{answering{ping: fmt.Errorf("connect: %w", &failover.SplitError{Primaries: make([]failover.Sighting, 2)})}, 0,
			http.StatusServiceUnavailable, `"database":"two primaries"`},
		{answering{}, time.Minute, http.StatusServiceUnavailable, `"database":"not storing"`},
		{answering{nil, errors.New("0 standbys follow")}, time.Minute, http.StatusServiceUnavailable, `"database":"without standbys"`}, // the same reason
	} {
		w := httptest.NewRecorder()
		probes.New(probes.Params{DB: c.db, Stored: func() time.Duration { return c.stored }, Draining: &atomic.Bool{},
			Logger: slog.New(slog.DiscardHandler)}).
			Ready(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("/readyz with %+v, last write %s ago: %d %s, want %d and %s", c.db, c.stored, w.Code, w.Body,
				c.status, c.want)
		}
	}
}
