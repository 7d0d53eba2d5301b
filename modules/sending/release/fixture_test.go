package release

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

type fixture struct {
	*rooms.Harness
	*Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := rooms.New(t)
	return &fixture{Harness: r, Service: New(Params{DB: r.DB, Bus: r.Bus, Accounts: r.Near, Domains: r.Near,
		Suppression: r.Near, Quota: r.Near,
		Signals: sendingtest.NoSignals{}, Logger: r.Logger})}
}

// start starts releasing and delivering.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	if err := errors.Join(f.Start(context.WithoutCancel(t.Context())),
		f.Delivery.Start(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop releasing: %v", err)
		}
	})
}

// schedule schedules an email; a time in the past is due immediately.
func (f *fixture) schedule(t *testing.T, in time.Duration, to ...string) string {
	t.Helper()
	m := rooms.SimpleMessage(to...)
	at := time.Now().Add(in)
	m.ScheduledAt = &at
	return f.Send(t, m)
}

// releaseAll releases everything that is due, without the loop.
func (f *fixture) releaseAll(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = f.Release(t.Context(), releaseBatch); err != nil {
			t.Fatalf("release due emails: %v", err)
		}
	}
}
