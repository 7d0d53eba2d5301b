package listeners

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// lookAgain is the interval at which the files of a certificate are checked for changes.
const lookAgain = 10 * time.Second

// certificateFiles are a certificate and its key. When another program renews them, no restart is needed.
type certificateFiles struct {
	certFile, keyFile string
	changed           func(error) // called after each change; may be nil

	mu     sync.Mutex
	loaded *tls.Certificate
	stamp  string
	looked time.Time
}

func newCertificateFiles(certFile, keyFile string) (*certificateFiles, error) {
	f := &certificateFiles{certFile: certFile, keyFile: keyFile}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// getCertificate is for tls.Config.GetCertificate.
func (f *certificateFiles) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookAgain {
		return f.loaded, nil
	}
	f.looked = time.Now()
	if f.stampNow() == f.stamp {
		return f.loaded, nil
	}
	// The two files cannot be replaced at the same moment. Until they match, the previous pair stays in use,
	// and the next check tries again.
	err := f.load()
	if f.changed != nil {
		f.changed(err)
	}
	return f.loaded, nil
}

func (f *certificateFiles) load() error {
	stamp := f.stampNow()
	pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return err
	}
	f.loaded, f.stamp, f.looked = &pair, stamp, time.Now()
	return nil
}

// stampNow returns a value that changes with the files.
func (f *certificateFiles) stampNow() string {
	var stamp strings.Builder
	for _, name := range []string{f.certFile, f.keyFile} {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprint(&stamp, info.ModTime().UnixNano(), " ", info.Size(), ";")
		}
	}
	return stamp.String()
}

// ensureSelfMade creates a self-signed certificate and its key in file, for this machine and the names. It
// is reused, so that clients can be configured to trust it.
func ensureSelfMade(file string, names []string) error {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	content, err := selfMade(names)
	if err != nil {
		return fmt.Errorf("self-signed certificate: %w", err)
	}
	return os.WriteFile(file, content, 0o600)
}

func selfMade(names []string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Postrider development"},
		// the longest lifetime that clients accept for a certificate they are configured to trust
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(2, 0, 0),
		DNSNames:    append([]string{"localhost"}, names...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}
