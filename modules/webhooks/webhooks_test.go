package webhooks

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	ada = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	eve = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
)

// world is a test installation with receivers on this machine.
type world struct {
	*Service

	db     *db.DB
	bus    *bus.Bus
	log    *expect.Log
	config Config
}

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{db: dbtest.New(t), log: &expect.Log{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.bus = bus.New(w.db, log, bus.Options{Poll: 20 * time.Millisecond, CatchUp: 100 * time.Millisecond})
	c := Config{Poll: 20 * time.Millisecond,
		Config: post.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, PlainLoopback: true,
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
			}}}
	for _, f := range change {
		f(&c)
	}
	w.config = c
	signals, err := db.NewSignals(w.db, log)
	if err != nil {
		t.Fatal(err)
	}
	if w.Service, err = New(Params{Config: c, DB: w.db, Box: box, Signals: signals, Events: w.bus,
		Cursors: page.NewCodec(make([]byte, 16)), Logger: log,
		Workers: (*worker.Metrics)(nil)}); err != nil {
		t.Fatal(err)
	}
	w.bus.Register(w.newConsumer())
	t.Cleanup(func() { // every failed delivery must be in the partial index of failed deliveries
		var astray int
		if err := w.db.SQL.QueryRowContext(context.Background(),
			`SELECT count(*) FROM webhook_deliveries WHERE (failed IS NOT NULL) <> (state = 'failed')`).Scan(&astray); err != nil || astray > 0 {
			t.Errorf("%d deliveries have a state that contradicts column failed: %v", astray, err)
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), expect.Patience)
		defer cancel()
		for _, stop := range []func(context.Context) error{w.bus.Stop, w.Stop,
			func(context.Context) error { return signals.Close() }} {
			if err := stop(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

// run starts the bus and the deliveries.
func (w *world) run(t testing.TB) *world {
	t.Helper()
	if err := w.bus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) addEndpoint(t testing.TB, accountID, url string, events ...string) (*ent.Webhook, secret.String) {
	t.Helper()
	made, token, err := w.Create(t.Context(), accountID, NewEndpoint{URL: url, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return made, token
}

// publishSample publishes a sample of the type as a fact.
func (w *world) publishSample(t testing.TB, accountID string, typ event.Type) event.Fact {
	t.Helper()
	entry, _ := event.Lookup(typ)
	fact := event.New(accountID, typ, time.Now(), entry.Sample)
	err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error { return w.bus.Publish(t.Context(), tx, fact) })
	if err != nil {
		t.Fatal(err)
	}
	return fact
}

func (w *world) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	if err := w.db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// onlyDelivery returns the single delivery of an endpoint.
func (w *world) onlyDelivery(t testing.TB, webhookID string) *ent.WebhookDelivery {
	t.Helper()
	found, err := w.Deliveries(t.Context(), ada, webhookID, Filter{Request: page.Request{Limit: 2}})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("deliveries: %+v, %v", found, err)
	}
	return found.Items[0]
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	expect.EventuallyWithin(t, 20*time.Second, what, holds)
}

// receivedPost is a received POST.
type receivedPost struct {
	header http.Header
	body   string
	at     time.Time
}

// receiver is a local endpoint with configurable responses.
type receiver struct {
	*httptest.Server

	mu     sync.Mutex
	posts  []receivedPost
	status int
	answer string
	block  chan struct{} // closed to release requests; nil: respond immediately
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK, answer: "thanks"}
	r.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.posts = append(r.posts, receivedPost{header: in.Header.Clone(), body: string(body), at: time.Now()})
		status, answer, block := r.status, r.answer, r.block
		r.mu.Unlock()
		if block != nil {
			select {
			case <-block:
			case <-in.Context().Done():
			}
		}
		out.WriteHeader(status)
		if _, err := io.WriteString(out, answer); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) setAnswer(status int, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.answer = status, body
}

func (r *receiver) received() []receivedPost {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]receivedPost{}, r.posts...)
}

