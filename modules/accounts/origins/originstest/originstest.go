// Package originstest moves accounts between the installations of a test.
package originstest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Installation answers questions of other installations.
type Installation struct {
	Origins   *origins.Service
	BaseURL   string
	Witnesses map[origins.TokenKind]origins.Witness
	Asked     atomic.Int64 // questions that were received
	Close     func()       // ends responding

	db  *db.DB
	box *secret.Box
}

// New starts an installation.
func New(t testing.TB, d *db.DB, box *secret.Box) *Installation {
	t.Helper()
	i := &Installation{Witnesses: map[origins.TokenKind]origins.Witness{}, db: d, box: box}
	server := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.BaseURL, i.Close = server.URL, server.Close
	i.Origins = origins.New(origins.Params{Config: origins.Config{BaseURL: i.BaseURL}, DB: d, Box: box,
		Logger: slog.New(slog.DiscardHandler)})
	return i
}

func (i *Installation) serve(w http.ResponseWriter, r *http.Request) {
	i.Asked.Add(1)
	body, err := io.ReadAll(r.Body)
	var response []byte
	if err == nil && r.URL.Path == origins.Path {
		desk := &origins.Desk{Origins: i.Origins, Witnesses: i.Witnesses}
		response, err = desk.Respond(r.Context(), body, r.Header.Get(origins.SignatureHeader))
	}
	switch {
	case err == nil:
		_, _ = w.Write(response) // the client is the test
	case fault.KindOf(err) == fault.NotFound:
		w.WriteHeader(http.StatusNotFound)
	case fault.KindOf(err) == fault.Invalid:
		w.WriteHeader(http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// Move moves an account to another installation.
func (i *Installation) Move(t testing.TB, accountID string, to *Installation) {
	t.Helper()
	const insert = `INSERT INTO accounts (id, name, email) VALUES ($1, 'Account', 'owner@example.com') ON CONFLICT (id) DO NOTHING`
	for _, side := range []*Installation{i, to} {
		dbtest.Exec(t, side.db, insert, accountID)
	}
	list, err := db.One(t.Context(), i.db.SQL, db.Value[[]byte], `SELECT origins FROM accounts WHERE id = $1`, accountID)
	if err == nil {
		list, err = origins.Add(i.box, accountID, list, i.BaseURL)
	}
	if err != nil {
		t.Fatal(err)
	}
	purpose := []byte("accounts/" + accountID + "/origins")
	plain, err := i.box.Open(list, purpose)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, i.db, `UPDATE accounts SET origins = $2, frozen_at = now(), moved_to = $3 WHERE id = $1`, accountID, list,
		to.BaseURL)
	dbtest.Exec(t, to.db, `UPDATE accounts SET origins = $2, frozen_at = NULL, moved_to = NULL WHERE id = $1`, accountID,
		to.box.Seal(plain, purpose))
	i.Origins.Forget()
	to.Origins.Forget()
}
