package dashboard

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// assets are the files of a build. Each is there as .br and as .gz, and never plain.
type assets struct{ built fs.FS }

// types of what a build makes; the system's own table is not asked, since it differs between machines.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2",
	".json": "application/json", ".wasm": "application/wasm",
}

func (a assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	media := types[path.Ext(name)]
	if media == "" || strings.Contains(name, "/") || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	encoding, suffix := "gzip", ".gz"
	if accepts(r, "br") {
		encoding, suffix = "br", ".br"
	}
	content, err := fs.ReadFile(a.built, "assets/"+name+suffix)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if encoding == "gzip" && !accepts(r, "gzip") { // hardly anybody: it is unpacked each time
		if content, err = unpack(content); err != nil {
			http.Error(w, "The file cannot be read", http.StatusInternalServerError)
			return
		}
		encoding = ""
	}
	header := w.Header()
	header.Set("Content-Type", media)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if encoding != "" {
		header.Set("Content-Encoding", encoding)
	}
	if strings.Contains(name, ".worker-") { // a worker has a policy of its own
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'")
	}
	if _, err := w.Write(content); err != nil { //nolint:gosec // the files of our build
		return // the reader has left; there is nobody to tell
	}
}

// accepts tells whether a caller takes an encoding (RFC 9110 section 12.5.3).
func accepts(r *http.Request, encoding string) bool {
	for _, value := range r.Header.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(value, ",") {
			name, parameters, _ := strings.Cut(one, ";")
			if !strings.EqualFold(strings.TrimSpace(name), encoding) {
				continue
			}
			q, given := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && weight > 0
		}
	}
	return false
}

func unpack(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
