package emails

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const batchBodyLimit = 20 << 20 // bytes

// batchAnswer has one result per item of the request, in the same order.
type batchAnswer struct {
	Data []batchResult `json:"data" nullable:"false" doc:"The result of each email, in the order of the request."`
}

type batchResult struct {
	Index  int     `json:"index" doc:"Position in the request, starting at 0."`
	ID     *string `json:"id" doc:"ID of the email; null if the item was rejected." example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Status string  `json:"status" enum:"sent,scheduled,failed" doc:"Status as returned by POST /emails. failed without an id: the item was rejected, and error contains the reason."`

	Suppressed []string `json:"suppressed_recipients,omitempty" nullable:"false" doc:"The suppressed recipients, if they prevented the email from being sent. Absent otherwise."`

	Error *problem.ProblemBody `json:"error,omitempty" doc:"The error that POST /emails would return. Paths in details are relative to the item."`
}

// batchInput is the body of a batch.
type batchInput struct {
	items  []sending.BatchItem
	atomic bool
}

// batchItems is the array of a batch. Each email is read and validated separately.
type batchItems struct{ to *[]sending.BatchItem }

func batchBody(in *batchInput) body.Object {
	return body.Object{Name: "SendBatch", Fields: []body.Field{
		{Name: "emails", Type: batchItems{&in.items}, Need: body.Required, About: "1 to 100 emails. `attachments` are not accepted here."},
		{Name: "atomic", Type: body.Boolean(&in.atomic), Default: false,
			About: "Sends all emails or none: if one is rejected, the request is rejected with its error. Paths in " +
				"`details` begin with `emails[index]`. Defaults to `false`."},
	}}
}

func (t batchItems) Read(d *body.Decoder, path string, v body.Value) {
	if !d.Expect(path, v, body.KindArray) {
		return
	}
	n := 0
	for range v.Items() {
		n++
	}
	if n == 0 || n > sending.MaxBatch {
		d.Refuse(path, "must contain 1 to %d emails, not %d", sending.MaxBatch, n)
		return
	}
	*t.to = make([]sending.BatchItem, 0, n)
	for _, item := range v.Items() {
		*t.to = append(*t.to, readItem(item))
	}
}

func (batchItems) Schema(c body.Components) *huma.Schema {
	least, most := 1, sending.MaxBatch
	s := body.ArrayOf(sendBody(new(sending.Message)).Schema(c))
	s.MinItems, s.MaxItems = &least, &most
	return s
}

// Form returns the form of a send, for each item.
func (batchItems) Form() *idempotency.Form { return sendBody(new(sending.Message)).Form() }

func readItem(v body.Value) sending.BatchItem {
	if v.Kind() != body.KindObject {
		return sending.BatchItem{Err: fault.Invalidf("Must be an object, not %s", v.Kind())}
	}
	message, err := body.Decode(v, sendBody)
	return sending.BatchItem{Message: message, Err: err}
}

func (e *edge) sendBatch(ctx context.Context, c *api.Call, _ *api.None, in batchInput,
	claim *idempotency.Claim) (idempotency.Response, error) {
	render := func(results []sending.BatchResult) idempotency.Response { return renderBatch(results, c.RequestID) }
	receipt, err := e.sender.SendBatch(ctx, c.Caller, sending.Batch{Items: in.items, Atomic: in.atomic, Claim: claim,
		Render: render})
	switch {
	case err != nil:
		return idempotency.Response{}, err
	case receipt.Replay != nil:
		receipt.Replay.Replayed = true
		return *receipt.Replay, nil
	}
	for _, r := range receipt.Results {
		if r.Err != nil && fault.KindOf(r.Err) == fault.Internal {
			_ = c.Fail(ctx, r.Err) // only to log the cause; the error is part of the batch response
		}
	}
	return render(receipt.Results), nil
}

func renderBatch(results []sending.BatchResult, requestID string) idempotency.Response {
	answer := batchAnswer{Data: make([]batchResult, len(results))}
	for i, r := range results {
		answer.Data[i] = batchResult{Index: i, ID: &r.Receipt.ID, Status: r.Receipt.Status,
			Suppressed: r.Receipt.Suppressed}
		if r.Err != nil {
			answer.Data[i] = batchResult{Index: i, Status: "failed", Error: &problem.From(r.Err, requestID).Body}
		}
	}
	return idempotency.Response{Status: http.StatusOK, Body: wire.Encode(answer)}
}
