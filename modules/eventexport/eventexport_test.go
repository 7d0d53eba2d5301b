package eventexport

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// With two processes, three accounts and an internal fact, the stream has each public fact once, in the order
// of its account, under its subject and encoded like in the event log.
func TestStreamHasEveryFactOnceInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(numbered{id: 1})
	w.start(numbered{id: 2})
	w.happen(150, "acc_a", "acc_b", "acc_c")
	w.tell(event.New("acc_a", event.EmailRescheduled, time.Now(), sampleOf(event.EmailRescheduled)))
	w.happen(30, "acc_b")
	w.caughtUp()
	messages := w.once()
	first := w.facts[0]
	body, err := event.Encode(first.AccountID, first.ID, first.Type, first.CreatedAt, first.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		// jsonb does not keep the order of members
		if m.ID == first.ID && (m.Subject != "postrider.facts.acc_a.email.sent" || len(m.Data) != len(body)) {
			t.Errorf("the first fact is at %s as\n%s, want it at postrider.facts.acc_a.email.sent as\n%s", m.Subject,
				m.Data, body)
		}
	}
	if is := w.standing(); is.Behind != 0 || is.Failures != 0 || is.Error != "" || is.Again {
		t.Errorf("after catching up, the export is at %+v", is)
	}
}

// While the server is down, the position stays and the error is reported. Once the server is back, no fact is
// missing or duplicated.
func TestExportCatchesUpAfterOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(nil)
	w.happen(60, "acc_a", "acc_b")
	w.caughtUp()
	w.server.Stop()
	w.happen(60, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the export reports its failure", func() bool {
		is := w.standing()
		return is.Failures > 1 && is.Error != "" && is.FailedAt != nil && is.Waiting == 60 && is.Behind > 0
	})
	if off, err := (&Service{}).condition(t.Context()); err != nil || !off.Off {
		t.Errorf("without an export, the condition is %+v, %v; want off", off, err)
	}
	condition, err := s.condition(t.Context())
	if err != nil || len(condition.Details) != 1 || condition.Degraded {
		t.Errorf("after a delay of seconds, the condition is %+v, %v; want the reason, and not degraded yet",
			condition, err)
	}
	w.server.Restart()
	w.caughtUp()
	w.once()
	if is := w.standing(); is.Failures != 0 || is.FailedAt == nil {
		t.Errorf("after the outage, the export is at %+v, want no failures in a row and the time of the last one", is)
	}
	for _, line := range []string{"publishing failed", "recovered"} {
		if n := strings.Count(w.log.String(), line); n != 1 {
			t.Errorf("the log contains %[2]q %[1]d times, want once:\n%[3]s", n, line, w.log.String())
		}
	}
}

