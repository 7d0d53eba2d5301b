package bus

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// counted counts the wakes that are sent.
type counted struct{ woken int }

func (c *counted) Wake(string) { c.woken++ }

func (*counted) Subscribe(string) (woken <-chan struct{}, unsubscribe func()) { return nil, func() {} }

func TestOnlyWantedFactsWake(t *testing.T) {
	t.Parallel()
	signals := &counted{}
	b := New(nil, slog.New(slog.DiscardHandler), Options{Signals: signals})
	b.Register(Consumer{Group: "g", Types: []event.Type{event.EmailBounced},
		Handle: func(context.Context, db.Execer, event.Fact) error { return nil }})
	fact := func(typ event.Type) event.Fact {
		return event.New("acc_a", typ, time.Now(), event.Email{EmailID: "msg_a"})
	}
	b.WakeFor()
	b.WakeFor(fact(event.EmailSent), fact(event.EmailDelivered))
	if signals.woken != 0 {
		t.Errorf("got %d wakes for facts that no group wants, want 0", signals.woken)
	}
	b.WakeFor(fact(event.EmailSent), fact(event.EmailBounced))
	if signals.woken != 1 {
		t.Errorf("got %d wakes, want 1", signals.woken)
	}
}

func TestWantsRestrictsAccounts(t *testing.T) {
	t.Parallel()
	signals := &counted{}
	b := New(nil, slog.New(slog.DiscardHandler), Options{Signals: signals})
	b.Register(Consumer{Group: "few", Types: []event.Type{event.EmailSent},
		Wants:   func(accountID string) bool { return accountID == "acc_wanted" },
		Refresh: func(context.Context) error { return nil },
		Handle:  func(context.Context, db.Execer, event.Fact) error { return nil }})
	for account, wanted := range map[string]int{"acc_wanted": 1, "acc_other": 0} {
		fact := event.New(account, event.EmailSent, time.Now(), event.Email{EmailID: "msg_1"})
		m, err := messageOf(fact)
		if err != nil {
			t.Fatal(err)
		}
		if messages := b.audience.wantedMessages(message.Messages{m}); len(messages) != wanted {
			t.Errorf("%s: the fact has the messages %v, want %d", account, messages, wanted)
		}
		signals.woken = 0
		if b.WakeFor(fact); signals.woken != wanted {
			t.Errorf("%s: got %d wakes", account, signals.woken)
		}
	}
}
