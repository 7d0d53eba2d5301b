// Package welcome serves the pages for setup, sign-in, sign-up, password reset, address confirmation and invitations.
// The forms work without JavaScript, with one exception: the token of a link is in the fragment of its URL, which
// browsers do not send, so without JavaScript the user must paste it.
package welcome

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/static"
	"github.com/postrider/postrider/runtime/web/theme"
)

// Service is the part of signin that the pages use.
type Service interface {
	Options(ctx context.Context) (signin.Options, error)
	AuthenticateSession(ctx context.Context, token, accountID string) (accounts.Caller, error)
	SetUp(ctx context.Context, in signin.SetUpInput) (signin.NewSession, error)
	SignIn(ctx context.Context, in signin.Credentials) (signin.NewSession, error)
	SignInByLink(ctx context.Context, token string) (signin.NewSession, error)
	SignOut(ctx context.Context, c accounts.Caller) error
	RequestSignUp(ctx context.Context, email string) error
	CompleteSignUp(ctx context.Context, in signin.SignUpInput) (signin.NewSession, error)
	RequestPasswordReset(ctx context.Context, email string) error
	ResetPassword(ctx context.Context, token, newPassword string) (signin.NewSession, error)
	AcceptInvitation(ctx context.Context, in signin.AcceptInput) (signin.NewSession, error)
	ConfirmEmail(ctx context.Context, in signin.EmailConfirmation) (signin.Profile, error)
	StopEmailChange(ctx context.Context, token string) error
}

var _ Service = (*signin.Service)(nil)

// Options of New.
type Options struct {
	People  Service
	OpenID  OpenID
	BaseURL string
	Origins []string // other URLs under which the pages are served
	Proxies []netip.Prefix
	Logger  *slog.Logger
}

// Assets is the prefix of the files of the pages.
const Assets = "/sign-in/"

// Paths are the paths of the pages.
func Paths() []string {
	return []string{signin.PathSetUp, signin.PathSignIn, signin.PathSignUp, signin.PathReset, signin.PathEmail,
		signin.PathStop, signin.PathInvite, Assets}
}

type pages struct {
	Options

	door *admission.Authenticator
}

// New returns the handler of all Paths.
func New(o Options) (http.Handler, error) {
	door, err := admission.New(nil, o.People, o.Proxies, append([]string{o.BaseURL}, o.Origins...)...)
	if err != nil {
		return nil, err
	}
	return &pages{o, door}, nil
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.js
	script []byte
	//go:embed page.css
	style string // after the common style
)

var (
	layout = template.Must(template.New("page.html").Parse(pageHTML))
	// Compressing takes longer than most commands, so it waits for the first request.
	pageStyle = sync.OnceValue(func() *static.Text {
		return newAsset("text/css; charset=utf-8", []byte(theme.Style+style))
	})
	pageScript = sync.OnceValue(func() *static.Text { return newAsset("text/javascript; charset=utf-8", script) })
)

func newAsset(contentType string, content []byte) *static.Text {
	return static.New(content, http.Header{"Content-Type": {contentType}, "Cache-Control": {"public, max-age=300"}})
}

const maxForm = 64 << 10 // bytes

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // no-referrer makes browsers send the forms with Origin: null
	if name, is := strings.CutPrefix(r.URL.Path, Assets); is {
		p.serveAsset(w, r, name)
		return
	}
	header.Set("Cache-Control", "no-store")
	origin := audit.Origin{Addr: clientip.From(r, p.Proxies), Agent: r.UserAgent(),
		RequestID: header.Get(telemetry.RequestIDHeader),
		Languages: r.Header.Get("Accept-Language"), Device: admission.Device(r, p.BaseURL)}
	r = r.WithContext(audit.WithOrigin(r.Context(), origin))
	f := forms[r.URL.Path]
	if f.path == "" {
		f = forms[signin.PathSignIn]
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if f.path == signin.PathSetUp && p.isSetUp(r) {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		p.showPage(w, r, http.StatusOK, p.providerResult(r, f.toView(r)))
	case http.MethodPost:
		p.handlePost(w, r, f)
	default:
		header.Set("Allow", "GET, HEAD, POST")
		http.Error(w, "Method not allowed: use GET or POST", http.StatusMethodNotAllowed)
	}
}

// isSetUp reports whether some user can sign in, so that the setup is over.
func (p *pages) isSetUp(r *http.Request) bool {
	options, err := p.People.Options(r.Context())
	return err == nil && !options.SetUp
}

