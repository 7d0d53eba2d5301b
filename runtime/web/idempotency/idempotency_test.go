package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const operation = "POST /api/emails"

// bench is a store on its own database, with a table for effects.
type bench struct {
	*idempotency.Store
	db *db.DB
}

func newBench(t *testing.T) bench {
	t.Helper()
	d := dbtest.New(t)
	store, err := idempotency.New(idempotency.Params{DB: d.Hot, Logger: slog.New(slog.DiscardHandler), SweepBatch: 10})
	if err != nil {
		t.Fatal(err)
	}
	b := bench{store, d}
	b.exec(t, `CREATE TABLE effects (id bigserial PRIMARY KEY, what text NOT NULL)`)
	return b
}

func (b bench) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := b.db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func (b bench) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := b.db.SQL.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (b bench) begin(t *testing.T, account, key, body string) *idempotency.Claim {
	t.Helper()
	claim, replay, err := b.Begin(t.Context(), account, operation, key, []byte(body))
	if err != nil || replay != nil || claim == nil {
		t.Fatalf("Begin returned %v, %v, %v, want a claim", claim, replay, err)
	}
	return claim
}

// request handles one request like an API does.
func (b bench) request(ctx context.Context, account, key, body, effect string) (idempotency.Response, error) {
	claim, replay, err := b.Begin(ctx, account, operation, key, []byte(body))
	if err != nil {
		return idempotency.Response{}, err
	}
	if replay != nil {
		return *replay, nil
	}
	answer := ok(effect)
	err = b.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if err := claim.Store(ctx, tx, answer); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO effects (what) VALUES ($1)`, effect)
		return err
	})
	if errors.Is(err, idempotency.ErrTaken) {
		replay, err := b.Replay(ctx, claim)
		if err != nil {
			return idempotency.Response{}, err
		}
		return *replay, nil
	}
	return answer, err
}

func ok(body string) idempotency.Response {
	return idempotency.Response{Status: 200, Body: []byte(body)}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if got := fault.Classify(err); err == nil || got.Kind != fault.Conflict || got.Code != code {
		t.Errorf("got the error %v, want %s", err, code)
	}
}

func wantReplay(t *testing.T, got *idempotency.Response, err error, want idempotency.Response) {
	t.Helper()
	want.Replayed = true
	if err != nil || got == nil {
		t.Fatalf("Begin returned the replay %v, %v", got, err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("the replay differs (-want +got):\n%s", diff)
	}
}

func TestResponseIsReplayedByteForByte(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, body := range []string{`{"id":"msg_1",  "x":"é"}` + "\n", "", "\x00\xff\\x41",
		strings.Repeat(`{"a","b"}`, 10_000)} {
		key := fmt.Sprint("key ~", i)
		claim := b.begin(t, "acc_1", key, "{}")
		answer := idempotency.Response{Status: 202, Body: []byte(body)}
		if err := b.db.InTx(t.Context(),
			func(tx *ent.Tx) error { return claim.Store(t.Context(), tx, answer) }); err != nil {
			t.Fatal(err)
		}
		_, got, err := b.Begin(t.Context(), "acc_1", operation, key, []byte("{}"))
		wantReplay(t, got, err, answer)
		overOrdinary, err := idempotency.New(idempotency.Params{DB: b.db.SQL, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		_, got, err = overOrdinary.Begin(t.Context(), "acc_1", operation, key, []byte("{}"))
		wantReplay(t, got, err, answer)
	}
}

func TestKeyOfDifferentRequestIsConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.request(t.Context(), "acc_1", "k", "{}", "x"); err != nil {
		t.Fatal(err)
	}
	_, err := b.request(t.Context(), "acc_1", "k", `{"a":1}`, "y")
	wantCode(t, err, fault.CodeIdempotencyConflict)
	_, _, err = b.Begin(t.Context(), "acc_1", "POST /api/events", "k", []byte("{}"))
	wantCode(t, err, fault.CodeIdempotencyConflict)
	_, _, err = b.Begin(t.Context(), "acc_1", operation+"{", "k", []byte("}"))
	wantCode(t, err, fault.CodeIdempotencyConflict)

	if answer, err := b.request(t.Context(), "acc_2", "k", `{"a":1}`, "z"); err != nil || answer.Replayed {
		t.Errorf("an equal key of another account returned %v, %v", answer, err)
	}
	if n := b.count(t, `SELECT count(*) FROM effects`); n != 2 {
		t.Errorf("got %d effects, want 2", n)
	}
}

// until polls; each poll is a round trip to the server. waitForLock returns once a statement of this database
// waits for another transaction.
func TestConflictNamesTheFirstOperation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.request(t.Context(), "acc_1", "k", "{}", "x"); err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{operation: operation + " with a different body",
		"POST /api/events": operation} {
		_, _, err := b.Begin(t.Context(), "acc_1", asked, "k", []byte(`{"a":1}`))
		wantCode(t, err, fault.CodeIdempotencyConflict)
		if !strings.HasSuffix(fault.Classify(err).Message, ": "+want) {
			t.Errorf("the conflict of %s has the message %q, want it to end in %q", asked, fault.Classify(err).
				Message, want)
		}
	}
	b.exec(t, `UPDATE idempotency_keys SET operation = ''`) // as an older version stored it
	_, _, err := b.Begin(t.Context(), "acc_1", operation, "k", []byte(`{"a":1}`))
	if message := fault.Classify(err).Message; !strings.HasSuffix(message, "24 hours") {
		t.Errorf("the conflict with a key of an older version has the message %q", message)
	}
}

func TestRefusedRequestFreesItsKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	claim := b.begin(t, "acc_1", "k", "{}")
	taken, err := idempotency.StoreMany(t.Context(), b.db.Hot,
		[]idempotency.ClaimedResponse{{Claim: claim, Answer: ok("blocked"), Refused: true}})
	if err != nil || taken[0] {
		t.Fatalf("storing a refused request returned taken %v, %v", taken, err)
	}
	answer, err := b.request(t.Context(), "acc_1", "k", `{"other":1}`, "x")
	if err != nil || answer.Replayed || string(answer.Body) != "x" {
		t.Fatalf("after a refused request, the key returned %v, %v", answer, err)
	}
	taken, err = idempotency.StoreMany(t.Context(), b.db.Hot,
		[]idempotency.ClaimedResponse{{Claim: claim, Answer: ok("blocked"), Refused: true}})
	if err != nil || !taken[0] {
		t.Errorf("storing a refused request under a taken key returned taken %v, %v, want true", taken, err)
	}
}

func TestExpiredKeyIsFree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.request(t.Context(), "acc_1", "k", "{}", "old"); err != nil {
		t.Fatal(err)
	}
	if n := b.count(t,
		`SELECT count(*) FROM idempotency_keys WHERE expires_at = created_at + interval '24 hours' AND created_at > now() - interval '1 minute'`); n != 1 {
		t.Errorf("the key is not kept for 24 hours from now")
	}
	b.exec(t, `UPDATE idempotency_keys SET expires_at = now() - interval '1 millisecond'`)
	answer, err := b.request(t.Context(), "acc_1", "k", `{"other":"body"}`, "new")
	if err != nil || answer.Replayed || string(answer.Body) != "new" {
		t.Fatalf("after expiry, Begin returned %v, %v", answer, err)
	}
	_, got, err := b.Begin(t.Context(), "acc_1", operation, "k", []byte(`{"other":"body"}`))
	wantReplay(t, got, err, ok("new"))
	if n := b.count(t, `SELECT count(*) FROM idempotency_keys WHERE expires_at > now() + interval '23 hours'`); n != 1 {
		t.Error("the new key is not kept for 24 hours")
	}
}

func TestOnlySuccessfulResponsesAreStored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, status := range []int{304, 400, 403, 404, 409, 413, 429, 500, 502, 503} {
		if err := b.begin(t, "acc_1", fmt.Sprint("key-", status), "{}").
			Store(t.Context(), b.db.Hot, idempotency.Response{Status: status}); err == nil {
			t.Errorf("the response %d was stored", status)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM idempotency_keys`); n != 0 {
		t.Errorf("%d responses are stored, want none", n)
	}
}

