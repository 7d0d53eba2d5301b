package suppressions

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
)

type deletedBatch struct {
	Data []deletedItem `json:"data" nullable:"false" doc:"One item per address or ID, in the order of the request."`
}

type deletedItem struct {
	Index  int                  `json:"index" doc:"The position of the item in the request, starting at 0."`
	ID     *string              `json:"id" example:"sup_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"ID of the deleted suppression; null if none was deleted."`
	Status string               `json:"status" enum:"deleted,not_found,failed" doc:"not_found: the address was not suppressed, or the ID is unknown."`
	Error  *problem.ProblemBody `json:"error,omitempty" doc:"Why the item failed. Absent otherwise."`
}

func (e *edge) addBatchDelete(g *api.TagGroup) {
	api.OnceBody(g, api.Operation{
		Path: "/suppressions/batch/delete", ID: "deleteSuppressions", Needs: rights.Write, Stores: api.StoresNothing,
		Summary: "Delete many suppressions",
		Description: "Deletes up to 1,000 suppressions by their addresses or by their IDs, so that you can send to the " +
			"addresses again. The response is 200 if the request is well-formed. If a recipient unsubscribed or " +
			"complained, delete the suppression only at their request. Category opt-outs remain.",
		Body: &api.Body{About: "The suppressions to delete, either by `emails` or by `ids`.",
			Examples: map[string]any{"addresses": map[string]any{"emails": []any{"bob@example.net",
				"carol@example.net"}}}},
		Example: map[string]any{"data": []any{
			map[string]any{"index": 0, "id": "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "deleted"},
			map[string]any{"index": 1, "id": nil, "status": "not_found"},
		}},
	}, batchDeleteBody, e.deleteBatch)
}

func batchDeleteBody(in *suppression.RemoveInput) body.Object {
	return body.Object{Name: "DeleteSuppressions", Fields: []body.Field{
		{Name: "emails", Type: addresses{&in.Emails}, About: "Addresses without display names."},
		{Name: "ids", Type: addresses{&in.IDs}, About: "IDs of suppressions. Cannot be combined with `emails`."},
	}, Check: func(d *body.Decoder) { d.AddErrors(fault.Classify(in.Validate()).Fields) }}
}

func (e *edge) deleteBatch(ctx context.Context, c *api.Call, _ *api.None, in suppression.RemoveInput,
	keep api.StoreResponse) (deletedBatch, error) {
	answer := func(items []suppression.RemovedItem) deletedBatch { return newDeletedBatch(items, c.RequestID) }
	in.Keep = api.AdaptStore(keep, answer)
	return api.As(answer)(e.list.RemoveBatch(ctx, c.AccountID, in))
}

func newDeletedBatch(items []suppression.RemovedItem, requestID string) deletedBatch {
	out := deletedBatch{Data: make([]deletedItem, len(items))}
	for i, item := range items {
		shown := deletedItem{Index: i, Status: "not_found"}
		switch {
		case item.Err != nil:
			shown.Status, shown.Error = "failed", &problem.From(item.Err, requestID).Body
		case item.Suppression != nil:
			shown.Status, shown.ID = "deleted", &item.Suppression.ID
		}
		out.Data[i] = shown
	}
	return out
}
