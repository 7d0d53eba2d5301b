package manual

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/postrider/postrider/runtime/web/static"
	"github.com/postrider/postrider/runtime/web/theme"
)

// htmlPath is the path of the pages for people; the dashboard links each screen to one.
const htmlPath = "/manual/"

//go:embed page.css
var pageStyle string

var pageShell = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} · Postrider manual</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>{{.Style}}</style>
</head>
<body>
<header><a class="brand" href="/">Postrider</a><nav aria-label="Manual"><a href="/manual/">Manual</a> <a href="/manual/CHANGELOG">What’s new</a> <a href="/api/docs">API reference</a></nav></header>
<main>
{{.Body}}</main>
</body>
</html>
`))

// newPage returns a page for people, which is converted at its first request.
func (h *handler) newPage(file string, markdown []byte) lazyText {
	return sync.OnceValue(func() *static.Text {
		style := theme.Style + pageStyle
		title, _, _ := strings.Cut(strings.TrimPrefix(string(markdown), "# "), "\n")
		var out bytes.Buffer
		err := pageShell.Execute(&out, map[string]any{"Title": title, "Style": template.CSS(style), //nolint:gosec // our own
			"Body": template.HTML(convert(string(markdown), h.linkFrom(file)))}) //nolint:gosec // our own, and escaped
		if err != nil {
			out.Reset()
			out.WriteString("The page cannot be shown.")
		}
		return static.New(out.Bytes(), http.Header{"Content-Type": {"text/html; charset=utf-8"},
			"X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"public, max-age=3600"},
			"Content-Security-Policy": {"default-src 'none'; img-src 'self'; style-src " + theme.Source(style) +
				"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}})
	})
}
