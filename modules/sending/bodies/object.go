package bodies

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// Suffixes of object names.
const (
	textsSuffix   = ".json.gz"
	relayedSuffix = ".eml.gz"
	fileSuffix    = ".gz"
)

// IsRelayed reports whether a key is that of a message submitted over SMTP.
func IsRelayed(key string) bool { return strings.HasSuffix(key, relayedSuffix) }

// texts is the JSON content of an object.
type texts struct {
	HTML *string `json:"html"`
	Text *string `json:"text"`
}

func (t texts) size() (n int64) {
	for _, s := range []*string{t.HTML, t.Text} {
		if s != nil {
			n += int64(len(*s))
		}
	}
	return n
}

// mostJSON returns the maximum JSON size of texts of the given size in bytes: a control character takes six
// bytes.
func mostJSON(size int64) int64 { return 6*size + 1024 }

// packers are reused, because creating one allocates more memory than most bodies take.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// packObject compresses the output of write.
func packObject(to io.Writer, write func(io.Writer) error) error {
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(to)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

func (t texts) pack(to io.Writer) error {
	return packObject(to, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(t)
	})
}

// unpackTexts reads the texts of an object up to the end, where the checksum is.
func unpackTexts(from io.Reader, size int64) (t texts, err error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return t, err
	}
	packed := io.LimitReader(z, mostJSON(size))
	if err := json.NewDecoder(packed).Decode(&t); err != nil {
		return t, err
	}
	if _, err := io.Copy(io.Discard, packed); err != nil {
		return t, err
	}
	if t.size() != size {
		return t, fmt.Errorf("texts have %d bytes instead of %d", t.size(), size)
	}
	return t, nil
}

// errNoStore reports that objects exist but no store is configured.
var errNoStore = errors.New("POSTRIDER_BLOBS is not set")

// Texts returns the html and text stored under a key. It returns BodyUnavailable if the store does not deliver
// them in time.
func (s *Service) Texts(ctx context.Context, key string, size int64) (html, text *string, err error) {
	object, err := s.getObject(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	t, err := unpackTexts(object, size)
	if err = errors.Join(err, object.Close()); err != nil {
		return nil, nil, fault.BodyUnavailable(fmt.Errorf("read %s: %w", key, err))
	}
	return t.HTML, t.Text, nil
}

// Open reads the relayed message or the attachment stored under a key. The caller closes it. Open and Read
// return BodyUnavailable if the store does not deliver the content in time.
func (s *Service) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	object, err := s.getObject(ctx, key)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(object)
	if err != nil {
		return nil, fault.BodyUnavailable(fmt.Errorf("read %s: %w", key, errors.Join(err, object.Close())))
	}
	return &unpackedObject{z, object, key}, nil
}

func (s *Service) getObject(ctx context.Context, key string) (io.ReadCloser, error) {
	if s == nil || s.objects == nil {
		return nil, fault.BodyUnavailable(errNoStore)
	}
	object, err := s.objects.prompt.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		s.log.ErrorContext(ctx,
			"email body missing from the object store; check whether the bucket or its prefix was changed",
			"object", key)
	}
	if err != nil {
		return nil, fault.BodyUnavailable(fmt.Errorf("get %s: %w", key, err))
	}
	return object, nil
}

// unpackedObject decompresses an object.
type unpackedObject struct {
	z      *gzip.Reader
	object io.Closer
	key    string
}

func (u *unpackedObject) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault.BodyUnavailable(fmt.Errorf("read %s: %w", u.key, err))
	}
	return n, err
}

func (u *unpackedObject) Close() error { return u.object.Close() }
