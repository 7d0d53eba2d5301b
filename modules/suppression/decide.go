package suppression

import (
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/work/event"
)

// decide returns the reason for which a fact about an email suppresses its recipient, and false if it does
// not. It is a pure function.
func decide(typ event.Type, data event.Email) (entsuppression.Reason, bool) {
	switch {
	case data.Recipient == "": // the email was erased meanwhile
		return "", false
	case typ == event.EmailBounced:
		// A rejection of the message or its sender is not a bounce; it is reported as email.failed.
		return entsuppression.ReasonBounce, true
	case typ == event.EmailFailed && data.Failure != nil:
		return entsuppression.ReasonFailure, unreachable[data.Failure.Code]
	case typ == event.EmailComplained:
		// RFC 5965 section 7.3.5: not-spam withdraws an earlier report.
		return entsuppression.ReasonComplaint, data.Complaint == nil || data.Complaint.Type != "not-spam"
	default:
		return "", false
	}
}

// unreachable contains the failures that any other message to the address would have as well. Other failures
// are caused by the message, its sender, the account or our settings.
var unreachable = map[string]bool{"null_mx": true, "no_such_domain": true}
