package bodies

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Concurrent failures count as one failure of the store. However many there are, the store is tried again after
// the shortest delay.
func TestConcurrentFailuresCountOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o outage
		for i := range movesAtOnce {
			if began, _ := o.record(errors.New("away")); began != (i == 0) {
				t.Errorf("failure %d began an outage: %t", i+1, began)
			}
		}
		if n := o.limitClaim(moveBatch); n != 0 {
			t.Errorf("right after the failures %d moves were claimed, want none", n)
		}
		time.Sleep(2 * outageWait.Min)
		if n := o.limitClaim(moveBatch); n != 1 {
			t.Errorf("after %s %d moves were claimed, want one", 2*outageWait.Min, n)
		}
		// The store fails again: the second delay is longer.
		o.record(errors.New("away"))
		if wait := time.Until(o.until); wait < outageWait.Min {
			t.Errorf("the second delay is %s, want at least %s", wait, outageWait.Min)
		}
		if _, ended := o.record(nil); !ended || o.limitClaim(moveBatch) != moveBatch {
			t.Errorf("after a success %d moves were claimed, want %d", o.limitClaim(moveBatch), moveBatch)
		}
		if began, _ := o.record(errors.New("away")); !began {
			t.Error("a failure after a success did not begin an outage")
		}
	})
}
