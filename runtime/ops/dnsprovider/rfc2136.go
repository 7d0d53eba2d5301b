package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/libdns/libdns"
	"github.com/libdns/rfc2136"
	"github.com/miekg/dns"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

// The limits of a zone transfer, because the server is not trusted.
const (
	maxTransfer     = 50_000 // records
	transferTimeout = 30 * time.Second
)

// updates implements RFC 2136. It uses the library to add records, but not to read and remove them: the
// library's transfer never ends if the server does not end it, and it removes a text by strings of 255 bytes,
// which the zone may have split differently.
type updates struct {
	rfc2136.Provider
	dialer net.Dialer
}

func openRFC2136(ctx context.Context, s *Service, c given) (backend, error) {
	server, err := s.dialable(ctx, c["server"])
	if err != nil {
		return nil, err
	}
	algorithm := c["key_algorithm"]
	if algorithm == "" {
		algorithm = "hmac-sha256"
	}
	// Key names are compared in lower case (RFC 8945 section 4.2).
	return &updates{Provider: rfc2136.Provider{KeyName: strings.ToLower(dns.Fqdn(c["key_name"])),
		KeyAlg: dns.Fqdn(algorithm), Key: c["key"], Server: server},
		dialer: net.Dialer{Timeout: 5 * time.Second, Control: s.guard.Control}}, nil
}

// dialable looks up a server and returns an address that the guard allows, so that a later lookup of the
// library cannot lead elsewhere.
func (s *Service) dialable(ctx context.Context, server string) (string, error) {
	const field = root + ".server"
	host, port := splitServer(server)
	addrs := []netip.Addr{}
	if addr, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, addr.Unmap())
	} else if addrs, err = s.dns.LookupIP(ctx, host); err != nil && !errors.Is(err, dnsx.ErrNotFound) {
		return "", noAnswer(err)
	}
	for _, addr := range addrs {
		if s.guard.CheckAddress(addr) == nil {
			return netip.AddrPortFrom(addr, port).String(), nil
		}
	}
	if len(addrs) == 0 {
		return "", fault.InvalidField(field, "has no address")
	}
	return "", fault.InvalidField(field, "resolves to a private, local or reserved address")
}

func splitServer(server string) (host string, port uint16) {
	if host, text, err := net.SplitHostPort(server); err == nil {
		if n, err := strconv.ParseUint(text, 10, 16); err == nil {
			return host, uint16(n)
		}
		return host, 0
	}
	return strings.Trim(server, "[]"), 53
}

func checkServer(value string) error {
	host, port := splitServer(value)
	if _, err := netip.ParseAddr(host); err != nil {
		if _, err := address.ParseDomain(strings.TrimSuffix(host, ".")); err != nil {
			return errors.New("must be a host or an address, with :port unless it is 53")
		}
	}
	if port == 0 {
		return errors.New("has no valid port")
	}
	return nil
}

func checkKeyName(value string) error {
	if _, ok := dns.IsDomainName(value); !ok {
		return errors.New("must be a valid DNS name")
	}
	return nil
}

// wireRecord is a record exactly as in the zone.
type wireRecord struct {
	rr   dns.RR
	zone string
}

// RR implements libdns.Record.
func (w wireRecord) RR() libdns.RR {
	header := w.rr.Header()
	out := libdns.RR{Name: header.Name, TTL: time.Duration(header.Ttl) * time.Second,
		Type: dns.TypeToString[header.Rrtype]}
	switch rr := w.rr.(type) {
	case *dns.TXT:
		out.Data = quotedAsIs(rr.Txt)
	default:
		out.Data = strings.TrimPrefix(rr.String(), header.String())
	}
	return out
}

// quotedAsIs keeps the escapes added by the DNS library.
func quotedAsIs(parts []string) string { return `"` + strings.Join(parts, `" "`) + `"` }

// GetRecords transfers the zone (RFC 5936).
func (u *updates) GetRecords(ctx context.Context, zone string) ([]libdns.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	conn, err := u.dialer.DialContext(ctx, "tcp", u.Server)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	transfer := &dns.Transfer{Conn: &dns.Conn{Conn: conn}, ReadTimeout: 10 * time.Second,
		TsigSecret: map[string]string{u.KeyName: u.Key}}
	query := new(dns.Msg).SetAxfr(dns.Fqdn(zone))
	u.sign(query)
	envelopes, err := transfer.In(query, u.Server)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("zone transfer: %w", err)
	}
	var records []libdns.Record
	for e := range envelopes { // read it to its end, because the sender waits for a reader
		if err == nil {
			err = e.Error
		}
		if err == nil && len(records)+len(e.RR) > maxTransfer {
			err = fmt.Errorf("the zone has more than %d records", maxTransfer)
			conn.Close()
		}
		if err != nil {
			continue
		}
		for _, rr := range e.RR {
			records = append(records, wireRecord{rr, zone})
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("zone transfer: %w", ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("zone transfer: %w", err)
	}
	return records, nil
}

// DeleteRecords removes exactly these records (RFC 2136 section 2.5.4).
func (u *updates) DeleteRecords(ctx context.Context, zone string, records []libdns.Record) ([]libdns.Record, error) {
	update := new(dns.Msg).SetUpdate(dns.Fqdn(zone))
	for _, r := range records {
		exact, ok := r.(wireRecord)
		if !ok {
			return u.Provider.DeleteRecords(ctx, zone, records)
		}
		update.Remove([]dns.RR{dns.Copy(exact.rr)})
	}
	u.sign(update)
	client := &dns.Client{Net: "tcp", Dialer: &u.dialer, Timeout: 10 * time.Second,
		TsigSecret: map[string]string{u.KeyName: u.Key}}
	reply, _, err := client.ExchangeContext(ctx, update, u.Server)
	if err != nil {
		return nil, err
	}
	if reply.Rcode != dns.RcodeSuccess {
		return nil, fmt.Errorf("the server responded with %s", dns.RcodeToString[reply.Rcode])
	}
	return records, nil
}

const tsigFudge = 300 // maximum clock difference in seconds (RFC 8945 section 10)

func (u *updates) sign(m *dns.Msg) { m.SetTsig(u.KeyName, u.KeyAlg, tsigFudge, time.Now().Unix()) }
