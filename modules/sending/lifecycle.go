package sending

import (
	"slices"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

// The states of an email and what may follow. A state without a row is final.
//
//	scheduled → cancelled                 by the caller, before its release
//	scheduled → sent                      released at its time
//	scheduled → queued → sent             its account was suspended at its time, and resumed later
//	scheduled, queued → failed            at its time it may not be sent (any more)
//	sent → delivered | bounced | failed   when the last recipient settles
//	delivered → bounced                   a bounce came back later (late.go)
var lifecycle = map[email.Status][]email.Status{
	email.StatusScheduled: {email.StatusQueued, email.StatusSent, email.StatusFailed, email.StatusCancelled},
	email.StatusQueued:    {email.StatusSent, email.StatusFailed},
	email.StatusSent:      {email.StatusDelivered, email.StatusBounced, email.StatusFailed},

	email.StatusDelivered: {email.StatusBounced},
}

// uncommon is the column of that name for a status, "" for NULL: what the index of
// rare states holds. Most emails go from sent to delivered and change no index.
func uncommon(s email.Status) string {
	if s == email.StatusSent || s == email.StatusDelivered {
		return ""
	}
	return string(s)
}

// mayBecome tells whether the lifecycle has the step.
func mayBecome(from, to email.Status) bool {
	return slices.Contains(lifecycle[from], to)
}

// tally counts an email's recipients by state.
type tally map[recipient.State]int

// overall is the status of an email whose recipients are in these states: open
// while any recipient is, then the worst. A failure is worse than a bounce,
// because it is ours or the configuration's to mend.
func (t tally) overall() email.Status {
	switch {
	case t[recipient.StateQueued] > 0 || t[recipient.StateDeferred] > 0:
		return email.StatusSent
	case t[recipient.StateFailed] > 0:
		return email.StatusFailed
	case t[recipient.StateBounced] > 0:
		return email.StatusBounced
	default:
		return email.StatusDelivered
	}
}

// retrySchedule is the wait after the 1st, 2nd, … unsuccessful attempt; the last
// entry repeats until maxAge.
var retrySchedule = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour,
}

const (
	// maxAge is how long after acceptance or release a recipient is retried. RFC 5321
	// section 4.5.4.1 asks for at least 4-5 days of a relay; a transactional
	// mail that is three days late helps nobody.
	maxAge = 72 * time.Hour
	// delayNoticeEvery bounds email.delivery_delayed per recipient.
	delayNoticeEvery = 4 * time.Hour
)

// nextAttempt is the wait after attempt number n (from 1) of a recipient that
// was accepted or released age ago; false when retries have run out.
func nextAttempt(n int, age time.Duration) (time.Duration, bool) {
	wait := retrySchedule[min(max(n, 1), len(retrySchedule))-1]
	if age+wait > maxAge {
		// The last attempt falls on the limit itself, if there is time left.
		wait = maxAge - age
	}
	return wait, age < maxAge
}
