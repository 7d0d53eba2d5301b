package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// EmailReader is what test events need of sending.
type EmailReader interface {
	Get(ctx context.Context, accountID, emailID string) (*ent.Email, error)
}

var _ EmailReader = (*records.Service)(nil)

// Delivery hands a fact to the account's endpoints that subscribe to its type,
// and gives the ids of the deliveries that it queued.
type Delivery interface {
	Deliver(ctx context.Context, accountID string, fact event.Fact) ([]string, error)
}

// testEventAnswer has the event in the form of a delivery's body.
type testEventAnswer struct {
	Event      testEvent `json:"event"`
	Deliveries []string  `json:"deliveries" nullable:"false" doc:"Ids of the deliveries that were queued. Empty where nobody subscribes to the type."`
}

type testEvent struct {
	Type      string          `json:"type" example:"email.delivered"`
	CreatedAt timestamp       `json:"created_at"`
	Data      json.RawMessage `json:"data" doc:"The payload of the type, with sample values; those of the email where one was named."`
}

// Schema says that data is an object; Huma takes a RawMessage for anything.
func (testEvent) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"type", "created_at", "data"}, Properties: map[string]*huma.Schema{
		"type":       {Type: huma.TypeString, Examples: []any{"email.delivered"}},
		"created_at": timestamp{}.Schema(r),
		"data":       {Type: huma.TypeObject, AdditionalProperties: true, Description: "The payload of the type, with sample values; those of the email where one was named."},
	}}
}

type testEventEdge struct {
	emails   EmailReader
	delivery Delivery // nil while nothing delivers
}

