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

// Module provides *Service, which signs in users with OpenID Connect.
var Module = fx.Module("openid", fx.Provide(ConfigOf, New))

// Params of New.
type Params struct {
	fx.In

	Config   Config
	DB       *db.DB
	People   *signin.Service
	Box      *secret.Box
	Resolver *dnsx.Resolver `optional:"true"` // nil: use the system resolver
	Logger   *slog.Logger
}

// Service signs in users with an OpenID Connect provider. It is safe for concurrent use.
type Service struct {
	config   Config
	db       *db.DB
	people   *signin.Service
	keys     keys
	provider *provider // nil if not configured
	log      *slog.Logger
}

// New returns a new Service. It does not contact the provider.
func New(p Params) *Service {
	s := &Service{config: p.Config, db: p.DB, people: p.People, keys: p.Box.DeriveEach("sign-in by OpenID Connect"),
		log: p.Logger}
	if p.Config.Issuer == "" {
		return s
	}
	var find lookupFunc
	if p.Resolver != nil && p.Config.OwnResolver {
		find = egress.WithLocalhost(p.Resolver.LookupIP)
	}
	s.provider = newProvider(p.Config, find)
	return s
}

// Name returns the name of the provider, or "" if none is configured.
func (s *Service) Name() string {
	if s == nil || s.provider == nil {
		return ""
	}
	return s.config.Name
}

// AuthRequest is the redirect to the provider, with the cookie to set.
type AuthRequest struct {
	URL    string
	Cookie *http.Cookie
}

// BeginSignIn starts a sign-in with the provider, which ends at the path returnTo. Errors: NotFound if no provider
// is configured; a Refusal.
func (s *Service) BeginSignIn(ctx context.Context, returnTo string) (AuthRequest, error) {
	return s.begin(ctx, newPending(signin.ReturnPath(returnTo), "", time.Now()))
}

// BeginLink starts linking the caller to a subject of the provider. It requires a recently confirmed session,
// because the link can be used to sign in. Errors: those of BeginSignIn; Forbidden.
func (s *Service) BeginLink(ctx context.Context, c accounts.Caller) (AuthRequest, error) {
	if c.Person == nil {
		return AuthRequest{}, fault.Unauthenticated()
	}
	if err := c.RequireConfirmation(); err != nil {
		return AuthRequest{}, err
	}
	return s.begin(ctx, newPending(signin.PathSignIn+"?"+Parameter+"="+string(Linked), c.Person.UserID, time.Now()))
}

func (s *Service) begin(ctx context.Context, p pendingSignIn) (AuthRequest, error) {
	if s.provider == nil {
		return AuthRequest{}, fault.NoSuch("path", "no OpenID Connect provider is configured")
	}
	address, err := s.provider.buildSignInURL(ctx, p.State, deriveCodes(s.keys[0], p.State))
	if err != nil {
		return AuthRequest{}, s.logRefusal(ctx, err)
	}
	cookie, err := s.keys.seal(p)
	if err != nil {
		return AuthRequest{}, fmt.Errorf("begin sign-in by OpenID Connect: %w", err)
	}
	return AuthRequest{address, s.cookie(cookie)}, nil
}

// cookie returns the cookie for a started sign-in. An empty value deletes it.
func (s *Service) cookie(value string) *http.Cookie { return newCookie(s.config.BaseURL, value) }

// ExpiredCookie returns the cookie that deletes a started sign-in.
func (s *Service) ExpiredCookie() *http.Cookie { return s.cookie("") }

// Callback is the callback request of a browser.
type Callback struct {
	State   string
	Code    string
	Problem string // error of RFC 6749 section 4.1.2.1
	Issuer  string // iss of RFC 9207; empty if missing
	Cookies string // the Cookie header
	Caller  accounts.Caller
}

// CallbackResult is the result of a callback.
type CallbackResult struct {
	Entered  *signin.NewSession // nil if the caller linked the provider
	ReturnTo string             // empty if the browser has no valid state
}

// HandleCallback completes a sign-in or a link after the callback. Errors: NotFound if no provider is configured; a
// Refusal; Unavailable. With a Refusal it also returns the ReturnTo for another attempt, if the state was
// valid and the user was signing in.
func (s *Service) HandleCallback(ctx context.Context, r Callback) (CallbackResult, error) {
	if s.provider == nil {
		return CallbackResult{}, fault.NoSuch("path", "no OpenID Connect provider is configured")
	}
	p, c, err := s.keys.open(findCookie(s.config.BaseURL, r.Cookies), r.State, time.Now())
	if err != nil {
		return CallbackResult{}, s.logRefusal(ctx, refuseFor(InvalidState, err))
	}
	out := CallbackResult{ReturnTo: p.ReturnTo}
	again := out
	if p.UserID != "" { // otherwise the page at ReturnTo would report that the provider is linked
		again.ReturnTo = ""
	}
	if r.Problem != "" || r.Code == "" {
		return again, s.logRefusal(ctx, refuseFor(Refused, fmt.Errorf("the provider returned %.60q", r.Problem)))
	}
	who, err := s.provider.exchangeCode(ctx, callbackAnswer{r.Code, r.Issuer}, c)
	if err != nil {
		return again, s.logRefusal(ctx, err)
	}
	if p.UserID != "" {
		if err := s.linkCaller(ctx, p, r.Caller, who); err != nil {
			return again, s.logRefusal(ctx, err)
		}
		return out, nil
	}
	entered, err := s.signIn(ctx, p, who)
	if err != nil {
		return again, s.logRefusal(ctx, err)
	}
	out.Entered = &entered
	return out, nil
}

// logRefusal logs a refusal, of which the user sees only a sentence.
func (s *Service) logRefusal(ctx context.Context, err error) error {
	switch problem := ProblemOf(err); {
	case err == nil || problem == Failed:
	case problem == ProviderUnavailable || problem == Untrusted:
		s.log.WarnContext(loglimit.Collapse(ctx, string(problem)), "OpenID Connect sign-in failed at the provider",
			"problem", problem, "error", err)
	default:
		s.log.InfoContext(loglimit.Collapse(ctx, string(problem)), "OpenID Connect sign-in refused", "problem", problem,
			"error", err)
	}
	return err
}

// spendSQL keeps a state for an hour after it expires, because the clocks of process and database may differ.
const spendSQL = `
INSERT INTO sign_in_challenges (id, kind, data, expires_at) VALUES ($1, 'oidc', 'used', to_timestamp($2) + interval '1 hour') ON CONFLICT (id) DO NOTHING`

// markUsed marks a state as used, in the transaction of its effect. Error: Lost if it was already used.
func markUsed(ctx context.Context, tx *ent.Tx, p pendingSignIn) error {
	name := sha256.Sum256([]byte(p.State))
	n, err := db.Exec(ctx, tx, spendSQL, "oidc_"+hex.EncodeToString(name[:]), p.Until)
	switch {
	case err != nil:
		return err
	case n == 0:
		return refuseFor(InvalidState, errState)
	}
	return nil
}
