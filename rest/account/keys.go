package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// KeyService is the part of accounts that the key operations use.
type KeyService interface {
	CreateKey(ctx context.Context, in accounts.NewKey) (*ent.APIKey, secret.String, error)
	Keys(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error)
	Key(ctx context.Context, accountID, keyID string) (*ent.APIKey, error)
	RotateKey(ctx context.Context, r accounts.Rotation) (*ent.APIKey, secret.String, error)
	UpdateKey(ctx context.Context, accountID, keyID string, change accounts.KeyChange) (*ent.APIKey, error)
	RevokeKey(ctx context.Context, accountID, keyID string) (*ent.APIKey, error)
	CreatorsOf(ctx context.Context, accountID string, keyIDs ...string) (map[string]rights.Creator, error)
}

var _ KeyService = (*accounts.Service)(nil)

const tagKeys = "API keys"

// Keys grant access to everything, so all operations on them require the scope full, including reading.
const needsForKeys = rights.Write

type keyRecord struct {
	ID          string            `json:"id" doc:"The ID of the API key." example:"key_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name        string            `json:"name" doc:"A human-readable name." example:"web shop"`
	Prefix      string            `json:"prefix" doc:"The first characters of the secret, which help you recognize the key." example:"svc_Zk3v9QpA"`
	Mode        string            `json:"mode" enum:"live,test" doc:"In test mode, emails are captured instead of sent, and all data is separate from live mode."`
	Scope       string            `json:"scope" enum:"full,sending,read" doc:"What the key may do."`
	Permissions []string          `json:"permissions" nullable:"false" doc:"What the key can do within its scope; empty for everything that the scope allows." example:"[\"emails:send\"]"`
	DomainIDs   []string          `json:"domain_ids" nullable:"false" doc:"The domains that the key may send from. If empty, all domains."`
	AllowedIPs  []string          `json:"allowed_ips" nullable:"false" doc:"The networks that the key can be used from, in CIDR notation. If empty, all."`
	ExpiresAt   wire.OptionalTime `json:"expires_at" doc:"null if it never expires."`
	LastUsedAt  wire.OptionalTime `json:"last_used_at" doc:"When the key was last used, accurate to a minute; null if never."`
	LastUsedIP  *string           `json:"last_used_ip" doc:"The IP address that the key was last used from; null if never used or unknown." example:"192.0.2.10"`
	CreatedAt   wire.Time         `json:"created_at" doc:"When the key was created."`
	RevokedAt   wire.OptionalTime `json:"revoked_at" doc:"null if the key is not revoked."`
	CreatedBy   *string           `json:"created_by" doc:"ID of the user who created the key, directly or through another key; null if the operator created it." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`

	CreatorRole *string `json:"creator_role" enum:"owner,admin,developer,billing,viewer" doc:"The current role of the creator, or their role when they left. The key can do only what this role allows. null if there is no such user."`
	CreatorLeft bool    `json:"creator_left" doc:"Whether the creator has left the account. The key can then only send emails and events, and read them."`
}

type keyAnswer struct {
	APIKey keyRecord `json:"api_key" doc:"The API key, without its secret."`
}

type newKeyAnswer struct {
	APIKey keyRecord `json:"api_key" doc:"The API key that was created."`
	Secret string    `json:"secret" doc:"The secret. It is shown only once." example:"svc_Zk3v9QpA…"`
}

var key = api.Noun{Name: "API key", About: "ID of the API key.", Example: "key_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.APIKey, word) }}

type keyEdge struct{ keys KeyService }

// KeyRoutes returns the routes of the resource API keys.
func KeyRoutes(service KeyService) api.Routes {
	return api.NewRoutes("api-keys", func(a *api.API) {
		e := &keyEdge{keys: service}
		g := a.Tag(tagKeys, "Credentials for the API. The secret is shown only when the key is created, because only "+
			"its hash is stored.")
		g.Bind(key, service)
		api.OnceBody(g, api.Operation{
			Path: "/api-keys", ID: "createAPIKey", Needs: needsForKeys,
			Summary: "Create an API key",
			Description: "Creates an API key. `full` allows everything that your role allows. `sending` allows " +
				"sending emails and events, and reading them. `read` allows only reading. A key never allows more " +
				"than the current role of its creator: its rights shrink with the role, and once the creator has " +
				"left the account, the key can only send, and read sent mail. `domain_ids` limits the key to " +
				"these domains, their mail and the resources that sending needs; such a key cannot add or delete domains. A " +
				"key cannot create a key for domains other than its own, or one that expires later. A response " +
				"stored under an Idempotency-Key is encrypted.",
			Body: &api.Body{About: "The API key to create.",
				Examples: map[string]any{"sending": map[string]any{"name": "web shop", "scope": "sending"}}},
			Example: map[string]any{"api_key": keyExample(),
				"secret": "svc_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"}, Secret: true,
		}, keyBody, e.createKey)
		api.List(g, api.Operation{
			Path: "/api-keys", ID: "listAPIKeys", Needs: needsForKeys,
			Summary: "List API keys", Description: "Lists API keys, newest first, including revoked and expired " +
				"ones.",
			Example: keyExample(),
		}, api.Plural{Member: "api_keys", Schema: "ApiKeyList"}, e.listKeys, newKeyRecord)
		api.Get(g, api.Operation{
			Path: "/api-keys/{id}", ID: "getAPIKey", Needs: needsForKeys,
			Summary: "Retrieve an API key", Description: "Returns an API key without its secret.",
			Example: map[string]any{"api_key": keyExample()}, Of: key,
		}, e.getKey, newKeyRecordAnswer)
		api.HandleBody(g, api.Operation{
			Method: http.MethodPatch, Path: "/api-keys/{id}", ID: "updateAPIKey", Needs: needsForKeys,
			Stores:  api.StoresNothing,
			Summary: "Update an API key",
			Description: "Changes the name of an API key, or the networks that it can be used from. Its scope, domains " +
				"and expiry cannot change: create another key and revoke this one. For a new secret, rotate the key.",
			Body: &api.Body{About: "The fields to change.",
				Examples: map[string]any{"name": map[string]any{"name": "web shop"}}},
			Example:  map[string]any{"api_key": keyExample()},
			Problems: []int{http.StatusNotFound}, Of: key,
		}, keyChangeBody, e.updateKey)
		api.OnceBody(g, api.Operation{
			Path: "/api-keys/{id}/rotate", ID: "rotateAPIKey", Needs: needsForKeys,
			Summary: "Rotate an API key",
			Description: "Creates an API key with the same name, scope, domains, networks and expiry, and a new ID and " +
				"secret. The old key keeps working for `overlap_seconds`, so that you can deploy the new secret without " +
				"an interruption. A key can rotate itself. A response stored under an Idempotency-Key is encrypted.",
			Body: &api.Body{About: "How long the old key keeps working.",
				Examples: map[string]any{"hour": map[string]any{"overlap_seconds": 3600}}},
			Example: map[string]any{"api_key": keyExample(),
				"secret": "svc_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"}, Secret: true,
			Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: key,
		}, rotationBody, e.rotateKey)
		api.Delete(g, api.Operation{
			Path: "/api-keys/{id}", ID: "revokeAPIKey", Needs: needsForKeys,
			Summary: "Revoke an API key",
			Description: "Revokes an API key permanently. It stops working within 5 seconds and remains in the list " +
				"with its revocation time. Revoking it again has no effect. A key may revoke itself.", Of: key,
		}, e.revokeKey)
	})
}

func keyBody(in *accounts.NewKey) body.Object {
	return body.Object{Name: "CreateAPIKey", Fields: []body.Field{
		{Name: "name", Type: keyName(&in.Name), Need: body.RequiredByService, About: "A name to recognize the key by.", Example: "web shop"},
		{Name: "mode", Type: body.Choice(&in.Mode, apikey.ModeLive, apikey.ModeTest), Default: "live", About: "With " +
			"`test`, emails of the key are captured instead of sent, and its data is separate from live mode. Its secret " +
			"begins with `svc_test_`. The mode cannot change."},
		{Name: "scope", Type: scope{&in.Scope}, Default: "full", About: "What the key may do."},
		{Name: "permissions", Type: body.List(&in.Permissions, permission), About: "What the key can do within its scope: " +
			"each entry allows one kind of access to one kind of resource. A key with permissions can use only the REST " +
			"API, the APIs of other providers and SMTP. Defaults to everything that the scope allows, as does an empty list.",
			Example: []any{"emails:send"}},
		{Name: "domain_ids", Type: body.List(&in.DomainIDs, body.Text).Count(0, 100), About: "The domains that the " +
			"key may send from. Defaults to all; an empty list also means all."},
		{Name: "allowed_ips", Type: NetworksField(&in.AllowedIPs), About: "The networks, in CIDR " +
			"notation, or IP addresses that the key can be used from. Defaults to all; an empty list also means all.",
			Example: []any{"192.0.2.0/24"}},
		{Name: "expires_at", Type: body.Pointer(&in.ExpiresAt, body.Time), About: "When the key expires. Defaults to never."},
	}, Check: func(d *body.Decoder) { d.AddErrors(fault.Classify(in.Validate()).Fields) }}
}

func permission(to *rights.Permission) body.Type { return body.Choice(to, rights.Permissions()...) }

func keyChangeBody(c *accounts.KeyChange) body.Object {
	return body.Object{Name: "UpdateAPIKey", Change: true, Fields: []body.Field{
		{Name: "name", Type: body.Pointer(&c.Name, keyName), About: "A name to recognize the key by.",
			Example: "web shop"},
		{Name: "allowed_ips", Type: body.Pointer(&c.AllowedIPs, NetworksField), About: "The networks, in CIDR notation, " +
			"or IP addresses that the key can be used from. An empty list means all.", Example: []any{"192.0.2.0/24"}},
	}, Check: func(d *body.Decoder) { d.AddErrors(fault.Classify(c.Validate()).Fields) }}
}

const defaultOverlap = 24 * time.Hour

// rotation is the body of rotateAPIKey.
type rotation struct{ overlapSeconds int }

func rotationBody(in *rotation) body.Object {
	in.overlapSeconds = int(defaultOverlap.Seconds())
	return body.Object{Name: "RotateAPIKey", Fields: []body.Field{
		{Name: "overlap_seconds", Type: body.Integer(&in.overlapSeconds).AtLeast(0).UpTo(int(accounts.MaxOverlap.Seconds())),
			Default: in.overlapSeconds, About: "How long the old key keeps working, in seconds, unless it expires earlier. " +
				"0 ends it immediately."},
	}}
}

// NetworksField reads the networks that a key can be used from.
func NetworksField(to *[]string) body.ListType[string, body.TextType] {
	return body.List(to, body.Text).Count(0, 50)
}

func keyName(to *string) body.TextType { return body.Text(to).Length(1, 200) }

// scope reads a scope. An empty scope is invalid: it does not select the default.
type scope struct{ to *rights.Scope }

func (t scope) Read(d *body.Decoder, path string, v body.Value) {
	text, ok := d.Text(path, v)
	if *t.to = rights.Scope(text); ok && text == "" {
		d.Refuse(path, "must be one of full, sending, read")
	}
}

func (scope) Schema(body.Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"full", "sending", "read"}}
}

// createdKey is a key with its creator. The creator is zero if the operator created the key.
type createdKey struct {
	*ent.APIKey

	by rights.Creator
}

func newKeyRecord(k createdKey) keyRecord {
	return keyRecord{CreatorRole: wire.OrNull(string(k.by.Role)), CreatorLeft: k.by.Former, ID: k.ID, Name: k.Name,
		Prefix: k.Prefix, Mode: string(k.Mode), Scope: string(k.Scope), Permissions: wire.List(k.Permissions), DomainIDs: wire.List(k.DomainIds),
		AllowedIPs: wire.List(k.AllowedIps), ExpiresAt: wire.OptionalTime{At: k.ExpiresAt},
		LastUsedAt: wire.OptionalTime{At: k.LastUsedAt}, LastUsedIP: k.LastUsedIP,
		CreatedAt: wire.Time(k.CreatedAt),
		RevokedAt: wire.OptionalTime{At: k.RevokedAt}, CreatedBy: k.CreatedBy}
}

func newKeyRecordAnswer(k createdKey) keyAnswer { return keyAnswer{newKeyRecord(k)} }

func (e *keyEdge) createKey(ctx context.Context, c *api.Call, _ *api.None, in accounts.NewKey,
	keep api.StoreResponse) (out newKeyAnswer, err error) {
	in.AccountID, in.MakerKeyID = c.AccountID, c.KeyID
	if c.Person != nil {
		in.CreatedBy = c.Person.UserID
	}
	in.Keep = keepKey(c.Caller, keep)
	made, token, err := e.keys.CreateKey(ctx, in)
	if err != nil {
		return out, err
	}
	return newKeySecret(c.Caller, made, token), nil
}

func (e *keyEdge) rotateKey(ctx context.Context, c *api.Call, in *api.Item, b rotation,
	keep api.StoreResponse) (out newKeyAnswer, err error) {
	r := accounts.Rotation{AccountID: c.AccountID, KeyID: in.ID, MakerKeyID: c.KeyID,
		Overlap: time.Duration(b.overlapSeconds) * time.Second, Keep: keepKey(c.Caller, keep)}
	if c.Person != nil {
		r.CreatedBy = c.Person.UserID
	}
	made, token, err := e.keys.RotateKey(ctx, r)
	if err != nil {
		return out, err
	}
	return newKeySecret(c.Caller, made, token), nil
}

func keepKey(by accounts.Caller, keep api.StoreResponse) accounts.KeepKey {
	return func(ctx context.Context, tx idempotency.Execer, made *ent.APIKey, token secret.String) error {
		return keep(ctx, tx, newKeySecret(by, made, token))
	}
}

func newKeySecret(by accounts.Caller, made *ent.APIKey, token secret.String) newKeyAnswer {
	return newKeyAnswer{APIKey: newKeyRecord(createdKey{made, creatorOf(by)}), Secret: token.Reveal()}
}

// creatorOf returns the creator of a key that the caller creates.
func creatorOf(c accounts.Caller) rights.Creator {
	switch {
	case c.Person != nil:
		return rights.Creator{Role: c.Person.Role}
	case c.Creator != nil:
		return *c.Creator
	}
	return rights.Creator{}
}

func (e *keyEdge) listKeys(ctx context.Context, accountID string, r page.Request) (page.Page[createdKey], error) {
	found, err := e.keys.Keys(ctx, accountID, r)
	if err != nil {
		return page.Page[createdKey]{}, err
	}
	keyIDs := make([]string, len(found.Items))
	for i, k := range found.Items {
		keyIDs[i] = k.ID
	}
	by, err := e.keys.CreatorsOf(ctx, accountID, keyIDs...)
	return page.Map(found, func(k *ent.APIKey) createdKey { return createdKey{k, by[k.ID]} }), err
}

func (e *keyEdge) getKey(ctx context.Context, accountID, keyID string) (createdKey, error) {
	found, err := e.keys.Key(ctx, accountID, keyID)
	if err != nil {
		return createdKey{}, err
	}
	by, err := e.keys.CreatorsOf(ctx, accountID, keyID)
	return createdKey{found, by[keyID]}, err
}

func (e *keyEdge) updateKey(ctx context.Context, c *api.Call, in *api.Item,
	change accounts.KeyChange) (keyAnswer, error) {
	change.ByKeyID = c.KeyID
	if _, err := e.keys.UpdateKey(ctx, c.AccountID, in.ID, change); err != nil {
		return keyAnswer{}, err
	}
	return api.As(newKeyRecordAnswer)(e.getKey(ctx, c.AccountID, in.ID))
}

func (e *keyEdge) revokeKey(ctx context.Context, accountID, keyID string) error {
	_, err := e.keys.RevokeKey(ctx, accountID, keyID)
	return err
}

func keyExample() map[string]any {
	return map[string]any{
		"id": "key_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "web shop", "prefix": "svc_Zk3v9QpA", "mode": "live", "scope": "sending", "permissions": []any{"emails:send"}, "domain_ids": []any{},
		"allowed_ips": []any{}, "expires_at": nil, "last_used_at": "2026-01-15T09:40:00.000Z", "last_used_ip": "192.0.2.10", "created_at": "2026-01-15T09:30:00.000Z",
		"revoked_at": nil, "created_by": "usr_01kf0m4w7he6x8q2v5b3n9c1ta",
		"creator_role": "developer", "creator_left": false,
	}
}
