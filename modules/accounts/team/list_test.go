package team_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Members are listed oldest first and invitations newest first, in both directions. A cursor is only valid
// for one list of one account.
func TestMembersAndInvitationsArePaged(t *testing.T) {
	t.Parallel()
	d, cursors := dbtest.New(t), page.NewCodec([]byte("sixteen bytes or more"))
	holders, err := accounts.New(accounts.Params{DB: d, Cursors: cursors, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	teams := team.New(team.Params{DB: d, Accounts: holders, Cursors: cursors})
	account := func(email string) *ent.Account {
		made, err := holders.CreateAccount(t.Context(), accounts.NewAccount{Name: "A", Email: email})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	ada, eve := account("ada@example.com"), account("eve@example.com")
	owner, err := teams.MemberPage(t.Context(), ada.ID, page.Request{Limit: 10})
	if err != nil || len(owner.Items) != 1 {
		t.Fatalf("a new account has %d members, %v; want its owner", len(owner.Items), err)
	}
	want := []string{owner.Items[0].User.Email}
	for n := range 4 {
		user, err := teams.CreateUser(t.Context(), accounts.Caller{}, fmt.Sprintf("m%d@example.com", n), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Ent.Membership.Create().SetAccountID(ada.ID).SetUserID(user.ID).SetRole("viewer").
			Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		want = append(want, user.Email)
	}
	names := func(p page.Page[team.Member]) (all []string) {
		for _, m := range p.Items {
			all = append(all, m.User.Email)
		}
		return all
	}
	first, err := teams.MemberPage(t.Context(), ada.ID, page.Request{Limit: 3})
	if err != nil || !slices.Equal(names(first), want[:3]) || !first.HasMore {
		t.Fatalf("the first three members are %v, has more: %v, %v", names(first), first.HasMore, err)
	}
	rest, err := teams.MemberPage(t.Context(), ada.ID, page.Request{Limit: 3, Cursor: first.NextCursor})
	if err != nil || !slices.Equal(names(rest), want[3:]) || rest.HasMore || !rest.HasPrevious {
		t.Errorf("the remaining members are %v, has more: %v, %v", names(rest), rest.HasMore, err)
	}
	back, err := teams.MemberPage(t.Context(), ada.ID, page.Request{Limit: 2, Cursor: rest.Cursors[0], Back: true})
	if err != nil || !slices.Equal(names(back), want[1:3]) || !back.HasPrevious || !back.HasMore {
		t.Errorf("the two previous members are %v, %v", names(back), err)
	}
	if n, err := teams.CountMembers(t.Context(), ada.ID, 3); err != nil || n != 3 {
		t.Errorf("the count up to three is %d, %v", n, err)
	}
	for _, wrong := range []struct{ account, cursor string }{{eve.ID, first.NextCursor}, {ada.ID, "x"}} {
		if _, err := teams.MemberPage(t.Context(), wrong.account,
			page.Request{Limit: 3, Cursor: wrong.cursor}); fault.Classify(err).Fields["cursor"] == "" {
			t.Errorf("the cursor %q of another list returned %v, want an error", wrong.cursor, err)
		}
	}

	caller := accounts.Caller{AccountID: ada.ID,
		Person: &accounts.Person{UserID: owner.Items[0].User.ID, Email: want[0], Role: rights.RoleOwner}}
	for n := range 3 {
		if _, err := teams.Invite(t.Context(), caller, team.NewInvitation{Email: fmt.Sprintf("i%d@example.com", n),
			Role: rights.RoleViewer}); err != nil {
			t.Fatal(err)
		}
	}
	open, err := teams.InvitationPage(t.Context(), ada.ID, page.Request{Limit: 2})
	var invited []string
	for _, i := range open.Items {
		invited = append(invited, strings.TrimSuffix(i.Email, "@example.com"))
	}
	if n, failed := teams.CountInvitations(t.Context(), ada.ID, 10); err != nil || failed != nil ||
		!slices.Equal(invited, []string{"i2", "i1"}) || !open.HasMore || n != 3 {
		t.Errorf("got the newest invitations %v (%v) of %d (%v)", invited, err, n, failed)
	}
	if none, err := teams.InvitationPage(t.Context(), eve.ID, page.Request{Limit: 2}); err != nil ||
		len(none.Items) != 0 {
		t.Errorf("another account has %d invitations, %v", len(none.Items), err)
	}
}
