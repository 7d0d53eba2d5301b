package dashboard

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/postrider/postrider/runtime/web/static"
)

// assets are the files of a build. Each file exists as .gz, some as .br, and none uncompressed.
type assets struct {
	built fs.FS
	texts sync.Map // requested files by name: *static.Text
}

// types of the files of a build. The system's own table is not used, because it differs between machines.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2",
	".json": "application/json", ".wasm": "application/wasm",
}

func (a *assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	media := types[path.Ext(name)]
	if media == "" || strings.Contains(name, "/") || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	text, err := a.read(name, media)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	text.ServeHTTP(w, r)
}

// read returns a file of the build. All clients share one copy.
func (a *assets) read(name, media string) (*static.Text, error) {
	if known, is := a.texts.Load(name); is {
		return known.(*static.Text), nil
	}
	gzipped, err := fs.ReadFile(a.built, "assets/"+name+".gz")
	if err != nil {
		return nil, err
	}
	brotli, err := fs.ReadFile(a.built, "assets/"+name+".br")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	header := http.Header{"Content-Type": {media}, "Cache-Control": {"public, max-age=31536000, immutable"},
		"Cross-Origin-Resource-Policy": {"same-origin"}}
	if strings.Contains(name, ".worker-") { // a worker has its own policy
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'")
	}
	text, _ := a.texts.LoadOrStore(name, static.NewPacked(brotli, gzipped, header))
	return text.(*static.Text), nil
}
