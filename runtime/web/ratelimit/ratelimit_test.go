package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func start(t testing.TB, d *db.DB) *Limiter {
	t.Helper()
	l, err := New(Params{DB: d, Logger: slog.New(slog.DiscardHandler), SweepEvery: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// processes returns two limiters on one database, each with its own pools.
func processes(t testing.TB) (*db.DB, []*Limiter) {
	t.Helper()
	url := dbtest.URL(t)
	var first *db.DB
	limiters := make([]*Limiter, 2)
	for i := range limiters {
		d, err := db.Open(t.Context(), db.Config{URL: url, OpTimeout: expect.Patience}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		first, limiters[i] = d, start(t, d)
	}
	return first, limiters
}

func admit(t testing.TB, l *Limiter, a AccountRate) (http.Header, error) {
	t.Helper()
	header := http.Header{}
	err := l.Admit(t.Context(), a, header)
	return header, err
}

func refusal(t testing.TB, err error) *fault.Error {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.Limit || refused.Code != fault.CodeRateLimit {
		t.Fatalf("got %v, want a rejection", err)
	}
	return refused
}

// setAhead sets how far an account is ahead of the database clock.
func setAhead(t testing.TB, d *db.DB, accountID string, ahead time.Duration) {
	t.Helper()
	_, err := d.SQL.ExecContext(t.Context(), `INSERT INTO rate_limits VALUES ($1, now() + make_interval(secs => $2))
		ON CONFLICT (account_id) DO UPDATE SET full_at = excluded.full_at`, accountID, ahead.Seconds())
	if err != nil {
		t.Fatal(err)
	}
}

func fullAt(t testing.TB, d *db.DB, accountID string) (at time.Time) {
	t.Helper()
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT full_at FROM rate_limits WHERE account_id = $1`, accountID).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// soon returns the result of a request right after the account was set that far ahead. It retries if the
// machine was paused in between.
func soon(t *testing.T, d *db.DB, l *Limiter, a AccountRate, ahead time.Duration) (http.Header, error) {
	t.Helper()
	for range 50 {
		begin := time.Now()
		setAhead(t, d, a.ID, ahead)
		got, err := admit(t, l, a)
		if time.Since(begin) < 400*time.Millisecond {
			return got, err
		}
	}
	t.Fatal("the machine was paused repeatedly")
	return nil, nil
}

func TestBurstThenRate(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	l := start(t, d)
	ada := AccountRate{ID: "ada", PerSecond: 2}
	for _, remaining := range []string{"3", "2", "1", "0"} {
		got, err := soon(t, d, l, ada, time.Duration(3-atoi(t, remaining))*500*time.Millisecond)
		// A little time has passed since the row was set, but never enough for another request.
		if err != nil || got.Get("ratelimit-limit") != "4" || got.Get("ratelimit-remaining") != remaining {
			t.Errorf("with %s remaining, got %v, %v", remaining, got, err)
		}
	}
	got, err := soon(t, d, l, ada, 2*time.Second)
	refused := refusal(t, err)
	if refused.RetryAfter > 500*time.Millisecond || refused.RetryAfter < 100*time.Millisecond ||
		got.Get("ratelimit-remaining") != "0" || got.Get("ratelimit-reset") != "2" {
		t.Errorf("the rejection has the delay %s, %v", refused.RetryAfter, got)
	}
	for late := true; late; { // another request is admitted after half a second
		begin := time.Now()
		setAhead(t, d, "ada", 2*time.Second)
		before := fullAt(t, d, "ada")
		_, err := admit(t, l, ada)
		if late = time.Since(begin) > 400*time.Millisecond; !late &&
			(err == nil || !fullAt(t, d, "ada").Equal(before)) {
			t.Errorf("a rejected request was counted, or admitted: %v", err)
		}
	}
	for tries := 0; ; tries++ {
		begin := time.Now()
		setAhead(t, d, "ada", 2*time.Second)
		before := fullAt(t, d, "ada")
		expect.Eventually(t, "half a second refills one request", func() bool {
			_, err := admit(t, l, ada)
			return err == nil
		})
		moved := fullAt(t, d, "ada").Sub(before)
		if moved > 500*time.Millisecond && time.Since(begin) > 2*time.Second && tries < 20 {
			continue // the machine was paused, and the account became idle
		}
		if moved != 500*time.Millisecond {
			t.Errorf("one request moved the account forward by %s", moved)
		}
		return
	}
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAccountsAreCountedSeparately(t *testing.T) {
	t.Parallel()
	l := start(t, dbtest.New(t))
	for _, id := range []string{"ada", "bob"} {
		for i := range 2 {
			if _, err := admit(t, l, AccountRate{ID: id, PerSecond: 1}); err != nil {
				t.Errorf("%s: request %d returned %v", id, i, err)
			}
		}
	}
}

// Two processes together admit as much as one: the burst, and the requests regained in the meantime.
func TestBurstIsExactAcrossProcesses(t *testing.T) {
	t.Parallel()
	d, limiters := processes(t)
	ada := AccountRate{ID: "ada", PerSecond: 1}
	begin := time.Now()
	var admitted atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			_, err := admit(t, limiters[i%2], ada)
			if err == nil {
				admitted.Add(1)
			} else if fault.Classify(err).Code != fault.CodeRateLimit {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most := 2 + int64(time.Since(begin).Seconds()); admitted.Load() < 2 || admitted.Load() > most {
		t.Errorf("%d of 200 requests were admitted, want 2 to %d", admitted.Load(), most)
	}
	if n := len(rows(t, d)); n != 1 {
		t.Errorf("got %d rows", n)
	}
}

// While an account is never idle, every admitted request moves it forward by exactly its interval: none is
// lost and none is counted twice.
func TestConcurrentRequestsAreAllCounted(t *testing.T) {
	t.Parallel()
	for range 20 {
		if allCounted(t) {
			return
		}
	}
	t.Error("the account became idle in each of twenty attempts")
}

// allCounted is false if an account had time to become idle, because the machine was paused.
func allCounted(t *testing.T) bool {
	t.Helper()
	d, limiters := processes(t)
	const interval = 10 * time.Millisecond
	accounts := []AccountRate{{ID: "ada", PerSecond: 100}, {ID: "bob", PerSecond: 100}, {ID: "eve", PerSecond: 100}}
	before := map[string]time.Time{}
	begin := time.Now() // the accounts begin to regain requests when they are set
	for _, a := range accounts {
		setAhead(t, d, a.ID, time.Second) // half of the burst is used
		before[a.ID] = fullAt(t, d, a.ID)
	}
	admitted := map[string]*atomic.Int64{"ada": {}, "bob": {}, "eve": {}}
	var all sync.WaitGroup
	for i := range 600 {
		a := accounts[i%len(accounts)]
		all.Go(func() {
			got, err := admit(t, limiters[i%2], a)
			if got.Get("ratelimit-limit") != "200" {
				t.Errorf("got the headers %v", got)
			}
			if err == nil {
				admitted[a.ID].Add(1)
			} else {
				refusal(t, err)
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	most := 100 + int64(took/interval) + 1
	for id, n := range admitted {
		if n.Load() < 100 || n.Load() > most {
			t.Errorf("%s: %d requests were admitted, want 100 to %d", id, n.Load(), most)
		}
		if moved := fullAt(t, d, id).Sub(before[id]); moved != time.Duration(n.Load())*interval {
			if moved > time.Duration(n.Load())*interval && took > time.Second {
				return false
			}
			t.Errorf("%s: %d admitted requests moved the account forward by %s", id, n.Load(), moved)
		}
	}
	return true
}

// Many concurrent first requests in two processes create one row.
func TestConcurrentFirstRequestsCreateOneRow(t *testing.T) {
	t.Parallel()
	d, limiters := processes(t)
	for round := range 20 {
		ids := []string{fmt.Sprint("a", round), fmt.Sprint("b", round), fmt.Sprint("c", round)}
		admitted := make([]atomic.Int64, len(ids))
		var all sync.WaitGroup
		begin := time.Now()
		for i := range 24 {
			all.Go(func() {
				if _, err := admit(t, limiters[i%2], AccountRate{ID: ids[i%3], PerSecond: 1}); err == nil {
					admitted[i%3].Add(1)
				} else {
					refusal(t, err)
				}
			})
		}
		all.Wait()
		most := 2 + int64(time.Since(begin).Seconds())
		for i := range ids {
			if n := admitted[i].Load(); n < 2 || n > most {
				t.Errorf("%s: %d requests were admitted, want 2 to %d", ids[i], n, most)
			}
		}
	}
	if n := len(rows(t, d)); n != 60 {
		t.Errorf("got %d rows, want 60", n)
	}
}

func rows(t testing.TB, d *db.DB) (ids []string) {
	t.Helper()
	found, err := d.SQL.QueryContext(t.Context(), `SELECT account_id FROM rate_limits`)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var id string
		if err := found.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestUnmeteredAccountsAreNotCounted(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	l := start(t, server.OpenPatiently())
	server.Stop()
	for range 5 {
		got, err := admit(t, l, AccountRate{ID: "dev", PerSecond: 1, Unmetered: true})
		if err != nil || got.Get("ratelimit-limit") != "2" || got.Get("ratelimit-remaining") != "2" ||
			got.Get("ratelimit-reset") != "0" {
			t.Fatalf("a request of an unmetered account got %v, %v, want the limit and the remaining requests at 2",
				got, err)
		}
	}
	if _, err := admit(t, l, AccountRate{ID: "ada", PerSecond: 1}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a database, Admit returned %v", err)
	}
}

// The database clock was an hour or a day ahead while the account sent requests. The account does not have to
// wait for that time.
func TestClockStepBackDoesNotBlockAccount(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	l := start(t, d)
	for i, ahead := range []time.Duration{time.Hour, 24 * time.Hour} {
		a := AccountRate{ID: fmt.Sprintf("acc_%d", i), PerSecond: 10}
		setAhead(t, d, a.ID, ahead)
		_, err := admit(t, l, a)
		if refused := refusal(t, err); refused.RetryAfter > time.Second {
			t.Errorf("after the clock was %s ahead, the delay is %s, want that of a used burst", ahead,
				refused.RetryAfter)
		}
		expect.Eventually(t, "another request is admitted", func() bool {
			_, err := admit(t, l, a)
			return err == nil
		})
		if left := time.Until(fullAt(t, d, a.ID)); left > time.Minute {
			t.Errorf("the account regains all of its requests in %s", left)
		}
	}
}

// A statement that waited for another one has an older now(). The row that the other one wrote is further
// ahead than a burst, but still counts.
func TestLateStatementAdmitsNoExtraRequests(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	l := start(t, d)
	a := AccountRate{ID: "acc_late", PerSecond: 10} // a burst is 2 s
	setAhead(t, d, a.ID, 5*time.Second)
	before := fullAt(t, d, a.ID)
	_, err := admit(t, l, a)
	if refused := refusal(t, err); refused.RetryAfter < time.Second {
		t.Errorf("Retry-After is %s, want about 3 s", refused.RetryAfter)
	}
	if after := fullAt(t, d, a.ID); !after.Equal(before) {
		t.Errorf("full_at changed by %s, want no change", after.Sub(before))
	}
}

// A burst at a higher rate leaves no requests at a lower rate until it has passed.
func TestLoweredRate(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	l := start(t, d)
	got, err := soon(t, d, l, AccountRate{ID: "ada", PerSecond: 1}, 2*time.Second)
	if refused := refusal(t, err); refused.RetryAfter > time.Second || refused.RetryAfter < 500*time.Millisecond ||
		got.Get("ratelimit-remaining") != "0" {
		t.Errorf("got the delay %s, %v", refused.RetryAfter, got)
	}
}

func TestObsoleteRowsAreSwept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	setAhead(t, d, "old", -2*time.Hour)
	setAhead(t, d, "lately", -time.Minute)
	setAhead(t, d, "now", time.Minute)
	start(t, d)
	expect.EventuallyWithin(t, 5*time.Second, "the old row is deleted", func() bool { return len(rows(t, d)) == 2 })
}

func TestResults(t *testing.T) {
	t.Parallel()
	r := rateOf(2) // one in 500 ms, bursts of four
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, c := range []struct {
		nth, admitted, ahead int64
		want                 result
	}{
		{1, 4, 0, result{true, 3, ms(500), 0}},
		{4, 4, 0, result{true, 0, ms(2000), 0}},
		{5, 4, 0, result{false, 0, ms(2000), ms(500)}},
		{9, 4, 0, result{false, 0, ms(2000), ms(500)}},
		{1, 1, 1_400_000, result{true, 0, ms(1900), 0}},
		{2, 1, 1_400_000, result{false, 0, ms(1900), ms(400)}},
	} {
		if got := r.resultOf(c.nth, c.admitted, c.ahead); got != c.want {
			t.Errorf("with %d of %d admitted and %d ahead, got %+v, want %+v", c.nth, c.admitted, c.ahead, got, c.want)
		}
	}
	for perSecond, want := range map[int]rate{-1: {1_000_000, 2}, 0: {1_000_000, 2}, 3: {333_333, 6}, 500: {2000, 1000},
		5_000_000: {1, 10_000_000}} {
		if got := rateOf(perSecond); got != want {
			t.Errorf("with %d per second, got %+v, want %+v", perSecond, got, want)
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	l := start(b, dbtest.New(b))
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		header := http.Header{}
		for p.Next() {
			if err := l.Admit(context.Background(), AccountRate{ID: "ada", PerSecond: 1_000_000}, header); err != nil {
				b.Error(err)
			}
		}
	})
}
