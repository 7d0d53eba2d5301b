package rights

import "slices"

// Creator is the person who created a key, as far as they bound what it may do: a key never may do more
// than its creator may now.
type Creator struct {
	Role   Role // in the account; of one who has left, the last one
	Former bool // has left the account, or is disabled
}

// Allows reports whether a key of the creator may do operations of the kind, if its scope allows them. The
// key of one who has left keeps mail flowing, as it belongs to the account; but the person knows its secret,
// so it does no more than a key of the scope sending.
func (c Creator) Allows(op Operation) bool {
	return c.Role.Allows(op) && (!c.Former || ScopeSending.Allows(op))
}

// Reach says what a key that is limited to some domains may do with an operation.
type Reach int

// The reaches. Whatever is not listed in a table of reaches is for the whole account.
const (
	WholeAccount Reach = iota // is about mail of every domain, or about the account: such keys are refused
	OwnDomains                // is about a domain, or mail of one, and done for those of the key alone
	NoDomain                  // is about no domain's mail
)

// String is the name of a reach in tables.
func (r Reach) String() string {
	switch r {
	case OwnDomains:
		return "own domains"
	case NoDomain:
		return "yes"
	default:
		return "no"
	}
}

// Within reports whether what is limited to some domains is so to some of others. What has no domains is not
// limited.
func Within(own, of []string) bool {
	return len(own) > 0 && !slices.ContainsFunc(own, func(id string) bool { return !slices.Contains(of, id) })
}

// ReachOf returns the reach of an operation of REST by its id, or of a root field of GraphQL as
// Query.emails.
func ReachOf(operation string) Reach { return reaches[operation] }

// reaches has the operations that keys limited to some domains may use: those about mail of their domains,
// and what they need to send it.
var reaches = map[string]Reach{
	"sendEmail": OwnDomains, "sendBatch": OwnDomains, "resendEmail": OwnDomains, "postCustomEvent": NoDomain,
	"getEmail": OwnDomains, "listEmails": OwnDomains, "exportEmails": OwnDomains, "updateEmail": OwnDomains, "listEmailAttempts": OwnDomains, "listEmailRecipients": OwnDomains,
	"getReceivedEmail": OwnDomains, "listReceivedEmails": OwnDomains, "getReceivedEmailRaw": OwnDomains, "deleteReceivedEmail": OwnDomains, "replyToReceivedEmail": OwnDomains, "forwardReceivedEmail": OwnDomains,

	// Such a key neither adds nor deletes a domain, nor claims one of another account.
	"getDomain": OwnDomains, "listDomains": OwnDomains, "updateDomain": OwnDomains, "verifyDomain": OwnDomains, "getDomainZoneFile": OwnDomains, "getDomainDNSProvider": OwnDomains,
	"applyDomainDNSRecords": OwnDomains, "rotateDomainDKIM": OwnDomains, "getAddressRules": OwnDomains, "putAddressRules": OwnDomains,
	"getDomainTrackingHost": OwnDomains, "setDomainTrackingHost": OwnDomains, "verifyDomainTrackingHost": OwnDomains, "deleteDomainTrackingHost": OwnDomains,

	// Keys and credentials are limited as the key that makes them; so are automations that it activates.
	"createAPIKey": OwnDomains, "revokeAPIKey": OwnDomains, "createSMTPCredential": OwnDomains, "revokeSMTPCredential": OwnDomains,
	"createAutomation": NoDomain, "getAutomation": OwnDomains, "checkAutomation": OwnDomains, "updateAutomation": OwnDomains, "actOnAutomation": OwnDomains, "simulateAutomation": OwnDomains,

	"getAccount": NoDomain, "getAccountBrand": NoDomain, "listPlans": NoDomain,
	"listTemplates": NoDomain, "getTemplate": NoDomain, "listTemplateVersions": NoDomain, "getTemplateVersion": NoDomain, "renderTemplate": NoDomain,

	"Query.viewer": NoDomain, "Query.account": NoDomain, "Query.email": OwnDomains, "Query.emails": OwnDomains, "Query.domain": OwnDomains, "Query.domains": OwnDomains,
	"Query.template": NoDomain, "Query.templates": NoDomain,
}
