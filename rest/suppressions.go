package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
)

// SuppressionService is what these operations need of suppression.
type SuppressionService interface {
	Add(ctx context.Context, accountID string, in suppression.AddInput) (*ent.Suppression, error)
	AddBatch(ctx context.Context, accountID string, in suppression.BatchInput) ([]suppression.BatchItem, error)
	List(ctx context.Context, accountID string, f suppression.Filter) (page.Page[*ent.Suppression], error)
	Get(ctx context.Context, accountID, idOrAddress string) (*ent.Suppression, error)
	Remove(ctx context.Context, accountID, idOrAddress string) error
	optOuts
}

var _ SuppressionService = (*suppression.Service)(nil)

const tagSuppressions = "Suppressions"

type suppressionRecord struct {
	ID        string    `json:"id" example:"sup_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Email     *string   `json:"email" example:"bob@example.net" doc:"Lower case, an internationalised domain in A-labels; null once it was erased, it is blocked all the same."`
	Reason    string    `json:"reason" enum:"bounce,failure,complaint,unsubscribe,manual"`
	EmailID   *string   `json:"email_id" example:"msg_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"The email that led to it, if one did."`
	CreatedAt timestamp `json:"created_at"`
}

type suppressionAnswer struct {
	Suppression suppressionRecord `json:"suppression"`
}

type suppressionList struct {
	Suppressions []suppressionRecord `json:"suppressions" nullable:"false"`
	HasMore      bool                `json:"has_more"`
	NextCursor   *string             `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type suppressionBatch struct {
	Data []suppressionItem `json:"data" nullable:"false" doc:"One item for each address, in their order."`
}

type suppressionItem struct {
	Index  int          `json:"index"`
	ID     *string      `json:"id" example:"sup_01kf0m4w7he6x8q2v5b3n9c1ta" doc:"Of the suppression; null when the item failed."`
	Status string       `json:"status" enum:"added,existing,failed" doc:"existing: the address was suppressed already and stays as it is."`
	Error  *problemBody `json:"error,omitempty" doc:"Why the item failed; absent otherwise."`
}

type suppressionName struct {
	ID string `path:"id" doc:"Id of the suppression, or the address, URL-encoded." example:"bob@example.net"`
}

type suppressionQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"25" doc:"How many to return."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; opaque. Left out: the newest."`
	Email  string `query:"email" doc:"Only this address." example:"bob@example.net"`
	Reason string `query:"reason" enum:"bounce,failure,complaint,unsubscribe,manual" doc:"Only this reason."`
}

type suppressionEdge struct {
	api   *API
	list  SuppressionService
	store Idempotency
}

// Suppressions makes the routes of the resources suppressions and category opt-outs.
func Suppressions(service SuppressionService, store Idempotency) Routes {
	return Routes{name: "suppressions", add: func(a *API) {
		e := &suppressionEdge{api: a, list: service, store: store}
		a.describeTag(tagSuppressions, "Addresses that must not be written to. An email with a suppressed recipient is not sent to anybody.")
		e.adding(a)
		one := map[string]any{"suppression": suppressionExample()}
		register(a, operation{
			method: http.MethodGet, path: "/suppressions", id: "listSuppressions", tag: tagSuppressions, needs: accounts.Read,
			summary: "List suppressions", description: "Newest first. Filters can be combined; give the same ones with each cursor.",
			example: map[string]any{"suppressions": []any{suppressionExample()}, "has_more": false, "next_cursor": nil},
		}, e.page)
		register(a, operation{
			method: http.MethodGet, path: "/suppressions/{id}", id: "getSuppression", tag: tagSuppressions, needs: accounts.Read,
			summary: "Retrieve a suppression", description: "By its id or by the address, which may be written in any case and with the domain in Unicode.",
			example: one, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodDelete, path: "/suppressions/{id}", id: "deleteSuppression", tag: tagSuppressions, needs: accounts.Write,
			summary: "Delete a suppression",
			description: "By its id or by the address. Emails may be sent to it again. A person who has unsubscribed or complained should be written to again only " +
				"when they ask for it. Opt-outs from categories stay.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.delete)
		e.optOuts(a)
	}}
}

func (e *suppressionEdge) adding(a *API) {
	add(a, operation{
		method: http.MethodPost, path: "/suppressions", id: "addSuppression", tag: tagSuppressions, needs: accounts.Write, idempotent: true,
		summary: "Suppress an address",
		description: "Its reason is `manual`. An address that is suppressed already is answered as it is, with the reason that it has. " +
			"Bounces, complaints and unsubscribes get here by themselves.",
		body: &requestBody{description: "The address to suppress.", schema: "AddSuppression",
			examples: map[string]any{"address": map[string]any{"email": "bob@example.net"}}},
		answer: reflect.TypeFor[suppressionAnswer](), example: map[string]any{"suppression": suppressionExample()},
	}, e.add)
	a.describeBody("AddSuppression", closed(map[string]*huma.Schema{
		"email":    {Type: huma.TypeString, Description: "A bare address. Its domain may be in Unicode.", Examples: []any{"bob@example.net"}},
		"email_id": {Type: huma.TypeString, Description: "The email that is the reason, for your own reference.", Examples: []any{"msg_01kf0m4w7he6x8q2v5b3n9c1ta"}},
	}, "email"))
	most, least := suppression.MaxBatch, 1
	add(a, operation{
		method: http.MethodPost, path: "/suppressions/batch", id: "addSuppressions", tag: tagSuppressions, needs: accounts.Write, idempotent: true,
		summary: "Suppress many addresses",
		description: "Up to 1,000, as from another service's list. The answer is 200 whenever the list has the right form: an address that is not valid is an " +
			"error of its item, and the others are suppressed.",
		body: &requestBody{description: "The addresses to suppress.", schema: "AddSuppressions",
			examples: map[string]any{"addresses": map[string]any{"emails": []any{"bob@example.net", "carol@example.net"}}}},
		answer: reflect.TypeFor[suppressionBatch](), example: map[string]any{"data": []any{
			map[string]any{"index": 0, "id": "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "added"},
			map[string]any{"index": 1, "id": nil, "status": "failed", "error": map[string]any{
				"message": "Invalid field: email", "code": "validation_error", "details": map[string]any{"email": "has no @"}}},
		}},
	}, e.addBatch)
	a.describeBody("AddSuppressions", closed(map[string]*huma.Schema{
		"emails": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, MinItems: &least, MaxItems: &most, Description: "Bare addresses."},
	}, "emails"))
}

func newSuppressionRecord(s *ent.Suppression) suppressionRecord {
	return suppressionRecord{ID: s.ID, Email: s.Email, Reason: string(s.Reason), EmailID: s.EmailID, CreatedAt: timestamp(s.CreatedAt)}
}

// add keeps its answer under the key in the transaction that suppresses.
func (e *suppressionEdge) add(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/suppressions", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		var in suppression.AddInput
		d := newDecoder()
		d.object("", body, []field{{name: "email", decode: d.into(&in.Email)}, {name: "email_id", decode: d.into(&in.EmailID)}})
		if in.Email == "" {
			d.refuse("email", "is required")
		}
		if err := d.wrong.Err(); err != nil {
			return idempotency.Answer{}, err
		}
		var answer idempotency.Answer
		in.Keep = func(ctx context.Context, tx idempotency.Execer, row *ent.Suppression) (err error) {
			if answer, err = success(suppressionAnswer{newSuppressionRecord(row)}); err != nil || claim == nil {
				return err
			}
			return e.store.Keep(ctx, tx, claim, answer)
		}
		_, err := e.list.Add(ctx, c.AccountID, in)
		return answer, err
	})
}

