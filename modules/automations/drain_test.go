package automations

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// heldRuns pauses an automation with n live runs, lets the runs become due, and returns its id.
func (w *world) heldRuns(t *testing.T, n int) string {
	t.Helper()
	a := w.activate(t, `{"event": "start"}`, mail)
	for i := range n {
		w.postAs(t, "start", fmt.Sprint("u", i), fmt.Sprintf("u%d@example.net", i), `{}`)
	}
	paused, err := w.Pause(t.Context(), sendingtest.Account, a.ID, true, nil)
	if err != nil || paused.Held == nil || *paused.Held != n || paused.Draining != nil {
		t.Fatalf("pause with %d live runs: %+v, %v", n, paused, err)
	}
	w.drain(t)
	if got := w.Count(t, "automation_works WHERE parked"); got != n || w.Count(t, "emails") != 0 {
		t.Fatalf("while held, %d of %d runs are parked and %d mails were sent", got, n, w.Count(t, "emails"))
	}
	return a.ID
}

func (w *world) drainState(t *testing.T, automationID string) string {
	t.Helper()
	a, err := w.Get(t.Context(), sendingtest.Account, automationID)
	if err != nil {
		t.Fatal(err)
	}
	if a.Draining == nil {
		return ""
	}
	return a.Draining.String()
}

// If the activating request dies before its commit, nothing changes. If it dies after its commit, another
// process releases the runs.
func TestHeldRunsContinueAfterRequestDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	id := w.heldRuns(t, 3)
	died := errors.New("the process died")
	_, err := w.Activate(t.Context(), w.caller(), id,
		Activation{Keep: func(context.Context, idempotency.Execer, ActionResult) error { return died }})
	if !errors.Is(err, died) || w.drainState(t, id) != "" {
		t.Fatalf("a request that died before its commit returned %v, and draining is %q", err, w.drainState(t, id))
	}
	w.runBackground(t)
	if n := w.Count(t, "automation_works WHERE parked"); n != 3 {
		t.Fatalf("nothing was activated, but %d of 3 runs are parked", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	activated, err := w.Activate(ctx, w.caller(), id, Activation{})
	cancel() // the activating process does nothing from here on
	if err != nil || activated.Held == nil || *activated.Held != 3 || w.drainState(t, id) != "release" {
		t.Fatalf("activate: %+v, %v; draining is %q", activated, err, w.drainState(t, id))
	}
	if more, err := second.drain.Run(t.Context()); err != nil || more {
		t.Fatalf("drain in another process: %v, more: %t", err, more)
	}
	if _, err := second.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.countStatuses(t); got["completed"] != 3 || w.Count(t, "emails") != 3 || w.drainState(t, id) != "" {
		t.Errorf("after the activation the runs are %v with %d mails, and draining is %q", got,
			w.Count(t, "emails"), w.drainState(t, id))
	}
}

// A claim that began before the activation parks a run after the drain has finished.
func TestRunParkedLateContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.heldRuns(t, 2)
	if _, err := w.Activate(t.Context(), w.caller(), id, Activation{}); err != nil {
		t.Fatal(err)
	}
	w.runBackground(t)
	w.Exec(t, `UPDATE automation_works SET parked = true`)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 0 {
		t.Fatalf("%d parked runs have sent", n)
	}
	w.runBackground(t)
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 2 {
		t.Errorf("runs parked late are %v, want two completed", got)
	}
}

// A drain that finds a run locked by another transaction returns to it soon.
func TestDrainReturnsToLockedRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.heldRuns(t, 2)
	if _, err := w.Activate(t.Context(), w.caller(), id, Activation{}); err != nil {
		t.Fatal(err)
	}
	w.runBackground(t)
	w.Exec(t, `UPDATE automation_works SET parked = true`)
	other, err := w.DB.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), `SELECT FROM automation_works LIMIT 1 FOR UPDATE`); err != nil {
		t.Fatal(errors.Join(err, other.Rollback()))
	}
	more, err := w.Service.drain.Run(t.Context())
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err != nil || !more {
		t.Errorf("the drain reports more: %t, %v; want true, because a run is locked", more, err)
	}
	if more, err := w.Service.drain.Run(t.Context()); err != nil || more || w.Count(t, "automation_works WHERE parked") != 0 {
		t.Errorf("the next drain left %d runs parked, more: %t, %v", w.Count(t, "automation_works WHERE parked"), more, err)
	}
}

