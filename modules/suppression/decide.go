package suppression

import (
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/work/event"
)

// decide is pure: which fact about an email suppresses its recipient, and with
// which reason. False: it does not.
func decide(typ event.Type, data event.Email) (entsuppression.Reason, bool) {
	switch {
	case data.Recipient == "": // the email was erased meanwhile
		return "", false
	case typ == event.EmailBounced:
		// A refusal of the message or of its sender is no bounce but email.failed.
		return entsuppression.ReasonBounce, true
	case typ == event.EmailFailed && data.Failure != nil:
		return entsuppression.ReasonFailure, unreachable[data.Failure.Code]
	case typ == event.EmailComplained:
		// RFC 5965 section 7.3.5: not-spam takes an earlier report back.
		return entsuppression.ReasonComplaint, data.Complaint == nil || data.Complaint.Type != "not-spam"
	default:
		return "", false
	}
}

// unreachable are the failures that no other message to the address would escape.
// The others are about this message, its sender, the account or our settings.
var unreachable = map[string]bool{"null_mx": true, "no_such_domain": true}
