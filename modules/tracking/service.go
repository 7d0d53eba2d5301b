package tracking

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/secret"
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

// Bus wakes the consumers of facts after a commit.
type Bus interface{ Wake() }

// Params of New.
type Params struct {
	fx.In

	Config    Config
	DB        *db.DB
	Bus       Bus
	Announcer Announcer `optional:"true"` // nil: recorded and not told
	Box       *secret.Box
	Logger    *slog.Logger
	Registry  prometheus.Registerer `optional:"true"`
}

// Service reads tokens and records visits. Safe for concurrent use.
type Service struct {
	db        *db.DB
	bus       Bus
	announcer Announcer
	tokens    tokens
	machines  machines
	recorder  *recorder
}

// New makes the service; nothing is recorded before Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	known, err := newMachines(machinesFile)
	if err != nil {
		return nil, err
	}
	s := &Service{db: p.DB, bus: p.Bus, announcer: p.Announcer, tokens: tokens{p.Box.DeriveEach(tokenPurpose)}, machines: known}
	if s.recorder, err = newRecorder(s.record, p.Logger, p.Registry); err != nil {
		return nil, err
	}
	return s, nil
}

// Start begins to record.
func (s *Service) Start(context.Context) error {
	s.recorder.start()
	return nil
}

// Stop records what waits, as long as ctx lasts.
func (s *Service) Stop(ctx context.Context) error {
	return s.recorder.stop(ctx)
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
