package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/postrider/postrider/runtime/web/static"
)

var content = strings.Repeat("All clients share one copy of this text. ", 100)

func get(t *testing.T, h http.Handler, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// codings are the expected content codings by Accept-Encoding.
var codings = map[string]string{"gzip": "gzip", "br, GZIP;q=0.5": "gzip", "": "", "gzip;q=0": "", "identity": "",
	"deflate": "", "gzip, deflate, br, zstd": "zstd", "zstd;q=0, gzip": "gzip"}

func decode(t *testing.T, coding string, packed []byte) string {
	t.Helper()
	switch coding {
	case "gzip":
		return unzip(t, packed)
	case "zstd":
		decoder, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer decoder.Close()
		plain, err := decoder.DecodeAll(packed, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(plain)
	}
	return string(packed)
}

func TestEncodeUsesAcceptedCoding(t *testing.T) {
	t.Parallel()
	for accept, coding := range codings {
		for range 3 { // so that encoders are reused
			header := http.Header{}
			sent := static.Encode(header, accept, []byte(content))
			if got := decode(t, coding, sent); got != content || header.Get("Content-Encoding") != coding ||
				header.Get("Vary") != "Accept-Encoding" || coding != "" && len(sent) > len(content)/2 {
				t.Errorf("with Accept-Encoding %q, got the header %v and %d bytes, content equal: %t", accept,
					header, len(sent),
					got == content)
			}
		}
	}
	header := http.Header{}
	if sent := static.Encode(header, "gzip", []byte("short")); string(sent) != "short" || len(header) > 0 {
		t.Errorf("a short body was sent as %q with %v, want it unchanged", sent, header)
	}
}

func BenchmarkEncode(b *testing.B) {
	content := []byte(strings.Repeat(`{"id":"msg_01kf0m4w7he6x8q2v5b3n9c1ta","to":["ada@example.net"]},`, 1000))
	for _, coding := range []string{"zstd", "gzip"} {
		b.Run(coding, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				static.Encode(http.Header{}, coding, content)
			}
		})
	}
}

func unzip(t *testing.T, packed []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestTextIsServedInAcceptedEncoding(t *testing.T) {
	t.Parallel()
	text := static.New([]byte(content), http.Header{"Content-Type": {"text/plain"}})
	for accept, coding := range codings {
		w := get(t, text, "Accept-Encoding", accept)
		got := decode(t, coding, w.Body.Bytes())
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != coding || got != content {
			t.Errorf("with Accept-Encoding %q the status is %d, the encoding %q, and the text equal: %t; want 200, %q and the text", accept, w.Code, w.Header().Get("Content-Encoding"), got == content, coding)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" || w.Header().Get("Content-Type") != "text/plain" {
			t.Errorf("with Accept-Encoding %q the header is %v, want Vary and the content type", accept, w.Header())
		}
	}
}

func TestUnmodifiedTextIsNotSent(t *testing.T) {
	t.Parallel()
	text := static.New([]byte(content), http.Header{"Content-Type": {"text/plain"}})
	plain, packed := get(t, text).Header().Get("ETag"), get(t, text, "Accept-Encoding", "gzip").Header().Get("ETag")
	if plain == packed || plain == "" {
		t.Errorf("the tags are %s and %s, want one for each encoding", plain, packed)
	}
	for _, c := range []struct {
		given, accept string
		status        int
	}{
		{packed, "gzip", 304}, {plain, "", 304}, {"W/" + plain, "", 304}, {`"x", ` + plain, "", 304}, {"*", "", 304},
		{plain, "gzip", 200}, {packed, "", 200}, {`"x"`, "", 200}, {strings.Trim(plain, `"`), "", 200},
	} {
		w := get(t, text, "If-None-Match", c.given, "Accept-Encoding", c.accept)
		if w.Code != c.status || (w.Code == 304) != (w.Body.Len() == 0) || w.Header().Get("ETag") == "" {
			t.Errorf("If-None-Match %s with Accept-Encoding %q: status %d, %d bytes, tag %s; want %d", c.given,
				c.accept, w.Code, w.Body.Len(), w.Header().Get("ETag"), c.status)
		}
	}
	if other := static.New([]byte(content+"!"), nil); get(t, other, "If-None-Match", plain).Code != http.StatusOK {
		t.Error("a different text was reported as unmodified")
	}
}

func TestPackedFileIsDecompressedIfNecessary(t *testing.T) {
	t.Parallel()
	var gzipped bytes.Buffer
	z := gzip.NewWriter(&gzipped)
	io.WriteString(z, content)
	z.Close()
	text := static.NewPacked([]byte("brotli"), gzipped.Bytes(), nil)
	for accept, want := range map[string]string{"br, gzip": "brotli", "gzip": gzipped.String(), "": content} {
		if w := get(t, text, "Accept-Encoding", accept); w.Code != http.StatusOK || w.Body.String() != want {
			t.Errorf("with Accept-Encoding %q, the status is %d with %d bytes, want 200 with %d", accept, w.Code,
				w.Body.Len(), len(want))
		}
	}
	if w := get(t, static.NewPacked(nil, []byte("not gzip"), nil)); w.Code != http.StatusInternalServerError {
		t.Errorf("a file that cannot be decompressed has the status %d, want 500", w.Code)
	}
}
