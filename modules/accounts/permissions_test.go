package accounts

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A key with permissions may do only what they allow, within its scope; its rotation keeps them.
func TestKeyHasPermissionsWithinItsScope(t *testing.T) {
	t.Parallel()
	s := newService(t)
	owner := addAccount(t, s, "ada@example.com")
	given := []rights.Permission{"emails:send", "domains:read", "emails:send"}
	made, token := addKey(t, s, NewKey{AccountID: owner.ID, Scope: rights.ScopeSending, Permissions: given})
	_, rotated, err := s.RotateKey(t.Context(), Rotation{AccountID: owner.ID, KeyID: made.ID, Overlap: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	_, reader := addKey(t, s, NewKey{AccountID: owner.ID, Permissions: []rights.Permission{"emails:read"}})
	for name, c := range map[string]struct {
		token string
		sends bool
	}{"the key": {token, true}, "its rotation": {rotated.Reveal(), true}, "a key that reads": {reader, false}} {
		caller, err := s.Authenticate(t.Context(), c.token, netip.Addr{})
		if err != nil || len(caller.Permissions) == 0 || caller.MaySend() != c.sends {
			t.Errorf("%s authenticates %+v, %v, want permissions, and sending allowed: %t", name, caller, err, c.sends)
		}
		for _, op := range rights.Operations() { // without an operation, nothing is allowed
			if caller.Allows(op) {
				t.Errorf("%s may %s without an operation", name, op)
			}
		}
		if !c.sends {
			continue
		}
		for permission, want := range map[rights.Permission]bool{"emails:send": true, "emails:read": false, "": false} {
			if got := caller.AuthorizeOperation(rights.Send, permission) == nil; got != want {
				t.Errorf("%s for %q: allowed %t", name, permission, got)
			}
		}
		if caller.AuthorizeOperation(rights.Read, "domains:read") == nil {
			t.Errorf("%s reads domains, which the scope sending does not allow", name)
		}
	}
	wrong := fault.Classify(NewKey{Name: "x", Permissions: []rights.Permission{"emails:send", "emails:*", ""}}.Validate()).Fields
	if len(wrong) != 2 {
		t.Errorf("unknown permissions have the errors %v, want two", wrong)
	}
	if !slices.IsSorted(rights.Permissions()) {
		t.Error("the permissions are not sorted")
	}
}
