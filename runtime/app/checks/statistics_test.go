package checks

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestDoctorReportsLateStatistics(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	look := func(level doctor.Level, found string) {
		t.Helper()
		f := checkStatistics(Params{DB: d})(t.Context())[0]
		if f.Level != level || !strings.Contains(f.Found, found) || f.Level > doctor.OK && f.Do == "" {
			t.Errorf("doctor reports %+v, want level %s and %q", f, level, found)
		}
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	look(doctor.OK, "event has waited for 0s")
	exec(`INSERT INTO statistics_marks (id, fact_id, error) VALUES (1, $1, 'disk full')`, id.Since(id.Fact, time.Now().Add(-time.Hour)))
	look(doctor.OK, "event has waited for 0s")
	exec(`INSERT INTO facts (id, account_id, type, subject_id, data) VALUES ($1, 'acc_1', 'email.sent', 'msg_1', '{}')`,
		id.Since(id.Fact, time.Now().Add(-20*time.Minute)))
	look(doctor.Warning, "disk full")
	exec(`UPDATE statistics_marks SET fact_id = $1, error = '', skipped = 2`, id.Since(id.Fact, time.Now()))
	look(doctor.Warning, "2 were skipped")
}