func TestDeliversSignedEventsToSubscribers(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	all, some, other, foreign := newReceiver(t), newReceiver(t), newReceiver(t), newReceiver(t)
	first, token := w.addEndpoint(t, ada, all.URL+"/hook?token=in-the-url")
	w.addEndpoint(t, ada, some.URL, "email.bounced", "email.sent")
	w.addEndpoint(t, ada, other.URL, "email.opened")
	w.addEndpoint(t, eve, foreign.URL)
	off, _ := w.addEndpoint(t, ada, other.URL)
	no := false
	if _, err := w.Update(t.Context(), ada, off.ID, EndpointChange{Enabled: &no}); err != nil {
		t.Fatal(err)
	}
	fact := w.publishSample(t, ada, event.EmailBounced)
	w.publishSample(t, ada, event.EmailRescheduled) // not a public event
	eventually(t, "both deliveries are queued", func() bool { return w.count(t, `SELECT count(*) FROM webhook_deliveries`) == 2 })
	eventually(t, "both endpoints have received it",
		func() bool { return len(all.received()) == 1 && len(some.received()) == 1 })
	eventually(t, "the delivery is settled", func() bool { return w.onlyDelivery(t, first.ID).State == "delivered" })
	got := all.received()[0]
	var sent struct {
		Type string
		Data json.RawMessage
	}
	if err := json.Unmarshal([]byte(got.body), &sent); err != nil || sent.Type != "email.bounced" ||
		!sameJSON(t, sent.Data, fact.Data) {
		t.Errorf("the endpoint received %s, %v; want email.bounced with the data of the fact", got.body, err)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "User-Agent": "Postrider-Webhooks/1",
		"Service-Event-Id":         fact.ID,
		"Service-Delivery-Attempt": "1", "Service-Signature": computeSignature(t, got, token)} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
		}
	}
	d := w.onlyDelivery(t, first.ID)
	made, err := w.Attempts(t.Context(), ada, d.ID)
	attempts := made[d.ID]
	if err != nil || len(attempts) != 1 || attempts[0].Response != "thanks" || *attempts[0].StatusCode != 200 ||
		*attempts[0].Outcome != "delivered" || attempts[0].RemoteAddr == "" ||
		!strings.HasPrefix(attempts[0].ResponseHeaders, "Content-Type: text/plain; charset=utf-8\n") {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	body, err := w.Body(t.Context(), d)
	if err != nil || string(body) != got.body {
		t.Errorf("Body = %s, sent %s, %v", body, got.body, err)
	}
	if len(other.received())+len(foreign.received()) != 0 {
		t.Error("an endpoint received an event that it did not subscribe to")
	}
	for _, hidden := range []string{token.Reveal(), "in-the-url"} {
		if strings.Contains(w.log.String(), hidden) {
			t.Errorf("the log contains %s", hidden)
		}
	}
	if n := w.count(t, `SELECT count(*) FROM webhooks WHERE strpos(encode(secret, 'escape'), 'whsec_') > 0`); n != 0 {
		t.Error("a secret is stored in the clear")
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// A fact that the bus delivers twice creates only one delivery.
func TestRepeatedFactCreatesOneDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	fact := w.publishSample(t, ada, event.EmailSent)
	for range 2 {
		if err := w.db.InHotTx(t.Context(),
			func(tx *sql.Tx) error { return w.handleFact(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
	}
	if d := w.onlyDelivery(t, made.ID); d.EventID != fact.ID || !id.Is(id.WebhookDelivery, d.ID) {
		t.Errorf("a fact handled twice has delivery %+v, want one for fact %s", d, fact.ID)
	}
}

// Failed attempts are retried on schedule (the test moves due times instead of waiting). The fifth failure is
// final, and a replay starts over with five attempts.
func TestRetriesFailuresOnSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	r.setAnswer(http.StatusInternalServerError, "broken")
	made, _ := w.addEndpoint(t, ada, r.URL)
	fact := w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the event is queued", func() bool { return w.count(t, `SELECT count(*) FROM webhook_deliveries`) == 1 })
	for attempt, wait := range []float64{5, 30, 120, 120} {
		var due float64
		eventually(t, "the attempt is settled", func() bool {
			return w.db.SQL.QueryRowContext(t.Context(), `SELECT extract(epoch FROM d.due_at - a.finished_at) FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
				WHERE d.webhook_id = $1 AND a.number = $2 AND a.outcome = 'failed'`, made.ID, attempt+1).Scan(&due) == nil
		})
		if due < wait-1 || due > wait+1 {
			t.Errorf("after attempt %d the pause is %v s, want %v", attempt+1, due, wait)
		}
		w.exec(t, `UPDATE webhook_works SET due_at = now() WHERE webhook_id = $1`, made.ID)
	}
	eventually(t, "the delivery has failed", func() bool { return w.onlyDelivery(t, made.ID).State == "failed" })
	d := w.onlyDelivery(t, made.ID)
	if posts := r.received(); len(posts) != 5 || d.DueAt != nil || d.Attempts != 5 || *d.StatusCode != 500 {
		t.Fatalf("%d POSTs and delivery %+v, want 5 attempts and status 500", len(posts), d)
	}
	r.setAnswer(http.StatusNoContent, "")
	if _, err := w.Replay(t.Context(), ada, d.ID, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replay is delivered", func() bool { return w.onlyDelivery(t, made.ID).State == "delivered" })
	for i, p := range r.received() {
		if p.header.Get("Service-Event-Id") != fact.ID {
			t.Errorf("POST %d has event id %s", i, p.header.Get("Service-Event-Id"))
		}
	}
	if last := r.received()[5]; last.header.Get("Service-Delivery-Attempt") != "6" {
		t.Errorf("the replay is attempt %s, want 6", last.header.Get("Service-Delivery-Attempt"))
	}
}
