package signin_test

import (
	"testing"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A sign-in leads to an account that is here, if the person has one, and otherwise to one that has moved.
func TestSignInPrefersAnAccountThatIsHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	second, err := w.CreateTeam(t.Context(), ada, "Second")
	if err != nil {
		t.Fatal(err)
	}
	wantAccount := func(what, accountID, movedTo string) {
		t.Helper()
		in := w.signInAgain(t, "ada@example.com", adasPassword)
		got := w.callerOf(t, in)
		if got.AccountID != accountID || got.Residence.MovedTo != movedTo {
			t.Errorf("%s: signed in to %s at %q, want %s at %q", what, got.AccountID, got.Residence.MovedTo, accountID, movedTo)
		}
		for _, m := range in.Memberships {
			if m.AccountID == ada.AccountID && (m.MovedTo == nil || *m.MovedTo != "https://new.example") {
				t.Errorf("%s: the session does not show where %s is: %+v", what, m.AccountName, m)
			}
		}
	}
	dbtest.Exec(t, w.db, `UPDATE accounts SET moved_to = 'https://new.example' WHERE id = $1`, ada.AccountID)
	wantAccount("one account has moved", second, "")
	dbtest.Exec(t, w.db, `UPDATE accounts SET moved_to = 'https://new.example'`)
	wantAccount("both have moved", second, "https://new.example")
}
