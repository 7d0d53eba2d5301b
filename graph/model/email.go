package model

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/work/event"
)

// Email is an email on the page that it was read with.
type Email struct {
	*ent.Email
	Page *EmailPage
}

// EmailContent is the content of the same email.
type EmailContent struct{ *Email }

// EmailPage returns the related data of the emails of one page, by email ID. Each function calls its
// service once for all emails of the page, however often and from however many goroutines it is called.
type EmailPage struct {
	Bodies      func() (map[string]*ent.Email, error)
	Snippets    func() (map[string]string, error)
	Recipients  func() (map[string][]*ent.Recipient, error)
	Attempts    func() (map[string][]*ent.Attempt, error)
	Attachments func() (map[string][]*ent.Attachment, error)
	Timeline    func() (map[string][]event.Fact, error)
	Engagement  func() (map[string]tracking.Counts, error)
	Engagements func(first int) (map[string][]*ent.Engagement, error)
	Origins     func() (map[string]automations.EmailOrigin, error)

	// By their own ids.
	Domains    func() (map[string]*Domain, error)
	Keys       func() (map[string]*ent.APIKey, error)
	Templates  func() (map[string]*Template, error)
	Runs       Runs
	Suppressed func() (map[string]*Suppression, error)       // by the address
	Deliveries func() (map[string][]*WebhookDelivery, error) // by the id of the event
}
