package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// unprocessed contains, for each consumer group, a query that counts the facts without the expected result of the
// group. A module that registers a consumer must add a line.
var unprocessed = map[string]string{
	"suppression": `SELECT count(*) FROM facts f WHERE type = 'email.bounced'
		AND NOT EXISTS (SELECT FROM suppressions s WHERE s.account_id = f.account_id AND s.email = f.data->>'recipient')`,
	// subscribe backdates endpoints by an hour, so facts about the first domain checks may lack a delivery.
	"webhooks": `SELECT count(*) FROM facts f JOIN webhooks w ON w.account_id = f.account_id AND w.created_at + interval '1 hour' < f.created_at
		WHERE NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.event_id = f.id)`,
	"automations": `SELECT count(*) FROM facts f JOIN automation_listens l ON l.account_id = f.account_id AND l.event = '$' || f.type
		JOIN automations a ON a.id = l.automation_id AND a.activated_at < f.created_at
		WHERE NOT EXISTS (SELECT FROM custom_events e WHERE e.id = 'ae' || substr(f.id, 4) AND NOT e.pending)`,
	"alerts": `SELECT count(*) FROM facts f JOIN memberships m ON m.account_id = f.account_id AND m.role = 'owner'
		WHERE f.type IN ('webhook.disabled', 'domain.temporary_failure', 'domain.failed', 'domain.lost', 'account.rate_exceeded', 'domain.deliverability_degraded')
		AND NOT EXISTS (SELECT FROM security_alerts s WHERE s.user_id = m.user_id AND s.names->>'event' = f.id)`,
	"tracking": `SELECT count(*) FROM facts f JOIN tracking_hosts h ON h.domain_id = f.subject_id WHERE f.type = 'domain.deleted'`,
}

// awaitProcessed waits until every consumer group has processed all facts, within the promised time, and
// checks that nothing was processed twice.
func awaitProcessed(t *testing.T, server *faults.Server) {
	t.Helper()
	begin := time.Now()
	for group, missing := range unprocessed {
		expect.Eventually(t, group+" has processed every fact",
			func() bool { return server.Query(missing)[0][0] == "0" })
	}
	atMost(t, "all facts processed after", time.Since(begin), foundWithin)
	expect.Eventually(t, "every group has a mark after every fact", func() bool {
		return server.Query(`SELECT count(*) FROM bus_marks WHERE until_id <= (SELECT max(id) FROM facts)`)[0][0] == "0"
	})
	for _, row := range server.Query(`SELECT consumer FROM bus_marks`) {
		if unprocessed[row[0]] == "" {
			t.Errorf("the group %s is registered but missing in unprocessed: add a query for its result", row[0])
		}
	}
	if n := server.Query(`SELECT count(*) FROM bus_poison`)[0][0]; n != "0" {
		t.Errorf("%s facts are set aside", n)
	}
	twice := server.Query(`SELECT (SELECT count(*) FROM webhook_deliveries) - (SELECT count(DISTINCT (webhook_id, event_id)) FROM webhook_deliveries)
		+ (SELECT count(*) FROM facts WHERE type = 'suppression.added') - (SELECT count(*) FROM suppressions)`)[0][0]
	figure(t, "made twice", twice, "0")
	if twice != "0" {
		t.Errorf("%s deliveries or suppressions were created twice", twice)
	}
}

// receiver is a webhook endpoint that counts the deliveries of each event.
type receiver struct {
	mu   sync.Mutex
	told map[string]int
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[req.Header.Get("Service-Event-Id")]++
}

// subscribe creates an endpoint for every event, backdated so that it counts as old.
func subscribe(t *testing.T, server *faults.Server) *receiver {
	t.Helper()
	r := &receiver{told: map[string]int{}}
	listening := httptest.NewServer(r)
	t.Cleanup(listening.Close)
	if a := server.Do(t.Context(), http.MethodPost, "/api/webhooks", `{"url":"`+listening.URL+`"}`); a.Status/100 != 2 {
		t.Fatalf("cannot create an endpoint: %d %s", a.Status, a.Body)
	}
	server.Query(`UPDATE webhooks SET created_at = created_at - interval '1 hour', updated_at = updated_at - interval '1 hour'`)
	return r
}

// checkReceivedOnce waits until the endpoint has received every event, and checks that it received each once.
func (r *receiver) checkReceivedOnce(t *testing.T, server *faults.Server) {
	t.Helper()
	expect.Eventually(t, "every delivery is settled", func() bool {
		return server.Query(`SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'`)[0][0] == "0"
	})
	events := number(t, server.Query(`SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`)[0][0])
	r.mu.Lock()
	defer r.mu.Unlock()
	again := 0
	for _, n := range r.told {
		again += n - 1
	}
	figure(t, "events that the endpoint received, and again", fmt.Sprintf("%d, %d", len(r.told), again), "all, 0")
	if len(r.told) != events || events == 0 || again != 0 {
		t.Errorf("the endpoint received %d events, %d of them repeatedly; %d are recorded as delivered", len(r.told),
			again, events)
	}
}

