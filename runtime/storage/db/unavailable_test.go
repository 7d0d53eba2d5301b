package db_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// answerWithin is far more than the four seconds of one operation, and far less than callAll would take if
// callers that wait for a connection then waited for the server again.
const answerWithin = 40 * time.Second

// calls returns the ways to use the database.
func calls(d *db.DB) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"ping":  d.Ping,
		"probe": func(ctx context.Context) error { return d.SQL.PingContext(ctx) },
		"ent": func(ctx context.Context) error {
			_, err := d.Ent.Plan.Query().Count(ctx)
			return err
		},
		"transaction": func(ctx context.Context) error {
			return d.InTx(ctx, func(tx *ent.Tx) error {
				_, err := tx.Plan.Query().All(ctx)
				return err
			})
		},
		"hot transaction": func(ctx context.Context) error {
			return d.InHotTx(ctx, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE plans SET name = name WHERE id = $1`, "free")
				return err
			})
		},
	}
}

// callAll makes many concurrent calls of each kind, more than there are connections, and checks that all end
// in time and report an unavailable database.
func callAll(t *testing.T, d *db.DB) {
	t.Helper()
	var all sync.WaitGroup
	for name, call := range calls(d) {
		for range 40 {
			all.Go(func() {
				started := time.Now()
				err := call(t.Context())
				if took := time.Since(started); took > answerWithin {
					t.Errorf("%s took %s", name, took)
				}
				if !fault.IsDatabaseUnavailable(err) {
					t.Errorf("%s: %v is not classified as an unavailable database", name, err)
				}
			})
		}
	}
	all.Wait()
}

// awaitWorking waits until the same number of calls all succeed. On a machine that is paused for longer than an
// operation may take, some fail as if the database were unavailable.
func awaitWorking(t *testing.T, d *db.DB) {
	t.Helper()
	expect.Eventually(t, "with the database up, all calls succeed", func() bool {
		var all sync.WaitGroup
		var away atomic.Int32
		for name, call := range calls(d) {
			for range 12 {
				all.Go(func() {
					switch err := call(t.Context()); {
					case fault.IsDatabaseUnavailable(err):
						away.Add(1)
					case err != nil:
						t.Errorf("%s with the database up returned %v, want no error", name, err)
					}
				})
			}
		}
		all.Wait()
		return away.Load() == 0
	})
}

// awaitRecovery waits until the database responds again, without intervention.
func awaitRecovery(t *testing.T, d *db.DB) {
	t.Helper()
	expect.Eventually(t, "the database responds again", func() bool { return d.Ping(t.Context()) == nil })
	// Stale connections of the pools may still fail once each.
	for range 20 {
		for _, call := range calls(d) {
			if err := call(t.Context()); err != nil && !fault.IsDatabaseUnavailable(err) {
				t.Fatal(err)
			}
		}
	}
	awaitWorking(t, d)
	if _, used := d.Connections(); used != 0 {
		t.Errorf("%d connections are still in use", used)
	}
}

func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.Open()
	awaitWorking(t, d)
	inside := make(chan struct{})
	caught := make(chan error)
	go func() { // a transaction that is open when the server freezes
		caught <- d.InTx(t.Context(), func(tx *ent.Tx) error {
			close(inside)
			<-caught
			_, err := tx.Plan.Query().Count(t.Context())
			return err
		})
	}()
	<-inside
	server.Freeze()
	started := time.Now()
	caught <- nil
	callAll(t, d)
	if err := <-caught; !fault.IsDatabaseUnavailable(err) || time.Since(started) > answerWithin {
		t.Errorf("the open transaction returned %v after %s", err, time.Since(started))
	}
	again := time.Now()
	callAll(t, d)
	t.Logf("calls to a frozen server ended within %s, later ones within %s", again.Sub(started), time.Since(again))
	server.Thaw()
	awaitRecovery(t, d)
}

// With only the postmaster frozen, open connections work and new ones cannot be made.
func TestFrozenPostmaster(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	server.FreezePostmaster()
	started := time.Now()
	_, err := db.Open(t.Context(), db.Config{URL: server.URL()}, discard)
	if !fault.IsDatabaseUnavailable(err) || time.Since(started) > answerWithin {
		t.Errorf("Open returned %v after %s", err, time.Since(started))
	}
	server.Thaw()
	awaitRecovery(t, server.Open())
}

func TestStoppedServer(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.Open()
	awaitWorking(t, d)
	server.Stop()
	callAll(t, d)
	callAll(t, d)
	server.Start()
	awaitRecovery(t, d)
	server.Crash()
	callAllEnd(t, d)
	awaitRecovery(t, d)
}

// callAllEnd checks times and error classes while the server may recover.
func callAllEnd(t *testing.T, d *db.DB) {
	t.Helper()
	for name, call := range calls(d) {
		started := time.Now()
		if err := call(t.Context()); err != nil && !fault.IsDatabaseUnavailable(err) {
			t.Errorf("%s: %v is not classified as an unavailable database", name, err)
		}
		if took := time.Since(started); took > answerWithin {
			t.Errorf("%s took %s", name, took)
		}
	}
}

func TestReadOnlyDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	d := openURL(t, db.Config{URL: address + "&default_transaction_read_only=on"})
	_, err := d.Ent.ExecContext(t.Context(), `UPDATE plans SET name = 'x'`)
	if !fault.IsDatabaseUnavailable(err) {
		t.Errorf("a write to a read-only database returned %v", err)
	}
}

func TestServerLimitsStatementTime(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	d := openURL(t, db.Config{URL: address, StatementTimeout: 200 * time.Millisecond,
		LockTimeout: 100 * time.Millisecond})
	witness := openURL(t, db.Config{URL: address, OpTimeout: expect.Patience})
	_, err := d.SQL.ExecContext(t.Context(), `SELECT pg_sleep(10)`)
	if !fault.IsDatabaseUnavailable(err) {
		t.Errorf("a slow statement returned %v", err)
	}
	err = d.InTx(t.Context(), func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(t.Context(), `UPDATE plans SET name = 'x'`); err != nil {
			return err
		}
		_, err := d.Ent.ExecContext(t.Context(), `UPDATE plans SET name = 'y'`)
		return err
	})
	if !fault.IsDatabaseUnavailable(err) {
		t.Errorf("a statement that waits for a lock returned %v", err)
	}
	impatient := openURL(t, db.Config{URL: address, IdleInTxTimeout: 20 * time.Millisecond})
	err = impatient.InTx(t.Context(), func(tx *ent.Tx) error {
		awaitNoTransaction(t, witness)
		_, err := tx.Plan.Query().Count(t.Context())
		return err
	})
	if !fault.IsDatabaseUnavailable(err) {
		t.Errorf("an idle transaction returned %v", err)
	}
	for _, d := range []*db.DB{d, impatient} {
		expect.Eventually(t, "the database responds again", func() bool { return d.Ping(t.Context()) == nil })
	}
}

// awaitNoTransaction waits until the server has ended every other transaction.
func awaitNoTransaction(t *testing.T, d *db.DB) {
	t.Helper()
	expect.Eventually(t, "the idle transaction is ended", func() bool {
		var open int
		if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND state LIKE 'idle in transaction%'`).Scan(&open); err != nil {
			t.Fatal(err)
		}
		return open == 0
	})
}