// Older versions stored rejections for a day, including "still running". Such a key is free.
func TestRejectionOfOlderVersionIsIgnored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(t,
		`INSERT INTO idempotency_keys (account_id, key, request_hash, status, body, expires_at) VALUES ('acc_1', 'k', '', 409, 'in progress', now() + interval '1 day')`)
	answer, err := b.request(t.Context(), "acc_1", "k", "{}", "new")
	if err != nil || answer.Replayed || string(answer.Body) != "new" {
		t.Fatalf("with a stored 409, the request returned %v, %v; want a new response", answer, err)
	}
	_, got, err := b.Begin(t.Context(), "acc_1", operation, "k", []byte("{}"))
	wantReplay(t, got, err, ok("new"))
}

// A request that failed because an equal request was faster returns the response of that request.
func TestLookupFindsFasterEqualRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	late, other := b.begin(t, "acc_1", "k", "{}"), b.begin(t, "acc_1", "k", `{"a":1}`)
	if got, err := b.Lookup(t.Context(), late); got != nil || err != nil {
		t.Errorf("before the other request, Lookup returned %v, %v; want nothing", got, err)
	}
	if err := b.begin(t, "acc_1", "k", "{}").Store(t.Context(), b.db.Hot, ok("winner")); err != nil {
		t.Fatal(err)
	}
	got, err := b.Lookup(t.Context(), late)
	wantReplay(t, got, err, ok("winner"))
	_, err = b.Lookup(t.Context(), other)
	wantCode(t, err, fault.CodeIdempotencyConflict)
	recorded, err := b.Record(t.Context(), late, ok("late"))
	wantReplay(t, &recorded, err, ok("winner"))
}

