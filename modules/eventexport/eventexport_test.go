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

// Two processes, three accounts, an internal fact: the stream has each public
// one once, in the order of its account, under its subject, as the event log shows it.
func TestEveryFactIsInTheStreamOnceAndInOrder(t *testing.T) {
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
	body, err := event.Encode(first.ID, first.Type, first.CreatedAt, first.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		// jsonb keeps the members in an order of its own
		if m.ID == first.ID && (m.Subject != "postrider.facts.acc_a.email.sent" || len(m.Data) != len(body)) {
			t.Errorf("the first fact is at %s as\n%s, want it at postrider.facts.acc_a.email.sent as\n%s", m.Subject,
				m.Data, body)
		}
	}
	if is := w.standing(); is.Behind != 0 || is.Failures != 0 || is.Error != "" || is.Again {
		t.Errorf("after catching up the export is at %+v", is)
	}
}

// A server that is away holds the position, and says why; nothing is lost or doubled when it
// is back.
func TestAServerThatWasAwayGetsWhatHappenedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.start(nil)
	w.happen(60, "acc_a", "acc_b")
	w.caughtUp()
	w.server.Stop()
	w.happen(60, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the export fails and says so", func() bool {
		is := w.standing()
		return is.Failures > 1 && is.Error != "" && is.FailedAt != nil && is.Waiting == 60 && is.Behind > 0
	})
	if off, err := (&Service{}).condition(t.Context()); err != nil || !off.Off {
		t.Errorf("where nothing is exported the condition is %+v, %v; want off", off, err)
	}
	condition, err := s.condition(t.Context())
	if err != nil || len(condition.Details) != 1 || condition.Degraded {
		t.Errorf("seconds late the condition is %+v, %v; want the reason, and not degraded yet", condition, err)
	}
	w.server.Restart()
	w.caughtUp()
	w.once()
	if is := w.standing(); is.Failures != 0 || is.FailedAt == nil {
		t.Errorf("after the outage the export is at %+v, want no failures in a row, and when the last one was", is)
	}
	for _, line := range []string{"publishing failed", "works again"} {
		if n := strings.Count(w.log.String(), line); n != 1 {
			t.Errorf("the log says %d times that %s, want once:\n%s", n, line, w.log.String())
		}
	}
}

// A process that dies in the middle of a page leaves a part of it in the stream. Another one
// goes on, in the order of each account and without a double, although the stream has
// forgotten the ids that it had.
func TestAPageThatWasCutOffIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Stream.Duplicates = 100 * time.Millisecond
	w.begun()
	w.happen(40, "acc_a", "acc_b", "acc_c")
	dead, other := w.service(numbered{id: 1}), w.service(numbered{id: 2})
	var claimed []cursor
	expect.EventuallyWithin(t, patience, "all facts are before the horizon, and the page is claimed", func() bool {
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
	for _, f := range w.facts { // all of one account, and half of another
		if f.AccountID == "acc_a" || f.AccountID == "acc_b" && f.ID < w.facts[20].ID {
			if _, err := stream.Publish(t.Context(), []event.Fact{f}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again, err := other.claim(t.Context(), 1, lease); err != nil || len(again) != 0 {
		t.Fatalf("under the lease another one claims %+v, %v", again, err)
	}
	for _, c := range []struct {
		gone int32
		want int64
	}{{2, 0}, {1, 1}, {1, 0}} {
		if n, err := other.handBackOf(t.Context(), c.gone); err != nil || n != c.want {
			t.Errorf("of node %d were handed back %d, %v; want %d", c.gone, n, err, c.want)
		}
	}
	forgotten(t, w)
	w.start(numbered{id: 3})
	w.caughtUp()
	w.once()
	if held, err := dead.extend(t.Context(), claimed, lease); err != nil || held[0] {
		t.Errorf("the dead one may prolong its claim: %t, %v", held[0], err)
	}
}

// forgotten waits until the stream takes an id again that it has had, and leaves only gaps.
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
	expect.EventuallyWithin(t, patience, "the window of duplicates is over",
		func() bool { again = probe(); return !again.Duplicate })
	for _, ack := range []*nats.PubAck{first, again} {
		if err := js.DeleteMsg(streamName, ack.Sequence); err != nil {
			t.Fatal(err)
		}
	}
}

// A stream that is full refuses, as it does on a full disk. What it refuses waits, and goes
// on where it was when there is room.
func TestAFullStreamLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(nil)
	w.happen(1, "acc_a")
	w.caughtUp()
	js := w.server.JetStream()
	resize(t, js, 8<<10)
	w.happen(120, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the stream is full and refuses",
		func() bool { return strings.Contains(w.standing().Error, "maximum bytes exceeded") })
	stuck := w.standing()
	if stuck.Waiting == 0 || stuck.Waiting > 119 {
		t.Errorf("%d facts wait while the stream is full, want some, and not those that it took", stuck.Waiting)
	}
	resize(t, js, -1)
	w.caughtUp()
	w.once()
}

// A server whose disk is full takes nothing. What happens meanwhile waits, the status has the reason, and everything
// is in the stream once there is room and the server was started again.
func TestAFullDiskOfTheServerLosesNothing(t *testing.T) {
	t.Parallel()
	folder := dbtest.SmallDisk(t, "16m")
	w := newWorldAt(t, jetstreamtest.Start(t, func(o *server.Options) { o.StoreDir, o.SyncAlways = folder, true }))
	w.start(nil)
	w.happen(20, "acc_a", "acc_b")
	w.caughtUp()
	undo := dbtest.Fill(t, folder)
	w.happen(400, "acc_a", "acc_b")
	expect.EventuallyWithin(t, patience, "the export fails and says so", func() bool {
		is := w.standing()
		return is.Waiting > 0 && strings.Contains(is.Error, "the server does not acknowledge; its disk is full")
	})
	undo()
	w.server.Stop() // it goes on with a full disk's stream only after that
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

// What was sent is sent again after Rewind, in order, and nothing twice from then on.
func TestRewindSendsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Stream.Duplicates = 100 * time.Millisecond
	if _, err := Look(t.Context(), w.db); !errors.Is(err, ErrNothing) {
		t.Errorf("before there is an export its position returned %v, want ErrNothing", err)
	}
	if _, err := Rewind(t.Context(), w.db, time.Now()); !errors.Is(err, ErrNothing) {
		t.Errorf("before there is an export rewinding returned %v, want ErrNothing", err)
	}
	since := time.Now().Add(-time.Minute)
	w.start(nil)
	w.happen(130, "acc_a", "acc_b") // several pages
	w.caughtUp()
	w.once()
	for _, late := range []time.Time{time.Now().Add(time.Hour), time.Now()} {
		if _, err := Rewind(t.Context(), w.db, late); fault.KindOf(err) != fault.Invalid {
			t.Errorf("rewinding to %s returned %v, want Invalid", late, err)
		}
	}
	forgotten(t, w)
	if _, err := Rewind(t.Context(), w.db, since); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, patience, "everything was sent again",
		func() bool { is := w.standing(); return is.Waiting == 0 && !is.Again })
	messages := jetstreamtest.Messages(t, w.server.JetStream(), streamName)
	seen := map[string]int{}
	for _, m := range messages {
		seen[m.ID]++
	}
	for _, f := range w.facts {
		if seen[f.ID] != 2 {
			t.Errorf("%s is in the stream %d times, want twice", f.ID, seen[f.ID])
		}
	}
}
