package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/secret"
)

// KeyService is what the key operations need of accounts.
type KeyService interface {
	CreateKey(ctx context.Context, in accounts.NewKey) (*ent.APIKey, secret.String, error)
	Keys(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error)
	Key(ctx context.Context, accountID, keyID string) (*ent.APIKey, error)
	RevokeKey(ctx context.Context, accountID, keyID string) (*ent.APIKey, error)
}

var _ KeyService = (*accounts.Service)(nil)

const tagKeys = "API keys"

// Keys open everything, so all that is said of them takes the scope full, reading
// too.
const needsForKeys = accounts.Write

type keyRecord struct {
	ID         string            `json:"id" example:"key_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name       string            `json:"name" example:"web shop"`
	Prefix     string            `json:"prefix" doc:"The first characters of the secret, to recognise it by." example:"svc_Zk3v9QpA"`
	Scope      string            `json:"scope" enum:"full,sending,read"`
	DomainIDs  []string          `json:"domain_ids" nullable:"false" doc:"The domains that it may send from; empty is all."`
	ExpiresAt  optionalTimestamp `json:"expires_at" doc:"null: never."`
	LastUsedAt optionalTimestamp `json:"last_used_at" doc:"To within a minute; null: never."`
	CreatedAt  timestamp         `json:"created_at"`
	RevokedAt  optionalTimestamp `json:"revoked_at" doc:"null: not revoked."`
}

type keyAnswer struct {
	APIKey keyRecord `json:"api_key"`
}

type newKeyAnswer struct {
	APIKey keyRecord `json:"api_key"`
	Secret string    `json:"secret" doc:"Shown this once." example:"svc_Zk3v9QpA…"`
}

type apiKeyList struct {
	APIKeys    []keyRecord `json:"api_keys" nullable:"false"`
	HasMore    bool        `json:"has_more"`
	NextCursor *string     `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type keyID struct {
	ID string `path:"id" doc:"Id of the API key." example:"key_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type keyEdge struct {
	api   *API
	keys  KeyService
	store Idempotency
	box   Sealer
}

// APIKeys makes the routes of the resource API keys.
func APIKeys(service KeyService, store Idempotency, box Sealer) Routes {
	return Routes{name: "api-keys", add: func(a *API) {
		e := &keyEdge{api: a, keys: service, store: store, box: box}
		a.describeTag(tagKeys, "Credentials of the API. A secret is shown when it is made and never again: only its hash is kept.")
		add(a, operation{
			method: http.MethodPost, path: "/api-keys", id: "createAPIKey", tag: tagKeys, needs: needsForKeys, idempotent: true,
			summary: "Create an API key",
			description: "`full` may do everything; `sending` may send emails and events, and read those; `read` may only read. With `domain_ids` it sends from " +
				"those domains alone. A key makes no key that may send from other domains than itself, or that expires later. Under an Idempotency-Key the " +
				"answer is kept encrypted.",
			body: &requestBody{description: "The key to make.", schema: "CreateAPIKey",
				examples: map[string]any{"sending": map[string]any{"name": "web shop", "scope": "sending"}}},
			answer: reflect.TypeFor[newKeyAnswer](), example: map[string]any{"api_key": keyExample(), "secret": "svc_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"},
		}, e.create)
		a.describeBody("CreateAPIKey", createKeySchema())
		register(a, operation{
			method: http.MethodGet, path: "/api-keys", id: "listAPIKeys", tag: tagKeys, needs: needsForKeys,
			summary: "List API keys", description: "Newest first, also those that are revoked or have expired.",
			example: map[string]any{"api_keys": []any{keyExample()}, "has_more": false, "next_cursor": nil},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/api-keys/{id}", id: "getAPIKey", tag: tagKeys, needs: needsForKeys,
			summary: "Retrieve an API key", description: "Without its secret.",
			example: map[string]any{"api_key": keyExample()}, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodDelete, path: "/api-keys/{id}", id: "revokeAPIKey", tag: tagKeys, needs: needsForKeys,
			summary: "Revoke an API key",
			description: "It stops working within five seconds, for good. It stays in the list with the time of its end. Revoking it again changes nothing. " +
				"A key may revoke itself.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.revoke)
	}}
}

func createKeySchema() *huma.Schema {
	one, most, domainsMost := 1, 200, 100
	return closed(map[string]*huma.Schema{
		"name":  {Type: huma.TypeString, MinLength: &one, MaxLength: &most, Description: "To recognise the key by.", Examples: []any{"web shop"}},
		"scope": {Type: huma.TypeString, Nullable: true, Enum: []any{"full", "sending", "read", nil}, Default: "full", Description: "What it may do."},
		"domain_ids": {Type: huma.TypeArray, Nullable: true, MaxItems: &domainsMost, Items: &huma.Schema{Type: huma.TypeString},
			Description: "The domains that it may send from; left out or empty is all."},
		"expires_at": {Type: huma.TypeString, Nullable: true, Format: "date-time", Description: "When it ends; left out is never."},
	}, "name")
}

func showKey(k *ent.APIKey) keyRecord {
	return keyRecord{ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scope: string(k.Scope), DomainIDs: listed(k.DomainIds),
		ExpiresAt: optionalTimestamp{k.ExpiresAt}, LastUsedAt: optionalTimestamp{k.LastUsedAt}, CreatedAt: timestamp(k.CreatedAt),
		RevokedAt: optionalTimestamp{k.RevokedAt}}
}

func newKey(made *ent.APIKey, token secret.String) (idempotency.Answer, error) {
	encoded, err := marshal(newKeyAnswer{APIKey: showKey(made), Secret: token.Reveal()})
	return idempotency.Answer{Status: http.StatusOK, Body: encoded}, err
}

// create keeps its answer, sealed, in the transaction that makes the key.
func (e *keyEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	store := sealAnswers(e.store, e.box, c)
	return e.api.once(ctx, store, c, "POST "+Prefix+"/api-keys", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		in, err := decodeKey(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		in.AccountID, in.MadeBy = c.AccountID, c.KeyID
		if claim != nil {
			in.Keep = func(ctx context.Context, tx idempotency.Execer, made *ent.APIKey, token secret.String) error {
				answer, err := newKey(made, token)
				if err != nil {
					return err
				}
				return store.Keep(ctx, tx, claim, answer)
			}
		}
		made, token, err := e.keys.CreateKey(ctx, in)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return newKey(made, token)
	})
}

func decodeKey(body value) (in accounts.NewKey, err error) {
	d := newDecoder()
	d.object("", body, []field{
		{name: "name", decode: d.into(&in.Name)},
		{name: "scope", decode: func(path string, v value) {
			if scope, ok := d.text(path, v); ok {
				if in.Scope = accounts.Scope(scope); scope == "" {
					d.refuse(path, "must be one of full, sending, read")
				}
			}
		}},
		{name: "domain_ids", decode: func(path string, v value) {
			if !d.expect(path, v, kindArray) {
				return
			}
			for at, item := range d.items(path, v) {
				domainID, _ := d.text(at, item)
				in.DomainIDs = append(in.DomainIDs, domainID)
			}
		}},
		{name: "expires_at", decode: func(path string, v value) {
			if at, ok := d.time(path, v); ok {
				in.ExpiresAt = &at
			}
		}},
	})
	for path, reason := range fault.From(in.Validate()).Fields {
		d.refuse(path, "%s", reason)
	}
	return in, d.wrong.Err()
}

func (e *keyEdge) list(ctx context.Context, c *call, in *pageInput) (*apiKeyList, error) {
	found, err := e.keys.Keys(ctx, c.AccountID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := apiKeyList{APIKeys: []keyRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, k := range found.Items {
		out.APIKeys = append(out.APIKeys, showKey(k))
	}
	return &out, nil
}

func (e *keyEdge) get(ctx context.Context, c *call, in *keyID) (*keyAnswer, error) {
	if !id.Is(id.APIKey, in.ID) {
		return nil, fault.Missing("api key", shown(in.ID))
	}
	found, err := e.keys.Key(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return &keyAnswer{APIKey: showKey(found)}, nil
}

func (e *keyEdge) revoke(ctx context.Context, c *call, in *keyID) (*okAnswer, error) {
	if !id.Is(id.APIKey, in.ID) {
		return nil, fault.Missing("api key", shown(in.ID))
	}
	if _, err := e.keys.RevokeKey(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

func keyExample() map[string]any {
	return map[string]any{
		"id": "key_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "web shop", "prefix": "svc_Zk3v9QpA", "scope": "sending", "domain_ids": []any{},
		"expires_at": nil, "last_used_at": "2026-01-15T09:40:00.000Z", "created_at": "2026-01-15T09:30:00.000Z", "revoked_at": nil,
	}
}
