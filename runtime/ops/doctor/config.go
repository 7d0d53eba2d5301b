package doctor

import (
	"cmp"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

// Config is what an installation claims to be.
type Config struct {
	BaseURL        string // empty: no check that needs it
	Hostname       string // given in EHLO
	ReturnPathHost string
	SPFInclude     string
	SMTPHost       string
	TrackingHost   string
	SandboxDomain  string

	Addresses []Address // that mail leaves from; empty: the public ones of this machine
	Direct    bool      // mail goes to the receivers' servers, not to a smarthost
	Receives  bool      // mail comes in: bounces, complaints, received mail
	MXPort    int       // of receivers' servers; 0: 25
	// ListenAddr is where this process listens for other servers. They connect to port 25, which
	// differs behind a router.
	ListenAddr string

	Certificates []CertificateFiles
	Folders      []Folder
}

// Address is one that mail leaves from, with the name that it greets with.
type Address struct {
	IP       netip.Addr
	Hostname string // empty: Config.Hostname
}

// CertificateFiles are a certificate that a setting names.
type CertificateFiles struct {
	Setting           string
	CertFile, KeyFile string
	Names             []string // under which clients come
}

// Folder is one that data is in.
type Folder struct {
	Setting, Dir string
}

// inwardPort is where other servers look for this one.
const inwardPort = "25"

func (c Config) mxPort() string { return strconv.Itoa(cmp.Or(c.MXPort, 25)) }

func (c Config) baseHost() string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// addresses are those of the configuration, else the public ones of this machine.
func (c Config) addresses() []Address {
	if len(c.Addresses) > 0 {
		return c.Addresses
	}
	var all []Address
	for _, ip := range publicAddresses() {
		all = append(all, Address{IP: ip})
	}
	return all
}

// greets is the name that mail from the address is greeted with.
func (c Config) greets(a Address) string {
	if a.Hostname != "" {
		return a.Hostname
	}
	return c.Hostname
}

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598, behind a provider's router

// isPublic tells whether others can reach an address.
func isPublic(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !sharedSpace.Contains(ip)
}

// publicAddresses are those of the interfaces of this machine that others can reach.
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
