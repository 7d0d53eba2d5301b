package relay

import (
	"maps"
	"slices"
	"strings"

	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

var (
	replyUnauthenticated = smtpserver.Refuse(530, "5.7.0", "Authentication required")
	replyStartTLS        = smtpserver.Refuse(530, "5.7.0", "Issue STARTTLS first, then authenticate")
	replyCredentials     = smtpserver.Refuse(535, "5.7.8", "Authentication credentials invalid")
	replyFailures        = smtpserver.Refuse(454, "4.7.0",
		"Too many failed authentications from your address; try again later")
	replyLookup     = smtpserver.Refuse(454, "4.7.0", "Temporary authentication failure; try again later")
	replyMechanism  = smtpserver.Refuse(504, "5.5.4", "Unknown authentication mechanism")
	replyNullSender = smtpserver.Refuse(550, "5.7.1",
		"The sender must be an address on a verified domain, not the null sender")
	replyRouting = smtpserver.Refuse(550, "5.7.1",
		"Addresses that name a route (with @, % or ! before the @) are not relayed")
	replyRecipients = smtpserver.Refuse(452, "4.5.3",
		"Too many recipients; send the message to the others in another transaction")
	replyRoom = smtpserver.Refuse(452, "4.3.1", "Too many large messages at the moment; try again later")
)

func init() {
	for reply, reason := range map[*smtpserver.Reply]string{replyUnauthenticated: "unauthenticated",
		replyStartTLS: "unauthenticated", replyCredentials: "credentials",
		replyFailures: "failures", replyLookup: "unavailable", replyNullSender: "null_sender", replyRouting: "routing",
		replyRoom: "room"} {
		reply.Reason = reason
	}
}

// badHeader rejects a message because of one field.
func badHeader(name, reason string) *smtpserver.Reply {
	r := smtpserver.Refuse(550, "5.6.0", name+": "+reason)
	r.Reason = "header"
	return r
}

// badFormat rejects a message with an invalid format.
func badFormat(err error) *smtpserver.Reply {
	r := smtpserver.Refuse(554, "5.6.0", "The message cannot be sent: "+err.Error())
	r.Reason = "format"
	return r
}

// forbiddenReply rejects a message that the sender may not send.
func forbiddenReply(text string) *smtpserver.Reply {
	r := smtpserver.Refuse(550, "5.7.1", text)
	r.Reason = "policy"
	return r
}

// suppressedReply rejects a message that was recorded but has only suppressed recipients.
func suppressedReply(r sending.Receipt) *smtpserver.Reply {
	answer := smtpserver.Refuse(550, "5.7.1", "Not sent, recorded as "+r.ID+": suppressed "+
		strings.Join(r.Suppressed, ", "))
	answer.Reason = "suppressed"
	return answer
}

// replyTo converts a fault into an SMTP reply. It returns other errors unchanged; the listener logs them and
// replies 451.
func replyTo(err error) error {
	if err == nil {
		return nil
	}
	refused := fault.Classify(err)
	switch refused.Kind {
	case fault.Invalid:
		return invalidReply(refused)
	case fault.Unauthorized:
		return replyCredentials
	case fault.Forbidden, fault.NotFound:
		return forbiddenReply(refused.Message)
	case fault.Conflict:
		if refused.Code == fault.CodeIdempotencyInProgress {
			return smtpserver.Refuse(451, "4.3.0", refused.Message)
		}
		return forbiddenReply(refused.Message)
	case fault.TooLarge:
		return smtpserver.Refuse(552, "5.3.4", refused.Message)
	case fault.Limit:
		r := smtpserver.Refuse(450, "4.2.1", refused.Message)
		if storage.IsQuota(refused) {
			r = smtpserver.Refuse(452, "4.2.2", refused.Message)
		}
		r.Reason = refused.Code
		return r
	case fault.Unavailable, fault.Internal, fault.Upstream:
		if refused.Code == fault.CodeAccountMoving {
			return smtpserver.Refuse(451, "4.3.2", refused.Message)
		}
	}
	return err
}

// invalidReply reports one invalid field under the name that a client knows.
func invalidReply(refused *fault.Error) *smtpserver.Reply {
	if len(refused.Fields) == 0 {
		return smtpserver.Refuse(550, "5.6.0", refused.Message)
	}
	field := slices.Sorted(maps.Keys(refused.Fields))[0]
	reason := refused.Fields[field]
	base, _, _ := strings.Cut(strings.ReplaceAll(field, ".", "["), "[")
	switch base {
	case "headers":
		return forbiddenReply(strings.TrimPrefix(field, "headers.") + ": " + reason)
	case "attachments":
		return forbiddenReply("An attachment " + reason)
	case "to", "cc", "bcc":
		return smtpserver.Refuse(550, "5.1.3", "A recipient "+reason)
	}
	names := map[string]string{"from": "From", "subject": "Subject", "reply_to": "Reply-To", "tags": headerTag,
		"category":     headerCategory,
		"scheduled_at": headerScheduledAt, "expires_at": headerExpiresAt, "unsubscribe": headerUnsubscribe, "Idempotency-Key": headerKey}
	if name, known := names[base]; known {
		field = name
	}
	return badHeader(field, reason)
}
