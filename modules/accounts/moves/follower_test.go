package moves

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/node"
)

// storedNode is a process that stores what it has seen in its row.
type storedNode struct {
	db *db.DB
	id int
}

func (n storedNode) StoreAccountsSeen(ctx context.Context, snapshot string) error {
	_, err := db.Exec(ctx, n.db.SQL, `UPDATE nodes SET accounts_seen = $2 WHERE id = $1`, n.id, snapshot)
	return err
}

// follow runs the task of a process. forgotten counts how often it has dropped what it remembers.
func follow(t *testing.T, d *db.DB, id int) (forgotten *atomic.Int64) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	signals, err := db.NewSignals(d, log)
	if err != nil {
		t.Fatal(err)
	}
	tasks := worker.NewTasks(log, nil)
	t.Cleanup(func() {
		tasks.Stop(context.Background())
		if err := signals.Close(); err != nil {
			t.Error(err)
		}
	})
	forgotten = new(atomic.Int64)
	tasks.Start(Follower{DB: d, Signals: signals, Node: storedNode{d, id},
		Forget: []func(){func() { forgotten.Add(1) }}}.Task())
	return forgotten
}

func addNode(t *testing.T, d *db.DB, id int, age string) {
	t.Helper()
	dbtest.Exec(t, d, `INSERT INTO nodes (id, name, version, roles, started_at, seen_at, claims_from) VALUES ($1, 'node', 'v1', '[]', now(), now() - $2::interval, now())`,
		id, age)
}

// A freeze ends its wait once all processes have confirmed it, and otherwise lasts until their caches have ended.
func TestFreezeWaitsForEveryProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	transfertest.Fill(t, d, "acc_1")
	transfertest.FillWork(t, d, "acc_1")
	freezeAndResume := func(patience, caches time.Duration) error {
		o := options
		o.Patience, o.caches, o.admitted = patience, caches, 1
		_, err := ExportMove(t.Context(), d, "acc_1", &bytes.Buffer{}, o)
		if err == nil {
			err = Cancel(t.Context(), d, "acc_1")
		}
		return err
	}
	wantWait := func(what string) {
		t.Helper()
		var busy transfer.BusyError
		if err := freezeAndResume(1, time.Hour); !errors.As(err, &busy) || busy.Work[0] != "requests" {
			t.Errorf("%s, the export returned %v, want a wait for requests", what, err)
		}
		if err := freezeAndResume(time.Hour, 1); err != nil {
			t.Errorf("%s, and with caches that have ended, the export returned %v", what, err)
		}
	}
	wantWait("without a process")
	addNode(t, d, 1, "0")
	wantWait("with a process that does not confirm")

	first := follow(t, d, 1)
	addNode(t, d, 2, "10 minutes") // has died
	if err := freezeAndResume(time.Hour, time.Hour); err != nil {
		t.Fatal(err)
	}
	if first.Load() == 0 {
		t.Error("the process has confirmed without dropping what it remembers")
	}
	addNode(t, d, 3, "30 seconds")
	wantWait("with one process of two that does not confirm")
	second := follow(t, d, 3)
	if err := freezeAndResume(time.Hour, time.Hour); err != nil {
		t.Fatal(err)
	}
	if second.Load() == 0 {
		t.Error("the second process has not dropped what it remembers")
	}
}

// A confirmation counts only for transactions that its process has seen.
func TestEarlierConfirmationDoesNotCount(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	transfertest.Fill(t, d, "acc_1")
	addNode(t, d, 1, "0")
	if err := (Follower{DB: d, Node: storedNode{d, 1}}).confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, transaction, err := freeze(t.Context(), d, "acc_1", options)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if noticed, err := node.HaveSeenAccounts(t.Context(), d, transaction); err != nil || noticed != want {
			t.Errorf("the freeze was noticed: %v, %v; want %v", noticed, err, want)
		}
		if err := (Follower{DB: d, Node: storedNode{d, 1}}).confirm(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that cannot read accounts again does not confirm.
func TestFailedReloadIsNotConfirmed(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	transfertest.Fill(t, d, "acc_1")
	addNode(t, d, 1, "0")
	_, transaction, err := freeze(t.Context(), d, "acc_1", options)
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []error{errors.New("reload"), nil} {
		f := Follower{DB: d, Node: storedNode{d, 1}, Reload: []func(context.Context) error{func(context.Context) error { return fails }}}
		if err := f.confirm(t.Context()); !errors.Is(err, fails) {
			t.Errorf("the confirmation returned %v, want %v", err, fails)
		}
		if noticed, err := node.HaveSeenAccounts(t.Context(), d, transaction); err != nil || noticed != (fails == nil) {
			t.Errorf("after a reload with the error %v, the freeze was noticed: %v, %v", fails, noticed, err)
		}
	}
}

// Rows that another transaction has locked are parked later.
func TestMoveWaitsForLocks(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, func(c *db.Config) { c.LockTimeout = 100 * time.Millisecond })
	transfertest.Fill(t, d, "acc_1")
	transfertest.FillWork(t, d, "acc_1")
	tx, err := d.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `SELECT FROM recipients FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	o := options
	o.Patience = 1
	var busy transfer.BusyError
	if _, err := ExportMove(t.Context(), d, "acc_1", &bytes.Buffer{}, o); !errors.As(err, &busy) || busy.Work[0] != "recipients" {
		t.Errorf("with locked recipients, the export returned %v, want a wait for them", err)
	}
	wantState(t, d, "acc_1", transfer.Settled)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	exportMove(t, d, "acc_1")
}
