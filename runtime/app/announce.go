package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
)

// announceReady creates the installation's own domain, which exists in every mode, and reports that the
// service is ready. Development mode prints more.
func announceReady(ctx context.Context, cfg setting.Values, o Options, opened *store.Store, seeds development.Seeder,
	log *slog.Logger) error {
	if seeds.Domains != nil {
		if _, err := seeds.Domains.EnsureSandbox(ctx); err != nil {
			return fmt.Errorf("sandbox domain: %w", err)
		}
	}
	if cfg.Mode != setting.Dev {
		log.InfoContext(ctx, "ready", "base_url", config.BaseURL.Get(cfg))
		return printSetupLink(ctx, o, seeds)
	}
	return seeds.Announce(ctx, cfg, opened, development.Readers{File: o.ReadyFile, Called: o.OnReady, Out: o.Out})
}

// printSetupLink prints the setup link while no account can sign in. The link is for the operator only, so
// it is not logged.
func printSetupLink(ctx context.Context, o Options, seeds development.Seeder) error {
	if seeds.SignIn == nil || o.Out == nil {
		return nil
	}
	link, err := seeds.SignIn.SetUpLink(ctx)
	if err != nil || link == "" {
		return err
	}
	_, err = fmt.Fprintf(o.Out,
		"\n  No one can sign in yet. Open this link to become the operator (it works once, for 24 hours):\n\n    %s\n\n", link)
	return err
}
