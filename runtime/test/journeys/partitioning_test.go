package journeys_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Tables are partitioned while mail is accepted, delivered, received and reported to endpoints. No request
// fails, and every message arrives once.
func TestMailContinuesWhileTablesArePartitioned(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	url := dbtest.URL(t)
	d, err := db.Open(t.Context(), db.Config{URL: url}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	quiet := func(string) {}
	for _, table := range months.Tables() { // if all tests run on partitioned tables
		if err := months.Undo(t.Context(), d, table, slog.New(slog.DiscardHandler), quiet); err != nil {
			t.Fatal(err)
		}
	}
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	var told atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told.Add(1) }))
	t.Cleanup(endpoint.Close)
	app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": endpoint.URL, "events": []string{"email.delivered"}})
	var sent atomic.Int64
	stop := make(chan struct{})
	var group sync.WaitGroup
	for caller := range 3 {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				body := fmt.Sprintf(`{"from":"ada@dev.test","to":["bob%d@example.net"],"subject":"%d","text":"Hi"}`,
					caller, n)
				if a := app.Do(t, http.MethodPost, "/api/emails", body); a.Status != http.StatusOK {
					t.Errorf("a send returned %d %s", a.Status, a.Body)
					return
				}
				sent.Add(1)
			}
		})
	}
	for _, table := range months.Tables() {
		before := sent.Load()
		expect.Eventually(t, "mail is accepted", func() bool { return sent.Load() > before+5 || t.Failed() })
		if err := months.Move(t.Context(), d, table, slog.New(slog.DiscardHandler), quiet); err != nil {
			t.Error(err)
		}
	}
	receive(t, app, "support@dev.test", questionMessage)
	if _, err := months.Maintain(t.Context(), d, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
	close(stop)
	group.Wait()
	expect.Eventually(t, "everything has arrived and is reported", func() bool {
		return int64(app.MX.Stats().Accepted) >= sent.Load() && told.Load() >= sent.Load()
	})
	if arrived := int64(app.MX.Stats().Accepted); arrived != sent.Load() || told.Load() != sent.Load() {
		t.Errorf("%d sent, %d arrived, %d reported", sent.Load(), arrived, told.Load())
	}
	stored, err := db.One(t.Context(), d.SQL, db.Value[int64], `SELECT count(*) FROM emails WHERE status = 'delivered'`)
	t.Logf("%d emails", stored)
	if err != nil || stored != sent.Load() {
		t.Errorf("%d emails are delivered, %d were sent: %v", stored, sent.Load(), err)
	}
}

// At its start, a process drops monthly partitions of expired deliveries with their rows. Other deliveries
// remain, and new ones have a partition.
func TestOldDeliveriesAreDroppedWithTheirMonth(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	d, err := db.Open(t.Context(), db.Config{URL: url}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	tables, err := months.FindTables("webhook_deliveries")
	if err == nil {
		err = months.Move(t.Context(), d, tables[0], slog.New(slog.DiscardHandler), func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	state, err := months.ReadTableState(t.Context(), d.SQL, tables[0])
	if err != nil {
		t.Fatal(err)
	}
	// As if it had been partitioned long ago: months from four ago on, up to the end of the first partition.
	first := state.Months[0]
	begin := func(ago int) string {
		return id.Since(id.WebhookDelivery, months.Begin(time.Now()).AddDate(0, -ago, 0))
	}
	dbtest.Exec(t, d, `ALTER TABLE webhook_deliveries DETACH PARTITION `+first.Name)
	dbtest.Exec(t, d, fmt.Sprintf(`ALTER TABLE webhook_deliveries ATTACH PARTITION %s FOR VALUES FROM (MINVALUE) TO ('%s')`, first.Name, begin(4)))
	for ago := 4; ago >= 0; ago-- {
		below := begin(ago - 1)
		if ago == 0 {
			below = first.Below
		}
		dbtest.Exec(t, d,
			fmt.Sprintf(`CREATE TABLE webhook_deliveries_%d PARTITION OF webhook_deliveries FOR VALUES FROM ('%s') TO ('%s')`, ago, begin(ago), below))
	}
	const deliverySQL = `INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at)
		VALUES ($1, 'acc_1', 'wh_1', $1, 'email.sent', now(), 'delivered', 1, 0, '', now())`
	young := id.Since(id.WebhookDelivery, time.Now().AddDate(0, 0, -20))
	for _, of := range []string{begin(4), begin(3), young} {
		dbtest.Exec(t, d, deliverySQL, of)
	}
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	left, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT id FROM webhook_deliveries WHERE account_id = 'acc_1'`)
	if err != nil || len(left) != 1 || left[0] != young {
		t.Errorf("after the start the deliveries %v are left, %v; want only the recent one, %s", left, err, young)
	}
	gone, err := db.One(t.Context(), d.SQL, db.Value[bool],
		`SELECT to_regclass('webhook_deliveries_4') IS NULL AND to_regclass('webhook_deliveries_3') IS NULL AND to_regclass('webhook_deliveries_1') IS NOT NULL`)
	if err != nil || !gone {
		t.Errorf("want exactly the partitions of months from three ago on dropped: %v", err)
	}
	app.MailDomain(t, "example.net")
	told := make(chan struct{}, 10)
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told <- struct{}{} }))
	t.Cleanup(endpoint.Close)
	app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": endpoint.URL, "events": []string{"email.delivered"}})
	send(t, app, `{"from":"ada@dev.test","to":["bob@example.net"],"subject":"x","text":"Hi"}`)
	select {
	case <-told:
	case <-time.After(expect.Patience):
		t.Error("the endpoint did not receive the event of a later email")
	}
}
