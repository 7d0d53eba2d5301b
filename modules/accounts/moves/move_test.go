package moves

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

var options = Options{Options: transfer.Options{Box: transfertest.NewBox(), Secret: secret.NewKey(), Program: "test",
	Credentials: true, Progress: func(string) {}},
	Count: func(context.Context) error { return nil }, caches: 1}

func dueTimes(t *testing.T, d *db.DB, account string) string {
	t.Helper()
	found, err := transfer.DueTimes(t.Context(), d.SQL, account)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantState(t *testing.T, d *db.DB, account string, want transfer.State) {
	t.Helper()
	var frozen bool
	var movedTo, code *string
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT frozen_at IS NOT NULL, moved_to, move_code FROM accounts WHERE id = $1`, account).
		Scan(&frozen, &movedTo, &code); err != nil {
		t.Fatal(err)
	}
	if got := transfer.StateOf(frozen, movedTo, code); got != want {
		t.Errorf("the account is in the state %q, want %q", got, want)
	}
}

// wantResidence checks where callers of the account acc_1 find it.
func wantResidence(t *testing.T, d *db.DB, want accounts.Residence) {
	t.Helper()
	var got accounts.Residence
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT `+accounts.ResidenceColumns+` FROM accounts a WHERE id = 'acc_1'`).
		Scan(accounts.ScanResidence(&got)...); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("the account is at %+v, want %+v", got, want)
	}
}

func exportMove(t *testing.T, d *db.DB, account string) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := ExportMove(t.Context(), d, account, &file, options); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("%s returned %v, want a conflict", what, err)
	}
}

// Unfinished work arrives once, with its due times, and only the code of a finished move starts it.
func TestMoveKeepsUnfinishedWorkInOnePlace(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	transfertest.FillWork(t, from, "acc_1")
	transfertest.Fill(t, from, "acc_2")
	transfertest.FillWork(t, from, "acc_2")
	transfertest.Fill(t, to, "acc_3")
	before, other := dueTimes(t, from, "acc_1"), dueTimes(t, from, "acc_2")
	if n := strings.Count(before, "acc_1"); n != 7 {
		t.Fatalf("the account has %d rows of unfinished work, want 7:\n%s", n, before)
	}
	stale := exportMove(t, from, "acc_1")
	wantState(t, from, "acc_1", transfer.Leaving)
	if _, err := Finish(t.Context(), from, "acc_1", "http://mail.example.org", false); fault.KindOf(err) != fault.Invalid {
		t.Errorf("finishing with http returned %v, want an invalid field", err)
	}

	if err := Cancel(t.Context(), from, "acc_1"); err != nil {
		t.Fatal(err)
	}
	wantState(t, from, "acc_1", transfer.Settled)
	if diff := cmp.Diff(before, dueTimes(t, from, "acc_1")); diff != "" {
		t.Errorf("canceling changed due times (-before +after):\n%s", diff)
	}
	_, err := Finish(t.Context(), from, "acc_1", "https://mail.example.org", false)
	wantConflict(t, "finishing a canceled move", err)

	file := exportMove(t, from, "acc_1")
	for range 2 { // the second file replaces the first copy, and itself
		for _, f := range [][]byte{stale, file} {
			if _, err := transfer.Import(t.Context(), to, bytes.NewReader(f), options.Options); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantState(t, to, "acc_1", transfer.Waiting)
	wantConflict(t, "canceling at the target", Cancel(t.Context(), to, "acc_1"))
	if err := Start(t.Context(), to, "acc_1", "mv_guess"); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a guessed code returned %v", err)
	}
	code, err := Finish(t.Context(), from, "acc_1", "https://mail.example.org/", false)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, from, "acc_1", transfer.Moved)
	if n := strings.Count(dueTimes(t, from, "acc_1"), "acc_1"); n != 0 {
		t.Errorf("%d rows of work are left at the source", n)
	}
	wantConflict(t, "canceling a finished move", Cancel(t.Context(), from, "acc_1"))
	for _, forward := range []bool{true, false, true} { // the last one decides
		again, err := Finish(t.Context(), from, "acc_1", "https://mail.example.org", forward)
		if err != nil || again != code {
			t.Errorf("finishing again returned %q, %v; want the same code", again, err)
		}
		wantResidence(t, from, accounts.Residence{MovedTo: "https://mail.example.org", Forward: forward})
	}
	for range 2 {
		if err := Start(t.Context(), to, "acc_1", code); err != nil {
			t.Fatal(err)
		}
	}
	wantState(t, to, "acc_1", transfer.Settled)
	if diff := cmp.Diff(before, dueTimes(t, to, "acc_1")); diff != "" {
		t.Errorf("the work has changed (-source +target):\n%s", diff)
	}
	if diff := cmp.Diff(other, dueTimes(t, from, "acc_2")); diff != "" {
		t.Errorf("the move changed another account (-before +after):\n%s", diff)
	}
	if _, err := transfer.Import(t.Context(), to, bytes.NewReader(file), options.Options); err == nil {
		t.Error("an import replaced an account that works")
	}

	back := exportMove(t, withStatistics(t, to), "acc_1") // and back to the first installation
	if _, err := transfer.Import(t.Context(), from, bytes.NewReader(back), options.Options); err != nil {
		t.Fatal(err)
	}
	if code, err = Finish(t.Context(), to, "acc_1", "https://old.example.org", false); err != nil {
		t.Fatal(err)
	}
	if err := Start(t.Context(), from, "acc_1", code); err != nil {
		t.Fatal(err)
	}
	wantResidence(t, from, accounts.Residence{})
	if diff := cmp.Diff(before, dueTimes(t, from, "acc_1")); diff != "" {
		t.Errorf("the way back changed the work (-before +after):\n%s", diff)
	}
}

