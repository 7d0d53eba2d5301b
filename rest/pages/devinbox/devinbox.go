// Package devinbox shows the mail that development mode has captured, as pages below /dev/inbox and as JSON for
// scripts.
//
// Development mode has no sign-in; these rules replace it. The pages require a Host that foreign DNS cannot point
// to this machine: an IP address, localhost, a name below it, or a name passed to New. State changes by pages of
// other sites are rejected. Mail is untrusted: its HTML is shown in a frame from a separate URL, whose policy
// allows no scripts, no origin and no network requests; everything else is escaped.
package devinbox

import (
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"github.com/postrider/postrider/ent"
	inbox "github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Prefix is the path of the list. JSONPath returns it as JSON, and LatestPath the newest email that matches.
// TextsPath is the list of text messages, and TextsJSONPath returns it as JSON.
const (
	Prefix        = "/dev/inbox"
	JSONPath      = "/dev/inbox.json"
	LatestPath    = "/dev/inbox/latest"
	TextsPath     = "/dev/inbox/sms"
	TextsJSONPath = "/dev/inbox/sms.json"
)

// Inbox is the part of the module that the pages use.
type Inbox interface {
	List(ctx context.Context, q inbox.MailQuery) ([]inbox.Line, error)
	Latest(ctx context.Context, w inbox.LatestQuery) (*ent.CapturedMail, error)
	Get(ctx context.Context, id int64) (*ent.CapturedMail, error)
	Texts(ctx context.Context, q inbox.MailQuery) ([]*ent.CapturedSMS, error)
	Clear(ctx context.Context) error
}

var _ Inbox = (*inbox.Service)(nil)

type pages struct {
	inbox Inbox
	log   *slog.Logger
}

// New returns the handler of Prefix, of all paths below it, and of JSONPath. hosts are additional accepted host names.
func New(service Inbox, log *slog.Logger, hosts ...string) http.Handler {
	p := &pages{inbox: service, log: log}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET " + Prefix:                        p.list,
		"GET " + Prefix + "/{$}":               p.list,
		"GET " + JSONPath:                      p.listJSON,
		"GET " + LatestPath:                    p.findLatest,
		"GET " + TextsPath:                     p.listTexts,
		"GET " + TextsJSONPath:                 p.textsJSON,
		"POST " + Prefix + "/clear":            p.clear,
		"GET " + Prefix + "/{id}":              p.showMessage,
		"GET " + Prefix + "/{id}/json":         p.messageJSON,
		"GET " + Prefix + "/{id}/html":         p.html,
		"GET " + Prefix + "/{id}/source":       p.showSource,
		"GET " + Prefix + "/{id}/files/{file}": p.sendFile,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			telemetry.SetRoute(r.Context(), r.Pattern)
			if err := handle(w, r); err != nil {
				p.refuse(w, r, err)
			}
		})
	}
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", pagePolicy)
		if !isLocal(r.Host, hosts) {
			http.Error(w, "The development inbox answers to localhost and IP addresses only, not to "+
				strconv.Quote(r.Host), http.StatusMisdirectedRequest)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// isLocal reports whether a Host header cannot be the result of DNS rebinding. An attacker's name can resolve to
// 127.0.0.1, and the attacker's page would then have the same origin as ours.
func isLocal(host string, also []string) bool {
	if clientip.IsLocalHost(host) {
		return true
	}
	name := clientip.HostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return slices.Contains(also, name)
}

// refuse responds with an error. It shows only messages for users.
func (p *pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	status := http.StatusInternalServerError
	switch f.Kind {
	case fault.Invalid:
		status = http.StatusBadRequest
	case fault.NotFound:
		status = http.StatusNotFound
	case fault.Unavailable:
		status = http.StatusServiceUnavailable
	default:
		telemetry.LogFailure(r.Context(), p.log, "development inbox", telemetry.KeyError, err)
	}
	http.Error(w, f.Error(), status)
}

// render builds the complete page before any of it is sent.
func render(w http.ResponseWriter, t *template.Template, data any) error {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return send(w, out.Bytes())
}

func sendJSON(w http.ResponseWriter, v any) error {
	encoded, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return send(w, append(encoded, '\n'))
}

func send(w http.ResponseWriter, content []byte) error {
	if _, err := w.Write(content); err != nil { //nolint:gosec // from html/template or encoding/json, under a policy that runs no script
		return nil //nolint:nilerr // the client has disconnected
	}
	return nil
}

func (p *pages) clear(w http.ResponseWriter, r *http.Request) error {
	if err := p.inbox.Clear(r.Context()); err != nil {
		return err
	}
	http.Redirect(w, r, Prefix, http.StatusSeeOther)
	return nil
}
