package sending

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/fault"
)

func TestOneKeyOneMessageUnderConcurrency(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const requests, keys = 20, 8
	answers := make([][]string, keys)
	var all sync.WaitGroup
	var mu sync.Mutex
	for k := range keys {
		for range requests {
			all.Go(func() {
				body := fmt.Appendf(nil, `{"n":%d}`, k)
				got, err := f.sendWithKey(t, fmt.Sprintf("key-%d", k), body)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				answers[k] = append(answers[k], got)
			})
		}
	}
	all.Wait()
	for k, list := range answers {
		for _, a := range list {
			if a != list[0] {
				t.Errorf("key %d: %s and %s", k, list[0], a)
			}
		}
	}
	var emails int
	if err := f.db.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails`).Scan(&emails); err != nil || emails != keys {
		t.Errorf("%d emails for %d keys (%v)", emails, keys, err)
	}
}

func TestOneKeyWithAnotherBodyConflicts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.sendWithKey(t, "k", []byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.sendWithKey(t, "k", []byte(`{"n":2}`)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("got %v, want a conflict", err)
	}
}

// sendWithKey does what an edge does, and gives the answer's body.
func (f *fixture) sendWithKey(t *testing.T, key string, body []byte) (string, error) {
	claim, replay, err := f.idem.Begin(t.Context(), testAccount, "POST /emails", key, body)
	if err != nil {
		return "", err
	}
	if replay != nil {
		return string(replay.Body), nil
	}
	receipt, err := f.Send(t.Context(), f.caller(), Request{Message: simple("bob@example.net"), Claim: claim, Render: render})
	switch {
	case err != nil:
		return "", err
	case receipt.Replay != nil:
		return string(receipt.Replay.Body), nil
	default:
		return string(render(receipt).Body), nil
	}
}
