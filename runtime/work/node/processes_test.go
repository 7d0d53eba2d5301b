package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Running processes are listed with their version and start time. Dead ones are listed for an hour, stopped
// ones are not.
func TestListsProcesses(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	one := join(t, d, "one")
	ended := prepareMember(t, d, "ended")
	if err := ended.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ended.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, d, `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) VALUES ('dead', 'v0', '["webhooks"]', '2026-01-01', now() - interval '10 minutes', now()),
		('long dead', 'v0', '[]', '2026-01-01', now() - interval '2 hours', now())`)
	got, err := one.Processes(t.Context())
	if err != nil || len(got) != 2 {
		t.Fatalf("the processes are %+v, %v, want the running and the dead one", got, err)
	}
	dead, alive := got[0], got[1]
	if dead.Name != "dead" || dead.Version != "v0" || dead.Alive || !slices.Equal(dead.Roles, []string{Webhooks}) ||
		!dead.StartedAt.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the dead process is %+v", dead)
	}
	if alive.Name != "one" || alive.Version != "v1" || !alive.Alive ||
		!slices.Equal(alive.Roles, []string{Accepts, Delivers}) || alive.SeenAt.Before(alive.StartedAt) ||
		!dead.SeenAt.Before(alive.SeenAt) {
		t.Errorf("the running process is %+v", alive)
	}
}
