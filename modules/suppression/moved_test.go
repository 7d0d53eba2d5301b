package suppression

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/accounts/origins/originstest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// movable is an installation from and to which accounts can move.
type movable struct {
	*Service

	home *originstest.Installation
}

func newMovable(t *testing.T) movable {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	d := dbtest.New(t)
	m := movable{home: originstest.New(t, d, box)}
	m.Service, err = New(Params{Config: Config{BaseURL: m.home.BaseURL}, DB: d, Box: box, Origins: m.home.Origins,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	m.home.Witnesses[origins.UnsubscribeLink] = m.Confirm
	return m
}

// wantLink checks what an installation knows about a token. Nothing if the email is "".
func (m movable) wantLink(t *testing.T, token string, want Unsubscribe) {
	t.Helper()
	got, err := m.Read(t.Context(), token)
	if got != want || (want.Email == "") != (fault.KindOf(err) == fault.NotFound) {
		t.Errorf("the token %s returned %+v and error %v, want %+v", token, got, err, want)
	}
}

func (m movable) tokenOf(t *testing.T, u Unsubscribe) string {
	t.Helper()
	token, found := strings.CutPrefix(m.Link(u), m.home.BaseURL+LinkPrefix)
	if !found {
		t.Fatal(m.Link(u))
	}
	return token
}

// An installation accepts links of accounts that have moved there: those that the source passes on, and those that the
// source confirms.
func TestLinksOfMovedAccount(t *testing.T) {
	t.Parallel()
	source, target := newMovable(t), newMovable(t)
	u := Unsubscribe{AccountID: ada, EmailID: about, Email: "bob@example.net", Category: "News"}
	token := source.tokenOf(t, u)
	target.wantLink(t, token, Unsubscribe{})
	source.home.Move(t, ada, target.home)

	target.wantLink(t, token, u)
	target.wantLink(t, token[:len(token)-4]+"AAAA", Unsubscribe{})
	if n := source.home.Asked.Load(); n != 2 {
		t.Errorf("the source received %d questions, want one for each token that the target cannot verify", n)
	}
	path, err := source.MovedPath(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	passed := strings.TrimPrefix(path, LinkPrefix)
	target.wantLink(t, passed, u)
	if n := source.home.Asked.Load(); n != 2 {
		t.Error("the target asked the source about a link that the source has signed for it")
	}
	target.wantLink(t, passed[:len(passed)-4]+"AAAA", Unsubscribe{})

	others := u
	others.AccountID = eve
	target.wantLink(t, source.tokenOf(t, others), Unsubscribe{})
	key, err := source.origins.DeriveLatest(t.Context(), ada, linkPurpose)
	if err != nil {
		t.Fatal(err)
	}
	target.wantLink(t, linker{keys: [][]byte{key}}.token(others), Unsubscribe{})
	source.home.Close()
	if _, err := target.Read(t.Context(), token); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("while the source does not respond, its link returned %v, want Unavailable", err)
	}
}

func TestAccountWithoutKeyIsNotPassedOn(t *testing.T) {
	t.Parallel()
	if _, err := newMovable(t).MovedPath(t.Context(), Unsubscribe{AccountID: ada}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a link of an account that has never moved is passed on: %v", err)
	}
}
