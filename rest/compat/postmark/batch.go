package postmark

import (
	"errors"
	"net/http"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/fault"
)

const (
	mostEmails = 500 // emails in a batch
	ownBatch   = 100
)

func sendBatch(c *compat.Call) (*compat.Response, error) {
	var in []email
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	return sendMany(c, in)
}

func sendTemplates(c *compat.Call) (*compat.Response, error) {
	var in struct {
		Messages []email `json:"Messages"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	return sendMany(c, in.Messages)
}

// sendMany sends each email independently. Those without attachments are sent in batches of our own API.
func sendMany(c *compat.Call, in []email) (*compat.Response, error) {
	if len(in) == 0 || len(in) > mostEmails {
		return nil, compat.Invalid("Messages", "must have between 1 and %d emails", mostEmails)
	}
	b := batch{call: c, in: in, results: make([]any, len(in))}
	for i, e := range in {
		body, err := e.translate()
		switch {
		case err != nil:
			b.refuse(i, err)
		case len(e.Attachments) > 0:
			done, err := sendOne(c, e)
			if err != nil {
				b.refuse(i, err)
				continue
			}
			b.results[i] = done
		default:
			b.places, b.bodies = append(b.places, i), append(b.bodies, body)
			if len(b.bodies) == ownBatch {
				b.flush()
			}
		}
	}
	b.flush()
	return compat.OK(b.results)
}

// batch collects the results of emails.
type batch struct {
	call    *compat.Call
	in      []email
	results []any
	places  []int // positions of the waiting emails
	bodies  []map[string]any
}

func (b *batch) refuse(place int, err error) {
	var refusal *compat.RefusalError
	if !errors.As(err, &refusal) {
		refusal = &compat.RefusalError{Status: http.StatusServiceUnavailable, Code: fault.CodeUnavailable,
			Message: "The email was not accepted. Try again."}
	}
	b.results[place] = newFailure(refusal)
}

// flush sends the waiting emails.
func (b *batch) flush() {
	if len(b.bodies) == 0 {
		return
	}
	var done struct {
		Data []sent `json:"data"`
	}
	err := b.call.Do(compat.Request{Method: http.MethodPost, Path: "/emails/batch",
		Body: map[string]any{"emails": b.bodies}}, &done)
	for i, place := range b.places {
		reason := err
		if err == nil && i < len(done.Data) {
			var made receipt
			if made, reason = done.Data[i].receipt(b.call, b.in[place]); reason == nil {
				b.results[place] = made
				continue
			}
		}
		b.refuse(place, reason)
	}
	b.places, b.bodies = nil, nil
}
