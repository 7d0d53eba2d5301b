package event

import (
	"slices"
	"time"
)

// The event types.
const (
	EmailReceived        Type = "email.received"
	EmailScheduled       Type = "email.scheduled"
	EmailRescheduled     Type = "email.rescheduled"
	EmailCancelled       Type = "email.cancelled"
	EmailSent            Type = "email.sent"
	EmailDelivered       Type = "email.delivered"
	EmailDeliveryDelayed Type = "email.delivery_delayed"
	EmailBounced         Type = "email.bounced"
	EmailComplained      Type = "email.complained"
	EmailOpened          Type = "email.opened"
	EmailClicked         Type = "email.clicked"
	EmailFailed          Type = "email.failed"
	EmailSuppressed      Type = "email.suppressed"

	ContactUnsubscribed Type = "contact.unsubscribed"

	SuppressionAdded   Type = "suppression.added"
	SuppressionRemoved Type = "suppression.removed"

	AutomationStarted       Type = "automation.started"
	AutomationStepCompleted Type = "automation.step_completed"
	AutomationCompleted     Type = "automation.completed"
	AutomationFailed        Type = "automation.failed"
	AutomationCancelled     Type = "automation.cancelled"

	DomainAdded            Type = "domain.added"
	DomainVerified         Type = "domain.verified"
	DomainTemporaryFailure Type = "domain.temporary_failure"
	DomainFailed           Type = "domain.failed"
	DomainUpdated          Type = "domain.updated"
	DomainDeleted          Type = "domain.deleted"
	DomainClaimStarted     Type = "domain.claim_started"
	DomainClaimed          Type = "domain.claimed"
	DomainLost             Type = "domain.lost"
	DomainDKIMRotated      Type = "domain.dkim_rotated"
)

// Entry describes one type of the catalog.
type Entry struct {
	Type   Type
	When   string  // one line: fired when …
	Sample Payload // a filled example, for documentation and test events
}

// Public reports whether webhooks, the event log and its stream contain events of the type. Other events
// appear only on the timeline of their subject.
func (e Entry) Public() bool { return e.Type != EmailRescheduled && e.Type != AutomationCancelled }

// Catalog lists every public event type, sorted by name.
func Catalog() []Entry {
	return slices.DeleteFunc(slices.Clone(catalog), func(e Entry) bool { return !e.Public() })
}

// Names lists every public event type, sorted.
func Names() []string {
	var names []string
	for _, e := range Catalog() {
		names = append(names, string(e.Type))
	}
	return names
}

// Lookup finds a type, public or not.
func Lookup(t Type) (Entry, bool) {
	i := slices.IndexFunc(catalog, func(e Entry) bool { return e.Type == t })
	if i < 0 {
		return Entry{}, false
	}
	return catalog[i], true
}

