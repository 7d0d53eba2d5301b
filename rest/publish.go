package rest

import (
	"net/http"
	"sync"

	"github.com/postrider/postrider/rest/openapi"
)

// publish serves the document, and the page that is made from it when somebody asks for it first.
func (a *API) publish() {
	reference := sync.OnceValues(func() ([]byte, error) { return openapi.Page(a.huma.OpenAPI(), a.sender) })
	a.serveOfToday("/openapi.json", jsonType, func() ([]byte, error) { return a.document.JSON, nil }, nil)
	a.serveOfToday("/openapi.yaml", "application/yaml", a.document.YAML, nil)
	a.serveOfToday("/openapi-3.0.json", jsonType, a.document.JSON30, nil)
	a.serveOfToday("/docs", "text/html; charset=utf-8", reference, map[string]string{
		"Content-Security-Policy": openapi.PagePolicy(),
		"Referrer-Policy":         "no-referrer",
	})
}

// Serve gives everybody, also without a key, the same content at a path below Prefix.
func (a *API) Serve(path, contentType string, content []byte, headers map[string]string) {
	a.serve(path, contentType, func() ([]byte, error) { return content, nil }, headers)
}

// serveOfToday is Serve for what says openapi.Tomorrow: each request is answered with the
// day after it.
func (a *API) serveOfToday(path, contentType string, content func() ([]byte, error), headers map[string]string) {
	a.serve(path, contentType, func() ([]byte, error) {
		text, err := content()
		return openapi.OfToday(text, a.now()), err
	}, headers)
}

func (a *API) serve(path, contentType string, content func() ([]byte, error), headers map[string]string) {
	a.mux.HandleFunc("GET "+Prefix+path, func(w http.ResponseWriter, r *http.Request) {
		text, err := content()
		if err != nil {
			a.fail(r.Context(), w.Header().Get(headerRequestID), err).Write(w)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		// The caller may have left; there is nobody to tell.
		if _, err := w.Write(text); err != nil {
			return
		}
	})
}
