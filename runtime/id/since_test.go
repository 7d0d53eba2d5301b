package id

import (
	"testing"
	"time"
)

func TestSinceBoundsIDsByTime(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	made := New(Email)
	if low := Since(Email, before); low > made || len(low) != len(made) {
		t.Errorf("%s was made at or after %s and sorts below it", made, low)
	}
	if high := Since(Email, time.Now().Add(time.Second)); high <= made {
		t.Errorf("%s is not after %s", high, made)
	}
	if Since(Email, time.Time{}) > Since(Email, before) {
		t.Error("the zero time is not first")
	}
}
