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

// Domains looks up the identity under which an account may send from an address.
type Domains interface {
	Identity(ctx context.Context, accountID string, from address.Address) (domains.SigningIdentity, error)
}

// Rewriter adds tracking to bodies.
type Rewriter interface {
	Rewrite(ctx context.Context, m tracking.TrackedEmail, html, text string) (newHTML, newText string, err error)
}

// Contents reads html and text from the row or the object store, attachments from the object store, and relayed
// messages. A relayed message is nil if the email was not relayed or its content was deleted.
type Contents interface {
	Texts(ctx context.Context, accountID, emailID string) (html, text *string, err error)
	File(ctx context.Context, key string) (io.ReadCloser, error)
	Content(ctx context.Context, accountID, emailID string, patience time.Duration) (*intake.Content, error)
}

// Params are the dependencies of Composer.
type Params struct {
	fx.In

	DB       *db.DB
	Domains  Domains
	Links    unsubscribe.Links
	Rewriter Rewriter // nil if tracking is disabled
	Contents Contents
	Budget   *intake.Budget // for heavy messages being delivered
}

// Composer composes the messages that are sent.
type Composer struct {
	db       *db.DB
	domains  Domains
	links    unsubscribe.Links
	rewriter Rewriter
	contents Contents
	budget   *intake.Budget
}

// New returns a new Composer. It requires a budget. Nothing runs in the background.
func New(p Params) (*Composer, error) {
	if p.Budget == nil {
		return nil, errors.New("compose: Budget is required")
	}
	return &Composer{db: p.DB, domains: p.Domains, links: p.Links, rewriter: p.Rewriter, contents: p.Contents,
		budget: p.Budget}, nil
}
