package lint

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/postrider/postrider/runtime/mail/address"
)

// Link is a link of an HTML part.
type Link struct {
	URL  string
	Line int // of its first place
}

var (
	noTarget = problem{"link_without_target", Warning, "A link has no target.", "Set href to an https URL."}
	relative = problem{"link_not_absolute", Error, "Relative links do not work in emails.",
		"Use an absolute https URL."}
	badScheme = problem{"link_scheme", Error, "Mail clients do not open links of this kind.",
		"Use an https, mailto or tel URL."}
	private = problem{"link_private", Error, "The link leads to a private network, which recipients cannot reach.",
		"Use a public host."}
	plainHTTP = problem{"link_unencrypted", Warning, "Links without encryption are distrusted by filters and browsers.",
		"Use https."}
	noLabel = problem{"link_without_text", Warning, "The link has no text, so screen readers cannot announce it.",
		"Add a text, or an alternative text to the image."}
	mismatch = problem{"link_text_mismatch", Error,
		"The text shows another host than the target, which filters treat as phishing.",
		"Show the host of the target, or a text that is not an address."}
	shortener = problem{"link_shortener", Warning,
		"Spammers hide targets with URL shorteners, so filters distrust their hosts.", "Link to the target itself."}
	otherDomain = problem{"link_other_domain", Info,
		"The link leads to a domain other than that of the sender.",
		"Prefer links to the sender's domain; filters weigh the reputation of each domain in an email."}
)

// shorteners lists the hosts of public URL shorteners.
var shorteners = map[string]bool{"bit.ly": true, "tinyurl.com": true, "goo.gl": true, "t.co": true, "ow.ly": true,
	"is.gd": true, "buff.ly": true, "rebrand.ly": true, "cutt.ly": true, "t.ly": true, "rb.gy": true, "v.gd": true,
	"tiny.cc": true, "shorturl.at": true, "bl.ink": true, "short.io": true, "lnkd.in": true, "dub.sh": true,
	"s.id": true, "qr.ae": true, "soo.gd": true, "clck.ru": true, "x.co": true, "adf.ly": true, "urlz.fr": true}

func isShortener(host string) bool { return shorteners[strings.TrimPrefix(host, "www.")] }

var (
	textLink    = regexp.MustCompile(`https?://[^\s<>"')\]]+`)
	trackedPath = regexp.MustCompile(`^/[tu]/`)
	// shownHost matches a text that is an address: a URL, or a bare host, alone or with a path.
	shownHost = regexp.MustCompile(`(?i)^(?:https?://)?((?:[\pL\pN](?:[\pL\pN-]{0,61}[\pL\pN])?\.)+[\pL]{2,24})(?::\d+)?(?:[/?#]\S*)?$`)
)

// maxLinks is the number of links that are inspected.
const maxLinks = 2000

// maxLabel is the number of bytes of a link's text that are read.
const maxLabel = 400

// linkSet inspects the links of an HTML part and collects them.
type linkSet struct {
	*report

	mail Mail
	list []Link // distinct
	seen map[string]bool
	read int // links inspected

	open    bool
	href    string
	hasHref bool
	line    int
	label   strings.Builder
}

func newLinkSet(r *report, m Mail) *linkSet {
	return &linkSet{report: r, mail: m, seen: map[string]bool{}}
}

// openLink begins a link. It ends the previous one, because links cannot be nested.
func (s *linkSet) openLink(href string, hasHref bool, line int) {
	s.closeLink()
	s.open, s.href, s.hasHref, s.line = true, href, hasHref, line
}

// addLabel adds to the text of the open link.
func (s *linkSet) addLabel(text string) {
	if s.open && s.label.Len() < maxLabel {
		s.label.WriteString(text[:min(len(text), maxLabel)])
		s.label.WriteByte(' ')
	}
}

func (s *linkSet) closeLink() {
	if !s.open {
		return
	}
	label := strings.Join(strings.Fields(strings.ToValidUTF8(s.label.String(), "")), " ")
	s.label.Reset()
	s.open = false
	if s.read++; s.read <= maxLinks {
		s.inspectLink(label)
	}
}

func (s *linkSet) inspectLink(label string) {
	at := Place{s.line, s.href}
	if s.href == "" || s.href == "#" {
		if s.hasHref { // <a name> is a target of links, not a link
			s.add(noTarget, HTML, Place{s.line, label})
		}
		return
	}
	if placeholder.MatchString(s.href) || escapedToken.MatchString(s.href) {
		s.inspectPlaceholder(at)
		return
	}
	if strings.HasPrefix(s.href, "#") {
		return
	}
	target, err := url.Parse(s.href)
	if err != nil || target.Scheme == "" {
		s.add(relative, HTML, at)
		return
	}
	switch target.Scheme {
	case "mailto", "tel", "sms":
	case "http", "https":
		s.inspectTarget(target, label, at)
	default:
		s.add(badScheme, HTML, at)
	}
}

func (s *linkSet) inspectPlaceholder(at Place) {
	plain, err := url.PathUnescape(s.href)
	if err != nil {
		plain = s.href
	}
	if !s.mail.Managed || !unsubscribe.MatchString(plain) {
		s.add(unfilled, HTML, at)
	}
}

func (s *linkSet) inspectTarget(target *url.URL, label string, at Place) {
	if s.mail.Tracked && trackedPath.MatchString(target.Path) {
		return
	}
	host := normalizeHost(target.Hostname())
	if host == "" {
		s.add(relative, HTML, at)
		return
	}
	if !s.seen[s.href] {
		s.seen[s.href] = true
		s.list = append(s.list, Link{URL: s.href, Line: s.line})
	}
	if isPrivate(host) {
		s.add(private, HTML, at)
		return
	}
	if target.Scheme == "http" {
		s.add(plainHTTP, HTML, at)
	}
	if label == "" {
		s.add(noLabel, HTML, at)
	}
	if shown := shownHost.FindStringSubmatch(label); shown != nil && !sameSite(normalizeHost(shown[1]), host) {
		s.add(mismatch, HTML, Place{s.line, label + " → " + s.href})
	}
	switch {
	case isShortener(host):
		s.add(shortener, HTML, at)
	case s.mail.Domain != "" && registrable(host) != registrable(normalizeHost(s.mail.Domain)):
		s.add(otherDomain, HTML, at)
	}
}

// sameSite reports whether a shown host is that of the target, with or without www.
func sameSite(shown, target string) bool {
	return strings.TrimPrefix(shown, "www.") == strings.TrimPrefix(target, "www.")
}

func registrable(host string) string {
	if domain := address.RegistrableDomain(host); domain != "" {
		return domain
	}
	return host
}

// normalizeHost returns a host in lower case, in A-labels.
func normalizeHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ascii, err := address.ParseDomain(host); err == nil {
		return ascii
	}
	return host
}

func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return normalizeHost(u.Hostname())
}

// isPrivate reports whether a host is reserved for private networks.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return host == "localhost" || !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") ||
		strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal")
}
