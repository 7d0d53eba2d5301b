package provider

import (
	"context"
	"time"
)

// Message is one text message as a provider gets it.
type Message struct {
	ID         string // sms_…
	To         string // E.164
	From       string // a number, a word; "": the provider's own choice
	Text       string
	Encoding   string // gsm7, ucs2
	Segments   int
	ReceiptURL string // where the provider may tell what became of it
}

// Outcome is what one request came to.
type Outcome string

// The outcomes.
const (
	Sent      Outcome = "sent"
	Delivered Outcome = "delivered" // sent, and it is known to have arrived
	Temporary Outcome = "temporary"
	Failed    Outcome = "failed"
	Unknown   Outcome = "unknown"
)

// Answer is what came of one request.
type Answer struct {
	Outcome    Outcome
	Status     int    // of HTTP; 0: there was no answer
	ProviderID string // the provider's name for the message
	Code       string // in one word why it is not sent
	Reason     string // the same in a sentence
	Wait       time.Duration
	OptedOut   bool // the provider says that the person wrote STOP
}

// Provider takes messages. It is safe for concurrent use.
type Provider interface {
	// Name is the kind: twilio, http, capture.
	Name() string
	// Idempotent tells whether a request may be made again after one without an answer.
	Idempotent() bool
	// Submit makes one request.
	Submit(ctx context.Context, m Message) Answer
}

// The codes of answers that are no provider's own.
const (
	CodeUnreachable = "unreachable" // nobody was reached
	CodeBusy        = "busy"        // 429, 5xx
	CodeNoAnswer    = "no_answer"   // the request may have been written
	CodeRefused     = "refused"     // for good
	CodeSettings    = "settings"    // the provider cannot be used as it is set up
)
