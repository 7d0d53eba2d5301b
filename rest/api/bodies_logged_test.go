package api

import (
	"net/http"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
)

// A caller that can read the log can also read every logged body elsewhere. Bodies of sign-in operations are not
// logged.
func TestPeopleLeaveNoBodies(t *testing.T) {
	t.Parallel()
	for _, needs := range rights.Operations() {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			reads := needs == rights.Read || needs == rights.ReadSent || needs == rights.ReadAccount
			changes := method != http.MethodGet &&
				(needs == rights.Write || needs == rights.Send || needs == rights.Settings)
			_, answered := (&Operation{Method: method, Needs: needs}).bodiesLogged()
			if want := reads || changes; answered != want {
				t.Errorf("the answer to %s of an operation that needs %s is kept: %v, want %v", method, needs,
					answered, want)
			}
			for what, op := range map[string]Operation{"public": {Public: true}, "private": {Private: true}} {
				op.Method, op.Needs = method, needs
				if asked, answered := op.bodiesLogged(); asked || answered {
					t.Errorf("bodies of a %s operation are kept", what)
				}
			}
		}
	}
	for _, needs := range []rights.Operation{rights.Person, rights.Operate, rights.Team, rights.Billing, rights.Own} {
		if asked, answered := (&Operation{Method: http.MethodPost, Needs: needs}).bodiesLogged(); asked || answered {
			t.Errorf("bodies of an operation that needs %s are kept", needs)
		}
	}
}

// Refused reads of the dashboard are no errors of the customer's programs.
func TestOwnProbesAreNotLogged(t *testing.T) {
	t.Parallel()
	person, key := accounts.Caller{Person: &accounts.Person{}}, accounts.Caller{KeyID: "key_1"}
	for _, c := range []struct {
		name   string
		caller accounts.Caller
		needs  rights.Operation
		status int
		want   bool
	}{
		{"a resource that the dashboard does not find", person, rights.Read, http.StatusNotFound, true},
		{"a preview of an unfinished template", person, rights.Read, http.StatusBadRequest, true},
		{"a read that succeeds", person, rights.Read, http.StatusOK, false},
		{"a read that fails", person, rights.Read, http.StatusInternalServerError, false},
		{"a change that is refused", person, rights.Write, http.StatusNotFound, false},
		{"a read of a program", key, rights.Read, http.StatusNotFound, false},
	} {
		o := &observed{call: &Call{Caller: c.caller}, op: &Operation{Needs: c.needs}}
		if got := o.isOwnProbe(c.status); got != c.want {
			t.Errorf("%s: omitted %v, want %v", c.name, got, c.want)
		}
	}
}
