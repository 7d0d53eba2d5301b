package queue

import (
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

type fixture struct {
	*rooms.Harness
	*Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := rooms.New(t)
	return &fixture{Harness: r, Service: New(r.DB, r.Bus, r.Pages)}
}
