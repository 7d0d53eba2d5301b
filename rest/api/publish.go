package api

import (
	"net/http"
	"sync"
	"time"

	"github.com/postrider/postrider/rest/api/openapi"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/static"
)

// publish serves the document, and the reference, which is generated at the first request.
func (a *API) publish() {
	a.serveOfToday("/openapi.json", jsonType, func() ([]byte, error) { return a.document.JSON, nil })
	a.serveOfToday("/openapi.yaml", "application/yaml", a.document.YAML)
	a.serveOfToday("/openapi-3.0.json", jsonType, a.document.JSON30)
	a.serveOfToday("/openapi-3.0.yaml", "application/yaml", a.document.YAML30)
	a.publishReference()
}

// publishReference serves the first page of the reference, and its parts below it.
func (a *API) publishReference() {
	pages := sync.OnceValues(func() (map[string]*daily, error) {
		generated, err := openapi.Pages(a.huma.OpenAPI(), a.sender)
		texts := make(map[string]*daily, len(generated))
		for name, page := range generated {
			texts[name] = &daily{content: func() ([]byte, error) { return page, nil },
				header: headerOf("text/html; charset=utf-8", http.Header{
					"Content-Security-Policy": {openapi.PagePolicy()}, "Referrer-Policy": {"no-referrer"}})}
		}
		return texts, err
	})
	serve := func(w http.ResponseWriter, r *http.Request) {
		texts, err := pages()
		text := texts[r.PathValue("part")]
		if err == nil && text == nil {
			err = fault.NoSuch("part of the reference", r.PathValue("part"))
		}
		if err != nil {
			a.translateError(r.Context(), w.Header().Get(headerRequestID), err).Write(w)
			return
		}
		a.serveDaily(text, w, r)
	}
	a.mux.HandleFunc("GET "+Prefix+"/docs", serve)
	a.mux.HandleFunc("GET "+Prefix+"/docs/{part}", serve)
}

// Serve serves the same content to all clients, without authentication, at a path below Prefix.
func (a *API) Serve(path, contentType string, content []byte, header http.Header) {
	text := static.New(content, headerOf(contentType, header))
	a.mux.HandleFunc("GET "+Prefix+path, text.ServeHTTP)
}

// serveOfToday is Serve for a text that contains openapi.Tomorrow.
func (a *API) serveOfToday(path, contentType string, content func() ([]byte, error)) {
	d := &daily{content: content, header: headerOf(contentType, nil)}
	a.mux.HandleFunc("GET "+Prefix+path, func(w http.ResponseWriter, r *http.Request) { a.serveDaily(d, w, r) })
}

func (a *API) serveDaily(d *daily, w http.ResponseWriter, r *http.Request) {
	text, err := d.todaysText(a.now())
	if err != nil {
		a.translateError(r.Context(), w.Header().Get(headerRequestID), err).Write(w)
		return
	}
	text.ServeHTTP(w, r)
}

func headerOf(contentType string, header http.Header) http.Header {
	all := header.Clone()
	if all == nil {
		all = http.Header{}
	}
	all.Set("Content-Type", contentType)
	all.Set("Cache-Control", "no-cache")
	return all
}

// daily is a text that is generated once a day, at the first request.
type daily struct {
	content func() ([]byte, error)
	header  http.Header

	mu   sync.Mutex
	day  string
	text *static.Text
}

// todaysText returns the text of the day of a moment. All clients of the day share it.
func (d *daily) todaysText(now time.Time) (*static.Text, error) {
	day := now.UTC().Format(time.DateOnly)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.day == day {
		return d.text, nil
	}
	content, err := d.content()
	if err != nil {
		return nil, err
	}
	d.day, d.text = day, static.New(openapi.OfToday(content, now), d.header)
	return d.text, nil
}
