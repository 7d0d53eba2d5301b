package signin_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/ent/auditentry"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

var operatorKey = accounts.Caller{Scope: rights.ScopeOperator,
	Operator: &accounts.Operator{KeyID: "opk_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "provisioning"}}

// A leaked operator key must neither become a person, nor create operators or lock them out.
func TestOperatorKeysCannotReachPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t)) // an operator
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleDeveloper)
	created, err := w.teams.CreateUser(t.Context(), operatorKey, "carol@example.com", "Carol", nil)
	if err != nil {
		t.Fatal(err)
	}
	for who, change := range map[string]team.UserChange{
		ada.Person.UserID: {Disabled: new(true)},
		bob.Person.UserID: {Operator: new(true)},
		created.ID:        {Operator: new(true), Disabled: new(false)},
	} {
		if _, err := w.ChangeAsOperator(t.Context(), operatorKey, who, change); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("an operator key that changes %s gets %v, want it forbidden", who, err)
		}
	}
	for _, who := range []string{ada.Person.UserID, bob.Person.UserID} {
		if _, err := w.CreateUserLink(t.Context(), operatorKey, who, nil); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("an operator key that creates a link of %s gets %v, want it forbidden", who, err)
		}
	}

	var links []string
	for range 2 {
		link, err := w.CreateUserLink(t.Context(), operatorKey, created.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(link.ExpiresAt); left < 59*time.Minute || left > time.Hour {
			t.Errorf("the link is valid for %s, want an hour", left)
		}
		links = append(links, tokenOf(t, link.URL))
	}
	if _, err := w.SignInByLink(t.Context(), links[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SignInByLink(t.Context(), links[1]); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a link that an operator key created works after the user signed in: %v", err)
	}
	if _, err := w.CreateUserLink(t.Context(), operatorKey, created.ID, nil); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("an operator key creates a link after the user signed in: %v", err)
	}

	changed, err := w.ChangeAsOperator(t.Context(), operatorKey, bob.Person.UserID, team.UserChange{Disabled: new(true)})
	if err != nil || changed.DisabledAt == nil || len(changed.Edges.Memberships) != 1 {
		t.Errorf("an operator key disables bob: %+v %v, want him disabled, with his membership", changed, err)
	}
	w.wantLog(t, operatorKey.Operator.KeyID, "user.changed", "user.created", "user.link_created", "user.link_created")
}

// wantLog compares the actions of an actor in the log of the installation.
func (w *world) wantLog(t *testing.T, actor string, want ...string) {
	t.Helper()
	got, err := w.db.Ent.AuditEntry.Query().Where(auditentry.ActorID(actor), auditentry.AccountIDIsNil()).
		Select(auditentry.FieldAction).Strings(t.Context())
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the log of the installation has %q of %s (%v), want %q", got, actor, err, want)
	}
}

func TestOperatorsCannotLockThemselvesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	bob := w.addMember(t, ada, "bob@example.com", rights.RoleViewer)
	for field, change := range map[string]team.UserChange{
		"disabled": {Disabled: new(true)}, "operator": {Operator: new(false)}} {
		_, err := w.ChangeAsOperator(t.Context(), ada, ada.Person.UserID, change)
		if fault.KindOf(err) != fault.Invalid || fault.Classify(err).Fields[field] == "" {
			t.Errorf("a change of oneself gets %v, want an error of the field %s", err, field)
		}
		if _, err := w.ChangeAsOperator(t.Context(), ada, bob.Person.UserID, change); err != nil {
			t.Errorf("a change of another user gets %v, want it done", err)
		}
	}
	w.wantLog(t, ada.Person.UserID, "user.changed", "user.changed")
}

func TestUserPageFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.callerOf(t, w.setUp(t))
	w.addMember(t, ada, "bob@example.com", rights.RoleViewer)
	if _, err := w.ChangeAsOperator(t.Context(), ada, "bob@example.com", team.UserChange{Disabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter team.UserFilter
		want   []string
	}{
		"all":              {team.UserFilter{}, []string{"bob@example.com", "ada@example.com"}},
		"part of an email": {team.UserFilter{Text: "BOB@"}, []string{"bob@example.com"}},
		"an id":            {team.UserFilter{Text: ada.Person.UserID}, []string{"ada@example.com"}},
		"operators":        {team.UserFilter{Operator: new(true)}, []string{"ada@example.com"}},
		"others":           {team.UserFilter{Operator: new(false)}, []string{"bob@example.com"}},
		"disabled":         {team.UserFilter{Disabled: new(true)}, []string{"bob@example.com"}},
		"enabled":          {team.UserFilter{Disabled: new(false)}, []string{"ada@example.com"}},
	} {
		got, err := w.teams.UserPage(t.Context(), c.filter, page.Request{})
		if err != nil {
			t.Fatal(err)
		}
		emails := make([]string, 0, len(got.Items))
		for _, u := range got.Items {
			emails = append(emails, u.Email)
		}
		if !slices.Equal(emails, c.want) {
			t.Errorf("%s: the page has %q, want %q", name, emails, c.want)
		}
	}
	if _, err := w.teams.UserPage(t.Context(), team.UserFilter{Text: "a\x00"}, page.Request{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a NUL in the text gets %v, want it invalid", err)
	}
}
