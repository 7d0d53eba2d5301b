package listeners

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// When the files of a certificate are replaced, new connections get the new one. Half of a pair or invalid
// contents leave the previous certificate in use.
func TestCertificateIsReloadedWhenFilesChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "smtp.pem")
	if err := ensureSelfMade(file, []string{"mx.test"}); err != nil {
		t.Fatal(err)
	}
	files, err := newCertificateFiles(file, file)
	if err != nil {
		t.Fatal(err)
	}
	var told []error
	files.changed = func(err error) { told = append(told, err) }
	served := func() *tls.Certificate {
		files.looked = time.Time{} // in the distant past
		c, err := files.getCertificate(nil)
		if err != nil || c.Leaf.VerifyHostname("mx.test") != nil || c.Leaf.VerifyHostname("localhost") != nil {
			t.Fatalf("the certificate read from its files has error %v, want one for mx.test and localhost", err)
		}
		return c
	}
	first := served()
	if err := ensureSelfMade(file, []string{"mx.test"}); err != nil || served() != first || len(told) != 0 {
		t.Errorf("unchanged files were reloaded: %v, %v", told, err)
	}
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if served() != first || len(told) != 1 || told[0] == nil {
		t.Errorf("nonsense: %v", told)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := ensureSelfMade(file, []string{"mx.test"}); err != nil {
		t.Fatal(err)
	}
	if served() == first || told[len(told)-1] != nil {
		t.Errorf("the new certificate is not served: %v", told)
	}
}

func TestHandshakesRequestCertificatesForOwnNamesOnly(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"": "mx.test", "evil.example": "mx.test", "SMTP.test.": "smtp.test",
		"smtp.test": "smtp.test"} {
		var got string
		get := matchNames([]string{"mx.test", "smtp.test"}, func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			got = h.ServerName
			return nil, nil //nolint:nilnil // only the name matters
		})
		if _, err := get(&tls.ClientHelloInfo{ServerName: asked}); err != nil || got != want {
			t.Errorf("server name %q requests a certificate for %q, %v", asked, got, err)
		}
	}
}
