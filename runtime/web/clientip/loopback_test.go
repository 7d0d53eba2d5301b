package clientip_test

import (
	"net/http/httptest"
	"testing"

	"github.com/postrider/postrider/runtime/web/clientip"
)

func TestIsLocalRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peer, host, field, value string
		want                     bool
	}{
		{"127.0.0.1:5000", "127.0.0.1:8080", "", "", true},
		{"127.0.0.1:5000", "localhost:8080", "", "", true},
		{"127.0.0.1:5000", "LOCALHOST.", "", "", true},
		{"127.0.0.1:5000", "app.localhost", "", "", true},
		{"127.9.9.9:5000", "127.0.0.2", "", "", true},
		{"[::1]:5000", "[::1]:8080", "", "", true},
		{"[::1]:5000", "[::1]", "", "", true},
		{"[::ffff:127.0.0.1]:5000", "[::ffff:127.0.0.1]:8080", "", "", true},
		{"127.0.0.1:5000", "rebound.example:8080", "", "", false},
		{"127.0.0.1:5000", "localhost.example", "", "", false},
		{"127.0.0.1:5000", "notlocalhost", "", "", false},
		{"127.0.0.1:5000", "127.0.0.1.example", "", "", false},
		{"127.0.0.1:5000", "", "", "", false},
		{"127.0.0.1:5000", "192.0.2.1", "", "", false},
		{"127.0.0.1:5000", "0.0.0.0:8080", "", "", false},
		{"192.0.2.1:5000", "127.0.0.1:8080", "", "", false},
		{"nonsense", "127.0.0.1:8080", "", "", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "X-Forwarded-For", "192.0.2.1", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "X-Forwarded-For", "", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "Forwarded", "for=192.0.2.1", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "X-Real-IP", "192.0.2.1", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "Via", "1.1 proxy", false},
		{"127.0.0.1:5000", "127.0.0.1:8080", "Accept", "*/*", true},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr, r.Host = c.peer, c.host
		if c.field != "" {
			r.Header.Set(c.field, c.value)
		}
		if got := clientip.IsLocalRequest(r); got != c.want {
			t.Errorf("a request from %s for %q with %q: %q is local: %v, want %v", c.peer, c.host,
				c.field, c.value, got, c.want)
		}
	}
}

// A proxy that does not identify itself can often be recognized by its requests.
func TestForwardedRequestIsNotDirect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proto string
		minor int
		close bool
		want  bool
	}{
		"a program":                          {"HTTP/1.1", 1, false, true},
		"nginx":                              {"HTTP/1.0", 0, true, false},
		"nginx, configured for HTTP/1.1":     {"HTTP/1.1", 1, true, false},
		"a program that speaks HTTP/1.0":     {"HTTP/1.0", 0, false, false},
		"a program that ends its connection": {"HTTP/1.1", 1, true, false},
	} {
		r := httptest.NewRequest("GET", "http://127.0.0.1:8080/metrics", nil)
		r.RemoteAddr, r.Proto, r.ProtoMinor, r.Close = "127.0.0.1:5000", c.proto, c.minor, c.close
		if got := clientip.IsDirectLocalRequest(r); got != c.want {
			t.Errorf("a request like that of %s is direct: %t, want %t", name, got, c.want)
		}
		if r.Host = "mail.example.com"; clientip.IsDirectLocalRequest(r) {
			t.Errorf("a request like that of %s for another name is direct", name)
		}
	}
}
