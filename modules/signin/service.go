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
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/modules/signin/devices"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/runtime/base/cache"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Mailer sends an email of the installation. It calls hold in the transaction that stores the email, and
// stores it only if hold returns true.
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
	Guard    *guessing.Guard `optional:"true"` // New creates one if nil
	Signals  *db.Signals     `optional:"true"` // nil disables background workers
	Logger   *slog.Logger
	// if nil, no email is sent, and links are created on the command line
	Notices  *notices.Service      `optional:"true"`
	Workers  *worker.Metrics       `optional:"true"`
	Registry prometheus.Registerer `optional:"true"`
}

// Service authenticates users. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	accounts *accounts.Service
	teams    *team.Service
	box      *secret.Box
	hasher   *passwords.Hasher
	guard    guard
	passkeys *passkeys.Service
	seen     *sessionState
	post     *mailQueue
}

// guard limits sign-in attempts, with separate counters for known browsers.
type guard struct {
	*guessing.Guard

	devices devices.Keys
}

// sessionState holds the session cache, pending last-use updates and sign-in counters.
type sessionState struct {
	signIns   counters
	sessions  *cache.Cache[tokenHash, sessionEntry]
	used      *credentials.Recorder
	developer atomic.Pointer[string] // ID of the user of the development link; nil in other modes
	canSignIn atomic.Bool            // a user can sign in; never reset, so pages skip the query once it is set
}

// NewGuard returns the guard that limits sign-in attempts and the emails that they can cause.
func NewGuard(d *db.DB, box *secret.Box) *guessing.Guard {
	return guessing.New(d, box.Derive("sign-in failures"))
}

// New returns a new Service. Start starts its background work.
func New(p Params) (*Service, error) {
	bounds := p.Guard
	if bounds == nil {
		bounds = NewGuard(p.DB, p.Box)
	}
	keys, err := passkeys.New(p.DB, p.Box, issuer, append([]string{p.Config.BaseURL}, p.Config.Origins...)...)
	if err != nil {
		return nil, err
	}
	signIns, err := newCounters(p.Registry)
	if err != nil {
		return nil, err
	}
	s := &Service{config: p.Config, db: p.DB, accounts: p.Accounts, teams: p.Teams, box: p.Box,
		hasher: passwords.NewHasher(p.Logger), guard: guard{bounds, p.Box.DeriveEach("known device")}, passkeys: keys,
		seen: &sessionState{signIns: signIns, sessions: newCache(),
			used: credentials.NewRecorder(p.DB.SQL, "sessions")}}
	s.post = &mailQueue{db: p.DB, teams: p.Teams, signals: p.Signals, log: p.Logger, baseURL: p.Config.BaseURL,
		cells: cells.New(p.Config.Cells), tasks: worker.NewTasks(p.Logger, p.Workers)}
	if p.Notices != nil && p.Notices.CanSend() {
		s.post.mailer = p.Notices
	}
	return s, nil
}

const (
	usedEvery = 30 * time.Second
	mailEvery = 20 * time.Second // the longest delay after a lost notification
)

// Start starts writing last_used_at and sending queued mail.
func (s *Service) Start(context.Context) error {
	s.post.start(worker.Every("last use of sessions", usedEvery, s.seen.used.Flush))
	return nil
}

// Stop ends the background work and writes pending last_used_at values.
func (s *Service) Stop(ctx context.Context) error {
	s.post.tasks.Stop(ctx)
	return s.seen.used.Flush(ctx)
}

// HashCount returns the number of passwords hashed or checked so far, which is the cost of guessing.
func (s *Service) HashCount() int64 { return s.hasher.Count() }

// Options lists the ways to sign in or sign up that the sign-in page offers.
type Options struct {
	SetUp     bool   // no user can sign in yet
	SignUp    string // invite, open, closed
	Passwords bool
	Passkeys  bool
}

// Options returns the sign-in options. It queries the database only until a user can sign in.
func (s *Service) Options(ctx context.Context) (Options, error) {
	canSignIn := s.seen.canSignIn.Load()
	if !canSignIn {
		var err error
		if canSignIn, err = hasActiveUser(ctx, s.db.SQL); err != nil {
			return Options{}, fault.OrUnavailable(fmt.Errorf("sign-in options: %w", err))
		}
		s.seen.canSignIn.Store(canSignIn)
	}
	return Options{SetUp: !canSignIn, SignUp: s.config.SignUp.Mode(), Passwords: s.config.Passwords,
		Passkeys: s.passkeys.IsAvailable()}, nil
}

const hasActiveUserSQL = `
SELECT EXISTS (SELECT FROM users u WHERE u.disabled_at IS NULL AND (
	EXISTS (SELECT FROM passwords p WHERE p.id = u.id) OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = u.id)
	OR EXISTS (SELECT FROM identities i WHERE i.user_id = u.id)))`

// hasActiveUser reports whether there is a user who can sign in.
func hasActiveUser(ctx context.Context, on db.Execer) (bool, error) {
	return db.One(ctx, on, db.Value[bool], hasActiveUserSQL)
}

// Profile is a user as shown to the user.
type Profile struct {
	*ent.User

	SecondFactor bool // an authenticator app is set up
	Passkeys     int
	Password     bool
	Alerts       alerts.Preferences // in the current account; nil if the user is not a member of one
	DeviceCookie string             // the new cookie that identifies the browser; empty if it does not change
}

const profileSQL = `
SELECT EXISTS (SELECT FROM second_factors f WHERE f.id = $1 AND f.active_at IS NOT NULL),
       (SELECT count(*) FROM passkeys k WHERE k.user_id = $1), EXISTS (SELECT FROM passwords p WHERE p.id = $1)`

// loadProfile returns the profile of a user whose current account is accountID, which may be empty.
func (s *Service) loadProfile(ctx context.Context, userID, accountID string) (p Profile, err error) {
	p, err = db.One(ctx, s.db.SQL, func(p *Profile) []any { return []any{&p.SecondFactor, &p.Passkeys, &p.Password} },
		profileSQL, userID)
	if err != nil {
		return p, fmt.Errorf("profile: %w", err)
	}
	if p.Alerts, err = alerts.ReadPreferences(ctx, s.db.SQL, accountID, userID); err != nil {
		return p, err
	}
	p.User, err = s.teams.User(ctx, userID)
	return p, err
}
