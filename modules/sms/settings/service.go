package settings

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Config controls which providers are allowed.
type Config struct {
	Operator Operator // the provider for accounts that have none of their own

	// Networks, in addition to public addresses, that providers of accounts may be in.
	Allow         []netip.Prefix
	PlainLoopback bool // development: also allow http:// to this machine
	Lookup        func(ctx context.Context, host string) ([]netip.Addr, error)
}

// ConfigOf returns the configuration from the settings.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{Operator: OperatorProvider.Get(cfg), Allow: egress.Allow.Get(cfg),
		PlainLoopback: cfg.Mode == setting.Dev, Lookup: resolver.LookupIP}
}

// Params are the dependencies of New.
type Params struct {
	fx.In

	Config  Config
	DB      *db.DB
	Box     *secret.Box
	Links   link.Links
	Catcher provider.Catcher `optional:"true"` // nil without a development inbox
}

// Service stores the settings of accounts. It is safe for concurrent use.
type Service struct {
	db    *db.DB
	box   *secret.Box
	links link.Links
	ways  providerAccess
}

// providerAccess holds the connections to providers.
type providerAccess struct {
	operator provider.Provider // nil if there is none
	settings Operator
	client   *http.Client // for accounts' own providers; it checks every target address
	targets  *egress.TargetChecker
}

// New returns a new Service. It fails if the operator's provider cannot be used.
func New(p Params) (*Service, error) {
	operator, err := p.Config.Operator.newProvider(p.Catcher)
	if err != nil {
		return nil, err
	}
	guard := egress.NewGuard(p.Config.Allow)
	return &Service{db: p.DB, box: p.Box, links: p.Links,
		ways: providerAccess{operator: operator, settings: p.Config.Operator,
			targets: egress.NewTargetChecker(guard, p.Config.Lookup, p.Config.PlainLoopback),
			client: egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: p.Config.PlainLoopback,
				Timeout: provider.Timeout,
				Lookup:  egress.WithLocalhost(p.Config.Lookup)})}}, nil
}

// Close closes idle connections to providers.
func (s *Service) Close() { s.ways.client.CloseIdleConnections() }

// Operator returns the provider for accounts that have none of their own.
func (s *Service) Operator() Operator { return s.ways.settings }

// HasOwnProviders reports whether any account has its own provider.
func (s *Service) HasOwnProviders(ctx context.Context) (bool, error) {
	own, err := db.One(ctx, s.db.SQL, db.Value[bool], `SELECT EXISTS (SELECT FROM sms_settings WHERE provider IN ('twilio', 'http'))`)
	if err != nil {
		return false, fmt.Errorf("look up accounts' own SMS providers: %w", err)
	}
	return own, nil
}

// Token returns the token that Twilio signs with: that of an account's own provider, or the operator's. It is
// empty if there is none. It returns ErrSealed if the secrets cannot be decrypted.
func (s *Service) Token(ctx context.Context, accountID string, own bool) (secret.String, error) {
	if !own {
		return s.ways.settings.Secret, nil
	}
	row, err := s.Row(ctx, s.db.SQL, accountID)
	if err != nil {
		return secret.String{}, err
	}
	held, err := s.open(accountID, row)
	if err != nil {
		return secret.String{}, fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return secret.New(held.AuthToken), nil
}

// ErrSealed is returned if the secrets of an account's own provider cannot be decrypted.
var ErrSealed = errors.New("the secrets of an SMS provider are sealed with another key")
