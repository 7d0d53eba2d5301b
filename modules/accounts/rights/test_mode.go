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
	ownData = []string{"emails", "events", "event-log", "received-emails", "suppressions", "category-opt-outs",
		"contacts", "webhooks", "webhook-deliveries", "requests", "sms-messages", "automation-runs"}
	sharedDefinitions = []string{"account", "plans", "domains", "templates", "template-images", "automations"}
	// Their paths lead through a definition to the data of the mode.
	dataOfDefinitions = []string{"statistics", "runs"}
	// Changes of such data. Their paths begin with a definition too.
	changesOfData = []string{"/automations/{id}/retry-failed"}
	// Credentials, people, payments and the installation.
	liveOnly = append([]string{"automation-webhook-secret", "sms-settings"}, withheld...)
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
	case slices.Contains(changesOfData, path):
		return TestData, true
	case !reads:
		return LiveOnly, true
	case slices.Contains(dataOfDefinitions, last):
		return TestData, true
	}
	return SharedDefinition, true
}

// testFields lists how root fields of GraphQL work in test mode. A field that is not in the table is refused.
var testFields = map[string]TestAccess{
	"Query.viewer": SharedDefinition, "Query.account": SharedDefinition, "Query.plans": SharedDefinition,
	"Query.domain": SharedDefinition, "Query.domains": SharedDefinition,
	"Query.template": SharedDefinition, "Query.templates": SharedDefinition,

	"Query.node": TestData, "Query.nodes": TestData, "Query.search": TestData,
	"Query.email": TestData, "Query.emails": TestData, "Query.scheduledEmails": TestData,
	"Query.receivedEmail": TestData, "Query.receivedEmails": TestData, "Query.events": TestData,
	"Query.suppression": TestData, "Query.suppressions": TestData,
	"Query.categoryOptOut": TestData, "Query.categoryOptOuts": TestData,
	"Query.webhook": TestData, "Query.webhooks": TestData, "Query.webhookStatistics": TestData,
	"Query.webhookDelivery": TestData, "Query.webhookDeliveries": TestData,
	"Query.apiRequest": TestData, "Query.apiRequests": TestData,
	"Query.emailStatistics": TestData, "Query.receivedStatistics": TestData, "Query.topBounceReasons": TestData,
	"Query.automation": SharedDefinition, "Query.automations": SharedDefinition,
	"Query.automationRun": TestData, "Query.automationRuns": TestData, "Query.automationStatistics": TestData,
	"Query.customEvent": TestData, "Query.customEvents": TestData,
	"Query.queue": TestData, "Query.queueByDestination": TestData, "Query.health": TestData,
	"Subscription.events": TestData,

	"Mutation.sendEmail": TestData, "Mutation.checkEmail": TestData, "Mutation.cancelEmail": TestData,
	"Mutation.rescheduleEmail": TestData, "Mutation.addSuppression": TestData, "Mutation.removeSuppression": TestData,
	"Mutation.dropDelivery": TestData, "Mutation.holdDelivery": TestData, "Mutation.releaseDelivery": TestData,
	"Mutation.retryDelivery": TestData, "Mutation.replayWebhookDelivery": TestData,

	"Query.addressRules": LiveOnly, "Query.apiKey": LiveOnly, "Query.apiKeys": LiveOnly, "Query.auditLog": LiveOnly,
	"Query.billing": LiveOnly, "Query.invitations": LiveOnly,
	"Query.members": LiveOnly, "Query.operator": LiveOnly, "Query.smtpCredential": LiveOnly,
	"Query.smtpCredentials": LiveOnly, "Query.usage": LiveOnly,
	"Mutation.createAccountAsOperator": LiveOnly, "Mutation.updateAccountAsOperator": LiveOnly,
	"Mutation.updatePlanAsOperator": LiveOnly, "Mutation.createUserAsOperator": LiveOnly,
	"Mutation.updateUserAsOperator": LiveOnly, "Mutation.createUserLinkAsOperator": LiveOnly,
	"Mutation.createOperatorKey": LiveOnly, "Mutation.revokeOperatorKey": LiveOnly,
}

// TestAccessOfField returns how a root field of GraphQL, such as Query.emails, works in test mode, and whether there is
// a decision about it.
func TestAccessOfField(field string) (access TestAccess, decided bool) {
	access, decided = testFields[field]
	return access, decided
}
