package eventlog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// Reach is the age up to which events can be read.
const Reach = 30 * 24 * time.Hour

// Latest is the position after the newest readable event.
const Latest = "latest"

// Limits of a page.
const (
	DefaultLimit = 25
	MaxLimit     = 100
)

// Log reads facts in the order of their ids.
type Log interface {
	Horizon(ctx context.Context) (time.Time, error)
	Read(ctx context.Context, s bus.AccountFeed) (bus.FeedPage, error)
	ActiveAccounts(ctx context.Context, since, before time.Time, accountIDs []string) ([]string, error)
}

var _ Log = (*bus.Log)(nil)

// Limits for the streams of one process.
const (
	maxAccountStreams = 10
	maxStreams        = 200
	wakeInterval      = 150 * time.Millisecond // between checks for new events while a stream is open
)

// Config configures the service. Zero fields use the defaults.
type Config struct {
	Poll time.Duration // maximum interval between checks of a stream; default 2 s
}

func (c Config) withDefaults() Config {
	if c.Poll == 0 {
		c.Poll = 2 * time.Second
	}
	return c
}

// Params contains the parameters of New.
type Params struct {
	fx.In

	Config  Config `optional:"true"`
	Log     Log
	Logger  *slog.Logger
	Workers *worker.Metrics `optional:"true"`
}

// Service reads events.
type Service struct {
	config  Config
	log     Log
	tasks   *worker.Tasks
	streams *registry
	horizon *sharedHorizon
}

// New returns a new service. Start must be called before streams are woken.
func New(p Params) *Service {
	return &Service{config: p.Config.withDefaults(), log: p.Log, tasks: worker.NewTasks(p.Logger, p.Workers),
		streams: newRegistry(), horizon: &sharedHorizon{log: p.Log}}
}

// Start starts waking streams.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(s.waking())
	return nil
}

// Stop stops waking streams.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}

// EventQuery selects events.
type EventQuery struct {
	After string   // a position, Latest, or empty to start at the beginning
	Types []string // empty for all
	Limit int
}

// Validate reports every invalid field.
func (q EventQuery) Validate() error {
	wrong := fault.Fields{}
	if q.After != "" && q.After != Latest && !id.Is(id.Fact, q.After) {
		wrong.Add("after", "must be the id of an event or %s", Latest)
	}
	for _, t := range q.Types {
		if !slices.Contains(event.Names(), t) {
			wrong.Add("types", "must be a comma-separated list of event types: %s", strings.Join(event.Names(), ", "))
		}
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		wrong.Add("limit", "must be between 1 and %d", MaxLimit)
	}
	return wrong.Err()
}

// List returns a page of the log, oldest first. Its NextCursor is the position after the last event
// examined and is never empty. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, q EventQuery) (page.Page[event.Fact], error) {
	if err := q.Validate(); err != nil {
		return page.Page[event.Fact]{}, err
	}
	horizon, err := s.log.Horizon(ctx)
	if err != nil {
		return page.Page[event.Fact]{}, err
	}
	return s.read(ctx, accountID, q, horizon)
}

func (s *Service) read(ctx context.Context, accountID string, q EventQuery,
	horizon time.Time) (page.Page[event.Fact], error) {
	if q.After == Latest {
		return page.Page[event.Fact]{NextCursor: id.Since(id.Fact, horizon)}, nil
	}
	got, err := s.log.Read(ctx, bus.AccountFeed{AccountID: accountID,
		After:  max(q.After, id.Since(id.Fact, horizon.Add(-Reach))),
		Before: horizon, Types: types(q.Types), Limit: q.Limit})
	if err != nil {
		return page.Page[event.Fact]{}, err
	}
	return page.Page[event.Fact]{Items: got.Facts, HasMore: got.More, NextCursor: got.Next}, nil
}

func types(wanted []string) []event.Type {
	if len(wanted) == 0 {
		wanted = event.Names()
	}
	out := make([]event.Type, len(wanted))
	for i, t := range wanted {
		out[i] = event.Type(t)
	}
	return out
}
