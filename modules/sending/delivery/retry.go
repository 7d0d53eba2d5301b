package delivery

import (
	"time"

	"github.com/postrider/postrider/modules/sending/lifecycle"
)

// retrySchedule is the wait after the 1st, 2nd, … unsuccessful attempt; the last
// entry repeats until lifecycle.MaxAge.
var retrySchedule = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour,
}

// delayNoticeEvery bounds email.delivery_delayed per recipient.
const delayNoticeEvery = 4 * time.Hour

// nextAttempt returns the wait after attempt number n (from 1) of a recipient that was accepted or released
// age ago. It returns false once retries have run out.
func nextAttempt(n int, age time.Duration) (time.Duration, bool) {
	wait := retrySchedule[min(max(n, 1), len(retrySchedule))-1]
	if age+wait > lifecycle.MaxAge {
		// If there is time left, the last attempt falls exactly on the limit.
		wait = lifecycle.MaxAge - age
	}
	return wait, age < lifecycle.MaxAge
}
