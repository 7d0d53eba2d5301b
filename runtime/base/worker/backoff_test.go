package worker_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

func TestBackoffDoublesUpToItsLimitWithJitter(t *testing.T) {
	t.Parallel()
	b := worker.Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}
	for failures, full := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond, 7: 5 * time.Second,
		1 << 40: 5 * time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			got := b.Delay(failures)
			if got < full/2 || got > full {
				t.Errorf("Delay(%d) = %v, want %v to %v", failures, got, full/2, full)
			}
			seen[got] = true
		}
		if len(seen) < 10 {
			t.Errorf("Delay(%d) has no jitter: %v", failures, seen)
		}
	}
}
