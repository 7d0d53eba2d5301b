package compat_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

// countedRate admits a number of requests.
type countedRate struct{ left int }

func (r *countedRate) Admit(ctx context.Context, _ accounts.Account, header http.Header) error {
	if admission.IsCounted(ctx) {
		return nil
	}
	header.Set("Ratelimit-Limit", "100")
	if r.left--; r.left < 0 {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, Message: "slow down"}
	}
	return nil
}

func (*countedRate) Account(context.Context, string) (accounts.Account, error) {
	return accounts.Account{}, nil
}

// Every request counts once, whether it is refused here or calls our own API. Further calls count as well.
func TestEveryRequestCounts(t *testing.T) {
	t.Parallel()
	budget, err := intake.New(intake.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	rate := &countedRate{}
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := rate.Admit(r.Context(), accounts.Account{}, w.Header()); err != nil {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Write([]byte("{}"))
	})
	calls := func(n int) func(*compat.Call) (*compat.Response, error) {
		return func(c *compat.Call) (*compat.Response, error) {
			for range n {
				if err := c.Do(compat.Request{Method: "GET", Path: "/echo"}, nil); err != nil {
					return nil, err
				}
			}
			return compat.OK("done")
		}
	}
	h := compat.New(compat.Options{API: own, Keys: ownKeys{}, Accounts: rate, Rate: rate, Budget: budget, Cursors: cursors,
		Logger: slog.New(slog.DiscardHandler)}, compat.Provider{Prefix: "/other", Key: compat.BearerKey,
		Fail: func(r *compat.RefusalError) any { return map[string]any{"text": r.Message} },
		Routes: []compat.Route{{Path: "/one", Handle: calls(1)}, {Path: "/three", Handle: calls(3)},
			{Path: "/body", Handle: func(c *compat.Call) (*compat.Response, error) {
				var into json.RawMessage
				return nil, c.Decode(&into)
			}},
			{Path: "/absent", Handle: compat.Refuse("Absence is")}}})
	for _, test := range []struct {
		path          string
		cost, refused int // requests, and the status of the refusal
	}{{"/other/one", 1, 200}, {"/other/three", 3, 200}, {"/other/absent", 1, 501}, {"/other/unknown", 1, 404},
		{"/other/body", 1, 400}} {
		rate.left = test.cost
		got := ask(t, h, "POST", test.path, "{bad")
		if got.Code != test.refused || rate.left != 0 || got.Header().Get("Ratelimit-Limit") != "100" {
			t.Errorf("%s got %d with %v and left %d requests of %d, want %d and none", test.path, got.Code, got.Header(),
				rate.left, test.cost, test.refused)
		}
		if got := ask(t, h, "POST", test.path, "{bad"); got.Code != http.StatusTooManyRequests {
			t.Errorf("%s beyond the limit got %d %s, want 429", test.path, got.Code, got.Body)
		}
	}
	if got := ask(t, h, "GET", "/other/one", "", "Authorization", "Bearer svc_bad"); got.Code != http.StatusUnauthorized {
		t.Errorf("a wrong key beyond the limit got %d, want 401", got.Code)
	}
}
