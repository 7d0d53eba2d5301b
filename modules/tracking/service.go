package tracking

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/worker"
)

// Seen is an open or a click that was recorded.
type Seen struct {
	AccountID, EmailID string
	Type               event.Type
	Fill               func(*event.Email) // adds what is particular to the event
}

// Announcer publishes the facts of emails, as part of a transaction. What is
// told of emails that do not exist is left out; told is how many do.
type Announcer interface {
	Announce(ctx context.Context, tx db.Execer, seen []Seen) (told int, err error)
}

// Domains tells what domains an account has.
type Domains interface {
	Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error)
}

// resolver is what is needed of DNS.
type resolver interface {
	LookupCNAME(ctx context.Context, name string) (string, error)
}

// Bus wakes the consumers of facts after a commit.
type Bus interface{ Wake() }

// Params of New.
type Params struct {
	fx.In

	Config       Config
	DB           *db.DB
	Bus          Bus
	Announcer    Announcer `optional:"true"` // nil: recorded and not told
	Domains      Domains
	Resolver     *dnsx.Resolver
	Certificates Certificates `optional:"true"`
	Box          *secret.Box
	Logger       *slog.Logger
	Registry     prometheus.Registerer `optional:"true"`
	Workers      *worker.Metrics       `optional:"true"`
}

// Service reads tokens, records visits, and knows tracking hosts. Safe for
// concurrent use.
type Service struct {
	config       Config
	db           *db.DB
	bus          Bus
	announcer    Announcer
	domains      Domains
	dns          resolver
	certificates Certificates
	log          *slog.Logger
	own          map[string]bool // hosts of this installation
	tokens       tokens
	machines     machines
	recorder     *recorder
	checks       *worker.Worker[hostJob, sighting]
}

// New makes the service; nothing is recorded or checked before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	known, err := newMachines(machinesFile)
	if err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	s := &Service{config: config, db: p.DB, bus: p.Bus, announcer: p.Announcer, domains: p.Domains, dns: p.Resolver.Uncached(), certificates: p.Certificates,
		log: p.Logger, own: map[string]bool{}, tokens: tokens{p.Box.DeriveEach(tokenPurpose)}, machines: known}
	for _, host := range append([]string{config.Target}, config.Own...) {
		s.own[strings.ToLower(strings.TrimSuffix(host, "."))] = true
	}
	if s.recorder, err = newRecorder(s.record, p.Logger, p.Registry); err != nil {
		return nil, err
	}
	s.checks = worker.New(s.hostQueue(), worker.Config{Concurrency: config.Checks, Batch: config.Checks, Lease: config.CheckTimeout + 45*time.Second,
		Poll: 5 * time.Second}, p.Logger, p.Workers)
	return s, nil
}

// Start begins to record, and to check tracking hosts.
func (s *Service) Start(ctx context.Context) error {
	s.recorder.start()
	return s.checks.Start(ctx)
}

// Stop records what waits, as long as ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	return errors.Join(s.checks.Stop(ctx), s.recorder.stop(ctx))
}

// Read tells what a token is for, or ErrForged. It asks nobody.
func (s *Service) Read(kind Kind, token string) (Mark, error) {
	mark, err := s.tokens.parse(token)
	if err != nil || mark.Kind != kind {
		return Mark{}, ErrForged
	}
	return mark, nil
}

// Record has a visit recorded soon. It never waits: see recorder.
func (s *Service) Record(v Visit) { s.recorder.offer(s.machines.hitOf(v, time.Now())) }
