package static

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Content codings (RFC 9110 section 8.4.1, RFC 8878).
const (
	codingZstd = "zstd"
	codingGzip = "gzip"
)

// encoders is the number of responses that are concurrently compressed with zstd. Each needs up to a megabyte
// of memory.
const encoders = 4

var fastZstd = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(encoders),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<18))
})

var fastGzip = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

// Encode compresses the body of a response, fast rather than small, and sets its header fields. A body of
// less than 1 KB, or for a client that accepts no compression, is returned unchanged.
func Encode(header http.Header, accept string, content []byte) []byte {
	if len(content) < smallest {
		return content
	}
	header.Add("Vary", "Accept-Encoding")
	switch {
	case acceptsCoding([]string{accept}, codingZstd):
		encoder, err := fastZstd()
		if err != nil {
			return content
		}
		header.Set("Content-Encoding", codingZstd)
		return encoder.EncodeAll(content, make([]byte, 0, len(content)/4))
	case acceptsCoding([]string{accept}, codingGzip):
		var packed bytes.Buffer
		packed.Grow(len(content) / 4)
		w, _ := fastGzip.Get().(*gzip.Writer) // the pool contains no other type
		defer fastGzip.Put(w)
		w.Reset(&packed)
		w.Write(content) //nolint:errcheck // writes to a buffer do not fail
		w.Close()        //nolint:errcheck // as above
		header.Set("Content-Encoding", codingGzip)
		return packed.Bytes()
	}
	return content
}

// compressBest returns the content in the codings for a body that is sent often, in order of preference.
func compressBest(content []byte) []variant {
	var packed bytes.Buffer
	// Writes to a buffer do not fail, and the levels are valid.
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	w.Write(content) //nolint:errcheck // as above
	w.Close()        //nolint:errcheck // as above
	all := []variant{{codingGzip, bytes.Clone(packed.Bytes())}}
	if encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithEncoderConcurrency(1)); err == nil {
		all = append([]variant{{codingZstd, encoder.EncodeAll(content, nil)}}, all...)
	}
	return all
}

// acceptsCoding reports whether a client accepts a content coding (RFC 9110 section 12.5.3).
func acceptsCoding(accept []string, coding string) bool {
	for _, value := range accept {
		for one := range strings.SplitSeq(value, ",") {
			name, parameters, _ := strings.Cut(one, ";")
			if !strings.EqualFold(strings.TrimSpace(name), coding) {
				continue
			}
			q, given := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
			weight, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && weight > 0
		}
	}
	return false
}
