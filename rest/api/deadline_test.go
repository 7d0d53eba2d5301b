package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// slowRate is slow, like an overloaded database.
type slowRate struct {
	rate

	takes time.Duration
}

func (r *slowRate) Admit(ctx context.Context, a accounts.Account, header http.Header) error {
	if err := wait(ctx, r.takes); err != nil {
		return err
	}
	return r.rate.Admit(ctx, a, header)
}

// wait simulates work of a given duration that stops when its context ends.
func wait(ctx context.Context, takes time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(takes): // fake time
		return nil
	}
}

// Whatever a request waits for, the response arrives within six seconds and contains Retry-After.
func TestARequestIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate, handler time.Duration
		slow          bool
		status        int
	}{
		"a database that answers":           {time.Millisecond, time.Millisecond, false, http.StatusOK},
		"a count that takes long":           {time.Hour, 0, false, http.StatusServiceUnavailable},
		"an operation that takes long":      {0, time.Hour, false, http.StatusServiceUnavailable},
		"both together take long":           {3 * time.Second, 3 * time.Second, false, http.StatusServiceUnavailable},
		"an operation with other bounds":    {time.Second, 30 * time.Second, true, http.StatusOK},
		"a count before such one":           {time.Hour, 0, true, http.StatusServiceUnavailable},
		"slow, and in time":                 {2 * time.Second, 2 * time.Second, false, http.StatusOK},
		"an operation that is a bit slower": {0, fault.AnswerWithin + time.Millisecond, false, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			routes := api.NewRoutes("work", func(a *api.API) {
				api.Handle(a.Tag("Work", "What takes time."), api.Operation{Method: http.MethodGet, Path: "/work",
					ID: "work", Needs: rights.Read, Slow: c.slow, Summary: "Work", Example: map[string]any{"ok": true}},
					func(ctx context.Context, _ *api.Call, _ *api.None) (api.OkAnswer, error) {
						return api.OkAnswer{OK: true}, wait(ctx, c.handler)
					})
			})
			b := newFakes(t)
			handler, err := api.New(b.options(t, []api.Routes{routes},
				func(o *api.Options) { o.Rate = &slowRate{takes: c.rate} }))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodGet, "/api/work", nil)
				r.Header.Set("Authorization", "Bearer svc_full")
				w, began := httptest.NewRecorder(), time.Now()
				handler.ServeHTTP(w, r)
				took := time.Since(began)
				if w.Code != c.status || c.status != http.StatusOK &&
					(took > 6*time.Second || w.Header().Get("Retry-After") == "") {
					t.Errorf("answered %d after %s with Retry-After %q, want %d and no refusal after more than 6 s: %s",
						w.Code, took, w.Header().Get("Retry-After"), c.status, w.Body)
				}
			})
		})
	}
}

// A large body can wait for memory for longer than the time limit of the work. Afterwards, the work has its full time.
func TestALargeBodyWaitsForItsRoomBeforeItsTimeBegins(t *testing.T) {
	t.Parallel()
	took := make(chan time.Duration, 1)
	routes := api.NewRoutes("work", func(a *api.API) {
		api.HandleClaimed(a.Tag("Work", "What takes time."),
			api.Operation{Path: "/work", ID: "work", Needs: rights.Send,
				Summary: "Work", Example: map[string]any{"ok": true},
				Body: &api.Body{Large: true, Limit: 4 << 20, About: "The note.",
					Examples: map[string]any{"milk": map[string]any{"title": "Milk"}}}}, newNoteBody,
			func(ctx context.Context, _ *api.Call, _ *api.None, _ newNote,
				_ *idempotency.Claim) (idempotency.Response, error) {
				began := time.Now()
				err := wait(ctx, time.Hour)
				took <- time.Since(began)
				return idempotency.Response{}, err
			})
	})
	b := newFakes(t)
	held := budget(t, intake.Config{})
	handler, err := api.New(b.options(t, []api.Routes{routes}, func(o *api.Options) { o.Budget = held }))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for _, another := range []string{"a", "b", "c", "d"} { // each has a quarter
			release, err := held.AcquireWork(t.Context(), intake.Tenant{Account: another}, 1<<40, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Minute, release) // fake time
		}
		r := httptest.NewRequest(http.MethodPost, "/api/work",
			strings.NewReader(`{"title":"Milk"}`+strings.Repeat(" ", 2<<20)))
		r.Header.Set("Authorization", "Bearer svc_full")
		r.Header.Set("Content-Type", "application/json")
		w, began := httptest.NewRecorder(), time.Now()
		handler.ServeHTTP(w, r)
		if all := time.Since(began); w.Code != http.StatusServiceUnavailable || len(took) != 1 || all < time.Minute {
			t.Fatalf("answered %d after %s, and the work began: %t; want 503 after it began, a minute later: %s",
				w.Code, all, len(took) == 1, w.Body)
		}
		if work := <-took; work < fault.AnswerWithin-time.Second {
			t.Errorf("the work had %s after it had waited for its room, want %s", work, fault.AnswerWithin)
		}
	})
}
