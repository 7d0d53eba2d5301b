package dashboard

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"runtime"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Preview is where the app posts untrusted HTML to show it in a frame. A response has its own policy; a
// document that the app created would inherit the app's policy, which blocks the styles of the email and, even
// if the user asks for them, its images.
const Preview = "/preview"

const (
	// maxPreview is enough for an email that contains its images. Most emails have less than 100 KB.
	maxPreview = 4 << 20
	// previewsWaiting limits the waiting previews of a user.
	previewsWaiting = 4
)

// Door authenticates a request.
type Door interface {
	Authenticate(r *http.Request) (accounts.Caller, error)
}

// preview returns HTML as an inert document: it has its own origin, runs no scripts, sends no forms, has no
// working links, and loads remote images only on request. It requires a signed-in user, for whom one preview is
// created at a time.
type preview struct {
	door   Door
	budget *intake.Budget
	turns  *limit.Keyed[string] // by user
	images string               // URL prefix of the images of templates, which are always shown
}

// newPreviewTurns limits previews to half of the processors, and one per user.
func newPreviewTurns() *limit.Keyed[string] {
	return limit.NewKeyed[string](limit.Bounds{PerKey: 1, Total: max(1, runtime.GOMAXPROCS(0)/2),
		Waiting: previewsWaiting})
}

func (p *preview) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-DNS-Prefetch-Control", "off")
	if r.Method != http.MethodPost {
		header.Set("Allow", http.MethodPost)
		http.Error(w, "Method not allowed: use POST", http.StatusMethodNotAllowed)
		return
	}
	if err := p.serve(w, r); err != nil {
		p.refuse(w, r, err)
	}
}

func (p *preview) serve(w http.ResponseWriter, r *http.Request) error {
	caller, err := p.door.Authenticate(r)
	if err != nil {
		return err
	}
	if caller.Person == nil {
		return fault.Unauthenticated()
	}
	owner := intake.Tenant{Account: caller.Person.UserID}
	intake.SetTenant(w, owner)
	body, err := p.budget.RequestBody(w, r, owner, maxPreview)
	if err != nil {
		return err
	}
	defer body.Close()
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return fault.Invalidf("The preview must be a form").WithCause(err)
	}
	if err := p.turns.Acquire(r.Context(), owner.Account); err != nil {
		return err
	}
	defer p.turns.Release(owner.Account)
	release, err := p.budget.WorkOnBody(r.Context(), owner, body)
	if err != nil {
		return err
	}
	defer release()
	return p.show(w, multipart.NewReader(body.Reader(), parameters["boundary"]))
}

// show writes the email of a form. The fields that request images and a color scheme must precede it.
func (p *preview) show(w http.ResponseWriter, form *multipart.Reader) error {
	look := appearance{images: p.images}
	for {
		part, err := form.NextRawPart()
		if err != nil {
			return fault.Invalidf("The form has no email").WithCause(err)
		}
		switch part.FormName() {
		case "pictures":
			n, err := io.CopyN(io.Discard, part, 1)
			if err != nil && !errors.Is(err, io.EOF) {
				return fault.Invalidf("The form cannot be read").WithCause(err)
			}
			look.pictures = n > 0
		case "scheme":
			scheme, err := io.ReadAll(io.LimitReader(part, 10))
			if err != nil {
				return fault.Invalidf("The form cannot be read").WithCause(err)
			}
			look.setScheme(string(scheme))
		case "html":
			from := "data:"
			if look.images != "" {
				from += " " + look.images
			}
			if look.pictures {
				from = "data: https: http:"
			}
			w.Header().Set("Content-Security-Policy",
				"sandbox; default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src "+from+
					"; form-action 'none'; base-uri 'none'; frame-ancestors 'self'")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			return clean(w, part, look)
		}
	}
}

// refuse responds in plain text, which the frame shows.
func (p *preview) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	header := w.Header()
	header.Del("Content-Security-Policy")
	switch {
	case errors.Is(err, intake.ErrTooLarge):
		http.Error(w, "This email is too large to preview. See the HTML source instead.",
			http.StatusRequestEntityTooLarge)
	case errors.Is(err, intake.ErrSlow):
		http.Error(w, "The email did not arrive in time.", http.StatusRequestTimeout)
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut), errors.Is(err, limit.ErrFull),
		f.Kind == fault.Unavailable:
		header.Set("Retry-After", fault.FormatSeconds(max(f.RetryAfter, time.Second)))
		http.Error(w, "Too many previews are in progress. Try again in a moment.", http.StatusServiceUnavailable)
	case f.Kind == fault.Unauthorized, f.Kind == fault.NotFound:
		http.Error(w, "Sign in again to see this preview.", http.StatusUnauthorized)
	case f.Kind == fault.Forbidden:
		http.Error(w, "A preview must come from a page of this installation.", http.StatusForbidden)
	case errors.Is(err, context.Canceled), f.Kind == fault.Invalid:
		http.Error(w, f.Message, http.StatusBadRequest)
	default:
		http.Error(w, "The preview cannot be shown.", http.StatusInternalServerError)
	}
}
