package faults

import (
	"fmt"
	"sync"
	"time"
)

// Ledger records the responses that callers received.
type Ledger struct {
	mu       sync.Mutex
	accepted map[Accepted]bool
	owed     map[Accepted]time.Time // accepted recipients that have not arrived, with the time of acceptance
	statuses map[int]int
	slowest  map[int]time.Duration // by status
	last     time.Time             // time of the last 2xx
}

// Accepted is one recipient of an email that got a 2xx response.
type Accepted struct{ EmailID, Recipient string }

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{accepted: map[Accepted]bool{}, owed: map[Accepted]time.Time{}, statuses: map[int]int{},
		slowest: map[int]time.Duration{}}
}

// Accept records accepted recipients.
func (l *Ledger) Accept(accepted ...Accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, one := range accepted {
		if !l.accepted[one] {
			l.accepted[one], l.owed[one] = true, now
		}
	}
}

func (l *Ledger) recordAnswer(a Answer, accepted ...Accepted) {
	l.Accept(accepted...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[a.Status]++
	l.slowest[a.Status] = max(l.slowest[a.Status], a.Took)
	if a.Status/100 == 2 {
		l.last = time.Now()
	}
}

// Count returns the number of accepted recipients.
func (l *Ledger) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.accepted)
}

// EmailIDs returns the ids of all accepted emails.
func (l *Ledger) EmailIDs() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]bool, len(l.accepted))
	for one := range l.accepted {
		all[one.EmailID] = true
	}
	return all
}

// Statuses counts the responses by status, and returns the slowest time of each.
func (l *Ledger) Statuses() (counts map[int]int, slowest map[int]time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts, slowest = map[int]int{}, map[int]time.Duration{}
	for status, n := range l.statuses {
		counts[status], slowest[status] = n, l.slowest[status]
	}
	return counts, slowest
}

// LastAccepted returns the time of the last 2xx.
func (l *Ledger) LastAccepted() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Missing counts the accepted recipients that have not arrived.
func (l *Ledger) Missing(s *Sink) int { return l.MissingOf(s, time.Now()) }

// MissingOf counts the recipients accepted before a time that have not arrived.
func (l *Ledger) MissingOf(s *Sink, before time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	missing := 0
	for one, at := range l.owed {
		switch {
		case s.arrived[one]:
			delete(l.owed, one)
		case at.Before(before):
			missing++
		}
	}
	return missing
}

// Audit is the result of a case.
type Audit struct {
	Accepted, Arrived, Lost int
	Duplicates              int // copies beyond the first
	Unexplained             int // part of Duplicates
	Open                    int // attempts open at a fault, or unknown afterwards
	Examples                []string
}

// Explained returns the number of explained duplicates.
func (a Audit) Explained() int { return a.Duplicates - a.Unexplained }

func (a Audit) String() string {
	return fmt.Sprintf("accepted %d, lost %d, duplicates %d of which unexplained %d, open attempts %d", a.Accepted,
		a.Lost, a.Duplicates, a.Unexplained, a.Open)
}

// Audit compares the ledger with the sink. open is how many attempts for each recipient of each email may
// have had an unknown end; final are the recipients that ended without delivery.
func (l *Ledger) Audit(s *Sink, open map[Accepted]int, final map[Accepted]bool) Audit {
	copies := map[Accepted]int{}
	for _, line := range s.Lines() {
		copies[Accepted{line.EmailID(), line.Recipient}]++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := Audit{Accepted: len(l.accepted), Arrived: len(copies)}
	for one := range l.accepted {
		if copies[one] == 0 && !final[one] {
			out.Lost++
			out.Examples = append(out.Examples, fmt.Sprintf("lost: %+v", one))
		}
	}
	for one, n := range copies {
		out.Duplicates += n - 1
		if over := n - 1 - open[one]; over > 0 {
			out.Unexplained += over
			out.Examples = append(out.Examples, fmt.Sprintf("arrived %d times, %d attempts were open: %+v", n,
				open[one], one))
		}
	}
	for _, n := range open {
		out.Open += n
	}
	return out
}

// OpenAttempts returns the attempts without an outcome, by their ids.
func (s *Server) OpenAttempts() map[string]Accepted {
	s.t.Helper()
	open := map[string]Accepted{}
	for _, row := range s.Query(`SELECT a.id, r.email_id, r.address FROM attempts a JOIN recipients r ON r.id = a.recipient_id WHERE a.outcome IS NULL`) {
		open[row[0]] = Accepted{row[1], row[2]}
	}
	return open
}

// Unknown counts the attempts whose end is recorded as unknown.
func (s *Server) Unknown() map[Accepted]int {
	return s.attempts(`a.outcome = 'unknown'`)
}

// OpenBetween counts the attempts that were open at some time between two moments: started before the
// second, and not known to have ended before the first.
func (s *Server) OpenBetween(from, to time.Time) map[Accepted]int {
	return s.attempts(fmt.Sprintf(`a.started_at <= '%s' AND (a.finished_at IS NULL OR a.finished_at >= '%s')`,
		to.Format(time.RFC3339Nano), from.Format(time.RFC3339Nano)))
}

func (s *Server) attempts(which string) map[Accepted]int {
	s.t.Helper()
	open := map[Accepted]int{}
	for _, row := range s.Query(`SELECT r.email_id, r.address FROM attempts a JOIN recipients r ON r.id = a.recipient_id WHERE ` + which) {
		open[Accepted{row[0], row[1]}]++
	}
	return open
}
