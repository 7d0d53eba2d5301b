package blob_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/postrider/postrider/runtime/blob"
	"github.com/postrider/postrider/runtime/secret"
)

const (
	accessKey = "AKIAEXAMPLE"
	secretKey = "se/cr+et@0123456789"
	region    = "eu-central-1"
)

// server is an S3 store on loopback: gofakes3 behind a check of the signature, which
// gofakes3 does not have, and behind faults.
type server struct {
	*httptest.Server
	tamper atomic.Pointer[func(w http.ResponseWriter, r *http.Request, next http.Handler)]
}

func newServer(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("mail"); err != nil {
		t.Fatal(err)
	}
	store := gofakes3.New(backend, gofakes3.WithIntegrityCheck(true)).Server()
	s := &server{}
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

// fault puts something between the client and the store.
func (s *server) fault(f func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	s.tamper.Store(&f)
}

func (s *server) config() blob.Config {
	return blob.Config{
		Endpoint: strings.TrimPrefix(s.URL, "http://"), Plain: true, Region: region, Bucket: "mail", Prefix: "received/eu",
		AccessKey: accessKey, SecretKey: secret.New(secretKey), PathStyle: true,
	}
}

func (s *server) bucket(t *testing.T, change func(*blob.Config)) *blob.Bucket {
	t.Helper()
	cfg := s.config()
	if change != nil {
		change(&cfg)
	}
	b, err := blob.S3(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkSignature is AWS Signature Version 4 with a signed payload, for one key. It gives
// the store's error code.
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
	if len(scope) != 5 || scope[0] != accessKey || scope[2] != region {
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
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), sorted(r.URL.Query()), headers.String(), fields["SignedHeaders"], hex.EncodeToString(sum[:])}, "\n")
	hash := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), hex.EncodeToString(hash[:])}, "\n")
	key := []byte("AWS4" + secretKey)
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

func sorted(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }
