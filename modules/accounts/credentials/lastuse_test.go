package credentials

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// failingDB is an unavailable database. It records another use while a write fails.
type failingDB struct {
	db.Execer

	meanwhile func()
}

func (r failingDB) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	r.meanwhile()
	return nil, errors.New("away")
}

func TestFailedWriteKeepsUses(t *testing.T) {
	t.Parallel()
	var r *Recorder
	var older, newer time.Time
	r = NewRecorder(failingDB{meanwhile: func() {
		r.Mark("key_b")
		newer = r.last["key_b"].at
	}}, "keys")
	r.Mark("key_a")
	r.Mark("key_b")
	older = r.last["key_a"].at
	if err := r.Flush(t.Context()); err == nil {
		t.Error("Flush returned no error for a failed write")
	}
	if len(r.last) != 2 || !r.last["key_b"].at.Equal(newer) || !r.last["key_a"].at.Equal(older) {
		t.Errorf("after a failed write, the uses are %v, want key_a unchanged and the newer key_b", r.last)
	}
}