// success is the answer to be kept of an operation that went well.
func success(answer any) (idempotency.Answer, error) {
	encoded, err := marshal(answer)
	return idempotency.Answer{Status: http.StatusOK, Body: encoded}, err
}

func (e *suppressionEdge) addBatch(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return e.api.once(ctx, e.store, c, "POST "+Prefix+"/suppressions/batch", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		emails, err := decodeEmails(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		var answer idempotency.Answer
		_, err = e.list.AddBatch(ctx, c.AccountID, suppression.BatchInput{Emails: emails,
			Keep: func(ctx context.Context, tx idempotency.Execer, items []suppression.BatchItem) (err error) {
				if answer, err = success(newSuppressionBatch(items, c.requestID)); err != nil || claim == nil {
					return err
				}
				return e.store.Keep(ctx, tx, claim, answer)
			}})
		return answer, err
	})
}

func decodeEmails(body value) ([]string, error) {
	var emails []string
	given := false
	d := newDecoder()
	d.object("", body, []field{{name: "emails", decode: func(path string, v value) {
		if given = true; !d.expect(path, v, kindArray) {
			return
		}
		for i, item := range v.items() {
			if i == suppression.MaxBatch {
				d.refuse(path, "has more than %d items", suppression.MaxBatch)
			}
			if d.full() || i == suppression.MaxBatch {
				return
			}
			email, _ := d.text(fmt.Sprintf("%s[%d]", path, i), item)
			emails = append(emails, email)
		}
		if len(emails) == 0 {
			d.refuse(path, "is empty")
		}
	}}})
	if !given {
		d.refuse("emails", "is required")
	}
	return emails, d.wrong.Err()
}

func newSuppressionBatch(items []suppression.BatchItem, requestID string) suppressionBatch {
	out := suppressionBatch{Data: make([]suppressionItem, len(items))}
	for i, item := range items {
		shown := suppressionItem{Index: i, Status: "existing"}
		switch {
		case item.Err != nil:
			shown.Status, shown.Error = "failed", &translate(item.Err, requestID).Body
		case item.Added:
			shown.Status = "added"
			fallthrough
		default:
			shown.ID = &item.Suppression.ID
		}
		out.Data[i] = shown
	}
	return out
}

func (e *suppressionEdge) page(ctx context.Context, c *call, in *suppressionQuery) (*suppressionList, error) {
	found, err := e.list.List(ctx, c.AccountID, suppression.Filter{
		Request: page.Request{Limit: in.Limit, Cursor: in.Cursor}, Email: in.Email, Reason: in.Reason})
	if err != nil {
		return nil, err
	}
	out := suppressionList{Suppressions: []suppressionRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, row := range found.Items {
		out.Suppressions = append(out.Suppressions, newSuppressionRecord(row))
	}
	return &out, nil
}

func (e *suppressionEdge) get(ctx context.Context, c *call, in *suppressionName) (*suppressionAnswer, error) {
	row, err := e.list.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, in.orMissing(err)
	}
	return &suppressionAnswer{newSuppressionRecord(row)}, nil
}

func (e *suppressionEdge) delete(ctx context.Context, c *call, in *suppressionName) (*okAnswer, error) {
	if err := e.list.Remove(ctx, c.AccountID, in.ID); err != nil {
		return nil, in.orMissing(err)
	}
	return &okAnswer{OK: true}, nil
}

// orMissing repeats only what is fit to be repeated of a name that is not found.
func (in *suppressionName) orMissing(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.Missing("suppression", shown(in.ID))
	}
	return err
}

func suppressionExample() map[string]any {
	return map[string]any{"id": "sup_01kf0m4w7he6x8q2v5b3n9c1ta", "email": "bob@example.net", "reason": "bounce",
		"email_id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": "2026-01-15T09:30:00.000Z"}
}
