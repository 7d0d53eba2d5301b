package sending

import (
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
)

// A check has the same result as a send, at the cap and below it, and stores neither an email nor a count.
func TestCheckMatchesSendAndStoresNothing(t *testing.T) {
	t.Parallel()
	c := newCapped(t)
	s, m := c.processes[0], simpleMessage("bob@example.net")
	for range dailyCap + 1 { // a check that counted would reach the cap
		checked, err := s.Check(t.Context(), c.caller, m, CheckOptions{})
		if err != nil || len(checked.Suppressed) > 0 || checked.Subject != m.Subject {
			t.Fatalf("Check below the cap returned %+v, %v", checked, err)
		}
	}
	var stored int
	if err := c.DB.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM emails`).Scan(&stored); err != nil || stored != 0 {
		t.Errorf("after the checks there are %d emails, want none (%v)", stored, err)
	}
	for range dailyCap {
		if _, err := s.Send(t.Context(), c.caller, Request{Message: m}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Check(t.Context(), c.caller, m, CheckOptions{}); fault.KindOf(err) != fault.Limit {
		t.Errorf("Check at the cap returned %v, want the error of the cap", err)
	}
}
