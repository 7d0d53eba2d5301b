package provider

import (
	"context"
	"time"
)

// Message is a text message as submitted to a provider.
type Message struct {
	ID         string // sms_…
	To         string // E.164
	From       string // a number or a word; empty to let the provider choose
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
	Delivered Outcome = "delivered" // sent, and known to have arrived
	Temporary Outcome = "temporary"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown"
)

// SendResult is the result of one request.
type SendResult struct {
	Outcome    Outcome
	Status     int    // HTTP status; 0 if there was no response
	ProviderID string // the provider's ID of the message
	Code       string // why it was not sent, as a code
	Reason     string // the same as a sentence
	Wait       time.Duration
	OptedOut   bool // the provider reports that the recipient replied STOP
}

// Provider submits messages. Safe for concurrent use.
type Provider interface {
	// Name returns the kind: twilio, http or capture.
	Name() string
	// Idempotent reports whether a request without a response may be repeated.
	Idempotent() bool
	// Submit makes one request.
	Submit(ctx context.Context, m Message) SendResult
}

// The codes of answers that do not come from the provider.
const (
	CodeUnreachable = "unreachable" // the provider was not reached
	CodeBusy        = "busy"        // 429, 5xx
	CodeNoAnswer    = "no_answer"   // the request may have been written
	CodeRefused     = "refused"     // permanently
	CodeSettings    = "settings"    // the provider cannot be used with its current settings
)
