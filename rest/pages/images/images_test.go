package images

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
)

const one = "img_01kf0m4w7he6x8q2v5b3n9c1ta"

type source struct{ fail error }

func (s source) OpenImage(_ context.Context, imageID string) (templates.ImageFile, error) {
	if imageID != one {
		return templates.ImageFile{}, fault.NoSuch("image", "with this URL")
	}
	return templates.ImageFile{ContentType: "image/gif", Content: []byte("GIF89a<script>")}, s.fail
}

func TestServesImagesForOtherSites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, tag string
		fail              error
		status            int
		body              string
	}{
		"image":     {method: "GET", path: one + ".gif", status: 200, body: "GIF89a<script>"},
		"bare":      {method: "GET", path: one, status: 200, body: "GIF89a<script>"},
		"head":      {method: "HEAD", path: one + ".gif", status: 200},
		"unchanged": {method: "GET", path: one + ".gif", tag: `"` + one + `"`, status: 304},
		"unknown":   {method: "GET", path: "img_x.gif", status: 404, body: "No such image\n"},
		"post":      {method: "POST", path: one + ".gif", status: 405, body: "Method not allowed: use GET\n"},
		"full": {method: "GET", path: one, fail: limit.ErrFull, status: 503,
			body: "Too many images are being loaded. Try again in a moment.\n"},
	} {
		r := httptest.NewRequest(c.method, "/files/images/"+c.path, http.NoBody)
		if c.tag != "" {
			r.Header.Set("If-None-Match", c.tag)
		}
		w := httptest.NewRecorder()
		New("/files/images/", source{c.fail}, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
		header := w.Header()
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, w.Body, c.status, c.body)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
			t.Errorf("%s: the headers %v let a browser run the file", name, header)
		}
		if c.status == 200 && (header.Get("Content-Type") != "image/gif" || header.Get("Cross-Origin-Resource-Policy") != "cross-origin") {
			t.Errorf("%s: the headers %v, want an image for other sites", name, header)
		}
		if c.status >= 400 && c.status != 405 && header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: the error is cached: %v", name, header)
		}
	}
}
