package event

import (
	"slices"
	"strings"
	"testing"
)

func TestEventsOfDisabledModulesAreNotOffered(t *testing.T) {
	t.Parallel()
	on := Offer{"accounts", "sending", "suppression", "webhooks"}
	for typ, module := range map[Type]string{EmailOpened: "tracking", EmailClicked: "tracking",
		EmailReceived: "inbound", EmailComplained: "bounces",
		AutomationStarted: "automations", AutomationFailed: "automations"} {
		if slices.Contains(on.Types(), string(typ)) {
			t.Errorf("%s is offered although %s is disabled", typ, module)
		}
		if got := on.Refusal(typ); !strings.Contains(got, "the module "+module+", which is disabled") {
			t.Errorf("%s is rejected with %q, want the error to contain the module %s", typ, got, module)
		}
		if got := append(on, module).Refusal(typ); got != "" {
			t.Errorf("%s is rejected with %q although %s is enabled", typ, got, module)
		}
		if got := Offer(nil).Refusal(typ); got != "" {
			t.Errorf("%s is rejected with %q although all modules are enabled", typ, got)
		}
	}
	for _, typ := range []Type{"email.exploded", "", EmailRescheduled} {
		if got := on.Refusal(typ); !strings.HasPrefix(got, "is not an event type; available types are ") {
			t.Errorf("%q is rejected with %q, want the available types", typ, got)
		}
	}
	for _, typ := range []Type{EmailSent, EmailBounced, ContactUnsubscribed} {
		if !slices.Contains(on.Types(), string(typ)) || on.Refusal(typ) != "" {
			t.Errorf("%s is not offered: %q", typ, on.Refusal(typ))
		}
	}
}
