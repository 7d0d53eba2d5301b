package eventlog_test

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// These accounts have open streams and no other consumers, and streams do not poll. Each stream is woken by
// the events of its account, even if other streams were already open.
func TestStreamsAreWokenByTheirEvents(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	publisher := bus.New(d, slog.New(slog.DiscardHandler), bus.Options{})
	s := eventlog.New(eventlog.Params{Config: eventlog.Config{Poll: time.Hour}, Log: publisher.Log(),
		Logger: slog.New(slog.DiscardHandler)})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	publish := func(account string) string {
		t.Helper()
		email := id.New(id.Email)
		fact := event.New(account, event.EmailSent, time.Now(), event.Email{EmailID: email})
		if err := d.InHotTx(t.Context(),
			func(tx *sql.Tx) error { return publisher.Publish(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
		return email
	}
	shown := func(on *eventlog.Stream, want string) {
		t.Helper()
		found, err := on.Next(t.Context(), expect.Patience)
		if err != nil || len(found.Items) != 1 || found.Items[0].SubjectID != want {
			t.Errorf("the stream returned %v, %v, want the event of %s", found.Items, err, want)
		}
	}
	open := map[string]*eventlog.Stream{}
	for _, account := range []string{"acc_1", "acc_2", "acc_3"} {
		stream, err := s.Open(t.Context(), account, eventlog.EventQuery{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stream.Close)
		if quiet, err := stream.Next(t.Context(), time.Millisecond); err != nil || len(quiet.Items) != 0 {
			t.Fatalf("before the first event, the stream returned %v, %v", quiet.Items, err)
		}
		open[account] = stream
		for range 2 {
			shown(stream, publish(account))
		}
	}
	for account, stream := range open {
		shown(stream, publish(account))
	}
	open["acc_1"].Close()
	for _, account := range []string{"acc_2", "acc_3"} {
		shown(open[account], publish(account))
	}
	for _, account := range []string{"acc_2", "acc_3"} {
		open[account].Close()
	}
	again, err := s.Open(t.Context(), "acc_1", eventlog.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	shown(again, publish("acc_1"))
}
