// Package track serves the public links in messages: the open pixel and the tracked links, below /t/.
//
// Every recipient of a message has its links, and programs follow them too. A request therefore only changes a count,
// and the response does not wait for the database. A link can only lead to the target that its sender chose, because
// the target is part of the authenticated token. An invalid token returns a plain 404.
package track

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Tracker is the part of the module that the handler uses. Record never waits.
type Tracker interface {
	Read(ctx context.Context, kind tracking.TokenKind, token, host string) (tracking.LinkToken, error)
	Move(ctx context.Context, mark tracking.LinkToken) (to string, moving bool)
	Record(v tracking.Visit)
}

var _ Tracker = (*tracking.Service)(nil)

// Options of New.
type Options struct {
	Tracker Tracker
	// Proxies are the addresses of proxies whose X-Forwarded-For is trusted.
	Proxies []netip.Prefix
	Logger  *slog.Logger
}

type links struct{ Options }

// New returns the handler of all paths below tracking.Prefix. It must run before any mux, which would redirect an
// unclean path.
func New(o Options) http.Handler { return links{o} }

// The patterns name the routes in the request log and metrics.
func (l links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if token, found := strings.CutPrefix(r.URL.Path, tracking.ClickPath); found {
		r.Pattern = tracking.ClickPath + "{token}"
		l.click(w, r, token)
		return
	}
	if name, found := strings.CutPrefix(r.URL.Path, tracking.OpenPath); found {
		r.Pattern = tracking.OpenPath + "{token}"
		l.open(w, r, name)
		return
	}
	r.Pattern = tracking.Prefix
	l.notFound(w, r)
}

// setPrivacyHeaders keeps the response out of caches and search engines, and the link out of referrers.
func setPrivacyHeaders(header http.Header) {
	header.Set("Cache-Control", "no-store, no-cache, must-revalidate, private")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
}

func (l links) click(w http.ResponseWriter, r *http.Request, token string) {
	if !l.isRead(w, r) {
		return
	}
	mark, err := l.Tracker.Read(r.Context(), tracking.Click, token, r.Host)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	if l.record(w, r, mark) {
		return
	}
	setPrivacyHeaders(w.Header())
	// Not http.Redirect, which would clean the path of the target and write a page.
	w.Header().Set("Location", mark.Target)
	w.WriteHeader(http.StatusFound)
}

func (l links) open(w http.ResponseWriter, r *http.Request, name string) {
	if !l.isRead(w, r) {
		return
	}
	token, found := strings.CutSuffix(name, tracking.PixelSuffix)
	if !found {
		l.notFound(w, r)
		return
	}
	mark, err := l.Tracker.Read(r.Context(), tracking.Open, token, r.Host)
	if err != nil {
		l.refuse(w, r, err)
		return
	}
	if l.record(w, r, mark) {
		return
	}
	setPrivacyHeaders(w.Header())
	w.Header().Set("Content-Type", "image/gif")
	l.write(w, r, pixel)
}

func (l links) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, tracking.ErrForged):
		l.notFound(w, r)
	case errors.Is(err, tracking.ErrWithheld):
		l.answerWithheld(w, r)
	default:
		telemetry.SetError(r.Context(), fault.Classify(err).Code, err)
		l.answerUnavailable(w, r)
	}
}

// isRead reports whether the method is GET or HEAD, and refuses all others.
func (l links) isRead(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	setPrivacyHeaders(w.Header())
	w.Header().Set("Allow", "GET, HEAD")
	w.WriteHeader(http.StatusMethodNotAllowed)
	return false
}

// record counts a GET. A HEAD only checks whether the link exists. If the account has moved to another installation,
// record redirects there and returns true. During a move, nothing is counted.
func (l links) record(w http.ResponseWriter, r *http.Request, mark tracking.LinkToken) (redirected bool) {
	to, moving := l.Tracker.Move(r.Context(), mark)
	switch {
	case to != "":
		setPrivacyHeaders(w.Header())
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return true
	case !moving && r.Method == http.MethodGet:
		l.Tracker.Record(tracking.Visit{Mark: mark, IP: clientip.From(r, l.Proxies), UserAgent: r.UserAgent(),
			Header: r.Header})
	}
	return false
}

func (l links) write(w http.ResponseWriter, r *http.Request, body []byte) {
	if _, err := w.Write(body); err != nil && r.Method != http.MethodHead {
		l.Logger.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

// pixel is a transparent GIF of one pixel, 43 bytes.
var pixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
