package graph

import (
	"context"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/runtime/storage/page"
)

// SMTPCredentials reads the credentials of the SMTP relay.
type SMTPCredentials interface {
	ListFiltered(ctx context.Context, accountID string, f relay.Filter,
		r page.Request) (page.Page[*ent.SMTPCredential], error)
	Count(ctx context.Context, accountID string, f relay.Filter, most int) (int, error)
	Get(ctx context.Context, accountID, credentialID string) (*ent.SMTPCredential, error)
	Endpoint() (host string, port int, tls string)
}

var _ SMTPCredentials = (*relay.Credentials)(nil)

func (r *Resolver) toSMTPCredential(c *ent.SMTPCredential) *model.SMTPCredential {
	host, port, tls := r.parts.SMTPCredentials.Endpoint()
	return &model.SMTPCredential{ID: c.ID, Name: c.Name,
		Mode: model.SMTPCredentialMode(strings.ToUpper(string(c.Mode))), Username: relay.Username, Host: host, Port: port,
		TLS:       model.SMTPCredentialTLS(strings.ToUpper(tls)),
		DomainIds: append([]string{}, c.DomainIds...), LastUsedAt: c.LastUsedAt, CreatedAt: c.CreatedAt,
		RevokedAt: c.RevokedAt}
}
