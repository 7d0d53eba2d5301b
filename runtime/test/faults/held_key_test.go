package faults_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// A transaction outside Postrider holds one key for at least nine seconds, until sixty requests with other keys
// have been accepted promptly. The request with the held key gets the response that the first is still running,
// and is accepted once the key is free.
func TestHeldKeyDelaysNoOtherRequest(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	address := dbtest.URL(t)
	server := faults.Start(t, address, outbound(sink.Listen("127.0.0.1:0")))
	ledger := faults.NewLedger()
	holder, err := openDatabase(t, address).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }() // unless it has ended
	if _, err := holder.ExecContext(t.Context(), `INSERT INTO idempotency_keys (account_id, key, request_hash, status, body, expires_at)
		VALUES ($1, 'held', '', 200, '', now() + interval '1 day')`, server.AccountID); err != nil {
		t.Fatal(err)
	}
	held := time.Now()
	var took []time.Duration
	var mu sync.Mutex
	send := func(i int) faults.Answer {
		return ledger.Ask(t.Context(), server, fmt.Sprintf("n%d@example.net", i), "Idempotency-Key",
			fmt.Sprint("fresh-", i))
	}
	var callers sync.WaitGroup
	done := make(chan struct{})
	asking := func() bool {
		select {
		case <-done:
			return time.Since(held) < 8*time.Second
		default:
			return true
		}
	}
	for range 3 {
		callers.Go(func() {
			for asking() {
				if a := ledger.Ask(t.Context(), server, "held@example.net", "Idempotency-Key",
					"held"); a.Status != http.StatusConflict ||
					!strings.Contains(string(a.Body), "idempotency_in_progress") {
					t.Errorf("the request with the held key returned %d %s, want the error that the first is running",
						a.Status, a.Body)
				}
			}
		})
	}
	at(12, 60, func(i int) {
		a := send(i)
		mu.Lock()
		defer mu.Unlock()
		if took = append(took, a.Took); a.Status != http.StatusOK {
			t.Errorf("request %d returned %d %s while another key was held", i, a.Status, a.Body)
		}
	})
	close(done)
	callers.Wait()
	<-time.After(time.Until(held.Add(9 * time.Second)))
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if a := ledger.Ask(t.Context(), server, "held@example.net", "Idempotency-Key", "held"); a.Status != http.StatusOK ||
		a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the request with the released key returned %d %s", a.Status, a.Body)
	}
	at(12, 60, func(i int) {
		if a := send(i); a.Status != http.StatusOK || a.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("request %d, repeated, returned %d %s, want a replay", i, a.Status, a.Body)
		}
	})
	slices.Sort(took)
	// The goal is one second; a batch that waits for the key would take two.
	atMost(t, "p99 of 60 requests while a key is held", took[59], 1800*time.Millisecond)
	expect.Eventually(t, "all have arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, server)
	result := ledger.Audit(sink, nil, nil)
	audit(t, result)
	if result.Accepted != 61 {
		t.Errorf("%d were accepted, want 61", result.Accepted)
	}
}
