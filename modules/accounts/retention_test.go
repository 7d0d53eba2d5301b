package accounts

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Whether an account uses test mode is found in an index, also if nearly all events belong to accounts that do not.
func TestRetentionsReadNoWholeTable(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	dbtest.Exec(t, d, `INSERT INTO facts (id, account_id, type, subject_id, data, created_at)
		SELECT 'evt_' || n, 'acc_1', 'email.sent', 'msg_' || n, '{}', now() FROM generate_series(1, 20000) n`)
	dbtest.Exec(t, d, `ANALYZE facts`)
	plan, err := db.All(t.Context(), d.SQL, db.Value[string], `EXPLAIN `+usesTestModeSQL, db.Array([]string{"acc_1"}))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(plan, "\n")
	if strings.Contains(text, "Seq Scan on facts") || !strings.Contains(text, "fact_account_id_id") {
		t.Errorf("the planner does not use the index of facts:\n%s", text)
	}
}
