// Package favicon answers a browser's request for the icon of the service, at /favicon.svg
// and at /favicon.ico, which browsers ask for by themselves.
package favicon

import (
	_ "embed"
	"net/http"
)

// Paths are where the icon is.
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

// New makes the handler of both paths.
func New() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, image("image/svg+xml", drawn))
	mux.Handle("GET "+PathICO, image("image/x-icon", pixels))
	return mux
}

// image answers one file. A day is long enough to ask rarely, and short enough to see the
// next version's icon.
func image(contentType string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("Cache-Control", "public, max-age=86400")
		header.Set("Content-Security-Policy", "default-src 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		if _, err := w.Write(content); err != nil {
			return // the reader has left; there is nobody to tell
		}
	}
}
