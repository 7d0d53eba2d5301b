package bus

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
)

// counted counts the signals that are sent.
type counted struct{ woken int }

func (c *counted) Wake(string) { c.woken++ }

func (*counted) Subscribe(string) (woken <-chan struct{}, unsubscribe func()) { return nil, func() {} }

func TestOnlyWantedFactsWake(t *testing.T) {
	t.Parallel()
	signals := &counted{}
	b := New(nil, slog.New(slog.DiscardHandler), Options{Signals: signals})
	b.Register(Consumer{Group: "g", Types: []event.Type{event.EmailBounced}, Handle: func(context.Context, db.Execer, event.Fact) error { return nil }})
	fact := func(typ event.Type) event.Fact {
		return event.New("acc_a", typ, time.Now(), event.Email{EmailID: "msg_a"})
	}
	b.WakeFor()
	b.WakeFor(fact(event.EmailSent), fact(event.EmailDelivered))
	if signals.woken != 0 {
		t.Errorf("woken %d times for what nobody wants", signals.woken)
	}
	b.WakeFor(fact(event.EmailSent), fact(event.EmailBounced))
	if signals.woken != 1 {
		t.Errorf("woken %d times, want once", signals.woken)
	}
}
