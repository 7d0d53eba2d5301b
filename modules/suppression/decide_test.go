package suppression

import (
	"testing"

	"github.com/postrider/postrider/runtime/event"
)

func TestWhatSuppresses(t *testing.T) {
	t.Parallel()
	const no = ""
	bounce := func(code int, enhanced, text string) *event.Bounce {
		return &event.Bounce{Code: code, EnhancedCode: enhanced, Diagnostic: text}
	}
	for name, c := range map[string]struct {
		typ       event.Type
		bounce    *event.Bounce
		failure   string
		complaint string
		want      string
	}{
		"unknown user":                     {bounce: bounce(550, "5.1.1", "550 5.1.1 User unknown"), want: "bounce"},
		"null MX, by code":                 {bounce: bounce(556, "5.1.10", ""), want: "bounce"},
		"mailbox full":                     {bounce: bounce(552, "5.2.2", ""), want: "bounce"},
		"mailbox full, three days long":    {bounce: bounce(452, "4.2.2", ""), want: "bounce"},
		"mailbox disabled":                 {bounce: bounce(550, "5.2.1", ""), want: "bounce"},
		"no route":                         {bounce: bounce(550, "5.4.1", ""), want: "bounce"},
		"nobody answered for three days":   {bounce: bounce(0, "", "dial tcp 192.0.2.1:25: i/o timeout"), want: "bounce"},
		"busy for three days":              {bounce: bounce(421, "4.3.2", ""), want: "bounce"},
		"Outlook's unavailable mailbox":    {bounce: bounce(550, "5.5.0", "550 5.5.0 Requested action not taken: mailbox unavailable"), want: "bounce"},
		"message too big for the system":   {bounce: bounce(552, "5.3.4", ""), want: no},
		"message too big, tried for long":  {bounce: bounce(452, "4.3.4", ""), want: no},
		"message too long for the mailbox": {bounce: bounce(552, "5.2.3", ""), want: no},
		"media not supported":              {bounce: bounce(554, "5.6.1", ""), want: no},
		"not ASCII":                        {bounce: bounce(553, "5.6.7", ""), want: no},
		"blocked by policy":                {bounce: bounce(550, "5.7.1", ""), want: no},
		"policy, tried for long":           {bounce: bounce(451, "4.7.1", "greylisted"), want: no},
		"DMARC":                            {bounce: bounce(550, "5.7.26", ""), want: no},
		"sender's address":                 {bounce: bounce(550, "5.1.8", ""), want: no},
		"sender's syntax":                  {bounce: bounce(553, "5.1.7", ""), want: no},
		"too many recipients":              {bounce: bounce(452, "4.5.3", ""), want: no},
		"bare 550":                         {bounce: bounce(550, "", "550 No"), want: "bounce"},
		"bare 550, unknown":                {bounce: bounce(550, "", "550 No such user here"), want: "bounce"},
		"bare 550, spam":                   {bounce: bounce(550, "", "550 This looks like SPAM"), want: no},
		"bare 550, unknown, then policy":   {bounce: bounce(550, "", "550 User unknown. Read our policy"), want: "bounce"},
		"bare 551":                         {bounce: bounce(551, "", "551 User not local"), want: "bounce"},
		"bare 552":                         {bounce: bounce(552, "", "552 Aborted"), want: no},
		"bare 552, size":                   {bounce: bounce(552, "", "552 Message size exceeds fixed maximum"), want: no},
		"bare 552, quota":                  {bounce: bounce(552, "", "552 Requested mail action aborted: exceeded storage allocation"), want: "bounce"},
		"bare 554":                         {bounce: bounce(554, "", "554 Transaction failed"), want: no},
		"bare 554, blocked":                {bounce: bounce(554, "", "554 Your IP is on a blocklist"), want: no},
		"bare 554, unknown":                {bounce: bounce(554, "", "554 delivery error: this user does not exist"), want: "bounce"},
		"bare 530":                         {bounce: bounce(530, "", "530 Authentication required"), want: no},
		"bare 500":                         {bounce: bounce(500, "", "500 What?"), want: no},
		"bare 452, quota":                  {bounce: bounce(452, "", "452 Mailbox full"), want: "bounce"},
		"broken enhanced code":             {bounce: bounce(550, "5", "550 5 no such user"), want: "bounce"},
		"a bounce without its part":        {typ: event.EmailBounced, want: no},
		"null MX":                          {failure: "null_mx", want: "failure"},
		"no such domain":                   {failure: "no_such_domain", want: "failure"},
		"TLS required":                     {failure: "tls_required", want: no},
		"message too large":                {failure: "message_too_large", want: no},
		"policy":                           {failure: "policy", want: no},
		"SMTPUTF8 required":                {failure: "smtputf8_required", want: no},
		"plan limit":                       {failure: "plan_limit", want: no},
		"domain not verified":              {failure: "domain_not_verified", want: no},
		"a failure that is not known":      {failure: "something_new", want: no},
		"complaint":                        {complaint: "abuse", want: "complaint"},
		"complaint of another kind":        {complaint: "fraud", want: "complaint"},
		"complaint taken back":             {complaint: "not-spam", want: no},
		"a fact of another type":           {typ: event.EmailDelivered, want: no},
	} {
		data := event.Email{Recipient: "bob@example.net", Bounce: c.bounce}
		typ := c.typ
		switch {
		case c.bounce != nil:
			typ = event.EmailBounced
		case c.failure != "":
			typ, data.Failure = event.EmailFailed, &event.Failure{Code: c.failure}
		case c.complaint != "":
			typ, data.Complaint = event.EmailComplained, &event.Complaint{Type: c.complaint}
		}
		reason, suppresses := decide(typ, data)
		if !suppresses {
			reason = no
		}
		if string(reason) != c.want {
			t.Errorf("%s: reason %q, want %q", name, reason, c.want)
		}
	}
}

func TestErasedEmailSuppressesNobody(t *testing.T) {
	t.Parallel()
	if _, suppresses := decide(event.EmailComplained, event.Email{}); suppresses {
		t.Error("an empty recipient is suppressed")
	}
}
