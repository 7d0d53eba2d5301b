package webhooks

import (
	"database/sql"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/work/event"
)

// Deliveries due before the given time fail with the given reason. Later ones stay pending, and the endpoint
// stays enabled no matter how many failed.
func TestDropDueFailsOnlyOlderDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	const old = failingAfter + 5
	for range old + 3 {
		fact := w.publishSample(t, ada, event.EmailSent)
		if err := w.db.InHotTx(t.Context(),
			func(tx *sql.Tx) error { return w.handleFact(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
	}
	failure := time.Now().Add(time.Hour)
	// The newest delivery has no attempt. Of the two before it, one has an attempt in flight and one was
	// released.
	w.exec(t, `UPDATE webhook_works SET due_at = $1 WHERE id IN (SELECT id FROM webhook_works ORDER BY id DESC LIMIT 3)`, failure.Add(time.Minute))
	w.exec(t, `INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr, outcome, finished_at)
		SELECT d.id, d.account_id, 1, 1, now(), '', '', '', CASE n WHEN 2 THEN 'unknown' END, CASE n WHEN 2 THEN $1::timestamptz END
		FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM webhook_works) q JOIN webhook_deliveries d ON d.id = q.id WHERE n IN (2, 3)`, failure.Add(time.Second))
	if n, err := w.CountDue(t.Context(), failure); err != nil || n != old+2 {
		t.Errorf("CountDue = %d, %v; want %d", n, err, old+2)
	}
	if n, err := w.DropDue(t.Context(), failure, "restored"); err != nil || n != old+2 {
		t.Errorf("DropDue = %d, %v; want %d", n, err, old+2)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'failed' AND due_at IS NULL AND error = 'restored'`); n != old+2 {
		t.Errorf("%d deliveries failed with the reason, want %d", n, old+2)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'`); n != 1 {
		t.Errorf("%d deliveries are pending, want only the one due later", n)
	}
	var failing bool
	if err := w.db.SQL.QueryRowContext(t.Context(), failingSQL, made.ID, failingAfter).Scan(&failing); err != nil ||
		failing {
		t.Errorf("endpoint is failing: %t, %v; want dropped deliveries to be ignored", failing, err)
	}
}
