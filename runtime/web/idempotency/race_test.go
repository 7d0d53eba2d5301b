package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestConcurrentEqualRequestsHaveOneEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const requests, keys = 50, 5
	answers := make([][]idempotency.Response, keys)
	gate := make(chan struct{})
	var wait sync.WaitGroup
	for k := range keys {
		answers[k] = make([]idempotency.Response, requests)
		for i := range requests {
			wait.Go(func() {
				<-gate
				answer, err := b.request(t.Context(), "acc_1", fmt.Sprint("key-", k), "{}",
					fmt.Sprintf("the effect %d of key %d", i, k))
				if err != nil {
					t.Error(err)
				}
				answers[k][i] = answer
			})
		}
	}
	close(gate)
	wait.Wait()
	for k := range keys {
		first := 0
		for _, a := range answers[k] {
			if string(a.Body) != string(answers[k][0].Body) || a.Status != 200 {
				t.Errorf("key %d: got the different responses %q and %q", k, a.Body, answers[k][0].Body)
			}
			if !a.Replayed {
				first++
			}
		}
		if first != 1 {
			t.Errorf("key %d: %d responses are not replays, want 1", k, first)
		}
	}
	if n := b.count(t, `SELECT count(*) FROM effects`); n != keys {
		t.Errorf("got %d effects, want %d", n, keys)
	}
}

func TestRaceWithDifferentBodyIsConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := b.begin(t, "acc_1", "k", "{}"), b.begin(t, "acc_1", "k", `{"a":1}`)
	if err := first.Store(t.Context(), b.db.Hot, ok("x")); err != nil {
		t.Fatal(err)
	}
	if err := second.Store(t.Context(), b.db.Hot, ok("y")); !errors.Is(err, idempotency.ErrTaken) {
		t.Fatalf("the second Store returned %v", err)
	}
	_, err := b.Replay(t.Context(), second)
	wantCode(t, err, fault.CodeIdempotencyConflict)
}

func TestRollbackFreesKeyForWaitingRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := b.begin(t, "acc_1", "k", "{}"), b.begin(t, "acc_1", "k", "{}")
	tx, err := b.db.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Store(t.Context(), tx, ok("first")); err != nil {
		t.Fatal(err)
	}
	stored := make(chan error, 1)
	go func() { stored <- second.Store(t.Context(), b.db.Hot, ok("second")) }()
	b.waitForLock(t)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatalf("the waiting request returned %v", err)
	}
	got, err := b.Replay(t.Context(), first)
	wantReplay(t, got, err, ok("second"))
}

func (b bench) waitForLock(t *testing.T) {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	expect.EventuallyWithin(t, 20*time.Second, "a request is waiting", func() bool { return b.count(t, waiting) > 0 })
}

func TestLongWaitReturnsInProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tx, err := b.db.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.begin(t, "acc_1", "k", "{}").Store(t.Context(), tx, ok("first")); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"lock_timeout", "statement_timeout"} {
		claim := b.begin(t, "acc_1", "k", "{}")
		err := b.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(t.Context(), "SET LOCAL "+limit+" = '50ms'"); err != nil {
				return err
			}
			return claim.Store(t.Context(), tx, ok("second"))
		})
		wantCode(t, err, fault.CodeIdempotencyInProgress)
		if fault.IsDatabaseUnavailable(err) {
			t.Errorf("a held key was reported as an unavailable database: %v", err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	_, got, err := b.Begin(t.Context(), "acc_1", operation, "k", []byte("{}"))
	wantReplay(t, got, err, ok("first"))
}

func TestStoreManyStoresBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	held := b.begin(t, "acc_1", "held", "{}")
	if err := held.Store(t.Context(), b.db.Hot, ok("held")); err != nil {
		t.Fatal(err)
	}
	expired := b.begin(t, "acc_1", "expired", "{}")
	if err := expired.Store(t.Context(), b.db.Hot, ok("expired")); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `UPDATE idempotency_keys SET expires_at = now() - interval '1 hour' WHERE key = 'expired'`)
	late, _, err := b.Begin(t.Context(), "acc_1", operation, "z", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	stale := b.begin(t, "acc_1", "held2", "{}")
	if err := b.begin(t, "acc_1", "held2", "{}").Store(t.Context(), b.db.Hot, ok("held2")); err != nil {
		t.Fatal(err)
	}
	batch := []idempotency.ClaimedResponse{
		{Claim: late, Answer: ok("z")},
		{Claim: nil, Answer: ok("no key")},
		{Claim: stale, Answer: ok("too late")},
		{Claim: b.begin(t, "acc_1", "twin", "{}"), Answer: ok("twin 1")},
		{Claim: b.begin(t, "acc_1", "twin", "{}"), Answer: ok("twin 2")},
		{Claim: b.begin(t, "acc_2", "twin", "{}"), Answer: ok("other account")},
		{Claim: b.begin(t, "acc_1", "expired", "{}"), Answer: ok("renewed")},
		{Claim: b.begin(t, "acc_1", "a,{}\"\\'", "{}"), Answer: ok(`{"a":"\\x"}`)},
	}
	for _, tx := range []string{"hot", "ent"} {
		var taken []bool
		rollBack := errors.New("roll back")
		collect := func(tx idempotency.Execer) (err error) {
			taken, err = idempotency.StoreMany(t.Context(), tx, batch)
			return err
		}
		if tx == "ent" {
			err = b.db.InTx(t.Context(), func(tx *ent.Tx) error { return errors.Join(collect(tx), rollBack) })
		} else {
			err = b.db.InHotTx(t.Context(), func(tx *sql.Tx) error { return collect(tx) })
		}
		if tx == "hot" && err != nil {
			t.Fatal(err)
		}
		want := []bool{false, false, true, false, true, false, false, false}
		if tx == "ent" { // all committed earlier by the hot request
			want = []bool{true, false, true, true, true, true, true, true}
		}
		if diff := cmp.Diff(want, taken); diff != "" {
			t.Errorf("taken after %s differs (-want +got):\n%s", tx, diff)
		}
	}
	for key, body := range map[string]string{"z": "z", "held2": "held2", "twin": "twin 1", "expired": "renewed",
		"a,{}\"\\'": `{"a":"\\x"}`} {
		_, got, err := b.Begin(t.Context(), "acc_1", operation, key, []byte("{}"))
		wantReplay(t, got, err, ok(body))
	}
}

func TestBatchesWithTheSameKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	won := make([]int, 6)
	batches := make([][]idempotency.ClaimedResponse, len(won))
	for w := range won {
		for i := range 200 {
			n := i
			if w%2 == 1 {
				n = 199 - i
			}
			claim := b.begin(t, "acc_1", fmt.Sprint("key-", n), "{}")
			batches[w] = append(batches[w], idempotency.ClaimedResponse{Claim: claim, Answer: ok(fmt.Sprint(w))})
		}
	}
	var wait sync.WaitGroup
	for w, batch := range batches {
		wait.Go(func() {
			err := b.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
				taken, err := idempotency.StoreMany(t.Context(), tx, batch)
				for _, lost := range taken {
					if !lost {
						won[w]++
					}
				}
				return err
			})
			if err != nil {
				t.Errorf("batch %d returned %v", w, err)
			}
		})
	}
	wait.Wait()
	total := 0
	for _, n := range won {
		total += n
	}
	if total != 200 {
		t.Errorf("got %d winners for 200 keys", total)
	}
}

func TestCanceledCallerIsNotReportedAsRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	claim := b.begin(t, "acc_1", "k", "{}")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := claim.Store(ctx, b.db.Hot, ok("x"))
	if err == nil || fault.Classify(err).Code == fault.CodeIdempotencyInProgress {
		t.Errorf("got the error %v", err)
	}
}

// A batch soon gives up on a held key and reports it. The shorter lock timeout does not affect later statements
// of its session.
func TestTryStoreManyGivesUpOnHeldKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tx, err := b.db.Hot.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.begin(t, "acc_1", "held", "{}").Store(t.Context(), tx, ok("first")); err != nil {
		t.Fatal(err)
	}
	try := func(keys ...string) (taken []bool, after string, err error) {
		var batch []idempotency.ClaimedResponse
		for _, key := range keys {
			batch = append(batch, idempotency.ClaimedResponse{Claim: b.begin(t, "acc_1", key, "{}"), Answer: ok(key)})
		}
		err = b.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
			if taken, err = idempotency.TryStoreMany(t.Context(), tx, batch, 20*time.Millisecond); err != nil {
				return err
			}
			return tx.QueryRowContext(t.Context(), `SHOW lock_timeout`).Scan(&after)
		})
		return taken, after, err
	}
	begin := time.Now()
	if _, _, err := try("a", "held", "z"); !errors.Is(err, idempotency.ErrBusy) || fault.IsDatabaseUnavailable(err) {
		t.Errorf("a batch with a held key returned %v, want ErrBusy", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("a batch with a held key gave up only after %s, like a session does by default", took)
	}
	taken, after, err := try("a", "z")
	if err != nil || taken[0] || taken[1] || after != "1min" {
		t.Errorf("the others got taken %v, and lock_timeout is %s afterwards, %v; want neither taken and 1min", taken,
			after, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if taken, _, err := try("held"); err != nil || taken[0] {
		t.Errorf("once the key was free, the batch got taken %v, %v", taken, err)
	}
}
