package webhooks

import (
	"database/sql"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/event"
)

// What was due before a time is failed with the reason; what is due later waits on. The
// endpoint stays on, however many that were.
func TestDropEndsWhatWasDueBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.endpoint(t, ada, newReceiver(t).URL)
	const old = failingAfter + 5
	for range old + 1 {
		fact := w.happens(t, ada, event.EmailSent)
		if err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error { return w.handle(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
	}
	failure := time.Now().Add(time.Hour)
	w.exec(t, `UPDATE webhook_works SET due_at = $1 WHERE id = (SELECT max(id) FROM webhook_works)`, failure.Add(time.Minute))
	if n, err := w.CountDue(t.Context(), failure); err != nil || n != old {
		t.Errorf("before the failure %d deliveries are due, %v; want %d", n, err, old)
	}
	if n, err := w.DropDue(t.Context(), failure, "restored"); err != nil || n != old {
		t.Errorf("dropped %d, %v; want %d", n, err, old)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'failed' AND due_at IS NULL AND error = 'restored'`); n != old {
		t.Errorf("%d have failed with the reason, want %d", n, old)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'`); n != 1 {
		t.Errorf("%d still wait, want the one that is due later", n)
	}
	var failing bool
	if err := w.db.SQL.QueryRowContext(t.Context(), failingSQL, made.ID, failingAfter).Scan(&failing); err != nil || failing {
		t.Errorf("the endpoint counts as failing: %t, %v; a drop says nothing about it", failing, err)
	}
}
