package model

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/queue"
)

// Emails returns the emails that the entries of one page refer to, by email ID. It loads them once, however
// often it is called.
type Emails func() (map[string]*Email, error)

// Runs returns the runs that the entries of one page refer to, by run ID. It loads them once.
type Runs func() (map[string]*AutomationRun, error)

// Operator is the installation as its operator sees it.
type Operator struct{}

// QueuedRecipient is a recipient in the queue on the page that it was read with.
type QueuedRecipient struct {
	ID, EmailID, Address, Destination string
	State                             queue.State
	Running                           bool
	Attempts                          int
	NextAttemptAt                     *time.Time
	QueuedAt                          time.Time
	Diagnostic                        *string

	Emails Emails
}

// Suppression is a suppression on the page that it was read with.
type Suppression struct {
	*ent.Suppression

	Emails Emails
}

// EmailAutomation is the run that sent an email.
type EmailAutomation struct {
	AutomationID, RunID     string
	AutomationName, StepKey *string

	Runs Runs
}

// CustomEvent is a custom event on the page that it was read with.
type CustomEvent struct {
	*ent.CustomEvent

	Runs Runs
}

// CustomEventMatch is the effect of an event on an automation.
type CustomEventMatch struct {
	AutomationID string
	Version      int
	Outcome      string
	RunID, Error *string

	Runs Runs
}

// ReceivedEmail is a received email on the page that it was read with.
type ReceivedEmail struct {
	*ent.ReceivedEmail

	Page *ReceivedPage
}

// AttachmentCount returns the number of attached files.
func (e *ReceivedEmail) AttachmentCount() int { return len(e.Attachments) }

const lastReferences = 10

// OuterReferences returns the first reference, where the thread started, and the last ones.
func (e *ReceivedEmail) OuterReferences() []string {
	if len(e.References) <= 1+lastReferences {
		return e.References
	}
	return append([]string{e.References[0]}, e.References[len(e.References)-lastReferences:]...)
}

// ReceivedPage returns the related data of the received emails of one page. Each function loads it once.
type ReceivedPage struct {
	Domains    func() (map[string]*Domain, error)            // by the domain's id
	Deliveries func() (map[string][]*WebhookDelivery, error) // by the id of the received email
}
