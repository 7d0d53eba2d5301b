package model

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Connection is one page of a list of N, whose entries have edges E.
type Connection[N, E any] struct {
	Edges    []E
	Nodes    []N
	PageInfo *PageInfo
	Counter  Counter
}

// Edge is an entry of a list and the cursor that continues from it.
type Edge[N any] struct {
	Cursor string
	Node   N
}

// Counter counts the entries of a list under its filter, up to a number.
type Counter func(ctx context.Context, most int) (int, error)

// maxCount is where counting stops.
const maxCount = 10_000

// Count counts the list up to the limit. Error: Invalid naming `limit`.
func (c Connection[N, E]) Count(ctx context.Context, limit int) (*Count, error) {
	if limit < 1 || limit > maxCount {
		return nil, fault.InvalidField("limit", "must be between 1 and %d", maxCount)
	}
	found, err := c.Counter(ctx, limit+1)
	return &Count{Value: min(found, limit), IsExact: found <= limit}, err
}

// APIKeyConnection is a page of a list.
type APIKeyConnection struct {
	Connection[*ent.APIKey, *APIKeyEdge]
}

// APIKeyEdge is an entry of such a page.
type APIKeyEdge struct{ Edge[*ent.APIKey] }

// APIRequestConnection is a page of a list.
type APIRequestConnection struct {
	Connection[*APIRequest, *APIRequestEdge]
}

// APIRequestEdge is an entry of such a page.
type APIRequestEdge struct{ Edge[*APIRequest] }

// AuditLogConnection is a page of a list.
type AuditLogConnection struct {
	Connection[*AuditEntry, *AuditLogEdge]
}

// AuditLogEdge is an entry of such a page.
type AuditLogEdge struct{ Edge[*AuditEntry] }

// AutomationConnection is a page of a list.
type AutomationConnection struct {
	Connection[*Automation, *AutomationEdge]
}

// AutomationEdge is an entry of such a page.
type AutomationEdge struct{ Edge[*Automation] }

// AutomationRunConnection is a page of a list.
type AutomationRunConnection struct {
	Connection[*AutomationRun, *AutomationRunEdge]
}

// AutomationRunEdge is an entry of such a page.
type AutomationRunEdge struct{ Edge[*AutomationRun] }

// CategoryOptOutConnection is a page of a list.
type CategoryOptOutConnection struct {
	Connection[*ent.CategoryOptOut, *CategoryOptOutEdge]
}

// CategoryOptOutEdge is an entry of such a page.
type CategoryOptOutEdge struct{ Edge[*ent.CategoryOptOut] }

// CustomEventConnection is a page of a list.
type CustomEventConnection struct {
	Connection[*CustomEvent, *CustomEventEdge]
}

// CustomEventEdge is an entry of such a page.
type CustomEventEdge struct{ Edge[*CustomEvent] }

// DomainConnection is a page of a list.
type DomainConnection struct {
	Connection[*Domain, *DomainEdge]
}

// DomainEdge is an entry of such a page.
type DomainEdge struct{ Edge[*Domain] }

// EmailConnection is a page of a list.
type EmailConnection struct{ Connection[*Email, *EmailEdge] }

// EmailEdge is an entry of such a page.
type EmailEdge struct{ Edge[*Email] }

// InvitationConnection is a page of a list.
type InvitationConnection struct {
	Connection[*Invitation, *InvitationEdge]
}

// InvitationEdge is an entry of such a page.
type InvitationEdge struct{ Edge[*Invitation] }

// MemberConnection is a page of a list.
type MemberConnection struct {
	Connection[*Member, *MemberEdge]
}

// MemberEdge is an entry of such a page.
type MemberEdge struct{ Edge[*Member] }

// OperatorAccountConnection is a page of a list.
type OperatorAccountConnection struct {
	Connection[*OperatorAccount, *OperatorAccountEdge]
}

// OperatorAccountEdge is an entry of such a page.
type OperatorAccountEdge struct{ Edge[*OperatorAccount] }

// OperatorUserConnection is a page of a list.
type OperatorUserConnection struct {
	Connection[*OperatorUser, *OperatorUserEdge]
}

// OperatorUserEdge is an entry of such a page.
type OperatorUserEdge struct{ Edge[*OperatorUser] }

// QueueConnection is a page of a list.
type QueueConnection struct {
	Connection[*QueuedRecipient, *QueueEdge]
}

// QueueEdge is an entry of such a page.
type QueueEdge struct{ Edge[*QueuedRecipient] }

// ReceivedEmailConnection is a page of a list.
type ReceivedEmailConnection struct {
	Connection[*ReceivedEmail, *ReceivedEmailEdge]
}

// ReceivedEmailEdge is an entry of such a page.
type ReceivedEmailEdge struct{ Edge[*ReceivedEmail] }

// SMTPCredentialConnection is a page of a list.
type SMTPCredentialConnection struct {
	Connection[*SMTPCredential, *SMTPCredentialEdge]
}

// SMTPCredentialEdge is an entry of such a page.
type SMTPCredentialEdge struct{ Edge[*SMTPCredential] }

// SuppressionConnection is a page of a list.
type SuppressionConnection struct {
	Connection[*Suppression, *SuppressionEdge]
}

// SuppressionEdge is an entry of such a page.
type SuppressionEdge struct{ Edge[*Suppression] }

// TemplateConnection is a page of a list.
type TemplateConnection struct {
	Connection[*Template, *TemplateEdge]
}

// TemplateEdge is an entry of such a page.
type TemplateEdge struct{ Edge[*Template] }

// TemplateVersionConnection is a page of a list.
type TemplateVersionConnection struct {
	Connection[*TemplateVersion, *TemplateVersionEdge]
}

// TemplateVersionEdge is an entry of such a page.
type TemplateVersionEdge struct{ Edge[*TemplateVersion] }

// WebhookConnection is a page of a list.
type WebhookConnection struct {
	Connection[*Webhook, *WebhookEdge]
}

// WebhookEdge is an entry of such a page.
type WebhookEdge struct{ Edge[*Webhook] }

// WebhookDeliveryConnection is a page of a list.
type WebhookDeliveryConnection struct {
	Connection[*WebhookDelivery, *WebhookDeliveryEdge]
}

// WebhookDeliveryEdge is an entry of such a page.
type WebhookDeliveryEdge struct{ Edge[*WebhookDelivery] }
