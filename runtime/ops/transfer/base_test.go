package transfer

import (
	"bytes"
	"database/sql"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func exportBase(t *testing.T, d *db.DB) (*Base, []byte) {
	t.Helper()
	var file bytes.Buffer
	base, err := ExportBase(t.Context(), d, "acc_1", &file, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := base.Close(); err != nil {
			t.Error(err)
		}
	})
	return base, file.Bytes()
}

func moveID(t *testing.T, d *db.DB) string {
	t.Helper()
	id, err := db.One(t.Context(), d.SQL, db.Value[string], `SELECT coalesce(max(move_id), 'no account') FROM accounts WHERE id = 'acc_1' AND frozen_at IS NOT NULL`)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// hooked calls a function before the second half of a file is read.
func hooked(file []byte, call func()) io.Reader {
	return io.MultiReader(bytes.NewReader(file[:len(file)/2]), callReader(call), bytes.NewReader(file[len(file)/2:]))
}

type callReader func()

func (c callReader) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// A base is imported in several transactions. It has its id only once it is complete, and a later import ends an
// earlier one.
func TestBaseIsImportedInTurns(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	dbtest.Exec(t, from, `INSERT INTO suppressions (id, account_id, address_hash, email, reason, created_at)
		SELECT 'sup_' || n, 'acc_1', n::text::bytea, repeat(md5(n::text), 20), 'manual', now() FROM generate_series(1, 7000) n`)
	o := options
	o.turn = 1 // one entry each
	base, file := exportBase(t, from)
	other, otherFile := exportBase(t, from)
	_, err := Import(t.Context(), to, hooked(file, func() {
		if got := moveID(t, to); got != base.ID+"_partial" {
			t.Errorf("the incomplete base is %s", got)
		}
	}), o)
	if err != nil {
		t.Error(err)
	}
	if _, err := Import(t.Context(), to, bytes.NewReader(otherFile), o); err != nil {
		t.Error(err)
	}
	err = InPatientTx(t.Context(), to, sql.LevelDefault, func(tx *sql.Tx) error {
		return (&importer{manifest: &Manifest{AccountID: "acc_1", Base: base.ID}}).resume(t.Context(), tx)
	})
	if err == nil || !strings.Contains(err.Error(), "another import") {
		t.Errorf("the first import continued with %v, want an error about the second", err)
	}
	if got := moveID(t, to); got != other.ID {
		t.Errorf("the base is %s, want that of the second import", got)
	}
	if _, err := Import(t.Context(), to, bytes.NewReader(file[:len(file)/2]), o); err == nil || moveID(t, to) != base.ID+"_partial" {
		t.Errorf("half a file was imported as %s: %v", moveID(t, to), err)
	}
	if _, err := Import(t.Context(), to, bytes.NewReader(file), o); err != nil || moveID(t, to) != base.ID {
		t.Errorf("the base that replaces an incomplete one is %s: %v", moveID(t, to), err)
	}
	dbtest.Exec(t, from, `DELETE FROM emails WHERE status = 'scheduled'`)
	for _, table := range []string{"emails", "recipients", "suppressions"} {
		if diff := cmp.Diff(asText(t, from, table, "acc_1"), asText(t, to, table, "acc_1")); diff != "" {
			t.Errorf("%s (-exported +imported):\n%s", table, diff)
		}
	}
}