// While runs are being cancelled in the background, none of them begins a step. Runs that start in the meantime
// continue afterwards.
func TestActivateCancelsHeldRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.heldRuns(t, 3)
	activated, err := w.Activate(t.Context(), w.caller(), id, Activation{Cancel: true})
	if err != nil || activated.Cancelling == nil || *activated.Cancelling != 3 || activated.Held != nil ||
		activated.Status != automation.StatusActive {
		t.Fatalf("activate and cancel: %+v, %v", activated, err)
	}
	w.postAs(t, "start", "new", "new@example.net", `{}`)
	w.Exec(t, `UPDATE automation_works SET parked = false`)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 0 || w.drainState(t, id) != "cancel" {
		t.Fatalf("%d mails while draining is %q", n, w.drainState(t, id))
	}
	w.runBackground(t)
	w.drain(t)
	if got := w.countStatuses(t); got["cancelled"] != 3 || got["completed"] != 1 || w.Count(t, "emails") != 1 ||
		w.drainState(t, id) != "" {
		t.Errorf("the runs are %v with %d mails, and draining is %q; want three cancelled and the new one completed",
			got, w.Count(t, "emails"), w.drainState(t, id))
	}
	if n := w.Count(t, "facts WHERE type = 'automation.cancelled'"); n != 3 {
		t.Errorf("%d runs have a cancelled fact, want 3", n)
	}
}

// A run locked by a transaction is left to the next pass, and the recorded work stays until then.
func TestDrainSkipsLockedRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1H"}, `+mail)
	for i := range 5 {
		w.postAs(t, "start", fmt.Sprint(i), "", `{}`)
	}
	archived, err := w.Archive(t.Context(), sendingtest.Account, a.ID, nil)
	if err != nil || archived.Cancelling == nil || *archived.Cancelling != 5 {
		t.Fatalf("archive: %+v, %v", archived, err)
	}
	tx, err := w.DB.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if list, err := runs.LockSome(t.Context(), tx, a.ID, nil, 2); err != nil || len(list) != 2 {
		t.Fatalf("lock two runs: %d, %v", len(list), err)
	}
	more, err := w.Service.drain.Run(t.Context())
	if got := w.countStatuses(t); err != nil || !more || got["cancelled"] != 3 || w.drainState(t, a.ID) != "cancel" {
		t.Fatalf("with two of five runs locked: %v (%v), more: %t, draining is %q", got, err, more,
			w.drainState(t, a.ID))
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.runBackground(t)
	if got := w.countStatuses(t); got["cancelled"] != 5 || w.drainState(t, a.ID) != "" {
		t.Errorf("finally the runs are %v, and draining is %q", got, w.drainState(t, a.ID))
	}
}

// If an event arrives while its automation is being archived or deleted, its run sends nothing and is
// cancelled.
func TestCancelsRunsWithoutAutomation(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]string{
		"archived": `UPDATE automations SET status = 'archived', held = true`,
		"deleted":  `DELETE FROM automations`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.activate(t, `{"event": "start"}`, mail)
			w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1H"}`)
			w.post(t, "start", `{}`)
			w.Exec(t, leave)
			w.drain(t)
			w.runBackground(t)
			if got := w.countStatuses(t); got["cancelled"] != 1 || w.Count(t, "emails") != 0 {
				t.Errorf("after it became due, the run is %v with %d mails; want it cancelled", got,
					w.Count(t, "emails"))
			}
			if n, err := w.Sweep(t.Context()); err != nil || n != 1 {
				t.Errorf("the sweep cancelled %d runs (%v), want the waiting one", n, err)
			}
		})
	}
}

// Two processes concurrently drain many runs in batches.
func TestProcessesDrainConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1H"}`)
	w.post(t, "start", `{}`)
	const n = 2500
	w.Exec(t, `INSERT INTO automation_runs (id, account_id, automation_id, version, event_id, event, status, started_at)
		SELECT r.id || i, account_id, automation_id, version, event_id, event, status, started_at FROM automation_runs r, generate_series(2, $1) AS i`, n)
	w.Exec(t, `INSERT INTO automation_works (id, account_id, automation_id, version, step_index, state, waiting, ready_at, due_at, lane)
		SELECT w.id || i, account_id, automation_id, version, step_index, state, waiting, ready_at, due_at, lane FROM automation_works w, generate_series(2, $1) AS i`, n)
	if _, err := w.Archive(t.Context(), sendingtest.Account, a.ID, nil); err != nil {
		t.Fatal(err)
	}
	runConcurrently(func() {
		if _, err := w.Service.drain.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}, func() {
		if _, err := second.drain.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	w.runBackground(t)
	if got := w.countStatuses(t); got["cancelled"] != n || w.Count(t, "automation_works") != 0 {
		t.Errorf("%d runs had to be cancelled, and the runs are %v", n, got)
	}
	if got := w.Count(t, "facts WHERE type = 'automation.cancelled'"); got != n {
		t.Errorf("%d facts for %d cancelled runs", got, n)
	}
}

// The task drains when it is woken, without a request.
func TestTaskDrains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.heldRuns(t, 2)
	if _, err := w.Activate(t.Context(), w.caller(), id, Activation{}); err != nil {
		t.Fatal(err)
	}
	wait, err := w.Service.drain.Task().Step(t.Context())
	if err != nil || wait < 10*time.Second || w.Count(t, "automation_works WHERE parked") != 0 {
		t.Errorf("the task waits %s (%v), and %d runs are parked", wait, err, w.Count(t, "automation_works WHERE parked"))
	}
}
