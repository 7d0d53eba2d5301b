package rights

import "slices"

// Creator holds the current rights of the user who created a key. A key never has more rights than its
// creator has now.
type Creator struct {
	Role   Role // in the account; the last role if the user has left
	Former bool // has left the account, or is disabled
}

// Allows reports whether a key of the creator may perform operations of the kind, if its scope allows them.
// The key of a former member can still send mail, because it belongs to the account. But since the former
// member knows its secret, it is limited to the sending scope.
func (c Creator) Allows(op Operation) bool {
	return c.Role.Allows(op) && (!c.Former || ScopeSending.Allows(op))
}

// Reach defines how a key that is limited to some domains may use an operation.
type Reach int

// The reaches. An operation that is not in the table of reaches covers the whole account.
const (
	WholeAccount Reach = iota // covers the mail of every domain, or the account: limited keys are rejected
	OwnDomains                // covers a domain or its mail, and is restricted to the key's domains
	NoDomain                  // does not involve the mail of a domain
)

// String returns the name of a reach in tables.
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

// IsSubset reports whether own is limited to domains that are all listed in of. An empty list means no limit.
func IsSubset(own, of []string) bool {
	return len(own) > 0 && !slices.ContainsFunc(own, func(id string) bool { return !slices.Contains(of, id) })
}

// ReachOf returns the reach of a REST operation by its ID, or of a GraphQL root field such as Query.emails.
func ReachOf(operation string) Reach { return reaches[operation] }

// reaches lists the operations available to keys that are limited to some domains: those that concern the mail
// of their domains, and those required to send it.
var reaches = map[string]Reach{
	"sendEmail": OwnDomains, "sendBatch": OwnDomains, "resendEmail": OwnDomains, "checkEmail": OwnDomains,
	"postCustomEvent": NoDomain,
	"getEmail":        OwnDomains, "listEmails": OwnDomains, "exportEmails": OwnDomains, "updateEmail": OwnDomains,
	"listEmailAttempts": OwnDomains, "listEmailRecipients": OwnDomains, "getEmailAttachment": OwnDomains,
	"getReceivedEmail": OwnDomains, "listReceivedEmails": OwnDomains, "getReceivedEmailRaw": OwnDomains,
	"deleteReceivedEmail": OwnDomains, "replyToReceivedEmail": OwnDomains, "forwardReceivedEmail": OwnDomains,
	"getReceivedEmailAttachment": OwnDomains,

	// Such a key cannot add or delete a domain, or claim a domain of another account.
	"getDomain": OwnDomains, "listDomains": OwnDomains, "updateDomain": OwnDomains, "verifyDomain": OwnDomains,
	"getDomainZoneFile": OwnDomains, "getDomainDNSProvider": OwnDomains, "getDomainDeliverability": OwnDomains,
	"applyDomainDNSRecords": OwnDomains, "rotateDomainDKIM": OwnDomains, "getAddressRules": OwnDomains, "putAddressRules": OwnDomains,
	"getDomainTrackingHost": OwnDomains, "setDomainTrackingHost": OwnDomains, "verifyDomainTrackingHost": OwnDomains, "deleteDomainTrackingHost": OwnDomains,

	// New keys, credentials and activated automations inherit the limit of the key.
	"createAPIKey": OwnDomains, "revokeAPIKey": OwnDomains, "rotateAPIKey": OwnDomains, "createSMTPCredential": OwnDomains, "revokeSMTPCredential": OwnDomains,
	"createAutomation": NoDomain, "getAutomation": OwnDomains, "checkAutomation": OwnDomains,
	"updateAutomation": OwnDomains, "actOnAutomation": OwnDomains, "simulateAutomation": OwnDomains,

	"getAccount": NoDomain, "getAccountBrand": NoDomain, "listPlans": NoDomain,
	"listTemplates": NoDomain, "getTemplate": NoDomain, "listTemplateVersions": NoDomain, "getTemplateVersion": NoDomain, "listTemplateEdits": NoDomain, "getTemplateEdit": NoDomain, "listTemplateImages": NoDomain, "renderTemplate": NoDomain,
	"exportTemplateStrings": NoDomain,

	"Query.viewer": NoDomain, "Query.account": NoDomain, "Query.email": OwnDomains, "Query.emails": OwnDomains, "Query.scheduledEmails": OwnDomains,
	"Query.domain": OwnDomains, "Query.domains": OwnDomains,
	"Mutation.sendEmail": OwnDomains, "Mutation.checkEmail": OwnDomains, "Mutation.cancelEmail": OwnDomains, "Mutation.rescheduleEmail": OwnDomains,
	"Query.template": NoDomain, "Query.templates": NoDomain,
}
