package tracking

import (
	"context"
	"log/slog"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/modules/tracking/weburl"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// maxLinks limits the growth of a message.
const maxLinks = 10_000

// unsubscribePath is the path of unsubscribe pages on the base URL's host. Links to them are never tracked.
const unsubscribePath = "/u/"

// TrackedEmail identifies the email whose bodies Rewrite changes.
type TrackedEmail struct {
	AccountID, EmailID, DomainID string
	Opens, Clicks                bool // what to track
}

// RewriterParams are the dependencies of NewRewriter.
type RewriterParams struct {
	fx.In

	Config       Config
	DB           *db.DB
	Certificates hosts.Certificates `optional:"true"`
	Box          *secret.Box
	Logger       *slog.Logger
}

// Rewriter adds tracking to message bodies. It is safe for concurrent use.
type Rewriter struct {
	config Config
	tokens tokens
	bases  *linkBases
}

// NewRewriter returns a new Rewriter.
func NewRewriter(p RewriterParams) (*Rewriter, error) {
	if err := p.Config.Validate(); err != nil {
		return nil, err
	}
	config := p.Config.withDefaults()
	return &Rewriter{config: config, tokens: tokens{p.Box.DeriveEach(tokenPurpose)},
		bases: newBases(config, p.DB, p.Certificates, p.Logger)}, nil
}

// Rewrite returns the bodies to send. It is called once per composed message, after all other changes to the
// bodies. It fails only for an invalid id.
func (r *Rewriter) Rewrite(ctx context.Context, m TrackedEmail, html,
	text string) (newHTML, newText string, err error) {
	if !m.Opens && !m.Clicks {
		return html, text, nil
	}
	tokens, err := r.tokens.newMinter(m.AccountID, m.EmailID, ownHost)
	if err != nil {
		return "", "", err
	}
	base := r.bases.baseFor(ctx, m.AccountID, m.DomainID)
	tokens.host = base.host
	w := messageRewrite{message: m, minter: tokens, base: base.url}
	for _, base := range []string{r.config.BaseURL, w.base} {
		w.own = append(w.own, base+unsubscribePath, base+Prefix)
	}
	return w.rewriteHTML(html), w.rewriteText(text), nil
}

// messageRewrite is the state of rewriting one message.
type messageRewrite struct {
	message TrackedEmail
	minter  *minter
	base    string   // scheme and host of the links
	own     []string // URL prefixes that are not tracked
	links   int
	made    map[string]string // links keyed by target, because targets often repeat
}

func (w *messageRewrite) rewriteHTML(source string) string {
	if source == "" {
		return ""
	}
	var track tracker
	if w.message.Clicks {
		track = w.trackLink
	}
	edits, end := scanHTML(source, track)
	if w.message.Opens {
		edits = insertEdit(edits, edit{end, end, w.openPixel()})
	}
	return applyEdits(source, edits)
}

func (w *messageRewrite) rewriteText(source string) string {
	if !w.message.Clicks {
		return source
	}
	return applyEdits(source, scanText(source, w.trackLink))
}

func (w *messageRewrite) trackLink(written string) (string, bool) {
	if w.links >= maxLinks {
		return "", false
	}
	target, ok := weburl.Normalize(written)
	if !ok {
		return "", false
	}
	for _, own := range w.own {
		if strings.HasPrefix(target, own) {
			return "", false
		}
	}
	w.links++
	link, known := w.made[target]
	if !known {
		link = w.base + ClickPath + w.minter.mintClick(target)
		if w.made == nil {
			w.made = map[string]string{}
		}
		w.made[target] = link
	}
	return link, true
}

// openPixel returns an image that takes no space: a negative margin compensates for its height.
func (w *messageRewrite) openPixel() string {
	return `<img src="` + w.base + OpenPath + w.minter.mintOpen() + PixelSuffix +
		`" width="1" height="1" alt="" style="display:block;width:1px;height:1px;margin:-1px 0 0;padding:0;border:0">`
}

// insertEdit inserts an edit in order, because links may follow the end of the body.
func insertEdit(edits []edit, e edit) []edit {
	at := len(edits)
	for at > 0 && edits[at-1].start >= e.start {
		at--
	}
	edits = append(edits, edit{})
	copy(edits[at+1:], edits[at:])
	edits[at] = e
	return edits
}
