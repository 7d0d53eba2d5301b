package listeners

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/tracking/certificate"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
)

// TLS is the certificate and the TLS configuration of all SMTP listeners: the relay, and STARTTLS on the
// port for other mail servers. The constructor of a listener takes *TLS and puts its config into
// smtpserver.Config.TLS; a nil config means that TLS is not offered, and missing says how to fix that.
//
// The certificate comes from the files of POSTRIDER_SMTP_TLS_CERT and POSTRIDER_SMTP_TLS_KEY, which are
// reloaded when they change. Without these files, it comes from the ACME authority of the tracking hosts, for
// POSTRIDER_HOSTNAME and POSTRIDER_SMTP_HOST. Otherwise development mode creates a self-signed one.
type TLS struct {
	config  *tls.Config
	missing string
}

type tlsParams struct {
	fx.In

	Config setting.Values
	Logger *slog.Logger
	Keeper *certificate.Keeper `optional:"true"`
}

// NewTLS finds the certificate.
func NewTLS(lc fx.Lifecycle, p tlsParams) (*TLS, error) {
	switch file := CertFile.Get(p.Config); {
	case file != "":
		return tlsFromFiles(file, KeyFile.Get(p.Config), p.Logger)
	case p.Keeper != nil:
		names := Names(p.Config)
		lc.Append(fx.StartHook(func() { p.Keeper.Obtain(names...) }))
		return &TLS{config: &tls.Config{MinVersion: tls.VersionTLS12,
			GetCertificate: matchNames(names, p.Keeper.TLS().GetCertificate)}}, nil
	case p.Config.Mode == setting.Dev:
		file := filepath.Join(config.DataDir.Get(p.Config), "smtp-certificate.pem")
		if err := ensureSelfMade(file, Names(p.Config)); err != nil {
			return nil, err
		}
		return tlsFromFiles(file, file, p.Logger)
	}
	return &TLS{missing: "no certificate: set POSTRIDER_SMTP_TLS_CERT and POSTRIDER_SMTP_TLS_KEY, or POSTRIDER_HTTP_TLS_ADDR to get one"}, nil
}

func tlsFromFiles(certFile, keyFile string, log *slog.Logger) (*TLS, error) {
	c, err := FromFiles("POSTRIDER_SMTP_TLS_CERT", certFile, keyFile, log)
	if err != nil {
		return nil, err
	}
	return &TLS{config: c}, nil
}

// FromFiles returns the configuration of a listener whose certificate a setting names. The files are
// reloaded when they change.
func FromFiles(name, certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	files, err := newCertificateFiles(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	files.changed = func(err error) {
		if err != nil {
			log.Error("cannot reload the certificate; still using the previous one", "setting", name, "file", certFile,
				telemetry.KeyError, err)
			return
		}
		log.Info("certificate reloaded", "setting", name, "file", certFile)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: files.getCertificate}, nil
}

// Names returns the names under which SMTP clients find this installation: mail servers use the first,
// senders the second.
func Names(cfg setting.Values) []string {
	return slices.Compact([]string{config.Hostname.Get(cfg), config.SMTPHost.Get(cfg)})
}

// matchNames requests a certificate for one of our names. Most mail servers send no server name, and any
// other name in a handshake is not ours.
func matchNames(names []string,
	get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		asked := *hello
		if asked.ServerName = strings.ToLower(strings.TrimSuffix(hello.ServerName, ".")); !slices.Contains(names,
			asked.ServerName) {
			asked.ServerName = names[0]
		}
		return get(&asked)
	}
}
