package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
)

func get(t *testing.T, b *blob.Bucket, key string) []byte {
	t.Helper()
	r, err := b.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestObjectsRoundTrip(t *testing.T) {
	t.Parallel()
	b := bucket(t, blobtest.New(t), nil)
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	everyOctet := make([]byte, 256)
	for i := range everyOctet {
		everyOctet[i] = byte(i)
	}
	for key, data := range map[string][]byte{
		"acc_1/con_1":                    []byte("Subject: x\r\n\r\nbody\r\n"),
		"empty":                          {},
		"octets":                         everyOctet,
		"large":                          bytes.Repeat(everyOctet, 20<<10), // 5 MB
		"a b/c+d/e%2Ff/g?h=i&j#k/~!*'()": []byte("odd"),
		"ünï/コード/😀":                      []byte("unicode"),
		strings.Repeat("k", 1000):        []byte("long"),
	} {
		if err := put(t.Context(), b, key, data); err != nil {
			t.Errorf("putting the object %q failed: %v", key, err)
			continue
		}
		if got := get(t, b, key); !bytes.Equal(got, data) {
			t.Errorf("the object %q has %d bytes, want %d", key, len(got), len(data))
		}
		if err := put(t.Context(), b, key, []byte("again")); err != nil || string(get(t, b, key)) != "again" {
			t.Errorf("replacing the object %q returned %v", key, err)
		}
		for range 2 { // the second Delete finds nothing, which is not an error
			if err := b.Delete(t.Context(), key); err != nil {
				t.Errorf("deleting the object %q returned %v", key, err)
			}
		}
		if _, err := b.Get(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("after deletion, Get of %q returned %v", key, err)
		}
	}
}

func TestPrefixSeparatesStores(t *testing.T) {
	t.Parallel()
	s := blobtest.New(t)
	one := bucket(t, s, nil)
	whole := bucket(t, s, func(c *blob.Config) { c.Prefix = "" })
	if err := put(t.Context(), one, "k", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := get(t, whole, "received/eu/k"); string(got) != "x" {
		t.Errorf("the object under its complete key is %q, want x", got)
	}
	if _, err := whole.Get(t.Context(), "k"); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
}

func TestAmbiguousKeysAreRejected(t *testing.T) {
	t.Parallel()
	b := bucket(t, blobtest.New(t), func(c *blob.Config) { c.Prefix = "" })
	for _, key := range []string{"", "/a", "a/", "a//b", ".", "a/../b", "a/./b", "a\nb", "a\x00", "\xff",
		strings.Repeat("k", 1025)} {
		if err := put(t.Context(), b, key, nil); err == nil {
			t.Errorf("put %q", key)
		}
		if _, err := b.Get(t.Context(), key); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("get %q: %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err == nil {
			t.Errorf("delete %q", key)
		}
	}
}

// Only a missing object returns ErrNotFound, not a failing store.
func TestFailingStoreIsNotErrNotFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*blob.Config, *blobtest.Server){
		"a wrong key":    func(c *blob.Config, _ *blobtest.Server) { c.AccessKey = "AKIAOTHER" },
		"a wrong secret": func(c *blob.Config, _ *blobtest.Server) { c.SecretKey = secret.New("other") },
		"no such bucket": func(c *blob.Config, _ *blobtest.Server) { c.Bucket = "other" },
		"no server":      func(_ *blob.Config, s *blobtest.Server) { s.Close() },
		"an error":       func(_ *blob.Config, s *blobtest.Server) { s.Fault(answer(http.StatusInternalServerError, "")) },
		"a web page": func(_ *blob.Config, s *blobtest.Server) {
			s.Fault(answer(http.StatusNotFound, "<html>not found</html>"))
		},
		"a redirect": func(_ *blob.Config, s *blobtest.Server) {
			s.Fault(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			})
		},
		"a timeout in a proxy": func(_ *blob.Config, s *blobtest.Server) { s.Fault(answer(http.StatusGatewayTimeout, "<html>")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := blobtest.New(t)
			b := bucket(t, s, func(c *blob.Config) { change(c, s) })
			for call, err := range map[string]error{
				"check":  b.Check(t.Context()),
				"put":    put(t.Context(), b, "k", []byte("x")),
				"get":    errorOf(b.Get(t.Context(), "k")),
				"delete": b.Delete(t.Context(), "k"),
			} {
				if err == nil || errors.Is(err, blob.ErrNotFound) {
					t.Errorf("%s at a failing store returned %v, want an error other than ErrNotFound", call, err)
				} else if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), blobtest.SecretKey) {
					t.Errorf("the error of %s contains the secret: %v", call, err)
				}
			}
		})
	}
}

func errorOf(_ io.ReadCloser, err error) error { return err }

