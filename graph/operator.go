package graph

import (
	"context"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/generated"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/metering"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/node"
)

// The services that read the installation for its operator.
type (
	// Desk reads accounts and plans.
	Desk interface {
		Accounts(ctx context.Context, f desk.Filter, r page.Request) (page.Page[*ent.Account], error)
		Count(ctx context.Context, f desk.Filter, most int) (int, error)
		Account(ctx context.Context, accountID string) (desk.Account, error)
		Plans(ctx context.Context) ([]accounts.Plan, error)
	}
	// BillingWatch reads pending and failed billing work.
	BillingWatch interface {
		Watch(ctx context.Context) (mode string, state metering.BillingState, err error)
	}
	// WholeQueue reads the queue of all accounts.
	WholeQueue interface {
		Destinations(ctx context.Context, limit int) ([]queue.Backlog, error)
		Faults(ctx context.Context) ([]queue.Fault, error)
	}
	// Sources reads the addresses that mail is sent from.
	Sources interface {
		Sources(ctx context.Context) ([]outbound.SourceState, error)
	}
	// Lanes returns the delivery lanes of this process.
	Lanes interface{ Lanes() []delivery.LaneState }
	// Processes reads the processes of the installation.
	Processes interface {
		Processes(ctx context.Context) ([]node.Process, error)
	}
)

var (
	_ Desk         = (*desk.Service)(nil)
	_ BillingWatch = (*billing.Service)(nil)
	_ WholeQueue   = (*queue.Service)(nil)
	_ Sources      = (*outbound.Service)(nil)
	_ Lanes        = (*delivery.Service)(nil)
	_ Processes    = (*node.Node)(nil)
)