// TestEvents makes the route POST /emails/test. Without a delivery nothing is queued.
func TestEvents(emails EmailReader, delivery Delivery) Routes {
	return Routes{name: "test events", add: func(a *API) {
		e := &testEventEdge{emails: emails, delivery: delivery}
		a.describeBody("TestEvent", testEventSchema())
		register(a, operation{
			method: http.MethodPost, path: "/emails/test", id: "testEvent", tag: tagEmails, needs: accounts.Write,
			summary: "Make a test event",
			description: "Builds the body that a webhook endpoint would get for an event, with sample values or with those of one of your emails, and queues its delivery to the " +
				"endpoints that subscribe to the type, unless `deliver` is false. Nothing happens to the email. `GET /webhook-deliveries/{id}` shows what became of a delivery.",
			body: &requestBody{description: "Which event.", schema: "TestEvent", examples: map[string]any{
				"sample": map[string]any{"event": "email.bounced"},
				"email":  map[string]any{"event": "email.delivered", "email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "deliver": false}}},
			example: testEventExample(), problems: []int{http.StatusNotFound},
		}, e.create)
	}}
}

// publicEvents are the types that webhook endpoints can get, by name.
func publicEvents() []string {
	var out []string
	for _, entry := range event.Catalog() {
		if entry.Public {
			out = append(out, string(entry.Type))
		}
	}
	return out
}

func testEventSchema() *huma.Schema {
	types := []any{}
	for _, name := range publicEvents() {
		types = append(types, name)
	}
	return closed(map[string]*huma.Schema{
		"event":    {Type: huma.TypeString, Enum: types, Description: "The type of the event."},
		"email_id": {Type: huma.TypeString, Nullable: true, Description: "An email of yours, whose fields the payload gets: for events of emails and for `contact.unsubscribed`.", Examples: []any{"msg_01kf0m4w7he6x8q2v5b3n9c1ta"}},
		"deliver":  {Type: huma.TypeBoolean, Nullable: true, Default: true, Description: "false only builds the payload."},
	}, "event")
}

func testEventExample() map[string]any {
	return map[string]any{"event": map[string]any{"type": "email.delivered", "created_at": "2026-01-15T09:30:01.250Z", "data": map[string]any{
		"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "from": "Ada <ada@example.com>", "to": []any{"bob@example.net"}, "cc": []any{}, "subject": "Your receipt",
		"status": "delivered", "tags": []any{map[string]any{"name": "kind", "value": "receipt"}}, "created_at": "2026-01-15T09:30:00Z", "recipient": "bob@example.net",
	}}, "deliveries": []any{}}
}

// testEventRequest is what was asked for.
type testEventRequest struct {
	entry   event.Entry
	emailID string
	deliver bool
}

func decodeTestEvent(body value) (testEventRequest, error) {
	in := testEventRequest{deliver: true}
	name := ""
	d := newDecoder()
	d.object("", body, []field{
		{name: "event", decode: d.into(&name)},
		{name: "email_id", decode: func(path string, v value) { in.emailID = d.optionalText(path, v) }},
		{name: "deliver", decode: func(path string, v value) { in.deliver = d.boolean(path, v) }},
	})
	entry, known := event.Lookup(event.Type(name))
	in.entry = entry
	if !known || !entry.Public {
		reason := "must be one of " + strings.Join(publicEvents(), ", ")
		if name == "" {
			reason = "is required: one of " + strings.Join(publicEvents(), ", ")
		}
		d.refuse("event", "%s", reason)
	} else if in.emailID != "" && !aboutEmail(in.entry) {
		d.refuse("email_id", "does not go with %s, which is not about an email that was sent", name)
	}
	return in, d.wrong.Err()
}

func aboutEmail(e event.Entry) bool {
	switch e.Sample.(type) {
	case event.Email, event.Unsubscribe:
		return true
	}
	return false
}

func (e *testEventEdge) create(ctx context.Context, c *call, _ *none) (*testEventAnswer, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, err
	}
	in, err := decodeTestEvent(body)
	if err != nil {
		return nil, err
	}
	payload := in.entry.Sample
	if in.emailID != "" {
		if !id.Is(id.Email, in.emailID) {
			return nil, fault.Missing("email", shown(in.emailID))
		}
		email, err := e.emails.Get(ctx, c.AccountID, in.emailID)
		if err != nil {
			return nil, err
		}
		payload = fromEmail(payload, email)
	}
	fact := event.New(c.AccountID, in.entry.Type, time.Now(), payload)
	out := &testEventAnswer{Event: testEvent{Type: string(fact.Type), CreatedAt: timestamp(fact.CreatedAt), Data: fact.Data}, Deliveries: []string{}}
	if in.deliver && e.delivery != nil {
		queued, err := e.delivery.Deliver(ctx, c.AccountID, fact)
		if err != nil {
			return nil, err
		}
		out.Deliveries = listed(queued)
	}
	return out, nil
}

// fromEmail puts an email's fields into a sample. What the event itself tells, as
// the status and the reason of a bounce, stays the sample's.
func fromEmail(sample event.Payload, email *ent.Email) event.Payload {
	recipient := ""
	for _, to := range slices.Concat(email.To, email.Cc, email.Bcc) {
		recipient = bareAddress(to)
		break
	}
	switch p := sample.(type) {
	case event.Email:
		p.EmailID, p.From, p.To, p.CC, p.Subject = email.ID, email.From, listed(email.To), listed(email.Cc), email.Subject
		p.Tags, p.CreatedAt = listed(email.Tags), event.At(email.CreatedAt)
		if p.Recipient != "" {
			p.Recipient = recipient
		}
		if len(p.SuppressedRecipients) > 0 {
			p.SuppressedRecipients = []string{recipient}
		}
		return p
	case event.Unsubscribe:
		p.Email, p.EmailID = recipient, &email.ID
		return p
	}
	return sample
}

// bareAddress is what stands between the angle brackets of a stored address.
func bareAddress(shown string) string {
	if open := strings.LastIndexByte(shown, '<'); open >= 0 && strings.HasSuffix(shown, ">") {
		return shown[open+1 : len(shown)-1]
	}
	return shown
}
