package event

import (
	"slices"
	"strings"
)

// Offer lists the names of the enabled modules. Events of other modules never happen. nil means all.
type Offer []string

// Entries returns the public part of the catalog that can happen.
func (o Offer) Entries() []Entry {
	return slices.DeleteFunc(Catalog(), func(e Entry) bool { return !o.canHappen(e.Type) })
}

// Types returns the types available to webhook endpoints, by name.
func (o Offer) Types() []string {
	var names []string
	for _, entry := range o.Entries() {
		names = append(names, string(entry.Type))
	}
	return names
}

// Refusal returns the reason why an endpoint cannot have a type, or "".
func (o Offer) Refusal(t Type) string {
	switch entry, known := Lookup(t); {
	case !known || !entry.IsPublic():
		return "is not an event type; available types are " + strings.Join(o.Types(), ", ")
	case !o.canHappen(t):
		return "is an event of the module " + moduleOf(t) + ", which is disabled; available types are " +
			strings.Join(o.Types(), ", ")
	default:
		return ""
	}
}

func (o Offer) canHappen(t Type) bool { return o == nil || slices.Contains(o, moduleOf(t)) }

// moduleOf returns the module that causes an event.
func moduleOf(t Type) string {
	switch t {
	case EmailReceived:
		return "inbound"
	case EmailOpened, EmailClicked:
		return "tracking"
	case EmailComplained:
		return "bounces"
	case ContactUnsubscribed:
		return "suppression"
	case AccountRateExceeded:
		return "statistics"
	case AccountUsageReached:
		return "billing"
	case DomainDeliverabilityDegraded:
		return "deliverability"
	}
	subject, _, _ := strings.Cut(string(t), ".")
	switch subject {
	case "automation":
		return "automations"
	case "domain":
		return "domains"
	case "suppression":
		return "suppression"
	case "webhook":
		return "webhooks"
	}
	return "sending"
}
