package jetstream_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
)

// A server is accepted over TLS only if an authority in the file has signed its certificate, and gets a
// client certificate if it requests one.
func TestTLSVerifiesServerAndClient(t *testing.T) {
	t.Parallel()
	lent := httptest.NewTLSServer(nil) // its certificate is self-signed, for 127.0.0.1
	t.Cleanup(lent.Close)
	certificate := lent.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, keyFile := written(t, "CERTIFICATE", certificate.Certificate[0]), written(t, "PRIVATE KEY", key)
	broker := jetstreamtest.Start(t, func(o *server.Options) {
		o.TLSConfig, o.TLSTimeout, o.TLS = &tls.Config{Certificates: lent.TLS.Certificates,
			ClientAuth: tls.RequireAnyClientCert}, 5, true
	})
	c := configOf(t, "tls://"+strings.SplitN(broker.URL(), "://", 2)[1])
	for _, files := range []jetstream.Files{{}, {CA: cert}, {Cert: cert, Key: keyFile}} {
		c.Files = files
		if s, err := jetstream.Open(t.Context(), c); err == nil {
			s.Close()
			t.Errorf("with the files %+v, Open succeeded, want an error from the client or the server", files)
		}
	}
	c.Files = jetstream.Files{CA: cert, Cert: cert, Key: keyFile}
	opened(t, c)
}

func written(t *testing.T, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
