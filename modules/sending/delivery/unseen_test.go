package delivery

import "testing"

// A lane may have unseen recipients until a claim that began after they were stored has emptied the common queue.
func TestUnseenRecipientsAreSeenByAClaim(t *testing.T) {
	t.Parallel()
	u := newUnseen()
	if !u.contains("a") {
		t.Error("before the first claim, a lane counts as empty")
	}
	u.recordClaim(u.currentMark(), true)
	u.add([]string{"a"})
	if !u.contains("a") || u.contains("b") {
		t.Errorf("contains(a) = %t, contains(b) = %t; want only a", u.contains("a"), u.contains("b"))
	}
	mark := u.currentMark()
	u.add([]string{"b"})
	u.recordClaim(mark, true)
	if u.contains("a") || !u.contains("b") {
		t.Errorf("contains(a) = %t, contains(b) = %t; want only b, which was stored after the claim began",
			u.contains("a"), u.contains("b"))
	}
	u.recordClaim(u.currentMark(), false)
	if !u.contains("c") {
		t.Error("after a claim that left recipients in the common queue, a lane counts as empty")
	}
	u.recordClaim(u.currentMark(), true)
	for range maxUnseen + 1 {
		u.add([]string{"many", string(rune(u.number))})
	}
	if len(u.lanes) > maxUnseen || !u.contains("any") {
		t.Errorf("%d lanes are tracked, want at most %d, and then all", len(u.lanes), maxUnseen)
	}
}
