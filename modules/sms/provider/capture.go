package provider

import "context"

// Catcher stores messages that must not be sent.
type Catcher interface {
	// Catch stores a message. Calling it twice stores the message once.
	Catch(ctx context.Context, m Message) error
}

// Capture is the provider of development mode.
type Capture struct{ Catcher Catcher }

// Name implements Provider.
func (Capture) Name() string { return "capture" }

// IsIdempotent implements Provider. A repeated message is stored once.
func (Capture) IsIdempotent() bool { return true }

// Submit implements Provider.
func (c Capture) Submit(ctx context.Context, m Message) SendResult {
	if c.Catcher == nil {
		return SendResult{Outcome: Failed, Code: CodeSettings,
			Reason: "text messages cannot be captured: the development inbox is disabled"}
	}
	if err := c.Catcher.Catch(ctx, m); err != nil {
		return SendResult{Outcome: Temporary, Code: CodeUnreachable,
			Reason: "the development inbox could not store the message"}
	}
	return SendResult{Outcome: Delivered, ProviderID: m.ID}
}
