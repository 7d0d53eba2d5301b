package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
)

func TestWaitsAreRoundedUpToWholeSeconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{0: "0", 1: "1", time.Second - 1: "1", time.Second: "1",
		time.Second + 1: "2", time.Hour: "3600"} {
		if got := fault.FormatSeconds(wait); got != want {
			t.Errorf("%s is formatted as %s, want %s", wait, got, want)
		}
	}
}

// A lock held by another request is a conflict of that request. Other requests must not be rejected as if the
// database were unavailable.
func TestOnlyTheKindMakesAnErrorUnavailable(t *testing.T) {
	t.Parallel()
	held := &pq.Error{Code: "55P03"} // lock_not_available
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a held lock, as reported by the server":  {held, true},
		"a conflict caused by it":                 {fault.Conflictf(fault.CodeIdempotencyInProgress, "still running").WithCause(held), false},
		"the conflict, wrapped":                   {fmt.Errorf("store: %w", fault.Conflictf(fault.CodeConflict, "no").WithCause(held)), false},
		"unavailable storage, whatever the cause": {fault.DatabaseUnavailable(errors.New("shutting down")), true},
	} {
		if got := fault.IsDatabaseUnavailable(c.err); got != c.want {
			t.Errorf("IsDatabaseUnavailable of %s is %v, want %v", name, got, c.want)
		}
	}
}
