package automations

import (
	"testing"
	"time"
)

// However many runs of one account are due, and however long they have been, a run of another account is among
// the next claimed.
func TestManyDueRunsDoNotDelayOtherAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`,
		`{"key": "d", "type": "delay", "duration": "PT1H"}, {"type": "delay", "duration": "PT1H"}`)
	w.post(t, "start", `{}`)
	const crowd, limit = 200, 10
	w.Exec(t, `INSERT INTO automation_runs (id, account_id, automation_id, version, event_id, event, status, started_at)
		SELECT r.id || i, account_id, automation_id, version, event_id, event, status, started_at FROM automation_runs r, generate_series(1, $1) AS i`, crowd)
	w.Exec(t, `INSERT INTO automation_works (id, account_id, automation_id, version, step_index, state, waiting, ready_at, due_at, lane)
		SELECT w.id || i, account_id, automation_id, version, step_index, state, waiting, ready_at, now() - interval '1 hour', lane FROM automation_works w, generate_series(1, $1) AS i`, crowd)
	// The first run is the only one of its account and became due last.
	w.Exec(t, `UPDATE automation_works SET lane = (lane + 1) % 64, due_at = now() - interval '1 second' WHERE id ~ '^[a-z]+_.{26}$'`)
	claimed, err := w.steps.Claim(t.Context(), limit, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	alone := 0
	for _, c := range claimed {
		if len(c.Run.ID) == len("run_")+26 {
			alone++
		}
	}
	if alone != 1 || len(claimed) != limit {
		t.Errorf("%d runs were claimed, %d of them from the other account; want %d and 1", len(claimed), alone, limit)
	}
}
