package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// fakePeople has a session for each role of ada's account, by name.
type fakePeople struct{}

func (fakePeople) AuthenticateSession(_ context.Context, token, _ string) (accounts.Caller, error) {
	if token == "nobody" {
		return accounts.Caller{Person: &accounts.Person{UserID: "usr_2", Email: "eve@example.com"}}, nil
	}
	if token == "operator" {
		return accounts.Caller{AccountID: ada, Person: &accounts.Person{UserID: "usr_3", Email: "op@example.com",
			Role: rights.RoleViewer, Operator: true}}, nil
	}
	if token == "moved" {
		return accounts.Caller{AccountID: ada, Person: &accounts.Person{UserID: "usr_4", Role: rights.RoleOwner},
			Residence: accounts.Residence{MovedTo: movedTo}}, nil
	}
	if !rights.Role(token).IsKnown() {
		return accounts.Caller{}, fault.Unauthenticated()
	}
	return accounts.Caller{AccountID: ada, Person: &accounts.Person{UserID: "usr_1", SessionID: "ses_1",
		Email: "ada@example.com", Name: "Ada", Role: rights.Role(token)}}, nil
}

const movedTo = "https://new.example"

// The viewer of an account that has moved learns where it is, and reads nothing of it.
func TestViewerOfAnAccountThatHasMoved(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{trusted: trusted.Documents{
		"abc": `{ viewer { account { id } moved { accountId movedTo } can accounts { name movedTo } } }`,
		"abd": `{ emails { nodes { id } } }`}})
	for cookie, want := range map[string]string{
		"moved": `{"data":{"viewer":{"account":null,"moved":{"accountId":"acc_ada","movedTo":"https://new.example"},"can":["PERSON"],` +
			`"accounts":[{"name":"Other","movedTo":null},{"name":"Ada's","movedTo":"https://new.example"}]}}}`,
		"owner": `"moved":null`,
	} {
		r := asPerson(t, s, `{"documentId": "sha256:abc"}`)
		r.Header.Set("Cookie", "postrider="+cookie)
		if got := s.send(t, r); !strings.Contains(got.body, want) {
			t.Errorf("the viewer %s is %s, want %s", cookie, got.body, want)
		}
	}
	r := asPerson(t, s, `{"documentId": "sha256:abd"}`)
	r.Header.Set("Cookie", "postrider=moved")
	if got := s.send(t, r); !strings.Contains(got.body, fault.CodeAccountMoved) || !strings.Contains(got.body, movedTo) {
		t.Errorf("the emails of the account: %s", got.body)
	}
}

type fakeTeams struct{}

func (fakeTeams) MemberPage(_ context.Context, accountID string, r page.Request) (page.Page[team.Member], error) {
	all := []team.Member{{User: &ent.User{ID: "usr_1", Email: "ada@example.com", Name: "Ada"}, Role: rights.RoleOwner,
		Row: &ent.Membership{CreatedAt: day}}}
	return paged(all, func(m team.Member) (string, string) { return ada, m.User.ID }, "members", accountID, r)
}

func (f fakeTeams) CountMembers(ctx context.Context, accountID string, most int) (int, error) {
	n, err := lengthOf(f.MemberPage(ctx, accountID, whole))
	return min(n, most), err
}

func (fakeTeams) InvitationPage(_ context.Context, accountID string,
	r page.Request) (page.Page[*ent.Invitation], error) {
	all := []*ent.Invitation{{ID: "inv_1", Email: "bob@example.com", Role: "developer", CreatedAt: day, ExpiresAt: day}}
	return paged(all, func(i *ent.Invitation) (string, string) { return ada, i.ID }, "invitations", accountID, r)
}

func (f fakeTeams) CountInvitations(ctx context.Context, accountID string, most int) (int, error) {
	n, err := lengthOf(f.InvitationPage(ctx, accountID, whole))
	return min(n, most), err
}

func (fakeTeams) Memberships(_ context.Context, userID string) ([]team.Membership, error) {
	if userID == "usr_4" {
		at := movedTo
		return []team.Membership{{AccountID: "acc_other", AccountName: "Other", Role: rights.RoleViewer},
			{AccountID: ada, AccountName: "Ada's", Role: rights.RoleOwner, MovedTo: &at}}, nil
	}
	if userID != "usr_1" {
		return nil, nil
	}
	return []team.Membership{{AccountID: ada, AccountName: "Ada's", Role: rights.RoleOwner}}, nil
}

func (fakeTeams) UserPage(_ context.Context, f team.UserFilter, r page.Request) (out page.Page[*ent.User], err error) {
	if _, err := codec.Open(page.List{Name: "operator_users"}, r); err != nil {
		return out, err
	}
	if f.Text != "" && f.Text != "ada" || f.Operator != nil && !*f.Operator || f.Disabled != nil && *f.Disabled {
		return out, nil
	}
	at := day
	return page.Page[*ent.User]{Cursors: []string{"here"}, Items: []*ent.User{{ID: "usr_1", Email: "ada@example.com",
		Name: "Ada", Operator: true, LastSignInAt: &at, CreatedAt: day,
		Edges: ent.UserEdges{Memberships: []*ent.Membership{{AccountID: ada, Role: "owner"}}}}}}, nil
}

func (fakeTeams) UserByID(_ context.Context, userID string) (*ent.User, error) {
	if userID != "usr_2" {
		return nil, fault.NoSuch("user", userID)
	}
	return &ent.User{ID: userID, Email: "bob@example.com", CreatedAt: day}, nil
}

