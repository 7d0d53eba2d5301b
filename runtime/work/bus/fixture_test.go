package bus_test

import (
	"encoding/binary"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.jetify.com/typeid"

	"github.com/postrider/postrider/runtime/base/id"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// idAt returns the id that a fact would have if it had been created at another time.
func idAt(t *testing.T, at time.Time) string {
	t.Helper()
	made := uuid.Must(uuid.NewV7())
	var head [8]byte
	binary.BigEndian.PutUint64(head[:], uint64(at.UnixMilli())<<16)
	copy(made[:6], head[:6])
	old, err := typeid.FromUUIDBytesWithPrefix(string(id.Fact), made[:])
	if err != nil {
		t.Fatal(err)
	}
	return old.String()
}
