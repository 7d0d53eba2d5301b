package provider

import (
	"context"
	"time"
)

// Message is a text message to submit to a provider.
type Message struct {
	ID         string // sms_…
	To         string // E.164
	From       string // a number or a word; empty: the provider chooses
	Text       string
	Encoding   string // gsm7, ucs2
	Segments   int
	ReceiptURL string // where the provider may post receipts
}

// Outcome is the outcome of one request.
type Outcome string

// The outcomes.
const (
	Sent      Outcome = "sent"
	Delivered Outcome = "delivered" // sent, and known to have been delivered
	Temporary Outcome = "temporary"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown"
)

// SendResult is the result of one request.
type SendResult struct {
	Outcome    Outcome
	Status     int    // HTTP status; 0 if there was no response
	ProviderID string // the provider's ID of the message
	Code       string // code of the reason why it was not sent
	Reason     string // the reason as a sentence
	Wait       time.Duration
	OptedOut   bool // the provider reports that the recipient replied STOP
}

// Provider submits messages. It is safe for concurrent use.
type Provider interface {
	// Name returns the kind: twilio, http or capture.
	Name() string
	// IsIdempotent reports whether a request that got no response may be repeated.
	IsIdempotent() bool
	// Submit makes one request.
	Submit(ctx context.Context, m Message) SendResult
}

// Codes of results that do not come from the provider.
const (
	CodeUnreachable = "unreachable" // the provider was not reached
	CodeBusy        = "busy"        // it responded with 429 or 5xx
	CodeNoAnswer    = "no_answer"   // it may have received the request
	CodeRefused     = "refused"     // it rejected the message permanently
	CodeSettings    = "settings"    // it cannot be used with its current settings
)
