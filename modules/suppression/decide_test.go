package suppression

import (
	"testing"

	"github.com/postrider/postrider/runtime/work/event"
)

func TestBouncesAndFewFailuresSuppress(t *testing.T) {
	t.Parallel()
	const no = ""
	bounce := &event.Bounce{Code: 550, EnhancedCode: "5.1.1", Diagnostic: "550 5.1.1 User unknown"}
	for name, c := range map[string]struct {
		typ       event.Type
		bounce    *event.Bounce
		failure   string
		complaint string
		want      string
	}{
		"a hard bounce":                {bounce: bounce, want: "bounce"},
		"a soft bounce":                {bounce: &event.Bounce{Type: "transient", Code: 452, EnhancedCode: "4.2.2"}, want: "bounce"},
		"a bounce without a class":     {bounce: &event.Bounce{Code: 554, Diagnostic: "554 Transaction failed"}, want: "bounce"},
		"a bounce without its details": {typ: event.EmailBounced, want: "bounce"},
		"refused for policy":           {failure: "content", want: no},
		"greylisted without end":       {failure: "greylist", want: no},
		"throttled without end":        {failure: "throttle", want: no},
		"null MX":                      {failure: "null_mx", want: "failure"},
		"no such domain":               {failure: "no_such_domain", want: "failure"},
		"TLS required":                 {failure: "tls_required", want: no},
		"message too large":            {failure: "message_too_large", want: no},
		"policy":                       {failure: "policy", want: no},
		"SMTPUTF8 required":            {failure: "smtputf8_required", want: no},
		"plan limit":                   {failure: "plan_limit", want: no},
		"domain not verified":          {failure: "domain_not_verified", want: no},
		"a failure that is not known":  {failure: "something_new", want: no},
		"complaint":                    {complaint: "abuse", want: "complaint"},
		"complaint of another kind":    {complaint: "fraud", want: "complaint"},
		"complaint taken back":         {complaint: "not-spam", want: no},
		"a fact of another type":       {typ: event.EmailDelivered, want: no},
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
			t.Errorf("%s: got the reason %q, want %q", name, reason, c.want)
		}
	}
}

func TestErasedEmailSuppressesNoAddress(t *testing.T) {
	t.Parallel()
	if _, suppresses := decide(event.EmailComplained, event.Email{}); suppresses {
		t.Error("an empty recipient was suppressed")
	}
}
