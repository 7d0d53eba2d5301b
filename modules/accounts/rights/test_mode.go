package rights

import (
	"slices"
	"strings"
)

// TestAccess defines how an operation of the REST API works in test mode.
type TestAccess int

// The kinds of access. An operation without a decision is refused.
const (
	LiveOnly         TestAccess = iota // changes or reveals something of the live account: refused
	TestData                           // works with the data of test mode
	SharedDefinition                   // reads something that both modes share, such as a domain or a template
	TestOnly                           // refused in live mode
)

// String returns the name of the access in tables.
func (a TestAccess) String() string {
	switch a {
	case TestData:
		return "test data"
	case SharedDefinition:
		return "shared"
	case TestOnly:
		return "test mode only"
	default:
		return "refused"
	}
}

// The first segments of paths. Each mode has its own data. Both modes share definitions, which a test key must not
// change, because a mistake in a test would then break production.
var (
	ownData = []string{"emails", "event-log", "received-emails", "suppressions", "category-opt-outs",
		"contacts", "webhooks", "webhook-deliveries", "requests", "sms-messages"}
	sharedDefinitions = []string{"account", "plans", "domains", "templates", "template-images"}
	// Their paths lead through a definition to the data of the mode.
	dataOfDefinitions = []string{"statistics"}
	// Credentials, people, payments and the installation; and automations, which events of test mode do not start.
	liveOnly = append([]string{"automations", "automation-runs", "automation-webhook-secret", "events", "sms-settings"},
		withheld...)
	testOnly = []string{"test"}
)

// TestAccessOf returns how an operation of the REST API works in test mode, and whether there is a decision about its
// path.
func TestAccessOf(path string, needs Operation) (access TestAccess, decided bool) {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	first, last := segments[0], segments[len(segments)-1]
	reads := accessOf(needs) == "read"
	switch {
	case needs == Person:
		return SharedDefinition, true // belongs to no account
	case accessOf(needs) == "" || slices.Contains(liveOnly, first):
		return LiveOnly, true
	case first == "domains" && len(segments) > 1 && path != "/domains/{id}":
		return LiveOnly, true // claims, DNS providers, tracking hosts and deliverability belong to operations, not to tests
	case slices.Contains(testOnly, first):
		return TestOnly, true
	case slices.Contains(ownData, first):
		return TestData, true
	case !slices.Contains(sharedDefinitions, first):
		return LiveOnly, false
	case !reads:
		return LiveOnly, true
	case slices.Contains(dataOfDefinitions, last):
		return TestData, true
	}
	return SharedDefinition, true
}