func TestRequestWithoutKeyPassesThrough(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	claim, replay, err := b.Begin(t.Context(), "acc_1", operation, "", []byte("{}"))
	if claim != nil || replay != nil || err != nil {
		t.Fatalf("Begin returned %v, %v, %v", claim, replay, err)
	}
	if err := claim.Store(t.Context(), b.db.Hot, ok("x")); err != nil {
		t.Error(err)
	}
	if got, err := b.Record(t.Context(), claim, ok("x")); err != nil || got.Status != 200 {
		t.Errorf("Record returned %v, %v", got, err)
	}
	if got, err := b.Lookup(t.Context(), claim); err != nil || got != nil {
		t.Errorf("Lookup returned %v, %v", got, err)
	}
	if n := b.count(t, `SELECT count(*) FROM idempotency_keys`); n != 0 {
		t.Errorf("got %d rows", n)
	}
}

func TestKeyIsPrintableASCII(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, key := range []string{strings.Repeat("k", 256), "a\nb", "\x7f", "é", "\x00"} {
		_, _, err := b.Begin(t.Context(), "acc_1", operation, key, nil)
		if got := fault.Classify(err); err == nil || got.Kind != fault.Invalid || got.Fields["Idempotency-Key"] == "" {
			t.Errorf("the key %q returned %v", key, err)
		}
	}
	for _, key := range []string{" ", "~", strings.Repeat("k", 255)} {
		b.begin(t, "acc_1", key, "")
	}
}

func TestSweepDeletesExpiredKeysInBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(t, `INSERT INTO idempotency_keys (account_id, key, request_hash, status, body, expires_at)
		SELECT 'acc_1', 'key-' || n, '', 200, '', now() + (CASE WHEN n <= 25 THEN '-1 second' ELSE '1 hour' END)::interval FROM generate_series(1, 40) n`)
	for _, want := range []int{10, 10, 5, 0} {
		if swept, err := b.Sweep(t.Context()); err != nil || swept != want {
			t.Errorf("Sweep returned %d, %v, want %d", swept, err, want)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM idempotency_keys`); n != 15 {
		t.Errorf("%d keys remain, want 15", n)
	}
}

func TestSweeperRunsUntilStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store, err := idempotency.New(idempotency.Params{DB: b.db.Hot, Logger: slog.New(slog.DiscardHandler),
		SweepEvery: time.Millisecond, SweepBatch: 10})
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, `INSERT INTO idempotency_keys (account_id, key, request_hash, status, body, expires_at)
		SELECT 'acc_1', 'key-' || n, '', 200, '', now() - interval '1 second' FROM generate_series(1, 25) n`)
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 20*time.Second, "expired keys are gone", func() bool { return b.count(t, `SELECT count(*) FROM idempotency_keys`) == 0 })
	if err := store.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
