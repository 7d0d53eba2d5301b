// Package unsubscribe serves the links with which recipients unsubscribe, below /u/.
//
// There are two kinds of clients. A mail client posts `List-Unsubscribe=One-Click` (RFC 8058) without showing it to a
// person, from anywhere, without cookies and without following redirects: this POST unsubscribes. A person opens the
// link, sees a page and presses a button, which also sends a POST.
//
// GET and HEAD change nothing, because programs follow all links of an email before its reader does. The token is the
// only credential; an invalid one returns a plain 404. Repeated POSTs get the same response.
//
// The page is for people who may not know the sender, on any device. It has no scripts, cookies or external
// resources, cannot be indexed or framed, and sends no referrer, because the URL contains the token. It uses
// the language of its reader (language.go) and names the sender as the email did. The sender can choose any
// name, so the page shows the domain next to it.
package unsubscribe

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Links is the part of the module that the handler uses.
type Links interface {
	Read(ctx context.Context, token string) (suppression.Unsubscribe, error)
	MovedPath(ctx context.Context, u suppression.Unsubscribe) (string, error)
	Unsubscribe(ctx context.Context, u suppression.Unsubscribe, everything bool, source string) error
}

var _ Links = (*suppression.Service)(nil)

// Senders returns the sender of an email: the display name and the domain. The error is NotFound if the email was
// deleted.
type Senders interface {
	Sender(ctx context.Context, accountID, emailID string) (name, domain string, err error)
}

// Brands returns the brand of an account, or the zero Brand if it has none.
type Brands interface {
	Brand(ctx context.Context, accountID string) (brand.Brand, error)
}

var _ Brands = (*brand.Service)(nil)

// Options of New.
type Options struct {
	Links   Links
	Senders Senders // nil: the page does not name the sender
	Brands  Brands  // nil: the page looks the same for all
	Logger  *slog.Logger
	// Residence returns where an account is; nil: here.
	Residence func(ctx context.Context, accountID string) (accounts.Residence, error)
}

// Prefix is the path prefix of all links.
const Prefix = suppression.LinkPrefix

const (
	bodyLimit = 16 << 10 // bytes; a form has about 200
	// atOnce limits the concurrent requests that use the database, so that a burst of unsubscribes leaves connections
	// for sending. The links of one account can use a quarter of them.
	atOnce   = 16
	patience = 5 * time.Second

	forwardTimeout = 10 * time.Second
	maxHops        = 4 // installations that forward a request
)

type pages struct {
	Options

	turn      *intake.Pool
	transport http.RoundTripper
}

// New returns the handler of all paths below Prefix. It must run before any mux, which would redirect an unclean path:
// RFC 8058 section 3.2 forbids following redirects.
func New(o Options) http.Handler {
	return &pages{Options: o, turn: intake.NewPool(atOnce), transport: &http.Transport{MaxIdleConns: atOnce}}
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	telemetry.SetRoute(r.Context(), Prefix+"{token}")
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("Vary", "Accept-Language")
	said := wordsFor(strings.Join(r.Header.Values("Accept-Language"), ","))
	u, err := p.Links.Read(r.Context(), strings.TrimPrefix(r.URL.Path, Prefix))
	switch {
	case err != nil && fault.KindOf(err) != fault.NotFound:
		p.failPage(w, r, said, err)
	case err != nil:
		p.writePage(w, r, http.StatusNotFound, page{Words: said, Title: said.BadLink, Notice: said.BadLinkAdvice})
	case p.handleMove(w, r, said, u):
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		p.writePage(w, r, http.StatusOK, p.showForm(r.Context(), said, u))
	case r.Method == http.MethodPost:
		p.handlePost(w, r, said, u)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		p.writePage(w, r, http.StatusMethodNotAllowed,
			page{Words: said, Title: said.WrongWay, Notice: said.WrongWayAdvice})
	}
}

// handleMove responds to a request of an account that is being moved to another installation or has moved there, and
// reports whether it did. A POST is forwarded, because a client must not follow redirects (RFC 8058 section 3.2).
func (p *pages) handleMove(w http.ResponseWriter, r *http.Request, said *words, u suppression.Unsubscribe) bool {
	if p.Residence == nil || id.IsTestTenant(u.AccountID) { // test data does not move
		return false
	}
	at, err := p.Residence(r.Context(), u.AccountID)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if err == nil && at.Frozen && !reads {
		err = at.Check(rights.Write)
	}
	switch {
	case fault.KindOf(err) == fault.NotFound, err == nil && (at.MovedTo == "" || !reads && r.Method != http.MethodPost):
		return false
	case err == nil:
		err = p.passOn(w, r, said, u, at.MovedTo)
	}
	if err != nil {
		p.failPage(w, r, said, err)
	}
	return true
}

