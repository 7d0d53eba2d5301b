package fault_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/fault"
)

func TestWaitsAreRoundedUpToWholeSeconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{0: "0", 1: "1", time.Second - 1: "1", time.Second: "1", time.Second + 1: "2", time.Hour: "3600"} {
		if got := fault.WholeSeconds(wait); got != want {
			t.Errorf("%s is said as %s, want %s", wait, got, want)
		}
	}
}
