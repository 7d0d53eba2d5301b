package deliverability

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/reportaddress"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Verifier authenticates the sender of a message.
type Verifier interface {
	Verify(ctx context.Context, c authn.Client, raw io.ReaderAt, size int64) shape.Authentication
}

// Domains reads the domains of accounts.
type Domains interface {
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
	GetMany(ctx context.Context, accountID string, domainIDs ...string) ([]*ent.Domain, error)
	Records(d *ent.Domain) []dnscheck.RecordCheck
}

// Statistics counts the outcome of sent mail.
type Statistics interface {
	Query(ctx context.Context, accountID string, q statistics.Question) (statistics.QueryResult, error)
	Senders(ctx context.Context, since time.Time, after string, limit int) ([]statistics.Sender, error)
}

// Resolver looks up DNS records.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIP(ctx context.Context, name string) ([]netip.Addr, error)
	LookupIPv4(ctx context.Context, name string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// Config configures the module.
type Config struct {
	Hostname   string // name of this installation
	SPFInclude string // host whose SPF record lists our addresses
	Blocklists []string
}

// ConfigOf returns the module's part of the installation's configuration.
func ConfigOf(cfg setting.Values) Config {
	return Config{Hostname: config.Hostname.Get(cfg), SPFInclude: config.SPFInclude.Get(cfg),
		Blocklists: Blocklists.Get(cfg)}
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config     Config
	DB         *db.DB
	Addresses  *reportaddress.Signer
	Verifier   Verifier
	Domains    Domains
	Statistics Statistics // nil: no placement, no rates, and no watch of providers
	Publisher  Publisher
	Resolver   Resolver
	Budget     *intake.Budget
	Logger     *slog.Logger
	Workers    *worker.Metrics       `optional:"true"`
	Registry   prometheus.Registerer `optional:"true"`
}

// Service receives reports and summarizes them. It is safe for concurrent use.
type Service struct {
	*sourceNames
	*providerWatch
	*blocklistLookups

	db        *db.DB
	addresses *reportaddress.Signer
	authors   authenticator
	budget    *intake.Budget
	log       *slog.Logger
	tasks     *worker.Tasks
	results   *prometheus.CounterVec
}

// New returns a new Service; Start starts its periodic tasks.
func New(p Params) (*Service, error) {
	if p.Budget == nil || p.Verifier == nil || p.Addresses == nil {
		return nil, errors.New("deliverability: Budget, Verifier and Addresses are required")
	}
	results := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace,
		Name: "dmarc_reports_total",
		Help: "Messages to report addresses, by result: stored, duplicate, or the reason of the refusal."}, []string{"result"})
	if err := telemetry.Register(p.Registry, results); err != nil {
		return nil, err
	}
	var lists []blocklist
	for _, zone := range p.Config.Blocklists {
		lists = append(lists, newBlocklist(zone))
	}
	names := &sourceNames{db: p.DB, dns: p.Resolver, spfInclude: p.Config.SPFInclude}
	watch := &providerWatch{p.DB, p.Domains, p.Statistics, p.Publisher}
	return &Service{sourceNames: names, providerWatch: watch, blocklistLookups: &blocklistLookups{names, watch, lists},
		db: p.DB, addresses: p.Addresses, authors: authenticator{p.Verifier, p.Config.Hostname}, budget: p.Budget,
		log: p.Logger, tasks: worker.NewTasks(p.Logger, p.Workers), results: results}, nil
}

// lookUpEvery is the interval between lookups of reverse names. Each step reads the counts of 30 days.
const lookUpEvery = 10 * time.Minute

// Start starts the periodic tasks.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(worker.Every("names of mail sources", lookUpEvery, s.LookUpSources),
		worker.Every("watch of mailbox providers", time.Minute, s.WatchProviders),
		worker.Every("blocklists", time.Minute, s.CheckBlocklists))
	return nil
}

// Stop stops the periodic tasks.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}