// passOn redirects a client to the installation with this base URL, or forwards its POST and returns the response. On
// an error, nothing was written.
func (p *pages) passOn(w http.ResponseWriter, r *http.Request, said *words, u suppression.Unsubscribe,
	baseURL string) error {
	path, err := p.Links.MovedPath(r.Context(), u)
	if err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Location", baseURL+path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil
	}
	to, err := url.Parse(baseURL)
	if err != nil {
		return err
	}
	// hops is 0 without the header, and 255 if the number is too large. A client cannot begin below 0.
	hops, _ := strconv.ParseUint(r.Header.Get(admission.HeaderForwarded), 10, 8)
	if hops >= maxHops {
		return fault.DatabaseUnavailable(errors.New("the installations of the account forward to each other"))
	}
	ctx, cancel := context.WithTimeout(r.Context(), forwardTimeout)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.URL.Path, p.Out.URL.RawPath = path, ""
			p.Out.Header.Set(admission.HeaderForwarded, strconv.FormatUint(hops+1, 10))
			p.Out.Header.Del("Cookie")
			p.Out.Header.Del("Authorization")
		},
		Transport: p.transport,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			p.failPage(w, r, said, fault.DatabaseUnavailable(err))
		},
	}
	clear(w.Header()) // the response has its own
	proxy.ServeHTTP(w, r.WithContext(ctx))
	return nil
}

func (p *pages) showForm(ctx context.Context, said *words, u suppression.Unsubscribe) page {
	out := page{Words: said, Show: "form", Title: said.TitleForm, Email: u.DisplayAddress(), Category: u.Category}
	out.Sender, out.Look = p.findSender(ctx, u)
	return out
}

func (p *pages) handlePost(w http.ResponseWriter, r *http.Request, said *words, u suppression.Unsubscribe) {
	everything, source, err := readChoice(w, r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		p.writePage(w, r, http.StatusRequestEntityTooLarge,
			page{Words: said, Title: said.WrongWay, Notice: said.WrongWayAdvice})
		return
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		p.failPage(w, r, said, fault.DatabaseUnavailable(err))
		return
	case err != nil:
		form := p.showForm(r.Context(), said, u)
		form.Notice = said.NothingChosen
		p.writePage(w, r, http.StatusBadRequest, form)
		return
	}
	if err := p.unsubscribe(r.Context(), u, everything, source); err != nil {
		p.failPage(w, r, said, err)
		return
	}
	done := p.showForm(r.Context(), said, u)
	done.Show, done.Title = "done", said.TitleDone
	if everything {
		done.Category = ""
	}
	p.writePage(w, r, http.StatusOK, done)
}

var errNothingChosen = errors.New("the body has no choice")

// readChoice reads the choice in a POST: the one click of RFC 8058 section 3.2, in either of its two encodings, or a
// button of the form.
func readChoice(w http.ResponseWriter, r *http.Request) (everything bool, source string, err error) {
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
	release, err := p.turn.Take(ctx, intake.Tenant{Account: u.AccountID}, 1, patience)
	if err != nil {
		return fault.DatabaseUnavailable(err)
	}
	defer release()
	return p.Links.Unsubscribe(ctx, u, everything, source)
}

// findSender returns the sender of the email and its brand. The page works without them. The brand is shown
// only together with the domain, which identifies the sender.
func (p *pages) findSender(ctx context.Context, u suppression.Unsubscribe) (Sender, look) {
	if p.Senders == nil || u.EmailID == "" {
		return Sender{}, look{}
	}
	release, ok := p.turn.TryTake(intake.Tenant{Account: u.AccountID}, 1)
	if !ok {
		return Sender{}, look{}
	}
	defer release()
	name, domain, err := p.Senders.Sender(ctx, u.AccountID, u.EmailID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		p.Logger.WarnContext(loglimit.Collapse(ctx, "sender"), "cannot read the sender for the unsubscribe page",
			telemetry.KeyError, err)
	}
	if p.Brands == nil || domain == "" {
		return Sender{Name: name, Domain: domain}, look{}
	}
	of, err := p.Brands.Brand(ctx, u.AccountID)
	if err != nil {
		p.Logger.WarnContext(loglimit.Collapse(ctx, "brand"), "cannot read the brand for the unsubscribe page",
			telemetry.KeyError, err)
	}
	return Sender{Name: name, Domain: domain}, look{of, domain}
}

func (p *pages) failPage(w http.ResponseWriter, r *http.Request, said *words, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	status, retry := http.StatusInternalServerError, time.Minute
	if f.Kind == fault.Unavailable {
		status, retry = http.StatusServiceUnavailable, f.RetryAfter
	} else {
		telemetry.LogFailure(loglimit.Collapse(r.Context(), "failed"), p.Logger, "unsubscribe", telemetry.KeyError, err)
	}
	w.Header().Set("Retry-After", fault.FormatSeconds(retry))
	p.writePage(w, r, status, page{Words: said, Title: said.Failed, Notice: said.FailedAdvice})
}

// writePage builds the complete page before any of it is sent.
func (p *pages) writePage(w http.ResponseWriter, r *http.Request, status int, data page) {
	var out bytes.Buffer
	if err := layout.Execute(&out, data); err != nil {
		panic("unsubscribe: " + err.Error()) // the template and its data are ours
	}
	w.Header().Set("Content-Security-Policy", data.Look.contentPolicy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", data.Words.Language)
	w.WriteHeader(status)
	if _, err := w.Write(out.Bytes()); err != nil {
		p.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}
