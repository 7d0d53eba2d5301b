package dashboard

import (
	"net/http"
)

// Preview is where the app posts the HTML of strangers to, to have it shown in a frame: an answer has a
// policy of its own, while a document that the app made would have the app's, by which neither the
// email's styles nor, once somebody asks for them, its pictures could be shown.
const Preview = "/preview"

const (
	maxPreview = 8 << 20 // octets
	previews   = 8       // at a time
)

// preview gives HTML back as a document that can do nothing: it has an origin of its own, runs no
// script, sends no form, leads nowhere, and loads pictures of others only when that was asked for.
type preview struct {
	sameSite *http.CrossOriginProtection
	slots    chan struct{}
}

func newPreview() preview {
	return preview{http.NewCrossOriginProtection(), make(chan struct{}, previews)}
}

func (p preview) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-DNS-Prefetch-Control", "off")
	switch {
	case r.Method != http.MethodPost:
		header.Set("Allow", http.MethodPost)
		http.Error(w, "A preview is posted by the dashboard", http.StatusMethodNotAllowed)
		return
	case p.sameSite.Check(r) != nil:
		http.Error(w, "A preview must come from a page of this installation", http.StatusForbidden)
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		header.Set("Retry-After", "1")
		http.Error(w, "Too many previews at once. Try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxPreview)
	if err := r.ParseMultipartForm(maxPreview); err != nil {
		http.Error(w, "The email is too large to be shown here", http.StatusRequestEntityTooLarge)
		return
	}
	pictures := "data:"
	if r.PostFormValue("pictures") != "" {
		pictures = "data: https: http:"
	}
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src "+pictures+"; form-action 'none'; base-uri 'none'; frame-ancestors 'self'")
	header.Set("Content-Type", "text/html; charset=utf-8")
	if err := clean(w, r.PostFormValue("html"), r.PostFormValue("pictures") != ""); err != nil {
		return // the reader has left; there is nobody to tell
	}
}
