// Package images serves the images of templates to clients that have their URL, below /files/images/.
package images

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Source reads images by their ID.
type Source interface {
	OpenImage(ctx context.Context, imageID string) (templates.ImageFile, error)
}

var _ Source = (*templates.Service)(nil)

// New returns the handler of the images below a prefix.
func New(prefix string, source Source, log *slog.Logger) http.Handler {
	return &handler{prefix: prefix, source: source, log: log}
}

type handler struct {
	prefix string
	source Source
	log    *slog.Logger
}

// ServeHTTP serves an image for other sites, because mail programs in the browser show it. An image never changes.
// Its file can also be valid HTML, so browsers must not guess the type and must not run it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed: use GET", http.StatusMethodNotAllowed)
		return
	}
	imageID, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, h.prefix), ".")
	tag := `"` + imageID + `"`
	found, err := h.source.OpenImage(r.Context(), imageID)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	header.Set("Cache-Control", "public, max-age=86400")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Etag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", found.ContentType)
	header.Set("Content-Length", strconv.Itoa(len(found.Content)))
	if r.Method == http.MethodHead {
		return
	}
	if _, err := w.Write(found.Content); err != nil {
		h.log.DebugContext(r.Context(), "client closed the connection", telemetry.KeyError, err)
	}
}

func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Classify(err)
	telemetry.SetError(r.Context(), f.Code, err)
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	switch {
	case f.Kind == fault.NotFound:
		http.Error(w, "No such image", http.StatusNotFound)
	case errors.Is(err, limit.ErrFull), f.Kind == fault.Unavailable:
		header.Set("Retry-After", fault.FormatSeconds(max(f.RetryAfter, time.Second)))
		http.Error(w, "Too many images are being loaded. Try again in a moment.", http.StatusServiceUnavailable)
	default:
		http.Error(w, "The image cannot be read.", http.StatusInternalServerError)
	}
}
