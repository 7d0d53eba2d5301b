package origins_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/accounts/origins/originstest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const (
	ada = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	eve = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

// newInstallation starts an installation that has issued one token for ada.
func newInstallation(t *testing.T, token string) *originstest.Installation {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	i := originstest.New(t, dbtest.New(t), box)
	i.Witnesses[origins.ReturnPath] = func(_ context.Context, q origins.TokenQuestion) (origins.Answer, error) {
		if q.AccountID != ada || q.Token != token {
			return origins.Answer{}, origins.ErrUnknown
		}
		return origins.Answer{Recipient: "of " + token}, nil
	}
	return i
}

func wantAnswer(t *testing.T, at *originstest.Installation, q origins.TokenQuestion, want string) {
	t.Helper()
	answer, err := at.Origins.Ask(t.Context(), q)
	if answer.Recipient != want || (want == "") != errors.Is(err, origins.ErrUnknown) {
		t.Errorf("asking about %+v returned %q and error %v, want %q", q, answer.Recipient, err, want)
	}
}

// An account moves from first to second, to third, and back to first.
func TestEachEarlierInstallationIsAsked(t *testing.T) {
	t.Parallel()
	first, second, third := newInstallation(t, "one"), newInstallation(t, "two"), newInstallation(t, "three")
	about := func(token string) origins.TokenQuestion {
		return origins.TokenQuestion{AccountID: ada, Kind: origins.ReturnPath, Token: token}
	}
	wantAnswer(t, second, about("one"), "")
	first.Move(t, ada, second)
	wantAnswer(t, second, about("one"), "of one")
	wantAnswer(t, second, about("forged"), "")
	wantAnswer(t, second, origins.TokenQuestion{AccountID: eve, Kind: origins.ReturnPath, Token: "one"}, "")
	wantAnswer(t, second, origins.TokenQuestion{AccountID: ada, Kind: origins.TrackedLink, Token: "one"}, "")
	if n := first.Asked.Load(); n != 3 {
		t.Errorf("the source received %d questions, want one for each token of an account that it had", n)
	}

	second.Move(t, ada, third)
	wantAnswer(t, third, about("one"), "of one")
	wantAnswer(t, third, about("two"), "of two")
	third.Move(t, ada, first)
	for _, i := range []*originstest.Installation{first, second, third} {
		i.Asked.Store(0)
	}
	wantAnswer(t, first, about("two"), "of two")
	wantAnswer(t, first, about("three"), "of three")
	wantAnswer(t, first, about("forged"), "")
	if a, b, c := first.Asked.Load(), second.Asked.Load(), third.Asked.Load(); a != 0 || b != 2 || c != 3 {
		t.Errorf("three questions became %d, %d and %d requests, want none to itself and at most one to each other", a, b, c)
	}
	// A link at the host of the second installation that the first has signed.
	wantAnswer(t, second, about("one"), "of one")
}

// Both sides of a move derive the same keys, which no other account and no earlier move has.
func TestBothSidesDeriveSameKeys(t *testing.T) {
	t.Parallel()
	from, to := newInstallation(t, ""), newInstallation(t, "")
	latest := func(at *originstest.Installation, accountID, purpose string) []byte {
		key, err := at.Origins.DeriveLatest(t.Context(), accountID, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	if latest(from, ada, "x") != nil {
		t.Error("an account that has never moved has a key")
	}
	from.Move(t, ada, to)
	from.Move(t, eve, to)
	key := latest(from, ada, "x")
	each, err := to.Origins.DeriveEach(t.Context(), ada, "x")
	if err != nil || len(each) != 1 || len(key) != 32 || !bytes.Equal(each[0], key) {
		t.Errorf("the source signs with %x, the target verifies with %x (%v)", key, each, err)
	}
	for what, other := range map[string][]byte{"account": latest(from, eve, "x"), "purpose": latest(from, ada, "y")} {
		if bytes.Equal(key, other) {
			t.Errorf("another %s has the same key", what)
		}
	}
	to.Move(t, ada, from)
	if bytes.Equal(key, latest(from, ada, "x")) {
		t.Error("another move has the same key")
	}
}

func TestUnsignedQuestionIsRefused(t *testing.T) {
	t.Parallel()
	from, to := newInstallation(t, "one"), newInstallation(t, "")
	from.Move(t, ada, to)
	desk := &origins.Desk{Origins: from.Origins, Witnesses: from.Witnesses}
	question := []byte(`{"account_id":"` + ada + `","kind":"return_path","token":"one"}`)
	key, err := to.Origins.DeriveLatest(t.Context(), ada, "questions about links")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := desk.Respond(t.Context(), question, origins.Sign(key, question)); err != nil {
		t.Errorf("a signed question returned %v", err)
	}
	for what, signature := range map[string]string{"no signature": "", "another key": origins.Sign(make([]byte, 32), question),
		"another body": origins.Sign(key, []byte("{}"))} {
		if _, err := desk.Respond(t.Context(), question, signature); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a question with %s returned %v, want Invalid", what, err)
		}
	}
}

// While an earlier installation does not respond, it is unknown whether a token is genuine.
func TestSilentInstallationIsTemporaryError(t *testing.T) {
	t.Parallel()
	from, to := newInstallation(t, "one"), newInstallation(t, "")
	from.Move(t, ada, to)
	from.Witnesses[origins.ReturnPath] = func(context.Context, origins.TokenQuestion) (origins.Answer, error) {
		return origins.Answer{}, errors.New("connection refused")
	}
	_, err := to.Origins.Ask(t.Context(), origins.TokenQuestion{AccountID: ada, Kind: origins.ReturnPath, Token: "one"})
	if err == nil || errors.Is(err, origins.ErrUnknown) {
		t.Errorf("asking returned %v, want a temporary error", err)
	}
}

func TestListNeedsItsMasterKey(t *testing.T) {
	t.Parallel()
	newBox := func() *secret.Box {
		box, err := secret.NewBox(secret.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	sealed, err := origins.Add(newBox(), ada, nil, "https://old.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := origins.Add(newBox(), ada, sealed, "https://new.example"); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("adding to a list under a removed master key returned %v, want %v", err, secret.ErrUnknownKey)
	}
}
