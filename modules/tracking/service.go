package tracking

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/work/event"
)

// Announcement is a recorded open or click.
type Announcement struct {
	AccountID, EmailID string
	Type               event.Type
	Fill               func(*event.Email) // sets the fields specific to the event
}

// Announcer publishes facts about emails in a transaction. It skips emails that do not exist, and returns the
// number of published facts.
type Announcer interface {
	Announce(ctx context.Context, tx db.Execer, seen []Announcement) (announced int, err error)
}

// Bus wakes the consumers of facts after a commit.
type Bus interface{ Wake() }

// Params are the dependencies of New.
type Params struct {
	fx.In

	Config    Config
	DB        *db.DB
	Bus       Bus
	Announcer Announcer `optional:"true"` // nil: record without publishing
	Rules     *linkrules.Rules
	Origins   *origins.Service `optional:"true"` // nil: no account has moved
	Box       *secret.Box
	Logger    *slog.Logger
	Registry  prometheus.Registerer `optional:"true"`
}

// Service reads tokens and records visits. It is safe for concurrent use.
type Service struct {
	db        *db.DB
	bus       Bus
	announcer Announcer
	rules     *linkrules.Rules
	origins   *origins.Service
	tokens    tokens
	machines  classifier
	recorder  *recorder
	refused   *prometheus.CounterVec
}

// New creates the service. Nothing is recorded until Start.
func New(p Params) (*Service, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	known, err := newMachines(machinesFile)
	if err != nil {
		return nil, err
	}
	s := &Service{db: p.DB, bus: p.Bus, announcer: p.Announcer, rules: p.Rules, origins: p.Origins,
		tokens: tokens{p.Box.DeriveEach(tokenPurpose)}, machines: known,
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Subsystem: "tracking",
			Name: "refused_total",
			Help: "Authentic links that did not redirect: requested on another host, of a suspended account, or flagged."}, []string{"reason"})}
	if err := telemetry.Register(p.Registry, s.refused); err != nil {
		return nil, err
	}
	if s.recorder, err = newRecorder(s.storeHits, p.Logger, p.Registry); err != nil {
		return nil, err
	}
	return s, nil
}

// Start starts recording.
func (s *Service) Start(context.Context) error {
	s.recorder.start()
	return nil
}

// Stop records queued visits until ctx ends.
func (s *Service) Stop(ctx context.Context) error {
	return s.recorder.stop(ctx)
}

// ErrWithheld is the error for an authentic click that must not redirect: its account is suspended, or an
// operator has flagged its target.
var ErrWithheld = errors.New("tracked link is withheld")

const reasonHost = "other_host"

// Read returns the contents of a token requested on a host, as in the Host header. It returns ErrForged for a
// token that is not authentic or belongs to another host, and ErrWithheld for a click that must not redirect. Any other
// error is temporary: only a link under a former tracking host and one that this installation has not signed query the
// database.
func (s *Service) Read(ctx context.Context, kind TokenKind, token, host string) (LinkToken, error) {
	own, name := s.rules.IsOwn(host), ownHost
	if !own {
		name = clientip.HostName(host)
	}
	mark, err := s.readToken(ctx, token, name)
	switch {
	case err != nil:
		return LinkToken{}, err
	case mark.Kind != kind:
		return LinkToken{}, ErrForged
	}
	if !own {
		switch held, err := s.rules.OwnsHost(ctx, mark.AccountID, name); {
		case err != nil:
			return LinkToken{}, err
		case !held:
			s.refused.WithLabelValues(reasonHost).Inc()
			return LinkToken{}, ErrForged
		}
	}
	if kind == Open {
		return mark, nil
	}
	if reason := s.rules.WithholdReason(mark.AccountID, mark.Target); reason != linkrules.None {
		s.refused.WithLabelValues(string(reason)).Inc()
		return LinkToken{}, ErrWithheld
	}
	return mark, nil
}

// Record queues a visit for recording. It never waits (see recorder).
func (s *Service) Record(v Visit) { s.recorder.offer(s.machines.newHit(v, time.Now())) }
