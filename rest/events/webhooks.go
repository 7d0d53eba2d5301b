package events

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/runtime/work/event"
)

// The header fields of a delivery.
const (
	headerEvent     = "Service-Event-Id"
	headerAttempt   = "Service-Delivery-Attempt"
	headerSignature = "Service-Signature"
)

// Values in examples.
const (
	sampleID = "evt_01kf0m4w7he6x8q2v5b3n9c1ta"
	sampleAt = "2026-01-15T09:30:00.000Z"
)

// Webhooks adds the webhook request of each possible event to a document. The promise describes the retries.
func Webhooks(d *huma.OpenAPI, tag, promise string, offer event.Offer) {
	Describe(d, offer)
	d.Webhooks = map[string]*huma.PathItem{}
	for _, entry := range offer.Entries() {
		d.Webhooks[string(entry.Type)] = &huma.PathItem{Post: webhook(entry, tag, promise)}
	}
}

func webhook(entry event.Entry, tag, promise string) *huma.Operation {
	return &huma.Operation{
		OperationID: "on" + goName(entry.Type), Summary: string(entry.Type), Description: entry.When + ".\n\n" +
			promise, Tags: []string{tag},
		Security:   []map[string][]string{{}},
		Parameters: parameters(),
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {
			Schema:  refer(componentOf(entry.Type)),
			Example: map[string]any{"type": string(entry.Type), "created_at": sampleAt, "data": entry.Sample},
		}}},
		Responses: map[string]*huma.Response{"2XX": {Description: "A status of 200 to 299 within ten seconds " +
			"acknowledges the event."},
			"4XX": {Description: "Any other status causes a retry. 410 disables the endpoint."}},
	}
}

func parameters() []*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	return []*huma.Param{
		{Name: headerEvent, In: "header", Required: true, Schema: text, Example: sampleID,
			Description: "The " +
				"event ID, the same in each attempt. Use it to skip duplicates."},
		{Name: headerAttempt, In: "header", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger}, Example: 1,
			Description: "Number of the attempt, starting at 1."},
		{Name: headerSignature, In: "header", Required: true, Schema: text,
			Example: fmt.Sprintf("t=1768469400,v1=%064x", 0),
			Description: "`t=<unix seconds>,v1=<hexadecimal HMAC-SHA256 of \"<t>.<body>\" with the endpoint's secret>`. For 24 hours after a rotation of the secret, there are two `v1`. " +
				"This is the same scheme as Stripe's."},
		{Name: "webhook-id", In: "header", Schema: text, Example: sampleID,
			Description: "The event ID, as in " + headerEvent + " (Standard Webhooks)."},
		{Name: "webhook-timestamp", In: "header", Schema: text, Example: "1768469400",
			Description: "Time of the signature in Unix seconds (Standard Webhooks)."},
		{Name: "webhook-signature", In: "header", Schema: text,
			Example: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			Description: "Signatures separated by spaces, each `v1,<base64 HMAC-SHA256 of \"<webhook-id>.<webhook-timestamp>.<body>\">`, keyed with the base64-decoded part of the secret (Standard Webhooks). " +
				"Not sent if the secret was created before Standard Webhooks were supported; rotate it once."},
	}
}

// goName converts email.delivery_delayed to EmailDeliveryDelayed.
func goName(t event.Type) string {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(string(t), func(r rune) bool { return r == '.' || r == '_' }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}
