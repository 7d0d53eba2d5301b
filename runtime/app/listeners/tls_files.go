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

// lookAgain is how old a look at the certificate's files may be.
const lookAgain = 10 * time.Second

// certificateFiles are a certificate and its key. Whatever renews them writes them;
// no restart is needed.
type certificateFiles struct {
	certFile, keyFile string
	changed           func(error) // after each change; may be nil

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

// get is for tls.Config.
func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookAgain {
		return f.loaded, nil
	}
	f.looked = time.Now()
	if f.stampNow() == f.stamp {
		return f.loaded, nil
	}
	// Of two files one is written first: until both fit, the pair from before serves,
	// and the next look tries again.
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

// stampNow changes with the files.
func (f *certificateFiles) stampNow() string {
	var stamp strings.Builder
	for _, name := range []string{f.certFile, f.keyFile} {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprint(&stamp, info.ModTime().UnixNano(), " ", info.Size(), ";")
		}
	}
	return stamp.String()
}

// ensureSelfMade leaves a certificate of our own and its key in file, for this machine
// and the names. It stays the same, so that a client can be told to trust it.
func ensureSelfMade(file string, names []string) error {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	content, err := selfMade(names)
	if err != nil {
		return fmt.Errorf("certificate of our own: %w", err)
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
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(2, 0, 0), // what clients accept of one that they are told to trust
		DNSNames: append([]string{"localhost"}, names...), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}