func (f fakeTeams) CountUsers(ctx context.Context, of team.UserFilter, most int) (int, error) {
	n, err := lengthOf(f.UserPage(ctx, of, whole))
	return min(n, most), err
}

type fakeAuditLog struct{}

func (fakeAuditLog) List(_ context.Context, accountID string, f audit.Filter,
	_ page.Request) (found page.Page[*ent.AuditEntry], err error) {
	if accountID == ada {
		found.Cursors = []string{"here"}
		found.Items = []*ent.AuditEntry{{ID: "aud_1", ActorKind: "user", ActorID: f.Actor, ActorName: "ada@example.com",
			Action: "member.removed", Target: "usr_2", Changes: map[string]any{"role": "viewer"}, CreatedAt: day}}
	}
	return found, nil
}

func (a fakeAuditLog) Count(ctx context.Context, accountID string, f audit.Filter, most int) (int, error) {
	n, err := lengthOf(a.List(ctx, accountID, f, whole))
	return min(n, most), err
}

// asPerson sends a query with the cookie of a role.
func (s *testServer) asPerson(t *testing.T, role, query, origin string) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, s.url, "", string(body))
	r.Header.Del("Authorization")
	r.Header.Set("Cookie", "postrider="+role)
	r.Header.Set("Origin", origin)
	return s.send(t, r)
}

const ownOrigin = "http://mail.example.com"

func TestViewersSeeWhoTheyAre(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	const query = `{ viewer { user { id email name } role can account { id } } }`
	for who, want := range map[string]map[string]any{
		"owner": {"user": map[string]any{"id": "usr_1", "email": "ada@example.com", "name": "Ada"}, "role": "OWNER", "account": map[string]any{"id": ada},
			"can": []any{"WRITE", "READ", "READ_SENT", "SEND", "READ_ACCOUNT", "SETTINGS", "TEAM", "READ_BILLING", "BILLING", "OWN", "PERSON"}},
		"billing": {"user": map[string]any{"id": "usr_1", "email": "ada@example.com", "name": "Ada"}, "role": "BILLING", "account": map[string]any{"id": ada},
			"can": []any{"READ_ACCOUNT", "READ_BILLING", "BILLING", "PERSON"}},
		"nobody": {"user": map[string]any{"id": "usr_2", "email": "eve@example.com", "name": ""}, "role": nil, "account": nil, "can": []any{"PERSON"}},
	} {
		got := s.asPerson(t, who, query, ownOrigin)
		if diff := cmp.Diff(map[string]any{"viewer": want}, got.Data); diff != "" {
			t.Errorf("the viewer with the role %s (-want +got):\n%s\n%s", who, diff, got.body)
		}
	}
	key := s.askAs(t, "svc_read", query, nil)
	want := map[string]any{"viewer": map[string]any{"user": nil, "role": nil, "account": map[string]any{"id": ada},
		"can": []any{"READ", "READ_SENT", "READ_ACCOUNT"}}}
	if diff := cmp.Diff(want, key.Data); diff != "" {
		t.Errorf("the viewer of a read key (-want +got):\n%s", diff)
	}
}

func TestPeopleOfAnAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	const query = `{ members { nodes { user { id email name } role joinedAt } pageInfo { hasNextPage } edges { node { role } } count { value isExact } }
		invitations { nodes { id email role invitedBy createdAt expiresAt } }
		auditLog(filter: { actor: "usr_1", createdAt: { gte: "2026-01-01T00:00:00Z" } }) { nodes { id actor { kind id name } action target changes } pageInfo { endCursor } } }`
	got := s.asPerson(t, "admin", query, ownOrigin)
	at := "2026-01-15T09:30:00.007Z"
	want := map[string]any{
		"members": map[string]any{"nodes": []any{map[string]any{"user": map[string]any{"id": "usr_1",
			"email": "ada@example.com", "name": "Ada"}, "role": "OWNER", "joinedAt": at}},
			"pageInfo": map[string]any{"hasNextPage": false},
			"edges":    []any{map[string]any{"node": map[string]any{"role": "OWNER"}}}, "count": map[string]any{"value": 1.0, "isExact": true}},
		"invitations": map[string]any{"nodes": []any{map[string]any{"id": "inv_1", "email": "bob@example.com",
			"role": "DEVELOPER", "invitedBy": nil, "createdAt": at, "expiresAt": at}}},
		"auditLog": map[string]any{"nodes": []any{map[string]any{"id": "aud_1",
			"actor": map[string]any{"kind": "USER", "id": "usr_1", "name": "ada@example.com"}, "action": "member.removed", "target": "usr_2",
			"changes": map[string]any{"role": "viewer"}}}, "pageInfo": map[string]any{"endCursor": "here"}},
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Errorf("an admin reads (-want +got):\n%s\n%s", diff, got.body)
	}
	for who, field := range map[string]string{"developer": "invitations", "viewer": "auditLog", "billing": "members"} {
		if got := s.asPerson(t, who, `{ `+field+` { nodes { __typename } } }`,
			ownOrigin); got.codes() != "insufficient_role" {
			t.Errorf("the role %s reads %s: %s, want insufficient_role", who, field, got.body)
		}
	}
}

func TestACookieFromAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	for _, origin := range []string{"", "null", "https://mail.example.com", "http://evil.example",
		"http://mail.example.com.evil.example"} {
		if got := s.asPerson(t, "owner", `{ viewer { role } }`, origin); got.status != http.StatusForbidden ||
			!strings.Contains(got.body, fault.CodeCrossOrigin) {
			t.Errorf("from %q: %d %s, want 403 cross_origin", origin, got.status, got.body)
		}
	}
}
