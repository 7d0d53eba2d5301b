package harness

import (
	"log/slog"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Operator has the services that commands open next to a running Postrider, over the same database. They see
// and change the same data as the app.
type Operator struct {
	Accounts *accounts.Service
	Outbound *outbound.Service
}

// Operate calls do with the services that a command would open. masterKey may be empty if nothing is encrypted.
func (a *App) Operate(t testing.TB, masterKey string, do func(Operator)) {
	t.Helper()
	cfg, err := config.Load(setting.Tool, "",
		setting.RawValues{"POSTRIDER_MASTER_KEY": masterKey, "DATABASE_URL": a.DatabaseURL,
			"POSTRIDER_DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	opened, err := store.Open(t.Context(), cfg, log)
	for tries := 1; err != nil && tries < 3; tries++ { // as at the start of an app
		opened, err = store.Open(t.Context(), cfg, log)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close(log, store.StopLimit)
	resolver, err := dnsx.New(dnsx.Config{Server: config.DNSServer.Get(cfg), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	var o Operator
	if o.Accounts, err = accounts.New(accounts.Params{DB: opened.DB, Logger: log,
		Cursors: opened.Cursors()}); err != nil {
		t.Fatal(err)
	}
	names, err := domains.New(domains.Params{Config: domains.ConfigOf(cfg), DB: opened.DB,
		Bus: bus.New(opened.DB, log, bus.Options{}), Accounts: o.Accounts,
		Resolver: resolver, Box: opened.Box, Cursors: opened.Cursors(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	o.Outbound = outbound.New(outbound.Params{DB: opened.DB, Accounts: o.Accounts, Domains: names, Box: opened.Box})
	do(o)
}

// Change changes the account of the app, like the operator's command.
func (a *App) Change(t testing.TB, c accounts.AccountChange) {
	t.Helper()
	a.Operate(t, "", func(o Operator) {
		if _, err := o.Accounts.UpdateAccount(t.Context(), a.AccountID, c); err != nil {
			t.Fatal(err)
		}
	})
}