// operatorCosts: an installation has few sources and processes, and many lanes, which are in memory.
func operatorCosts(c *generated.ComplexityRoot) {
	whole := func(child int) int { return lookCost + times(page.MaxLimit, child) }
	some := func(child int) int { return lookCost + times(10, child) }
	c.Operator.Accounts = func(child int, first *int, _ *string, last *int, _ *string,
		_ *model.OperatorAccountFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Operator.Users = func(child int, first *int, _ *string, last *int, _ *string, _ *model.OperatorUserFilter) int {
		return times(connection.Size(first, last), child)
	}
	c.Operator.QueueByDestination, c.Operator.Lanes, c.Operator.Faults = whole, whole, whole
	c.Operator.Plans, c.Operator.Sources, c.Operator.Processes, c.Operator.Health = some, some, some, some
	c.Operator.Billing = func(child int) int { return lookCost + child }
	create := func(child int, _ map[string]any, _ *string) int { return changeCost + child }
	change := func(child int, _ string, _ map[string]any) int { return changeCost + child }
	m := &c.Mutation
	m.CreateAccountAsOperator, m.CreateUserAsOperator, m.CreateOperatorKey = create, create, create
	m.UpdateAccountAsOperator, m.UpdatePlanAsOperator, m.UpdateUserAsOperator = change, change, change
	m.CreateUserLinkAsOperator = func(child int, _ string, _ *string) int { return changeCost + child }
	m.RevokeOperatorKey = func(child int, _ string) int { return changeCost + child }
}

func accountFilter(in *model.OperatorAccountFilter) desk.Filter {
	if in == nil {
		return desk.Filter{}
	}
	return desk.Filter{Text: stringOrEmpty(in.Query), Plan: stringOrEmpty(in.Plan),
		Status: desk.AccountStatus(strings.ToLower(orEmpty(in.Status)))}
}

func toOperatorAccount(a *ent.Account) *model.OperatorAccount {
	return &model.OperatorAccount{ID: a.ID, Name: a.Name, Email: a.Email, PlanID: a.PlanID,
		ProductionUnlocked: a.ProductionUnlocked, PaymentMethodAt: a.PaymentMethodAt,
		PaymentDueAt: a.PaymentDueAt, SuspendedAt: a.SuspendedAt, Unmetered: a.Unmetered, MonthlyLimit: a.MonthlyLimit,
		CreatedAt:        a.CreatedAt,
		StoredBytesLimit: toFloat(a.StoredBytes), DailyBytesLimit: toFloat(a.DailyBytes)}
}

func userFilter(in *model.OperatorUserFilter) team.UserFilter {
	if in == nil {
		return team.UserFilter{}
	}
	return team.UserFilter{Text: stringOrEmpty(in.Query), Operator: in.Operator, Disabled: in.Disabled}
}

func (r *operatorResolver) listUsers(ctx context.Context, f team.UserFilter,
	request page.Request) (*model.OperatorUserConnection, error) {
	found, err := r.parts.Teams.UserPage(ctx, f, request)
	if err != nil {
		return nil, connection.ArgumentError(connection.PageError(request, err), "q", "query")
	}
	count := func(ctx context.Context, most int) (int, error) { return r.parts.Teams.CountUsers(ctx, f, most) }
	return &model.OperatorUserConnection{
		Connection: connection.FromPage[model.OperatorUserEdge](page.Map(found, toOperatorUser), count)}, nil
}

func toOperatorUser(u *ent.User) *model.OperatorUser {
	return &model.OperatorUser{ID: u.ID, Email: u.Email, Name: u.Name, Operator: u.Operator, DisabledAt: u.DisabledAt,
		LastSignInAt: u.LastSignInAt, CreatedAt: u.CreatedAt,
		Memberships: connection.ConvertList(u.Edges.Memberships, func(m *ent.Membership) *model.OperatorMembership {
			return &model.OperatorMembership{AccountID: m.AccountID, Role: toRole(string(m.Role))}
		})}
}

func toOperatorBilling(mode string, s metering.BillingState) *model.OperatorBilling {
	out := &model.OperatorBilling{Enabled: mode != "", Mode: nilIfEmpty(mode), Customers: int(s.Customers), Due: int(s.Due),
		Failing: int(s.Failing), PastDue: int(s.PastDue),
		LastEventAt: s.LastEvent, UnreportedHours: int(s.Backlog.Hours),
		OldestUnreportedSeconds: int(s.Backlog.Oldest / time.Second),
		Stuck:                   []*model.OperatorStuckHour{}, Problems: []*model.OperatorBillingProblem{}}
	for _, h := range s.Backlog.Stuck {
		out.Stuck = append(out.Stuck, &model.OperatorStuckHour{AccountID: h.AccountID, Hour: h.Hour,
			Emails: int(h.Emails), Reason: h.Reason})
	}
	for _, p := range s.Problems {
		out.Problems = append(out.Problems, &model.OperatorBillingProblem{AccountID: p.AccountID, What: p.What})
	}
	return out
}

func toSource(s outbound.SourceState) *model.SendingSource {
	out := &model.SendingSource{ID: s.ID, Address: s.Address, Hostname: s.Hostname, Pool: string(s.Pool),
		AccountID: s.AccountID, Node: s.Node, PausedAt: s.PausedAt, CreatedAt: s.CreatedAt}
	if !s.Warm {
		out.Warmup = &model.SourceWarmup{Day: s.Day, Limit: int(s.Limit), Used: int(s.Used)}
	}
	return out
}

func toLane(s delivery.LaneState) *model.DeliveryLane {
	out := &model.DeliveryLane{Name: s.Name, Provider: nilIfEmpty(s.Provider), Way: nilIfEmpty(s.Way), Window: s.Window,
		Active: s.Active, Reason: nilIfEmpty(s.Reason),
		Delivered: float64(s.Delivered), Refused: float64(s.Refused), Throttled: float64(s.Throttled),
		Unreachable: float64(s.Unreachable), UsedAt: s.Used}
	if !s.PausedUntil.IsZero() {
		out.PausedUntil = &s.PausedUntil
	}
	if s.Rate > 0 {
		out.PerMinute = &s.Rate
	}
	return out
}

func toFault(f queue.Fault) *model.DeliveryFault {
	fault := &model.DeliveryFault{Kind: model.DeliveryFaultKind(strings.ToUpper(string(f.Kind))), At: f.At,
		LastAt: f.LastAt, InDoubt: f.InDoubt}
	if f.Node != "" {
		fault.Node = &f.Node
	}
	return fault
}

func toProcess(p node.Process) *model.InstallationProcess {
	return &model.InstallationProcess{Name: p.Name, Version: p.Version, Roles: append([]string{}, p.Roles...),
		StartedAt: p.StartedAt, SeenAt: p.SeenAt, Alive: p.Alive}
}
