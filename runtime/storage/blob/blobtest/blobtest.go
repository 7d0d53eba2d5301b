// Package blobtest runs an S3-compatible object store for tests, on loopback.
//
// It is an in-memory gofakes3 with a signature check, which gofakes3 lacks, and with injectable faults.
package blobtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/blob"
)

// The only access key, and the bucket.
const (
	AccessKey = "AKIAEXAMPLE"
	SecretKey = "se/cr+et@0123456789" // of the test store
	Region    = "eu-central-1"
	Bucket    = "mail"
)

// Server is a store with one bucket. It stops when the test ends.
type Server struct {
	*httptest.Server

	backend gofakes3.Backend
	tamper  atomic.Pointer[func(w http.ResponseWriter, r *http.Request, next http.Handler)]
}

// New starts a store.
func New(t testing.TB) *Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	store := gofakes3.New(backend, gofakes3.WithIntegrityCheck(true)).Server()
	s := &Server{backend: backend}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := checkSignature(r); problem != "" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message></Error>", problem)
			return
		}
		if f := s.tamper.Load(); f != nil {
			(*f)(w, r, store)
			return
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Fault installs a handler between the client and the store.
func (s *Server) Fault(f func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	s.tamper.Store(&f)
}

// Config returns the client configuration for the store.
func (s *Server) Config() blob.Config {
	return blob.Config{
		Endpoint: strings.TrimPrefix(s.URL, "http://"), Plain: true, Region: Region, Bucket: Bucket,
		Prefix:    "received/eu",
		AccessKey: AccessKey, SecretKey: secret.New(SecretKey), PathStyle: true,
	}
}

// Setting returns the configuration in the syntax of the setting.
func (s *Server) Setting() string {
	u := url.URL{Scheme: "s3", User: url.UserPassword(AccessKey, SecretKey), Host: strings.TrimPrefix(s.URL, "http://"),
		Path:     "/" + Bucket + "/received/eu",
		RawQuery: url.Values{"region": {Region}, "tls": {"off"}}.Encode()}
	return u.String()
}

// Objects returns the objects of the store, by key including the prefix.
func (s *Server) Objects(t testing.TB) map[string][]byte {
	t.Helper()
	list, err := s.backend.ListBucket(Bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string][]byte{}
	for _, entry := range list.Contents {
		object, err := s.backend.GetObject(Bucket, entry.Key, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(object.Contents)
		if err = errors.Join(err, object.Contents.Close()); err != nil {
			t.Fatal(err)
		}
		objects[entry.Key] = data
	}
	return objects
}

// checkSignature verifies AWS Signature Version 4 with a signed payload, for one key. It returns the S3
// error code.
func checkSignature(r *http.Request) string {
	fields := map[string]string{}
	authorization, found := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !found {
		return "AccessDenied"
	}
	for field := range strings.SplitSeq(authorization, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != AccessKey || scope[2] != Region {
		return "InvalidAccessKeyId"
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "RequestTimeout"
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(body)
	if said := r.Header.Get("X-Amz-Content-Sha256"); said != hex.EncodeToString(sum[:]) {
		return "XAmzContentSHA256Mismatch"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), sortQuery(r.URL.Query()), headers.String(),
		fields["SignedHeaders"], hex.EncodeToString(sum[:])}, "\n")
	hash := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"),
		hex.EncodeToString(hash[:])}, "\n")
	key := []byte("AWS4" + SecretKey)
	for _, part := range slices.Concat(scope[1:], []string{text}) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != fields["Signature"] {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func sortQuery(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }
