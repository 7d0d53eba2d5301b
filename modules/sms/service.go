package sms

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/optout"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Accounts returns the profile of an account: its plan, and whether it is suspended.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Params are the dependencies of New.
type Params struct {
	fx.In

	Config   handover.Config
	DB       *db.DB
	Accounts Accounts
	Settings *settings.Service
	OptOuts  *optout.Service
	Links    link.Links
	Signals  handover.Signals
	Node     handover.Node
	Cursors  *page.Codec
	Logger   *slog.Logger
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service stores text messages and submits them. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts Accounts
	settings *settings.Service
	optOuts  *optout.Service
	links    link.Links
	cursors  *page.Codec
	handover *handover.Service
	tasks    *worker.Tasks
}

// New returns a new Service. Nothing runs until Start.
func New(p Params) (*Service, error) {
	account := handoverAccount{Service: p.Settings, Links: p.Links, db: p.DB, accounts: p.Accounts, optOuts: p.OptOuts}
	h, err := handover.New(handover.Params{Config: p.Config, DB: p.DB, Account: account, Signals: p.Signals,
		Node: p.Node, Logger: p.Logger, Workers: p.Workers, Registry: p.Registry})
	return &Service{db: p.DB, accounts: p.Accounts, settings: p.Settings, optOuts: p.OptOuts, links: p.Links,
		cursors: p.Cursors, handover: h, tasks: worker.NewTasks(p.Logger, p.Workers)}, err
}

// Start starts submitting messages.
func (s *Service) Start(ctx context.Context) error {
	s.optOuts.Start()
	s.tasks.Start(worker.Every("sealing of gateways of text messages", sealEvery, s.settings.Seal).
		WithFirstDelay(time.Second))
	return s.handover.Start(ctx)
}

// sealEvery is the maximum delay from the end of the last older process until gateways stored by earlier
// versions are sealed.
const sealEvery = time.Minute

// Stop waits until ctx ends for requests in flight.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	s.optOuts.Stop(ctx)
	err := s.handover.Stop(ctx)
	s.settings.Close()
	return err
}

// Wake starts to submit messages. Call it after the transaction that stored them has committed.
func (s *Service) Wake() { s.handover.Wake() }

// Drain submits every message that is due now. It is for tests that run no worker.
func (s *Service) Drain(ctx context.Context) (int, error) { return s.handover.Drain(ctx) }

// queueCondition reports how late the queue is and shows the operator the URL for replies. Text messages are
// off if there is neither a provider nor a queued message.
func (s *Service) queueCondition(ctx context.Context) (module.Condition, error) {
	c, err := s.handover.Condition(ctx)
	if err != nil {
		return c, err
	}
	switch s.settings.Operator().Kind {
	case settings.KindTwilio, settings.KindHTTP:
		c.Details = append(c.Details, "replies to the operator's SMS provider are accepted at "+
			s.links.URL(link.ReplyPath, link.OperatorName))
	case "":
		own, err := s.settings.HasOwnProviders(ctx)
		if err != nil {
			return module.Condition{}, err
		}
		c.Off = !own && c.Figures["late_seconds"] == 0
	}
	return c, nil
}

// handoverAccount implements handover.Account: the route of an account's messages and whether it may send.
type handoverAccount struct {
	*settings.Service
	link.Links

	db       *db.DB
	accounts Accounts
	optOuts  *optout.Service
}

var _ handover.Account = handoverAccount{}

// IsSuspended implements handover.Account.
func (o handoverAccount) IsSuspended(ctx context.Context, accountID string) (bool, error) {
	account, err := o.accounts.Account(ctx, accountID)
	return err == nil && account.Suspended, err
}

// OptedOut implements handover.Account.
func (o handoverAccount) OptedOut(ctx context.Context, accountID, number string, own bool) (bool, error) {
	return o.optOuts.Has(ctx, o.db.SQL, accountID, number, own)
}

// OptOut implements handover.Account.
func (o handoverAccount) OptOut(ctx context.Context, tx db.Execer, accountID, number string) error {
	return o.optOuts.Add(ctx, tx, accountID, number, optout.ByProvider)
}
