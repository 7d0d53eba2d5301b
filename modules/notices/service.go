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
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "bodies of the installation's own mail", Run: s.sweep}
	}),
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config   Config
	Accounts *accounts.Service
	Sender   *sending.Service `optional:"true"` // nil disables notices
	Records  *records.Service `optional:"true"`
}

// Service writes notices. It is safe for concurrent use.
type Service struct {
	config   Config
	accounts *accounts.Service
	sender   *sending.Service
	records  *records.Service
	account  atomic.Pointer[string] // id of the sending account; nil until looked up
}

// New returns a new Service.
func New(p Params) *Service {
	return &Service{config: p.Config, accounts: p.Accounts, sender: p.Sender, records: p.Records}
}

// CanSend reports whether notices can be sent here.
func (s *Service) CanSend() bool { return s.sender != nil }

// NoticeKind is the kind of a notice.
type NoticeKind string

// Kinds of notices.
const (
	Reset             NoticeKind = "reset"   // a password reset was requested
	SignUp            NoticeKind = "sign_up" // a user signs up
	AlreadyRegistered NoticeKind = "already" // a sign-up for an email that has a user
	Email             NoticeKind = "email"   // confirm a new email
	Invite            NoticeKind = "invite"  // an invitation to a team

	EmailAsked          NoticeKind = "email_asked" // to the old email: a change was requested, which the link cancels
	EmailChanged        NoticeKind = "email_changed"
	PasswordChanged     NoticeKind = "password_changed"
	SecondFactorAdded   NoticeKind = "second_factor_added"
	SecondFactorRemoved NoticeKind = "second_factor_removed"
	PasskeyAdded        NoticeKind = "passkey_added"
	PasskeyRemoved      NoticeKind = "passkey_removed"
	ProviderLinked      NoticeKind = "provider_linked"
	ProviderUnlinked    NoticeKind = "provider_unlinked"
	NewDevice           NoticeKind = "new_device" // a user signed in with an unknown browser
	RoleChanged         NoticeKind = "role_changed"
	MemberRemoved       NoticeKind = "member_removed"

	LimitNear       NoticeKind = "limit_near"       // 80 % of a team's monthly limit is used
	LimitReached    NoticeKind = "limit_reached"    // all of it is used
	IncludedNear    NoticeKind = "included_near"    // 80 % of the emails included in the plan are used
	IncludedReached NoticeKind = "included_reached" // all of them are used
	PaymentFailed   NoticeKind = "payment_failed"
	PlanChanged     NoticeKind = "plan_changed"

	EndpointFailing NoticeKind = "endpoint_failing" // a webhook endpoint was disabled after 30 failures
	EndpointGone    NoticeKind = "endpoint_gone"    // a webhook endpoint was disabled because it responded 410
	DomainBroken    NoticeKind = "domain_broken"    // DNS records of a verified domain are missing or wrong
	DomainFailed    NoticeKind = "domain_failed"    // they were for 72 hours, so the domain cannot send
	DomainLost      NoticeKind = "domain_lost"      // another account claimed the domain
	BounceRate      NoticeKind = "bounce_rate"      // exceeds a limit
	ComplaintRate   NoticeKind = "complaint_rate"   // exceeds a limit
	MailRefused     NoticeKind = "mail_refused"     // by a mailbox provider
	MailDeferred    NoticeKind = "mail_deferred"    // by a mailbox provider
)

// group is a set of notices with the same button and closing text.
type group int

const (
	noGroup       group = iota
	securityGroup       // changes of credentials: with time, browser, IP address and a password reset link
	teamGroup           // changes of the user's team membership
	billingGroup        // payments and plans
	usageGroup          // limits, for the same people; they can switch these off
	alertGroup          // problems of a team's mail, which members can switch off
)

var groups = map[NoticeKind]group{
	PasswordChanged: securityGroup, SecondFactorAdded: securityGroup, SecondFactorRemoved: securityGroup,
	PasskeyAdded: securityGroup, PasskeyRemoved: securityGroup,
	ProviderLinked: securityGroup, ProviderUnlinked: securityGroup, NewDevice: securityGroup,
	RoleChanged: teamGroup, MemberRemoved: teamGroup,
	LimitNear: usageGroup, LimitReached: usageGroup, IncludedNear: usageGroup, IncludedReached: usageGroup,
	PaymentFailed: billingGroup, PlanChanged: billingGroup,
	EndpointFailing: alertGroup, EndpointGone: alertGroup, DomainBroken: alertGroup, DomainFailed: alertGroup,
	DomainLost: alertGroup, BounceRate: alertGroup, ComplaintRate: alertGroup, MailRefused: alertGroup, MailDeferred: alertGroup,
}

// profilePath is the page on which members switch alerts off.
const profilePath = "/profile"

// IsSecurity reports whether a notice is about credentials and contains a password reset link.
func (k NoticeKind) IsSecurity() bool { return groups[k] == securityGroup }

// Notice is an email to one user. Path is the page that its link opens; without Path it has no link. Token,
// if set, is in the URL fragment.
type Notice struct {
	To   string
	Kind NoticeKind
	// placeholders of the kind: name, team, inviter, role, before, email, plan, number, time, browser, ip, host,
	// domain, share, limit
	Values   map[string]string
	Language string // defaults to the recipient's preference
	BaseURL  string
	Path     string
	Token    secret.String
}

// Send stores a notice for delivery. It calls hold in the transaction that stores the notice. If hold returns
// false, the notice is not stored and Send returns no error.
func (s *Service) Send(ctx context.Context, n Notice,
	hold func(ctx context.Context, tx db.Execer) (bool, error)) error {
	from, err := s.ensureAccount(ctx)
	if err != nil {
		return err
	}
	if n.Language == "" {
		if n.Language, err = s.accounts.Language(ctx, n.To); err != nil {
			return err
		}
	}
	m, err := n.buildMessage(s.config.From)
	if err != nil {
		return err
	}
	_, err = s.sender.Send(ctx, accounts.Caller{AccountID: from, Scope: rights.ScopeFull}, sending.Request{Message: m,
		Guard: &sending.MessageGuard{Guard: &guard{hold}}})
	if err != nil && !errors.Is(err, sending.ErrNotHeld) {
		return fmt.Errorf("send notice %s: %w", n.Kind, err)
	}
	return nil
}

// guard guards one notice. It is a pointer, so that guards of different notices are distinct.
type guard struct {
	hold func(ctx context.Context, tx db.Execer) (bool, error)
}

// Hold implements sending.Guard.
func (g *guard) Hold(ctx context.Context, tx db.Execer, list []sending.GuardedMessage) ([]bool, error) {
	out := make([]bool, len(list))
	for i := range list {
		var err error
		if out[i], err = g.hold(ctx, tx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) ensureAccount(ctx context.Context) (string, error) {
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

// sweep deletes the bodies of notices that were delivered or failed an hour ago, because they contain links.
func (s *Service) sweep(ctx context.Context) (deleted int64, err error) {
	if s.records == nil {
		return 0, nil
	}
	from, err := s.ensureAccount(ctx)
	if err != nil {
		return 0, err
	}
	for after := ""; ; {
		ids, last, err := s.records.ListExpired(ctx, from, records.Bodies, after, time.Now().Add(-keptFor), sweepBatch)
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
