package event

import (
	"slices"
	"strings"
	"testing"
)

func TestFindingA7EventsOfModulesThatAreOffAreNotOffered(t *testing.T) {
	t.Parallel()
	on := Offer{"accounts", "sending", "suppression", "webhooks"}
	for typ, module := range map[Type]string{EmailOpened: "tracking", EmailClicked: "tracking",
		EmailReceived: "inbound", EmailComplained: "bounces",
		AutomationStarted: "automations", AutomationFailed: "automations"} {
		if slices.Contains(on.Types(), string(typ)) {
			t.Errorf("%s is offered although %s is off", typ, module)
		}
		if got := on.Refusal(typ); !strings.Contains(got, "the module "+module+", which is not on") {
			t.Errorf("%s is refused with %q, want the module %s named", typ, got, module)
		}
		if got := append(on, module).Refusal(typ); got != "" {
			t.Errorf("%s is refused with %q although %s is on", typ, got, module)
		}
		if got := Offer(nil).Refusal(typ); got != "" {
			t.Errorf("%s is refused with %q where nothing says which modules are on", typ, got)
		}
	}
	for _, typ := range []Type{"email.exploded", "", EmailRescheduled} {
		if got := on.Refusal(typ); !strings.HasPrefix(got, "is not an event type; those are ") {
			t.Errorf("%q is refused with %q, want the types that there are", typ, got)
		}
	}
	for _, typ := range []Type{EmailSent, EmailBounced, ContactUnsubscribed} {
		if !slices.Contains(on.Types(), string(typ)) || on.Refusal(typ) != "" {
			t.Errorf("%s is not offered: %q", typ, on.Refusal(typ))
		}
	}
}
