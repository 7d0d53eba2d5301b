package account

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/smtpcredential"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// SMTPCredentialService is the part of relay that the operations use.
type SMTPCredentialService interface {
	Create(ctx context.Context, in relay.NewCredential) (*ent.SMTPCredential, secret.String, error)
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.SMTPCredential], error)
	Get(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error)
	Revoke(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error)
	Endpoint() (host string, port int, tls string)
}

var _ SMTPCredentialService = (*relay.Credentials)(nil)

const tagSMTPCredentials = "SMTP credentials"

type smtpCredentialRecord struct {
	ID         string            `json:"id" doc:"The ID of the SMTP credential." example:"smtp_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name       string            `json:"name" doc:"A human-readable name." example:"web shop"`
	Mode       string            `json:"mode" enum:"live,test" doc:"In test mode, emails are captured instead of sent, and all data is separate from live mode."`
	Username   string            `json:"username" doc:"A user name for clients that require one. The relay accepts any user name with the password." example:"postrider"`
	Host       string            `json:"host" doc:"The host to connect to." example:"smtp.mail.example.com"`
	Port       int               `json:"port" doc:"The port of the relay." example:"587"`
	TLS        string            `json:"tls" enum:"starttls,implicit" doc:"How TLS starts on this port. Signing in requires TLS."`
	DomainIDs  []string          `json:"domain_ids" nullable:"false" doc:"The domains that the credential may send from. If empty, all domains."`
	LastUsedAt wire.OptionalTime `json:"last_used_at" doc:"When the credential was last used, accurate to a minute; null if never."`
	CreatedAt  wire.Time         `json:"created_at" doc:"When the credential was created."`
	RevokedAt  wire.OptionalTime `json:"revoked_at" doc:"null if the credential is not revoked."`
}

type smtpCredentialAnswer struct {
	SMTPCredential smtpCredentialRecord `json:"smtp_credential" doc:"The SMTP credential, without its password."`
}

type newSMTPCredentialAnswer struct {
	SMTPCredential smtpCredentialRecord `json:"smtp_credential" doc:"The SMTP credential that was created."`
	Password       string               `json:"password" doc:"The password. It is shown only once." example:"svs_Zk3v9QpA…"`
}

var credential = api.Noun{Name: "SMTP credential", About: "ID of the SMTP credential.",
	Example: "smtp_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is:      func(word string) bool { return id.Is(id.SMTPCredential, word) }}

type smtpCredentialEdge struct{ credentials SMTPCredentialService }

// SMTPCredentialRoutes returns the routes of the resource. A credential can send like
// an API key, so all operations on it require the scope full, as with keys.
func SMTPCredentialRoutes(service SMTPCredentialService) api.Routes {
	return api.NewRoutes("smtp-credentials", func(a *api.API) {
		e := &smtpCredentialEdge{credentials: service}
		g := a.Tag(tagSMTPCredentials, "Credentials for the SMTP relay: the user name `postrider` and a password, "+
			"which is shown only when the credential is created. An API key that can send also works as the password; that "+
			"of a test key or a credential with `mode` `test` captures the emails instead of sending them. The relay applies the rules of POST /emails. The "+
			"header fields `X-Postrider-Unsubscribe: true`, `X-Postrider-Category`, `X-Postrider-Tag: name=value`, "+
			"`X-Postrider-Scheduled-At`, `X-Postrider-Expires-At` and `X-Postrider-Idempotency-Key` of a message "+
			"work like the API fields. The `250` reply contains the ID of the email.")
		g.Bind(credential, service)
		api.OnceBody(g, api.Operation{
			Path: "/smtp-credentials", ID: "createSMTPCredential", Needs: needsForKeys,
			Summary: "Create an SMTP credential",
			Description: "Creates an SMTP credential. `domain_ids` limits it to these domains. An API key that is " +
				"limited to domains cannot create a credential for other domains. The credential can send as long " +
				"as the role of its creator allows sending, or allowed it when they left the account. A response " +
				"stored under an Idempotency-Key is encrypted.",
			Body: &api.Body{About: "The SMTP credential to create.",
				Examples: map[string]any{"named": map[string]any{"name": "web shop", "domain_ids": []any{}}}},
			Example: map[string]any{"smtp_credential": smtpCredentialExample(),
				"password": "svs_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"}, Secret: true,
		}, credentialBody, e.createCredential)
		api.List(g, api.Operation{
			Path: "/smtp-credentials", ID: "listSMTPCredentials", Needs: needsForKeys,
			Summary:     "List SMTP credentials",
			Description: "Lists SMTP credentials, newest first, including revoked ones.",
			Example:     smtpCredentialExample(),
		}, api.Plural{Member: "smtp_credentials", Schema: "SmtpCredentialList"}, e.credentials.List, e.toRecord)
		api.Get(g, api.Operation{
			Path: "/smtp-credentials/{id}", ID: "getSMTPCredential", Needs: needsForKeys,
			Summary: "Retrieve an SMTP credential", Description: "Returns an SMTP credential without its password.",
			Example: map[string]any{"smtp_credential": smtpCredentialExample()}, Of: credential,
		}, e.credentials.Get, e.toAnswer)
		api.Delete(g, api.Operation{
			Path: "/smtp-credentials/{id}", ID: "revokeSMTPCredential", Needs: needsForKeys,
			Summary: "Revoke an SMTP credential",
			Description: "Revokes an SMTP credential. It can no longer sign in, and open connections cannot send " +
				"another message with it. It remains in the list with its revocation time. Revoking it again has no " +
				"effect.", Of: credential,
		}, e.revokeCredential)
	})
}

func credentialBody(in *relay.NewCredential) body.Object {
	return body.Object{Name: "CreateSMTPCredential", Fields: []body.Field{
		{Name: "name", Type: body.Text(&in.Name).Length(1, 200), Need: body.RequiredByService,
			About: "A name to recognize the credential by.", Example: "web shop"},
		{Name: "mode", Type: body.Choice(&in.Mode, smtpcredential.ModeLive, smtpcredential.ModeTest), Default: "live",
			About: "With `test`, emails of the credential are captured instead of sent, and its data is separate from " +
				"live mode. Its password begins with `svs_test_`. The mode cannot change."},
		{Name: "domain_ids", Type: body.List(&in.DomainIDs, body.Text).Count(0, 100), About: "The domains that the " +
			"credential may send from. Defaults to all; an empty list also means all."},
	}, Check: func(d *body.Decoder) { d.AddErrors(fault.Classify(in.Validate()).Fields) }}
}

func (e *smtpCredentialEdge) toRecord(c *ent.SMTPCredential) smtpCredentialRecord {
	host, port, tls := e.credentials.Endpoint()
	return smtpCredentialRecord{ID: c.ID, Name: c.Name, Mode: string(c.Mode), Username: relay.Username, Host: host, Port: port, TLS: tls,
		DomainIDs:  wire.List(c.DomainIds),
		LastUsedAt: wire.OptionalTime{At: c.LastUsedAt}, CreatedAt: wire.Time(c.CreatedAt),
		RevokedAt: wire.OptionalTime{At: c.RevokedAt}}
}

func (e *smtpCredentialEdge) toAnswer(c *ent.SMTPCredential) smtpCredentialAnswer {
	return smtpCredentialAnswer{e.toRecord(c)}
}

func (e *smtpCredentialEdge) createCredential(ctx context.Context, c *api.Call, _ *api.None, in relay.NewCredential,
	keep api.StoreResponse) (out newSMTPCredentialAnswer, err error) {
	answer := func(made *ent.SMTPCredential, password secret.String) newSMTPCredentialAnswer {
		return newSMTPCredentialAnswer{SMTPCredential: e.toRecord(made), Password: password.Reveal()}
	}
	in.AccountID, in.MadeBy = c.AccountID, c.KeyID
	if c.Person != nil {
		in.CreatedBy = c.Person.UserID
	}
	in.Keep = func(ctx context.Context, tx idempotency.Execer, made *ent.SMTPCredential, password secret.String) error {
		return keep(ctx, tx, answer(made, password))
	}
	made, password, err := e.credentials.Create(ctx, in)
	if err != nil {
		return out, err
	}
	return answer(made, password), nil
}

func (e *smtpCredentialEdge) revokeCredential(ctx context.Context, accountID, credentialID string) error {
	_, err := e.credentials.Revoke(ctx, accountID, credentialID)
	return err
}

func smtpCredentialExample() map[string]any {
	return map[string]any{
		"id": "smtp_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "web shop", "mode": "live", "username": "postrider", "host": "smtp.mail.example.com", "port": 587, "tls": "starttls",
		"domain_ids": []any{}, "last_used_at": "2026-01-15T09:40:00.000Z", "created_at": "2026-01-15T09:30:00.000Z", "revoked_at": nil,
	}
}
