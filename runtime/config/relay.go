package config

import (
	"net/netip"
	"strings"
)

// Relay says where programs hand in mail over SMTP, and with which certificate.
type Relay struct {
	Addr, TLSAddr           string         // STARTTLS, and TLS from the first octet; port 0: any free one
	AddrGiven, TLSAddrGiven bool           // somebody asked for that address: without it there is no start
	Proxies                 []netip.Prefix // must speak the PROXY protocol
	// CertFile and KeyFile are of all SMTP listeners; both empty: from an ACME
	// authority, or our own in development mode.
	CertFile, KeyFile string
}

func (r *resolver) relay(s Settings) Relay {
	if (s.SMTPTLSCert == "") != (s.SMTPTLSKey == "") {
		r.wrong.addf("POSTRIDER_SMTP_TLS_CERT", "and POSTRIDER_SMTP_TLS_KEY go together")
	}
	return Relay{
		Addr:      r.smtpAddr(s, "POSTRIDER_RELAY_ADDR", s.RelayAddr, "587"),
		TLSAddr:   r.smtpAddr(s, "POSTRIDER_RELAY_TLS_ADDR", s.RelayTLSAddr, "465"),
		AddrGiven: s.RelayAddr != "", TLSAddrGiven: s.RelayTLSAddr != "",
		Proxies:  r.prefixes("POSTRIDER_RELAY_PROXIES", s.RelayProxies),
		CertFile: s.SMTPTLSCert, KeyFile: s.SMTPTLSKey,
	}
}

// smtpAddr is the usual port in production. In development it is 2000 more, on
// loopback; a server on any free HTTP port stands beside another, and takes any free
// one here too.
func (r *resolver) smtpAddr(s Settings, setting, given, port string) string {
	if given == "" {
		switch {
		case r.mode != Dev:
			return ":" + port
		case strings.HasSuffix(s.HTTPAddr, ":0"):
			return "127.0.0.1:0"
		}
		return "127.0.0.1:2" + port
	}
	host, _, ok := r.hostPort(setting, given)
	if ok && r.mode == Dev && !loopback(host) && !r.onOff("POSTRIDER_ALLOW_PUBLIC", s.AllowPublic) {
		r.wrong.addf(setting, "is %q, which others can reach: listen on 127.0.0.1 in development mode, or say --allow-public", given)
	}
	return given
}
