package openid

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Module provides *Service, which lets people in by an outside provider.
var Module = fx.Module("openid", fx.Provide(ConfigOf, New))

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	People   *signin.Service
	Box      *secret.Box
	Resolver *dnsx.Resolver `optional:"true"` // nil: the system's
	Logger   *slog.Logger
}

// Service lets people in by an outside provider. Safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	people   *signin.Service
	keys     keys
	provider *provider // nil: there is none
	log      *slog.Logger
}

// New creates the service. The provider is not asked.
func New(p Params) *Service {
	s := &Service{config: p.Config, db: p.DB, people: p.People, keys: p.Box.DeriveEach("sign-in by OpenID Connect"), log: p.Logger}
	if p.Config.Issuer == "" {
		return s
	}
	var find lookup
	if p.Resolver != nil && p.Config.OwnResolver {
		find = egress.WithLocalhost(p.Resolver.LookupIP)
	}
	s.provider = newProvider(p.Config, find)
	return s
}

// Name is what the provider is called; empty: there is none.
func (s *Service) Name() string {
	if s == nil || s.provider == nil {
		return ""
	}
	return s.config.Name
}

// Departure is where a browser is sent, and the cookie that it takes along.
type Departure struct {
	URL    string
	Cookie *http.Cookie
}

// Begin sends somebody to the provider who wants to sign in, and afterwards to a path of this
// installation. Errors: NotFound where there is no provider; a Refusal.
func (s *Service) Begin(ctx context.Context, returnTo string) (Departure, error) {
	return s.begin(ctx, newPending(signin.ReturnPath(returnTo), "", time.Now()))
}

// BeginLink sends the caller to the provider, to be linked with who they are there. The session must
// have been confirmed of late: whoever links a provider can come in by it. Errors as Begin; Forbidden.
func (s *Service) BeginLink(ctx context.Context, c accounts.Caller) (Departure, error) {
	if c.Person == nil {
		return Departure{}, fault.Unauthenticated()
	}
	if err := c.RequireConfirmation(); err != nil {
		return Departure{}, err
	}
	return s.begin(ctx, newPending(signin.PathSignIn+"?"+Parameter+"="+string(Linked), c.Person.UserID, time.Now()))
}

func (s *Service) begin(ctx context.Context, p pending) (Departure, error) {
	if s.provider == nil {
		return Departure{}, fault.NoSuch("path", "no OpenID Connect provider is set up here")
	}
	address, err := s.provider.address(ctx, p.State, codesOf(s.keys[0], p.State))
	if err != nil {
		return Departure{}, s.told(ctx, err)
	}
	cookie, err := s.keys.seal(p)
	if err != nil {
		return Departure{}, fmt.Errorf("begin sign-in by OpenID Connect: %w", err)
	}
	return Departure{address, s.cookie(cookie)}, nil
}

// cookie is what a browser keeps while its person is at the provider; an empty value takes it away.
func (s *Service) cookie(value string) *http.Cookie { return newCookie(s.config.BaseURL, value) }

// Forget is the cookie that takes away what the browser has kept.
func (s *Service) Forget() *http.Cookie { return s.cookie("") }

// Return is what a browser brings back from the provider.
type Return struct {
	State   string
	Code    string
	Problem string // error of RFC 6749 section 4.1.2.1
	Issuer  string // iss of RFC 9207; empty: not given
	Cookies string // the header Cookie
	Caller  accounts.Caller
}

// Arrival is the result of a return from the provider.
type Arrival struct {
	Entered  *signin.Entered // nil: the caller has linked the provider
	ReturnTo string          // empty if the browser has no valid state
}

// Finish lets somebody in who has come back, or links the caller. Errors: NotFound where there is no
// provider; a Refusal; Away. With a Refusal it gives the ReturnTo of who may try again.
func (s *Service) Finish(ctx context.Context, r Return) (Arrival, error) {
	if s.provider == nil {
		return Arrival{}, fault.NoSuch("path", "no OpenID Connect provider is set up here")
	}
	p, c, err := s.keys.open(pick(s.config.BaseURL, r.Cookies), r.State, time.Now())
	if err != nil {
		return Arrival{}, s.told(ctx, refuseFor(Lost, err))
	}
	out := Arrival{ReturnTo: p.ReturnTo}
	again := out
	if p.UserID != "" { // the page that they return to would say that they are linked
		again.ReturnTo = ""
	}
	if r.Problem != "" || r.Code == "" {
		return again, s.told(ctx, refuseFor(Refused, fmt.Errorf("the provider answers %.60q", r.Problem)))
	}
	who, err := s.provider.person(ctx, answer{r.Code, r.Issuer}, c)
	if err != nil {
		return again, s.told(ctx, err)
	}
	if p.UserID != "" {
		if err := s.link(ctx, p, r.Caller, who); err != nil {
			return again, s.told(ctx, err)
		}
		return out, nil
	}
	entered, err := s.enter(ctx, p, who)
	if err != nil {
		return again, s.told(ctx, err)
	}
	out.Entered = &entered
	return out, nil
}

// told writes a refusal to the log; the person reads a sentence about it.
func (s *Service) told(ctx context.Context, err error) error {
	switch problem := ProblemOf(err); {
	case err == nil || problem == Failed:
	case problem == Away || problem == Untrusted:
		s.log.WarnContext(loglimit.Collapse(ctx, string(problem)), "a sign-in by OpenID Connect failed at the provider", "problem", problem, "error", err)
	default:
		s.log.InfoContext(loglimit.Collapse(ctx, string(problem)), "a sign-in by OpenID Connect was refused", "problem", problem, "error", err)
	}
	return err
}

// spendSQL keeps a state for an hour longer than it counts: the clocks of process and database may differ.
const spendSQL = `
INSERT INTO sign_in_challenges (id, kind, data, expires_at) VALUES ($1, 'oidc', 'used', to_timestamp($2) + interval '1 hour') ON CONFLICT (id) DO NOTHING`

// spend lets a state count, in the transaction of its effect. Error: Lost, when it has counted.
func spend(ctx context.Context, tx *ent.Tx, p pending) error {
	name := sha256.Sum256([]byte(p.State))
	n, err := db.Exec(ctx, tx, spendSQL, "oidc_"+hex.EncodeToString(name[:]), p.Until)
	switch {
	case err != nil:
		return err
	case n == 0:
		return refuseFor(Lost, errState)
	}
	return nil
}
