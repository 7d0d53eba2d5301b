package provider

import "context"

// Catcher keeps messages that are not to leave this machine.
type Catcher interface {
	// Catch keeps one. Catching the same again is harmless.
	Catch(ctx context.Context, m Message) error
}

// Capture is the provider of development mode.
type Capture struct{ Catcher Catcher }

// Name implements Provider.
func (Capture) Name() string { return "capture" }

// Idempotent implements Provider: one message is kept once.
func (Capture) Idempotent() bool { return true }

// Submit implements Provider.
func (c Capture) Submit(ctx context.Context, m Message) Answer {
	if c.Catcher == nil {
		return Answer{Outcome: Failed, Code: CodeSettings, Reason: "nothing is there that keeps text messages: the development inbox is off"}
	}
	if err := c.Catcher.Catch(ctx, m); err != nil {
		return Answer{Outcome: Temporary, Code: CodeUnreachable, Reason: "the development inbox could not keep it"}
	}
	return Answer{Outcome: Delivered, ProviderID: m.ID}
}
