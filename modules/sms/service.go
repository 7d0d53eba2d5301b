package sms

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/module"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/worker"
)

// Accounts tells who an account is: its plan, and whether it is suspended.
type Accounts interface {
	Account(ctx context.Context, accountID string) (accounts.Account, error)
}

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts Accounts
	Box      *secret.Box
	Signals  handover.Signals
	Node     handover.Node
	Cursors  *page.Codec
	Logger   *slog.Logger
	Catcher  provider.Catcher      `optional:"true"` // nil: there is no development inbox
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service keeps text messages and has them handed over. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts Accounts
	box      *secret.Box
	cursors  *page.Codec
	log      *slog.Logger
	numbers  hasher
	links    linker
	ways     ways
	tasks    *worker.Tasks // the pass over older hashes

	handover *handover.Service
}

// ways is how providers are reached.
type ways struct {
	operator      provider.Provider // nil: there is none
	settings      Operator
	client        *http.Client // of accounts' own providers; it judges where it may go
	plainLoopback bool
}

// New makes the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	operator, err := p.Config.Operator.provider(p.Catcher)
	if err != nil {
		return nil, err
	}
	s := &Service{db: p.DB, accounts: p.Accounts, box: p.Box, cursors: p.Cursors, log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers),
		numbers: hasher{p.Box.DeriveEach("sms numbers")}, links: linker{p.Config.BaseURL, p.Box.DeriveEach("sms links")},
		ways: ways{operator: operator, settings: p.Config.Operator, plainLoopback: p.Config.PlainLoopback,
			client: egress.NewClient(egress.ClientConfig{Guard: egress.NewGuard(p.Config.Allow), PlainLoopback: p.Config.PlainLoopback, Timeout: provider.Timeout,
				RootCAs: p.Config.RootCAs, Lookup: egress.WithLocalhost(p.Config.Lookup)})}}
	s.handover, err = handover.New(handover.Params{Config: p.Config.Handover, DB: p.DB, Account: s, Signals: p.Signals, Node: p.Node, Logger: p.Logger, Workers: p.Workers, Registry: p.Registry})
	return s, err
}

// Start begins to hand messages over.
func (s *Service) Start(ctx context.Context) error {
	s.startRehash()
	return s.handover.Start(ctx)
}

// Stop lets requests that have begun end while ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	err := s.handover.Stop(ctx)
	s.ways.client.CloseIdleConnections()
	return err
}

// Wake has messages handed over that a transaction has stored. It is called behind the commit.
func (s *Service) Wake() { s.handover.Wake() }

// Drain hands over every message that is due now. It is for tests, where no worker runs.
func (s *Service) Drain(ctx context.Context) (int, error) { return s.handover.Drain(ctx) }

// condition tells how late the queue is, and the operator where his provider posts replies.
func (s *Service) condition(ctx context.Context) (module.Condition, error) {
	c, err := s.handover.Condition(ctx)
	if kind := s.ways.settings.Kind; err == nil && (kind == kindTwilio || kind == kindHTTP) {
		c.Details = append(c.Details, "replies to the operator's provider of text messages are taken at "+s.links.url(ReplyPath, operatorName))
	}
	return c, err
}

// Suspended implements handover.Account.
func (s *Service) Suspended(ctx context.Context, accountID string) (bool, error) {
	account, err := s.accounts.Account(ctx, accountID)
	return err == nil && account.Suspended, err
}