func (p *pages) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	switch name {
	case "page.css":
		pageStyle().ServeHTTP(w, r)
	case "page.js":
		pageScript().ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// handlePost runs the action of a form. An error is shown in the form, which keeps the typed values except
// passwords.
func (p *pages) handlePost(w http.ResponseWriter, r *http.Request, f form) {
	if err := p.door.RequireSameSite(r); err != nil {
		p.refuseForm(w, r, f, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	switch err := r.ParseForm(); {
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		p.refuseForm(w, r, f, fault.DatabaseUnavailable(err))
		return
	case err != nil:
		p.refuseForm(w, r, f, fault.Invalidf("Invalid form data").WithCause(err))
		return
	}
	done, err := f.do(p, r)
	if err != nil {
		p.refuseForm(w, r, f, err)
		return
	}
	if e := done.entered; e != nil {
		if !e.Token.IsZero() {
			http.SetCookie(w, admission.Cookie(p.BaseURL, e.Token.Reveal()))
		}
		for _, cookie := range admission.DeviceCookies(p.BaseURL, e.DeviceCookie) {
			http.SetCookie(w, cookie)
		}
	}
	if done.out {
		http.SetCookie(w, admission.Cookie(p.BaseURL, ""))
	}
	if done.cookie != nil {
		http.SetCookie(w, done.cookie)
	}
	if done.goTo != "" {
		http.Redirect(w, r, done.goTo, http.StatusSeeOther)
		return
	}
	p.showPage(w, r, http.StatusOK,
		view{Title: done.title, Lines: done.lines,
			Links: append(done.links, formLinks(nextPath(r), signin.PathSignIn)...)})
}

var statuses = map[fault.Kind]int{fault.Invalid: http.StatusBadRequest, fault.Unauthorized: http.StatusUnauthorized,
	fault.Forbidden: http.StatusForbidden,
	fault.NotFound:  http.StatusNotFound, fault.Conflict: http.StatusConflict, fault.Limit: http.StatusTooManyRequests,
	fault.Unavailable: http.StatusServiceUnavailable}

// refuseForm shows the form again, with the error.
func (p *pages) refuseForm(w http.ResponseWriter, r *http.Request, f form, err error) {
	known := fault.Classify(err)
	v := f.toView(r)
	status, told := statuses[known.Kind]
	switch {
	case !told:
		telemetry.LogFailure(loglimit.Collapse(r.Context(), r.URL.Path), p.Logger, "cannot process a sign-in form",
			telemetry.KeyError, err)
		status, v.Wrong = http.StatusInternalServerError, "Something went wrong. Try again in a moment."
	case known.Kind == fault.Unauthorized:
		v.Wrong = "Email, password or code is wrong."
	case known.Kind == fault.NotFound && f.token:
		v.Wrong = "This link is invalid, already used, or expired. Request a new one."
	case len(known.Fields) > 0:
		v.Wrong = "Check the fields below."
	default:
		v.Wrong = known.Message
	}
	if known.RetryAfter > 0 {
		w.Header().Set("Retry-After", fault.FormatSeconds(known.RetryAfter))
	}
	for i := range v.Fields {
		v.Fields[i].Wrong = known.Fields[v.Fields[i].Name]
	}
	if known.Code == fault.CodeSecondFactorRequired {
		for i := range v.Fields {
			v.Fields[i].Focus = v.Fields[i].Name == fieldCode
		}
	}
	p.showPage(w, r, status, v)
}

// showPage writes a page. The sign-in page shows signed-in users that they are signed in.
func (p *pages) showPage(w http.ResponseWriter, r *http.Request, status int, v view) {
	options, err := p.People.Options(r.Context())
	if err != nil {
		telemetry.LogFailure(loglimit.Collapse(r.Context(), r.URL.Path), p.Logger, "cannot show a sign-in page",
			telemetry.KeyError, err)
		http.Error(w, "Temporarily unavailable. Try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	v.Options, v.OpenID = options, p.OpenID.Name()
	if caller, err := p.door.Authenticate(r); err == nil && caller.Person != nil && status == http.StatusOK {
		v.Email = caller.Person.Email
	}
	var page bytes.Buffer
	if err := layout.Execute(&page, v); err != nil {
		p.Logger.ErrorContext(loglimit.Collapse(r.Context(), r.URL.Path), "cannot render a sign-in page",
			telemetry.KeyError, err)
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(page.Bytes()); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		p.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}
