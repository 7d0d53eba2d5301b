package id

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/clock"
)

func TestSinceBoundsIDsByTime(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	made := New(Email)
	if low := Since(Email, before); low > made || len(low) != len(made) {
		t.Errorf("%s was created at or after %s but sorts before it", made, low)
	}
	if high := Since(Email, time.Now().Add(time.Second)); high <= made {
		t.Errorf("%s is not after %s", high, made)
	}
	if Since(Email, time.Time{}) > Since(Email, before) {
		t.Error("the zero time is not first")
	}
}

func TestTimeIsTheInverseOfSince(t *testing.T) {
	t.Parallel()
	at := time.Now().Truncate(time.Millisecond)
	if got := Time(Since(Fact, at)); !got.Equal(at) {
		t.Errorf("the smallest id since %s has the time %s", at, got)
	}
	if made := Time(New(Email)); made.Before(at) || made.After(time.Now()) {
		t.Errorf("an id created at %s has the time %s", at, made)
	}
	for _, none := range []string{"", "evt_1", "evt"} {
		if got := Time(none); !got.IsZero() {
			t.Errorf("%q is not an id, but has the time %s", none, got)
		}
	}
}

// Not parallel: the correction is one for the whole process.
func TestAWrongClockIsCorrected(t *testing.T) {
	defer clock.SetOffset(0)
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		clock.SetOffset(by)
		before := time.Now().Truncate(time.Millisecond).Add(-by)
		if now := clock.Now(); now.Before(before) || now.After(time.Now().Add(-by)) {
			t.Errorf("with a clock that is %s ahead, Now returned %s, want about %s", by, now, before)
		}
		last := ""
		for range 1000 {
			made := New(Email)
			if at := Time(made); at.Before(before) || at.After(time.Now().Add(-by)) {
				t.Fatalf("with a clock that is %s ahead, a new id has the time %s, want about %s", by, at, before)
			}
			if made <= last {
				t.Fatalf("with a clock that is %s ahead, %s follows %s", by, made, last)
			}
			last = made
		}
	}
}
