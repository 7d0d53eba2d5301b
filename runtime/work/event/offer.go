package event

import (
	"slices"
	"strings"
)

// Offer are the names of the modules that are on: events of others never happen. nil: all are.
type Offer []string

// Types gives the types that webhook endpoints can have, by name.
func (o Offer) Types() []string {
	var names []string
	for _, entry := range catalog {
		if entry.Public() && o.happens(entry.Type) {
			names = append(names, string(entry.Type))
		}
	}
	return names
}

// Refusal says why an endpoint cannot have a type, "" if it can.
func (o Offer) Refusal(t Type) string {
	switch entry, known := Lookup(t); {
	case !known || !entry.Public():
		return "is not an event type; those are " + strings.Join(o.Types(), ", ")
	case !o.happens(t):
		return "is an event of the module " + moduleOf(t) + ", which is not on here; there are " + strings.Join(o.Types(), ", ")
	default:
		return ""
	}
}

func (o Offer) happens(t Type) bool { return o == nil || slices.Contains(o, moduleOf(t)) }

// moduleOf names the module that causes an event.
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
	}
	subject, _, _ := strings.Cut(string(t), ".")
	switch subject {
	case "automation":
		return "automations"
	case "domain":
		return "domains"
	case "suppression":
		return "suppression"
	}
	return "sending"
}
