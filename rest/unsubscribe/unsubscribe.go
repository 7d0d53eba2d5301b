// Package unsubscribe answers the links by which recipients unsubscribe, below /u/.
//
// Two kinds of visitors come. A mail client posts `List-Unsubscribe=One-Click`
// (RFC 8058) without a person seeing it, from anywhere, without cookies and
// without following redirects: that POST does what the link is for. A person opens
// the link, sees a page and presses a button, which is a POST as well.
//
// GET and HEAD change nothing, for programs follow every link of a mail before its
// reader does. The token is all that is needed and all that is believed; one that
// is not genuine is a 404 that says no more. Posting again is answered the same.
//
// The page is for people who may not know the sender, on any device: no scripts,
// no cookies, nothing from elsewhere, not to be indexed or framed, and the address
// of the page, which holds the token, goes to nobody as a referrer.
package unsubscribe

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Links is what is needed of the module.
type Links interface {
	Read(token string) (suppression.Unsubscribe, error)
	Unsubscribe(ctx context.Context, u suppression.Unsubscribe, everything bool, source string) error
}

var _ Links = (*suppression.Service)(nil)

// Senders tells from which domain an email came. The error NotFound says that the
// email is gone.
type Senders interface {
	SenderDomain(ctx context.Context, accountID, emailID string) (string, error)
}

// Options of New.
type Options struct {
	Links   Links
	Senders Senders // nil: the page does not name the sender
	Logger  *slog.Logger
}

// Prefix is the path that everything hangs below.
const Prefix = suppression.LinkPrefix

const (
	bodyLimit = 16 << 10 // octets; what is posted has some 200
	bodyTime  = 10 * time.Second
	// atOnce bounds the requests that use the database, so that a rush of
	// unsubscribing leaves connections to sending. The links of one account have a
	// quarter of them.
	atOnce   = 16
	patience = 5 * time.Second
)

type pages struct {
	Options

	turn *intake.Pool
}

// New makes the handler of everything below Prefix. It stands before any mux: that
// would answer an unclean path with a redirect, which RFC 8058 section 3.2 forbids
// to follow.
func New(o Options) http.Handler {
	return &pages{Options: o, turn: intake.NewPool(atOnce)}
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	telemetry.SetRoute(r.Context(), Prefix+"{token}")
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	u, err := p.Links.Read(strings.TrimPrefix(r.URL.Path, Prefix))
	switch {
	case err != nil:
		p.write(w, r, http.StatusNotFound, page{Title: "This link is not valid",
			Notice: "It may have been cut off. Open it from the message again, or copy all of it."})
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		p.write(w, r, http.StatusOK, p.form(r.Context(), u))
	case r.Method == http.MethodPost:
		p.post(w, r, u)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		p.write(w, r, http.StatusMethodNotAllowed, page{Title: "This does not work here", Notice: "Open the link in a browser."})
	}
}

func (p *pages) form(ctx context.Context, u suppression.Unsubscribe) page {
	return page{Show: "form", Title: "Unsubscribe", Email: u.Shown(), Category: u.Category, Sender: p.sender(ctx, u)}
}

func (p *pages) post(w http.ResponseWriter, r *http.Request, u suppression.Unsubscribe) {
	everything, source, err := choice(w, r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p.write(w, r, http.StatusRequestEntityTooLarge, page{Title: "This does not work here", Notice: "Open the link in a browser."})
		return
	case err != nil:
		form := p.form(r.Context(), u)
		form.Notice = "Nothing was chosen. Please press a button."
		p.write(w, r, http.StatusBadRequest, form)
		return
	}
	if err := p.unsubscribe(r.Context(), u, everything, source); err != nil {
		p.fail(w, r, err)
		return
	}
	done := p.form(r.Context(), u)
	done.Show, done.Title = "done", "Unsubscribed"
	if everything {
		done.Category = ""
	}
	p.write(w, r, http.StatusOK, done)
}

var errNothingChosen = errors.New("the body has no choice")

// choice reads what a POST wants: the one click of RFC 8058 section 3.2, in either
// of its two encodings, or a button of the form.
func choice(w http.ResponseWriter, r *http.Request) (everything bool, source string, err error) {
	deadline := http.NewResponseController(w)
	if err := deadline.SetReadDeadline(time.Now().Add(bodyTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false, "", err
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && mediaType == "multipart/form-data":
		err = r.ParseMultipartForm(bodyLimit)
	case err == nil:
		err = r.ParseForm()
	}
	if err != nil {
		return false, "", err
	}
	switch {
	case strings.EqualFold(r.PostForm.Get("List-Unsubscribe"), "One-Click"):
		return false, suppression.SourceOneClick, nil
	case r.PostForm.Get("choice") == "category":
		return false, suppression.SourcePage, nil
	case r.PostForm.Get("choice") == "all":
		return true, suppression.SourcePage, nil
	default:
		return false, "", errNothingChosen
	}
}

func (p *pages) unsubscribe(ctx context.Context, u suppression.Unsubscribe, everything bool, source string) error {
	release, err := p.turn.Take(ctx, intake.Owner{Account: u.AccountID}, 1, patience)
	if err != nil {
		return fault.Unavailable(err)
	}
	defer release()
	return p.Links.Unsubscribe(ctx, u, everything, source)
}

// sender is for people; without it the page does its work all the same.
func (p *pages) sender(ctx context.Context, u suppression.Unsubscribe) string {
	if p.Senders == nil || u.EmailID == "" {
		return ""
	}
	release, ok := p.turn.TryTake(intake.Owner{Account: u.AccountID}, 1)
	if !ok {
		return ""
	}
	defer release()
	domain, err := p.Senders.SenderDomain(ctx, u.AccountID, u.EmailID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		p.Logger.WarnContext(ctx, "unsubscribe page: the sender is not known now", telemetry.KeyError, err)
	}
	return domain
}

func (p *pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	telemetry.SetError(r.Context(), f.Code, err)
	status, retry := http.StatusInternalServerError, time.Minute
	if f.Kind == fault.Away {
		status, retry = http.StatusServiceUnavailable, f.RetryAfter
	} else {
		p.Logger.ErrorContext(r.Context(), "unsubscribe", telemetry.KeyError, err)
	}
	w.Header().Set("Retry-After", fault.WholeSeconds(retry))
	p.write(w, r, status, page{Title: "This did not work", Notice: "You are not unsubscribed yet. Please try again in a minute."})
}

// page is what the template shows.
type page struct {
	Show     string // form, done, or "" for a notice
	Title    string
	Notice   string
	Email    string
	Category string // the label; "" for all mail
	Sender   string // its domain; "" when it is not known
}

// write builds the page whole before a part of it is sent.
func (p *pages) write(w http.ResponseWriter, r *http.Request, status int, data page) {
	var out bytes.Buffer
	if err := layout.Execute(&out, data); err != nil {
		panic("unsubscribe: " + err.Error()) // the template and its data are ours
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(out.Bytes()); err != nil {
		p.Logger.DebugContext(r.Context(), "caller left before the answer", telemetry.KeyError, err)
	}
}

var (
	//go:embed page.css
	style string
	//go:embed page.html
	markup string

	layout = template.Must(template.New("page").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // a file of ours
	}).Parse(markup))

	// policy allows our own style by its hash, and our own form.
	policy = "default-src 'none'; style-src 'sha256-" + hashOf(style) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
