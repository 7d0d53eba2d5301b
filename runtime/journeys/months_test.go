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

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/db/months"
	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/runtimetest"
	"github.com/postrider/postrider/runtime/setting"
)

// While mail is accepted, delivered, received and told to endpoints, its tables are split. No request fails,
// and every message arrives once.
func TestMailGoesOnWhileItsTablesAreSplit(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	d, err := db.Open(t.Context(), db.Config{URL: url}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	quiet := func(string) {}
	for _, table := range months.Tables() { // where all tests run on split ones
		if err := months.Undo(t.Context(), d, table, slog.New(slog.DiscardHandler), quiet); err != nil {
			t.Fatal(err)
		}
	}
	app := runtimetest.Start(t, func(s setting.Texts) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	var told atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told.Add(1) }))
	t.Cleanup(endpoint.Close)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": endpoint.URL, "events": []string{"email.delivered"}})
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
				body := fmt.Sprintf(`{"from":"ada@dev.test","to":["bob%d@example.net"],"subject":"%d","text":"Hi"}`, caller, n)
				if a := app.Do(t, http.MethodPost, "/api/emails", body); a.Status != http.StatusOK {
					t.Errorf("a send was answered %d %s", a.Status, a.Body)
					return
				}
				sent.Add(1)
			}
		})
	}
	for _, table := range months.Tables() {
		before := sent.Load()
		expect.Within(t, time.Minute, "mail is accepted", func() bool { return sent.Load() > before+5 || t.Failed() })
		if err := months.Move(t.Context(), d, table, slog.New(slog.DiscardHandler), quiet); err != nil {
			t.Error(err)
		}
	}
	receive(t, app, "support@dev.test", aQuestion)
	if _, err := months.Keep(t.Context(), d, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
	close(stop)
	group.Wait()
	expect.Within(t, 2*time.Minute, "everything has arrived and is told", func() bool {
		return int64(app.MX.Stats().Accepted) >= sent.Load() && told.Load() >= sent.Load()
	})
	if arrived := int64(app.MX.Stats().Accepted); arrived != sent.Load() || told.Load() != sent.Load() {
		t.Errorf("%d sent, %d arrived, %d told", sent.Load(), arrived, told.Load())
	}
	stored, err := db.One(t.Context(), d.SQL, db.Value[int64], `SELECT count(*) FROM emails WHERE status = 'delivered'`)
	t.Logf("%d emails", stored)
	if err != nil || stored != sent.Load() {
		t.Errorf("%d emails are delivered, %d were sent: %v", stored, sent.Load(), err)
	}
}
