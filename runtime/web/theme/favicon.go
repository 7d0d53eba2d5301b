package theme

import (
	_ "embed"
	"net/http"

	"github.com/postrider/postrider/runtime/web/static"
)

// Paths are the paths of the icon.
const (
	Path    = "/favicon.svg"
	PathICO = "/favicon.ico" // the same in 32 by 32 pixels
)

var (
	//go:embed favicon.svg
	drawn []byte
	//go:embed favicon.ico
	pixels []byte
)

// New returns the handler of both paths.
func New() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, serveImage("image/svg+xml", drawn))
	mux.Handle("GET "+PathICO, serveImage("image/x-icon", pixels))
	return mux
}

// serveImage serves one file. Clients cache it for a day, so that requests are rare and a new icon still appears soon.
func serveImage(contentType string, content []byte) http.Handler {
	return static.New(content, http.Header{"Content-Type": {contentType}, "Cache-Control": {"public, max-age=86400"},
		"Content-Security-Policy": {"default-src 'none'"}, "X-Content-Type-Options": {"nosniff"}})
}
