package store_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// If one of two hosts is unreachable when a service starts for the first time, the service creates no tables,
// and continues automatically once the host is available.
func TestEmptyDatabaseWaitsForAllHosts(t *testing.T) {
	t.Parallel()
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("one")
	primary.Empty()
	standby.Stop()
	var told expect.Log
	type result struct {
		opened *store.Store
		err    error
	}
	done := make(chan result, 1)
	go func() {
		opened, err := store.Open(t.Context(), configured(t, hosts(t, primary, standby)),
			slog.New(slog.NewTextHandler(&told, nil)))
		done <- result{opened, err}
	}()
	expect.EventuallyWithin(t, 30*time.Second, "the start logs that a host cannot be queried",
		func() bool { return strings.Contains(told.String(), "another host may have the mail") })
	if made, err := primary.OpenPatiently().HasTables(t.Context()); made || err != nil {
		t.Errorf("tables were created while a host was down: %t (%v)", made, err)
	}
	standby.Start()
	r := <-done
	if r.err != nil {
		t.Fatalf("with both hosts up, Open returned %v", r.err)
	}
	r.opened.Close(slog.New(slog.DiscardHandler), store.StopLimit)
	if made, err := primary.OpenPatiently().HasTables(t.Context()); !made || err != nil {
		t.Errorf("with both hosts up, tables were created: %t (%v)", made, err)
	}
}

// An unrelated server is empty and accepts writes. The host with the mail responds as well.
func TestUnrelatedServerIsNotUsed(t *testing.T) {
	t.Parallel()
	ours, stranger := dbtest.NewServer(t), dbtest.NewServer(t)
	stranger.Empty()
	stranger.BecomeForeign()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	opened, err := store.Open(ctx, configured(t, hosts(t, stranger, ours)), slog.New(slog.DiscardHandler))
	if err == nil {
		opened.Close(slog.New(slog.DiscardHandler), store.StopLimit)
	}
	if err == nil || !strings.Contains(err.Error(), "DATABASE_URL") ||
		!strings.Contains(err.Error(), "different clusters") {
		t.Errorf("starting with an empty unrelated server first returned %v, want an error with DATABASE_URL and "+
			"the clusters", err)
	}
	if made, err := stranger.OpenPatiently().HasTables(t.Context()); made || err != nil {
		t.Errorf("the unrelated server has tables: %t (%v)", made, err)
	}
}

// hosts returns the address of two servers, of which a process uses the first that accepts writes.
func hosts(t *testing.T, first, second *dbtest.Server) string {
	t.Helper()
	address, err := url.Parse(first.URL())
	other, otherErr := url.Parse(second.URL())
	if err != nil || otherErr != nil {
		t.Fatal(err, otherErr)
	}
	query := address.Query()
	query.Set("host", query.Get("host")+","+other.Query().Get("host"))
	query.Set("port", "5432,5432")
	query.Set("target_session_attrs", "read-write")
	address.RawQuery = query.Encode()
	return address.String()
}

func configured(t *testing.T, address string) setting.Values {
	t.Helper()
	cfg := setting.Values{Mode: setting.Dev}
	cfg = config.DatabaseURL.Override(cfg, secret.New(address))
	return config.DataDir.Override(cfg, t.TempDir())
}
