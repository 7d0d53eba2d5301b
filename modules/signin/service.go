package signin

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/lastuse"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin/devices"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/modules/signin/tally"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Mailer sends a mail of the installation. hold is called in the transaction that stores it: what
// it answers decides whether it is stored.
type Mailer interface {
	Send(ctx context.Context, n notices.Notice, hold func(ctx context.Context, tx db.Execer) (bool, error)) error
}

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	Accounts *accounts.Service
	Teams    *team.Service
	Box      *secret.Box
	Guard    *guessing.Guard `optional:"true"` // nil: one of its own
	Signals  *db.Signals     `optional:"true"` // nil: nothing runs in the background
	Logger   *slog.Logger
	Notices  *notices.Service      `optional:"true"` // nil: mail is not sent here, and links come by the command line
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service lets people in. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	accounts *accounts.Service
	teams    *team.Service
	box      *secret.Box
	hasher   *passwords.Hasher
	guard    guard
	passkeys *passkeys.Service
	seen     *seen
	post     *post
}

// guard bounds what people may try, with a count of its own for browsers that are known.
type guard struct {
	*guessing.Guard

	devices devices.Keys
}

// seen is what is remembered of the database, what is written there later, and what is counted.
type seen struct {
	signIns  tally.Results
	sessions *cache.Cache[tokenHash, found]
	used     *lastuse.Recorder
	somebody atomic.Bool // can sign in; once it is so, pages need not ask again
}

// NewGuard creates the guard that bounds what people may try, and which mails they may cause.
func NewGuard(d *db.DB, box *secret.Box) *guessing.Guard {
	return guessing.New(d, box.Derive("sign-in failures"))
}

// New creates the service; nothing runs before Start.
func New(p Params) (*Service, error) {
	bounds := p.Guard
	if bounds == nil {
		bounds = NewGuard(p.DB, p.Box)
	}
	keys, err := passkeys.New(p.DB, p.Box, issuer, append([]string{p.Config.BaseURL}, p.Config.Origins...)...)
	if err != nil {
		return nil, err
	}
	signIns, err := tally.New(p.Registry)
	if err != nil {
		return nil, err
	}
	s := &Service{config: p.Config, db: p.DB, accounts: p.Accounts, teams: p.Teams, box: p.Box, hasher: passwords.NewHasher(p.Logger), guard: guard{bounds, p.Box.DeriveEach("known device")}, passkeys: keys,
		seen: &seen{signIns: signIns, sessions: newCache(), used: lastuse.New(p.DB.SQL, "sessions")}}
	s.post = &post{db: p.DB, teams: p.Teams, signals: p.Signals, log: p.Logger, baseURL: p.Config.BaseURL, tasks: worker.NewTasks(p.Logger, p.Workers)}
	if p.Notices != nil && p.Notices.Sends() {
		s.post.mailer = p.Notices
	}
	return s, nil
}

const (
	usedEvery = 30 * time.Second
	mailEvery = 20 * time.Second // a wake that was lost costs so much
)

// Start begins to write last_used_at and to have mails sent.
func (s *Service) Start(context.Context) error {
	s.post.start(worker.Every("last use of sessions", usedEvery, s.seen.used.Flush))
	return nil
}

// Stop ends that, and writes what is left.
func (s *Service) Stop(ctx context.Context) error {
	s.post.tasks.Stop(ctx)
	return s.seen.used.Flush(ctx)
}

// Hashes is how many passwords were hashed or checked: what guessing has cost.
func (s *Service) Hashes() int64 { return s.hasher.Done() }

// Options are what a person may do who is not signed in.
type Options struct {
	SetUp     bool   // no user can sign in yet
	SignUp    string // invite, open, closed
	Passwords bool
	Passkeys  bool
}

// Options tells them. That somebody can sign in is asked of the database until it is so.
func (s *Service) Options(ctx context.Context) (Options, error) {
	somebody := s.seen.somebody.Load()
	if !somebody {
		var err error
		if somebody, err = anybody(ctx, s.db.SQL); err != nil {
			return Options{}, fault.OrUnavailable(fmt.Errorf("sign-in options: %w", err))
		}
		s.seen.somebody.Store(somebody)
	}
	return Options{SetUp: !somebody, SignUp: s.config.SignUp.Word(), Passwords: s.config.Passwords, Passkeys: s.passkeys.Possible()}, nil
}

const anybodySQL = `
SELECT EXISTS (SELECT FROM users u WHERE u.disabled_at IS NULL AND (
	EXISTS (SELECT FROM passwords p WHERE p.id = u.id) OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id)
	OR EXISTS (SELECT FROM identities i WHERE i.user_id = u.id)))`

// anybody reports whether there is a user who can sign in.
func anybody(ctx context.Context, on db.Execer) (bool, error) {
	return db.One(ctx, on, db.Value[bool], anybodySQL)
}

// Profile is a person as they see themselves.
type Profile struct {
	*ent.User

	SecondFactor bool // an authenticator app is set up
	Passkeys     int
	Password     bool
	Device       string // the cookie by which the browser is known from now on; empty: it stays as it is
}

const profileSQL = `
SELECT EXISTS (SELECT FROM second_factors f WHERE f.id = $1 AND f.active_at IS NOT NULL),
       (SELECT count(*) FROM passkeys k WHERE k.user_id = $1), EXISTS (SELECT FROM passwords p WHERE p.id = $1)`

func (s *Service) profile(ctx context.Context, userID string) (p Profile, err error) {
	p, err = db.One(ctx, s.db.SQL, func(p *Profile) []any { return []any{&p.SecondFactor, &p.Passkeys, &p.Password} }, profileSQL, userID)
	if err != nil {
		return p, fmt.Errorf("profile: %w", err)
	}
	p.User, err = s.teams.User(ctx, userID)
	return p, err
}
