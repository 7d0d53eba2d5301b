package graph

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/node"
)

// fakeInstallation has one object of each kind.
type fakeInstallation struct{}

func (fakeInstallation) Accounts(_ context.Context, f desk.Filter,
	r page.Request) (out page.Page[*ent.Account], err error) {
	if _, err := codec.Open(page.List{Name: "operator_accounts"}, r); err != nil {
		return out, err
	}
	if f.Plan != "" && f.Plan != "pro" || f.Status != "" && f.Status != desk.Suspended {
		return out, nil
	}
	return page.Page[*ent.Account]{Items: []*ent.Account{someAccount()}, Cursors: []string{"here"}}, nil
}

func someAccount() *ent.Account {
	at := day
	return &ent.Account{ID: ada, Name: "Ada's", Email: "ada@example.com", PlanID: "pro", SuspendedAt: &at,
		CreatedAt: day}
}

func (f fakeInstallation) Count(ctx context.Context, of desk.Filter, most int) (int, error) {
	n, err := lengthOf(f.Accounts(ctx, of, whole))
	return min(n, most), err
}

func (fakeInstallation) Account(_ context.Context, id string) (desk.Account, error) {
	if id != ada {
		return desk.Account{}, fault.NoSuch("account", id)
	}
	return desk.Account{Account: someAccount(), Usage: accounts.Usage{Day: 1, Month: 2, DayEnds: day, MonthEnds: day}},
		nil
}

func (fakeInstallation) Plans(context.Context) ([]accounts.Plan, error) {
	return []accounts.Plan{{ID: "pro", Name: "Pro", Rank: 1, SelfService: true, RequestsPerSecond: 10, MaxDomains: 10}},
		nil
}

func (fakeInstallation) Watch(context.Context) (string, metering.BillingState, error) {
	at := day
	return "test", metering.BillingState{Customers: 3, Due: 1, LastEvent: &at,
		Problems: []metering.BillingProblem{{AccountID: ada, What: "two subscriptions"}},
		Backlog: metering.Backlog{Hours: 2, Oldest: time.Hour,
			Stuck: []metering.Stuck{{AccountID: ada, Hour: day, Emails: 7, Reason: "No such meter"}}}}, nil
}

func (fakeInstallation) Destinations(context.Context, int) ([]queue.Backlog, error) {
	return []queue.Backlog{{Destination: "example.net", Due: 2, Deferred: 1, Oldest: time.Minute,
		Diagnostic: "421 later"}}, nil
}

func (fakeInstallation) Faults(context.Context) ([]queue.Fault, error) {
	return []queue.Fault{{Kind: queue.ProcessFault, Node: "one", Process: 7, At: day, LastAt: day, InDoubt: 54},
		{Kind: queue.ConnectionFault, Process: 6, At: day, LastAt: day.Add(time.Minute), InDoubt: 1}}, nil
}

func (fakeInstallation) Sources(context.Context) ([]outbound.SourceState, error) {
	return []outbound.SourceState{{Source: &ent.Source{ID: "src_1", Address: "192.0.2.1", Hostname: "mail.example.com",
		Pool: "shared", CreatedAt: day}, Limit: 50, Used: 3, Day: 1},
		{Source: &ent.Source{ID: "src_2", Address: "192.0.2.2", Hostname: "b.example.com", Pool: "dedicated",
			AccountID: new(ada), CreatedAt: day}, Warm: true}}, nil
}

func (fakeInstallation) Lanes() []delivery.LaneState {
	return []delivery.LaneState{{Name: "example.net", Window: 5, Active: 1, PausedUntil: day, Reason: "421 later",
		Delivered: 9, Rate: 1.5, Used: day}}
}

func (fakeInstallation) Processes(context.Context) ([]node.Process, error) {
	return []node.Process{{Name: "one", Version: "v1", Roles: []string{"accepts"}, StartedAt: day, SeenAt: day,
		Alive: true}}, nil
}

func TestOperatorsSeeTheInstallation(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.asPerson(t, "operator", `{ operator `+
		strings.Replace(everything(t, "Operator"), " account{", ` account(id: "`+ada+`"){`, 1)+` }`, ownOrigin)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of the installation got status %d and %s, want 200 without errors",
			a.status, a.body)
	}
	expect.Golden(t, "operator.json", indented(t, a.body))
	for filter, want := range map[string]string{`{plan: "pro"}`: `1`, `{plan: "free"}`: `0`, `{status: SUSPENDED}`: `1`,
		`{status: ACTIVE, query: "ada"}`: `0`} {
		a := s.asPerson(t, "operator", `{ operator { accounts(filter: `+filter+`) { count { value } } } }`, ownOrigin)
		if a.body != `{"data":{"operator":{"accounts":{"count":{"value":`+want+`}}}}}` {
			t.Errorf("accounts with %s: %s, want %s", filter, a.body, want)
		}
	}
	for filter, want := range map[string]string{`{query: "ada", operator: true, disabled: false}`: `1`,
		`{operator: false}`: `0`, `{disabled: true}`: `0`, `{query: "bob"}`: `0`} {
		a := s.asPerson(t, "operator", `{ operator { users(filter: `+filter+`) { count { value } } } }`, ownOrigin)
		if a.body != `{"data":{"operator":{"users":{"count":{"value":`+want+`}}}}}` {
			t.Errorf("users with %s: %s, want %s", filter, a.body, want)
		}
	}
	a = s.asPerson(t, "operator", `{ operator { account(id: "acc_none") { account { id } } } }`, ownOrigin)
	same(t, "an unknown account", map[string]any{"operator": map[string]any{"account": nil}}, a.Data)
	a = s.asPerson(t, "operator", `{ operator { accounts(after: "x") { nodes { id } } } }`, ownOrigin)
	if a.codes() != fault.CodeValidation || a.Errors[0].Extensions.Details["after"] == "" {
		t.Errorf("an invalid cursor got %s, want validation_error that names it", a.body)
	}
}

// Other callers, including owners and keys, see only null.
func TestTheInstallationIsForOperatorsOnly(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	query := `{ operator { accounts { nodes { email } } users { nodes { email } } processes { name } } }`
	for _, role := range []string{"owner", "viewer", "nobody"} {
		if got := s.asPerson(t, role, query, ownOrigin); got.body != `{"data":{"operator":null}}` {
			t.Errorf("%s reads %s, want null", role, got.body)
		}
	}
	for _, key := range []string{"svc_full", "svc_read", "svc_sending"} {
		if got := s.askAs(t, key, query, nil); got.body != `{"data":{"operator":null}}` {
			t.Errorf("%s reads %s, want null", key, got.body)
		}
	}
}
