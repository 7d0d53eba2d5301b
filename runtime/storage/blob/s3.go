package blob

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // S3's checksum, not a security measure
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bucket is a bucket of a store. It is safe for concurrent use.
type Bucket struct {
	core    minio.Core
	bucket  string
	prefix  string // including its trailing slash
	timeout time.Duration
}

var _ Store = (*Bucket)(nil)

// callTimeout limits every call except reading an object, which takes as long as its reader needs.
const callTimeout = 2 * time.Minute

// S3 returns a client for a bucket. It does not connect yet.
func S3(cfg Config) (*Bucket, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	region := cfg.Region
	if region == "" {
		region = "us-east-1"
	}
	lookup := minio.BucketLookupDNS
	if cfg.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(cfg.Endpoint, &minio.Options{
		Creds:        credentials.NewStaticV4(cfg.AccessKey, cfg.SecretKey.Reveal(), ""),
		Secure:       !cfg.Plain,
		Region:       region, // set, so that the client does not look it up
		BucketLookup: lookup,
		Transport:    newTransport(),
		MaxRetries:   1, // the caller decides when to retry
	})
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	prefix := cfg.Prefix
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{core: *core, bucket: cfg.Bucket, prefix: prefix, timeout: callTimeout}, nil
}

// strictTransport is the HTTP transport. A 404 without an S3 error body comes from a proxy or from a wrong address:
// the client would mistake it for a missing object.
type strictTransport struct{ http.RoundTripper }

func (s strictTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusNotFound && r.Method != http.MethodHead &&
		!strings.Contains(response.Header.Get("Content-Type"), "xml") {
		response.StatusCode, response.Status = http.StatusBadGateway, "502 Bad Gateway"
	}
	return response, err
}

func newTransport() http.RoundTripper {
	return strictTransport{&http.Transport{
		// the store may be reachable only through the operator's proxy
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: time.Minute,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       time.Minute,
		DisableCompression:    true, // objects must be returned as stored
	}}
}

// Put stores an object.
func (b *Bucket) Put(ctx context.Context, key string, data io.ReaderAt, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if err := checkKey(b.prefix + key); err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	tag, sum := md5.New(), sha256.New() //nolint:gosec // as above
	if _, err := io.Copy(io.MultiWriter(tag, sum), io.NewSectionReader(data, 0, size)); err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	info, err := b.core.PutObject(ctx, b.bucket, b.prefix+key, io.NewSectionReader(data, 0, size), size,
		base64.StdEncoding.EncodeToString(tag.Sum(nil)), hex.EncodeToString(sum.Sum(nil)),
		minio.PutObjectOptions{
			ContentType:          "application/octet-stream",
			DisableContentSha256: true, // of the chunks; the checksum above covers the whole object
		})
	if err != nil {
		return fmt.Errorf("put object: %w", translateError(err))
	}
	if strings.EqualFold(info.ETag, hex.EncodeToString(tag.Sum(nil))) {
		return nil
	}
	return b.compareObject(ctx, key, sum.Sum(nil))
}

// compareObject reads an object back and compares its hash.
func (b *Bucket) compareObject(ctx context.Context, key string, want []byte) error {
	stored, err := b.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("read back object: %w", err)
	}
	defer stored.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, stored); err != nil {
		return fmt.Errorf("read back object: %w", err)
	}
	if !bytes.Equal(hash.Sum(nil), want) {
		return errors.New("put object: the stored object differs")
	}
	return nil
}

// Get opens an object.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(b.prefix + key); err != nil {
		return nil, fmt.Errorf("get object: %w", err)
	}
	object, _, _, err := b.core.GetObject(ctx, b.bucket, b.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("get object: %w", translateError(err))
	}
	return object, nil
}

// Delete removes an object. In a versioned bucket the store keeps the old version.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if err := checkKey(b.prefix + key); err != nil {
		return fmt.Errorf("delete object: %w", err)
	}
	err := translateError(b.core.RemoveObject(ctx, b.bucket, b.prefix+key, minio.RemoveObjectOptions{}))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("delete object: %w", err)
	}
	return nil
}

// probe is a key that is never stored.
const probe = "postrider-check"

// Check requests the bucket. The response has no body, and the bucket may be forbidden to a key that has only
// object permissions. In that case, Check requests an object that does not exist.
func (b *Bucket) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if found, err := b.core.BucketExists(ctx, b.bucket); err == nil && found {
		return nil
	}
	object, err := b.Get(ctx, probe)
	switch {
	case err == nil:
		return object.Close()
	case errors.Is(err, ErrNotFound):
		return nil
	}
	return fmt.Errorf("check object store, bucket %s: %w", b.bucket, err)
}

// translateError maps a missing object to ErrNotFound.
func translateError(err error) error {
	if err != nil && minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return ErrNotFound
	}
	return err
}