// A process that dies in the middle of a page leaves part of it in the stream. Another process continues in
// the order of each account and without duplicates, although the stream has already forgotten the message
// ids.
func TestAnotherProcessCompletesInterruptedPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Stream.Duplicates = 100 * time.Millisecond
	w.begun()
	w.happen(40, "acc_a", "acc_b", "acc_c")
	dead, other := w.service(numbered{id: 1}), w.service(numbered{id: 2})
	var claimed []cursor
	expect.EventuallyWithin(t, patience, "all facts are before the horizon and the page is claimed", func() bool {
		horizon, err := w.bus.Log().Horizon(t.Context())
		if err != nil || horizon.Before(w.facts[39].CreatedAt.Add(time.Second)) {
			return false
		}
		claimed, err = dead.claim(t.Context(), 1, lease)
		return err == nil && len(claimed) == 1
	})
	stream, err := dead.connectedStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range w.facts { // all facts of one account, and half of those of another
		if f.AccountID == "acc_a" || f.AccountID == "acc_b" && f.ID < w.facts[20].ID {
			if _, err := stream.Publish(t.Context(), []event.Fact{f}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again, err := other.claim(t.Context(), 1, lease); err != nil || len(again) != 0 {
		t.Fatalf("during the lease, another process claimed %+v, %v", again, err)
	}
	for _, c := range []struct {
		gone int32
		want int64
	}{{2, 0}, {1, 1}, {1, 0}} {
		if n, err := other.handBackOf(t.Context(), c.gone); err != nil || n != c.want {
			t.Errorf("handing back the claims of node %d returned %d, %v; want %d", c.gone, n, err, c.want)
		}
	}
	forgotten(t, w)
	w.start(numbered{id: 3})
	w.caughtUp()
	w.once()
	if held, err := dead.extend(t.Context(), claimed, lease); err != nil || held[0] {
		t.Errorf("extending the claim of the dead process returned %t, %v", held[0], err)
	}
}

// forgotten waits until the stream's deduplication window has passed, and leaves only gaps.
func forgotten(t *testing.T, w *world) {
	t.Helper()
	js := w.server.JetStream()
	probe := func() *nats.PubAck {
		ack, err := js.Publish("postrider.facts.probe", nil, nats.MsgId("probe"))
		if err != nil {
			t.Fatal(err)
		}
		return ack
	}
	first, again := probe(), (*nats.PubAck)(nil)
	expect.EventuallyWithin(t, patience, "the deduplication window has passed",
		func() bool { again = probe(); return !again.Duplicate })
	for _, ack := range []*nats.PubAck{first, again} {
		if err := js.DeleteMsg(streamName, ack.Sequence); err != nil {
			t.Fatal(err)
		}
	}
}

// A full stream rejects messages, like a full disk. The rejected facts wait, and the export continues once
// there is room.
func TestFullStreamLosesNoFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(nil)
	w.happen(1, "acc_a")
	w.caughtUp()
	js := w.server.JetStream()
	resize(t, js, 8<<10)
	w.happen(120, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the stream is full and rejects messages",
		func() bool { return strings.Contains(w.standing().Error, "maximum bytes exceeded") })
	stuck := w.standing()
	if stuck.Waiting == 0 || stuck.Waiting > 119 {
		t.Errorf("%d facts are waiting while the stream is full, want some, but not those that it accepted",
			stuck.Waiting)
	}
	resize(t, js, -1)
	w.caughtUp()
	w.once()
}

// A server with a full disk accepts no messages. New facts wait, the status reports the reason, and all facts
// reach the stream once there is room and the server was restarted.
func TestFullServerDiskLosesNoFacts(t *testing.T) {
	t.Parallel()
	folder := dbtest.SmallDisk(t, "16m")
	w := newWorldAt(t, jetstreamtest.Start(t, func(o *server.Options) { o.StoreDir, o.SyncAlways = folder, true }))
	w.start(nil)
	w.happen(20, "acc_a", "acc_b")
	w.caughtUp()
	undo := dbtest.Fill(t, folder)
	w.happen(400, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the export reports its failure", func() bool {
		is := w.standing()
		return is.Waiting > 0 && strings.Contains(is.Error, "the server does not acknowledge; its disk is full")
	})
	undo()
	w.server.Stop() // after a full disk, the server continues the stream only after a restart
	w.server.Restart()
	w.caughtUp()
	w.once()
}

func resize(t *testing.T, js nats.JetStreamContext, octets int64) {
	t.Helper()
	info, err := js.StreamInfo(streamName)
	if err != nil {
		t.Fatal(err)
	}
	to := info.Config
	to.MaxBytes = octets
	if _, err := js.UpdateStream(&to); err != nil {
		t.Fatal(err)
	}
}

// After Rewind, facts are sent again, in order, and not duplicated afterwards.
func TestRewindSendsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Stream.Duplicates = 100 * time.Millisecond
	if _, err := ReadState(t.Context(), w.db); !errors.Is(err, ErrNothing) {
		t.Errorf("before the first export, Look returned %v, want ErrNothing", err)
	}
	if _, err := Rewind(t.Context(), w.db, time.Now()); !errors.Is(err, ErrNothing) {
		t.Errorf("before the first export, Rewind returned %v, want ErrNothing", err)
	}
	since := time.Now().Add(-time.Minute)
	w.start(nil)
	w.happen(130, "acc_a", "acc_b") // several pages
	w.caughtUp()
	w.once()
	for _, late := range []time.Time{time.Now().Add(time.Hour), time.Now()} {
		if _, err := Rewind(t.Context(), w.db, late); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Rewind to %s returned %v, want Invalid", late, err)
		}
	}
	forgotten(t, w)
	if _, err := Rewind(t.Context(), w.db, since); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, patience, "all facts were sent again",
		func() bool { is := w.standing(); return is.Waiting == 0 && !is.Again })
	messages := jetstreamtest.Messages(t, w.server.JetStream(), streamName)
	seen := map[string]int{}
	for _, m := range messages {
		seen[m.ID]++
	}
	for _, f := range w.facts {
		if seen[f.ID] != 2 {
			t.Errorf("the fact %s is in the stream %d times, want twice", f.ID, seen[f.ID])
		}
	}
}
