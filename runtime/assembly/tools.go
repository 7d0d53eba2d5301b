package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/config"
)

// Migrate brings the database to this version and ends.
func Migrate(ctx context.Context, cfg config.Config) error {
	return tool(ctx, cfg, func(context.Context, *store, *slog.Logger) error { return nil }) // opening migrates
}

// OpenAPI is the description of the API as the given modules would serve it:
// json (3.1), yaml (3.1) or json-3.0.
func OpenAPI(cfg config.Config, format string) ([]byte, error) {
	modules, err := selectModules(cfg)
	if err != nil {
		return nil, err
	}
	var routes []rest.Routes
	for _, m := range modules {
		routes = append(routes, m.Operations...)
	}
	document, err := rest.DocumentOf("", cfg.HTTP.BaseURL, routes...)
	if err != nil {
		return nil, err
	}
	switch format {
	case "json":
		return document.JSON, nil
	case "json-3.0":
		return document.JSON30, nil
	case "yaml":
		return document.YAML, nil
	default:
		return nil, fmt.Errorf("--format: %q is not json, json-3.0 or yaml", format)
	}
}

// AccountInput is what `postrider account create` takes.
type AccountInput struct {
	Name, Email, Plan             string
	ProductionUnlocked, Unmetered bool
}

// CreateAccount makes an account with its owner and gives its id.
func CreateAccount(ctx context.Context, cfg config.Config, in AccountInput) (string, error) {
	var id string
	err := withAccounts(ctx, cfg, func(s *accounts.Service) error {
		made, err := s.CreateAccount(ctx, accounts.NewAccount{Name: in.Name, Email: in.Email, Plan: in.Plan,
			ProductionUnlocked: in.ProductionUnlocked, Unmetered: in.Unmetered})
		if err == nil {
			id = made.ID
		}
		return err
	})
	return id, err
}

// KeyInput is what `postrider key create` takes.
type KeyInput struct {
	AccountID, Name, Scope string
	DomainIDs              []string
	ExpiresAt              *time.Time
}

// CreateKey makes an API key and gives its id and its secret, which is shown once.
func CreateKey(ctx context.Context, cfg config.Config, in KeyInput) (id, token string, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		made, secret, err := s.CreateKey(ctx, accounts.NewKey{AccountID: in.AccountID, Name: in.Name, Scope: accounts.Scope(in.Scope),
			DomainIDs: in.DomainIDs, ExpiresAt: in.ExpiresAt})
		if err == nil {
			id, token = made.ID, secret.Reveal()
		}
		return err
	})
	return id, token, err
}

// RevokeKey ends an API key and gives since when.
func RevokeKey(ctx context.Context, cfg config.Config, accountID, keyID string) (at time.Time, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		revoked, err := s.RevokeKey(ctx, accountID, keyID)
		if err == nil {
			at = *revoked.RevokedAt
		}
		return err
	})
	return at, err
}

func withAccounts(ctx context.Context, cfg config.Config, do func(*accounts.Service) error) error {
	return tool(ctx, cfg, func(_ context.Context, s *store, log *slog.Logger) error {
		service, err := accounts.New(accounts.Params{DB: s.db, Logger: log, Cursors: newPages(s.box)})
		if err != nil {
			return err
		}
		return do(service)
	})
}