var catalog = []Entry{
	{AutomationCancelled, "A run was cancelled; its timeline shows it, and no webhook tells of it", sampleRun("cancelled", 1, "delay", nil)},
	{AutomationCompleted, "A run finished all its steps, or ended early on a false condition", sampleRun("completed", 2, "send_email", nil)},
	{AutomationFailed, "A run failed: a send failed, a wait timed out, a value was not valid", sampleRun("failed", 1, "send_email", &sampleRunError)},
	{AutomationStarted, "An active automation matched an incoming event and a run was created", sampleRun("running", 0, "delay", nil)},
	{AutomationStepCompleted, "One step of a run was completed", sampleRun("running", 1, "send_email", nil)},
	{ContactUnsubscribed, "A recipient completed a managed unsubscribe", sampleUnsubscribe()},
	{DomainAdded, "A domain was added; it sends when its records were seen", sampleDomain("pending")},
	{DomainClaimStarted, "The account set out to prove control of a domain that another account has verified",
		DomainClaim{
			ClaimID: "clm_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com",
			ExpiresAt: At(sampleTime.AddDate(0, 0, 7))}},
	{DomainClaimed, "The account proved control of a domain and has it now, with new keys", sampleDomain("pending")},
	{DomainDeleted, "A domain was deleted; it no longer sends", sampleDomain("verified")},
	{DomainDKIMRotated, "A new key signs the domain's mail, in place of the one before it", DomainKey{
		DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Selector: "pr1k3x9vq", Algorithm: "rsa-sha256",
		PreviousSelector: "pr1a7m2ws"}},
	{DomainFailed, "A verified domain's records stayed broken for 72 hours; it no longer sends", sampleDomain("failed")},
	{DomainLost, "Another account proved control of the domain; it no longer sends here", sampleDomain("failed")},
	{DomainTemporaryFailure, "A verified domain's records broke; it still sends for 72 hours", sampleDomain("temporary_failure")},
	{DomainUpdated, "Settings of a domain were changed", sampleDomainUpdate()},
	{DomainVerified, "All required DNS records of a domain were found", sampleDomain("verified")},
	{EmailBounced, "The receiving server permanently refused a recipient, or retries ran out",
		sampleEmail(EmailBounced, "bounced", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.BounceReason = "550 5.1.1 <bob@example.net>: Recipient address rejected"
			d.Bounce = &Bounce{Type: "permanent", Code: 550, EnhancedCode: "5.1.1",
				Diagnostic: "550 5.1.1 <bob@example.net>: Recipient address rejected", RemoteMTA: "mx1.example.net",
				Attempt: 1}
		})},
	{EmailCancelled, "A scheduled email was cancelled before its time",
		sampleEmail(EmailCancelled, "cancelled", func(d *Email) {
			d.ScheduledAt = &sampleSchedule
		})},
	{EmailClicked, "A tracked link was used, where click tracking is on",
		sampleEmail(EmailClicked, "delivered", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Click = &Click{URL: "https://example.com/receipts/1042", IP: "203.0.113.7", UserAgent: sampleAgent}
		})},
	{EmailComplained, "The recipient marked the message as spam",
		sampleEmail(EmailComplained, "delivered", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Complaint = &Complaint{Type: "abuse", Reporter: "Example Feedback Loop/1.0"}
		})},
	{EmailDelivered, "The message was delivered to the recipient's mailbox provider",
		sampleEmail(EmailDelivered, "delivered", func(d *Email) {
			d.Recipient = "bob@example.net"
		})},
	{EmailDeliveryDelayed, "Delivery is delayed or temporarily held",
		sampleEmail(EmailDeliveryDelayed, "sent", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Delay = &Delay{Attempt: 1, NextAttemptAt: At(sampleTime.Add(time.Minute)),
				Diagnostic: "451 4.7.1 Greylisted, try again later"}
		})},
	{EmailFailed, "No delivery attempt could succeed, for a reason other than a bounce",
		sampleEmail(EmailFailed, "failed", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Failure = &Failure{Reason: "The domain example.net does not accept mail (null MX)", Code: "null_mx"}
		})},
	{EmailOpened, "The open pixel was loaded, where open tracking is on",
		sampleEmail(EmailOpened, "delivered", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Open = &Open{IP: "203.0.113.7", UserAgent: sampleAgent}
		})},
	{EmailReceived, "Inbound email arrived on a domain that receives; its content is read from /received-emails/{id}", sampleInbound()},
	{EmailRescheduled, "A scheduled email was given another time; its timeline shows it, and no webhook tells of it",
		sampleEmail(EmailRescheduled, "scheduled", func(d *Email) { d.ScheduledAt = &sampleSchedule })},
	{EmailScheduled, "An email was accepted with scheduled_at", sampleEmail(EmailScheduled, "scheduled", func(d *Email) { d.ScheduledAt = &sampleSchedule })},
	{EmailSent, "The service accepted the message for delivery", sampleEmail(EmailSent, "sent", nil)},
	{EmailSuppressed, "A send was blocked because a recipient is on the suppression list",
		sampleEmail(EmailSuppressed, "failed", func(d *Email) {
			d.SuppressedRecipients = []string{"bob@example.net"}
		})},
	{SuppressionAdded, "An address was put on the suppression list", sampleSuppression()},
	{SuppressionRemoved, "An address was taken off the suppression list", sampleSuppression()},
}

var sampleTime = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
