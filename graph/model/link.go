package model

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/sending/queue"
)

// Emails gives the emails that the entries of one page point at, by email id. It asks once, however
// often it is called.
type Emails func() (map[string]*Email, error)

// Runs gives the runs that the entries of one page point at, by run id, likewise.
type Runs func() (map[string]*AutomationRun, error)

// Operator is the installation, for who operates it.
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

// EmailAutomation says which run has sent an email.
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

// CustomEventMatch is what an automation made of an event.
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

// AttachmentCount is how many files it has.
func (e *ReceivedEmail) AttachmentCount() int { return len(e.Attachments) }

const lastReferences = 10

// OuterReferences are the first of its references, where the thread began, and the last.
func (e *ReceivedEmail) OuterReferences() []string {
	if len(e.References) <= 1+lastReferences {
		return e.References
	}
	return append([]string{e.References[0]}, e.References[len(e.References)-lastReferences:]...)
}

// ReceivedPage gives what hangs off the received emails of one page. Each function asks once.
type ReceivedPage struct {
	Domains    func() (map[string]*Domain, error)            // by the domain's id
	Deliveries func() (map[string][]*WebhookDelivery, error) // by the id of the received email
}
