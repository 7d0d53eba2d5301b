package sending

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

func TestConcurrentRequestsWithSameKeySendOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const requests, keys = 50, 8
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
				t.Errorf("key %d returned %s and %s", k, list[0], a)
			}
		}
	}
	var emails int
	if err := f.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails`).Scan(&emails); err != nil || emails != keys {
		t.Errorf("%d emails for %d keys (%v), want one each", emails, keys, err)
	}
}

func TestKeyWithDifferentBodyConflicts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.sendWithKey(t, "k", []byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.sendWithKey(t, "k", []byte(`{"n":2}`)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the second request returned %v, want a conflict", err)
	}
}

// A transaction that did not commit leaves neither the message nor the key, as after a crash: when the client
// repeats the request, it counts as the first.
func TestKeyIsFreeAfterRollback(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.refusesPoison(t)
	claim, _, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails", "k", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	poison := simpleMessage("bob@example.net")
	poison.Subject = "poison"
	if _, err := f.Send(t.Context(), f.Caller(), Request{Message: poison, Claim: claim, Render: renderReceipt}); err == nil {
		t.Fatal("the database accepted the message")
	}
	for _, table := range []string{"emails", "recipients", "facts", "idempotency_keys"} {
		if n := f.Count(t, table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	first, err := f.sendWithKey(t, "k", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.sendWithKey(t, "k", []byte(`{}`)); err != nil || again != first {
		t.Errorf("the repeated request returned %q, %v; the first returned %q", again, err, first)
	}
}

// After 24 hours by the database clock, the key identifies a new request.
func TestKeyExpires(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, err := f.sendWithKey(t, "k", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for shift, same := range map[string]bool{"23 hours 59 minutes": true, "24 hours 1 second": false} {
		if _, err := f.DB.SQL.ExecContext(t.Context(),
			`UPDATE idempotency_keys SET created_at = now() - $1::interval, expires_at = now() + interval '24 hours' - $1::interval`, shift); err != nil {
			t.Fatal(err)
		}
		again, err := f.sendWithKey(t, "k", []byte(`{}`))
		if err != nil || (again == first) != same {
			t.Errorf("after %s the key returned %q, %v; the first request returned %q", shift, again, err, first)
		}
		first = again
	}
}

// A key belongs to one operation. Another operation with that key, or the same one with a different body, has
// no effect.
func TestKeyConflictsAcrossOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.sendWithKey(t, "k", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.batchWithKey(t, "k", 2); fault.Classify(err).Code != fault.CodeIdempotencyConflict {
		t.Errorf("a batch with the key of a single send returned %v", err)
	}
	if n := f.Count(t, "emails"); n != 1 {
		t.Errorf("%d emails", n)
	}
}

// The first of two equal requests reaches the cap. The second is replayed, not rejected.
func TestReplayPrecedesCap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 1
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range 20 {
		all.Go(func() {
			body, err := f.sendWithKey(t, "k", []byte(`{}`))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			answers[body]++
		})
	}
	all.Wait()
	if len(answers) != 1 || f.Count(t, "emails") != 1 {
		t.Errorf("answers: %v", answers)
	}
}

// A blocked send has no effect that repeating it could duplicate. Once the address has left the list, the same
// request sends.
func TestKeyIsFreeAfterSuppressedSend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Suppressed = map[string]string{"bob@example.net": "bounce"}
	blocked, err := f.sendWithKey(t, "k", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	f.Near.Suppressed = nil
	sent, err := f.sendWithKey(t, "k", []byte(`{}`))
	if err != nil || sent == blocked {
		t.Fatalf("after the address left the list, the key returned %s (%v), want another response than %s", sent, err,
			blocked)
	}
	if again, err := f.sendWithKey(t, "k", []byte(`{}`)); err != nil || again != sent {
		t.Errorf("repeated, the send returned %s (%v), want %s", again, err, sent)
	}
	if n := f.Count(t, "emails WHERE status = 'sent'"); n != 1 {
		t.Errorf("%d emails were sent, want 1", n)
	}
}

// sendWithKey sends a message like the API and returns the body of the response.
func (f *fixture) sendWithKey(t *testing.T, key string, body []byte) (string, error) {
	claim, replay, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails", key, body)
	if err != nil {
		return "", err
	}
	if replay != nil {
		return string(replay.Body), nil
	}
	receipt, err := f.Send(t.Context(), f.Caller(), Request{Message: simpleMessage("bob@example.net"), Claim: claim,
		Render: renderReceipt})
	switch {
	case err != nil:
		return "", err
	case receipt.Replay != nil:
		return string(receipt.Replay.Body), nil
	default:
		return string(renderReceipt(receipt).Body), nil
	}
}
