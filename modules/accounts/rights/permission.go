package rights

import (
	"slices"
	"strings"
)

// Permission allows a kind of access to one kind of resource, such as emails:send. It narrows the scope of an API key.
type Permission string

// resources are the kinds of resources by the first segment of the paths of the REST API. Operations on other paths are
// refused to keys with permissions: API keys and SMTP credentials grant more than any permission, and people, billing
// and the installation are not for programs with few rights.
var resources = map[string]string{
	"account": "account", "plans": "account",
	"automations": "automations", "automation-runs": "automations", "automation-webhook-secret": "automations",
	"contacts": "contacts",
	"domains":  "domains",
	"emails":   "emails",
	"events":   "events", "event-log": "events",
	"received-emails": "received_emails",
	"requests":        "requests",
	"sms-messages":    "sms", "sms-settings": "sms",
	"suppressions": "suppressions", "category-opt-outs": "suppressions",
	"templates": "templates", "template-images": "templates",
	"test":     "emails",
	"webhooks": "webhooks", "webhook-deliveries": "webhooks",
}

// withheld are the first segments of paths that no permission covers.
var withheld = []string{"api-keys", "smtp-credentials", "audit-log", "billing", "members", "invitations", "operator"}

// PermissionOf returns the permission that allows an operation of the REST API, and whether there is a decision about
// its path. The permission is empty if only keys without permissions may use the operation.
func PermissionOf(path string, needs Operation) (permission Permission, decided bool) {
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	resource, known := resources[segment]
	access := accessOf(needs)
	if !known || access == "" {
		return "", known || slices.Contains(withheld, segment) || access == ""
	}
	return Permission(resource + ":" + access), true
}

// accessOf returns the access that an operation of a kind needs, or "" if no API key has it.
func accessOf(needs Operation) string {
	switch needs {
	case Read, ReadSent, ReadAccount:
		return "read"
	case Write, Settings:
		return "write"
	case Send:
		return "send"
	default:
		return ""
	}
}

// PermissionSend allows sending emails.
const PermissionSend Permission = "emails:send"

// Permissions lists the permissions that an operation can need, sorted.
func Permissions() []Permission {
	return []Permission{"account:read", "account:write", "automations:read", "automations:write", "contacts:write",
		"domains:read", "domains:write", "emails:read", PermissionSend, "emails:write", "events:read", "events:send",
		"received_emails:read", "received_emails:write", "requests:read", "sms:read", "sms:write", "suppressions:read",
		"suppressions:write", "templates:read", "templates:write", "webhooks:read", "webhooks:write"}
}
