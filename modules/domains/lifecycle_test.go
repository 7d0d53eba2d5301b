package domains

import (
	"testing"
	"time"

	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/domains/dnscheck"
)

// sight returns the observations of a check: v verified, m missing, x mismatch, ? no answer, in the order
// ownership, dkim, return path, spf, dmarc.
func sight(code string) []dnscheck.Observation {
	purposes := []dnscheck.Purpose{dnscheck.Ownership, dnscheck.DKIM, dnscheck.ReturnPath, dnscheck.SPF, dnscheck.DMARC}
	seen := make([]dnscheck.Observation, len(code))
	for i, c := range code {
		seen[i] = dnscheck.Observation{Purpose: purposes[i], Status: map[rune]dnscheck.Status{'v': dnscheck.Verified,
			'm': dnscheck.Missing, 'x': dnscheck.Mismatch}[c], Unanswered: c == '?'}
	}
	return seen
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const pending, verified, temporary, failed = domain.StatusPending, domain.StatusVerified,
		domain.StatusTemporaryFailure, domain.StatusFailed
	for _, c := range []struct {
		name   string
		from   domain.Status
		over   bool
		seen   string
		want   domain.Status
		within time.Duration // maximum time until the next check
	}{
		{"all right", pending, false, "vvvvv", verified, 12 * time.Hour},
		{"dmarc is advice", pending, false, "vvvvm", verified, 12 * time.Hour},
		{"dmarc without answer", pending, false, "vvvv?", verified, 12 * time.Hour},
		{"one missing", pending, false, "vvvmv", pending, time.Hour},
		{"one mismatch", pending, false, "xvvvv", pending, time.Hour},
		{"one without answer does not promote", pending, false, "?vvvv", pending, 10 * time.Minute},
		{"breaks", verified, false, "vmvvv", temporary, time.Minute},
		{"no answer does not break", verified, false, "????v", verified, 10 * time.Minute},
		{"broken, others unanswered", verified, false, "?vxvv", temporary, time.Minute},
		{"stays broken", temporary, false, "vmvvv", temporary, time.Hour},
		{"stays broken too long", temporary, true, "vmvvv", failed, time.Minute},
		{"no answer does not fail", temporary, true, "v?vvv", temporary, 10 * time.Minute},
		{"recovers", temporary, false, "vvvvx", verified, 12 * time.Hour},
		{"recovers late", temporary, true, "vvvvv", verified, 12 * time.Hour},
		{"failed stays", failed, true, "mmmmm", failed, time.Hour},
		{"failed comes back", failed, true, "vvvvv", verified, 12 * time.Hour},
		{"stays verified", verified, false, "vvvvv", verified, 12 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := judge(standing{status: c.from, overdue: c.over, attempts: 3}, sight(c.seen))
			if v.status != c.want {
				t.Errorf("got the status %s, want %s", v.status, c.want)
			}
			if v.next <= 0 || v.next > c.within {
				t.Errorf("the next check is in %s, want at most %s", v.next, c.within)
			}
			wantAttempts := 4
			if c.want != c.from {
				wantAttempts = 0
			}
			if v.attempts != wantAttempts {
				t.Errorf("got %d attempts, want %d", v.attempts, wantAttempts)
			}
		})
	}
}

func TestCheckIntervalsGrow(t *testing.T) {
	t.Parallel()
	var total time.Duration
	last := time.Duration(0)
	for attempts := range 100 {
		next := nextInterval(domain.StatusPending, attempts)
		if next < last || next > 6*time.Hour {
			t.Fatalf("after %d checks the interval is %s, before it was %s", attempts, next, last)
		}
		last = next
		total += next
	}
	if nextInterval(domain.StatusPending, 0) != time.Minute || nextInterval(domain.StatusPending, 10) != time.Hour ||
		last != 6*time.Hour {
		t.Errorf("got the first interval %s, the tenth %s and the last %s", nextInterval(domain.StatusPending, 0),
			nextInterval(domain.StatusPending, 10),
			last)
	}
}

func TestPendingKeyCheckIntervalsGrow(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]time.Duration{0: time.Minute, time.Hour: 30 * time.Minute,
		30 * 24 * time.Hour: 6 * time.Hour} {
		if got := untilWaiting(age); got != want {
			t.Errorf("for a key of age %s, the interval is %s, want %s", age, got, want)
		}
	}
}
