// Package static serves texts that are the same for every client, from one copy in memory, compressed once,
// with an ETag. A client that reads slowly, or not at all, uses no memory except for its connection.
package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/postrider/postrider/runtime/base/intake"
)

// Text is an immutable response body in all the encodings in which it is served.
type Text struct {
	header http.Header
	etag   string
	packed []variant // in order of preference
	plain  func() ([]byte, error)
}

// variant is the body in one content coding (RFC 9110 section 8.4.1).
type variant struct {
	coding  string
	content []byte
}

// smallest is the minimum size in bytes for compression.
const smallest = 1 << 10

// New returns a text with the header fields of its responses, such as its Content-Type. The content must
// not change afterwards.
func New(content []byte, header http.Header) *Text {
	t := &Text{header: header, etag: tagOf(content), plain: func() ([]byte, error) { return content, nil }}
	if len(content) < smallest {
		return t
	}
	t.packed = compressBest(content)
	return t
}

// NewPacked returns a text that is already compressed. Either form may be nil. The first client that accepts
// neither causes the text to be decompressed, even for later ones.
func NewPacked(brotli, gzipped []byte, header http.Header) *Text {
	t := &Text{header: header, etag: tagOf(append(bytes.Clone(gzipped), brotli...))}
	for _, v := range []variant{{"br", brotli}, {codingGzip, gzipped}} {
		if v.content != nil {
			t.packed = append(t.packed, v)
		}
	}
	t.plain = sync.OnceValues(func() ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(gzipped))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	})
	return t
}

func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// ServeHTTP implements http.Handler.
func (t *Text) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	coding, content := t.chooseEncoding(r)
	if content == nil {
		var err error
		if content, err = t.plain(); err != nil {
			http.Error(w, "Cannot read the file", http.StatusInternalServerError)
			return
		}
	}
	header := w.Header()
	maps.Copy(header, t.header)
	if len(t.packed) > 0 {
		header.Set("Vary", "Accept-Encoding")
	}
	// Each encoding has its own tag (RFC 9110 section 8.8.3).
	tag := `"` + t.etag + `"`
	if coding != "" {
		tag = `"` + t.etag + "-" + coding + `"`
	}
	header.Set("ETag", tag)
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		header.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if coding != "" {
		header.Set("Content-Encoding", coding)
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	intake.WriteShared(w, content) //nolint:errcheck // a client that has left does not read it
}

// chooseEncoding returns the encoding for a request; nil content means the uncompressed one.
func (t *Text) chooseEncoding(r *http.Request) (coding string, content []byte) {
	for _, v := range t.packed {
		if acceptsCoding(r.Header.Values("Accept-Encoding"), v.coding) {
			return v.coding, v.content
		}
	}
	return "", nil
}

// matchesTag reports whether If-None-Match contains the tag. It compares weakly (RFC 9110 section 13.1.2).
func matchesTag(values []string, tag string) bool {
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
