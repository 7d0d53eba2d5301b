package records_test

import (
	"testing"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

type fixture struct {
	*rooms.Harness
	*records.Service
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := rooms.New(t)
	return &fixture{Harness: r, Service: r.Records}
}
