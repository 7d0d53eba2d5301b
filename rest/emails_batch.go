package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
)

const batchBodyLimit = 20 << 20 // octets

// batchAnswer is index-aligned with the request.
type batchAnswer struct {
	Data []batchResult `json:"data" nullable:"false"`
}

type batchResult struct {
	Index  int          `json:"index" doc:"Place in the request, from 0."`
	ID     *string      `json:"id" doc:"Of the email; null when there is none." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Status string       `json:"status" enum:"sent,scheduled,failed" doc:"As in the answer of a single send. failed without an id: the item was refused, error says why."`
	Error  *problemBody `json:"error,omitempty" doc:"As a single send would have been answered; paths in details are those of the item."`
}

// batch registers the operation for many emails.
func (e *emailEdge) batch(a *API) {
	a.describeBody("SendBatch", sendBatchSchema())
	add(a, operation{
		method: http.MethodPost, path: "/emails/batch", id: "sendBatch", tag: tagEmails, needs: accounts.Send, idempotent: true,
		summary: "Send up to 100 emails",
		description: "Every item is an email as in `POST /emails`, without attachments, and is judged by itself: the answer is 200 whenever the envelope is valid, " +
			"and has one result for each item, in the same order. An item that was refused has `id` null, the status `failed` and an `error`; the others are stored, " +
			"in one transaction. An `Idempotency-Key` is for the batch as a whole.",
		body: &requestBody{limit: batchBodyLimit, description: "The emails to send.", schema: "SendBatch", examples: map[string]any{
			"two": map[string]any{"emails": []any{
				map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt", "text": "Thank you."},
				map[string]any{"from": "Ada <ada@example.com>", "to": "carol@example.net", "subject": "Your receipt", "text": "Thank you.", "scheduled_at": "2026-01-16T09:30:00Z"},
			}},
		}},
		answer: reflect.TypeFor[batchAnswer](), problems: []int{http.StatusBadGateway},
		example: map[string]any{"data": []any{
			map[string]any{"index": 0, "id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "sent"},
			map[string]any{"index": 1, "id": nil, "status": "failed", "error": map[string]any{
				"message": "Invalid field: to[0]", "code": fault.CodeValidation, "details": map[string]any{"to[0]": "has no @"}}},
		}},
	}, e.createBatch)
}

func sendBatchSchema() *huma.Schema {
	least, most := 1, sending.MaxBatch
	return closed(map[string]*huma.Schema{
		"emails": {Type: huma.TypeArray, MinItems: &least, MaxItems: &most, Items: refTo("SendEmail"),
			Description: "1 to 100 emails. `attachments` are not accepted here."},
	}, "emails")
}

func (e *emailEdge) createBatch(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	return e.api.working(ctx, c, func() (*stored, error) { return e.createBatchFrom(ctx, c) })
}

func (e *emailEdge) createBatchFrom(ctx context.Context, c *call) (*stored, error) {
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/emails/batch", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		items, err := decodeBatch(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		render := func(results []sending.BatchResult) idempotency.Answer { return renderBatch(results, c.requestID) }
		receipt, err := e.send.SendBatch(ctx, c.Caller, sending.Batch{Items: items, Claim: claim, Render: render})
		switch {
		case err != nil:
			return idempotency.Answer{}, err
		case receipt.Replay != nil:
			receipt.Replay.Replayed = true
			return *receipt.Replay, nil
		}
		for _, r := range receipt.Results {
			if r.Err != nil && fault.KindOf(r.Err) == fault.Internal {
				_ = e.api.fail(ctx, c.requestID, r.Err) // it logs the cause; its answer is in the batch's
			}
		}
		return render(receipt.Results), nil
	})
}

// decodeBatch reads the envelope, and each item by itself. Its error is about the
// envelope only.
func decodeBatch(root value) ([]sending.BatchItem, error) {
	d := newDecoder()
	var items []sending.BatchItem
	given := false
	d.object("", root, []field{{name: "emails", decode: func(path string, v value) {
		if given = true; !d.expect(path, v, kindArray) {
			return
		}
		n := 0
		for range v.items() {
			n++
		}
		if n == 0 || n > sending.MaxBatch {
			d.refuse(path, "must have 1 to %d emails, not %d", sending.MaxBatch, n)
			return
		}
		items = make([]sending.BatchItem, 0, n)
		for _, item := range v.items() {
			items = append(items, decodeItem(item))
		}
	}}})
	if !given {
		d.refuse("emails", "is required")
	}
	return items, d.wrong.Err()
}

func decodeItem(v value) sending.BatchItem {
	if v.kind() != kindObject {
		return sending.BatchItem{Err: fault.Invalidf("Must be an object, not %s", v.kind())}
	}
	message, err := decodeMessage(v)
	return sending.BatchItem{Message: message, Err: err}
}

// renderBatch cannot fail: everything in it came from JSON or from us.
func renderBatch(results []sending.BatchResult, requestID string) idempotency.Answer {
	answer := batchAnswer{Data: make([]batchResult, len(results))}
	for i, r := range results {
		answer.Data[i] = batchResult{Index: i, ID: &r.Receipt.ID, Status: r.Receipt.Status}
		if r.Err != nil {
			refusal := translate(r.Err, requestID)
			answer.Data[i] = batchResult{Index: i, Status: "failed", Error: &refusal.Body}
		}
	}
	body, err := marshal(answer)
	if err != nil {
		panic("rest: the results of a batch cannot be encoded: " + err.Error())
	}
	return idempotency.Answer{Status: http.StatusOK, Body: body}
}
