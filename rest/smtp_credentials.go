package rest

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/page"
	"github.com/postrider/postrider/runtime/secret"
)

// SMTPCredentialService is what the operations need of relay.
type SMTPCredentialService interface {
	Create(ctx context.Context, in relay.NewCredential) (*ent.SMTPCredential, secret.String, error)
	List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.SMTPCredential], error)
	Get(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error)
	Revoke(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error)
	Endpoint() (host string, port int, tls string)
}

var _ SMTPCredentialService = (*relay.Service)(nil)

const tagSMTPCredentials = "SMTP credentials"

type smtpCredentialRecord struct {
	ID         string            `json:"id" example:"smtp_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name       string            `json:"name" example:"web shop"`
	Username   string            `json:"username" doc:"The same for every credential." example:"postrider"`
	Host       string            `json:"host" doc:"Where to connect." example:"smtp.mail.example.com"`
	Port       int               `json:"port" example:"587"`
	TLS        string            `json:"tls" enum:"starttls,implicit" doc:"How TLS begins at that port; without TLS nobody signs in."`
	DomainIDs  []string          `json:"domain_ids" nullable:"false" doc:"The domains that it may send from; empty is all."`
	LastUsedAt optionalTimestamp `json:"last_used_at" doc:"To within a minute; null: never."`
	CreatedAt  timestamp         `json:"created_at"`
	RevokedAt  optionalTimestamp `json:"revoked_at" doc:"null: not revoked."`
}

type smtpCredentialAnswer struct {
	SMTPCredential smtpCredentialRecord `json:"smtp_credential"`
}

type newSMTPCredentialAnswer struct {
	SMTPCredential smtpCredentialRecord `json:"smtp_credential"`
	Password       string               `json:"password" doc:"Shown this once." example:"svs_Zk3v9QpA…"`
}

type smtpCredentialList struct {
	SMTPCredentials []smtpCredentialRecord `json:"smtp_credentials" nullable:"false"`
	HasMore         bool                   `json:"has_more"`
	NextCursor      *string                `json:"next_cursor" doc:"Give it as cursor to get the next page; null on the last."`
}

type smtpCredentialID struct {
	ID string `path:"id" doc:"Id of the SMTP credential." example:"smtp_01kf0m4w7he6x8q2v5b3n9c1ta"`
}

type smtpCredentialEdge struct {
	api         *API
	credentials SMTPCredentialService
	store       Idempotency
	box         Sealer
}

// SMTPCredentials makes the routes of the resource. A credential sends as an API key
// does, so all that is said of it takes the scope full, as with keys.
func SMTPCredentials(service SMTPCredentialService, store Idempotency, box Sealer) Routes {
	return Routes{name: "smtp-credentials", add: func(a *API) {
		e := &smtpCredentialEdge{api: a, credentials: service, store: store, box: box}
		a.describeTag(tagSMTPCredentials, "What programs sign in with at the SMTP relay: the user name `postrider` and a password, which is shown when it is made and never again. "+
			"The relay takes mail under the rules of POST /emails; `X-Postrider-Unsubscribe: true`, `X-Postrider-Category`, `X-Postrider-Tag: name=value`, `X-Postrider-Scheduled-At`, "+
			"`X-Postrider-Expires-At` and `X-Postrider-Idempotency-Key` in the header of a message say what those fields say there. Its `250` names the id of the email.")
		add(a, operation{
			method: http.MethodPost, path: "/smtp-credentials", id: "createSMTPCredential", tag: tagSMTPCredentials, needs: needsForKeys, idempotent: true,
			summary: "Create an SMTP credential",
			description: "With `domain_ids` it sends from those domains alone. A key that may send from some domains only makes no credential for others. " +
				"Under an Idempotency-Key the answer is kept encrypted.",
			body: &requestBody{description: "The credential to make.", schema: "CreateSMTPCredential",
				examples: map[string]any{"named": map[string]any{"name": "web shop", "domain_ids": []any{}}}},
			answer: reflect.TypeFor[newSMTPCredentialAnswer](), example: map[string]any{"smtp_credential": smtpCredentialExample(), "password": "svs_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"},
		}, e.create)
		a.describeBody("CreateSMTPCredential", createSMTPCredentialSchema())
		register(a, operation{
			method: http.MethodGet, path: "/smtp-credentials", id: "listSMTPCredentials", tag: tagSMTPCredentials, needs: needsForKeys,
			summary: "List SMTP credentials", description: "Newest first, also those that are revoked.",
			example: map[string]any{"smtp_credentials": []any{smtpCredentialExample()}, "has_more": false, "next_cursor": nil},
		}, e.list)
		register(a, operation{
			method: http.MethodGet, path: "/smtp-credentials/{id}", id: "getSMTPCredential", tag: tagSMTPCredentials, needs: needsForKeys,
			summary: "Retrieve an SMTP credential", description: "Without its password.",
			example: map[string]any{"smtp_credential": smtpCredentialExample()}, problems: []int{http.StatusNotFound},
		}, e.get)
		register(a, operation{
			method: http.MethodDelete, path: "/smtp-credentials/{id}", id: "revokeSMTPCredential", tag: tagSMTPCredentials, needs: needsForKeys,
			summary: "Revoke an SMTP credential",
			description: "Nobody signs in with it any more, and connections that are open send no further message with it. It stays in the list with the time of its end. " +
				"Revoking it again changes nothing.",
			example: map[string]any{"ok": true}, problems: []int{http.StatusNotFound},
		}, e.revoke)
	}}
}

func createSMTPCredentialSchema() *huma.Schema {
	one, most, domainsMost := 1, 200, 100
	return closed(map[string]*huma.Schema{
		"name": {Type: huma.TypeString, MinLength: &one, MaxLength: &most, Description: "To recognise the credential by.", Examples: []any{"web shop"}},
		"domain_ids": {Type: huma.TypeArray, Nullable: true, MaxItems: &domainsMost, Items: &huma.Schema{Type: huma.TypeString},
			Description: "The domains that it may send from; left out or empty is all."},
	}, "name")
}

func (e *smtpCredentialEdge) show(c *ent.SMTPCredential) smtpCredentialRecord {
	host, port, tls := e.credentials.Endpoint()
	return smtpCredentialRecord{ID: c.ID, Name: c.Name, Username: relay.Username, Host: host, Port: port, TLS: tls, DomainIDs: listed(c.DomainIds),
		LastUsedAt: optionalTimestamp{c.LastUsedAt}, CreatedAt: timestamp(c.CreatedAt), RevokedAt: optionalTimestamp{c.RevokedAt}}
}

func (e *smtpCredentialEdge) showNew(made *ent.SMTPCredential, password secret.String) (idempotency.Answer, error) {
	encoded, err := marshal(newSMTPCredentialAnswer{SMTPCredential: e.show(made), Password: password.Reveal()})
	return idempotency.Answer{Status: http.StatusOK, Body: encoded}, err
}

// create keeps its answer, sealed, in the transaction that makes the credential.
func (e *smtpCredentialEdge) create(ctx context.Context, _ *none) (*stored, error) {
	c := callOf(ctx)
	body, err := parseObject(c.body)
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	store := sealAnswers(e.store, e.box, c)
	return e.api.once(ctx, store, c, "POST "+Prefix+"/smtp-credentials", func(claim *idempotency.Claim) (idempotency.Answer, error) {
		in, err := decodeSMTPCredential(body)
		if err != nil {
			return idempotency.Answer{}, err
		}
		in.AccountID, in.MadeBy = c.AccountID, c.KeyID
		if claim != nil {
			in.Keep = func(ctx context.Context, tx idempotency.Execer, made *ent.SMTPCredential, password secret.String) error {
				answer, err := e.showNew(made, password)
				if err != nil {
					return err
				}
				return store.Keep(ctx, tx, claim, answer)
			}
		}
		made, password, err := e.credentials.Create(ctx, in)
		if err != nil {
			return idempotency.Answer{}, err
		}
		return e.showNew(made, password)
	})
}

func decodeSMTPCredential(body value) (in relay.NewCredential, err error) {
	d := newDecoder()
	d.object("", body, []field{
		{name: "name", decode: d.into(&in.Name)},
		{name: "domain_ids", decode: func(path string, v value) {
			if !d.expect(path, v, kindArray) {
				return
			}
			for at, item := range d.items(path, v) {
				domainID, _ := d.text(at, item)
				in.DomainIDs = append(in.DomainIDs, domainID)
			}
		}},
	})
	for path, reason := range fault.From(in.Validate()).Fields {
		d.refuse(path, "%s", reason)
	}
	return in, d.wrong.Err()
}

func (e *smtpCredentialEdge) list(ctx context.Context, c *call, in *pageInput) (*smtpCredentialList, error) {
	found, err := e.credentials.List(ctx, c.AccountID, page.Request{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := smtpCredentialList{SMTPCredentials: []smtpCredentialRecord{}, HasMore: found.HasMore, NextCursor: nextCursor(found.NextCursor)}
	for _, one := range found.Items {
		out.SMTPCredentials = append(out.SMTPCredentials, e.show(one))
	}
	return &out, nil
}

func (e *smtpCredentialEdge) get(ctx context.Context, c *call, in *smtpCredentialID) (*smtpCredentialAnswer, error) {
	if !id.Is(id.SMTPCredential, in.ID) {
		return nil, fault.Missing("smtp credential", shown(in.ID))
	}
	found, err := e.credentials.Get(ctx, c.AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return &smtpCredentialAnswer{SMTPCredential: e.show(found)}, nil
}

func (e *smtpCredentialEdge) revoke(ctx context.Context, c *call, in *smtpCredentialID) (*okAnswer, error) {
	if !id.Is(id.SMTPCredential, in.ID) {
		return nil, fault.Missing("smtp credential", shown(in.ID))
	}
	if _, err := e.credentials.Revoke(ctx, c.AccountID, in.ID); err != nil {
		return nil, err
	}
	return &okAnswer{OK: true}, nil
}

func smtpCredentialExample() map[string]any {
	return map[string]any{
		"id": "smtp_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "web shop", "username": "postrider", "host": "smtp.mail.example.com", "port": 587, "tls": "starttls",
		"domain_ids": []any{}, "last_used_at": "2026-01-15T09:40:00.000Z", "created_at": "2026-01-15T09:30:00.000Z", "revoked_at": nil,
	}
}
