package moves

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// directTarget is a target without a network. Its hooks run before and after an import, and before a start.
type directTarget struct {
	db            *db.DB
	before, after func() error
	start         func() error
	progress      func(done string) // called while a file is imported
	imports       int
	objects       blob.Store
}

func (d *directTarget) BaseURL() string { return "https://new.example" }

func (d *directTarget) Import(ctx context.Context, file io.Reader, oneTime secret.Key) (string, error) {
	d.imports++
	if err := call(d.before); err != nil {
		return "", err
	}
	o := options.Options
	o.Objects, o.Secret = d.objects, oneTime
	if d.progress != nil {
		o.Progress = d.progress
	}
	got, err := transfer.Import(ctx, d.db, file, o)
	if err = errors.Join(err, call(d.after)); err != nil {
		return "", err
	}
	return got.Manifest.CopyID(), nil
}

func (d *directTarget) Status(ctx context.Context, accountID string) (MoveStatus, error) {
	return statusOf(ctx, d.db, accountID)
}

func (d *directTarget) Start(ctx context.Context, accountID, code string) error {
	if err := call(d.start); err != nil {
		return err
	}
	return Start(ctx, d.db, accountID, code)
}

func call(hook func() error) error {
	if hook == nil {
		return nil
	}
	return hook()
}

// Whatever fails before the source has finished, the account works at the source with all its work, and the next move
// succeeds.
func TestFailedMoveGoesBackToSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for what, fail := range map[string]func(from *db.DB, to *directTarget){
		"the target refuses the upload": func(_ *db.DB, to *directTarget) { to.before = func() error { return broken } },
		"the target has the domain": func(_ *db.DB, to *directTarget) {
			dbtest.Exec(t, to.db, `UPDATE domains SET name = 'acc_1.example' WHERE account_id = 'acc_3'`)
		},
		"work is done during the import": func(from *db.DB, to *directTarget) {
			to.after = func() error {
				dbtest.Exec(t, from, `UPDATE automation_works SET fence = fence + 1`)
				return nil
			}
		},
		"the response and the copy are lost": func(_ *db.DB, to *directTarget) {
			to.after = func() error {
				dbtest.Exec(t, to.db, `UPDATE accounts SET move_id = 'other' WHERE id = 'acc_1'`)
				return broken
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			from, to := dbtest.New(t), &directTarget{db: dbtest.New(t)}
			transfertest.Fill(t, from, "acc_1")
			transfertest.FillWork(t, from, "acc_1")
			transfertest.Fill(t, to.db, "acc_3")
			before := dueTimes(t, from, "acc_1")
			fail(from, to)
			if err := Move(t.Context(), from, "acc_1", to, options); err == nil || errors.As(err, new(StartError)) {
				t.Errorf("the move returned %v, want an error from before its end", err)
			} else if what == "the target refuses the upload" && (strings.Count(err.Error(), broken.Error()) != 1 ||
				!strings.Contains(err.Error(), "import at https://new.example: ")) {
				t.Errorf("the move returned %q, want the error of the target once", err)
			}
			wantState(t, from, "acc_1", transfer.Settled)
			if diff := cmp.Diff(before, dueTimes(t, from, "acc_1")); diff != "" {
				t.Errorf("the work has changed (-before +after):\n%s", diff)
			}
			to.before, to.after = nil, nil
			dbtest.Exec(t, to.db, `UPDATE domains SET name = 'acc_3.example' WHERE account_id = 'acc_3'`)
			if err := Move(t.Context(), from, "acc_1", to, options); err != nil {
				t.Fatal(err)
			}
			wantState(t, from, "acc_1", transfer.Moved)
			wantState(t, to.db, "acc_1", transfer.Settled)
			if diff := cmp.Diff(before, dueTimes(t, to.db, "acc_1")); diff != "" {
				t.Errorf("the work has changed (-source +target):\n%s", diff)
			}
		})
	}
}

// A lost response does not undo an import, and a move that could not start its copy is continued without another file.
func TestMoveContinuesAfterLostResponses(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), &directTarget{db: dbtest.New(t)}
	transfertest.Fill(t, from, "acc_1")
	transfertest.FillWork(t, from, "acc_1")
	to.after = func() error { return errors.New("connection reset") }
	to.start = func() error { return fault.Conflictf(fault.CodeConflict, "not yet") }
	if err := Move(t.Context(), from, "acc_1", to, options); !errors.As(err, new(StartError)) {
		t.Fatalf("the move returned %v, want a StartError", err)
	}
	wantState(t, from, "acc_1", transfer.Moved)
	wantState(t, to.db, "acc_1", transfer.Waiting)
	to.start = nil
	if err := Move(t.Context(), from, "acc_1", to, options); err != nil {
		t.Fatal(err)
	}
	wantState(t, to.db, "acc_1", transfer.Settled)
	if to.imports != 2 {
		t.Errorf("%d files were imported, want a base and a difference", to.imports)
	}
}

// A receiver accepts only files of moves, and reports why it refuses one.
func TestReceiverAcceptsMovesOnly(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), from, "acc_1", &file, options.Options); err != nil {
		t.Fatal(err)
	}
	o := options.Options
	o.MoveOnly = true
	if _, err := transfer.Import(t.Context(), to, &file, o); err == nil || !strings.Contains(err.Error(), "does not belong to a move") {
		t.Errorf("the import of a copy returned %v", err)
	}
}
