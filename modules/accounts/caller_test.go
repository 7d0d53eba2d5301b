package accounts

import (
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// The rights of roles and scopes, as documented: one row for each operation.
func TestRightsOfRolesAndScopes(t *testing.T) {
	t.Parallel()
	type row struct{ owner, admin, developer, billing, viewer, full, sending, read bool }
	const x, o = true, false
	want := map[rights.Operation]row{
		rights.Write:         {x, x, x, o, o, x, o, o},
		rights.Read:          {x, x, x, o, x, x, o, x},
		rights.ReadSent:      {x, x, x, o, x, x, x, x},
		rights.Send:          {x, x, x, o, o, x, x, o},
		rights.ReadAccount:   {x, x, x, x, x, x, o, x},
		rights.Settings:      {x, x, o, o, o, x, o, o},
		rights.Team:          {x, x, o, o, o, o, o, o},
		rights.ReadBilling:   {x, o, o, x, o, x, o, o},
		rights.Billing:       {x, o, o, x, o, o, o, o},
		rights.Own:           {x, o, o, o, o, o, o, o},
		rights.Person:        {x, x, x, x, x, o, o, o},
		rights.Operate:       {o, o, o, o, o, o, o, o},
		rights.Operation(-1): {},
		rights.Operation(99): {},
	}
	if got := len(rights.Operations()); got != len(want)-2 {
		t.Errorf("the table has %[2]d rows for %[1]d operations", got, len(want)-2)
	}
	for op, r := range want {
		for role, may := range map[rights.Role]bool{rights.RoleOwner: r.owner, rights.RoleAdmin: r.admin,
			rights.RoleDeveloper: r.developer, rights.RoleBilling: r.billing,
			rights.RoleViewer: r.viewer, "": false, "Owner": false} {
			err := Caller{AccountID: "acc_1", Person: &Person{Role: role}}.Authorize(op)
			if may = may || op == rights.Person; (err == nil) != may || err != nil && fault.Classify(err).
				Code != fault.CodeInsufficientRole {
				t.Errorf("Authorize of %[2]s for a member with the role %[1]q returned %[3]v, want allowed %[4]t", role,
					op, err, may)
			}
		}
		for scope, may := range map[rights.Scope]bool{rights.ScopeFull: r.full, rights.ScopeSending: r.sending,
			rights.ScopeRead: r.read, "": false, "Full": false} {
			err := Caller{AccountID: "acc_1", Scope: scope}.Authorize(op)
			if (err == nil) != may || err != nil && fault.Classify(err).Code != fault.CodeInsufficientScope {
				t.Errorf("Authorize of %[2]s for a key with the scope %[1]q returned %[3]v, want allowed %[4]t", scope,
					op, err, may)
			}
		}
	}
}

// Members cannot grant a role above their own. Only owners can change owners.
func TestGrantableRoles(t *testing.T) {
	t.Parallel()
	for giver, may := range map[rights.Role]map[rights.Role]bool{
		rights.RoleOwner: {rights.RoleOwner: true, rights.RoleAdmin: true, rights.RoleDeveloper: true,
			rights.RoleBilling: true, rights.RoleViewer: true},
		rights.RoleAdmin: {rights.RoleAdmin: true, rights.RoleDeveloper: true, rights.RoleBilling: true,
			rights.RoleViewer: true},
		rights.RoleDeveloper: {}, rights.RoleBilling: {}, rights.RoleViewer: {}, "": {},
	} {
		for _, other := range append(rights.Roles(), "", "root") {
			if got := giver.CanGrant(other); got != may[other] {
				t.Errorf("the role %q may grant %q: %t, want %t", giver, other, got, may[other])
			}
		}
	}
}

// Operators may manage the installation whatever their role is, even without a team. Other users cannot.
func TestOperatorsMayOperate(t *testing.T) {
	t.Parallel()
	for _, c := range []Caller{{Person: &Person{Operator: true}},
		{AccountID: "acc_1", Person: &Person{Operator: true, Role: rights.RoleViewer}}} {
		if err := c.Authorize(rights.Operate); err != nil {
			t.Errorf("an operator in the account %q is refused: %v", c.AccountID, err)
		}
		if err := c.Authorize(rights.Write); fault.Classify(err).Code != fault.CodeInsufficientRole {
			t.Errorf("a write by an operator in the account %q returned %v, want it rejected because of the role",
				c.AccountID, err)
		}
	}
	if err := (Caller{Person: &Person{Operator: true, SetUpFirst: true}}).Authorize(rights.Operate); fault.Classify(err).
		Code != fault.CodeSecondFactorRequired {
		t.Errorf("an operator without the required second factor got %v, want second_factor_required", err)
	}
}

// In a team that requires a second factor, a session without one can only change personal settings.
func TestSecondFactorIsRequiredFirst(t *testing.T) {
	t.Parallel()
	c := Caller{AccountID: "acc_1", Person: &Person{Role: rights.RoleOwner, SetUpFirst: true}}
	for _, op := range rights.Operations() {
		err := c.Authorize(op)
		if (err == nil) != (op == rights.Person) || err != nil && fault.Classify(err).
			Code != fault.CodeSecondFactorRequired {
			t.Errorf("%s without a second factor returned %v, want only personal settings allowed", op, err)
		}
	}
}

func TestKeyIsLimitedToItsDomains(t *testing.T) {
	t.Parallel()
	if !(Caller{}).MayUseDomain("dom_1") {
		t.Error("a key without a domain limit was not allowed to use a domain")
	}
	limited := Caller{DomainIDs: []string{"dom_1", "dom_2"}}
	if !limited.MayUseDomain("dom_2") || limited.MayUseDomain("dom_3") || limited.MayUseDomain("") {
		t.Error("a key with domains was not limited to them")
	}
}

// Session requests do not count toward the account's rate limit, and requests with API keys do not count
// toward the session's.
func TestSessionsAreCountedSeparately(t *testing.T) {
	t.Parallel()
	account := Account{ID: "acc_1", Plan: Plan{RequestsPerSecond: 7}}
	if got := (Caller{AccountID: "acc_1", KeyID: "key_1"}).RateAccount(account); got.ID != "acc_1" ||
		got.Plan.RequestsPerSecond != 7 {
		t.Errorf("requests with a key count toward %s at %d per second, want its account at 7", got.ID,
			got.Plan.RequestsPerSecond)
	}
	if got := (Caller{AccountID: "acc_1", Person: &Person{SessionID: "ses_1"}}).
		RateAccount(account); got.ID != "ses_1" || got.Plan.RequestsPerSecond != 20 {
		t.Errorf("requests of a session count toward %s at %d per second, want the session at 20", got.ID,
			got.Plan.RequestsPerSecond)
	}
}
