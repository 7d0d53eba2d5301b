package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/work/bus"
)

// services contains the services that a command needs, on an open store. They run nothing in the background.
type services struct {
	config setting.Values
	store  *store.Store
	log    *slog.Logger
}

// withServices opens the existing store, passes its services to do, and closes the store.
func withServices(ctx context.Context, cfg setting.Values, do func(services) error) error {
	log := telemetry.NewLogger(config.LogFormat.Get(cfg), config.LogLevel.Get(cfg), os.Stderr)
	s, err := store.OpenExisting(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer s.Close(log, store.StopLimit)
	return do(services{config: cfg, store: s, log: log})
}

// withStore is withServices with the settings of the command.
func (t toolSettings) withStore(s *session, do func(services) error) error {
	cfg, err := t.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, do)
}

// withAccounts is withStore for commands that need only accounts.
func (t toolSettings) withAccounts(s *session, do func(*accounts.Service) error) error {
	return t.withStore(s, func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		return do(service)
	})
}

func (of services) accounts() (*accounts.Service, error) {
	return accounts.New(accounts.Params{DB: of.store.DB, Logger: of.log, Cursors: of.store.Cursors()})
}

// withPlans is withStore for commands about plans.
func (t toolSettings) withPlans(s *session, do func(*plans.Service) error) error {
	return t.withStore(s, func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		return do(plans.New(of.store.DB, service))
	})
}

// withBilling is withServices for the operator's billing commands.
func (m moneySettings) withBilling(s *session, do func(services, *desk.Service) error) error {
	cfg, err := m.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		d, err := desk.New(of.store.DB, plans.New(of.store.DB, service), billing.StripeKey.Get(cfg),
			billing.StripeURL.Get(cfg), config.BaseURL.Get(cfg))
		if err != nil {
			return err
		}
		return do(of, d)
	})
}

func (of services) emails() *records.Lists { return records.NewLists(of.store.DB, of.store.Cursors()) }

func (of services) queue() *queue.Service {
	return queue.New(of.store.DB, bus.New(of.store.DB, of.log, bus.Options{}), nil)
}

func (of services) webhooks() (*webhooks.Service, error) {
	return webhooks.New(webhooks.Params{Config: webhooks.Config{AcceptOnly: true}, DB: of.store.DB, Box: of.store.Box,
		Cursors: of.store.Cursors(), Logger: of.log})
}

// withOutbound is withStore for commands about outgoing connections.
func (t toolSettings) withOutbound(s *session, do func(*outbound.Service) error) error {
	return t.withStore(s, func(of services) error {
		service, err := of.outbound()
		if err != nil {
			return err
		}
		return do(service)
	})
}

func (of services) outbound() (*outbound.Service, error) {
	holders, err := of.accounts()
	if err != nil {
		return nil, err
	}
	// no DNS lookups
	resolver, err := dnsx.New(dnsx.Config{Server: config.DNSServer.Get(of.config), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	names, err := domains.New(domains.Params{Config: domains.ConfigOf(of.config), DB: of.store.DB,
		Bus:      bus.New(of.store.DB, of.log, bus.Options{}),
		Accounts: holders, Resolver: resolver, Box: of.store.Box, Cursors: of.store.Cursors(), Logger: of.log})
	if err != nil {
		return nil, err
	}
	return outbound.New(outbound.Params{DB: of.store.DB, Accounts: holders, Domains: names, Box: of.store.Box}), nil
}
