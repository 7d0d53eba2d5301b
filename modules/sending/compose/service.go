package compose

import (
	"context"
	"errors"
	"io"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Domains tells under which identity an account may write as an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.Identity, error)
}

// Rewriter makes bodies trackable.
type Rewriter interface {
	Rewrite(ctx context.Context, m tracking.Message, html, text string) (newHTML, newText string, err error)
}

// Contents gives html and text wherever they are, a file that lies in the object store, and what came over SMTP, nil where nothing did or
// it has been deleted.
type Contents interface {
	Texts(ctx context.Context, accountID, emailID string) (html, text *string, err error)
	File(ctx context.Context, key string) (io.ReadCloser, error)
	Content(ctx context.Context, accountID, emailID string, patience time.Duration) (*intake.Content, error)
}

// Params is what composing needs.
type Params struct {
	fx.In

	DB       *db.DB
	Domains  Domains
	Links    unsubscribe.Links
	Rewriter Rewriter // nil: tracking is off
	Contents Contents
	Budget   *intake.Budget // of heavy messages on their way
}

// Composer makes the octets that leave.
type Composer struct {
	db       *db.DB
	domains  Domains
	links    unsubscribe.Links
	rewriter Rewriter
	contents Contents
	budget   *intake.Budget
}

// New makes a composer; nothing runs. It refuses to be without a budget.
func New(p Params) (*Composer, error) {
	if p.Budget == nil {
		return nil, errors.New("compose: a budget is needed")
	}
	return &Composer{db: p.DB, domains: p.Domains, links: p.Links, rewriter: p.Rewriter, contents: p.Contents, budget: p.Budget}, nil
}
