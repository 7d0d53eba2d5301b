package attachments

import (
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/filelink"
)

const (
	// maxDownloads limits the files that are being opened. The links of one account can use a quarter of them.
	maxDownloads = 16
	patience     = 5 * time.Second
)

// Options of New.
type Options struct {
	Source Source
	Links  *filelink.Links
	Prefix string // SentPrefix or ReceivedPrefix
	Budget *intake.Budget
	Logger *slog.Logger
}

type downloads struct {
	Options

	turn *intake.Pool
}

// New returns the handler of the links below a prefix.
func New(o Options) http.Handler { return &downloads{Options: o, turn: intake.NewPool(maxDownloads)} }

func (d *downloads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	telemetry.SetRoute(r.Context(), d.Prefix+"{token}")
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "private, no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed: use GET", http.StatusMethodNotAllowed)
		return
	}
	ref, err := d.Links.Parse(d.Prefix, strings.TrimPrefix(r.URL.Path, d.Prefix), time.Now())
	switch {
	case errors.Is(err, filelink.ErrExpired):
		http.Error(w, "This link has expired", http.StatusGone)
		return
	case err != nil:
		http.Error(w, "Not found", http.StatusNotFound)
		return
	}
	owner := intake.Tenant{Account: ref.AccountID}
	intake.SetTenant(w, owner)
	content, err := d.open(r.Context(), owner, ref)
	if err != nil {
		d.refuse(w, r, err)
		return
	}
	defer content.Close()
	header.Set("Content-Type", safeType(content.ContentType))
	header.Set("Content-Disposition", disposition(content.Name))
	if r.Method == http.MethodHead {
		return
	}
	answer := d.Budget.NewWriter(w, content.IntakeContents...)
	err = content.WriteTo(answer)
	if ended := answer.End(); ended != nil {
		err = ended
	}
	if err != nil {
		telemetry.SetError(r.Context(), "", err)
	}
}

func (d *downloads) open(ctx context.Context, owner intake.Tenant,
	ref filelink.Ref) (filelink.AttachmentContent, error) {
	release, err := d.turn.Take(ctx, owner, 1, patience)
	if err != nil {
		busy := &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: patience,
			Message: "Too many attachments are being read concurrently. Retry in 5 seconds."}
		return filelink.AttachmentContent{}, busy.WithCause(err)
	}
	defer release()
	return d.Source.OpenAttachment(ctx, ref.AccountID, ref.EmailID, ref.Index)
}

// refuse writes an error as plain text.
func (d *downloads) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	switch f.Kind {
	case fault.NotFound, fault.Conflict:
		http.Error(w, "This attachment has been deleted", http.StatusGone)
	case fault.Unavailable:
		w.Header().Set("Retry-After", fault.FormatSeconds(max(f.RetryAfter, time.Second)))
		http.Error(w, f.Message, http.StatusServiceUnavailable)
	default:
		telemetry.LogFailure(loglimit.Collapse(r.Context(), "attachments"), d.Logger, "cannot serve attachment",
			telemetry.KeyError, err)
		http.Error(w, "Internal error", http.StatusInternalServerError)
	}
}

// safeTypes are served as declared. Browsers do not run them, and they cannot contain scripts of this origin.
var safeTypes = map[string]bool{"application/pdf": true, "application/zip": true, "application/json": true,
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "text/plain": true,
	"text/csv": true, "text/calendar": true, "message/rfc822": true}

// safeType returns the type to serve a file as. Outside parties choose the declared type, and the link is on the origin
// of the dashboard.
func safeType(declared string) string {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil || !safeTypes[kind] {
		return "application/octet-stream"
	}
	return kind
}

// disposition makes browsers save a file under its name, without folders and control characters (RFC 6266).
func disposition(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if name == "" {
		return "attachment"
	}
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}
