// Package transfertest creates accounts for tests of moves.
package transfertest

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// The statements have the id of the account as their parameter.
var (
	//go:embed account.sql
	accountSQL string
	//go:embed work.sql
	workSQL string
)

// Fill creates an account with a person, a domain, a delivered and a scheduled email.
func Fill(t testing.TB, d *db.DB, account string) {
	t.Helper()
	execAll(t, d, accountSQL, account)
}

// FillWork adds unfinished work of each kind to an account of Fill.
func FillWork(t testing.TB, d *db.DB, account string) {
	t.Helper()
	execAll(t, d, workSQL, account)
}

// NewBox returns the box of a new master key.
func NewBox() *secret.Box {
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		panic(err) // a new key is valid
	}
	return box
}

func execAll(t testing.TB, d *db.DB, statements, account string) {
	t.Helper()
	for statement := range strings.SplitSeq(strings.TrimSpace(statements), ";\n\n") {
		dbtest.Exec(t, d, strings.TrimSuffix(statement, ";"), account)
	}
}
