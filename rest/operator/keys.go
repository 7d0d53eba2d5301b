package operator

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/account"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

var keyNoun = api.Noun{Name: "operator key", About: "ID of the operator key.",
	Example: "opk_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.OperatorKey, word) }}

type operatorKeyRecord struct {
	ID         string            `json:"id" doc:"The ID of the operator key." example:"opk_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name       string            `json:"name" doc:"The name of the key." example:"provisioning"`
	Prefix     string            `json:"prefix" doc:"The first characters of the secret." example:"svc_op_Zk3v9"`
	AllowedIPs []string          `json:"allowed_ips" nullable:"false" doc:"The networks that the key can be used from; empty for all."`
	ExpiresAt  wire.OptionalTime `json:"expires_at" doc:"When the key expires; null if never."`
	LastUsedAt wire.OptionalTime `json:"last_used_at" doc:"When the key was last used, up to a minute late; null if never."`
	LastUsedIP *string           `json:"last_used_ip" doc:"The address of the last use; null if unknown." example:"192.0.2.10"`
	RevokedAt  wire.OptionalTime `json:"revoked_at" doc:"When the key was revoked; null if it was not."`
	CreatedBy  *string           `json:"created_by" doc:"ID of the operator who created the key; null for the command line. The key ends when this user is no longer an operator." example:"usr_01kf0m4w7he6x8q2v5b3n9c1ta"`
	CreatedAt  wire.Time         `json:"created_at" doc:"When the key was created."`
}

type operatorKeyAnswer struct {
	Key operatorKeyRecord `json:"operator_key" doc:"The operator key, without its secret."`
}

type newOperatorKeyAnswer struct {
	Key    operatorKeyRecord `json:"operator_key" doc:"The operator key that was created."`
	Secret string            `json:"secret" doc:"The secret. It is shown only once." example:"svc_op_Zk3v9QpA…"`
}

func (e *edge) keyRoutes(g *api.TagGroup) {
	api.ListBy(g, api.Operation{
		Path: "/operator/keys", ID: "listOperatorKeys", Needs: rights.Operate,
		Summary: "List operator keys", Description: "Lists operator keys, newest first, including revoked and expired " +
			"ones. Operator keys cannot use this operation.", Example: operatorKeyExample(),
	}, api.Plural{Member: "operator_keys", Schema: "OperatorKeyList"},
		func(ctx context.Context, c *api.Call, in *api.Page) (page.Page[*ent.OperatorKey], error) {
			return e.desk.Keys(ctx, c.Caller, in.Request())
		}, newOperatorKey)
	api.OnceBody(g, api.Operation{
		Path: "/operator/keys", ID: "createOperatorKey", Needs: rights.Operate, Confirmed: true, Audited: true,
		Stores: api.StoresNothing, Summary: "Create an operator key",
		Description: "Creates a key that manages the accounts of the installation and acts for any of them: with the " +
			"header `Postrider-Account`, it can use every operation that owners can, except payments and profiles. " +
			"Operator keys cannot use this operation. A response stored under an Idempotency-Key is encrypted.",
		Body: &api.Body{About: "The operator key to create.",
			Examples: map[string]any{"networks": map[string]any{"name": "provisioning", "allowed_ips": []any{"192.0.2.0/24"}}}},
		Example: map[string]any{"operator_key": operatorKeyExample(),
			"secret": "svc_op_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"}, Secret: true,
	}, operatorKeyBody, e.createKey)
	api.Handle(g, api.Operation{
		Method: http.MethodDelete, Path: "/operator/keys/{id}", ID: "revokeOperatorKey", Needs: rights.Operate,
		Confirmed: true, Audited: true, Of: keyNoun, Problems: []int{http.StatusNotFound},
		Summary: "Revoke an operator key", Description: "Revokes an operator key. It stops working within 5 seconds. " +
			"Operator keys cannot use this operation.", Example: map[string]any{"operator_key": operatorKeyExample()},
	}, func(ctx context.Context, c *api.Call, in *api.Item) (operatorKeyAnswer, error) {
		return api.As(func(k *ent.OperatorKey) operatorKeyAnswer {
			return operatorKeyAnswer{newOperatorKey(k)}
		})(e.desk.RevokeKey(ctx, c.Caller, in.ID))
	})
}

func operatorKeyBody(in *accounts.NewOperatorKey) body.Object {
	return body.Object{Name: "CreateOperatorKey", Fields: []body.Field{
		{Name: "name", Type: body.Text(&in.Name).Length(1, 200), Need: body.Required, About: "Name of the key.", Example: "provisioning"},
		{Name: "allowed_ips", Type: account.NetworksField(&in.AllowedIPs), About: "Networks, in CIDR notation, or addresses that " +
			"the key can be used from. Defaults to all.", Example: []any{"192.0.2.0/24"}},
		{Name: "expires_at", Type: body.Pointer(&in.ExpiresAt, body.Time), About: "When the key expires. Defaults to never."},
	}}
}

func (e *edge) createKey(ctx context.Context, c *api.Call, _ *api.None, in accounts.NewOperatorKey,
	keep api.StoreResponse) (out newOperatorKeyAnswer, err error) {
	show := func(made *ent.OperatorKey, token secret.String) newOperatorKeyAnswer {
		return newOperatorKeyAnswer{Key: newOperatorKey(made), Secret: token.Reveal()}
	}
	made, token, err := e.desk.CreateKey(ctx, c.Caller, in,
		func(ctx context.Context, tx idempotency.Execer, made *ent.OperatorKey, token secret.String) error {
			return keep(ctx, tx, show(made, token))
		})
	if err != nil {
		return out, err
	}
	return show(made, token), nil
}

func newOperatorKey(k *ent.OperatorKey) operatorKeyRecord {
	return operatorKeyRecord{ID: k.ID, Name: k.Name, Prefix: k.Prefix, AllowedIPs: wire.List(k.AllowedIps),
		ExpiresAt: wire.OptionalTime{At: k.ExpiresAt}, LastUsedAt: wire.OptionalTime{At: k.LastUsedAt},
		LastUsedIP: k.LastUsedIP, RevokedAt: wire.OptionalTime{At: k.RevokedAt}, CreatedBy: k.CreatedBy,
		CreatedAt: wire.Time(k.CreatedAt)}
}

func operatorKeyExample() map[string]any {
	return map[string]any{"id": "opk_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "provisioning", "prefix": "svc_op_Zk3v9",
		"allowed_ips": []any{"192.0.2.0/24"}, "expires_at": nil, "last_used_at": exampleTime, "last_used_ip": "192.0.2.10",
		"revoked_at": nil, "created_by": "usr_01kf0m4w7he6x8q2v5b3n9c1ta", "created_at": exampleTime}
}
