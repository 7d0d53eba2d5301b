package model

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/fault"
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

// maxCount is how far a list is counted.
const maxCount = 10_000

// Count counts the list up to the limit. Error: Invalid naming `limit`.
func (c Connection[N, E]) Count(ctx context.Context, limit int) (*Count, error) {
	if limit < 1 || limit > maxCount {
		return nil, fault.InvalidField("limit", "must be between 1 and %d", maxCount)
	}
	found, err := c.Counter(ctx, limit+1)
	return &Count{Value: min(found, limit), IsExact: found <= limit}, err
}

// The lists of the schema.
type (
	APIKeyConnection struct {
		Connection[*ent.APIKey, *APIKeyEdge]
	}
	APIKeyEdge           struct{ Edge[*ent.APIKey] }
	APIRequestConnection struct {
		Connection[*APIRequest, *APIRequestEdge]
	}
	APIRequestEdge     struct{ Edge[*APIRequest] }
	AuditLogConnection struct {
		Connection[*AuditEntry, *AuditLogEdge]
	}
	AuditLogEdge         struct{ Edge[*AuditEntry] }
	AutomationConnection struct {
		Connection[*Automation, *AutomationEdge]
	}
	AutomationEdge          struct{ Edge[*Automation] }
	AutomationRunConnection struct {
		Connection[*AutomationRun, *AutomationRunEdge]
	}
	AutomationRunEdge        struct{ Edge[*AutomationRun] }
	CategoryOptOutConnection struct {
		Connection[*ent.CategoryOptOut, *CategoryOptOutEdge]
	}
	CategoryOptOutEdge    struct{ Edge[*ent.CategoryOptOut] }
	CustomEventConnection struct {
		Connection[*ent.CustomEvent, *CustomEventEdge]
	}
	CustomEventEdge  struct{ Edge[*ent.CustomEvent] }
	DomainConnection struct {
		Connection[*Domain, *DomainEdge]
	}
	DomainEdge      struct{ Edge[*Domain] }
	EmailConnection struct{ Connection[*Email, *EmailEdge] }
	EmailEdge       struct{ Edge[*Email] }
	QueueConnection struct {
		Connection[*QueuedRecipient, *QueueEdge]
	}
	QueueEdge               struct{ Edge[*QueuedRecipient] }
	ReceivedEmailConnection struct {
		Connection[*ent.ReceivedEmail, *ReceivedEmailEdge]
	}
	ReceivedEmailEdge        struct{ Edge[*ent.ReceivedEmail] }
	SMTPCredentialConnection struct {
		Connection[*SMTPCredential, *SMTPCredentialEdge]
	}
	SMTPCredentialEdge    struct{ Edge[*SMTPCredential] }
	SuppressionConnection struct {
		Connection[*ent.Suppression, *SuppressionEdge]
	}
	SuppressionEdge    struct{ Edge[*ent.Suppression] }
	TemplateConnection struct {
		Connection[*Template, *TemplateEdge]
	}
	TemplateEdge              struct{ Edge[*Template] }
	TemplateVersionConnection struct {
		Connection[*TemplateVersion, *TemplateVersionEdge]
	}
	TemplateVersionEdge struct{ Edge[*TemplateVersion] }
	WebhookConnection   struct {
		Connection[*ent.Webhook, *WebhookEdge]
	}
	WebhookEdge               struct{ Edge[*ent.Webhook] }
	WebhookDeliveryConnection struct {
		Connection[*WebhookDelivery, *WebhookDeliveryEdge]
	}
	WebhookDeliveryEdge struct{ Edge[*WebhookDelivery] }
)
