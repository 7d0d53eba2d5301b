package lane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/postrider/postrider/runtime/mail/lane"
)

func TestADestinationIsProvisionalUntilItsMailHostsAreKnown(t *testing.T) {
	t.Parallel()
	r := lane.New(lane.Config{})
	if n := r.Room("", "example.test"); n != 6 {
		t.Fatalf("room %d", n)
	}
	ticket, ok := r.Reserve("", "example.test")
	if !ok {
		t.Fatal("no reservation")
	}
	pass, err := r.Enter(t.Context(), "", "example.test", lane.NewSet("mx.example.test"))
	if err != nil {
		t.Fatal(err)
	}
	pass.Leave(lane.Feedback{Delivered: true})
	ticket.End()
	ticket.End()
	for _, s := range r.Snapshot() {
		if s.Active != 0 || s.Reserved != 0 || s.Provisional != (s.Name == "example.test") {
			t.Errorf("%+v", s)
		}
	}
}

func TestEnterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lane.New(lane.Config{}).Enter(ctx, "", "a.test", lane.NewSet("mx.a.test")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
