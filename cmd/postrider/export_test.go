package main

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// The commands of the event export print its position, and move it back but not forward.
func TestExportStatusAndRewind(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	ask := func(args ...string) (is shown.Export, stderr string) {
		t.Helper()
		code, stdout, stderr := runPostrider(t, append(append([]string{"export"}, args...), "--database-url", url)...)
		if code != 0 {
			return shown.Export{}, stderr
		}
		if err := json.Unmarshal([]byte(stdout), &is); err != nil {
			t.Fatalf("export %s printed %s, want JSON: %v", args, stdout, err)
		}
		return is, ""
	}
	if _, stderr := ask("status"); !strings.Contains(stderr, "POSTRIDER_EVENTS_TO") {
		t.Errorf("without an export, status printed %q, want the setting that enables it", stderr)
	}
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	d, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.ExecContext(t.Context(),
		`INSERT INTO event_exports (name, position, due_at, moved_at, failures, error, failed_at) VALUES ('nats', $1, now(), now(), 3, 'no servers', now())`, id.Since(id.Fact, at)); err != nil {
		t.Fatal(err)
	}
	if is, stderr := ask("status"); !is.PositionAt.Equal(at) || is.Failures != 3 || is.LastError != "no servers" ||
		is.LastErrorAt == nil || is.SendingAgain {
		t.Errorf("the status is %+v %s, want that of the row", is, stderr)
	}
	if _, stderr := ask("rewind", "--since", at.Add(time.Minute).Format(time.RFC3339)); !strings.Contains(stderr,
		"since") || !strings.Contains(stderr, at.Format(time.RFC3339)) {
		t.Errorf("rewinding forward printed %q, want that --since must be before %s", stderr, at.Format(time.RFC3339))
	}
	before := at.Add(-24 * time.Hour)
	if is, stderr := ask("rewind", "--since", before.Format(time.RFC3339)); !is.PositionAt.Equal(before) ||
		!is.SendingAgain || is.Failures != 0 {
		t.Errorf("after rewinding to %s the status is %+v %s", before, is, stderr)
	}
}