// keepBusEmpty empties the bus every 10 ms until the returned function is called.
func keepBusEmpty(t *testing.T, database string) (stop func()) {
	t.Helper()
	d := openDatabase(t, database)
	ending, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ending:
				ended <- nil
				return
			case <-tick.C:
				if _, err := d.ExecContext(context.WithoutCancel(t.Context()), `DELETE FROM bus_messages`); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ending)
		if err := <-ended; err != nil {
			t.Errorf("empty the bus: %v", err)
		}
	})
}

// bounce sends to addresses that are rejected permanently, and waits until all of them have been.
func bounce(t *testing.T, server *faults.Server, sink *faults.Sink, ledger *faults.Ledger, from, to int) {
	t.Helper()
	at(4, to-from, func(i int) { ledger.Send(t.Context(), server, goneAddress(from+i)) })
	expect.Eventually(t, "every nonexistent address was rejected", func() bool { return len(sink.Refused()) == to })
}

func goneAddress(i int) string { return fmt.Sprintf("%s%d@example.net", faults.Gone, i) }

// tracked creates domains with a tracking host, and returns their ids.
func tracked(t *testing.T, server *faults.Server, n int) (ids []string) {
	t.Helper()
	for i := range n {
		var made struct{ Domain struct{ ID string } }
		a := server.Do(t.Context(), http.MethodPost, "/api/domains", fmt.Sprintf(`{"name":"d%d.example.org"}`, i))
		if err := json.Unmarshal(a.Body, &made); err != nil || made.Domain.ID == "" {
			t.Fatalf("cannot add a domain: %d %s", a.Status, a.Body)
		}
		server.Query(`INSERT INTO tracking_hosts (account_id, domain_id, host) VALUES ($1, $2, $3)`, server.AccountID,
			made.Domain.ID, fmt.Sprintf("t.d%d.example.org", i))
		ids = append(ids, made.Domain.ID)
	}
	return ids
}

// The bus holds nothing that is not in the tables: emptying it a hundred times a second under load, even across
// a restart, loses no email, no suppression and no webhook.
func TestEmptyingTheBusLosesNothing(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink, database := faults.NewSink(t), dbtest.URL(t)
	server := faults.Start(t, database, outbound(sink.Listen("127.0.0.1:0")))
	endpoint := subscribe(t, server)
	domains := tracked(t, server, 5)
	stop := keepBusEmpty(t, database)
	defer stop()
	load, bounces := faults.Begin(server, 1), faults.NewLedger()
	gone := lengthOf(200, 2000)
	bounce(t, server, sink, bounces, 0, gone/2)
	for _, id := range domains {
		if a := server.Do(t.Context(), http.MethodDelete, "/api/domains/"+id, ""); a.Status/100 != 2 {
			t.Fatalf("cannot delete a domain: %d %s", a.Status, a.Body)
		}
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	server.Launch()
	bounce(t, server, sink, bounces, gone/2, gone)
	before := sink.Count()
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > before })
	load.End()
	stop()
	expect.Eventually(t, "everything has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, server)
	awaitProcessed(t, server)
	endpoint.checkReceivedOnce(t, server)
	audit(t, load.Audit(sink, nil, nil))

	refused := sink.Refused()
	at(4, gone, func(i int) { bounces.Send(t.Context(), server, goneAddress(i)) })
	awaitIdle(t, server)
	for to, n := range sink.Refused() {
		if n != refused[to] {
			t.Errorf("%s was mailed again, %d times, after a permanent rejection", to, n-refused[to])
		}
	}
	figure(t, "suppressed addresses, of which mailed again", fmt.Sprintf("%s, 0", server.Query(`SELECT count(*) FROM suppressions`)[0][0]), "all, 0")
	if n := server.Query(`SELECT count(*) FROM emails WHERE status = 'failed'`)[0][0]; number(t, n) != gone {
		t.Errorf("%s emails to suppressed addresses failed, want %d", n, gone)
	}
}

// A module is disabled while mail is sent. After it is enabled again it processes all missed events, each
// once, even if the process is killed repeatedly in the meantime.
func TestReenabledModuleCatchesUpThroughKills(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink, database := faults.NewSink(t), dbtest.URL(t)
	host := sink.Listen("127.0.0.1:0")
	first := faults.Start(t, database, outbound(host))
	subscribe(t, first)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	emails, kills := lengthOf(500, 20_000), lengthOf(2, 20)
	without := first.Moved(database, outbound(host), "POSTRIDER_MODULES=-webhooks")
	sendBatches(t, without, emails)
	expect.EventuallyWithin(t, 10*time.Minute, "everything has arrived", func() bool { return sink.Count() == emails })
	awaitIdle(t, without)
	if err := without.Stop(); err != nil {
		t.Fatal(err)
	}
	const told = `SELECT count(*) FROM webhook_deliveries`
	if n := first.Query(told)[0][0]; n != "0" {
		t.Fatalf("%s deliveries were created without the module", n)
	}
	first.Launch()
	for kill := range kills {
		expect.Eventually(t, "some have been created",
			func() bool { return number(t, first.Query(told)[0][0]) > 2*emails*kill/(kills+1) })
		first.Kill()
		first.Launch()
	}
	awaitProcessed(t, first)
	figure(t, "events that the module missed, and processed", fmt.Sprintf("%d, %s", 2*emails, first.Query(told)[0][0]),
		"equal")
}
