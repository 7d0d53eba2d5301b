// Package manual serves the manual to people (/manual/), and as text for language models: an index (/llms.txt), all
// pages in one file (/llms-full.txt), and each page. The index is derived from docs/README.md, as the navigation of the site is.
package manual

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/postrider/postrider"
	"github.com/postrider/postrider/runtime/web/static"
)

const (
	indexPath = "/llms.txt"
	fullPath  = "/llms-full.txt"
	pagePath  = "/llms/"
	indexFile = "docs/README.md"
	summary   = "# Postrider\n\n> Self-hosted transactional email: REST, GraphQL, SMTP and a delivery engine in one binary.\n"
)

// Patterns are the patterns of the handler.
func Patterns() []string {
	return []string{"GET " + indexPath, "GET " + fullPath, "GET " + pagePath + "{page}", "GET " + htmlPath + "{page...}"}
}

// link is a link of the index to a page, with what follows it.
var link = regexp.MustCompile(`^- \[([^\]]+)\]\(([^)]+\.md)\)(.*)$`)

type lazyText func() *static.Text

type handler struct {
	// Each text is compressed at its first request.
	index, full lazyText
	pages       map[string]lazyText
	html        map[string]lazyText // by name without .md; the index has none
	files       map[string]string   // paths of the pages by their names
}

// New returns the handler. The links of the index begin with the base URL.
func New(baseURL string) (http.Handler, error) {
	readme, err := fs.ReadFile(postrider.Manual, indexFile)
	if err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}
	var index, full strings.Builder
	index.WriteString(summary)
	h := &handler{pages: map[string]lazyText{}, html: map[string]lazyText{}, files: map[string]string{}}
	h.html[""] = h.newPage(indexFile, readme)
	for line := range strings.Lines(string(readme)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "## ") {
			index.WriteString("\n" + line + "\n\n")
			continue
		}
		found := link.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		file := path.Join(path.Dir(indexFile), found[2])
		content, err := fs.ReadFile(postrider.Manual, file)
		if err != nil {
			return nil, fmt.Errorf("manual: %s: %w", indexFile, err)
		}
		name := path.Base(file)
		fmt.Fprintf(&index, "- [%s](%s%s%s)%s\n", found[1], baseURL, pagePath, name, found[3])
		full.Write(content)
		full.WriteString("\n\n")
		h.pages[name] = newText("text/markdown", content)
		h.files[name] = file
		h.html[strings.TrimSuffix(name, ".md")] = h.newPage(file, content)
	}
	h.index = newText("text/plain", []byte(index.String()))
	h.full = newText("text/plain", []byte(full.String()))
	return h, nil
}

func newText(contentType string, content []byte) lazyText {
	return sync.OnceValue(func() *static.Text {
		return static.New(content, http.Header{"Content-Type": {contentType + "; charset=utf-8"},
			"X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"public, max-age=3600"}})
	})
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case indexPath:
		h.index().ServeHTTP(w, r)
	case fullPath:
		h.full().ServeHTTP(w, r)
	default:
		page := h.pages[r.PathValue("page")]
		if strings.HasPrefix(r.URL.Path, htmlPath) {
			page = h.html[r.PathValue("page")]
		}
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page().ServeHTTP(w, r)
	}
}
