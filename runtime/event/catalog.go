package event

import (
	"slices"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
)

// The event types that exist.
const (
	EmailSent            Type = "email.sent"
	EmailDelivered       Type = "email.delivered"
	EmailDeliveryDelayed Type = "email.delivery_delayed"
	EmailBounced         Type = "email.bounced"
	EmailFailed          Type = "email.failed"

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
	Public bool    // offered to webhook endpoints
	Sample Payload // a filled example, for documentation and test events
}

// Catalog lists every event type, sorted by name.
func Catalog() []Entry { return slices.Clone(catalog) }

// Lookup finds a type in the catalog.
func Lookup(t Type) (Entry, bool) {
	i := slices.IndexFunc(catalog, func(e Entry) bool { return e.Type == t })
	if i < 0 {
		return Entry{}, false
	}
	return catalog[i], true
}

var catalog = []Entry{
	{DomainClaimStarted, "The account set out to prove control of a domain that another account has verified", false, DomainClaim{
		ClaimID: "clm_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", ExpiresAt: sampleTime.AddDate(0, 0, 7)}},
	{DomainClaimed, "The account proved control of a domain and has it now, with new keys", false, sampleDomain("pending")},
	{DomainDeleted, "A domain was deleted; it no longer sends", false, sampleDomain("verified")},
	{DomainDKIMRotated, "A new key signs the domain's mail, in place of the one before it", false, DomainKey{
		DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Selector: "pr1k3x9vq", Algorithm: "rsa-sha256", PreviousSelector: "pr1a7m2ws"}},
	{DomainFailed, "A verified domain's records stayed broken for 72 hours; it no longer sends", false, sampleDomain("failed")},
	{DomainLost, "Another account proved control of the domain; it no longer sends here", false, sampleDomain("failed")},
	{DomainTemporaryFailure, "A verified domain's records broke; it still sends for 72 hours", false, sampleDomain("temporary_failure")},
	{DomainUpdated, "Settings of a domain were changed", false, sampleDomainUpdate()},
	{DomainVerified, "All required DNS records of a domain were found", false, sampleDomain("verified")},
	{EmailBounced, "The receiving server refused a recipient for good, or retries ran out", true, sampleEmail("bounced", func(d *Email) {
		d.Recipient = "bob@example.net"
		d.BounceReason = "550 5.1.1 <bob@example.net>: Recipient address rejected"
		d.Bounce = &Bounce{Type: "permanent", Code: 550, EnhancedCode: "5.1.1",
			Diagnostic: "550 5.1.1 <bob@example.net>: Recipient address rejected", RemoteMTA: "mx1.example.net"}
	})},
	{EmailDelivered, "The message was delivered to the recipient's mailbox provider", true, sampleEmail("delivered", func(d *Email) {
		d.Recipient = "bob@example.net"
	})},
	{EmailDeliveryDelayed, "Delivery is delayed or temporarily held", true, sampleEmail("sent", func(d *Email) {
		d.Recipient = "bob@example.net"
		d.Delay = &Delay{Attempt: 1, NextAttemptAt: sampleTime.Add(time.Minute), Diagnostic: "451 4.7.1 Greylisted, try again later"}
	})},
	{EmailFailed, "No delivery attempt could succeed, for a reason other than a bounce", true, sampleEmail("failed", func(d *Email) {
		d.Recipient = "bob@example.net"
		d.Failure = &Failure{Reason: "The domain example.net does not accept mail (null MX)", Code: "null_mx"}
	})},
	{EmailSent, "The service accepted the message for delivery", true, sampleEmail("sent", nil)},
}

// Email is the payload of the email events.
type Email struct {
	EmailID      string      `json:"email_id"`
	From         string      `json:"from"`
	To           []string    `json:"to"`
	CC           []string    `json:"cc"`
	Subject      string      `json:"subject"`
	Status       string      `json:"status"` // of the email as a whole, after this event
	Tags         []shape.Tag `json:"tags"`
	CreatedAt    time.Time   `json:"created_at"`
	Recipient    string      `json:"recipient,omitempty"` // the address that the event is about
	BounceReason string      `json:"bounce_reason,omitempty"`
	Bounce       *Bounce     `json:"bounce,omitempty"`
	Delay        *Delay      `json:"delay,omitempty"`
	Failure      *Failure    `json:"failure,omitempty"`
}

// SubjectID is the email.
func (e Email) SubjectID() string { return e.EmailID }

// Bounce tells how a receiving server refused.
type Bounce struct {
	Type         string `json:"type"` // permanent, transient
	Code         int    `json:"code"` // RFC 5321 reply code, 0 when there was none
	EnhancedCode string `json:"enhanced_code"`
	Diagnostic   string `json:"diagnostic"`
	RemoteMTA    string `json:"remote_mta"`
}

// Delay tells why and until when a recipient waits.
type Delay struct {
	Attempt       int       `json:"attempt"`
	NextAttemptAt time.Time `json:"next_attempt_at"`
	Diagnostic    string    `json:"diagnostic"`
}

// Failure tells why no attempt could succeed.
type Failure struct {
	Reason string `json:"reason"`
	Code   string `json:"code"` // tls_required, null_mx, no_such_domain, message_too_large, policy, smtputf8_required
}

// Domain is the payload of the domain events.
type Domain struct {
	DomainID string `json:"domain_id"`
	Name     string `json:"name"`
	Status   string `json:"status"`
}

// SubjectID is the domain.
func (d Domain) SubjectID() string { return d.DomainID }

// DomainUpdate is the payload of domain.updated: the settings after the change.
type DomainUpdate struct {
	Domain

	OpenTracking   bool     `json:"open_tracking"`
	ClickTracking  bool     `json:"click_tracking"`
	TLSMode        string   `json:"tls_mode"`
	InboundEnabled bool     `json:"inbound_enabled"`
	Ed25519        bool     `json:"ed25519"`
	Changed        []string `json:"changed"` // names of the settings that were changed
}

// DomainKey is the payload of domain.dkim_rotated.
type DomainKey struct {
	DomainID         string `json:"domain_id"`
	Name             string `json:"name"`
	Selector         string `json:"selector"`
	Algorithm        string `json:"algorithm"`
	PreviousSelector string `json:"previous_selector"` // its record has to stay published for 7 days
}

// SubjectID is the domain.
func (k DomainKey) SubjectID() string { return k.DomainID }

// DomainClaim is the payload of domain.claim_started.
type DomainClaim struct {
	ClaimID   string    `json:"claim_id"`
	Name      string    `json:"name"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SubjectID is the claim.
func (c DomainClaim) SubjectID() string { return c.ClaimID }

var sampleTime = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)

func sampleDomain(status string) Domain {
	return Domain{DomainID: "dom_01kf0m4w7he6x8q2v5b3n9c1ta", Name: "example.com", Status: status}
}

func sampleDomainUpdate() DomainUpdate {
	return DomainUpdate{Domain: sampleDomain("verified"), OpenTracking: true, TLSMode: "opportunistic", Changed: []string{"open_tracking"}}
}

func sampleEmail(status string, change func(*Email)) Email {
	e := Email{EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1ta", From: "Ada <ada@example.com>", To: []string{"bob@example.net"}, CC: []string{},
		Subject: "Your receipt", Status: status, Tags: []shape.Tag{{Name: "kind", Value: "receipt"}}, CreatedAt: sampleTime}
	if change != nil {
		change(&e)
	}
	return e
}
