package accounts

import (
	"testing"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
)

// The table of rights, as in the documentation: one row for each operation.
func TestWhoMayDoWhat(t *testing.T) {
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
		t.Errorf("there are %d operations, and the table has %d rows", got, len(want)-2)
	}
	for op, r := range want {
		for role, may := range map[rights.Role]bool{rights.RoleOwner: r.owner, rights.RoleAdmin: r.admin,
			rights.RoleDeveloper: r.developer, rights.RoleBilling: r.billing,
			rights.RoleViewer: r.viewer, "": false, "Owner": false} {
			err := Caller{AccountID: "acc_1", Person: &Person{Role: role}}.Authorize(op)
			if may = may || op == rights.Person; (err == nil) != may || err != nil && fault.From(err).
				Code != fault.CodeInsufficientRole {
				t.Errorf("a member with the role %q who wants to %s gets %v, want allowed %t", role, op, err, may)
			}
		}
		for scope, may := range map[rights.Scope]bool{rights.ScopeFull: r.full, rights.ScopeSending: r.sending,
			rights.ScopeRead: r.read, "": false, "Full": false} {
			err := Caller{AccountID: "acc_1", Scope: scope}.Authorize(op)
			if (err == nil) != may || err != nil && fault.From(err).Code != fault.CodeInsufficientScope {
				t.Errorf("a key with the scope %q that wants to %s gets %v, want allowed %t", scope, op, err, may)
			}
		}
	}
}

// You cannot grant a role above your own. Only owners can change owners.
func TestWhoMayGiveARole(t *testing.T) {
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

// Operators run the installation whatever their role is, even without a team. Other users cannot.
func TestOperatorsMayOperate(t *testing.T) {
	t.Parallel()
	for _, c := range []Caller{{Person: &Person{Operator: true}},
		{AccountID: "acc_1", Person: &Person{Operator: true, Role: rights.RoleViewer}}} {
		if err := c.Authorize(rights.Operate); err != nil {
			t.Errorf("an operator in the account %q is refused: %v", c.AccountID, err)
		}
		if err := c.Authorize(rights.Write); fault.From(err).Code != fault.CodeInsufficientRole {
			t.Errorf("an operator in the account %q who wants to write gets %v, want a refusal: the role decides",
				c.AccountID, err)
		}
	}
	if err := (Caller{Person: &Person{Operator: true, SetUpFirst: true}}).Authorize(rights.Operate); fault.From(err).
		Code != fault.CodeSecondFactorRequired {
		t.Errorf("an operator who lacks a required second factor gets %v, want second_factor_required", err)
	}
}

// In a team that requires a second factor, a session without one can do nothing but set one up.
func TestASecondFactorComesFirst(t *testing.T) {
	t.Parallel()
	c := Caller{AccountID: "acc_1", Person: &Person{Role: rights.RoleOwner, SetUpFirst: true}}
	for _, op := range rights.Operations() {
		err := c.Authorize(op)
		if (err == nil) != (op == rights.Person) || err != nil && fault.From(err).
			Code != fault.CodeSecondFactorRequired {
			t.Errorf("an operation to %s without a second factor got %v, want it allowed only for the person's own settings", op, err)
		}
	}
}

func TestDomainsOfAKey(t *testing.T) {
	t.Parallel()
	if !(Caller{}).MayUseDomain("dom_1") {
		t.Error("a key without domains may not use one")
	}
	limited := Caller{DomainIDs: []string{"dom_1", "dom_2"}}
	if !limited.MayUseDomain("dom_2") || limited.MayUseDomain("dom_3") || limited.MayUseDomain("") {
		t.Error("a key with domains is not limited to them")
	}
}

// The requests of a session do not use up the rate of the account's programs, nor the other way round.
func TestSessionsAreCountedSeparately(t *testing.T) {
	t.Parallel()
	account := Account{ID: "acc_1", Plan: Plan{RequestsPerSecond: 7}}
	if got := (Caller{AccountID: "acc_1", KeyID: "key_1"}).RateAccount(account); got.ID != "acc_1" ||
		got.Plan.RequestsPerSecond != 7 {
		t.Errorf("requests by a key count for %s at %d a second, want its account at 7", got.ID,
			got.Plan.RequestsPerSecond)
	}
	if got := (Caller{AccountID: "acc_1", Person: &Person{SessionID: "ses_1"}}).
		RateAccount(account); got.ID != "ses_1" || got.Plan.RequestsPerSecond != 20 {
		t.Errorf("requests by a session count for %s at %d a second, want the session at 20", got.ID,
			got.Plan.RequestsPerSecond)
	}
}
