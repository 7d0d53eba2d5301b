package egress

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// Our own list, compiled from the IANA registries and not from the library: these ranges must be rejected,
// even if the library's list changes.
var refused = map[string][]string{
	"this network (RFC 791)":          {"0.0.0.0", "0.1.2.3", "0.255.255.255"},
	"private use (RFC 1918)":          {"10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"},
	"shared address space (RFC 6598)": {"100.64.0.0", "100.127.255.255"},
	"loopback (RFC 1122)":             {"127.0.0.1", "127.255.255.254"},
	"link local (RFC 3927)":           {"169.254.0.1", "169.254.255.255"},
	"protocol assignments (RFC 6890)": {"192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.0.255"},
	"documentation (RFC 5737)":        {"192.0.2.1", "198.51.100.1", "203.0.113.255"},
	"AS112 and AMT":                   {"192.31.196.1", "192.52.193.1", "192.175.48.1"},
	"6to4 relay anycast (RFC 7526)":   {"192.88.99.1"},
	"benchmarking (RFC 2544)":         {"198.18.0.1", "198.19.255.255"},
	"multicast (RFC 1112)":            {"224.0.0.1", "239.255.255.255"},
	"reserved and broadcast":          {"240.0.0.1", "255.255.255.254", "255.255.255.255"},
	"cloud metadata": {"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192",
		"168.63.129.16", "fd00:ec2::254", "fe80::a9fe:a9fe"},
	"unspecified and loopback v6":        {"::", "::1"},
	"IPv4-compatible (RFC 4291)":         {"::127.0.0.1", "::8.8.8.8"},
	"IPv4-mapped (RFC 4291)":             {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8"},
	"NAT64 (RFC 6052, RFC 8215)":         {"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1:ffff::"},
	"discard and dummy (RFC 6666, 9780)": {"100::1", "100:0:0:1::1"},
	"Teredo (RFC 4380)":                  {"2001::1", "2001:0:7f00:1::1"},
	"protocol assignments v6": {"2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1",
		"2001:20::1", "2001:30::1", "2001:1ff:ffff::1"},
	"documentation v6 (RFC 3849, 9637)": {"2001:db8::1", "3fff::1", "3fff:fff:ffff::1"},
	"6to4 (RFC 3056)":                   {"2002:7f00:1::1", "2002:a00:1::1", "2002:808:808::1"},
	"ISATAP (RFC 5214)":                 {"2606:4700::5efe:7f00:1", "2a00:1450::200:5efe:a00:1", "2606:4700::300:5efe:808:808"},
	"AS112 v6 (RFC 7534)":               {"2620:4f:8000::1"},
	"6bone (RFC 3701)":                  {"3ffe::1", "3ffe:ffff::1"},
	"segment routing SIDs (RFC 9602)":   {"5f00::1", "5f00:ffff::1"},
	"unique local (RFC 4193)":           {"fc00::1", "fdff:ffff::1"},
	"link local and site local v6":      {"fe80::1", "febf::1", "fec0::1"},
	"multicast v6":                      {"ff00::1", "ff02::1", "ff0e::1"},
	"not yet assigned":                  {"4000::1", "8000::1", "e000::1"},
}

func TestGuardRejectsSpecialPurposeRanges(t *testing.T) {
	t.Parallel()
	g := NewGuard(nil)
	for what, addrs := range refused {
		for _, a := range addrs {
			addr := netip.MustParseAddr(a)
			if err := g.CheckAddress(addr); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %s was allowed (%v)", what, a, err)
			}
			address := netip.AddrPortFrom(addr, 25).String()
			network := "tcp4"
			if addr.Is6() {
				network = "tcp6"
			}
			if err := g.Control(network, address, nil); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: dialing %s was allowed (%v)", what, address, err)
			}
		}
	}
}

func TestGuardAllowsPublicAddresses(t *testing.T) {
	t.Parallel()
	g := NewGuard(nil)
	for _, address := range []string{"8.8.8.8:25", "1.1.1.1:443", "172.32.0.1:2525", "100.63.255.255:25",
		"100.128.0.1:25",
		"192.0.1.1:25", "198.20.0.1:8443", "[2606:4700::1111]:25", "[2a00:1450::1b]:465", "[2001:4860::8888]:443",
		"[2001:200::1]:25", "[2606:4700::400:5efe:808:808]:25", "[2606:4700:5efe::1]:25"} {
		network := "tcp4"
		if address[0] == '[' {
			network = "tcp6"
		}
		if err := g.Control(network, address, nil); err != nil {
			t.Errorf("%s was rejected: %v", address, err)
		}
	}
}

func TestGuardRejectsInvalidAddresses(t *testing.T) {
	t.Parallel()
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")})
	for network, address := range map[string]string{"udp4": "8.8.8.8:25", "unix": "/run/x.sock",
		"tcp4": "mx.example.com:25", "tcp6": ""} {
		if err := g.Control(network, address, nil); !errors.Is(err, ErrRefused) {
			t.Errorf("%s %q was allowed (%v)", network, address, err)
		}
	}
	if err := g.CheckAddress(netip.Addr{}); !errors.Is(err, ErrRefused) {
		t.Errorf("the zero address was allowed (%v)", err)
	}
}

func TestGuardAllowsOnlyConfiguredPrefixes(t *testing.T) {
	t.Parallel()
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
		netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("2606:4700::5efe:0:0/96")})
	for addr, want := range map[string]bool{"127.0.0.1": true, "::1": true, "10.9.255.1": true,
		"10.8.0.1": false, "::2": false, "169.254.169.254": false, "::ffff:127.0.0.1": false, "8.8.8.8": true,
		"2606:4700::5efe:7f00:1": true, "2606:4700:1::5efe:7f00:1": false} {
		if got := g.CheckAddress(netip.MustParseAddr(addr)) == nil; got != want {
			t.Errorf("%s is allowed: %v, want %v", addr, got, want)
		}
	}
}

// The dialer must pass the resolved address, whatever the spelling of the host.
func TestControlChecksDialedAddress(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0"} {
		d := net.Dialer{Control: NewGuard(nil).Control}
		conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			conn.Close()
			t.Errorf("%s was dialed", host)
			continue
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("dialing %s returned %v, want ErrRefused", host, err)
		}
	}
	d := net.Dialer{Control: NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}).Control}
	conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatalf("dialing an allowed address returned %v", err)
	}
	conn.Close()
}