// withStatistics makes the statistics of an installation complete.
func withStatistics(t *testing.T, d *db.DB) *db.DB {
	t.Helper()
	dbtest.Exec(t, d, `INSERT INTO statistics_marks (id, fact_id) VALUES (1, 'evt_z') ON CONFLICT (id) DO NOTHING`)
	return d
}

// A file of one export cannot be started with the code of another, and work that was done after the export prevents
// the end of the move.
func TestFinishRefusesWorkAfterExport(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	transfertest.FillWork(t, from, "acc_1")
	stale := exportMove(t, from, "acc_1")
	if _, err := transfer.Import(t.Context(), to, bytes.NewReader(stale), options.Options); err != nil {
		t.Fatal(err)
	}
	exportMove(t, from, "acc_1")
	for what, change := range map[string]string{
		"a resumed run":          `UPDATE automation_works SET state = 'ready', due_at = now(), fence = fence + 1`,
		"a canceled email":       `UPDATE emails SET release_at = NULL WHERE release_at IS NOT NULL`,
		"a dropped recipient":    `UPDATE recipients SET due_at = NULL, state = 'failed' WHERE email_id LIKE 'queued%'`,
		"a deleted delivery":     `DELETE FROM webhook_works`,
		"a text that has failed": `UPDATE sms_messages SET due_at = NULL`,
	} {
		tx, err := from.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		digest, err := db.One(t.Context(), tx, db.Value[string], `SELECT move_digest FROM accounts WHERE id = 'acc_1'`)
		if err != nil {
			t.Fatal(err)
		}
		wantConflict(t, what, transfer.FinishWork(t.Context(), tx, "acc_1", digest))
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	code, err := Finish(t.Context(), from, "acc_1", "http://127.0.0.1:8080", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(t.Context(), to, "acc_1", code); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("the code of the second export started the first: %v", err)
	}
	wantState(t, to, "acc_1", transfer.Waiting)
}

// An export waits for attempts in progress. If they do not end, the account resumes, and the worker can still store
// the outcome.
func TestMoveWaitsForAttempts(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string][2]string{
		"recipients": {`INSERT INTO attempts (recipient_id, email_id, account_id, number, fence, started_at, phase, reply, remote_host, remote_addr, tls, way)
			SELECT id, email_id, account_id, 1, 1, now(), '', '', '', '', '', '' FROM recipients WHERE email_id LIKE 'queued%'`,
			`UPDATE attempts SET outcome = 'delivered'`},
		"webhook_works": {`INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr)
			SELECT id, 'acc_1', 1, 1, now(), '', '', '' FROM webhook_works`, `UPDATE webhook_attempts SET outcome = 'unknown'`},
		"sms_messages": {`INSERT INTO sms_attempts (message_id, account_id, number, fence, provider, started_at, error) SELECT id, account_id, 1, fence, 'http', now(), '' FROM sms_messages`,
			`UPDATE sms_attempts SET outcome = 'unknown'`},
		"events": {`INSERT INTO bus_messages (consumer, fact_id) SELECT 'suppression', id FROM facts WHERE account_id = 'acc_1' LIMIT 1`,
			`DELETE FROM bus_messages`},
		"custom events": {`INSERT INTO custom_events (id, account_id, name, source, depth, pending, goal_pending, trial, created_at) VALUES ('cev_1', 'acc_1', 'x', 'api', 0, true, false, false, now())`,
			`UPDATE custom_events SET pending = false`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			transfertest.Fill(t, d, "acc_1")
			transfertest.FillWork(t, d, "acc_1")
			before := dueTimes(t, d, "acc_1")
			dbtest.Exec(t, d, begin[0])
			brief := options
			brief.Patience = time.Millisecond
			var file bytes.Buffer
			if _, err := ExportMove(t.Context(), d, "acc_1", &file, brief); err == nil || !strings.HasSuffix(err.Error(), what) {
				t.Errorf("the export returned %v, want an error about %s", err, what)
			}
			if file.Len() > 0 {
				t.Errorf("the refused export wrote %d bytes", file.Len())
			}
			wantState(t, d, "acc_1", transfer.Settled)
			if diff := cmp.Diff(before, dueTimes(t, d, "acc_1")); diff != "" {
				t.Errorf("the refused export changed due times (-before +after):\n%s", diff)
			}
			done := make(chan error, 1)
			go func() {
				_, err := ExportMove(t.Context(), d, "acc_1", &file, options)
				done <- err
			}()
			expect.Eventually(t, "the account is frozen", func() bool {
				return dbtest.Count(t, d, `SELECT count(*) FROM accounts WHERE frozen_at IS NOT NULL`) == 1
			})
			dbtest.Exec(t, d, begin[1])
			if err := <-done; err != nil {
				t.Errorf("once the attempt had ended, the export returned %v", err)
			}
		})
	}
}

// An interrupted export leaves a state from which the move can be canceled or begun again.
func TestInterruptedExportCanBeRepeated(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	transfertest.Fill(t, d, "acc_1")
	transfertest.FillWork(t, d, "acc_1")
	if _, _, err := freeze(t.Context(), d, "acc_1", options); err != nil { // then the process is killed
		t.Fatal(err)
	}
	wantState(t, d, "acc_1", transfer.Leaving)
	_, err := Finish(t.Context(), d, "acc_1", "https://mail.example.org", false)
	wantConflict(t, "finishing without a file", err)
	failing := options
	broken := errors.New("disk full")
	failing.Progress = func(string) {}
	if _, err := ExportMove(t.Context(), d, "acc_1", brokenWriter{broken}, failing); !errors.Is(err, broken) {
		t.Errorf("the export to a full disk returned %v", err)
	}
	wantState(t, d, "acc_1", transfer.Settled)
	exportMove(t, d, "acc_1")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ExportMove(canceled, d, "acc_1", &bytes.Buffer{}, options); err == nil {
		t.Error("a canceled export succeeded")
	}
	wantState(t, d, "acc_1", transfer.Leaving)
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
