package notices

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Module provides *Service.
var Module = fx.Module("notices",
	fx.Provide(ConfigOf, New),
	module.Sweeps(func(s *Service) module.Sweep {
		return module.Sweep{What: "bodies of the installation's own mail", Run: s.sweep}
	}),
)

// Params of New.
type Params struct {
	fx.In

	Config   Config
	Accounts *accounts.Service
	Sender   *sending.Service `optional:"true"` // nil: nothing is sent here
	Records  *records.Service `optional:"true"`
}

// Service writes notices. Safe for concurrent use.
type Service struct {
	config   Config
	accounts *accounts.Service
	sender   *sending.Service
	records  *records.Service
	account  atomic.Pointer[string] // that sends; nil: not looked up yet
}

// New creates the service.
func New(p Params) *Service {
	return &Service{config: p.Config, accounts: p.Accounts, sender: p.Sender, records: p.Records}
}

// Sends reports whether notices can be sent here.
func (s *Service) Sends() bool { return s.sender != nil }

// Kind is what a notice is about.
type Kind string

// The kinds.
const (
	Reset   Kind = "reset"   // a password reset was requested
	SignUp  Kind = "sign_up" // a user signs up
	Already Kind = "already" // who signs up has a user
	Email   Kind = "email"   // a new address is to be confirmed
	Invite  Kind = "invite"  // to a team

	EmailAsked          Kind = "email_asked" // to the old address: a change was asked for, which the link stops
	EmailChanged        Kind = "email_changed"
	PasswordChanged     Kind = "password_changed"
	SecondFactorAdded   Kind = "second_factor_added"
	SecondFactorRemoved Kind = "second_factor_removed"
	PasskeyAdded        Kind = "passkey_added"
	PasskeyRemoved      Kind = "passkey_removed"
	ProviderLinked      Kind = "provider_linked"
	ProviderUnlinked    Kind = "provider_unlinked"
	NewDevice           Kind = "new_device" // a user signed in with an unknown browser
	RoleChanged         Kind = "role_changed"
	MemberRemoved       Kind = "member_removed"

	LimitNear       Kind = "limit_near"       // 80 % of what a team may send in a month
	LimitReached    Kind = "limit_reached"    // all of it
	IncludedNear    Kind = "included_near"    // 80 % of what its plan includes
	IncludedReached Kind = "included_reached" // all of it
	PaymentFailed   Kind = "payment_failed"
	PlanChanged     Kind = "plan_changed"
)

// group is what notices have a button and an end in common with.
type group int

const (
	alone    group = iota
	security       // what was changed about how a person signs in: with where and when, and a way to a new password
	ofTeam         // what was changed about their place in a team
	paying         // limits and payments
)

var groups = map[Kind]group{
	PasswordChanged: security, SecondFactorAdded: security, SecondFactorRemoved: security, PasskeyAdded: security, PasskeyRemoved: security,
	ProviderLinked: security, ProviderUnlinked: security, NewDevice: security,
	RoleChanged: ofTeam, MemberRemoved: ofTeam,
	LimitNear: paying, LimitReached: paying, IncludedNear: paying, IncludedReached: paying, PaymentFailed: paying, PlanChanged: paying,
}

// Security reports whether a notice is about how a person signs in, and so leads to a new password.
func (k Kind) Security() bool { return groups[k] == security }

// Notice is what one person is written. Path is of the page that its link leads to; the token stands
// in the fragment, if there is one. Without Path there is no link.
type Notice struct {
	To       string
	Kind     Kind
	Names    map[string]string // of what the kind tells: name, team, inviter, role, before, email, plan, number, time, browser, ip
	Language string            // empty: the one that the person with the address prefers
	BaseURL  string
	Path     string
	Token    secret.String
}

// Send stores a notice for delivery. hold is called in the transaction that stores it: where it
// answers false nothing is stored, and that is no error.
func (s *Service) Send(ctx context.Context, n Notice, hold func(ctx context.Context, tx db.Execer) (bool, error)) error {
	from, err := s.from(ctx)
	if err != nil {
		return err
	}
	if n.Language == "" {
		if n.Language, err = s.accounts.Language(ctx, n.To); err != nil {
			return err
		}
	}
	m, err := n.message(s.config.From)
	if err != nil {
		return err
	}
	_, err = s.sender.Send(ctx, accounts.Caller{AccountID: from, Scope: rights.ScopeFull}, sending.Request{Message: m,
		Guard: &sending.Guarded{Guard: &guard{hold}}})
	if err != nil && !errors.Is(err, sending.ErrNotHeld) {
		return fmt.Errorf("send notice %s: %w", n.Kind, err)
	}
	return nil
}

// guard asks for one notice. Guards are told apart by their address.
type guard struct {
	hold func(ctx context.Context, tx db.Execer) (bool, error)
}

// Hold is sending's question.
func (g *guard) Hold(ctx context.Context, tx db.Execer, list []sending.Held) ([]bool, error) {
	out := make([]bool, len(list))
	for i := range list {
		var err error
		if out[i], err = g.hold(ctx, tx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) from(ctx context.Context) (string, error) {
	if known := s.account.Load(); known != nil {
		return *known, nil
	}
	accountID, err := s.accounts.EnsureSystem(ctx)
	if err != nil {
		return "", err
	}
	s.account.Store(&accountID)
	return accountID, nil
}

const (
	keptFor    = time.Hour
	sweepBatch = 500
)

// sweep deletes the bodies of notices that were delivered, or given up, an hour ago: they hold links.
func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	if s.records == nil {
		return 0, nil
	}
	from, err := s.from(ctx)
	if err != nil {
		return 0, err
	}
	for after := ""; ; {
		ids, last, err := s.records.Expired(ctx, from, records.Bodies, after, time.Now().Add(-keptFor), sweepBatch)
		if err != nil {
			return deleted, err
		}
		if len(ids) > 0 {
			n, err := s.records.PurgeBodies(ctx, from, ids)
			if err != nil {
				return deleted, err
			}
			deleted += int64(n)
		}
		if last == "" {
			return deleted, nil
		}
		after = last
	}
}
