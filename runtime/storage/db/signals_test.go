package db_test

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func newSignals(t *testing.T, d *db.DB) *db.Signals {
	t.Helper()
	s, err := db.NewSignals(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close signals: %v", err)
		}
	})
	return s
}

func expectWake(t *testing.T, wake <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(expect.Patience):
		t.Fatalf("no wake received: %s", what)
	}
}

func expectNoWake(t *testing.T, wake <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-wake:
		t.Errorf("unexpected wake: %s", what)
	default:
	}
}

// subscribeAll returns subscriptions of a process that certainly receives signals of others, with the wake of
// the first connection already consumed.
func subscribeAll(t *testing.T, s *db.Signals, channels ...string) []<-chan struct{} {
	t.Helper()
	var wakes []<-chan struct{}
	for _, channel := range channels {
		wake, cancel := s.Subscribe(channel)
		t.Cleanup(cancel)
		wakes = append(wakes, wake)
	}
	expectWake(t, s.Heard(), "no connection")
	s.WakeEverybody() // either it was before we subscribed, or it is joined with this one
	for i, wake := range wakes {
		expectWake(t, wake, "after the first connection, "+channels[i])
	}
	return wakes
}

func TestSignalsReachOtherProcesses(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	here, there := newSignals(t, d), newSignals(t, d)
	own := subscribeAll(t, here, "mail", "other")
	remote := subscribeAll(t, there, "mail", "other", "mail")
	started := time.Now()
	for range 100 {
		here.Wake("mail")
	}
	joined := time.Since(started) < db.JoinFor
	expectWake(t, own[0], "the own process")
	expectWake(t, remote[0], "the other process")
	expectWake(t, remote[2], "a second subscriber there")
	there.Wake("other") // arrives after all earlier signals
	expectWake(t, own[1], "the other channel")
	expectNoWake(t, own[0], "by the own notification")
	if joined { // otherwise the machine was paused between them
		expectNoWake(t, remote[0], "again by wakes that were joined")
	}
}

func TestSignalsCancel(t *testing.T) {
	t.Parallel()
	s := newSignals(t, dbtest.New(t))
	first := subscribeAll(t, s, "mail")[0]
	gone, cancel := s.Subscribe("mail")
	second, keep := s.Subscribe("mail")
	defer keep()
	cancel()
	cancel()
	s.Wake("mail")
	expectWake(t, second, "the remaining subscriber")
	expectWake(t, first, "the earlier subscriber")
	expectNoWake(t, gone, "after cancel")
}

func TestSignalsWakeAllAfterReconnect(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	here, there := newSignals(t, d), newSignals(t, d)
	subscribeAll(t, here, "unused")
	remote := subscribeAll(t, there, "mail", "other")
	if _, err := d.SQL.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`); err != nil {
		t.Fatal(err)
	}
	expectWake(t, remote[0], "after the connection was made again")
	expectWake(t, remote[1], "after the connection was made again")
	here.Wake("mail")
	expectWake(t, remote[0], "over the new connection")
}

// written is a log that signals when it is written to.
type written chan string

func (w written) Write(line []byte) (int, error) {
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}

// The listening connection belongs to the cluster that the pools use: its lock shows other processes that
// this one is alive.
func TestSignalsRejectServerOfAnotherCluster(t *testing.T) {
	t.Parallel()
	server, other := dbtest.NewServer(t), dbtest.NewServer(t)
	other.BecomeForeign()
	proxy := newProxy(t, server.URL(), nil)
	d, log := openURL(t, db.Config{URL: proxy.url, OpTimeout: 30 * time.Second}), make(written, 100)
	s, err := db.NewSignals(d, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkEnd(t, s.Close()) })
	wake := subscribeAll(t, s, "mail")[0]
	proxy.redirectTo(t, other.URL())
	if _, err := server.Open().SQL.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "another cluster"); {
		select {
		case said = <-log:
		case <-time.After(expect.Patience):
			t.Fatal("a server of another cluster was not rejected")
		}
	}
	if key, held := s.Lock(); held {
		t.Errorf("the lock %d is held on a server of another cluster", key)
	}
	expectNoWake(t, wake, "by a server of another cluster")
	proxy.redirectTo(t, server.URL())
	expectWake(t, wake, "by the server of the pools")
	if _, held := s.Lock(); !held {
		t.Error("the lock is not held on the server of the pools")
	}
}

func TestSignalsUseLastWorkingHost(t *testing.T) {
	t.Parallel()
	// The silent host is listed first and delays by ten seconds; the other one follows later.
	d := openURL(t, db.Config{URL: withHosts(t, dbtest.URL(t), "127.0.0.1", expect.SilentPort(t, new(atomic.Int64)),
		"read-write"), OpTimeout: 40 * time.Second})
	began := time.Now()
	expectWake(t, newSignals(t, d).Heard(), "no signals were received")
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("signals were received after %s, want the last working host to be used first", took)
	}
}

func TestSignalsCloseWithFrozenServer(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	d := server.Open()
	s, err := db.NewSignals(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	subscribeAll(t, s, "mail")
	server.Freeze()
	s.Wake("mail")
	started := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(started); took > answerWithin {
		t.Errorf("Close took %s", took)
	}
	server.Thaw()
}

// The listening connection holds a lock, which is released when the connection ends, and each connection has
// its own.
func TestSignalsHoldLock(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := newSignals(t, d)
	subscribeAll(t, s, "mail")
	first, held := s.Lock()
	free := func(key int64) (free bool) {
		if err := d.SQL.QueryRowContext(t.Context(), `SELECT pg_try_advisory_xact_lock_shared($1)`, key).Scan(&free); err != nil {
			t.Fatal(err)
		}
		return free
	}
	if !held || free(first) {
		t.Errorf("while connected, the lock %d is held: %v, free: %v", first, held, free(first))
	}
	expectWake(t, s.LockChanged(), "a lock was taken")
	if _, err := d.SQL.ExecContext(t.Context(),
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`); err != nil {
		t.Fatal(err)
	}
	expectWake(t, s.LockChanged(), "the lock was lost, or taken again")
	expect.EventuallyWithin(t, 15*time.Second, "another lock is held", func() bool {
		second, held := s.Lock()
		return held && second != first && !free(second) && free(first)
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if key, held := s.Lock(); held {
		t.Errorf("after Close, the lock %d is still held", key)
	}
}