func answer(status int, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// After each of these faults, Put must return an error.
func TestPutVerifiesStoredObject(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 500_000)
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request, http.Handler){
		"the connection breaks during the upload": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w) },
		"the response is lost": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(discard{http.Header{}}, r)
			hangUp(w)
		},
		"the store keeps half of the object": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPut {
				r.Body, r.ContentLength = io.NopCloser(io.LimitReader(r.Body, 1000)), 1000
				r.Header.Del("Content-Md5")
				r.Header.Del("X-Amz-Content-Sha256")
			}
			next.ServeHTTP(w, r)
		},
		"the store does not keep the object": answer(http.StatusOK, ""),
		"the store is full":                  answer(http.StatusInsufficientStorage, "<Error><Code>XMinioStorageFull</Code></Error>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := blobtest.New(t)
			b := bucket(t, s, nil)
			s.Fault(fault)
			if err := put(t.Context(), b, "k", data); err == nil {
				t.Error("Put returned no error")
			}
			s.Fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })
			if err := put(t.Context(), b, "k", data); err != nil || !bytes.Equal(get(t, b, "k"), data) {
				t.Errorf("the second Put returned %v", err)
			}
		})
	}
}

// The tags of stores that encrypt are not the MD5; Put then reads the object back.
func TestPutReadsBackFromEncryptingStore(t *testing.T) {
	t.Parallel()
	s := blobtest.New(t)
	reads := make(chan struct{}, 10)
	s.Fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet {
			reads <- struct{}{}
		}
		next.ServeHTTP(otherTag{w}, r)
		otherTag{w}.set() // if nothing was written
	})
	if err := put(t.Context(), bucket(t, s, nil), "k", []byte("x")); err != nil || len(reads) != 1 {
		t.Errorf("Put returned %v after %d reads", err, len(reads))
	}
}

type otherTag struct{ http.ResponseWriter }

func (w otherTag) set() { w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`) }

func (w otherTag) WriteHeader(status int) {
	w.set()
	w.ResponseWriter.WriteHeader(status)
}

func (w otherTag) Write(b []byte) (int, error) {
	w.set()
	return w.ResponseWriter.Write(b)
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(b []byte) (int, error) { return len(b), nil }

func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

func TestTruncatedObjectIsAnError(t *testing.T) {
	t.Parallel()
	s := blobtest.New(t)
	b := bucket(t, s, nil)
	s.Fault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Length", "100")
		w.Header().Set("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
		io.WriteString(w, "only this")
	})
	r, err := b.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if data, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("reading an object that ends early returned %q, %v, want io.ErrUnexpectedEOF", data, err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := bucket(t, blobtest.New(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := put(ctx, b, "k", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := b.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestStoreURLs(t *testing.T) {
	t.Parallel()
	same := cmp.Comparer(func(a, b secret.String) bool { return a.Equal(b) })
	for text, want := range map[string]blob.Config{
		"s3://KEY:se%2Fcr%2Bet%40@store.example:9000/mail/received/eu/?region=eu-central-1&tls=off&path_style=off": {
			Endpoint: "store.example:9000", Plain: true, Region: "eu-central-1", Bucket: "mail", Prefix: "received/eu",
			AccessKey: "KEY", SecretKey: secret.New("se/cr+et@")},
		"s3://KEY:SECRET@s3.eu-west-1.amazonaws.com/mail-1": {
			Endpoint: "s3.eu-west-1.amazonaws.com", Bucket: "mail-1", AccessKey: "KEY",
			SecretKey: secret.New("SECRET")},
		"s3://KEY:SECRET@[::1]:9000/mail?tls=on&path_style=on": {
			Endpoint: "[::1]:9000", Bucket: "mail", AccessKey: "KEY", SecretKey: secret.New("SECRET"), PathStyle: true},
	} {
		got, err := blob.ParseURL(secret.New(text))
		if err != nil || !cmp.Equal(got, want, same) {
			t.Errorf("ParseURL of %s returned error %v, want the configuration; the difference is %s", text, err,
				cmp.Diff(want, got, same))
		}
	}
	for text, reason := range map[string]string{
		"":                                      "form",
		"https://KEY:geheim@host/mail":          "form",
		"s3:KEY:geheim":                         "form",
		"s3://KEY:geh/eim@host/mail":            "%2F",
		"s3://KEY:geheim%@host/mail":            "form",
		"s3://host/mail":                        "has no key\nhas no secret",
		"s3://KEY:geheim@/mail":                 "no host",
		"s3://KEY:geheim@:9000/mail":            "no host",
		"s3://KEY:geheim@host":                  "bucket",
		"s3://KEY:geheim@host/My_Bucket":        "bucket",
		"s3://KEY:geheim@host/mail/a//b":        "prefix",
		"s3://KEY:geheim@host/mail?tls=yes":     "tls must be on or off",
		"s3://KEY:geheim@host/mail?path_style=": "path_style must be on or off",
		"s3://KEY:geheim@host/mail?regio=x":     "unknown option",
		"s3://KEY:geheim@host/mail?region=a%20": "region",
		"s3://KEY:geheim@host/mail#geheim":      "form",
	} {
		_, err := blob.ParseURL(secret.New(text))
		if err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "geh") {
			t.Errorf("%s: got error %v, want %q", text, err, reason)
		}
	}
	cfg, err := blob.ParseURL(secret.New("s3://KEY:geheim@host/mail"))
	if printed := fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg); err != nil || strings.Contains(printed, "geheim") {
		t.Errorf("ParseURL returned error %v and prints as %s, want the secret hidden", err, printed)
	}
}

func put(ctx context.Context, to blob.Store, key string, data []byte) error {
	return to.Put(ctx, key, bytes.NewReader(data), int64(len(data)))
}