// Pin: the reason for the dialer. If plain lib/pq returns here, the deadlines of dialer.go can be removed.
func TestPinPlainDriverIgnoresContext(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	plain, err := sql.Open("postgres", server.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := plain.ExecContext(ctx, "SELECT 1")
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("plain lib/pq ended with %v: it now respects the context", err)
	case <-time.After(2 * time.Second):
	}
	server.Thaw()
	<-done
	if err := plain.Close(); err != nil {
		t.Error(err)
	}
}

// A statement whose response was cut off may have taken effect: it must not be retried silently.
func TestTruncatedResponseIsNotRetried(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	proxy := newProxy(t, server.URL(), nil)
	d := openURL(t, db.Config{URL: proxy.url, OpTimeout: expect.Patience})
	if _, err := d.SQL.ExecContext(t.Context(), `CREATE TABLE ran (at timestamptz)`); err != nil {
		t.Fatal(err)
	}
	proxy.cut.Store(true)
	_, err := d.SQL.ExecContext(t.Context(), `INSERT INTO ran VALUES (now())`)
	proxy.cut.Store(false)
	var network *net.OpError
	if !errors.As(err, &network) || !fault.IsDatabaseUnavailable(err) {
		t.Errorf("a truncated response returned %v", err)
	}
	var ran int
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM ran`).Scan(&ran); err != nil || ran != 1 {
		t.Errorf("the statement was executed %d times (%v), want once", ran, err)
	}
}
