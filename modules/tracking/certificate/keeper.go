package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Config configures the keeper.
type Config struct {
	CA    string         // directory URL of the authority
	Email string         // contact address
	Roots *x509.CertPool // trusted roots for the authority's server; nil: the system's
	// Local ports of this process that receive forwarded challenges.
	HTTPPort, TLSPort int
}

// Params are the dependencies of New.
type Params struct {
	Config Config
	DB     *db.DB
	Box    *secret.Box
	// Allowed returns an error for hosts that are not tracking hosts.
	Allowed func(ctx context.Context, host string) error
	Logger  *slog.Logger
}

// Keeper obtains and serves certificates. It is safe for concurrent use.
type Keeper struct {
	magic  *certmagic.Config
	issuer *certmagic.ACMEIssuer
	cache  *certmagic.Cache
	files  *storage
	log    *slog.Logger
	ctx    context.Context // canceled by Stop
	cancel context.CancelFunc
	tries  attempts
}

// attempts tracks attempts to obtain certificates.
type attempts struct {
	mutex   sync.Mutex
	failed  map[string]string // reason of the latest failed attempt, by host
	running sync.WaitGroup
	hosts   *limit.Keyed[string] // limits each host to one attempt at a time
}

var _ hosts.Certificates = (*Keeper)(nil)

const maxRemembered = 10_000

// New creates the keeper. It does not contact the authority yet.
func New(p Params) *Keeper {
	k := &Keeper{files: &storage{p.DB, p.Box}, log: p.Logger,
		tries: attempts{failed: map[string]string{}, hosts: limit.NewKeyed[string](limit.Bounds{PerKey: 1})}}
	k.ctx, k.cancel = context.WithCancel(context.Background()) // lives as long as the keeper
	quiet := zap.NewNop()                                      // relevant messages are reported as events
	k.cache = certmagic.NewCache(certmagic.CacheOptions{Capacity: maxRemembered, Logger: quiet,
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return k.magic, nil }})
	k.magic = certmagic.New(k.cache, certmagic.Config{Storage: k.files, Logger: quiet, OnEvent: k.logEvent,
		OnDemand: &certmagic.OnDemandConfig{DecisionFunc: p.Allowed},
		OCSP:     certmagic.OCSPConfig{DisableStapling: true}})
	k.issuer = certmagic.NewACMEIssuer(k.magic, certmagic.ACMEIssuer{CA: p.Config.CA, Email: p.Config.Email,
		Agreed: true, TrustedRoots: p.Config.Roots,
		AltHTTPPort: p.Config.HTTPPort, AltTLSALPNPort: p.Config.TLSPort, Logger: quiet})
	k.magic.Issuers = []certmagic.Issuer{k.issuer}
	return k
}

// Stop cancels attempts in progress.
func (k *Keeper) Stop(context.Context) error {
	k.cancel()
	k.tries.running.Wait()
	k.cache.Stop()
	return nil
}

// TLS returns the TLS configuration of the listener.
func (k *Keeper) TLS() *tls.Config {
	config := k.magic.TLSConfig() // includes the protocol of TLS-ALPN challenges
	config.NextProtos = append([]string{"h2", "http/1.1"}, config.NextProtos...)
	config.MinVersion = tls.VersionTLS12
	return config
}

// Challenge returns a handler that answers the authority's HTTP challenges and passes all other requests to
// next.
func (k *Keeper) Challenge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if certmagic.LooksLikeHTTPChallenge(r) && k.issuer.HandleHTTPChallenge(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Ready reports whether the host has a valid certificate.
func (k *Keeper) Ready(ctx context.Context, host string) bool {
	expires, err := k.loadExpiry(ctx, host)
	return err == nil && time.Now().Before(expires)
}

// Certificate returns the state of the host's certificate.
func (k *Keeper) Certificate(ctx context.Context, host string) hosts.Certificate {
	if expires, err := k.loadExpiry(ctx, host); err == nil && time.Now().Before(expires) {
		return hosts.Certificate{Status: hosts.CertificateIssued, Expires: &expires}
	}
	k.tries.mutex.Lock()
	defer k.tries.mutex.Unlock()
	if reason := k.tries.failed[host]; reason != "" {
		return hosts.Certificate{Status: hosts.CertificateFailed, Error: reason}
	}
	return hosts.Certificate{Status: hosts.CertificatePending}
}

func (k *Keeper) loadExpiry(ctx context.Context, host string) (time.Time, error) {
	chain, err := k.files.Load(ctx, certmagic.StorageKeys.SiteCert(k.issuer.IssuerKey(), host))
	if err != nil {
		return time.Time{}, err
	}
	first, _ := pem.Decode(chain)
	if first == nil {
		return time.Time{}, errors.New("the stored file contains no certificate")
	}
	certificate, err := x509.ParseCertificate(first.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("certificate of %s: %w", host, err)
	}
	return certificate.NotAfter, nil
}

// Obtain obtains missing certificates in the background. A failed attempt is repeated at the next check of the
// host.
func (k *Keeper) Obtain(hosts ...string) {
	k.tries.mutex.Lock()
	defer k.tries.mutex.Unlock()
	for _, host := range hosts {
		if k.ctx.Err() == nil && k.tries.hosts.TryAcquire(host) {
			k.tries.running.Go(func() { k.obtainOne(host) })
		}
	}
}

const obtainTime = 3 * time.Minute

func (k *Keeper) obtainOne(host string) {
	ctx, cancel := context.WithTimeout(k.ctx, obtainTime)
	defer cancel()
	var err error
	if !k.Ready(ctx, host) {
		err = k.magic.ObtainCertSync(ctx, host)
	}
	k.tries.mutex.Lock()
	defer k.tries.mutex.Unlock()
	k.tries.hosts.Release(host)
	if err != nil && len(k.tries.failed) < maxRemembered {
		k.tries.failed[host] = "The certificate authority refused or could not reach the host:" + clipText(err.Error())
		return
	}
	delete(k.tries.failed, host)
}

func clipText(text string) string { return text[:min(len(text), 300)] }

func (k *Keeper) logEvent(ctx context.Context, name string, data map[string]any) error {
	switch name {
	case "cert_obtained":
		k.log.InfoContext(ctx, "certificate obtained", slog.Any("host", data["identifier"]),
			slog.Any("renewal", data["renewal"]))
	case "cert_failed":
		k.log.WarnContext(ctx, "cannot obtain certificate", slog.Any("host", data["identifier"]),
			slog.Any(telemetry.KeyError, data["error"]))
	}
	return nil
}
