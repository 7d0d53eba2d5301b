package doctor

import (
	"cmp"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Config is the expected state of an installation.
type Config struct {
	BaseURL        string // empty: checks that need it are omitted
	Hostname       string // used in EHLO
	ReturnPathHost string
	SPFInclude     string
	SMTPHost       string
	TrackingHost   string
	TrackingLabel  string // label between the targets of domains and TrackingHost, such as "t."
	OwnTargets     bool   // domains are shown CNAME targets of their own
	SandboxDomain  string

	Addresses []SendingAddress // addresses that mail is sent from; defaults to the public ones of this machine
	Direct    bool             // mail is sent to the receivers' servers, not through a smarthost
	Receives  bool             // mail is received: bounces, complaints, inbound mail
	MXPort    int              // port of receivers' servers; default 25
	// ListenAddr is where this process listens for other servers. They connect to port 25, which may be
	// forwarded to another port by a router.
	ListenAddr string

	Certificates []CertificateFiles
	Folders      []Folder
}

// SendingAddress is an address that mail is sent from, with its EHLO name.
type SendingAddress struct {
	IP       netip.Addr
	Hostname string // default: Config.Hostname
}

// CertificateFiles is a certificate configured in a setting.
type CertificateFiles struct {
	Setting           string
	CertFile, KeyFile string
	Names             []string // names that clients connect to
}

// Folder is a folder with data.
type Folder struct {
	Setting, Dir string
}

// inwardPort is the port to which other servers connect.
const inwardPort = "25"

func (c Config) mxPort() string { return strconv.Itoa(cmp.Or(c.MXPort, 25)) }

func (c Config) baseHost() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// addresses returns the configured addresses, or else the public ones of this machine.
func (c Config) addresses() []SendingAddress {
	if len(c.Addresses) > 0 {
		return c.Addresses
	}
	var all []SendingAddress
	for _, ip := range publicAddresses() {
		all = append(all, SendingAddress{IP: ip})
	}
	return all
}

// greets returns the EHLO name of mail from the address.
func (c Config) greets(a SendingAddress) string {
	if a.Hostname != "" {
		return a.Hostname
	}
	return c.Hostname
}

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598, behind carrier-grade NAT

// isPublic reports whether an address is publicly reachable.
func isPublic(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !sharedSpace.Contains(ip)
}

// publicAddresses returns the publicly reachable addresses of this machine's interfaces.
func publicAddresses() []netip.Addr {
	list, err := machine.Interfaces{}.List()
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for _, p := range list {
		if isPublic(p.Addr()) {
			all = append(all, p.Addr())
		}
	}
	return all
}
