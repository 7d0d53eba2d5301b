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
	AutomationConverted     Type = "automation.converted"

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

	DomainDeliverabilityDegraded Type = "domain.deliverability_degraded"

	WebhookDisabled Type = "webhook.disabled"

	AccountRateExceeded Type = "account.rate_exceeded"
	AccountUsageReached Type = "account.usage_reached"
)

// Entry describes one type of the catalog.
type Entry struct {
	Type   Type
	When   string  // one line: fired when …
	Sample Payload // a filled example, for documentation and test events
}

// IsPublic reports whether webhooks, the event log and its stream contain events of the type. Other events
// appear only on the timeline of their subject.
func (e Entry) IsPublic() bool {
	return e.Type != EmailRescheduled && e.Type != AutomationCancelled && e.Type != AutomationConverted
}

// Catalog lists every public event type, sorted by name.
func Catalog() []Entry {
	return slices.DeleteFunc(slices.Clone(catalog), func(e Entry) bool { return !e.IsPublic() })
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
	{AccountRateExceeded, "The bounce or complaint rate of the account exceeded a limit, over the last 24 hours",
		sampleExceededRate()},
	{AccountUsageReached, "The account has used 80 % or all of its monthly limit, or of the emails included in its plan",
		sampleReachedUsage()},
	{AutomationCancelled, "A run was cancelled. It appears in the timeline and is not sent to webhooks", sampleRun("cancelled", 1, "delay", nil)},
	{AutomationCompleted, "A run finished all its steps, or ended early on a false condition", sampleRun("completed", 2, "send_email", nil)},
	{AutomationConverted, "A run reached the goal of its automation. It appears in the timeline and is not sent " +
		"to webhooks", sampleRun("completed", 2, "send_email", nil)},
	{AutomationFailed, "A run failed: a send failed, a wait timed out, or a value was " +
		"invalid", sampleRun("failed", 1, "send_email", &sampleRunError)},
	{AutomationStarted, "An active automation matched an incoming event and a run was created", sampleRun("running", 0, "delay", nil)},
	{AutomationStepCompleted, "One step of a run was completed", sampleRun("running", 1, "send_email", nil)},
	{ContactUnsubscribed, "A recipient completed a managed unsubscribe", sampleUnsubscribe()},
	{DomainAdded, "A domain was added. It can send once its records are found", sampleDomain("pending")},
	{DomainClaimStarted, "The account started a claim for a domain that another account has verified",
		DomainClaim{
			ClaimID: "clm_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com",
			ExpiresAt: NewTime(sampleTime.AddDate(0, 0, 7))}},
	{DomainClaimed, "The account completed a claim and now owns the domain, which has new keys", sampleDomain("pending")},
	{DomainDeleted, "A domain was deleted and can no longer send", sampleDomain("verified")},
	{DomainDeliverabilityDegraded, "A mailbox provider started to refuse or defer the domain's mail, compared with the week before",
		sampleDegradation()},
	{DomainDKIMRotated, "A new key now signs the domain's mail", DomainKey{
		DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Selector: "pr1k3x9vq", Algorithm: "rsa-sha256",
		PreviousSelector: "pr1a7m2ws"}},
	{DomainFailed, "The records of a verified domain have been missing or wrong for 72 hours. It can no longer send", sampleDomain("failed")},
	{DomainLost, "Another account completed a claim of the domain, which can no longer send from this account", sampleDomain("failed")},
	{DomainTemporaryFailure, "The records of a verified domain are missing or wrong. It can still send for 72 hours", sampleDomain("temporary_failure")},
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
	{EmailClicked, "A tracked link was opened (requires click tracking)",
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
			d.Delay = &Delay{Attempt: 1, NextAttemptAt: NewTime(sampleTime.Add(time.Minute)),
				Diagnostic: "451 4.7.1 Greylisted, try again later"}
		})},
	{EmailFailed, "Delivery is impossible for a reason other than a bounce",
		sampleEmail(EmailFailed, "failed", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Failure = &Failure{Reason: "The domain example.net does not accept mail (null MX)", Code: "null_mx"}
		})},
	{EmailOpened, "The tracking pixel was loaded (requires open tracking)",
		sampleEmail(EmailOpened, "delivered", func(d *Email) {
			d.Recipient = "bob@example.net"
			d.Open = &Open{IP: "203.0.113.7", UserAgent: sampleAgent}
		})},
	{EmailReceived, "An email arrived for a domain that receives mail. Read its content from /received-emails/{id}", sampleInbound()},
	{EmailRescheduled, "A scheduled email was rescheduled. It appears in the timeline and is not sent to webhooks",
		sampleEmail(EmailRescheduled, "scheduled", func(d *Email) { d.ScheduledAt = &sampleSchedule })},
	{EmailScheduled, "An email was accepted with scheduled_at", sampleEmail(EmailScheduled, "scheduled", func(d *Email) { d.ScheduledAt = &sampleSchedule })},
	{EmailSent, "The service accepted the message for delivery", sampleEmail(EmailSent, "sent", nil)},
	{EmailSuppressed, "A send was blocked because a recipient is on the suppression list",
		sampleEmail(EmailSuppressed, "failed", func(d *Email) {
			d.SuppressedRecipients = []string{"bob@example.net"}
		})},
	{SuppressionAdded, "An address was added to the suppression list", sampleSuppression()},
	{SuppressionRemoved, "An address was removed from the suppression list", sampleSuppression()},
	{WebhookDisabled, "Postrider disabled an endpoint, which responded 410 or failed 30 times in a row",
		sampleDisabledWebhook()},
}

var sampleTime = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
