package sending

import (
	"time"

	"github.com/postrider/postrider/ent"
)

// laneHeld is the lane of recipients that an operator holds back: no lane has that
// name, so nobody draws from it.
const laneHeld = "held"

// Held tells whether an operator holds the recipient back.
func Held(r *ent.Recipient) bool { return r.SettledAt == nil && r.Lane != nil && *r.Lane == laneHeld }

// NextAttempt is when the recipient is due; nil once it is settled, and while it is held.
func NextAttempt(r *ent.Recipient) *time.Time {
	if Held(r) {
		return nil
	}
	return r.DueAt
}
