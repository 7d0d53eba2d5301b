package assembly

import (
	"html/template"
	"log/slog"
	"net/http"

	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/telemetry"
)

// homePage stands at / until the dashboard is there.
var homePage = template.Must(template.New("home").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postrider</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>
:root{color-scheme:light dark;font:16px/1.55 system-ui,sans-serif;background:Canvas;color:CanvasText}
body{max-width:40rem;margin:4rem auto;padding:0 1.25rem}
h1{font-size:1.6rem;margin:0 0 .25rem}p{margin:.5rem 0}ul{padding-left:1.1rem}
.dev{background:#b45309;color:#fff;padding:.5rem .75rem;border-radius:.4rem}
code{font:.9em ui-monospace,monospace}
</style></head><body><main>
<h1>Postrider</h1>
<p>Transactional email, on your own machine. Version <code>{{.Version}}</code>.</p>
{{if .Dev}}<p class="dev">Development mode: mail does not leave this machine.</p>{{end}}
<ul>
{{range .Links}}<li><a href="{{.Path}}">{{.Name}}</a>: {{.Line}}</li>
{{end}}</ul>
<p>The web dashboard is not part of this version yet.</p>
</main></body></html>
`))

type homeLink struct{ Path, Name, Line string }

type home struct {
	Version string
	Dev     bool
	Links   []homeLink
	log     *slog.Logger
}

func (h home) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	if err := homePage.Execute(w, h); err != nil {
		h.log.DebugContext(r.Context(), "caller left before the answer", telemetry.KeyError, err)
	}
}

// home lists where to go from here.
func (p edgeParams) home() home {
	h := home{Version: p.Options.Version, Dev: p.Config.Mode == config.Dev, log: p.Logger, Links: []homeLink{
		{"/api/docs", "API reference", "every operation, with examples"},
		{"/api/openapi.json", "OpenAPI document", "for generators and tools"},
	}}
	for _, page := range p.Pages {
		h.Links = append(h.Links, page.home)
	}
	return h
}
