package eventexport

import (
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

const (
	streamName = "facts"
	patience   = 20 * time.Second
)

// world is a database with facts, and a broker.
type world struct {
	t      *testing.T
	db     *db.DB
	bus    *bus.Bus
	server *jetstreamtest.Server
	config Config
	log    *expect.Log
	facts  []event.Fact // published facts, in the order of their ids
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldAt(t, jetstreamtest.Start(t, nil))
}

func newWorldAt(t *testing.T, server *jetstreamtest.Server) *world {
	t.Helper()
	w := &world{t: t, db: dbtest.New(t), server: server, log: &expect.Log{}}
	w.bus = bus.New(w.db, slog.New(slog.DiscardHandler), bus.Options{})
	w.config = Config{Poll: 20 * time.Millisecond, Page: 50,
		Retry: worker.Backoff{Min: 50 * time.Millisecond, Max: 200 * time.Millisecond},
		Stream: jetstream.Config{Target: targetAt(t, w.server.URL()), Stream: streamName, Prefix: "postrider.facts",
			Replicas: 1, MaxAge: time.Hour, Name: "test"}}
	return w
}

func targetAt(t *testing.T, url string) jetstream.Target {
	t.Helper()
	parsed, err := jetstream.ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// numbered is a process with an id, as stored in claims.
type numbered struct {
	node.None
	id int32
}

func (n numbered) ID() int32 { return n.id }

// service returns another process.
func (w *world) service(n Node) *Service {
	w.t.Helper()
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the state of the export is %+v\n%s", w.standing(), w.log)
		}
	})
	log := slog.New(slog.NewTextHandler(w.log, nil))
	config := w.config
	config.Stream.Logger = log
	s, err := New(Params{Config: config, DB: w.db, Facts: w.bus.Log(), Node: n, Logger: log})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.disconnect)
	return s
}

// start starts a process that runs until the test ends.
func (w *world) start(n Node) *Service {
	w.t.Helper()
	s := w.service(n)
	if err := s.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			w.t.Error(err)
		}
	})
	return s
}

// happen publishes facts of alternating accounts, each in its own transaction.
func (w *world) happen(n int, accounts ...string) {
	w.t.Helper()
	for i := range n {
		typ := []event.Type{event.EmailSent, event.EmailDelivered}[i%2]
		w.tell(event.New(accounts[i%len(accounts)], typ, time.Now(), sampleOf(typ)))
	}
}

func sampleOf(typ event.Type) event.Payload {
	entry, _ := event.Lookup(typ)
	return entry.Sample
}

func (w *world) tell(f event.Fact) {
	w.t.Helper()
	if err := w.db.InHotTx(w.t.Context(),
		func(tx *sql.Tx) error { return w.bus.Publish(w.t.Context(), tx, f) }); err != nil {
		w.t.Fatal(err)
	}
	// Stored under another id if the machine was paused in between.
	stored, err := db.One(w.t.Context(), w.db.SQL, db.Value[string], `SELECT id FROM facts WHERE substr(id, 15) = substr($1, 15)`, f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	f.ID = stored
	w.facts = append(w.facts, f)
}

// begun creates the cursor before the first facts.
func (w *world) begun() {
	w.t.Helper()
	if err := w.service(nil).create(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) standing() ExportState {
	w.t.Helper()
	is, err := ReadState(context.WithoutCancel(w.t.Context()), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	return is
}

// caughtUp waits until the stream has all facts.
func (w *world) caughtUp() {
	w.t.Helper()
	last := w.facts[len(w.facts)-1].ID
	expect.EventuallyWithin(w.t, patience, "the position is after the last fact", func() bool {
		is := w.standing()
		return is.Position >= last && is.Waiting == 0
	})
}

// once checks that the stream has every public fact once, and those of each account in order.
func (w *world) once() []jetstreamtest.Message {
	w.t.Helper()
	messages := jetstreamtest.Messages(w.t, w.server.JetStream(), streamName)
	byAccount, want := map[string][]string{}, map[string][]string{}
	for _, m := range messages {
		byAccount[m.Account] = append(byAccount[m.Account], m.ID)
	}
	for _, f := range w.facts {
		if entry, _ := event.Lookup(f.Type); entry.IsPublic() {
			want[f.AccountID] = append(want[f.AccountID], f.ID)
		}
	}
	for account, ids := range want {
		slices.Sort(ids)
		if !slices.Equal(byAccount[account], ids) {
			w.t.Errorf("for the account %s, the stream has %d messages\n%s\nwant %d\n%s", account,
				len(byAccount[account]),
				strings.Join(byAccount[account], " "), len(ids), strings.Join(ids, " "))
		}
	}
	if len(byAccount) != len(want) {
		w.t.Errorf("the stream has messages of %d accounts, want %d", len(byAccount), len(want))
	}
	return messages
}
