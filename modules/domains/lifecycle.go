package domains

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/work/event"
)

// The intervals between checks.
const (
	firstCheck      = time.Minute      // also the first step of every growing interval
	longestFrequent = time.Hour        // reached by doubling …
	frequentChecks  = 48               // … and kept for this many checks
	seldom          = 6 * time.Hour    // after that
	healthy         = 12 * time.Hour   // interval for verified domains
	afterNoAnswer   = 10 * time.Minute // maximum after an unanswered check
)

// failAfter is how long the records of a verified domain can be broken before it fails.
const failAfter = 72 * time.Hour

// facts are the events published when a domain enters a status.
var facts = map[domain.Status]event.Type{
	domain.StatusVerified:         event.DomainVerified,
	domain.StatusTemporaryFailure: event.DomainTemporaryFailure,
	domain.StatusFailed:           event.DomainFailed,
}

// standing is the state of a domain before a check.
type standing struct {
	status   domain.Status
	attempts int  // checks since the status last changed
	overdue  bool // failing for longer than failAfter, by the database clock
	keys     []*ent.DKIMKey
	now      time.Time // by the database clock
	records  []shape.RecordState
}

// verdict is the result of judge.
type verdict struct {
	status   domain.Status
	attempts int
	records  []shape.RecordState
	next     time.Duration // until the next check
}

// judge implements the state machine of doc.go.
func judge(before standing, seen []dnscheck.Observation) verdict {
	v := verdict{status: before.status, attempts: before.attempts + 1, records: dnscheck.Merge(before.records, seen)}
	answered, sound := assess(seen)
	switch {
	case answered && sound:
		v.status = domain.StatusVerified
	case sound:
		// No record is known to be broken, but some lookups got no answer: no change.
	case before.status == domain.StatusVerified:
		v.status = domain.StatusTemporaryFailure
	case before.status == domain.StatusTemporaryFailure && before.overdue:
		v.status = domain.StatusFailed
	}
	if v.status != before.status {
		v.attempts = 0
	}
	v.next = nextInterval(v.status, v.attempts)
	if !answered {
		v.next = min(v.next, afterNoAnswer)
	}
	return v
}

// assess reports whether every required record was answered, and whether any answered record is broken. A
// fault that only the operator can fix counts as unanswered.
func assess(seen []dnscheck.Observation) (answered, sound bool) {
	answered, sound = true, true
	for _, o := range seen {
		switch {
		case !o.IsRequired(): // advice
		case o.Unanswered, o.Operators:
			answered = false
		case o.Status != dnscheck.Verified:
			sound = false
		}
	}
	return answered, sound
}

// nextInterval returns the time until the next check.
func nextInterval(status domain.Status, attempts int) time.Duration {
	switch {
	case status == domain.StatusVerified:
		return healthy
	case attempts >= frequentChecks:
		return seldom
	case attempts > 6: // 2^6 min is over an hour
		return longestFrequent
	}
	return min(firstCheck<<attempts, longestFrequent)
}

// untilWaiting returns the time until the next lookup of a pending key's record: half its age. A record that
// is published soon is found soon, and a forgotten one causes few lookups.
func untilWaiting(age time.Duration) time.Duration {
	return min(max(age/2, firstCheck), seldom)
}
